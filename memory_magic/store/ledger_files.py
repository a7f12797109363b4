"""The ledger's files as every room knows them: names, pieces of a file, the lock, the door for rewriting a month.

    ledger/2026-11.jsonl          one JSON line for each injection, appended without a lock
    ledger/blocks/<sha256>.md     each distinct block once
    ledger/.lock                  held by whoever rewrites a month; its age tells when the ledger was last pruned

Who appends never waits for who rewrites (purge, retention): a rewrite is an *exchange* under the lock, after which the
lines that came in meanwhile are carried over; then the old file loses its name and is looked at once more. Who appends
looks afterwards whether the file still has a name, and if not takes the lock and appends again unless the line was
carried over. So no line is lost and none doubled.

A line begins with `{"time": "`. Quotes inside of JSON are escaped, so that this stands nowhere else: a line that was
glued to a torn one before it is found whole. Links in the place of our files are never followed for writing.

Standard library only; what is wrong with the ledger is kept in `.ledger.problem` at the root, to be shown once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import time
from typing import TYPE_CHECKING, Final

from memory_magic.errors import FileStateError, LockTimeoutError, MemoryMagicError
from memory_magic.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FOLDER: Final = "ledger"
BLOCKS: Final = "blocks"
LOCK: Final = ".lock"
PROBLEM: Final = ".ledger.problem"
MONTH: Final = re.compile(r"\d{4}-\d{2}\.jsonl")
BLOCK: Final = re.compile(r"[0-9a-f]{64}\.md")
START: Final = b'{"time": "'
TEMP_END: Final = ".0.tmp"  # as of purge: only a holder of a lock writes it, so that the next one may remove it
WAIT: Final = 5.0
_PAUSE: Final = 0.005


def folder_of(root: Path | str) -> str:
    """Return the ledger's folder."""
    return f"{root}/{FOLDER}"


def months(root: Path | str) -> list[str]:
    """Return the paths of the monthly files, newest month first; links and what is no file are passed over."""
    folder = folder_of(root)
    if os.path.islink(folder):  # noqa: PTH114
        return []
    try:
        with os.scandir(folder) as entries:
            found = [one.name for one in entries if MONTH.fullmatch(one.name) and one.is_file(follow_symlinks=False)]
    except OSError:
        return []  # absent, or unreadable: then there is nothing to read
    return [f"{folder}/{name}" for name in sorted(found, reverse=True)]


def blocks(root: Path | str) -> list[str]:
    """Return the paths of the stored blocks, and of what a crash left beside them."""
    folder = f"{folder_of(root)}/{BLOCKS}"
    try:
        with os.scandir(folder) as entries:
            return sorted(f"{folder}/{one.name}" for one in entries if one.is_file(follow_symlinks=False))
    except OSError:
        return []


def pieces(data: bytes) -> Iterator[bytes]:
    """Stream the lines of a monthly file with their line breaks; a line that was glued to a torn one stands alone."""
    for line in data.splitlines(keepends=True) if b"\r" not in data else re.findall(rb"[^\n]*\n|[^\n]+", data):
        at = line.find(START, 1)
        if at < 0:
            yield line
            continue
        begin = 0
        while at >= 0:
            yield line[begin:at]
            begin, at = at, line.find(START, at + 1)
        yield line[begin:]


@contextlib.contextmanager
def locked(folder: str, wait: float = WAIT) -> Iterator[None]:
    """Hold the ledger's lock; raise `LockTimeoutError` after *wait* seconds. Where there is no flock, go on without."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    path = f"{folder}/{LOCK}"
    with files.disk_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, files.FILE_MODE)
    try:
        os.fchmod(descriptor, files.FILE_MODE)
        deadline = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockTimeoutError("another process is rewriting the ledger", where=path) from None
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


def rewrite(path: str, change: Callable[[bytes], bytes], *, wait: float = WAIT) -> bool:
    """Put *change* of a monthly file in its place, with all that is appended meanwhile; tell whether it was another.

    *change* is asked of stretches of whole lines and must leave alone what it made itself.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    temporary = f"{folder}/.{name}{TEMP_END}"
    with locked(os.path.dirname(path), wait):  # noqa: PTH120
        _carry_over(temporary, target, change, frozenset())  # of a rewrite that was killed
        data = files.read(target).data
        new = data if data is None else change(data)
        if data is None or new is None or new == data:
            return False
        files.create(temporary, new)
        try:
            files.exchange(temporary, target)
        except FileNotFoundError:
            files.remove(temporary)  # somebody deleted the month meanwhile
            return False
        _carry_over(temporary, target, change, frozenset(pieces(data)))
        files.sync_directory(folder)
    return True


