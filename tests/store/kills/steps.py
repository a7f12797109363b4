"""Kill -9 at each step of one change: `steps.py TEMPLATE PLACE CWD WORK [WORD…]` prints how many steps there were.

For k = 1, 2, 3 … the root TEMPLATE is copied to PLACE/k, and a child process does WORK there until right before its
k-th step on the disk, where it kills itself; a write is cut in the middle. A step is a call that opens a file for
writing, writes, syncs, renames, exchanges, links, makes or removes something. The first child that lives to its end
ends the row; its root stays, too. Each death is a real SIGKILL: no `finally`, no `atexit`, no lock let go.

WORK is `purge ID`, `purge-text TEXT`, `promote TEXT SCOPE` or `undo N`.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_magic.store import files
from memory_magic.store.access import Access
from memory_magic.store.archive import Archive
from memory_magic.store.purge import run
from memory_magic.store.purge.plan import Request
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = ("fsync", "rename", "replace", "unlink", "remove", "rmdir", "link", "mkdir", "ftruncate")
MOST = 2_000


class Counter:
    """Counts steps and ends the process at the one that was asked for."""

    def __init__(self, last: int) -> None:
        self.left = last

    def step(self) -> bool:
        """Tell whether this is the last step."""
        self.left -= 1
        return self.left == 0

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return *call* that counts first."""

        def counted(*words: Any, **options: Any) -> Any:
            if self.step():
                die()
            return call(*words, **options)

        return counted


def die() -> None:
    """End this very moment."""
    os.kill(os.getpid(), signal.SIGKILL)


def arm(counter: Counter) -> None:
    """Let every call that changes the disk count."""
    for name in CALLS:
        setattr(os, name, counter.before(getattr(os, name)))
    opened, written, exchanged = os.open, os.write, files._exchange_call()

    def open_counted(path: Any, flags: int, *words: Any, **options: Any) -> int:
        if flags & (os.O_CREAT | os.O_TRUNC) and counter.step():
            die()
        return opened(path, flags, *words, **options)

    def write_cut(descriptor: int, data: Any) -> int:
        if counter.step():
            written(descriptor, bytes(data)[: len(data) // 2])
            die()
        return written(descriptor, data)

    os.open, os.write = open_counted, write_cut
    if exchanged is not None:
        swap = counter.before(exchanged)
        files._exchange_call = lambda: swap  # type: ignore[assignment]


def work(root: Path, cwd: Path, words: list[str], counter: Counter) -> None:
    """Open the store, bring it to rest, then do the change with every step counted."""
    store = Store(root, cwd)
    store.observe()
    kind, *rest = words
    arm(counter)
    if kind in {"purge", "purge-text"}:
        run.purge(Access(store), Request(one=rest[0]) if kind == "purge" else Request(text=rest[0]))
    elif kind == "promote":
        Archive(store).promote(rest[0], to=rest[1])
    else:
        Archive(store).undo(int(rest[0]))


def main(template: Path, place: Path, cwd: Path, words: list[str]) -> int:
    """Kill at each step; return how many there are."""
    for number in range(1, MOST):
        root = place / str(number)
        shutil.copytree(template, root, symlinks=True)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                work(root, cwd, words, Counter(number))
                status = 0
            finally:
                os._exit(status)
        status = os.waitpid(child, 0)[1]
        if status == 0:
            return number
        if not os.WIFSIGNALED(status):
            raise SystemExit(f"step {number}: the child failed with {status}")
    raise SystemExit("no end of steps")


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]))
