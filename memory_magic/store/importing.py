"""Take notes over from a file or another store, or a whole history into an empty root (store_rules 9).

Each scope is one change: one temp, one append, one exchange. A note that stands here already is the same note. One that
once stood here (replaced, or retired) is a conflict, settled by *on_conflict*: `skip` leaves it, `overwrite` puts the
incoming text back in place of what replaced it, `new` adds it beside. Each record says who imported, from which file,
and, as fields of its own, when the note was first made and by whom.

A history goes into an empty root only, verbatim: memory files first, the journal last and at once, so that an import
that was interrupted can simply be run again. No record of the import is added, or a second export would differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memory_magic.errors import ChangedMeanwhileError, NoteError, UsageError
from memory_magic.store import door, files, gate
from memory_magic.store import journal_format as form
from memory_magic.store.bench import resolved
from memory_magic.store.export import TOMBSTONES
from memory_magic.store.history import lineage, resolve, state_before
from memory_magic.store.import_files import ImportFileError, Incoming, Parcel, read_parcel, render_record
from memory_magic.store.note import Document, encode
from memory_magic.store.operations import Pin, Revise
from memory_magic.store.operations_history import Put, Several
from memory_magic.store.placing import Item, fitted, placed
from memory_magic.store.records import GLOBAL
from memory_magic.store.scope import write_scope_file
from memory_magic.store.undoing import nothing_forbidden

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench
    from memory_magic.store.lookup import Lookup
    from memory_magic.store.operations import Operation
    from memory_magic.store.records import Scope
    from memory_magic.store.undoing import Forbidden

    Progress = Callable[[int, int], None]

CONFLICTS: Final = ("skip", "overwrite", "new")
_STEP: Final = 100  # notes between two reports of progress


@dataclass(slots=True)
class Imported:
    """What an import did. *refused* says what could not become a note, and why; *records*: journal records taken over.

    *added* notes are new here, *same* stand here already, *skipped* and *overwritten* were conflicts, *tombstoned* were
    purged here and stay out.
    """

    name: str
    scopes: list[str] = field(default_factory=list)
    added: int = 0
    same: int = 0
    skipped: int = 0
    overwritten: int = 0
    tombstoned: int = 0
    records: int = 0
    refused: list[str] = field(default_factory=list)
    redacted: dict[str, int] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def import_from(
    access: Access,
    path: Path,
    *,
    scope: str | None = None,
    history: bool = False,
    on_conflict: str = "skip",
    by: str | None = None,
    progress: Progress | None = None,
    forbidden: Forbidden = nothing_forbidden,
) -> Imported:
    """Import *path*; *history* takes the journal over too, into an empty root.

    *scope* is where the notes of a bare Markdown file go (global by default); *forbidden* tells of tombstoned texts.
    `ImportFileError` names the line of a fault; nothing was changed then.
    """
    access.require_writable()
    if on_conflict not in CONFLICTS:
        raise UsageError(f"a conflict is settled by one of {', '.join(CONFLICTS)}")
    place = access.scope_to_write(scope).id if scope is not None else None
    if path.resolve() == access.root.resolve():
        raise UsageError("that is this very store")
    parcel = read_parcel(path, place)
    if place is not None and (path.is_dir() or parcel.scopes):
        raise UsageError("the source says which scope each note is of", hint="leave out --scope")
    told = Imported(parcel.name, refused=list(parcel.refused), redacted=parcel.redacted, notices=list(parcel.notices))
    if history:
        _import_history(access, parcel, told)
        return told
    if parcel.records:
        told.notices.append("its history was left out: --history takes it over into an empty store")
    extra = access.signed(by, f"import of {gate.clean_line(parcel.name)}")
    work = _Notes(access, parcel, told, on_conflict, extra, progress, forbidden)
    work.run()
    return told


class _Notes:
    """The import of notes: scope by scope, counted."""

    def __init__(
        self,
        access: Access,
        parcel: Parcel,
        told: Imported,
        on_conflict: str,
        extra: Mapping[str, str],
        progress: Progress | None,
        forbidden: Forbidden,
    ) -> None:
        self._access = access
        self._parcel = parcel
        self._told = told
        self._on_conflict = on_conflict
        self._extra = dict(extra)
        self._progress = progress
        self._forbidden = forbidden
        self._done = 0

    def run(self) -> None:
        """Import every scope, global first."""
        groups: dict[str, list[Incoming]] = {scope: [] for scope in self._parcel.scopes}
        for note in self._parcel.notes:
            groups.setdefault(note.scope, []).append(note)
        for one in sorted(groups, key=lambda name: (name != GLOBAL, name)):
            place = self._access.scope(one)
            lay_out(self._access, self._parcel, place)
            self._told.scopes.append(one)
            if groups[one]:
                self._import(place, groups[one])
        self._report(len(self._parcel.notes))

    def _import(self, place: Scope, notes: list[Incoming]) -> None:
        batches: list[_Batch] = []

        def plan(bench: Bench) -> Operation | None:
            document = self._access.writer.observe(bench, place).document
            found = self._access.lookup(bench)
            incoming = frozenset(note.item.id_in(place.id) for note in notes)
            batches.append(_Batch(self._access, document, found, incoming, self._on_conflict, self._extra))
            for note in notes:
                self._sort(batches[-1], note)
            return batches[-1].operation()

        outcome = self._access.change(place, plan)
        self._told.notices += [notice for notice in outcome.notices if notice not in self._told.notices]
        for name, count in batches[-1].counts.items():
            setattr(self._told, name, getattr(self._told, name) + count)
        self._told.refused += batches[-1].refused

    def _sort(self, batch: _Batch, note: Incoming) -> None:
        self._done += 1
        if self._done % _STEP == 0:
            self._report(self._done)
        if note.item.id_in(note.scope) not in batch.document.notes and self._forbidden(note.item.text):
            batch.count("tombstoned")
        else:
            batch.take(note)

    def _report(self, done: int) -> None:
        if self._progress is not None:
            self._progress(min(done, len(self._parcel.notes)), len(self._parcel.notes))


class _Batch:
    """What becomes of the notes of one scope, decided on the file as it stands under the lock."""

    def __init__(
        self,
        access: Access,
        document: Document,
        found: Lookup,
        incoming: frozenset[str],
        on_conflict: str,
        extra: Mapping[str, str],
    ) -> None:
        self.document = document
        self.counts: dict[str, int] = {}
        self.refused: list[str] = []
        self._access = access
        self._found = found
        self._incoming = incoming
        self._on_conflict = on_conflict
        self._extra = dict(extra)
        self._seen: set[str] = set()
        self._turned: dict[str, Revise] = {}
        self._pins: list[Pin] = []
        self._back: list[tuple[Item, Mapping[str, str]]] = []
        self._new: list[tuple[Item, Mapping[str, str]]] = []

    def count(self, name: str) -> None:
        """Count one note under *name*."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def take(self, note: Incoming) -> None:
        """Decide on one note."""
        scope = self.document.scope
        one = note.item.id_in(scope)
        there = self.document.notes.get(one)
        if there is not None or one in self._seen:
            self.count("same")
            if there and note.item.pinned and not there.pinned and there.kind == "item" and self._overwrites:
                self._pins.append(Pin(scope, one, True, self._extra))  # noqa: FBT003
            return
        try:
            item = fitted(note.item)
        except NoteError as error:
            self.refused.append(f"line {note.line}: {error.what}")
            return
        self._seen.add(one)
        if not self._found.links_of(one) or self._on_conflict == "new":
            self._add(item, note)
        elif self._overwrites:
            self._put_back(one, item, note)
        else:
            self.count("skipped")

    @property
    def _overwrites(self) -> bool:
        return self._on_conflict == "overwrite"

    def _add(self, item: Item, note: Incoming) -> None:
        self.count("added")
        self._new.append((item, {"created": note.created, "author": note.by} | self._extra))

    def _put_back(self, one: str, item: Item, note: Incoming) -> None:
        """Put an earlier text back: in place of the note that replaced it, or as a note that was retired."""
        scope = self.document.scope
        current = resolve(one, self._found.step, self.document.notes.__contains__)
        if current is None:
            about = self._access.records(self._found, lambda asked: lineage(one, asked.links_of))
            gone = [record for record in about if record.id == one]
            known = state_before(about, gone[-1]).get(one) if gone else None
            first = {"created": known.created, "author": known.by} if known else {}
            self.count("overwritten")
            self._back.append((item, first | self._extra))
        elif current in self._turned or current in self._incoming:
            self._add(item, note)  # what replaced it comes too, or gave way to another text already
        else:
            self.count("overwritten")
            self._turned[current] = Revise(scope, current, item.text, self._extra, self.document.notes[current].text)

    def operation(self) -> Operation | None:
        """Return all of it as one change, or None where nothing is to be done."""
        parts: list[Operation] = [*self._turned.values(), *self._pins]
        for action, notes in (("restore", self._back), ("import", self._new)):
            if notes:
                items, details = zip(*notes, strict=True)
                parts.append(Put(self.document.scope, action, tuple(items), tuple(details)))
        return Several(tuple(parts)) if parts else None


