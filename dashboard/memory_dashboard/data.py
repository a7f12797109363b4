"""All that the pages know of the store: this module alone talks to it, and only reads.

A `Source` belongs to one server and is shared by its windows. It opens the store with `read_only=True` and keeps what
it has read until the signature of the files changes: `refresh` compares the signature (one `stat` for each file, no
content) and is cheap enough for a look every two seconds. Pages ask for one `Slice` of rows at a time, so a browser
never receives more than a screenful, however large the store; rows are plain text, clipped, and hold no markup.

Errors of the store (`MemoryMagicError`) pass through; the frame turns them into a page that says what to do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from memory_dashboard import words
from memory_dashboard.markup import clip
from memory_dashboard.view import ALL_SCOPES
from memory_magic.store.reviewing import suspicious

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from memory_magic.store.records import JournalRecord, Note, Scope, SearchResult, Verification
    from memory_magic.store.store import Store

PAGE_ROWS = 25
# What a cell may hold; two lines of it show.
CELL = 240
# More hits than a person would page through.
SEARCH_HITS = 1_000
UNRECORDED = "◉ unrecorded"
SUSPICIOUS = "▲ suspicious"

Row = TypeVar("Row")


class Readable(Protocol):
    """What the dashboard asks of a store."""

    @property
    def root(self) -> Path:
        """Return the directory of the store."""

    @property
    def scope_notice(self) -> str:
        """Return why the present directory has no workspace, if it has none."""

    def scopes_named(self, name: str | None) -> tuple[Scope, ...]:
        """Return the scopes of a name; `all` means every one on disk."""

    def list(self, scope: str | None = None) -> Sequence[Note]:
        """Return live notes, pinned and newest first."""

    def search(self, query: str, *, limit: int = 8, scope: str | None = None) -> SearchResult:
        """Return the notes that match."""

    def journal(self, *, limit: int | None = None) -> Sequence[JournalRecord]:
        """Return records in the order of the file."""

    def verify(self) -> Verification:
        """Return the verdict on the whole chain."""

    def short_id(self, note_id: str) -> str:
        """Return the start of an id that tells it from all others."""

    def close(self) -> None:
        """Let go of files."""


@dataclass(frozen=True, slots=True)
class Slice(Generic[Row]):
    """Rows of one page out of *total*; *pages* is at least 1 and *page_no* lies within it."""

    rows: tuple[Row, ...]
    total: int
    page_no: int
    pages: int


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One note as the table shows it; every field is text."""

    key: str
    id: str
    note: str
    scope: str
    state: str
    age: str
    by: str


@dataclass(frozen=True, slots=True)
class NoteDetail:
    """One note in full, with its records, newest first; *changed* is the record that made it what it is.

    *suspicion* says why the note is kept from every prompt; it is empty for all but suspicious notes.
    """

    note: Note
    short_id: str
    scope: str
    place: str
    state: str
    changed: JournalRecord | None
    history: tuple[JournalRecord, ...]
    suspicion: str = ""


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One change as the table shows it; every field is text."""

    key: int
    n: str
    time: str
    action: str
    scope: str
    what: str
    by: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What stands in the frame around each page; *scopes* are (name in the address, label, notes)."""

    root: str
    scopes: tuple[tuple[str, str, int], ...]
    notes: int
    records: int
    verdict: Verification
    text_bytes: int
    index_bytes: int
    notice: str


