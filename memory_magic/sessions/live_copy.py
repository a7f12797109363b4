"""A private copy of an SQLite database that another program may be writing, made without touching its locks.

Opening a live database, even for reading, takes a shared lock on it, and a writer that does not wait then fails. So
the files are copied as bytes and the copy is opened: the database, its rollback journal and its write-ahead log
(SQLite repairs the copy from them as it would after a crash). If a file changed meanwhile, the copy is made again; a
database that changes all the time is checked before its copy is trusted.

A history holds whatever was typed, secrets too. So the copy lies in a folder that only its owner may enter, and loses
its name as soon as it is open: nothing of it is left on the disk, even if this process is killed while it reads.

The copying is done by another process, because in this one it would be worse than a lock: when a process closes any
handle of a file, POSIX drops all locks that the process holds on it, and inside a kernel those are IPython's own.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COPIES = 5  # times that a copy is tried while the database is being written
_PAUSE = 0.05  # seconds between two tries
_TIME_LIMIT = 120  # seconds that one copy may take
_SIDECARS = ("", "-journal", "-wal")
_COPY = "import shutil, sys; [shutil.copyfile(a, b) for a, b in zip(sys.argv[1::2], sys.argv[2::2])]"

_Stamp = tuple[tuple[int, int, int] | None, ...]


@contextmanager
def opened(database: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a copy of a database.

    Raises `OSError` when the files cannot be copied, `sqlite3.Error` when they are no database.
    """
    with closing(_connect(database)) as connection:
        yield connection


def _connect(database: Path) -> sqlite3.Connection:
    """Copy a database and open the copy, which from then on has no name any more."""
    with tempfile.TemporaryDirectory(prefix="memory-magic-") as folder:
        copy = Path(folder) / "copy.sqlite"
        steady = False
        for _ in range(COPIES):
            before = _stamp(database)
            _copy(database, copy)
            if steady := _stamp(database) == before:
                break
            time.sleep(_PAUSE)
        with ExitStack() as unless_whole:
            connection = unless_whole.enter_context(closing(sqlite3.connect(copy)))
            connection.execute("PRAGMA temp_store=MEMORY")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # repairs it while it has its sidecars
            if not steady and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise sqlite3.DatabaseError("it is written all the time, and no copy of it is whole")
            unless_whole.pop_all()
    return connection


def _copy(database: Path, copy: Path) -> None:
    """Copy the database and what lies beside it."""
    words: list[str] = []
    for ending in _SIDECARS:
        source, target = database.with_name(database.name + ending), copy.with_name(copy.name + ending)
        target.unlink(missing_ok=True)
        if source.exists() or not ending:
            words += [str(source), str(target)]
    done = subprocess.run(  # noqa: S603 - our own interpreter and a fixed program, no shell
        [sys.executable or "python3", "-I", "-S", "-c", _COPY, *words],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=_TIME_LIMIT,
    )
    if done.returncode and not copy.exists():
        database.stat()  # says by itself what is wrong with a file that is not there
        raise OSError(0, "it cannot be copied")


def _stamp(database: Path) -> _Stamp:
    """Return what changes when a database is written."""
    return tuple(_file_stamp(database.with_name(database.name + ending)) for ending in _SIDECARS)


def _file_stamp(file: Path) -> tuple[int, int, int] | None:
    """Return inode, size and time of a file, None when there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
