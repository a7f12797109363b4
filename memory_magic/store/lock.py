"""One lock for every change of a store: `<root>/.lock`, held through `filelock`, never deleted by us.

`filelock` makes the file, waits for it, and knows what to do on Windows and where there is no flock. Once it has held
the file by a flock (a second one was refused), a *free* lock is taken by that same call without the rest of its
ceremony, which costs a quarter of a whole write; whoever goes through `filelock` sees no difference.

After it is taken, and again before each exchange, the path must still be the inode that is locked: somebody may have
deleted the file, and then a second holder would get in at once (store_rules 6). Who holds it stands in
`.lock.holder`, for the error text of the one that waits in vain. The module is imported by writers only, since
`filelock` is no standard library.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import socket
import sys
import threading
import time
import warnings
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from memory_magic.errors import LockTimeoutError
from memory_magic.store import files

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT: Final = 30.0  # seconds; the longest wait seen with eight writers was under one
_POLL: Final = 0.005
_HOST: Final = socket.gethostname()
_open_here: weakref.WeakSet[io.FileIO] = weakref.WeakSet()
Held: TypeAlias = "BaseFileLock | io.FileIO"  # an open file is a flock of it


class StoreLock:
    """The lock of one root; several threads may use one object, each holds it by itself."""

    def __init__(self, root: Path) -> None:
        self.path = root / ".lock"
        self._holder = str(root / ".lock.holder")
        self._hard = FileLock(self.path, mode=files.FILE_MODE, poll_interval=_POLL)
        self._is_flock = False
        self._mine = threading.local()

    @contextlib.contextmanager
    def hold(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the lock; raise `LockTimeoutError` after *timeout* seconds (0 = only when it is free; None = 30)."""
        if self._held is not None:
            raise self._timed_out(
                0
            )  # filelock would let the same thread in twice, to a journal that has grown meanwhile
        lock = self._acquire(TIMEOUT if timeout is None else timeout)
        self._mine.held = lock
        try:
            self._write_holder()
            yield
        finally:
            self._mine.held = None
            _let_go(lock)

    @property
    def _held(self) -> Held | None:
        return getattr(self._mine, "held", None)

    def is_ours(self) -> bool:
        """Tell whether the lock that is held is still the one that others would take."""
        held = self._held
        return held is not None and self._is_current(held)

    def _acquire(self, timeout: float) -> Held:
        deadline = time.monotonic() + timeout
        while True:
            lock = self._try_once(max(0.0, deadline - time.monotonic()))
            if self._is_current(lock):
                return lock
            _let_go(lock)  # the file was deleted while we waited: what we hold guards nothing
            if time.monotonic() > deadline:
                raise self._timed_out(timeout)

    def _try_once(self, timeout: float) -> Held:
        if self._is_flock:
            with contextlib.suppress(OSError):
                return self._take()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fall-back to a soft lock on NFS; doctor names it
            try:
                lock = self._acquired(self._hard, timeout)
            except NotImplementedError:
                soft = SoftFileLock(self.path.with_suffix(".soft"), mode=files.FILE_MODE, poll_interval=_POLL)
                return self._acquired(soft, timeout)
        self._is_flock = self._refuses()
        return lock

    def _take(self) -> io.FileIO:
        """Return the lock file under a flock; raise `BlockingIOError` where it is held, `OSError` where none serves."""
        if sys.platform == "win32":
            raise OSError(errno.ENOSYS, "no flock on Windows")
        # an object, so that an interrupt between two lines lets go of it
        file = io.FileIO(os.open(self.path, os.O_RDWR | os.O_NOFOLLOW), "r+")
        _open_here.add(file)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            file.close()
            raise
        return file

    def _refuses(self) -> bool:
        """Tell whether a flock of the lock file is refused, as it is while `filelock` holds one."""
        try:
            self._take().close()
        except BlockingIOError:
            return True
        except OSError:
            pass  # no file, or no flock: filelock goes on to serve
        return False

    def _acquired(self, lock: BaseFileLock, timeout: float) -> BaseFileLock:
        with files.disk_errors(self.path):
            try:
                lock.acquire(timeout=timeout)
            except Timeout as error:
                raise self._timed_out(timeout) from error
        return lock

    def _is_current(self, lock: Held) -> bool:
        if isinstance(lock, SoftFileLock):
            return True
        if isinstance(lock, io.FileIO):
            descriptor: int | None = lock.fileno()
        else:
            descriptor = lock._context.lock_file_fd  # noqa: SLF001  (filelock does not show which inode it holds)
        try:
            held, there = os.fstat(-1 if descriptor is None else descriptor), os.stat(self.path)  # noqa: PTH116
        except OSError:
            return False
        return (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino)

    def _write_holder(self) -> None:
        year, month, day, hour, minute, second, *_ = time.gmtime()
        since = f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
        files.create(self._holder, f"pid {os.getpid()} on {_HOST} since {since}\n".encode(), sync=False)

    def _timed_out(self, timeout: float) -> LockTimeoutError:
        try:
            holder = Path(self._holder).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            holder = "an unknown process"
        return LockTimeoutError(
            f"the store is being written by another process ({holder}); waited {timeout:.0f} s",
            where=str(self.path),
            hint="try again when it is done",
        )


def _let_go(lock: Held) -> None:
    if not isinstance(lock, io.FileIO):
        lock.release()
        return
    if sys.platform != "win32":
        fcntl.flock(lock, fcntl.LOCK_UN)  # a forked child may still have the file open
    lock.close()


def _close_in_child() -> None:
    """Close in a forked child what its parent holds: the lock is the parent's, also when the parent is killed."""
    for file in list(_open_here):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
