"""index.sqlite3: what the files say, kept for speed and deleted at will (store_rules 5, 6).

Three things are cached: for each memory file its signature, hash and append place (`sources`); its notes with the
journal's number for each (`notes`); where each journal record stands (`journal`). Only a holder of the store's lock
writes, one transaction a file, the source row last; so a row tells that journal and file agreed when it was written.
`notes` is thereby the state that the journal has reached, and the next difference is taken against it. A reader
compares the signature of the file with the source row and trusts nothing that differs. The database is created 0600
before SQLite opens it; a reader's connection is read-only; a database that was replaced under an open connection
(device and inode differ) is opened anew. Only real corruption is corruption: a busy database is waited for.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memory_magic.store import files, schema, search_table
from memory_magic.store.note import SEPARATOR, Place
from memory_magic.store.ranking import nearest, packed
from memory_magic.store.records import Hit, Note
from memory_magic.store.replay import STAYING, Known

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from memory_magic.store.records import JournalRecord, Scope

SCHEMA: Final = schema.VERSION
BUSY_SECONDS: Final = 10.0
_SETTLE_EVERY: Final = 16  # notes: asking at each whether FTS5 must follow would cost a write more than its own row
_SELECT_NOTES: Final = "SELECT id, text, scope, line, pinned, kind, section, n, created, by FROM notes WHERE "
_SELECT_ROWS: Final = (
    "SELECT rowid, id, text, line, pinned, kind, section, n, created, by, home, terms != '' FROM notes WHERE scope = ?"
)
_UPDATE_NOTE: Final = (
    "UPDATE notes SET scope = ?, id = ?, text = ?, line = ?, pinned = ?, kind = ?, section = ?, n = ?,"
    " created = ?, by = ?, home = ? WHERE rowid = ?"
)
_INSERT_NOTE: Final = "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SAME_ID: Final = "notes INDEXED BY notes_by_id WHERE scope = ?1 AND id = ?2"
_SOURCE_WITHOUT: Final = f"SELECT * FROM sources WHERE scope = ?1 AND NOT EXISTS (SELECT 1 FROM {_SAME_ID})"  # noqa: S608
_LAST_RECORD: Final = "SELECT n, chain, at, at + length FROM journal ORDER BY at DESC LIMIT 1"
_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
# what SQLite says where a table is missing: one of ours, or one that FTS5 keeps beside its own
_MISSING: Final = ("no such table", "no such column", "no such index", "vtable constructor", "SQL logic error")


class DamagedIndexError(Exception):
    """The database cannot be read as ours; the caller deletes it and builds it anew."""


class _DamageToldApart:
    """Raise `DamagedIndexError` for corruption and missing tables; let the rest (busy, disk full) through."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, sqlite3.DatabaseError):
            return
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _CORRUPT or str(error).startswith(_MISSING):
            raise DamagedIndexError(str(error)) from error


_DAMAGE_TOLD_APART: Final = _DamageToldApart()


@dataclass(frozen=True, slots=True)
class Source:
    """What the index holds of one memory file."""

    scope: str
    path: str
    signature: files.Signature
    hash: str
    place: Place


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the index has followed the journal: the last record seen, and the byte after it."""

    n: int = 0
    chain: str = ""
    offset: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One note as it is written into the index."""

    id: str
    text: str
    line: int
    pinned: bool
    kind: str
    section: tuple[str, ...]
    n: int
    created: str
    by: str
    home: str = ""

    def values(self, scope: str) -> tuple[object, ...]:
        """Return the columns in table order, after rowid."""
        section = SEPARATOR.join(self.section)
        head = (scope, self.id, self.text, self.line, int(self.pinned), self.kind, section)
        return (*head, self.n, self.created, self.by, self.home)

    def terms(self) -> str:
        """Return the search terms of the note and of the nearest heading."""
        return packed(self.text, nearest(self.section))


