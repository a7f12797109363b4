"""Text that notebook extensions put before the person's words, in the person's name.

Known are a `<memory>` block, one paragraph `System note: When creating or editing Jupyter notebooks …` (jupyter-ai's
ACP client), and one line `Additional context: Current directory open in Jupyter is: …` (notebook-intelligence). Only
text in front is cut; the same words further on are the person's.
"""

from __future__ import annotations

import re

_INSERTED = re.compile(
    r"\s*(?:<memory>.*?</memory>"
    r"|System note: When creating or editing Jupyter notebooks.*?(?:\n[ \t]*\n|\Z)"
    r"|Additional context: Current directory open in Jupyter is:[^\n]*(?:\n|\Z))",
    re.DOTALL,
)


def cut(text: str) -> tuple[str, bool]:
    """Return the person's own words, and whether anything was cut before them."""
    rest = text
    while found := _INSERTED.match(rest):
        rest = rest[found.end() :]
    return (text, False) if rest is text else (rest.lstrip(), True)
