"""The read path: no lock, no waiting, never a mixture (store_rules 2, 6).

A file whose signature the index knows is answered from the index; one that differs, or was changed within two
seconds, is read and hashed. If it really changed, a writable store tries the lock *without waiting* and brings the
journal level; else the bytes are parsed for this one answer, with the numbers that the index or the journal has.
Where SQLite cannot be used the index lives in memory for this store object and `fallback` says so. `read_only` never
locks, never journals, never writes an index.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from memory_magic.errors import FileStateError, MemoryMagicError, StoreAccessError
from memory_magic.store import files
from memory_magic.store.bench import document_of, now_ns, resolved, rows_of
from memory_magic.store.door import LockLostError
from memory_magic.store.index import DamagedIndexError
from memory_magic.store.purge.screen import screened
from memory_magic.store.ranking import Scanned, nearest, packed, scan
from memory_magic.store.records import Hit, Note
from memory_magic.store.replay import replay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memory_magic.store.index import Index
    from memory_magic.store.indexes import Indexes
    from memory_magic.store.journal import Journal
    from memory_magic.store.records import Scope
    from memory_magic.store.replay import Known, State
    from memory_magic.store.writing import Writer


class Reader:
    """The read path of one root."""

    def __init__(self, root: Path, journal: Journal, indexes: Indexes, writer: Writer | None) -> None:
        self.root = root
        self.journal = journal
        self.indexes = indexes
        self.writer = writer
        self._state: tuple[int, State] | None = None
        self._unread: dict[str, str] = {}

    def notes(self, scope: Scope, limit: int = -1) -> list[Note]:
        """Return the notes of a scope, pinned first, then newest first; an unreadable file has none (see doctor)."""
        try:
            index = self.level(scope)
            if index is not None:
                return index.notes(scope.id, str(scope.memory_file), limit)
        except (sqlite3.Error, DamagedIndexError):
            self.indexes.close_reading()  # replaced or damaged under us: this answer comes from the file
        try:
            found = self.scan(scope)
        except (FileStateError, StoreAccessError) as error:
            self._unread[scope.id] = f"{error.what} ({error.where})"
            return []
        self._unread.pop(scope.id, None)
        return found[:limit] if limit >= 0 else found

    def unread_files(self) -> tuple[str, ...]:
        """Return for each memory file that the last answers had to leave out what is wrong with it, and where."""
        return tuple(self._unread.values())

    def search(self, query: str, scopes: Sequence[Scope], limit: int) -> tuple[list[Hit], str]:
        """Return the best notes of *scopes*, and in words why the index was not used, if it was not."""
        for _ in range(2):
            try:
                index = self._level_in_all(scopes)
                if index is None:
                    break
                return (self.indexes.reading() or index).search(query, scopes, limit), ""
            except DamagedIndexError:
                self.indexes.close_reading()
                if not self._discarded():
                    break
            except sqlite3.Error:
                self.indexes.close_reading()
                break
        return self._searched_files(query, scopes, limit)

    def _level_in_all(self, scopes: Sequence[Scope]) -> Index | None:
        """Return the index if it agrees with the files of all *scopes*."""
        levels = [self.level(scope) for scope in scopes]
        pairs = zip(levels, scopes, strict=True)
        if all(level is not None or not self._has_notes(scope) for level, scope in pairs):
            return next((one for one in levels if one is not None), None)
        return None

    def _discarded(self) -> bool:
        """Delete an index that proved damaged only where it was used; tell whether it may be built anew."""
        if self.writer is None:
            return False
        try:
            with self.writer.hold(timeout=0):
                self.indexes.discard()
        except (MemoryMagicError, LockLostError, DamagedIndexError, sqlite3.Error):
            return False
        return True

    def _has_notes(self, scope: Scope) -> bool:
        return files.stat_file(resolved(scope.memory_file)).size > 0

    def _searched_files(self, query: str, scopes: Sequence[Scope], limit: int) -> tuple[list[Hit], str]:
        """Search the files themselves: the same terms in the same order, without an index."""
        notes = [note for scope in scopes for note in sorted(self.notes(scope), key=lambda one: one.line)]
        scanned = [
            Scanned(
                key,
                packed(note.text, nearest(note.section)),
                (note.scope, *note.section),
                note.pinned,
                (note.n, note.line),
            )
            for key, note in enumerate(notes)
        ]
        hits = [Hit(notes[one.key], one.score, one.tier, one.terms) for one in scan(query, scanned, limit)]
        return hits, "the index is not level with the files, so the files were read" if notes else ""

    def indexed(self, scope: Scope, limit: int) -> list[Note]:
        """Return the first notes of a scope as the index has them, else as the file has them."""
        index = self.indexes.reading()
        if index is not None:
            try:
                return index.notes(scope.id, str(scope.memory_file), limit)
            except (sqlite3.Error, DamagedIndexError):
                self.indexes.close_reading()
        return self.notes(scope, limit)

    def level(self, scope: Scope) -> Index | None:
        """Return an index that agrees with the scope's file, or None where the file must be read."""
        path = resolved(scope.memory_file)
        index = self.indexes.reading()
        if index is not None:
            try:
                if self._agrees(index, scope, path):
                    return index
            except (sqlite3.Error, DamagedIndexError):
                self.indexes.close_reading()
            except MemoryMagicError:
                return None  # the file cannot be read: whoever reads it is told so
        if self.writer is None or not self._worth_a_lock(scope, path):
            return None
        return self._brought_level(scope)

    def _agrees(self, index: Index, scope: Scope, path: str) -> bool:
        source = index.source(scope.id)
        if source is None or source.path != path:
            return False
        signature = files.stat_file(path)
        if signature == source.signature and signature.is_settled(now_ns()):
            return True
        return files.read(path).hash == source.hash

    def _worth_a_lock(self, scope: Scope, path: str) -> bool:
        """Tell whether there is anything to observe: reading an empty store makes no files."""
        return self.root.is_dir() and (files.stat_file(path) != files.Signature() or scope.path.is_dir())

    def _brought_level(self, scope: Scope) -> Index | None:
        if self.writer is None:
            return None
        try:
            with self.writer.hold(timeout=0) as bench:
                self.writer.observe(bench, scope)
                # one that could not follow (a full disk) was deleted: what stands there now knows nothing
                return bench.index if bench.index.source(scope.id) is not None else None
        except (MemoryMagicError, LockLostError, DamagedIndexError, sqlite3.Error):
            return None  # somebody writes, or nobody can: the file itself is read

    def scan(self, scope: Scope) -> list[Note]:
        """Return the notes as the file has them, in the same order as the index."""
        path = resolved(scope.memory_file)
        content = files.read(path)
        if not content.data:
            return []
        known = self.known(scope.id)
        document = screened(document_of(scope, path, content), self.root, lambda: known)
        document.require_text()
        rows = rows_of(document, known)
        newest = 1 + max((row.n for row in rows), default=0)
        notes = [
            Note(
                *(row.id, row.text, scope.id, str(scope.memory_file), row.line, row.pinned, row.kind, row.section),
                *(row.n or newest, row.created or None, row.by or None),
            )
            for row in rows
        ]
        return sorted(notes, key=lambda note: (not note.pinned, -note.n, -note.line))

    def known(self, scope: str) -> dict[str, Known]:
        """Return what the index, else the journal, knows of a scope."""
        index = self.indexes.reading()
        if index is not None:
            try:
                return index.known(scope)
            except (sqlite3.Error, DamagedIndexError):
                self.indexes.close_reading()
        try:
            n = self.journal.tail().n
            if self._state is None or self._state[0] != n:
                self._state = n, replay(self.journal.records())
        except MemoryMagicError:
            return {}  # an unreadable journal: reads still work, without dates
        return self._state[1].get(scope, {})
