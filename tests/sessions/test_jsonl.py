"""The streaming line reader: bounded memory, counted losses."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from memory_magic.sessions.jsonl import LINE_LIMIT, Lines

if TYPE_CHECKING:
    from pathlib import Path


class Row(msgspec.Struct):
    """The shape that these tests ask for."""

    a: Any


def rows(path: Path, limit: int = 100) -> tuple[list[tuple[int, object]], dict[str, int]]:
    """Return what was read and what was left out."""
    lines = Lines(path, msgspec.json.Decoder(Row), limit)
    found = [(number, row.a) for number, row in lines]
    return found, dict(lines.skipped)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Name a file."""
    return tmp_path / "x.jsonl"


def test_lines_come_with_their_numbers(file: Path) -> None:
    """Blank lines are passed over but counted in the numbering; a byte order mark is no damage."""
    file.write_bytes(b'\xef\xbb\xbf{"a":1}\n\n  \n{"a":2}\r\n{"a":3}')
    assert rows(file) == ([(1, 1), (4, 2), (5, 3)], {})


def test_a_last_line_without_line_feed_is_unfinished_only_if_unreadable(file: Path) -> None:
    """Its writer may be in the middle of it; the same bytes with a line feed are damage."""
    file.write_bytes(b'{"a":1}\n{"a":')
    assert rows(file) == ([(1, 1)], {"unfinished": 1})
    file.write_bytes(b'{"a":1}\n{"a":\n')
    assert rows(file) == ([(1, 1)], {"malformed": 1})


@pytest.mark.parametrize("bad", [b"nonsense", b"[1]", b"{}", b'{"a":"\xff"}', b"[" * 90, b"\x00\x00", b'{"a":1} x'])
def test_a_bad_line_costs_only_itself(file: Path, bad: bytes) -> None:
    """Whatever stands in a line, the next one is read."""
    file.write_bytes(bad + b'\n{"a":2}\n')
    assert rows(file) == ([(2, 2)], {"malformed": 1})


def test_nesting_without_end_is_damage_not_a_crash(file: Path) -> None:
    """A line that would exhaust the stack is counted like any other."""
    file.write_bytes(b'{"a":' + b"[" * 200_000 + b'\n{"a":2}\n')
    assert rows(file, limit=1_000_000) == ([(2, 2)], {"malformed": 1})


def test_the_limit_counts_the_line_without_its_feed(file: Path) -> None:
    """A line of exactly the limit is read, one byte more is not."""
    file.write_bytes(b'{"a":"%s"}\n{"a":"%s"}\n{"a":3}\n' % (b"x" * 92, b"x" * 93))
    assert rows(file) == ([(1, "x" * 92), (3, 3)], {"too long": 1})


def test_a_too_long_last_line_ends_the_file(file: Path) -> None:
    """Without a line feed it is still only one line that was left out."""
    file.write_bytes(b'{"a":1}\n' + b"x" * 500)
    assert rows(file) == ([(1, 1)], {"too long": 1})


def test_lines_over_32_mb_are_never_held(file: Path) -> None:
    """Passing over a line of 80 MB takes no more memory than the limit."""
    assert LINE_LIMIT == 32_000_000
    with file.open("wb") as stream:
        stream.write(b'{"a":"')
        for _ in range(80):
            stream.write(b"x" * 1_000_000)
        stream.write(b'"}\n{"a":2}\n')
    tracemalloc.start()
    try:
        assert rows(file, LINE_LIMIT) == ([(2, 2)], {"too long": 1})
        assert tracemalloc.get_traced_memory()[1] < 2.2 * LINE_LIMIT
    finally:
        tracemalloc.stop()
