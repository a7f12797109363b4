"""Quick capture: a cell that holds nothing but one line `# text` is remembered.

Off by default; `quick_capture` under `enabled` switches it on. The look at a cell is one regular expression, so that a
cell which is no capture costs nothing; settings are read only when a cell looks like one, so that switching it on or
off works at once, without reloading the extension.

Left alone: `##`, `#!`, `#text`, cells with code or more than one line, cell markers (`# %%`, `# +`, `# -`, `# ---`) and
pragmas (`# type:`, `# noqa`, `# fmt:`, `# mypy:`, `# ruff:`, coding lines).
"""

from __future__ import annotations

import re
from typing import Final

_LINE: Final = re.compile(r"#[ \t]+(?P<text>\S[^\n]*)")
_MARKER: Final = re.compile(r"%%|\+(?!\w)|-(?!\w)")
_PRAGMA: Final = re.compile(r"(?:type|fmt|mypy|ruff)\s*:|noqa\b|.*coding[:=][ \t]*[-\w.]+", re.IGNORECASE)
"""The last alternative is PEP 263's."""


def captured(cell: str) -> str | None:
    """Return the text that *cell* asks to remember, or None when it is an ordinary cell."""
    match = _LINE.fullmatch(cell.strip())
    if match is None:
        return None
    text = match["text"].strip()
    return None if _MARKER.match(text) or _PRAGMA.match(text) else text
