"""What the next holder of the lock does with temp files that a crash, or an editor, left behind (store_rules 2).

`.part`: never whole, never exchanged: deleted. `.new` whose hash fits its name was not exchanged: without its record
it is deleted, with it the operation is done again from the record on the present bytes (never from the stored bytes).
`.new` whose hash does not fit holds what stood there before the exchange: the predecessor, or somebody's save, so its
changes are merged into the file, through the door like everything else. `.old` is looked at once more and goes. Each
step may be repeated: a second pass finds nothing.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from memory_magic.errors import FileStateError, MemoryMagicError
from memory_magic.store import door, files
from memory_magic.store.bench import FileState, redacted, resolved
from memory_magic.store.journal_format import Draft
from memory_magic.store.note import Document, encode
from memory_magic.store.operations import Append, appended, from_record, from_records
from memory_magic.store.records import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory_magic.store.bench import Bench
    from memory_magic.store.records import JournalRecord
    from memory_magic.store.replay import Known

RECOVERED: Final = "recovery of an interrupted write"
_FOREIGN_SECONDS: Final = 3600.0


def recover(bench: Bench, scope: Scope, path: str, known: dict[str, Known], *, at_once: bool = False) -> bool:
    """Settle every temp file beside *path*; tell whether there was any. *known* is the journal's view of the scope.

    *at_once*: no predecessor is kept for later, not even one of this moment (a purge).
    """
    found = door.temps(path)
    for temp in [temp for temp in found if temp.state == "old"] if at_once else door.settled_old(found):
        _look_once_more(bench, scope, path, known, temp)
    for temp in found:
        if temp.state == "part":
            files.remove(temp.path)
        elif temp.state == "new":
            _settle(bench, scope, path, known, temp)
    return bool(found)


def _look_once_more(bench: Bench, scope: Scope, path: str, known: dict[str, Known], temp: door.Temp) -> None:
    if not temp.is_untouched():
        state = _state(scope, path, known)
        saved = state.read_as(temp.path, files.read(temp.path))
        if not _merged(bench, state, saved, gone=(), since=temp.first):
            return
    files.remove(temp.path)


def _settle(bench: Bench, scope: Scope, path: str, known: dict[str, Known], temp: door.Temp) -> None:
    content = files.read(temp.path)
    records = _records(bench, scope, temp)
    if content.data is None:
        return
    if not content.hash.startswith(temp.hash):
        if not _merge_save(bench, scope, path, known, temp, records):
            return
    elif records:
        records = _destination_first(bench, scope, records)
        _do_again(bench, _state(scope, path, known), records)
    elif temp.first > bench.tail.n + 1 and time.time() - os.stat(temp.path).st_mtime < _FOREIGN_SECONDS:  # noqa: PTH116
        return  # of another machine, brought by a sync tool, perhaps still under way
    files.remove(temp.path)


def _state(scope: Scope, path: str, known: dict[str, Known]) -> FileState:
    content = files.read(path)
    return FileState(scope, path, content, lambda: known)


def _records(bench: Bench, scope: Scope, temp: door.Temp) -> list[JournalRecord]:
    """Return the records that the temp file belongs to, as far as they were written."""
    if bench.tail.n < temp.first:
        return []
    start = bench.index.offset_of(temp.first)
    found = (record for record in bench.journal.records(start) if temp.first <= record.n <= temp.last)
    return [record for record in found if scope.id in {record.scope, record.fields.get("to")}]


def _destination_first(bench: Bench, scope: Scope, records: list[JournalRecord]) -> list[JournalRecord]:
    """Bring a promoted note to where it goes before it leaves: a reader may see both, never neither.

    Return the records that still count: what could not be brought there stays where it is.
    """
    from memory_magic.store.scope import safe_directory

    away = [record for record in records if record.action == "promote" and record.scope == scope.id]
    root = scope.path.parents[scope.id.count("/")]
    lost: set[int] = set()
    for record in away:
        to = record.fields.get("to", "")
        try:
            other = Scope(to, safe_directory(root, to))
        except MemoryMagicError:
            lost.add(record.n)  # no place of ours: the note stays, and the file wins at the next look
            continue
        recover(bench, other, resolved(other.memory_file), bench.index.known(to))
    if any(record.action == "promote" for record in records):
        lost |= bench.journal.cancelled()
    return [record for record in records if record.n not in lost]


def _do_again(bench: Bench, state: FileState, records: list[JournalRecord]) -> None:
    """Apply the recorded operations to the present bytes; one whose note is gone is cancelled."""
    document = state.document
    for operation, batch in from_records(records, state.scope.id):
        if operation.is_done(document):
            continue
        try:
            document = operation.apply(document)
        except MemoryMagicError:
            told = {"scope": state.scope.id, "by": RECOVERED}
            bench.record([Draft("cancel", told | {"id": one.id or "", "cancels": str(one.n)}) for one in batch])
    _bring_in(bench, state, document, records)


def _merge_save(
    bench: Bench, scope: Scope, path: str, known: dict[str, Known], temp: door.Temp, records: list[JournalRecord]
) -> bool:
    """Merge what stood in the file before the exchange, if it was more than the predecessor; tell whether it went."""
    state = _state(scope, path, known)
    settled = files.read_settled(temp.path, lambda content: door.looks_torn(state, content))
    saved = state.read_as(temp.path, settled)
    operations = [operation for record in records if (operation := from_record(record, scope.id))]
    added = {one for operation in operations for one in operation.added}
    taken = {one for operation in operations for one in operation.taken}
    # what was journalled after this temp file cannot have been taken out by a save before it
    base = ({one for one, note in known.items() if note.n < temp.first} - added) | taken
    gone = [one for one in base if one not in saved.notes and one not in taken]
    if 2 * len(gone) > len(base):
        gone = []  # an editor that died in mid save: what it lost is not what its person took out
    return _merged(bench, state, saved, gone, since=temp.first)


def _merged(bench: Bench, state: FileState, saved: Document, gone: Iterable[str], *, since: int) -> bool:
    """Merge, and tell whether it went: where the file takes nothing in as it stands the temp file waits."""
    try:
        _merge(bench, state, saved, gone, since=since)
    except FileStateError as error:
        bench.notices.append(f"what an editor saved beside {state.path} waits until the file can be written: {error}")
        return False
    return True


def _merge(bench: Bench, state: FileState, saved: Document, gone: Iterable[str], *, since: int) -> None:
    """Bring into the file what *saved* has and it lacks, and take out *gone*; records first, then the door.

    A note that the journal knew before record *since* and that the file lacks was taken out since: it stays out.
    """
    document = state.document
    come = [
        note
        for one, note in saved.notes.items()
        if one not in document.notes
        and (state.known[one].n >= since if one in state.known else not bench.index.knows_id(one))
    ]
    leave = [document.notes[one] for one in gone if one in document.notes]
    if not come and not leave:
        return
    scope = state.scope.id
    drafts = [
        Draft("observe", {"scope": scope, "id": note.id, "after": redacted(note.text), "by": RECOVERED})
        for note in come
        if note.id not in state.known
    ]
    drafts += [
        Draft("observe", {"scope": scope, "id": note.id, "before": redacted(note.text), "by": RECOVERED})
        for note in leave
        if note.id in state.known
    ]
    if come:
        document = appended(document, *(note.text for note in come))
    for note in leave:
        document = document.removed(document.notes[note.id])
    records = bench.record(drafts)
    state.apply(records)
    _bring_in(bench, state, document, records)


class _Merged:
    """A merge as an operation: on other bytes it adds and takes out the same notes."""

    def __init__(self, before: Document, after: Document) -> None:
        self.added = frozenset(set(after.notes) - set(before.notes))
        self.taken = frozenset(set(before.notes) - set(after.notes))
        self._texts = {one: after.notes[one].text for one in after.notes if one in self.added}
        self._scope = after.scope

    def is_done(self, document: Document) -> bool:
        """Tell whether *document* shows the merge already."""
        return self.added <= set(document.notes) and not self.taken & set(document.notes)

    def apply(self, document: Document) -> Document:
        """Return *document* with the same notes added and taken out."""
        document = Append(self._scope, tuple(self._texts.values()), {}).apply(document)
        for one in self.taken & set(document.notes):
            document = document.removed(document.notes[one])
        return document

    def drafts(self, document: Document) -> list[Draft]:  # noqa: ARG002  (its records are written by the caller)
        """Return no drafts."""
        return []


def _bring_in(bench: Bench, state: FileState, document: Document, records: list[JournalRecord]) -> None:
    """Put *document* in place of the present bytes, through the door."""
    if document.text == state.document.text:
        return
    data = encode(document.text)
    passage = door.Passage(bench, state, _Merged(state.document, document), records)
    temporary, _ = door.write_temp(state.path, passage.numbers, data, files.sha256(data))
    passage.run(temporary, data)