def lay_out(access: Access, parcel: Parcel, place: Scope) -> None:
    """Make a scope's directory and, for a workspace without one, its `scope.toml` as the source had it."""
    content = parcel.scopes.get(place.id)
    if not place.is_global and content is not None and not (place.path / "scope.toml").exists():
        files.make_directory(access.root)
        write_scope_file(place.path, content)
    access.lay_out(place)
    files.make_directory(place.path)


# -- history --------------------------------------------------------------------------------------------------------


def _import_history(access: Access, parcel: Parcel, told: Imported) -> None:
    """Write notes, journal and tombstones verbatim into an empty root."""
    if parcel.notes and not parcel.records:
        raise ImportFileError("this source holds no history", where=parcel.name, hint="export it with --history")
    by_scope: dict[str, list[Item]] = {scope: [] for scope in {GLOBAL, *parcel.scopes}}
    for note in parcel.notes:
        try:
            by_scope.setdefault(note.scope, []).append(fitted(note.item))
        except NoteError as error:
            told.refused.append(f"line {note.line}: {error.what}")
    texts = {scope: encode(placed(Document(scope, ""), items).text) for scope, items in by_scope.items()}
    tombstones = "".join(f"{line}\n" for line in parcel.tombstones).encode()

    def work(_: Bench) -> None:
        _require_empty(access, texts, tombstones)
        for scope, data in texts.items():
            place = access.scope(scope)
            lay_out(access, parcel, place)
            if data:
                _place_file(resolved(place.memory_file), data, max(1, parcel.records[-1].n))
        if tombstones:
            files.replace(access.root / TOMBSTONES, tombstones)
        if parcel.records:
            journal = form.HEADING + "".join(map(render_record, parcel.records))
            files.replace(access.journal.path, journal.encode("utf-8", "replace"))

    access.run(work)
    told.added, told.records, told.scopes = len(parcel.notes), len(parcel.records), sorted(texts)
    _check_history(access, told)


