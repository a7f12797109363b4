r"""Blocks of a Markdown memory file: a scanner that loses no character.

`scan` tiles a text with blocks, each a half-open range of characters; the ranges joined give the text back, byte for
byte, whatever stands in it. It knows as much of CommonMark as decides where a *note* begins and ends (store_rules 3):
a top-level list item with all its children and lazy lines, a paragraph, a fenced block, a table (as a paragraph), a
quote. Everything else (front matter, headings, thematic breaks, comments, link definitions, blank lines, conflict
markers) is no note. Lines end at `\n`, `\r\n` or `\r` only: `str.splitlines` would also split at U+2028 and form
feeds.

The caller masks `<private>` spans first (same length, so ranges stay valid).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_THEMATIC: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ITEM: Final = re.compile(r"( {0,3}(?:[-*+]|\d{1,9}[.)]))( +(?=[^\s])|[ \t]+|$)")
_COMMENT: Final = re.compile(r" {0,3}<!--")
_QUOTE: Final = re.compile(r" {0,3}>")
_DEFINITION: Final = re.compile(r" {0,3}\[[^\]]+\]:[ \t]*\S")
_INDENTED: Final = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_CONFLICT: Final = re.compile(r"(?:<{7}|>{7}|\|{7})(?: |$)|={7}$")
_CONFLICT_START: Final = re.compile(r"^<{7}(?: |\r?$)", re.MULTILINE)
_CONFLICT_END: Final = re.compile(r"^>{7}(?: |\r?$)", re.MULTILINE)
_FRONT_END: Final = ("---", "...")
_SPECIAL: Final = frozenset("#->*+_=`~<[|0123456789 \t")  # first characters that may open something but a paragraph
_NOT_PLAIN: Final = frozenset({"", " ", "\t", "-"})

_PLAIN_INDENT: Final = 2

NOTE_KINDS: Final = frozenset({"item", "prose"})
BYTE_ORDER_MARK: Final = "\ufeff"
OPEN_KINDS: Final = {"fence": "an open code fence", "comment": "an open HTML comment"}


@dataclass(frozen=True, slots=True)
class Block:
    """A range of the file. *kind*: item, prose, heading, blank, front, break, comment, definition, conflict.

    *level* and *title* belong to headings, *indent* (columns of its text) to items. *open* names what was never closed.
    """

    kind: str
    start: int
    end: int
    line: int
    level: int = 0
    title: str = ""
    indent: int = 0
    open: str = ""


def has_conflict(text: str) -> bool:
    """Tell whether version control left both ends of a conflict in *text*."""
    return "<<<<<<<" in text and bool(_CONFLICT_START.search(text)) and bool(_CONFLICT_END.search(text))


def scan(text: str) -> list[Block]:
    """Return the blocks that tile *text*."""
    return _Scanner(text).run()


class _Scanner:
    """One pass over the lines; each `_take_…` consumes what it recognises from line `at` on."""

    def __init__(self, text: str) -> None:
        self.raw = LINE.findall(text)
        self.lines = [line.rstrip("\r\n") for line in self.raw]
        self.conflict = has_conflict(text)
        self.at = 0
        self.offset = 0
        self.blocks: list[Block] = []
        if text.startswith(BYTE_ORDER_MARK):
            self._set_mark_apart()

    def _set_mark_apart(self) -> None:
        """Let the byte order mark be a block of its own, so that no note begins with it."""
        self.blocks.append(Block("blank", 0, 1, 1))
        self.offset = 1
        self.raw[0], self.lines[0] = self.raw[0][1:], self.lines[0][1:]
        if not self.raw[0]:
            del self.raw[0], self.lines[0]

    def run(self) -> list[Block]:
        self._take_front_matter()
        count = len(self.lines)
        while self.at < count:
            line = self.lines[self.at]
            first = line[:1]
            if first == "-" and self._is_plain_item(line):
                self._emit("item", self.at + 1, indent=2)
            elif not first or not line.strip(" \t"):
                self._take_blank()
            elif first not in _SPECIAL:
                self._take_paragraph()
            else:
                self._take_special(line)
        return self.blocks

    def _is_plain_item(self, line: str) -> bool:
        """Tell whether *line* is the whole of a `- text` item because the next line starts another: the usual file."""
        following = self.lines[self.at + 1 : self.at + 2]
        return (
            line.startswith("- ") and line[2:3] not in _NOT_PLAIN and (not following or following[0].startswith("- "))
        )

    def _emit(self, kind: str, until: int, **details: int | str) -> None:
        """Close a block that reaches up to line *until* (exclusive)."""
        length = sum(map(len, self.raw[self.at : until]))
        self.blocks.append(Block(kind, self.offset, self.offset + length, self.at + 1, **details))  # type: ignore[arg-type]
        self.offset += length
        self.at = until

    def _take_front_matter(self) -> None:
        if not self.lines or self.lines[0] != "---":
            return
        for at, line in enumerate(self.lines[1:], start=1):
            if line.rstrip() in _FRONT_END:
                self._emit("front", at + 1)
                return

    def _take_blank(self) -> None:
        at = self.at
        while at < len(self.lines) and not self.lines[at].strip(" \t"):
            at += 1
        self._emit("blank", at)

    def _take_special(self, line: str) -> None:
        if self.conflict and _CONFLICT.match(line):
            self._emit("conflict", self.at + 1)
        elif heading := _HEADING.match(line):
            self._emit("heading", self.at + 1, level=len(heading[1]), title=(heading[2] or "").strip())
        elif _THEMATIC.match(line):
            self._emit("break", self.at + 1)
        elif item := _ITEM.match(line):
            self._take_item(line, item)
        elif fence := _FENCE.match(line):
            self._take_fence(fence[1])
        elif _COMMENT.match(line):
            self._take_comment()
        elif _QUOTE.match(line):
            self._take_quote()
        elif _DEFINITION.match(line):
            self._emit("definition", self.at + 1)
        elif _INDENTED.match(line):
            self._take_indented()
        else:
            self._take_paragraph()

    def _take_fence(self, fence: str) -> None:
        close = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
        for at in range(self.at + 1, len(self.lines)):
            if close.match(self.lines[at]):
                self._emit("prose", at + 1)
                return
        self._emit("prose", len(self.lines), open="fence")

    def _take_comment(self) -> None:
        for at in range(self.at, len(self.lines)):
            if "-->" in self.lines[at]:
                self._emit("comment", at + 1)
                return
        self._emit("comment", len(self.lines), open="comment")

    def _take_indented(self) -> None:
        end = at = self.at
        while at < len(self.lines) and (_INDENTED.match(self.lines[at]) or not self.lines[at].strip(" \t")):
            at += 1
            if self.lines[at - 1].strip(" \t"):
                end = at
        self._emit("prose", end)

    def _take_quote(self) -> None:
        at = self.at + 1
        while at < len(self.lines) and (_QUOTE.match(self.lines[at]) or self._continues_paragraph(at)):
            at += 1
        self._emit("prose", at)

    def _take_paragraph(self) -> None:
        at = self.at + 1
        while at < len(self.lines):
            if underline := _SETEXT.match(self.lines[at]):
                title = " ".join(line.strip() for line in self.lines[self.at : at])
                self._emit("heading", at + 1, level=1 if underline[1][0] == "=" else 2, title=title)
                return
            if not self._continues_paragraph(at):
                break
            at += 1
        self._emit("prose", at)

    def _continues_paragraph(self, at: int) -> bool:
        """Tell whether line *at* is text that a paragraph before it would take in."""
        line = self.lines[at]
        if not line.strip(" \t"):
            return False
        return line[0] not in _SPECIAL or not self._interrupts(line)

    def _interrupts(self, line: str) -> bool:
        """Tell whether *line* opens a block even right below a paragraph."""
        if self.conflict and _CONFLICT.match(line):
            return True
        if item := _ITEM.match(line):
            mark = item[1].strip()
            return _THEMATIC.match(line) is not None or (bool(item[2].strip("\n")) and _may_interrupt(mark, line, item))
        return any(opens.match(line) for opens in (_HEADING, _THEMATIC, _FENCE, _COMMENT, _QUOTE))

    def _take_item(self, line: str, item: re.Match[str]) -> None:
        indent = _content_column(line, item)
        end = at = self.at + 1
        state = _ItemState()
        state.feed(line[item.end() :])
        while at < len(self.lines):
            inner = self.lines[at]
            if not inner.strip(" \t"):
                state.blank()
            elif _columns(inner) >= indent:
                state.feed(_dedent(inner, indent))
                end = at + 1
            elif state.takes_lazy and not self._starts_block(inner):
                end = at + 1
            else:
                break
            at += 1
        self._emit("item", end, indent=indent)

    def _starts_block(self, line: str) -> bool:
        """Tell whether *line* ends a list item although no blank line stands before it."""
        if line[0] not in _SPECIAL:
            return False
        return bool(_ITEM.match(line)) or self._interrupts(line)


class _ItemState:
    """What a list item's last line was: only open paragraph text takes a lazy line in."""

    def __init__(self) -> None:
        self.takes_lazy = False
        self._fence = ""

    def feed(self, inner: str) -> None:
        """Take in one line of the item, dedented to its text."""
        stripped = inner.strip(" \t")
        if self._fence:
            if stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
                self._fence = ""
            self.takes_lazy = False
            return
        while nested := _ITEM.match(inner) or _QUOTE.match(inner):
            if _THEMATIC.match(inner):
                break
            inner = inner[nested.end() :]
        if fence := _FENCE.match(inner):
            self._fence = fence[1]
        blocks = (_HEADING, _THEMATIC, _FENCE, _COMMENT)
        self.takes_lazy = bool(inner.strip(" \t")) and not any(opens.match(inner) for opens in blocks)

    def blank(self) -> None:
        """Take in a blank line."""
        self.takes_lazy = False


