"""Lay text out in columns for a terminal, in every script.

Widths are counted in terminal cells: a Chinese character takes two, a combining mark none. All text passes `plain`,
which takes out whatever a terminal would obey or an eye would miss, so that no note can move the cursor or recolour a
screen.
Pure functions: text in, text out.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ELLIPSIS: Final = "…"
_SHORT = 8
_ZERO = {"Mn", "Me", "Cf"}


def plain(text: object) -> str:
    """Return *text* without terminal sequences, control or invisible characters; line breaks stay."""
    from memory_magic.text.invisible import visible

    return visible(str(text)).replace("\t", "    ")


def one_line(text: object) -> str:
    """Return *text* as one line: the first one, and how many follow."""
    lines = [line.strip() for line in plain(text).split("\n") if line.strip()]
    if not lines:
        return ""
    rest = len(lines) - 1
    return f"{lines[0]} (+{rest} line{'s' if rest > 1 else ''})" if rest else lines[0]


def width(text: str) -> int:
    """Return how many terminal cells *text* takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.category(char) in _ZERO:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, limit: int) -> str:
    """Return *text* cut to *limit* cells, with an ellipsis where something is missing."""
    if width(text) <= limit:
        return text
    kept = []
    left = max(limit - 1, 0)
    for char in text:
        left -= _cells(char)
        if left < 0:
            break
        kept.append(char)
    return "".join(kept) + ELLIPSIS


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Return *text* filled up to *cells* cells; *right* puts it at the right side."""
    space = " " * max(cells - width(text), 0)
    return space + text if right else text + space


def table(
    heads: Sequence[str], rows: Sequence[Sequence[object]], *, limit: int | None = None, numbers: Sequence[int] = ()
) -> str:
    """Return rows below their heads, aligned; the last column is cut so that a line fits *limit* cells.

    *numbers* are the columns that stand at the right.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    sizes = [max(width(text) for text in column) for column in zip(heads, *cells, strict=True)]
    if limit is not None:
        taken = sum(sizes[:-1]) + 2 * (len(sizes) - 1)
        sizes[-1] = max(min(sizes[-1], limit - taken), 20)
    lines = []
    for row in ([*heads], *cells):
        parts = [
            pad(clip(text, size), size, right=at in numbers)
            for at, (text, size) in enumerate(zip(row, sizes, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 note`, `1,204 notes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def scope_name(scope: str, labels: dict[str, str]) -> str:
    """Return a scope as a person calls it: global, the workspace's label, or a short form of its id."""
    label = labels.get(scope, "")
    if label and label != scope:
        return one_line(label)
    head, _, tail = scope.partition("/")
    return f"{head}/{tail[:_SHORT]}{ELLIPSIS}" if len(tail) > _SHORT else scope