class Index:
    """One index file, or a private one in memory (*path* None).

    *read_only* never writes a row; *untouched* makes no sidecar either, where there is none.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False, untouched: bool = False) -> None:
        self.path = path
        self._untouched = untouched
        self.read_only = read_only and path is not None
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] = (0, 0)

    # -- connection --------------------------------------------------------------------------------------------

    @property
    def connection(self) -> sqlite3.Connection:
        """Return the open connection; a reader's is opened again where the file was replaced meanwhile.

        A writer looks once, in `check`: while it holds the store's lock nobody else replaces the file.
        """
        if self.read_only:
            self._close_if_replaced()
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    def _close_if_replaced(self) -> None:
        if self._connection is not None and self.path is not None and self._file_identity() != self._identity:
            self.close()

    def _file_identity(self) -> tuple[int, int]:
        signature = files.stat_file(str(self.path))
        return signature.device, signature.inode

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        elif self.read_only:
            connection = self._open_for_reading(self.path)
        else:
            connection = self._open_for_writing(self.path)
        self._identity = self._file_identity() if self.path is not None else (0, 0)
        with _DAMAGE_TOLD_APART:
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _open_for_writing(self, path: Path) -> sqlite3.Connection:
        if not path.exists():
            files.make_directory(path.parent)
            with files.disk_errors(path), contextlib.suppress(FileExistsError):
                descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, files.FILE_MODE)
                os.fchmod(descriptor, files.FILE_MODE)
                os.close(descriptor)
        return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)

    def _open_for_reading(self, path: Path) -> sqlite3.Connection:
        # SQLite makes sidecars for a WAL database unless told that nobody changes it; in a directory that we may not
        # write to it opens in no other way (store_rules 2). What is then missed shows by the hash of the file's row.
        quiet = not files.stat_file(f"{path}-wal").size
        can_write = os.access(path.parent, os.W_OK)
        mode = "immutable=1" if (self._untouched and quiet) or not can_write else "mode=ro"
        uri = f"{path.absolute().as_uri()}?{mode}"
        return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == SCHEMA:
            connection.execute("SELECT 1 FROM sources, meta, search_blocks LIMIT 1").fetchone()
        if self.read_only:
            if version != SCHEMA:
                raise DamagedIndexError("the index has another format")
            connection.execute("PRAGMA query_only = 1")
            return
        if self.path is not None:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if version != SCHEMA:
            if version or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise DamagedIndexError("the index has another format")
            connection.execute("BEGIN IMMEDIATE")
            for statement in schema.TABLES.split(";"):
                connection.execute(statement)
            search_table.create(connection)
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.execute("COMMIT")

    def check(self) -> None:
        """Open the database; raise `DamagedIndexError` where it is not ours or cannot be read."""
        self._close_if_replaced()
        with _DAMAGE_TOLD_APART:
            _ = self.connection

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def delete(self) -> None:
        """Delete the database with its sidecars; the next use builds an empty one."""
        self.close()
        if self.path is not None:
            for end in ("", "-wal", "-shm", "-journal"):
                files.remove(f"{self.path}{end}")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write in one transaction; nothing of it stays on an error."""
        with _DAMAGE_TOLD_APART:
            connection = self.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Read several times from one state."""
        with _DAMAGE_TOLD_APART:
            connection = self.connection
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")

    # -- sources and notes -------------------------------------------------------------------------------------

    def source(self, scope: str) -> Source | None:
        """Return what is held of a scope's file."""
        with _DAMAGE_TOLD_APART:
            row = self.connection.execute("SELECT * FROM sources WHERE scope = ?", (scope,)).fetchone()
        return None if row is None else _source(row)

    def source_without(self, scope: str, ids: Sequence[str]) -> Source | None:
        """Return what is held of a scope's file, unless one of its notes has one of *ids*."""
        connection = self.connection
        with _DAMAGE_TOLD_APART:
            for one in ids[1:]:
                if connection.execute(f"SELECT 1 FROM {_SAME_ID}", (scope, one)).fetchone():  # noqa: S608  (constant)
                    return None
            row = connection.execute(_SOURCE_WITHOUT, (scope, ids[0])).fetchone()
        return None if row is None else _source(row)

    def scopes(self) -> list[str]:
        """Return the scopes that have a source row."""
        with _DAMAGE_TOLD_APART:
            return [row[0] for row in self.connection.execute("SELECT scope FROM sources ORDER BY scope")]

    def notes(self, scope: str, path: str, limit: int = -1) -> list[Note]:
        """Return the notes of a scope: pinned first, then newest first."""
        sql = _SELECT_NOTES + "scope = ? ORDER BY pinned DESC, n DESC, line DESC LIMIT ?"
        with _DAMAGE_TOLD_APART:
            return [_note(row, path) for row in self.connection.execute(sql, (scope, limit))]

    def find(self, scope: str, prefix: str, path: str) -> list[Note]:
        """Return the notes of a scope whose id begins with *prefix*."""
        sql = _SELECT_NOTES.replace(" WHERE", " INDEXED BY notes_by_id WHERE") + "id >= ? AND id < ? AND scope = ?"
        with _DAMAGE_TOLD_APART:
            rows = self.connection.execute(sql, (prefix, f"{prefix}\x7f", scope)).fetchall()
        return [_note(row, path) for row in rows]

    def count(self, scope: str) -> int:
        """Return the number of notes of a scope."""
        with _DAMAGE_TOLD_APART:
            return int(self.connection.execute("SELECT count(*) FROM notes WHERE scope = ?", (scope,)).fetchone()[0])

    def known(self, scope: str) -> dict[str, Known]:
        """Return the notes of a scope as the journal knows them, in file order."""
        sql = "SELECT id, text, pinned, n, created, by, home FROM notes WHERE scope = ? ORDER BY line"
        with _DAMAGE_TOLD_APART:
            rows = self.connection.execute(sql, (scope,)).fetchall()
        return {row[0]: Known(row[0], row[1], bool(row[2]), *row[3:]) for row in rows}

    def put(self, source: Source, rows: Sequence[Row], *, searchable: bool = True) -> None:
        """Make the notes of a source be *rows*, touching only what differs; call inside `transaction`.

        Not *searchable*: the rows are what the journal says and have no terms before the file was read. A note whose
        terms change becomes a new row, as `search_table` asks.
        """
        connection = self.connection
        there = {row[1]: row for row in connection.execute(_SELECT_ROWS, (source.scope,))}
        kept, gone, new = [], [], []
        for row in rows:
            old = there.pop(row.id, None)
            if old is not None and old[2] == row.text and old[6] == SEPARATOR.join(row.section) and old[11]:
                kept.append((row, old))
            else:
                new.append(row)
                gone += [(old[0],)] if old is not None else []
        gone += [(old[0],) for old in there.values()]
        connection.executemany("DELETE FROM notes WHERE rowid = ?", gone)
        changed = [(row, old[0]) for row, old in kept if old[1:-1] != row.values(source.scope)[1:]]
        connection.executemany(_UPDATE_NOTE, [(*row.values(source.scope), rowid) for row, rowid in changed])
        self.insert(source, new, searchable=searchable)

    def insert(self, source: Source, rows: Iterable[Row], *, searchable: bool = True) -> None:
        """Add notes to a source and write its row last; call inside `transaction`."""
        connection = self.connection
        first = search_table.next_rowid(connection, source.scope)
        values = (
            (first + at, *row.values(source.scope), row.terms() if searchable else "") for at, row in enumerate(rows)
        )
        last = first - 1 + max(0, connection.executemany(_INSERT_NOTE, values).rowcount)
        if searchable and last // _SETTLE_EVERY != (first - 1) // _SETTLE_EVERY:
            search_table.settle(connection, source.scope)
        self.put_source(source)

    def search(self, query: str, scopes: Sequence[Scope], limit: int) -> list[Hit]:
        """Return the best notes of *scopes* for *query*, best first."""
        with self.snapshot() as connection:
            ranked = search_table.match(connection, query, [scope.id for scope in scopes], limit)
            paths = {scope.id: str(scope.memory_file) for scope in scopes}
            found = []
            for one in ranked:
                row = connection.execute(_SELECT_NOTES + "rowid = ?", (one.key,)).fetchone()
                found.append(Hit(_note(row, paths[row[2]]), one.score, one.tier, one.terms))
        return found

    def shift(self, scope: str, line: int, by: int) -> None:
        """Move the notes from *line* on down by *by* lines; call inside `transaction`."""
        self.connection.execute("UPDATE notes SET line = line + ? WHERE scope = ? AND line >= ?", (by, scope, line))

    def put_source(self, source: Source) -> None:
        """Write a source row; call inside `transaction`."""
        one, place = source.signature, source.place
        path = source.path if source.path.isascii() else os.fsencode(source.path)  # a name need not be UTF-8
        values = (source.scope, path, one.device, one.inode, one.size, one.mtime_ns, one.ctime_ns, source.hash)
        spot = (place.offset, place.prefix, place.line, place.newline, place.blocked, place.section)
        self.connection.execute(
            "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, *spot)
        )

    def forget(self, scope: str) -> None:
        """Drop a scope whose directory is gone; call inside `transaction`."""
        self.connection.execute("DELETE FROM notes WHERE scope = ?", (scope,))
        self.connection.execute("DELETE FROM sources WHERE scope = ?", (scope,))

    # -- journal -----------------------------------------------------------------------------------------------

    def cursor(self) -> Cursor:
        """Return how far the journal has been followed."""
        with _DAMAGE_TOLD_APART:
            row = self.connection.execute(_LAST_RECORD).fetchone()
        return Cursor(*row) if row else Cursor()

    def anchor(self) -> tuple[int, str] | None:
        """Return number and chain of a record that the journal is known to have reached, or None."""
        kept = self.meta("anchor")
        cursor = Cursor(kept["n"], kept["chain"]) if isinstance(kept, dict) else self.cursor()
        return (cursor.n, cursor.chain) if cursor.n else None

    def add_records(self, records: Sequence[JournalRecord]) -> None:
        """Take records in after the cursor; call inside `transaction`."""
        if not records:
            return
        values = [(r.n, r.offset, r.length, r.action, r.time, r.scope, r.id, r.new_id, r.chain) for r in records]
        self.connection.executemany("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        purges = [[r.offset, r.length] for r in records if r.action in {"purge", "unpurge"}]
        if purges:
            self.set_meta("purges", [*self.purges(), *purges])

    def clear_records(self) -> None:
        """Forget the journal; call inside `transaction`."""
        self.connection.execute("DELETE FROM journal")
        self.connection.execute("DELETE FROM meta WHERE key = 'purges'")

    def purges(self) -> list[tuple[int, int]]:
        """Return offset and length of every purge and unpurge record, in order."""
        kept = self.meta("purges")
        return [(int(at), int(length)) for at, length in kept] if isinstance(kept, list) else []

    def offset_of(self, n: int) -> int:
        """Return where record *n* stands, or 0: search from the beginning."""
        with _DAMAGE_TOLD_APART:
            row = self.connection.execute(
                "SELECT at FROM journal WHERE n = ? ORDER BY at DESC LIMIT 1", (n,)
            ).fetchone()
        return 0 if row is None else int(row[0])

    def knows_id(self, one: str) -> bool:
        """Tell whether any record ever named this id."""
        with _DAMAGE_TOLD_APART:
            sql = "SELECT 1 FROM journal WHERE id = ?1 UNION ALL SELECT 1 FROM journal WHERE new_id = ?1 LIMIT 1"
            return self.connection.execute(sql, (one,)).fetchone() is not None

    def successor(self, prefix: str, after: int, scopes: Sequence[str]) -> tuple[int, str | None] | None:
        """Return number and right side of the last record after *after* whose left side begins with *prefix*."""
        marks = ", ".join("?" * len(scopes))
        sql = (
            f"SELECT n, new_id FROM journal WHERE id >= ? AND id < ? AND n > ? AND scope IN ({marks})"  # noqa: S608  (marks only)
            f" AND action NOT IN {STAYING} ORDER BY n DESC LIMIT 1"
        )
        with _DAMAGE_TOLD_APART:
            row = self.connection.execute(sql, (prefix, f"{prefix}\x7f", after, *scopes)).fetchone()
        return None if row is None else (row[0], row[1])

    # -- small values ------------------------------------------------------------------------------------------

    def meta(self, key: str) -> object:
        """Return a small JSON value, or None."""
        with _DAMAGE_TOLD_APART:
            row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def set_meta(self, key: str, value: object) -> None:
        """Keep a small JSON value; call inside `transaction`."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))


def _source(row: tuple[Any, ...]) -> Source:
    return Source(row[0], os.fsdecode(row[1]), files.Signature(*row[2:7]), row[7], Place(*row[8:14]))


def _note(row: tuple[str, str, str, int, int, str, str, int, str, str], path: str) -> Note:
    one, text, scope, line, pinned, kind, section, n, created, by = row
    titles = tuple(section.split(SEPARATOR)) if section else ()
    return Note(one, text, scope, path, line, bool(pinned), kind, titles, n, created or None, by or None)