def _may_interrupt(mark: str, line: str, item: re.Match[str]) -> bool:
    """Tell whether a list may begin right below a paragraph: not with an empty item, and numbered only from 1."""
    return bool(line[item.end() :].strip()) and (mark in "-*+" or mark[:-1] == "1")


def _columns(line: str) -> int:
    """Return how many columns of white space *line* begins with."""
    column = 0
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 4 - column % 4
        else:
            break
    return column


def _content_column(line: str, item: re.Match[str]) -> int:
    """Return the column of the item's text, which its children must reach."""
    marker = len(item[1])
    rest = line[marker:]
    if not rest.strip(" \t"):
        return marker + 1
    # measured from the marker's end: a tab reaches to the next multiple of four of the whole line
    padding = _columns(" " * marker + rest) - marker
    return marker + (padding if padding <= 4 else 1)  # noqa: PLR2004  (CommonMark: five or more begin indented code)


def _dedent(line: str, columns: int) -> str:
    """Take *columns* of white space off *line*; what is left of a split tab becomes spaces."""
    column = 0
    for at, character in enumerate(line):
        if column >= columns or character not in " \t":
            return " " * (column - columns) + line[at:]
        column += 1 if character == " " else 4 - column % 4
    return " " * max(0, column - columns)


def item_text(lines: str, indent: int) -> str:
    """Return the text of a list item from its characters *lines*: marker and indentation taken off."""
    if (
        indent == _PLAIN_INDENT
        and lines.startswith("- ")
        and lines[2:3] not in _NOT_PLAIN
        and lines.find("\n", 0, -1) < 0 > lines.find("\r")
    ):
        return lines[2:].rstrip()
    first, *rest = [line.rstrip("\r\n") for line in LINE.findall(lines)]
    item = _ITEM.match(first)
    head = first[item.end() :] if item else first
    if item and _columns(" " * len(item[1]) + first[len(item[1]) :]) - len(item[1]) > 4:  # noqa: PLR2004  (see _content_column)
        head = first[len(item[1]) + 1 :]
    body = [line if not line.strip(" \t") else _take_off(line, indent) for line in rest]
    return "\n".join([head, *body]).strip("\n").rstrip()


def _take_off(line: str, indent: int) -> str:
    return _dedent(line, indent) if _columns(line) >= indent else line.lstrip(" \t")