def _carry_over(temporary: str, target: str, change: Callable[[bytes], bytes], done: frozenset[bytes]) -> None:
    """Append to *target* what *temporary* holds beside it and the lines *done*, changed as the rest; then remove it."""
    try:
        old = os.open(temporary, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        _append_missing(old, target, change, done)
        files.remove(temporary)
        _append_missing(old, target, change, done)  # who has written to it since and saw its name; later ones see none
    finally:
        os.close(old)


def _append_missing(old: int, target: str, change: Callable[[bytes], bytes], done: frozenset[bytes]) -> None:
    with files.disk_errors(target):
        os.lseek(old, 0, os.SEEK_SET)
        out = b""
        while part := os.read(old, 1 << 20):
            out += part
    new = _missing(out, done)
    there = files.read(target).data if new else None
    late = _missing(change(new), frozenset(pieces(there))) if there is not None else b""
    # where the exchange was not reached, the old file is the one with the name, and lacks nothing
    late = _missing(late, frozenset(pieces(change(there)))) if late and there else b""
    if not late:
        return
    with files.disk_errors(target):
        descriptor = os.open(target, os.O_WRONLY | os.O_APPEND)
        try:
            files.write_all(descriptor, late)
        finally:
            os.close(descriptor)


def _missing(out: bytes, known: frozenset[bytes]) -> bytes:
    """Return the whole lines of *out* that are not *known*."""
    return b"".join(line for line in pieces(out) if line.endswith(b"\n") and line not in known)


# -- what is wrong --------------------------------------------------------------------------------------------------


def require_folder(path: str) -> bool:
    """Tell whether there is a folder at *path*; raise `FileStateError` for a link or anything else in its place."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        return True
    what = "a link stands" if stat.S_ISLNK(mode) else "a file stands"
    raise FileStateError(
        f"{what} in the place of the ledger's folder, so nothing is entered in it",
        where=path,
        hint="move it away; the folder is made anew",
    )


def keep_problem(root: Path | str, text: str) -> None:
    """Keep what went wrong until somebody is shown it; a problem that is known already is not told again."""
    path = f"{root}/{PROBLEM}"
    with contextlib.suppress(MemoryMagicError):  # where the root cannot be written either, the caller has the words
        known = _kept(path)
        if known.get("problem") != text or _is_over(root, path):
            files.create(path, json.dumps({"problem": text, "shown": False}).encode(), sync=False)


def problem(root: Path | str) -> str:
    """Return what is wrong with the ledger, in words; empty where its newest line is younger than the last fault."""
    path = f"{root}/{PROBLEM}"
    try:
        known = _kept(path)
    except MemoryMagicError:
        return ""  # our own notice cannot be read: doctor names the rights of every file
    return "" if not known or _is_over(root, path) else str(known["problem"])


def take_problem(root: Path | str) -> str:
    """Return the problem if nobody was shown it yet."""
    path = f"{root}/{PROBLEM}"
    text = problem(root)
    with contextlib.suppress(MemoryMagicError):  # a root that cannot be written says it again, which is no harm
        if not text:
            files.remove(path)
            return ""
        if _kept(path).get("shown") is True:
            return ""
        status = os.stat(path)  # noqa: PTH116
        files.create(path, json.dumps({"problem": text, "shown": True}).encode(), sync=False)
        with contextlib.suppress(OSError):  # its age tells whether the fault is over
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return text


def _kept(path: str) -> dict[str, object]:
    data = files.read(path).data
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("problem"), str) else {}


def _is_over(root: Path | str, path: str) -> bool:
    """Tell whether a line was written after the fault."""
    noted = files.stat_file(path).mtime_ns
    return any(files.stat_file(month).mtime_ns > noted for month in months(root))
