"""The index's database, opened for reading by who reads only a little: a hook's process.

The database is never written: a connection for reading only, and one that makes no file beside it while no writer is at
work (store_rules 2). `Store` can do far more and takes far longer to load than a prompt may wait.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path
from typing import Final

from memory_magic.prompt.place import NOT_THERE, signature
from memory_magic.store import schema

_HEAD: Final = "SELECT n, chain, at + length FROM journal ORDER BY at DESC LIMIT 1"


def index_place(root: Path, setting: str) -> Path | None:
    """Return where the index of *root* is, None where it lives in memory; the rule of `Store`."""
    if not setting:
        return root / "index.sqlite3"
    if setting == ":memory:":
        return None
    path = Path(setting).expanduser()
    digest = hashlib.sha256(str(root.absolute()).encode()).hexdigest()[:8]
    return path.with_name(f"{path.stem}-{digest}{path.suffix}")


def journal_head(place: Path | None, size: int) -> tuple[int, str] | None:
    """Return number and chain of the last record, None unless the index has followed a journal of *size* bytes."""
    try:
        connection = connect(place)
        if connection is None:
            return None
        try:
            row = connection.execute(_HEAD).fetchone()
        finally:
            connection.close()
    except (sqlite3.Error, OSError):
        return None  # busy, damaged or gone: the journal says the same
    return (int(row[0]), str(row[1])) if row and row[2] == size else None


def connect(place: Path | None) -> sqlite3.Connection | None:
    """Open an index of our format for reading only; None: there is none."""
    if place is None or signature(str(place)) == NOT_THERE:
        return None
    quiet = not signature(f"{place}-wal")[2]
    # a database that nobody writes to is opened without the files that SQLite keeps beside it (store_rules 2)
    mode = "immutable=1" if quiet or not os.access(place.parent, os.W_OK) else "mode=ro"
    connection = sqlite3.connect(f"{place.absolute().as_uri()}?{mode}", uri=True, timeout=1.0, isolation_level=None)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION:
            connection.execute("BEGIN")  # all that is asked is answered from one state
            return connection
    except sqlite3.Error:
        connection.close()
        raise
    connection.close()
    return None
