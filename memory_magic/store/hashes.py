"""The two hashes of an append, made while the disk is busy.

A file before and after an append share their beginning, so that one pass gives both SHA-256. For a large file the
pass runs in a thread of its own: neither hashing nor writing and syncing holds the interpreter, and on two processors
they overlap.
"""

from __future__ import annotations

import hashlib
import threading
from typing import Final

LARGE_BYTES: Final = 262_144  # below this a thread costs more than the pass


class Hashes:
    """The hashes of *data*, and of *data* with *chunk* inserted at *offset*."""

    def __init__(self, data: bytes, offset: int, chunk: bytes) -> None:
        self._parts = data, offset, chunk
        self._thread: threading.Thread | None = None
        self._found = ("", "")
        if len(data) > LARGE_BYTES:
            self._thread = threading.Thread(target=self._work)
            self._thread.start()

    def _work(self) -> None:
        data, offset, chunk = self._parts
        view = memoryview(data)
        after = hashlib.sha256(view[:offset])
        before = after.copy()
        before.update(view[offset:])
        after.update(chunk)
        after.update(view[offset:])
        self._found = before.hexdigest(), after.hexdigest()

    def result(self) -> tuple[str, str]:
        """Return the hash before and after, in hexadecimal."""
        if self._thread is None:
            self._work()
        else:
            self._thread.join()
        return self._found