class Source:
    """One store, read only; *open_store* opens it anew after each change, *clock* tells the time.

    *why_off* returns why no note reaches a prompt here at all, in a sentence, or nothing while memory is on.
    """

    def __init__(
        self,
        open_store: Callable[[], Readable],
        clock: Callable[[], datetime] | None = None,
        why_off: Callable[[], str] | None = None,
    ) -> None:
        self._open = open_store
        self._clock = clock or _utc_now
        self._why_off = why_off
        self._store: Readable | None = None
        self._signature: object = None
        self._notes: dict[str, Sequence[Note]] = {}
        self._journal: Sequence[JournalRecord] | None = None
        self._by_number: dict[int, JournalRecord] | None = None
        self._texts: dict[str, str] | None = None
        self._facts: Facts | None = None
        self.off = ""
        self.generation = 0
        self.checked = self._clock()

    @property
    def now(self) -> datetime:
        """Return the time by the clock that was passed in."""
        return self._clock()

    def refresh(self) -> None:
        """Look at the files; when they changed, forget what was read and count `generation` up."""
        self.checked = self._clock()
        self.off = self._why_off() if self._why_off else ""
        signature = _signature(self._opened().root)
        if signature != self._signature:
            self.close()
            self._signature = signature
            self.generation += 1

    def close(self) -> None:
        """Close the store and forget what was read."""
        if self._store is not None:
            self._store.close()
        self._store, self._journal, self._facts = None, None, None
        self._by_number, self._texts = None, None
        self._notes.clear()

    def facts(self) -> Facts:
        """Return counts, sizes and the verdict of the chain."""
        if self._facts is None:
            self._facts = self._look_around()
        return self._facts

    def notes(self, scope: str, query: str, page_no: int) -> Slice[NoteRow]:
        """Return one page of notes, pinned and newest first, or the hits of *query*, best first."""
        scope = self._real(scope)
        found = self._found(scope, query) if query.strip() else self._all_notes(scope)
        part = _slice(found, page_no)
        doubted = self._suspicious(part.rows)
        rows = tuple(self._note_row(note, suspicious=note.id in doubted) for note in part.rows)
        return Slice(rows, part.total, part.page_no, part.pages)

    def note(self, note_id: str) -> NoteDetail | None:
        """Return a live note of any scope by its full id."""
        note = next((note for note in self._all_notes(ALL_SCOPES) if note.id == note_id), None)
        if note is None:
            return None
        history = _lineage(self._records(), note_id)
        place = f"{_short_directory(note.scope)}/MEMORY.md:{note.line}"
        short_id = self._opened().short_id(note.id)
        return NoteDetail(
            note,
            short_id,
            self.label(note.scope),
            place,
            self._state(note),
            self._maker(note),
            history,
            self._suspicious([note]).get(note.id, ""),
        )

    def records(self, scope: str, query: str, page_no: int) -> Slice[RecordRow]:
        """Return one page of the journal, newest first; each word of *query* must stand in a record."""
        sought, scope = query.casefold().split(), self._real(scope)
        kept = [
            record
            for record in reversed(self._records())
            if scope in {ALL_SCOPES, record.scope} and all(word in _all_words(record) for word in sought)
        ]
        part = _slice(kept, page_no)
        return Slice(tuple(self._record_row(record) for record in part.rows), part.total, part.page_no, part.pages)

    def record(self, n: int) -> JournalRecord | None:
        """Return one record by its number; records that another program wrote have none."""
        if self._by_number is None:
            self._by_number = {record.n: record for record in self._records() if record.n > 0}
        return self._by_number.get(n)

    def label(self, scope: str) -> str:
        """Return how a person calls a scope: its label, else the start of its name."""
        known = {name: label for name, label, _ in self.facts().scopes}
        return known.get(scope) or _short_scope(scope)

    def is_live(self, note_id: str) -> bool:
        """Tell whether a note with this id stands in a file now."""
        return any(note.id == note_id for note in self._all_notes(ALL_SCOPES))

    def _real(self, scope: str) -> str:
        """Return *scope* if there is one of that name; a stale link shows all, and the frame says why."""
        return scope if any(scope == name for name, _, _ in self.facts().scopes) else ALL_SCOPES

    def _opened(self) -> Readable:
        if self._store is None:
            self._store = self._open()
        return self._store

    def _all_notes(self, scope: str) -> Sequence[Note]:
        if scope not in self._notes:
            self._notes[scope] = self._opened().list(scope)
        return self._notes[scope]

    def _found(self, scope: str, query: str) -> list[Note]:
        result = self._opened().search(query, limit=SEARCH_HITS, scope=scope)
        return [hit.note for hit in result.hits]

    def _records(self) -> Sequence[JournalRecord]:
        if self._journal is None:
            self._journal = self._opened().journal()
        return self._journal

    def _look_around(self) -> Facts:
        store = self._opened()
        counts = Counter(note.scope for note in self._all_notes(ALL_SCOPES))
        found = store.scopes_named(ALL_SCOPES)
        scopes = tuple((scope.id, scope.label or _short_scope(scope.id), counts[scope.id]) for scope in found)
        verdict = store.verify()
        return Facts(
            root=str(store.root),
            scopes=scopes,
            notes=counts.total(),
            records=verdict.n,
            verdict=verdict,
            text_bytes=sum(_size(path) for path in _files(store.root)),
            index_bytes=sum(_size(store.root / f"index.sqlite3{part}") for part in ("", "-wal")),
            notice=store.scope_notice,
        )

    def _suspicious(self, notes: Iterable[Note]) -> dict[str, str]:
        """Return why notes are kept from every prompt, by id; asked for what is in sight only."""
        return suspicious(cast("Store", self._opened()), notes)

    def _state(self, note: Note) -> str:
        if note.pinned:
            return "◆ pinned"
        record = self._maker(note)
        if record is None:
            return UNRECORDED
        return "⇄ revised" if record.action == "revise" else ""

    def _maker(self, note: Note) -> JournalRecord | None:
        """Return the record that made a note what it is; None while an editor's change is not journalled."""
        record = self.record(note.n)
        # The number of an unrecorded note is a place in the order, not a record of its own.
        return record if record is not None and note.id in {record.id, record.new_id} else None

    def _note_row(self, note: Note, *, suspicious: bool) -> NoteRow:
        record = self._maker(note)
        return NoteRow(
            key=note.id,
            id=self._opened().short_id(note.id),
            note=clip(note.text, CELL),
            scope=clip(self.label(note.scope), CELL),
            state=SUSPICIOUS if suspicious else self._state(note),
            age=words.age(record.time if record else note.created, self.now),
            by=clip(note.by or "–", CELL),
        )

    def _wording(self, note_id: str | None) -> str:
        """Return the text that an id stood for; pins and the like name a note by its id alone."""
        if self._texts is None:
            self._texts = {}
            for record in self._records():
                for one, name in ((record.id, "before"), (record.new_id or record.id, "after")):
                    if one and record.fields.get(name):
                        self._texts[one] = record.fields[name]
        return self._texts.get(note_id or "", "")

    def _record_row(self, record: JournalRecord) -> RecordRow:
        what = record.fields.get("after") or record.fields.get("before") or self._wording(record.id)
        return RecordRow(
            key=record.n,
            n=f"{record.n:,}" if record.n else "–",
            time=words.day_time(record.time, self.now),
            action=words.action_words(clip(record.action, CELL)),
            scope=clip(self.label(record.scope) if record.scope else "–", CELL),
            what=clip(what or "–", CELL),
            by=clip(record.fields.get("by", "–"), CELL),
        )


