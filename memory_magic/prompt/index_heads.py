"""The best-ranked notes straight from the index, for who reads only those: a hook's process, an unchanged store.

This reads index.sqlite3 by the rules of the store (store_rules 6): of a scope whose file has the signature, or failing
that the hash, that the index holds for it. Where one scope is not level, or there is no index that can be read,
`open_index` gives None and the store itself is asked. Nothing is kept open: a block that nobody changed asks no
database at all.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Final

from memory_magic.prompt.index_file import connect
from memory_magic.prompt.notes import COUNTED, Rank, ScopeHead
from memory_magic.prompt.place import NOT_THERE, is_settled, signature
from memory_magic.store.ids import SHOWN, shown_length
from memory_magic.store.records import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from memory_magic.store.records import Scope

_SOURCE: Final = "SELECT path, device, inode, size, mtime_ns, ctime_ns, hash FROM sources WHERE scope = ?"
_ORDER: Final = "FROM notes WHERE scope = ? ORDER BY pinned DESC, n DESC, line DESC LIMIT ?"
_FIRST: Final = f"SELECT id, text, scope, line, pinned, kind, n {_ORDER}"
_RANKS: Final = f"SELECT id, pinned, n {_ORDER}"
_COUNT: Final = f"SELECT count(*) FROM (SELECT 1 FROM notes WHERE scope = ? LIMIT {COUNTED + 1})"  # noqa: S608
_NEAR: Final = "SELECT id, scope FROM notes WHERE id >= ? AND id < ?"


class IndexHeads:
    """`notes.Heads` from an index that agrees with the files of all *scopes*."""

    def __init__(
        self, connection: sqlite3.Connection, scopes: Sequence[Scope], approved: Callable[[Note], bool]
    ) -> None:
        self._connection = connection
        self._scopes = scopes
        self._ids = {scope.id for scope in scopes}
        self._approved = approved

    def first(self, limit: int) -> list[ScopeHead]:
        """Return the first notes of each scope."""
        heads = []
        for scope in self._scopes:
            rows = self._connection.execute(_FIRST, (scope.id, limit)).fetchall()
            path = str(scope.memory_file)
            notes = [
                Note(one, text, scope_id, path, line, bool(pinned), kind, n=n)
                for one, text, scope_id, line, pinned, kind, n in rows
            ]
            total = len(rows)
            if total == limit:
                total = self._connection.execute(_COUNT, (scope.id,)).fetchone()[0]
            if notes:
                heads.append(ScopeHead(scope.id, notes, total))
        return heads

    def ranks(self, limit: int) -> list[Rank]:
        """Return the ranks of the first notes of each scope."""
        return [
            one
            for scope in self._scopes
            for one in map(Rank._make, self._connection.execute(_RANKS, (scope.id, limit)))
        ]

    def short_id(self, whole: str, /) -> str:
        """Return as much of an id as tells it from the visible others, 10 characters or more."""
        rows = self._connection.execute(_NEAR, (whole[:SHOWN], f"{whole[:SHOWN]}\x7f")).fetchall()
        return whole[: shown_length([whole, *(one for one, scope in rows if scope in self._ids)])]

    def is_approved(self, note: Note, /) -> bool:
        """Tell whether a person stands by *note*."""
        return self._approved(note)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def open_index(
    place: Path | None,
    scopes: Sequence[Scope],
    approved: Callable[[Note], bool] = lambda note: False,  # noqa: ARG005
) -> IndexHeads | None:
    """Return the notes of *scopes* from the index, or None unless it agrees with every file."""
    try:
        connection = connect(place)
        if connection is None:
            return None
        try:
            if all(_is_level(connection, scope) for scope in scopes):
                return IndexHeads(connection, scopes, approved)
        except BaseException:
            connection.close()
            raise
        connection.close()
    except (sqlite3.Error, OSError):
        pass  # busy, damaged or gone: the store reads the files
    return None


def _is_level(connection: sqlite3.Connection, scope: Scope) -> bool:
    """Tell whether the index holds what the scope's file says."""
    path = os.path.realpath(scope.memory_file)
    now = signature(path)
    row = connection.execute(_SOURCE, (scope.id,)).fetchone()
    if row is None:
        return now == NOT_THERE and not os.path.lexists(path)
    if os.fsdecode(row[0]) != path:
        return False
    if now == row[1:6] and is_settled(now, time.time_ns()):
        return True
    return bool(_hash(path) == row[6])


def _hash(path: str) -> str:
    """Return the hash of a file."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        digest = hashlib.sha256()
        while data := os.read(descriptor, 1 << 20):
            digest.update(data)
        return digest.hexdigest()
    finally:
        os.close(descriptor)
