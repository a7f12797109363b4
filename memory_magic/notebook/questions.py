"""Let a note or a query end in a question mark.

IPython reads `%memory_search when do we deploy?` as a request for help on `deploy`: its rule for a trailing `?` comes
before its rule for magics. This transformer runs before both and writes such a line as the call that the magic would
have become. `%remember?` and `%memory?` alone stay requests for help. Lines inside of strings, and the bodies of cell
magics, are not touched: a line counts only where IPython's own tokens begin one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUESTION: Final = re.compile(
    r"(?P<lead>\s*(?:[^\W\d]\w*\s*=\s*)?)%(?P<name>remember|memory_search|memory_view|memory)[ \t]+(?P<rest>\S.*\?)\s*"
)


def keep_questions(lines: list[str]) -> list[str]:
    """Return the cell's *lines* with each of our line magics that ends in `?` as a plain call."""
    if (lines and lines[0].startswith("%%")) or not any(_QUESTION.fullmatch(line) for line in lines):
        return lines
    starts = _starts(lines)
    return [_as_call(line) if at in starts else line for at, line in enumerate(lines)]


def _as_call(line: str) -> str:
    match = _QUESTION.fullmatch(line)
    if match is None:
        return line
    end = line[len(line.rstrip("\r\n")) :]
    return f"{match['lead']}get_ipython().run_line_magic({match['name']!r}, {match['rest']!r}){end}"


def _starts(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines on which a statement begins, as IPython's tokenizer sees them."""
    from IPython.core.inputtransformer2 import make_tokens_by_line

    starts = set()
    for tokens in make_tokens_by_line(list(lines)):
        first = next((token for token in tokens if token.string.strip()), None)
        if first is not None:
            starts.add(first.start[0] - 1)
    return starts