def _utc_now() -> datetime:
    return datetime.now(tz=UTC)


def _slice(found: Sequence[Row], page_no: int) -> Slice[Row]:
    """Cut one page out of *found*, the last one when *page_no* lies behind it."""
    pages = max(1, -(-len(found) // PAGE_ROWS))
    page_no = min(max(page_no, 1), pages)
    start = (page_no - 1) * PAGE_ROWS
    return Slice(tuple(found[start : start + PAGE_ROWS]), len(found), page_no, pages)


def _short_scope(scope: str) -> str:
    """Return `3f9c1a…` for a workspace without a label."""
    name = scope.removeprefix("workspace/")
    return name if name == scope else f"{name[:8]}…"


def _short_directory(scope: str) -> str:
    """Return the scope's directory with at most eight signs of its hash."""
    return f"workspace/{_short_scope(scope)}" if scope.startswith("workspace/") else scope


def _lineage(records: Sequence[JournalRecord], note_id: str) -> tuple[JournalRecord, ...]:
    """Return the records of a note and of what it was before, newest first."""
    known, found = {note_id}, []
    for record in reversed(records):
        ids = {record.id, record.new_id} - {None}
        if ids & known:
            found.append(record)
            # Only backwards: what became of an earlier wording in another life is another note.
            known |= {record.id} if record.id and record.new_id in known else set()
    return tuple(found)


def _all_words(record: JournalRecord) -> str:
    """Return the words of a record that a search may hit."""
    return " ".join([str(record.n), record.action, *record.fields.values()]).casefold()


def _files(root: Path) -> Iterator[Path]:
    """Yield the text files whose change a page would show."""
    yield root / "JOURNAL.md"
    yield root / "config.toml"
    for scope in [root / "global", *_children(root / "workspace")]:
        yield scope / "MEMORY.md"
        yield scope / "scope.toml"


def _children(directory: Path) -> Iterable[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        # No workspace yet, or none that we may list: the store itself says so where it matters.
        return []


def _signature(root: Path) -> tuple[tuple[object, ...], ...]:
    """Return what tells one state of the files from another without reading them."""
    return tuple((str(path), *_look(path)) for path in _files(root))


def _look(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _size(path: Path) -> int:
    return _look(path)[2] if _look(path) else 0
