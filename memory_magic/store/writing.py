"""The write path: lock, recover, observe, then temp, record, exchange, index (store_rules 2, 8).

`Writer.hold` gives a `Bench` under the lock, its index level with the journal. `observe` brings one file and the
journal into agreement: an editor's changes become records. `change` does one operation. An append to a file whose
hash the index knows parses nothing: duplicate check, append place and line number come from the index.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from memory_magic.errors import ChangedMeanwhileError, LockTimeoutError
from memory_magic.store import door, files
from memory_magic.store import journal_format as form
from memory_magic.store.bench import (
    Bench,
    FileState,
    now_ns,
    redacted,
    resolved,
    rows_of,
    source_of,
    still_ours,
)
from memory_magic.store.follow import follow, follow_from_start
from memory_magic.store.hashes import Hashes
from memory_magic.store.index import DamagedIndexError, Row, Source
from memory_magic.store.note import SEPARATOR, encode
from memory_magic.store.observe import differences
from memory_magic.store.operations import Append
from memory_magic.store.purge import intent
from memory_magic.store.purge.screen import require_allowed
from memory_magic.store.recovery import recover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memory_magic.store.hashes import Kept
    from memory_magic.store.index import Index
    from memory_magic.store.indexes import Indexes
    from memory_magic.store.journal import Journal
    from memory_magic.store.lock import StoreLock
    from memory_magic.store.note import Document, Place
    from memory_magic.store.operations import Operation
    from memory_magic.store.records import JournalRecord, Scope
    from memory_magic.store.replay import Known

FIRST_SIGHT: Final = "first sight of the file"
_ATTEMPTS: Final = 5
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change did: its *records*, the *path*, where each note begins (1-based), what an observation noticed."""

    path: str
    lines: dict[str, int]
    records: tuple[JournalRecord, ...] = ()
    notices: tuple[str, ...] = ()


