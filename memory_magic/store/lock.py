"""One lock for every change of a store: `<root>/.lock`, held through `filelock`, never deleted by us.

After it is taken, and again before each exchange, the path must still be the inode that is locked: somebody may have
deleted the file, and then a second holder would get in at once (store_rules 6). Who holds it stands in
`.lock.holder`, for the error text of the one that waits in vain. The module is imported by writers only, since
`filelock` is no standard library.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from memory_magic.errors import LockTimeoutError
from memory_magic.store import files

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT: Final = 30.0  # seconds; the longest wait seen with eight writers was under one
_POLL: Final = 0.005
_HOST: Final = socket.gethostname()


class StoreLock:
    """The lock of one root; several threads may use one object, each holds it by itself."""

    def __init__(self, root: Path) -> None:
        self.path = root / ".lock"
        self._holder = str(root / ".lock.holder")
        self._hard = FileLock(self.path, mode=files.FILE_MODE, poll_interval=_POLL)
        self._mine = threading.local()

    @contextlib.contextmanager
    def hold(self, timeout: float = TIMEOUT) -> Iterator[None]:
        """Hold the lock; raise `LockTimeoutError` after *timeout* seconds (0 = only when it is free)."""
        if self._held is not None:
            raise self._timed_out(
                0
            )  # filelock would let the same thread in twice, to a journal that has grown meanwhile
        lock = self._acquire(timeout)
        self._mine.held = lock
        try:
            self._write_holder()
            yield
        finally:
            self._mine.held = None
            lock.release()

    @property
    def _held(self) -> BaseFileLock | None:
        return getattr(self._mine, "held", None)

    def is_ours(self) -> bool:
        """Tell whether the lock that is held is still the one that others would take."""
        held = self._held
        return held is not None and self._is_current(held)

    def _acquire(self, timeout: float) -> BaseFileLock:
        deadline = time.monotonic() + timeout
        while True:
            lock = self._try_once(max(0.0, deadline - time.monotonic()))
            if self._is_current(lock):
                return lock
            lock.release()  # the file was deleted while we waited: what we hold guards nothing
            if time.monotonic() > deadline:
                raise self._timed_out(timeout)

    def _try_once(self, timeout: float) -> BaseFileLock:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fall-back to a soft lock on NFS; doctor names it
            try:
                return self._acquired(self._hard, timeout)
            except NotImplementedError:
                soft = SoftFileLock(self.path.with_suffix(".soft"), mode=files.FILE_MODE, poll_interval=_POLL)
            return self._acquired(soft, timeout)

    def _acquired(self, lock: BaseFileLock, timeout: float) -> BaseFileLock:
        with files.disk_errors(self.path):
            try:
                lock.acquire(timeout=timeout)
            except Timeout as error:
                raise self._timed_out(timeout) from error
        return lock

    def _is_current(self, lock: BaseFileLock) -> bool:
        if isinstance(lock, SoftFileLock):
            return True
        descriptor = lock._context.lock_file_fd  # noqa: SLF001  (filelock does not show which inode it holds)
        try:
            held, there = os.fstat(-1 if descriptor is None else descriptor), self.path.stat()
        except OSError:
            return False
        return (held.st_dev, held.st_ino) == (there.st_dev, there.st_ino)

    def _write_holder(self) -> None:
        text = f"pid {os.getpid()} on {_HOST} since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n"
        files.create(self._holder, text.encode(), sync=False)

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
