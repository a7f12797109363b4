"""Which note a person means: by id, the beginning of an id, a replaced id, or its exact text (store_rules 3).

A live id is itself. Else the *last* record with the id on its left leads to its right side, and from there only
records with a greater number count, so that A -> B -> A ends. A note of a scope that is not seen answers like one
that does not exist.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from memory_magic.errors import AmbiguousNoteError, NoSuchNoteError, UsageError
from memory_magic.store import gate
from memory_magic.store.ids import normalise, note_id, read_prefix, shown_length
from memory_magic.store.index import DamagedIndexError
from memory_magic.store.replay import STAYING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_magic.store.reading import Reader
    from memory_magic.store.records import Note, Scope

_QUOTED = 60


class Targets:
    """Look-ups by id and by text, through the read path."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def find(self, target: str, scopes: Sequence[Scope], *, live_only: bool = False) -> Note:
        """Return the one note that *target* means; `NoSuchNoteError` or `AmbiguousNoteError` say what was found."""
        if not target.strip():
            raise UsageError("say which note: an id or its exact text")
        prefix = read_prefix(target)
        found = [note for scope in scopes for note in self.with_prefix(prefix, scope)] if prefix else []
        if not found and prefix and not live_only:
            found = self._successors(prefix, scopes)
        named = {(note.scope, note.id): note for note in [*found, *self._by_text(target, scopes)]}
        found = list(named.values())  # an id may also be another note's text: then we do not guess
        if len(found) == 1:
            return found[0]
        raise self._several(target, found) if found else self._none(target, prefix, scopes)

    def with_prefix(self, prefix: str, scope: Scope) -> list[Note]:
        """Return the live notes of a scope whose id begins with *prefix*."""
        try:
            index = self._reader.level(scope)
            if index is not None:
                return index.find(scope.id, prefix, str(scope.memory_file))
        except (sqlite3.Error, DamagedIndexError):
            self._reader.indexes.close_reading()
        return [note for note in self._reader.notes(scope) if note.id.startswith(prefix)]

    def _by_text(self, target: str, scopes: Sequence[Scope]) -> list[Note]:
        # a note may hold a secret typed by hand: then its id is of the file's text, and what people see is redacted
        spellings = {normalise(target), normalise(gate.clean(target).text)}
        wanted = {note_id(scope.id, spelling): scope for scope in scopes for spelling in spellings}
        found = [note for one, scope in wanted.items() for note in self.with_prefix(one, scope)]
        return list({(note.scope, note.id): note for note in found}.values())

    def _successors(self, prefix: str, scopes: Sequence[Scope]) -> list[Note]:
        """Follow a replaced id to the note that stands now."""
        ids = [scope.id for scope in scopes]
        after = 0
        while step := self._step(prefix, after, ids):
            after, following = step
            if following is None:
                return []
            prefix = following
            if live := [note for scope in scopes for note in self.with_prefix(prefix, scope)]:
                return live
        return []

    def _step(self, prefix: str, after: int, scopes: Sequence[str]) -> tuple[int, str | None] | None:
        index = self._reader.indexes.reading()
        if index is not None:
            try:
                return index.successor(prefix, after, scopes)
            except (sqlite3.Error, DamagedIndexError):
                self._reader.indexes.close_reading()
        last = None
        for record in self._reader.journal.records():
            if record.n > after and record.scope in scopes and (record.id or "").startswith(prefix):
                last = record if record.action not in STAYING else last
        return None if last is None else (last.n, last.new_id)

    def _several(self, target: str, found: list[Note]) -> AmbiguousNoteError:
        length = shown_length([note.id for note in found])
        where = ", ".join(f"{note.id[:length]} in {note.scope[:18]} line {note.line}" for note in found[:5])
        return AmbiguousNoteError(
            f"{len(found)} notes fit {quoted(target)}: {where}", hint="give a longer id, or name the scope"
        )

    def _none(self, target: str, prefix: str | None, scopes: Sequence[Scope]) -> NoSuchNoteError:
        names = " and ".join("global" if scope.is_global else "the workspace" for scope in scopes[:2])
        what = "id or text" if prefix else "text"
        return NoSuchNoteError(
            f"found no note with the {what} {quoted(target)} in {names}", hint="search for a word of it to find its id"
        )


def quoted(text: str) -> str:
    """Return a bounded, cleaned quotation of what a person typed."""
    cleaned = " ".join(gate.clean(text).text.split())
    return f"'{cleaned[:_QUOTED]}…'" if len(cleaned) > _QUOTED else f"'{cleaned}'"
