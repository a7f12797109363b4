"""Records that the store hands out: frozen, slotted, of plain values.

They are what every other room knows of the store. Nothing here opens a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Scope:
    """A place of notes: *id* is the directory below the root, `global` or `workspace/<64 hex>`."""

    id: str
    path: Path
    label: str = ""
    origin: str = ""

    @property
    def memory_file(self) -> Path:
        """Return the Markdown file that holds the notes of this scope."""
        return self.path / "MEMORY.md"

    @property
    def is_global(self) -> bool:
        """Tell whether the notes follow the person instead of a repository."""
        return self.id == GLOBAL


@dataclass(frozen=True, slots=True)
class Note:
    """One live note. *line* is 1-based; *n* is the journal number that orders it (greater = newer)."""

    id: str
    text: str
    scope: str
    path: str
    line: int
    pinned: bool = False
    kind: str = "item"
    section: tuple[str, ...] = ()
    n: int = 0
    created: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result; a greater *score* is better.

    *tier*: 2 the whole query stands in the note, 1 all its words do, 0 some do; *terms* are those that it holds.
    """

    note: Note
    score: float
    tier: int = 0
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found; *fallback* says in words why the index was not used, if it was not."""

    query: str
    hits: tuple[Hit, ...]
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did. *status* is saved, duplicate or pinned; *notices* are sentences for the person."""

    id: str
    scope: str
    path: str
    line: int
    status: str
    n: int
    old_id: str | None = None
    redacted: dict[str, int] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """One record of JOURNAL.md; *fields* holds every private field by name, in file order."""

    n: int
    action: str
    time: str
    fields: dict[str, str]
    salt: str | None
    prev: str
    chain: str
    salts: dict[str, str] = field(default_factory=dict)
    erased: dict[str, str] = field(default_factory=dict)
    offset: int = 0
    length: int = 0

    @property
    def scope(self) -> str:
        """Return the directory name of the scope, or an empty string."""
        return self.fields.get("scope", "")

    @property
    def id(self) -> str | None:
        """Return the note that the record is about."""
        return self.fields.get("id")

    @property
    def new_id(self) -> str | None:
        """Return the note's successor, when the record replaced it."""
        return self.fields.get("new_id")


@dataclass(frozen=True, slots=True)
class Verification:
    """Verdict on the journal: *faults* are sentences with record or line numbers.

    *tampered*: a record was changed, or the one before it is missing; a fork, a lost end or a foreign line is not that.
    """

    ok: bool
    n: int
    head: str
    faults: tuple[str, ...] = ()
    tampered: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that doctor found: *kind* is a word, *text* says what and where, *mend* how to put it right."""

    kind: str
    text: str
    where: str
    mend: str


@dataclass(frozen=True, slots=True)
class ScopeStatus:
    """Counts of one scope."""

    id: str
    label: str
    notes: int
    path: str


@dataclass(frozen=True, slots=True)
class Status:
    """The store at a glance; *verified* is the last complete verify as kept in the index, or None."""

    root: str
    scopes: tuple[ScopeStatus, ...]
    index_notes: int
    index_schema: int
    index_fresh: bool
    journal_records: int
    journal_head: str
    verified: dict[str, object] | None
    scope_notice: str = ""
