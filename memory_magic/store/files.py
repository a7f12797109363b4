"""The file system as the store uses it: private modes, durable writes, and *exchange*, the only door to a MEMORY.md.

`exchange(a, b)` swaps two names atomically, so that whatever an editor saved a moment ago comes out under the other
name and can be looked at (store_rules 0.4): a check followed by a rename loses saves. Where the system has no such
call (NFS, FAT, Windows) the predecessor is kept by a hard link and compared, which leaves a window of microseconds.

Modes are set on the descriptor, whatever the umask. A directory is made 0700, a file 0600. Nothing here knows of
notes.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import stat
import sys
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from memory_magic.errors import FileStateError, MemoryMagicError, StoreAccessError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE_MODE: Final = 0o600
DIRECTORY_MODE: Final = 0o700
TRUSTED_AFTER_NS: Final = (
    2_000_000_000  # a change within a clock tick of the look cannot be told from none (store_rules 6)
)
_RENAME_EXCHANGE: Final = 2
_RENAME_SWAP: Final = 2
_AT_FDCWD: Final = -100


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells two states of a file apart without reading it; all zero for a file that is not there."""

    device: int = 0
    inode: int = 0
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0

    @classmethod
    def of(cls, status: os.stat_result) -> Signature:
        """Take the signature out of a stat."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def is_settled(self, now_ns: int) -> bool:
        """Tell whether the file has stood long enough that an equal signature means equal bytes."""
        return os.name == "posix" and now_ns - self.ctime_ns > TRUSTED_AFTER_NS


@dataclass(frozen=True, slots=True)
class Content:
    """A file as read: bytes and the signature of the very descriptor they came from; *data* None: no such file."""

    data: bytes | None
    signature: Signature

    @property
    def hash(self) -> str:
        """Return the SHA-256 of the bytes in hexadecimal."""
        return sha256(self.data or b"")


def sha256(data: bytes) -> str:
    """Return the SHA-256 of *data* in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


