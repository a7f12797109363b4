"""The two hashes of an append: of the file before it and after it.

Both share their beginning, so one pass gives both SHA-256. Of the bytes that this process wrote last the pass is kept
half done (`Kept`): where the file still holds them, byte for byte, it goes on from there, since comparing takes a
twentieth of hashing. Else, for a large file, the pass runs in a thread of its own while the disk is busy: neither
hashing nor writing and syncing holds the interpreter, and on two processors they overlap.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hashlib import _Hash

LARGE_BYTES: Final = 262_144  # below this a thread costs more than the pass
_KEPT_BYTES: Final = 5_000_000  # where doctor advises to split the file


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes of a file with their SHA-256, which can go on behind their end."""

    data: bytes
    hash: str
    begun: _Hash


class Hashes:
    """The hashes of *data*, and of *data* with *chunk* inserted at *offset*; *kept* may know the first."""

    def __init__(self, data: bytes, offset: int, chunk: bytes, kept: Kept | None = None) -> None:
        self._parts = data, offset, chunk
        self._thread: threading.Thread | None = None
        self._before = ""
        self._after: _Hash | None = None
        if kept is not None and offset == len(data) and kept.data == data:
            self._before, self._after = kept.hash, kept.begun.copy()
            self._after.update(chunk)
        elif len(data) > LARGE_BYTES:
            self._thread = threading.Thread(target=self._work)
            self._thread.start()

    def _work(self) -> _Hash:
        data, offset, chunk = self._parts
        view = memoryview(data)
        after = hashlib.sha256(view[:offset])
        before = after.copy()
        before.update(view[offset:])
        after.update(chunk)
        after.update(view[offset:])
        self._before, self._after = before.hexdigest(), after
        return after

    def result(self) -> tuple[str, str]:
        """Return the hash before and after, in hexadecimal."""
        if self._thread is not None:
            self._thread.join()
        after = self._after or self._work()
        return self._before, after.hexdigest()

    def keep(self, data: bytes) -> Kept | None:
        """Return what spares the next append a pass over *data*, the bytes after this one; nothing where they are many.

        Call after `result`.
        """
        if self._after is None or len(data) > _KEPT_BYTES:
            return None
        return Kept(data, self._after.hexdigest(), self._after)
