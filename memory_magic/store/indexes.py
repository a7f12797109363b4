"""The two ways to the index of one root, and what happens when SQLite cannot be used.

Writers hold the store's lock and may delete a damaged index, since journal and files hold everything. Readers have a
read-only connection. Where the database cannot be used at all (network file system, full or read-only disk, locked
for too long) this store object goes on with an index in memory, and `fallback` says so in words.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from memory_magic.errors import StoreAccessError
from memory_magic.store.index import DamagedIndexError, Index

if TYPE_CHECKING:
    from pathlib import Path

MEMORY: Final = ":memory:"


class Indexes:
    """The two ways to the index of one root: one that writes, under the lock, and one that only reads."""

    def __init__(self, path: Path | None, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.fallback = ""
        self._writing: Index | None = None
        self._reading: Index | None = None

    def writing(self) -> Index:
        """Return the index to write to; call under the lock. Damage deletes it, since it can be built again."""
        if self._writing is None:
            self._writing = Index(self.path)
        try:
            self._writing.check()
        except DamagedIndexError:
            self.close_reading()
            self._writing.delete()
            self._writing.check()
        except (sqlite3.Error, StoreAccessError) as error:
            self.fall_back(error)
        return self._writing

    def fall_back(self, error: Exception) -> None:
        """Go on with an index in memory: the files are the truth, and a store that refuses to work helps nobody."""
        self.fallback = f"the index {self.path} cannot be used ({error}), so the files are read each time"
        self.close()
        self.path = None
        self._writing = Index(None)

    def discard(self) -> None:
        """Delete a damaged index; call under the lock. The next use builds it from journal and files."""
        self.close_reading()
        if self._writing is None:
            self._writing = Index(self.path)
        self._writing.delete()

    def reading(self) -> Index | None:
        """Return the index to read from, or None where there is none that can be read."""
        if self.path is None:
            return self._writing
        if self._reading is None:
            self._reading = Index(self.path, read_only=True, untouched=self.read_only)
        return self._reading if self.path.exists() else None

    def close_reading(self) -> None:
        """Close the reading connection; the next use opens the file anew."""
        if self._reading is not None:
            self._reading.close()

    def close(self) -> None:
        """Close both connections; an index in memory is gone with it."""
        self.close_reading()
        if self._writing is not None:
            self._writing.close()
        self._reading = self._writing = None