class disk_errors:  # noqa: N801  (a block that reads like a function; a generator takes three times as long)
    """Turn what the disk refuses into a `StoreAccessError` that names the file."""

    __slots__ = ("_path",)

    def __init__(self, path: Path | str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Begin; nothing is to be done."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Raise our error; a time-out, for one, is an `OSError` already and goes on as it is."""
        if isinstance(error, OSError) and not isinstance(error, MemoryMagicError):
            raise access_error(error, self._path) from error


def access_error(error: OSError, path: Path | str) -> StoreAccessError:
    """Return our error for an `OSError` at *path*, with advice where there is any."""
    advice = {
        errno.ENOSPC: "free some space, then try again; nothing was changed",
        errno.EDQUOT: "free some space, then try again; nothing was changed",
        errno.EACCES: "give yourself the rights to it, then try again",
        errno.EPERM: "give yourself the rights to it, then try again",
        errno.EROFS: "the disk is mounted for reading only",
        errno.ELOOP: "put a real file in the place of this link",
        errno.EISDIR: "move the directory that stands in the place of this file",
    }
    what = os.strerror(error.errno) if error.errno else str(error)
    return StoreAccessError(what, where=str(path), hint=advice.get(error.errno or 0, ""))


def make_directory(path: Path) -> None:
    """Make *path* and the parents it lacks, each 0700."""
    missing = []
    at = path
    while not at.is_dir():
        missing.append(at)
        if at.parent == at:
            break
        at = at.parent
    for directory in reversed(missing):
        with disk_errors(directory), contextlib.suppress(FileExistsError):
            directory.mkdir(mode=DIRECTORY_MODE)
            directory.chmod(DIRECTORY_MODE)
        if not directory.is_dir():  # a file, or a link to nowhere: what follows would fail with less to say
            raise StoreAccessError(
                "there is something else where a folder should be",
                where=str(directory),
                hint="move it away (a link may lead to a folder that is gone), then try again",
            )


def stat_file(path: str) -> Signature:
    """Return the signature of *path*, links followed; the zero signature where nothing can be reached there.

    A locked folder or a link to itself is told by `read`, which does not take it for an absent file.
    """
    try:
        return Signature.of(os.stat(path))  # noqa: PTH116  (a third of pathlib's time, on the hot path)
    except OSError:
        return Signature()


def read(path: str) -> Content:
    """Read a whole regular file; an absent one has no data. Raise `FileStateError` for a directory or device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return Content(None, Signature())
    except OSError as error:
        raise access_error(error, path) from error
    with disk_errors(path):
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise FileStateError("this is no regular file", where=path, hint="move it away, then try again")
            return Content(_read_all(descriptor, status.st_size), Signature.of(status))
        finally:
            os.close(descriptor)


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data  # one call for a file that keeps still
    parts = [data]
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def read_settled(path: str, looks_wrong: Callable[[Content], bool]) -> Content:
    """Read *path*; where it looks half-written, read again every 50 ms until reads agree, at most a second.

    An editor that truncates and writes in place shows an empty or partial file to some reads (store_rules 2, *settle*).
    What goes on looking wrong has to agree three times: it would retire most notes.
    """
    content = read(path)
    if stat_file(path) == content.signature and not looks_wrong(content):
        return content
    deadline, agreed = time.monotonic() + 1.0, 1
    while time.monotonic() < deadline and agreed < (3 if looks_wrong(content) else 2):
        time.sleep(0.05)
        again = read(path)
        agreed = agreed + 1 if again == content else 1
        content = again
    return content


def create(path: str, data: bytes, *, sync: bool = True) -> Signature:
    """Write a new private file, or write an own one over, durably when *sync*; return its signature then."""
    with disk_errors(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        try:
            os.fchmod(descriptor, FILE_MODE)
            write_all(descriptor, data)
            if not sync:
                return Signature()
            os.fsync(descriptor)
            return Signature.of(os.fstat(descriptor))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108  (half a file is worse than none)
            raise
        finally:
            os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte; `os.write` may stop early on a full disk or a signal."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def replace(path: Path, data: bytes) -> None:
    """Put *data* at *path* by temp and rename: for our own files, never for a MEMORY.md."""
    temporary = path.with_name(f".{path.name}.{int.from_bytes(os.urandom(6))}.tmp")
    create(str(temporary), data)
    with disk_errors(path):
        os.replace(temporary, path)  # noqa: PTH105
    sync_directory(str(path.parent))


def sync_directory(path: str) -> None:
    """Make a rename durable, where the system can."""
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # some mounts cannot sync a directory
                raise
        finally:
            os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file that may be gone already."""
    with disk_errors(path), contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108


@cache
def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    """Return the system's exchange as a function of two paths that answers 0 or -1, or None."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            swap = library.renamex_np
            return lambda a, b: int(swap(a, b, _RENAME_SWAP))
        call = library.renameat2
    except (OSError, AttributeError):
        return None
    return lambda a, b: int(call(_AT_FDCWD, a, _AT_FDCWD, b, _RENAME_EXCHANGE))


def exchange(temporary: str, target: str) -> None:
    """Swap two existing names: afterwards *temporary* holds what stood at *target*.

    Raise `FileNotFoundError` where *target* is gone, `StoreAccessError` for the rest.
    """
    call = _exchange_call()
    if call is not None and call(os.fsencode(temporary), os.fsencode(target)) == 0:
        return
    number = ctypes.get_errno() if call is not None else errno.ENOSYS
    if number == errno.ENOENT:
        raise FileNotFoundError(number, os.strerror(number), target)
    if number not in {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EXDEV, errno.EPERM}:
        raise access_error(OSError(number, os.strerror(number)), target)
    _exchange_by_link(temporary, target)


def _exchange_by_link(temporary: str, target: str) -> None:
    """Imitate `exchange`: keep the predecessor under a link, rename over it, give the link the temporary's name."""
    kept = f"{temporary}.kept"
    remove(kept)
    try:
        os.link(target, kept)
    except FileNotFoundError:
        raise
    except OSError:
        create(kept, read(target).data or b"")  # FAT has no links: a copy, with the wider window
    with disk_errors(target):
        _replace_patiently(temporary, target)
        os.rename(kept, temporary)  # noqa: PTH104


def _replace_patiently(source: str, target: str) -> None:
    """Rename over *target*; on Windows a reader that has it open makes that fail for a moment."""
    deadline = time.monotonic() + 10
    while True:
        try:
            os.replace(source, target)  # noqa: PTH105
        except PermissionError:
            if os.name != "nt" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def place_new(temporary: str, target: str) -> bool:
    """Give *temporary* the name *target* as well, unless something stands there already; tell whether it was done."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS}:
            raise access_error(error, target) from error
        return _place_without_links(temporary, target)
    return True


def _place_without_links(temporary: str, target: str) -> bool:
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    except FileExistsError:
        return False
    create(target, read(temporary).data or b"")
    return True


def has_exchange(directory: Path) -> bool:
    """Tell whether two files in *directory* can really be exchanged (tried with two files of ours)."""
    call = _exchange_call()
    if call is None:
        return False
    one, other = (directory / f".exchange-probe.{os.getpid()}.{end}" for end in "ab")
    try:
        create(str(one), b"1", sync=False)
        create(str(other), b"2", sync=False)
        return call(os.fsencode(one), os.fsencode(other)) == 0
    except StoreAccessError:
        return False
    finally:
        remove(str(one))
        remove(str(other))
