"""Streaming reader of JSON-lines files that other programs write, and may be writing right now.

A file is read once, in binary, one line at a time. A line longer than `LINE_LIMIT` is passed over in pieces without
ever being held whole; a line that is no JSON of the asked shape is counted, never raised; a last line without a line
feed that does not decode is counted as *unfinished*, because its writer has not finished it. So memory is bounded by
the longest accepted line.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

LINE_LIMIT = 32_000_000  # bytes: a longer line is an image or a dump, no conversation
_BOM = b"\xef\xbb\xbf"

MALFORMED = "malformed"
UNFINISHED = "unfinished"
TOO_LONG = "too long"
UNKNOWN = "unknown"

Shape = TypeVar("Shape")


class Lines(Generic[Shape]):
    """Iterate over (line number, decoded line) of a file; *skipped* counts by kind the lines that were left out."""

    def __init__(self, path: Path, decoder: msgspec.json.Decoder[Shape], limit: int = LINE_LIMIT) -> None:
        """Take the decoder from the caller, so that each reader names the fields it wants and pays for no others."""
        self.path = path
        self.skipped: Counter[str] = Counter()
        self._decoder = decoder
        self._limit = limit

    def __iter__(self) -> Iterator[tuple[int, Shape]]:
        """Read the file from its start; `OSError` is the caller's to explain."""
        with self.path.open("rb") as file:
            for number, raw in enumerate(self._raw_lines(file), start=1):
                if raw is None:
                    self.skipped[TOO_LONG] += 1
                    continue
                line = raw.removeprefix(_BOM) if number == 1 else raw
                if not line.strip():
                    continue
                try:
                    decoded = self._decoder.decode(line)
                except (msgspec.MsgspecError, RecursionError):
                    self.skipped[MALFORMED if raw.endswith(b"\n") else UNFINISHED] += 1
                    continue
                yield number, decoded

    def _raw_lines(self, file: BinaryIO) -> Iterator[bytes | None]:
        """Yield each line with its line feed, or None in place of one that is too long."""
        while raw := file.readline(self._limit + 1):
            if len(raw) <= self._limit or raw.endswith(b"\n"):
                yield raw
                continue
            while (rest := file.readline(1 << 20)) and not rest.endswith(b"\n"):
                pass
            yield None
