"""What the past of a store needs of it: the archive's one way into a `Store`.

History, undo, export and import work on the same journal, index, writer and lock as the store that they belong to.
They reach them through an `Access` and nowhere else, so that this file lists all that is asked of a store's inside.
"""

# ruff: noqa: SLF001 -- the archive is the other half of a store, in files of its own
from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from memory_magic.store import gate
from memory_magic.store.lookup import IndexLookup, Lookup, ScanLookup, lookup, read_links
from memory_magic.store.records import Scope, Written

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from memory_magic.store.bench import Bench
    from memory_magic.store.history import Link
    from memory_magic.store.indexes import Indexes
    from memory_magic.store.journal import Journal
    from memory_magic.store.operations import Operation
    from memory_magic.store.reading import Reader
    from memory_magic.store.records import JournalRecord, Note
    from memory_magic.store.store import Store
    from memory_magic.store.writing import Outcome, Writer


Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Access:
    """The inside of one store."""

    store: Store

    @property
    def root(self) -> Path:
        """Return the store's root."""
        return self.store.root

    @property
    def journal(self) -> Journal:
        """Return the journal."""
        return self.store._journal

    @property
    def indexes(self) -> Indexes:
        """Return the two ways to the index."""
        return self.store._indexes

    @property
    def reader(self) -> Reader:
        """Return the read path."""
        return self.store._reader

    @property
    def writer(self) -> Writer:
        """Return the write path; only where the store is writable (`require_writable`)."""
        return self.store._writer

    def now(self) -> dt.datetime:
        """Return the present moment by the store's clock."""
        return self.journal._clock()

    def anchor(self) -> tuple[int, str] | None:
        """Return number and chain that the index knows the journal to have reached."""
        return self.store._anchor()

    # -- scopes ------------------------------------------------------------------------------------------------

    def scopes_named(self, name: str | None) -> tuple[Scope, ...]:
        """Return the scopes that *name* means for reading; None: all that are seen here."""
        return self.store.scopes_named(name)

    def all_scopes(self) -> tuple[Scope, ...]:
        """Return every scope on disk and every one that is seen here."""
        return self.store._all_scopes()

    def scope_to_write(self, name: str | None) -> Scope:
        """Return the one scope that *name* means for writing."""
        return self.store._scope_to_write(name)

    def scope(self, one: str) -> Scope:
        """Return the scope with this id, whether its directory is there yet or not."""
        from memory_magic.store.scope import safe_directory

        known = {scope.id: scope for scope in self.all_scopes()}
        return known.get(one) or Scope(one, safe_directory(self.root, one))

    # -- writing -----------------------------------------------------------------------------------------------

    def require_writable(self) -> None:
        """Raise where the store is open for reading only."""
        self.store._require_writable()

    def lay_out(self, scope: Scope) -> None:
        """Make the root and the file that names a new workspace."""
        self.store._lay_out(scope)

    def change(self, scope: Scope, plan: Callable[[Bench], Operation | None]) -> Outcome:
        """Do what *plan* answers under the lock, by the store's one write path."""
        return self.store._change(scope, plan)

    def run(self, work: Callable[[Bench], None]) -> None:
        """Do *work* under the lock."""
        self.require_writable()
        with self.store._guard:
            self.writer.run(work)

    def signed(self, by: str | None, evidence: str | None) -> dict[str, str]:
        """Return author and evidence as they go into a record."""
        return self.store._extra(by, evidence)

    def note_to_change(self, target: str, scope: str | None) -> Note:
        """Return the live note that *target* means."""
        return self.store._note_to_change(target, scope)

    def written(self, scope: Scope, one: str, outcome: Outcome, *, old_id: str | None = None) -> Written:
        """Return what a change of the note *one* did; no record: it was so already."""
        n = outcome.records[-1].n if outcome.records else 0
        line = outcome.lines.get(one, 0)
        status = "saved" if outcome.records else "duplicate"
        redacted: Mapping[str, int] = {}
        return self.store._written(scope, one, status, outcome, line, n, redacted, old_id)

    # -- looking up --------------------------------------------------------------------------------------------

    def lookup(self, bench: Bench | None = None) -> Lookup:
        """Return how to ask the journal, from outside or under the lock."""
        return lookup(bench.index if bench is not None else self.indexes.reading(), self.journal)

    def asked(self, work: Callable[[Lookup], Answer]) -> Answer:
        """Return what *work* finds by a look-up; where the index fails under it, by one pass over the journal."""
        try:
            return work(self.lookup())
        except sqlite3.Error:
            self.indexes.close_reading()
            return work(ScanLookup(self.journal.records()))

    def records(self, found: Lookup, links: Callable[[Lookup], Sequence[Link]]) -> list[JournalRecord]:
        """Return the records that *links* names when it asks *found*; asked of the journal where the index is wrong."""
        records = read_links(self.journal, links(found))
        if records is None and isinstance(found, IndexLookup):
            records = read_links(self.journal, links(ScanLookup(self.journal.records())))
        return records or []


def passed(text: str, cleaned: str) -> str:
    """Return a text that passed the gate as *cleaned*, with the blanks that its first line began with.

    An indented block is no typing slip: a note that comes back must come back as it was.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    return lines[: len(lines) - len(lines.lstrip(" \t"))] + cleaned if cleaned else cleaned


def clean_for_file(text: str) -> str:
    """Return a text of the journal as it may go into a file: the gate once more, for what was written before a rule."""
    return passed(text, gate.clean_note(text).text)
