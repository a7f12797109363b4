"""The tables of index.sqlite3 but for the one that searches; with another version the index is built from the files.

Each index costs every write a page. That of `new_id` holds only the few records that have one.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 4
TABLES: Final = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources(
    scope TEXT PRIMARY KEY, path TEXT NOT NULL, device INTEGER, inode INTEGER, size INTEGER, mtime_ns INTEGER,
    ctime_ns INTEGER, hash TEXT NOT NULL, place_offset INTEGER, place_prefix TEXT, place_line INTEGER,
    place_newline TEXT, place_blocked TEXT, place_section TEXT
) WITHOUT ROWID;
CREATE TABLE notes(
    rowid INTEGER PRIMARY KEY, scope TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, line INTEGER NOT NULL,
    pinned INTEGER NOT NULL, kind TEXT NOT NULL, section TEXT NOT NULL, n INTEGER NOT NULL,
    created TEXT, by TEXT, home TEXT, terms TEXT NOT NULL
);
CREATE UNIQUE INDEX notes_by_id ON notes(id, scope);
CREATE INDEX notes_by_age ON notes(scope, pinned DESC, n DESC, line DESC);
CREATE TABLE journal(
    n INTEGER NOT NULL, at INTEGER PRIMARY KEY, length INTEGER NOT NULL, action TEXT NOT NULL, time TEXT NOT NULL,
    scope TEXT NOT NULL, id TEXT, new_id TEXT, chain TEXT NOT NULL
);
CREATE INDEX journal_by_n ON journal(n);
CREATE INDEX journal_by_id ON journal(id);
CREATE INDEX journal_by_new_id ON journal(new_id) WHERE new_id IS NOT NULL;
"""
