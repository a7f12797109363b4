"""The store: notes in Markdown, a journal of every change, a disposable index. The one door for all other rooms.

    with Store() as store:
        store.remember("Deploys run on Tuesdays")

Two scopes are seen from a directory: `global`, and the workspace of its repository (DESIGN 3.2). Reading takes no
lock and writes nothing but, when the lock is free, the journal's and the index's catching up with an editor. A write
is: gate (secrets and private spans out), lock, recovery, observation, temp, record, exchange, index. One object may
be used from several threads.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from memory_magic import settings as settings_module
from memory_magic.errors import MemoryMagicError, ReadOnlyStoreError, ScopeError
from memory_magic.store import doctor, files, gate
from memory_magic.store import scope as scope_module
from memory_magic.store.ids import normalise, note_id, shown_length
from memory_magic.store.indexes import MEMORY, Indexes
from memory_magic.store.journal import Journal, utc_now
from memory_magic.store.journal_format import split_titles
from memory_magic.store.layout import lay_out
from memory_magic.store.operations import Append, Pin, Retire, Revise
from memory_magic.store.reading import Reader
from memory_magic.store.records import (
    Finding,
    Note,
    Scope,
    ScopeStatus,
    SearchResult,
    Status,
    Verification,
    Written,
)
from memory_magic.store.targets import Targets
from memory_magic.store.writing import Outcome, Writer

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    from memory_magic.settings import Settings
    from memory_magic.store.archive import Archive
    from memory_magic.store.bench import Bench
    from memory_magic.store.operations import Operation
    from memory_magic.store.records import JournalRecord

DEFAULT_AUTHOR = "python"
Notes = list[Note]
Records = list["JournalRecord"]
Writes = list[Written]
Findings = list[Finding]


class Store:
    """One store, seen from one directory.

    *root*: None means `$MEMORY_MAGIC_HOME`, else `~/.memory-magic`. *cwd*: None means the present directory.
    *read_only* never writes, not even an index. *by* is the author of changes that name none. *clock* gives the moment.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        cwd: str | Path | None = None,
        read_only: bool = False,  # noqa: FBT001, FBT002  (the signature of the contract)
        *,
        by: str | None = None,
        clock: Callable[[], dt.datetime] = utc_now,
    ) -> None:
        self.root = settings_module.find_root(root)
        self.cwd = Path(cwd) if cwd is not None else Path.cwd()
        self.read_only = read_only
        self._by = gate.clean_line(by or DEFAULT_AUTHOR)
        self._laid_out: set[str] = set()
        self._guard = threading.RLock()
        self._settings: Settings | None = None
        self._journal = Journal(self.root / "JOURNAL.md", clock)
        self._indexes = Indexes(self._index_path(), read_only=read_only)
        self._writer = Writer(self.root, self._journal, self._indexes)
        self._reader = Reader(self.root, self._journal, self._indexes, None if read_only else self._writer)
        self._targets = Targets(self._reader)
        self._resolution = scope_module.resolve(self.cwd, self.root)

    def _index_path(self) -> Path | None:
        setting = self.settings.index_path
        if setting == MEMORY:
            return None
        if not setting:
            return self.root / "index.sqlite3"
        path = Path(setting).expanduser()
        # one setting may serve several roots (an environment variable does): each has a database of its own
        return path.with_name(f"{path.stem}-{files.sha256(str(self.root.absolute()).encode())[:8]}{path.suffix}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; the store may be used again."""
        with self._guard:
            self._indexes.close()

    # -- what is seen ------------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """Return the settings, read at first use."""
        if self._settings is None:
            self._settings = settings_module.load(self.root)
        return self._settings

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Return the scopes that this directory sees, global first."""
        return self._resolution.scopes

    @property
    def workspace(self) -> Scope | None:
        """Return the workspace that writes go to, if there is one."""
        return self._resolution.workspace

    @property
    def project(self) -> Path | None:
        """Return the folder whose project memory file is read (DESIGN 3), or None for home and the root."""
        return self._resolution.project

    @property
    def scope_notice(self) -> str:
        """Return the sentence that says why there is no workspace, or an empty string."""
        return self._resolution.notice

    @property
    def fallback(self) -> str | None:
        """Return in words why the index is not used, or None."""
        return self._indexes.fallback or None

    @property
    def unread(self) -> tuple[str, ...]:
        """Return a sentence for each memory file that the last answers had to leave out."""
        return self._reader.unread_files()

    @property
    def is_off_here(self) -> bool:
        """Tell whether a project file asks for no memory in this directory."""
        return self._resolution.memory_off

    def scopes_named(self, name: str | None) -> tuple[Scope, ...]:
        """Return the scopes that *name* means: None = all seen here, `all` = every scope on disk (for people only)."""
        if name is None:
            return self.scopes
        checked = scope_module.check_scope_name(name)
        if checked == "all":
            return self._all_scopes()
        if checked == "workspace":
            return tuple(scope for scope in self.scopes if not scope.is_global) or (self._workspace(),)
        seen = [scope for scope in self._all_scopes() if scope.id == checked]
        if not seen:
            raise ScopeError("there is no such workspace in this store", where=str(self.root))
        return tuple(seen)

    def _all_scopes(self) -> tuple[Scope, ...]:
        return scope_module.scopes_on_disk(self.root, self.scopes)

    def _workspace(self) -> Scope:
        if self.workspace is None:
            raise ScopeError("there is no workspace here", where=str(self.cwd), hint=self.scope_notice)
        return self.workspace

    def _scope_to_write(self, name: str | None) -> Scope:
        checked = scope_module.check_scope_name(name or "global")
        if checked == "workspace":
            return self._workspace()
        for scope in self.scopes if checked == "global" else self._all_scopes():
            if scope.id == checked:
                return scope
        raise ScopeError("a note goes into one scope: global or workspace", hint="name one of them")

    # -- reading -----------------------------------------------------------------------------------------------

    def list(self, scope: str | None = None, *, limit: int = -1) -> Notes:
        """Return the notes: pinned first, then newest first, over all scopes asked for."""
        with self._guard:
            parts = [self._reader.notes(one, limit) for one in self.scopes_named(scope)]
        notes = [note for part in parts for note in part]
        if len(parts) > 1:
            notes.sort(key=lambda note: (not note.pinned, -note.n, -note.line))
        return notes[:limit] if limit >= 0 else notes

    def headroom_notes(self) -> Notes:
        """Return those notes of each scope that a block could take, and one more: what a write's headroom is told from.

        The index is taken as it stands after the write, without looking at the files again.
        """
        limit = self.settings.notes_entries + 1
        with self._guard:
            return [note for scope in self.scopes for note in self._reader.indexed(scope, limit)]

    def get(self, target: str, *, scope: str | None = None) -> Note:
        """Return the note with this id (any unique prefix of six or more), replaced id, or exact text."""
        with self._guard:
            return self._targets.find(target, self.scopes_named(scope))

    def search(self, query: str, *, limit: int = 8, scope: str | None = None) -> SearchResult:
        """Return the notes that fit *query* best, best first; no query is an error."""
        with self._guard:
            hits, fallback = self._reader.search(query, self.scopes_named(scope), max(0, limit))
        return SearchResult(query, tuple(hits), fallback or self.fallback)

    def short_id(self, one: str) -> str:
        """Return as much of an id as tells it from all others here, at least 10 characters."""
        near = [note.id for scope in self.scopes for note in self._targets.with_prefix(one[:10], scope)]
        return one[: shown_length([one, *near])]

    def journal(self, *, limit: int | None = None) -> Records:
        """Return the journal's records, oldest first; *limit* keeps the newest."""
        with self._guard:
            records = list(self._journal.records())
        return records if limit is None else records[len(records) - min(limit, len(records)) :]

    def status(self) -> Status:
        """Return the store at a glance; of the journal only its end is read."""
        with self._guard:
            scopes = tuple(
                ScopeStatus(scope.id, scope.label, len(self._reader.notes(scope)), str(scope.memory_file))
                for scope in self.scopes
            )
            tail = doctor.tail_of(self._journal)
            notes, schema, fresh, verified = doctor.index_state(self._reader, self.scopes, tail)
        head = tail.chain if tail.n else ""
        return Status(str(self.root), scopes, notes, schema, fresh, tail.n, head, verified, self.scope_notice)

    def verify(self) -> Verification:
        """Check the whole journal against its chain, and its end against what the index remembers of it."""
        with self._guard:
            if not self.read_only and self._journal.tail().torn:
                doctor.finish_torn(self._writer)
            verdict = self._journal.verify(self._anchor())
            if not self.read_only and self.root.is_dir():
                doctor.keep_verdict(self._writer, verdict)
            return verdict

    def _anchor(self) -> tuple[int, str] | None:
        index = self._indexes.reading()
        return doctor.anchor_of(index) if index is not None else None

    @property
    def archive(self) -> Archive:
        """Return what can be asked and done about the past: history, undo, export, import."""
        from memory_magic.store.archive import Archive  # most callers never need it

        return Archive(self)

    def findings(self) -> Findings:
        """Return what a person should know about the files: damage, look-alikes, rights, what blocks a write."""
        with self._guard:
            return doctor.findings(
                self.root, self._all_scopes(), self._journal, self._anchor(), read_only=self.read_only
            )

    # -- writing -----------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        scope: str | None = None,
        pin: bool = False,
        by: str | None = None,
        evidence: str | None = None,
    ) -> Written:
        """Keep *text* as a note of *scope* (global by default); a text that is there already is a stated no-op."""
        return self.remember_many([text], scope=scope, pin=pin, by=by, evidence=evidence)[0]

    def remember_many(
        self,
        texts: Iterable[str],
        *,
        scope: str | None = None,
        pin: bool = False,
        by: str | None = None,
        evidence: str | None = None,
    ) -> Writes:
        """Keep several notes at once: one temp file, one append to the journal, one exchange."""
        cleaned = [gate.clean_note(text) for text in texts]
        target = self._scope_to_write(scope)
        if pin and len(cleaned) > 1:
            return [self.remember(one.text, scope=scope, pin=True, by=by, evidence=evidence) for one in cleaned]
        if not cleaned:
            return []
        ids = [note_id(target.id, normalise(one.text)) for one in cleaned]
        texts_by_id = {one: clean.text for one, clean in reversed(list(zip(ids, cleaned, strict=True)))}
        texts_once = tuple(texts_by_id[one] for one in dict.fromkeys(ids))
        operation = Append(target.id, texts_once, self._extra(by, evidence), pinned=pin)
        outcome = self._change(target, lambda bench: self._append_or_pin(bench, target, operation))
        numbers = {record.id: record for record in outcome.records}
        written = []
        for one, clean in zip(ids, cleaned, strict=True):
            record = numbers.get(one)
            status = "duplicate" if record is None else ("pinned" if record.action == "pin" else "saved")
            line = outcome.lines.get(one) or 0
            written.append(self._written(target, one, status, outcome, line, record.n if record else 0, clean.redacted))
        return written

    def _append_or_pin(self, bench: Bench, scope: Scope, operation: Append) -> Operation:
        """Pin a note that is there already instead of writing it twice."""
        if not operation.pinned or len(operation.ids) != 1:
            return operation
        note = self._writer.observe(bench, scope).document.notes.get(operation.ids[0])
        return Pin(scope.id, note.id, pinned=True, extra=operation.extra) if note else operation

    def revise(
        self, target: str, new_text: str, *, evidence: str, scope: str | None = None, by: str | None = None
    ) -> Written:
        """Replace the note *target* (id or exact text) by *new_text*; *evidence* says why."""
        extra = self._extra(by, gate.require_evidence(evidence))
        cleaned = gate.clean_note(new_text)
        note = self._note_to_change(target, scope)
        operation = Revise(note.scope, note.id, cleaned.text, extra, note.text)
        return self._changed(note, operation, operation.new, cleaned.redacted)

    def retire(self, target: str, *, evidence: str, scope: str | None = None, by: str | None = None) -> Written:
        """Take the note *target* (id or exact text) out; its history stays in the journal."""
        extra = self._extra(by, gate.require_evidence(evidence))
        note = self._note_to_change(target, scope)
        return self._changed(note, Retire(note.scope, note.id, extra, note.text), note.id, {})

    def pin(self, target: str, *, by: str | None = None, scope: str | None = None) -> Written:
        """Move the note *target* under `## Pinned`: it is told to assistants before all others."""
        note = self._note_to_change(target, scope)
        return self._changed(note, Pin(note.scope, note.id, True, self._extra(by, None)), note.id, {})  # noqa: FBT003

    def unpin(self, target: str, *, by: str | None = None, scope: str | None = None) -> Written:
        """Move the note *target* back to the section that it was pinned from."""
        note = self._note_to_change(target, scope)
        home = self._reader.known(note.scope).get(note.id)
        section = split_titles(home.section) if home else ()
        operation = Pin(note.scope, note.id, False, self._extra(by, None), section)  # noqa: FBT003
        return self._changed(note, operation, note.id, {})

    def _note_to_change(self, target: str, scope: str | None) -> Note:
        self._require_writable()
        with self._guard:
            return self._targets.find(target, self.scopes_named(scope), live_only=True)

    def _changed(self, note: Note, operation: Operation, new_id: str, redacted: dict[str, int]) -> Written:
        scope = next(one for one in self._all_scopes() if one.id == note.scope)
        outcome = self._change(scope, lambda _: operation)
        n = outcome.records[0].n if outcome.records else 0
        status = "saved" if outcome.records else "duplicate"
        line = outcome.lines.get(new_id) or note.line
        return self._written(scope, new_id, status, outcome, line, n, redacted, note.id)

    def _change(self, scope: Scope, plan: Callable[[Bench], Operation | None]) -> Outcome:
        self._require_writable()
        with self._guard:
            self._lay_out(scope)
            return self._writer.change(scope, plan)

    def _written(
        self,
        scope: Scope,
        one: str,
        status: str,
        outcome: Outcome,
        line: int,
        n: int,
        redacted: Mapping[str, int],
        old_id: str | None = None,
    ) -> Written:
        notices = (*outcome.notices, *((self.fallback,) if self.fallback else ()))
        return Written(one, scope.id, str(scope.memory_file), line, status, n, old_id, dict(redacted), notices)

    def _extra(self, by: str | None, evidence: str | None) -> dict[str, str]:
        author = gate.clean_line(by) if by else self._by
        return {"by": author, "evidence": gate.clean(evidence).text if evidence else ""}

    def _require_writable(self) -> None:
        if self.read_only:
            raise ReadOnlyStoreError("this store is open for reading only", where=str(self.root))

    def _lay_out(self, scope: Scope) -> None:
        """Make the root and, for a new workspace, the file that names it; looked at once for each scope."""
        if scope.id not in self._laid_out or not scope.path.is_dir():
            self._laid_out.add(scope.id)
            lay_out(self.root, scope)

    # -- upkeep ------------------------------------------------------------------------------------------------

    def observe(self) -> Records:
        """Bring journal and files into agreement in every scope seen here, and return the records that this took."""
        self._require_writable()
        with self._guard:
            before = self._journal.tail().n
            after = self._writer.run(lambda bench: self._observe_all(bench, self.scopes))[0]
            return [] if after == before else [record for record in self._journal.records() if record.n > before]

    def _observe_all(self, bench: Bench, scopes: Iterable[Scope]) -> tuple[int, int]:
        """Observe *scopes*; return the last record's number and how many notes there are.

        One that cannot be read holds the others up no longer than to be told at the end.
        """
        notes = 0
        fault: MemoryMagicError | None = None
        for scope in scopes:
            try:
                notes += len(self._writer.observe(bench, scope).known)
            except MemoryMagicError as error:
                fault = fault or error
        if fault is not None:
            raise fault
        return bench.tail.n, notes

    def reindex(self) -> int:
        """Delete the index, build it anew from journal and files, and return the number of notes."""
        self._require_writable()
        with self._guard:
            self._writer.distrust_index()
            return self._writer.run(lambda bench: self._observe_all(bench, self._all_scopes()))[1]

    def init(self, label: str, directory: str | Path | None = None) -> Scope:
        """Make *directory* (the present one by default) a workspace of its own by a `.memory-magic.toml`."""
        self._require_writable()
        with self._guard:
            scope_module.init(Path(directory) if directory is not None else self.cwd, label)
            self._resolution = scope_module.resolve(self.cwd, self.root)
            scope = (
                self._workspace() if directory is None else scope_module.resolve(Path(directory), self.root).writes_to
            )
            self._lay_out(scope)
            doctor.record_init(self._writer, scope, self._by)
            return scope