def _require_empty(access: Access, texts: Mapping[str, bytes], tombstones: bytes) -> None:
    """Raise unless the root holds nothing but what an interrupted import of the same left."""
    taken = access.journal.tail().size > 0
    taken = taken or files.read(str(access.root / TOMBSTONES)).data not in {None, tombstones}
    for scope in access.all_scopes():
        data = files.read(resolved(scope.memory_file)).data
        taken = taken or (data is not None and data != texts.get(scope.id))
    if taken:
        raise UsageError(
            "a history can only go into an empty store, and this one is not",
            hint="import without --history takes the notes over, or name another --root",
        )


def _place_file(path: str, data: bytes, n: int) -> None:
    """Put a memory file where there is none."""
    if files.read(path).data == data:
        return  # of an import that was interrupted
    temporary, _ = door.write_temp(path, (n, n), data, files.sha256(data))
    if door.swap(temporary, path, expect_absent=True):
        door.swap(temporary, path, expect_absent=False)
        files.remove(temporary)
        raise ChangedMeanwhileError("somebody made this file meanwhile", where=path, hint="look at it and try again")


def _check_history(access: Access, told: Imported) -> None:
    """Compare the new journal with itself and with the new files, and say what does not fit."""

    def work(bench: Bench) -> None:
        for scope in access.all_scopes():
            access.writer.observe(bench, scope)
        told.notices += bench.notices

    before = access.journal.tail().n
    access.run(work)
    more = access.journal.tail().n - before
    if more:
        told.notices.append(f"{more} differences between its notes and its journal are journalled as changes")
    verdict = access.journal.verify()
    if not verdict.ok:
        told.notices += [f"its journal has a fault: {fault}" for fault in verdict.faults[:3]]
