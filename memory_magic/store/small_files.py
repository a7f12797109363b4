"""Small files of settings, ours and git's, read with a limit.

A hostile folder may hold a pipe, a device or gigabytes under any name: none of them is opened for good or read.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# git's own limit for a .git file; real files of these kinds have a few kilobytes
LARGEST = 1 << 20


def read_small(path: str | Path, largest: int = LARGEST) -> bytes:
    """Return the bytes of a small regular file; a larger one, a pipe or a device is an `OSError`."""
    # non-blocking, or a pipe of that name would hold us up for ever
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            raise OSError(f"not a small file: {path}")
        # one call: a file that grows or shrinks meanwhile is somebody's half-written one, and read as such
        return os.read(descriptor, status.st_size + 1)
    finally:
        os.close(descriptor)
