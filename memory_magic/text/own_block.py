"""Our own block, found inside a text that somebody wants kept: memory must not feed on what it told.

A block begins with the opening tag of the notes at the start of a line, or with one of our section headings where such
a tag follows; it ends with the closing tag, or with the text where there is none (the rest of a cut block is still
ours). A sentence that merely names the tag is ordinary text, and so is one of our headings on its own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_NAME: Final = "native_memory_recall"


@cache
def _begin() -> re.Pattern[str]:
    """Compile late: most texts hold no tag of ours."""
    return re.compile(
        rf"^[ \t>]*(?:<{_NAME}\b[^<>\n]*>|\# Memory (?:\(personal\)|\(project\)|Guidance)[ \t]*$)",
        re.IGNORECASE | re.MULTILINE,
    )


@cache
def _end() -> re.Pattern[str]:
    return re.compile(rf"</{_NAME}\s*>", re.IGNORECASE)


@cache
def _open() -> re.Pattern[str]:
    return re.compile(rf"^[ \t>]*<{_NAME}\b[^<>\n]*>", re.IGNORECASE | re.MULTILINE)


def cut(text: str) -> str:
    """Return *text* without blocks of ours; unchanged where it holds none."""
    if _NAME not in text.lower():
        return text
    kept: list[str] = []
    place = 0
    while (start := _begin().search(text, place)) and (opened := _open().search(text, start.start())):
        kept.append(text[place : start.start()])
        closed = _end().search(text, opened.end())
        place = closed.end() if closed else len(text)
    return "".join([*kept, text[place:]])