class Writer:
    """The write path of one root."""

    def __init__(self, root: Path, journal: Journal, indexes: Indexes) -> None:
        self.root = root
        self.journal = journal
        self._indexes = indexes
        self._damaged = False
        self._lock: StoreLock | None = None
        self._kept: Kept | None = None

    @contextlib.contextmanager
    def hold(self, timeout: float | None = None) -> Iterator[Bench]:
        """Take the lock and give a bench whose index has followed the journal; *timeout* in seconds."""
        if not self.journal.require_writable():
            files.make_directory(self.root)
        lock = self._lock or self._make_lock()
        with lock.hold(timeout):
            if self._damaged:
                self._indexes.discard()
                self._damaged = False
            bench = Bench(self._indexes.writing(), self.journal, lock)
            follow(bench)
            self._finish_purge(bench)
            yield bench

    def distrust_index(self) -> None:
        """Let the next holding of the lock delete the index and build it anew."""
        self._damaged = True

    def _make_lock(self) -> StoreLock:
        from memory_magic.store.lock import StoreLock  # filelock is no standard library: writers only

        self._lock = StoreLock(self.root)
        return self._lock

    def _finish_purge(self, bench: Bench) -> None:
        """Finish a purge that was interrupted, and let both copies of the tombstones agree."""
        if intent.is_pending(self.root) or bench.index.purges():
            from memory_magic.store.purge.recover import settle

            settle(bench, self.root)

    def run(self, work: Callable[[Bench], Result]) -> Result:
        """Do *work* under the lock, again where the lock file was replaced or the index proves unusable beforehand.

        A damaged index is deleted and built anew; one that SQLite cannot use is replaced by one in memory.
        """
        for _ in range(_ATTEMPTS):
            try:
                with self.hold() as bench:
                    return work(bench)
            except door.LockLostError:
                continue  # recovery does what we left
            except DamagedIndexError:
                self._damaged = True
            except sqlite3.Error as error:
                self._indexes.fall_back(error)
        raise LockTimeoutError("the store's lock file keeps being replaced", where=str(self.root / ".lock"))

    # -- file -> journal -> index ------------------------------------------------------------------------------

    def observe(self, bench: Bench, scope: Scope) -> FileState:
        """Bring a scope's file and the journal into agreement, and return the file's state."""
        path = resolved(scope.memory_file)
        known = bench.index.known(scope.id)
        if door.temps(path) and recover(bench, scope, path, known) and bench.pending:
            if any(record.action == "cancel" for record in bench.pending):
                follow_from_start(bench)
                known = bench.index.known(scope.id)
            return self._reread(bench, scope, path, known, None)
        source = bench.index.source(scope.id)
        content = files.read(path)
        if source is None or source.path != path or source.hash != content.hash:
            return self._reread(bench, scope, path, known, source)
        if source.signature != content.signature:
            touched = Source(scope.id, path, content.signature, source.hash, source.place)
            bench.tell(lambda index: index.put_source(touched))
        return FileState(scope, path, content, lambda: known)

    def _reread(
        self, bench: Bench, scope: Scope, path: str, known: dict[str, Known], source: Source | None
    ) -> FileState:
        """Read a file that the index does not know as it is, journal what changed, and tell the index."""
        state = FileState(scope, path, files.Content(None, files.Signature()), lambda: known)
        state.moved_to(files.read_settled(path, lambda content: door.looks_torn(state, content)))
        state.document.require_text()
        self._journal_difference(bench, state, source, list(state.known))
        bench.commit(source_of(state), rows_of(state.document, state.known))
        return state

    def _journal_difference(self, bench: Bench, state: FileState, source: Source | None, order: list[str]) -> None:
        first = not state.known and (source is None or not source.path)
        extra = {"by": FIRST_SIGHT if first else door.HAND}
        mtime = state.content.signature.mtime_ns
        if source is not None and source.signature.mtime_ns < mtime <= now_ns():
            extra["mtime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(mtime / 1e9))
        found = differences(state.known, order, state.document, redacted)
        records = bench.record([form.Draft(draft.action, draft.fields | extra) for draft in found])
        state.apply(records)
        lost = [record for record in records if "before" in record.fields and "after" not in record.fields]
        if lost:
            notes = "1 note" if len(lost) == 1 else f"{len(lost)} notes"
            bench.notices.append(f"an edit of {state.path} took out {notes}: see journal record {lost[0].n}")

    # -- changes -----------------------------------------------------------------------------------------------

    def change(self, scope: Scope, plan: Callable[[Bench], Operation | None]) -> Outcome:
        """Do what *plan* answers once it has seen the state under the lock; None means nothing is to be done."""
        planned: list[Operation | None] = []  # planned once: when we come again, recovery may have done it already

        def work(bench: Bench) -> Outcome:
            if not planned:
                operation = plan(bench)
                require_allowed(bench, self.root, scope.id, operation)
                planned.append(operation)
            return self._carry_out(bench, scope, planned[0])

        return self.run(work)

    def _carry_out(self, bench: Bench, scope: Scope, operation: Operation | None) -> Outcome:
        if isinstance(operation, Append) and not operation.pinned:
            outcome = self._append(bench, scope, operation)
            if outcome is not None:
                return outcome
        if operation is not None:
            files.make_directory(scope.path)
        state = self.observe(bench, scope)
        if isinstance(operation, Append):
            operation = operation.without(state.document.notes) if not operation.pinned else operation
        if operation is None or operation.is_done(state.document):
            return Outcome(state.path, state.lines, (), tuple(bench.notices))
        state.document.require_writable()
        result = operation.apply(state.document)
        return self._pass(bench, state, operation, result)

    def _append(self, bench: Bench, scope: Scope, operation: Append) -> Outcome | None:
        """Append without parsing; None where the index does not know the file as it is, or knows a text already."""
        path = resolved(scope.memory_file)
        source = bench.index.source_without(scope.id, operation.ids)
        if source is None or source.path != path or source.place.blocked or not _tidy(path):
            return None
        content = files.read(path)
        if content.data is None:
            return None
        data, place = content.data, source.place
        chunk = operation.chunk(place.prefix, place.newline)
        hashes = Hashes(data, place.offset, chunk, self._kept)
        new = data[: place.offset] + chunk + data[place.offset :]
        state = FileState(scope, path, content, lambda: bench.index.known(scope.id))
        records = bench.number(operation.drafts(None))
        part, written = door.write_part(path, (records[0].n, records[-1].n), new)
        before, after = hashes.result()
        if before != source.hash:
            files.remove(part)
            return None
        temporary = door.name_temp(part, after)
        passage = door.Passage(bench, state, operation, _journal(bench, records, temporary))
        self._run(passage, temporary, new, source.hash)
        if passage.merged:
            return self._settle(bench, state, passage)
        self._kept = hashes.keep(new)
        grown = Source(scope.id, path, still_ours(path, written), after, place.after(chunk, operation.height))
        return _index_append(bench, operation, passage, grown, place)

    def _pass(self, bench: Bench, state: FileState, operation: Operation, result: Document) -> Outcome:
        new = encode(result.text)
        records = bench.number(operation.drafts(state.document))
        temporary, written = door.write_temp(state.path, (records[0].n, records[-1].n), new, files.sha256(new))
        passage = door.Passage(bench, state, operation, _journal(bench, records, temporary))
        self._run(passage, temporary, new)
        if passage.merged:
            return self._settle(bench, state, passage)
        state.apply(passage.records)
        state.moved_to(files.Content(new, still_ours(state.path, written)), result)
        bench.commit(source_of(state), rows_of(result, state.known))
        return Outcome(state.path, state.lines, tuple(passage.records), tuple(bench.notices))

    def _run(self, passage: door.Passage, temporary: str, new: bytes, before_hash: str | None = None) -> bytes:
        try:
            return passage.run(temporary, new, before_hash)
        except ChangedMeanwhileError:
            # the editor's changes are journalled and its file stands: the index may follow at once
            state = passage.state
            if state.document.is_text:
                passage.bench.commit(source_of(state), rows_of(state.document, state.known))
            raise

    def _settle(self, bench: Bench, state: FileState, passage: door.Passage) -> Outcome:
        """Read the file again after an editor's save was merged, and tell the index."""
        order = state.order
        state.moved_to(files.read(state.path))
        state.document.require_text()
        self._journal_difference(bench, state, None, order)
        bench.commit(source_of(state), rows_of(state.document, state.known))
        return Outcome(state.path, state.lines, tuple(passage.records), tuple(bench.notices))


def _tidy(path: str) -> bool:
    """Remove predecessors that nobody touched; tell whether no other temp file stands beside *path*."""
    found = door.temps(path)
    if any(temp.state != "old" for temp in found):
        return False
    for temp in door.settled_old(found):
        if not temp.is_untouched():
            return False
        files.remove(temp.path)
    return True


def _journal(bench: Bench, records: list[JournalRecord], temporary: str) -> list[JournalRecord]:
    """Write the records, or take the intent back where the disk refuses."""
    try:
        return bench.write(records)
    except OSError:
        files.remove(temporary)
        raise


def _index_append(bench: Bench, operation: Append, passage: door.Passage, grown: Source, place: Place) -> Outcome:
    """Let the index take in appended notes; those below the place move down."""
    rows, lines, line = [], {}, place.line
    section = tuple(place.section.split(SEPARATOR)) if place.section else ()
    for record, text in zip(passage.records, operation.texts, strict=True):
        one, by = record.id or "", record.fields.get("by", "")
        rows.append(Row(one, text, line, False, "item", section, record.n, record.time, by))  # noqa: FBT003
        lines[one] = line
        line += text.count("\n") + 1
    blank = place.prefix.count(place.newline)
    below = place.offset < len(passage.state.content.data or b"")

    def take_in(index: Index) -> None:
        if below:
            index.shift(grown.scope, place.line - blank, operation.height + blank)
        index.insert(grown, rows)

    bench.tell(take_in)
    return Outcome(grown.path, lines, tuple(passage.records), tuple(bench.notices))
