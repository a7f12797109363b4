"""A marked region in a Markdown file that belongs to somebody else: only what stands between our two lines is ours.

    <!-- memory-magic:begin … -->
    …
    <!-- memory-magic:end -->

Text in, text out. A region that a person moved stays where it is; one of which only one mark is left raises
`FileStateError` with its line, and nothing is changed. What stands inside cannot forge a mark: it holds no comment.
"""

from __future__ import annotations

import re
from typing import Final

from memory_magic.assistants.json_comments import newline_of
from memory_magic.errors import FileStateError

BEGIN: Final = "<!-- memory-magic:begin (rewritten by memory-magic; memory-magic disconnect takes it out) -->"
END: Final = "<!-- memory-magic:end -->"

_BEGIN: Final = re.compile(r"(?:^|(?<=\ufeff))[ \t]*<!-- memory-magic:begin\b[^\n]*?-->[ \t]*\r?$", re.MULTILINE)
_END: Final = re.compile(r"^[ \t]*<!-- memory-magic:end -->[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
_BOM: Final = "\ufeff"


def span(text: str, name: str = "the file") -> tuple[int, int] | None:
    """Return where the region stands, its line end included; None where there is none."""
    begins, ends = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0].start() > ends[0].start():
        at = (begins or ends)[0].start()
        raise FileStateError(
            "the lines that mark memory-magic's part do not match; nothing was changed",
            where=f"{name}:{text.count(chr(10), 0, at) + 1}",
            hint="take them and what is between them out in an editor, then connect again",
        )
    return begins[0].start(), ends[0].end()


def inner(text: str, name: str = "the file") -> str | None:
    """Return what stands in the region, None where there is none."""
    where = span(text, name)
    if where is None:
        return None
    lines = text[where[0] : where[1]].replace("\r\n", "\n").strip("\n").split("\n")
    return "\n".join(lines[1:-1])


def put(text: str, body: str, name: str = "the file") -> str:
    """Return *text* with *body* in the region, which goes to the end where there is none yet."""
    newline = newline_of(text)
    lines = [BEGIN, *([defanged(body)] if body else []), END]
    region = "\n".join(lines).replace("\n", newline) + newline
    where = span(text, name)
    if where is None:
        return f"{text}{_glue(text, newline)}{region}"
    end = text[where[0] : where[1]]
    return text[: where[0]] + (region if end.endswith("\n") else region.removesuffix(newline)) + text[where[1] :]


def drop(text: str, name: str = "the file") -> str:
    """Return *text* without the region and the line end that `put` added before it."""
    where = span(text, name)
    if where is None:
        return text
    before = text[: where[0]]
    return before.removesuffix(newline_of(text)) + text[where[1] :]


def defanged(body: str) -> str:
    """Return a text in which no HTML comment begins or ends, so that it cannot hide or forge a mark."""
    return body.replace("<!--", "‹!--").replace("-->", "--›")


def _glue(text: str, newline: str) -> str:
    """Return what goes between a text and the region: always one line end, so that `drop` finds the old end."""
    return newline if text.removeprefix(_BOM) else ""
