"""Notes in a memory file: reading them out of the blocks, and the edits that put one in, change it or take it out.

A `Document` is one file as read: its exact text, its blocks and the notes in them. An edit returns a whole new text
in which every character outside the touched note stands as it was. Each edit except a plain append is *proven* before
it is handed out: the new text is read again and must hold exactly the expected ids, so that taking out a fence
between two paragraphs cannot silently join them. An append needs no such reading (and may not: a file of 10,000 notes
takes 60 ms to parse): its place, kept in the index as `Place`, is only ever the end of a section outside any open
construct.

Formats (the file names none, so that it stays a person's file):
1  2026-11  top-level list items and prose blocks; `## Pinned`; UTF-8, any line ending; mark and front matter kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memory_magic.errors import FileStateError, NoteError
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.markdown import LINE, NOTE_KINDS, OPEN_KINDS, Block, has_conflict, item_text, scan
from memory_magic.text import private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

PINNED: Final = "pinned"
SEPARATOR: Final = "\x1f"  # between section titles, where one string holds a path of headings
_PINNED_LEVEL: Final = 2
_NO_UTF8: Final = re.compile("[\udc80-\udcff]")  # as `decode` keeps it
_REPLACEMENT: Final = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


@dataclass(frozen=True, slots=True)
class Parsed:
    """One note as it stands in a file; *copies* are the further places with the same text."""

    id: str
    text: str
    block: Block
    pinned: bool
    section: tuple[str, ...]
    copies: tuple[Block, ...] = ()

    @property
    def kind(self) -> str:
        """Return item or prose."""
        return self.block.kind


@dataclass(frozen=True, slots=True)
class Place:
    """Where the next note goes: byte *offset*, the *prefix* to write before it, the *line* that it will begin at.

    *blocked* says in words why nothing can be appended, if so; *section* are the headings above, joined by `SEPARATOR`.
    """

    offset: int
    prefix: str
    line: int
    newline: str
    blocked: str = ""
    section: str = ""

    def after(self, chunk: bytes, lines: int) -> Place:
        """Return the place after *chunk* (prefix included), whose notes take *lines* lines, once it is written here."""
        return Place(self.offset + len(chunk), "", self.line + lines, self.newline, "", self.section)


def decode(data: bytes) -> str:
    """Return the characters of a file; a byte that is no UTF-8 survives as a lone surrogate and goes back unchanged."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text that `decode` made."""
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class Document:
    """One memory file: *text* exactly as read, for the scope whose directory name is *scope*."""

    scope: str
    text: str
    where: str = ""
    hidden: frozenset[str] = frozenset()
    """Ids of purged notes that were typed back: they stand in the text and are no notes."""

    @cached_property
    def masked(self) -> str:
        """Return the text with private spans blanked, of the same length."""
        return private.mask(self.text) if "<" in self.text else self.text

    @cached_property
    def blocks(self) -> list[Block]:
        """Return the blocks that tile the text."""
        return scan(self.masked)

    @cached_property
    def newline(self) -> str:
        """Return the file's line ending: that of its first line."""
        first = LINE.match(self.text)
        line = first[0] if first else ""
        return line[len(line.rstrip("\r\n")) :] or "\n"

    @cached_property
    def notes(self) -> dict[str, Parsed]:
        """Return the notes by id, in file order; further copies of a text hang on the first."""
        found: dict[str, Parsed] = {}
        walk = _Sections()
        for block in self.blocks:
            if block.kind == "heading":
                walk.enter(block)
            elif block.kind in NOTE_KINDS and (text := self._text_of(block)):
                one = note_id(self.scope, normalise(text))
                if one in self.hidden:
                    continue
                known = found.get(one)
                if known is None:
                    found[one] = Parsed(one, text, block, walk.pinned and block.kind == "item", walk.path)
                else:
                    found[one] = Parsed(
                        one, known.text, known.block, known.pinned, known.section, (*known.copies, block)
                    )
        return found

    def _text_of(self, block: Block) -> str:
        raw = self.masked[block.start : block.end]
        if block.kind == "item":
            text = item_text(raw, block.indent)
        else:
            text = raw.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
        if not text.isascii():
            text = text.translate(_REPLACEMENT) if any("\ud800" <= c <= "\udfff" for c in text) else text
        return text

    @cached_property
    def damage(self) -> list[str]:
        """Return sentences on what stands in the way of writing or reading this file whole."""
        found = []
        if "\0" in self.text:
            found.append("holds NUL bytes: it is no UTF-8 text (saved as UTF-16?)")
        if has_conflict(self.text):
            lines = [str(block.line) for block in self.blocks if block.kind == "conflict"]
            found.append(f"holds conflict markers of version control at line {', '.join(lines)}")
        if not self.text.isascii() and (byte := _NO_UTF8.search(self.text)):
            found.append(f"holds a byte that is no UTF-8 at line {self.text.count(chr(10), 0, byte.start()) + 1}")
        found += [f"has {OPEN_KINDS[b.open]} from line {b.line} to its end" for b in self.blocks if b.open]
        return found

    def require_writable(self) -> None:
        """Raise `FileStateError` where any write would do harm: conflict markers, or no text at all."""
        for sentence in self.damage:
            if "conflict" in sentence or "NUL" in sentence:
                raise FileStateError(
                    f"the memory file {sentence}", where=self.where, hint="mend it in an editor, then try again"
                )

    @property
    def is_text(self) -> bool:
        """Tell whether the file is text at all."""
        return "\0" not in self.text

    def require_text(self) -> None:
        """Raise `FileStateError` where the file is no text: its notes are then neither read nor journalled as gone."""
        if not self.is_text:
            raise FileStateError(
                "the memory file holds NUL bytes, so it is no UTF-8 text and none of it is read",
                where=self.where,
                hint="save it as UTF-8",
            )

    def require_appendable(self) -> None:
        """Raise `FileStateError` where the append place lies inside something that was never closed."""
        self.require_writable()
        if self.place.blocked:
            raise blocked_error(self.place.blocked, self.where)

    def character_offset(self, offset: int) -> int:
        """Return the position among the characters of a byte *offset*."""
        return offset if self.text.isascii() else len(decode(encode(self.text)[:offset]))

    # -- append ------------------------------------------------------------------------------------------------

    @cached_property
    def place(self) -> Place:
        """Return where the next note goes: the end of the last section that is not Pinned (store_rules 3)."""
        last, heading, section = self._last_block_outside_pinned()
        newline = self.newline
        if last is None:
            offset, prefix = (len(self.text), f"## Notes{newline * 2}") if heading else (0, "")
            if heading:
                prefix = self._gap(len(self.text)) + prefix
        else:
            offset = last.end
            prefix = self._gap(offset, tight=last.kind == "item")
        if self.text.startswith("\ufeff") and offset == 0:
            offset = 1
        line = _lines(self.text[:offset]) + _lines(prefix) + 1
        if prefix and offset and self.text[offset - 1] not in "\r\n":
            line -= 1  # the prefix ends the unfinished line first
        titles = SEPARATOR.join(section)
        return Place(len(encode(self.text[:offset])), prefix, line, newline, self._blocked(last, offset), titles)

    def _last_block_outside_pinned(self) -> tuple[Block | None, bool, tuple[str, ...]]:
        """Return the last block neither blank nor under Pinned, whether a Notes heading is needed, and the section."""
        walk = _Sections()
        last: Block | None = None
        section: tuple[str, ...] = ()
        seen_pinned = False
        for block in self.blocks:
            if block.kind == "heading":
                walk.enter(block)
            seen_pinned = seen_pinned or walk.pinned
            if block.kind != "blank" and not walk.pinned:
                last, section = block, walk.path
        if seen_pinned and (last is None or last.kind in {"front", "comment"}):
            return None, True, ("Notes",)
        return last, False, section

    def _gap(self, offset: int, *, tight: bool = False) -> str:
        """Return the line ends that set off what comes at *offset* from what stands before."""
        before = self.text[:offset]
        if not before or before == "\ufeff":
            return ""
        unfinished = "" if before[-1] in "\r\n" else self.newline
        return unfinished if tight else unfinished + self.newline

    def _blocked(self, last: Block | None, offset: int) -> str:
        if last is not None and last.open:
            return f"the file has {OPEN_KINDS[last.open]} from line {last.line} to its end"
        if any(start < offset < end or offset == end == len(self.text) for start, end in private.spans(self.text)):
            return "the file has an open <private> span"
        for sentence in self.damage:
            if "conflict" in sentence or "NUL" in sentence:
                return f"the memory file {sentence}"
        return ""

    # -- edits, each proven ------------------------------------------------------------------------------------

    def with_text(self, text: str) -> Document:
        """Return the same file with another text."""
        return Document(self.scope, text, self.where, self.hidden)

    def in_full(self) -> Document:
        """Return the same file with nothing hidden."""
        return Document(self.scope, self.text, self.where) if self.hidden else self

    def replaced(self, note: Parsed, text: str) -> Document:
        """Return the document with *note* reading *text*; its copies go, and so does it where *text* stands already."""
        if note.copies:
            single = self._without(note.copies, self._expect())
            return single.replaced(single.notes[note.id], text)
        new_id = note_id(self.scope, normalise(text))
        if new_id != note.id and new_id in self.notes:
            return self._merged(note, new_id)
        attempts = [lambda: self._spliced(note.block, self._in_place(note.block, text))]
        if note.kind == "prose":
            attempts.append(lambda: self._spliced(note.block, render(text, newline=self.newline)))
        return self._first_proven(attempts, self._expect(gone={note.id}, come={new_id: note.pinned}))

    def _merged(self, note: Parsed, one: str) -> Document:
        """Return the document without *note*, the note *one* pinned if either was."""
        document = self.removed(note)
        stays = document.notes[one]
        return document.pinned(stays) if note.pinned and not stays.pinned and stays.kind == "item" else document

    def _expect(self, gone: Iterable[str] = (), come: Mapping[str, bool] | None = None) -> dict[str, bool]:
        """Return which notes must stand after an edit, and whether each is pinned."""
        there = {one: note.pinned for one, note in self.notes.items() if one not in set(gone)}
        return there | {one: pinned or there.get(one, False) for one, pinned in (come or {}).items()}

    def _in_place(self, block: Block, text: str) -> str:
        raw = self.text[block.start : block.end]
        ending = raw[len(raw.rstrip("\r\n")) :] if block.end == len(self.text) else self.newline
        if block.kind == "prose":
            return text.replace("\n", self.newline) + ending
        marker = raw[: len(raw) - len(raw.lstrip(" "))] + raw.split(None, 1)[0]
        rendered = render(text, bullet=f"{marker} ", newline=self.newline)
        return rendered.rstrip("\r\n") + ending

    def removed(self, note: Parsed) -> Document:
        """Return the document without *note* and its copies."""
        return self._without([note.block, *note.copies], self._expect(gone={note.id}))

    def _without(self, blocks: Sequence[Block], expected: dict[str, bool]) -> Document:
        def cut(keep_gap: bool) -> Document:  # noqa: FBT001  (a local switch between two spellings)
            text = self.text
            for block in sorted(blocks, key=lambda one: one.start, reverse=True):
                end = block.end if keep_gap else self._end_with_gap(block)
                text = text[: block.start] + (self.newline if keep_gap else "") + text[end:]
            return self.with_text(text)

        return self._first_proven([lambda: cut(False), lambda: cut(True)], expected)  # noqa: FBT003

    def _end_with_gap(self, block: Block) -> int:
        """Return where a removal ends: it takes the blank lines below with it when there are blank lines above too."""
        at = self.blocks.index(block)
        above = at == 0 or self.blocks[at - 1].kind == "blank"
        below = self.blocks[at + 1] if at + 1 < len(self.blocks) else None
        return below.end if above and below is not None and below.kind == "blank" else block.end

    def pinned(self, note: Parsed) -> Document:
        """Return the document with the item moved to the end of its first Pinned section (made where there is none)."""
        if note.kind != "item":
            raise NoteError(
                "only list items can be pinned, and this note is prose", hint="revise it into a list item first"
            )
        return self._moved(note, Document._pin_target, pinned=True)

    def unpinned(self, note: Parsed, section: Sequence[str]) -> Document:
        """Return the document with the item moved back to *section*, or to the append place where that is gone."""
        return self._moved(note, lambda document: document._unpin_target(tuple(section)), pinned=False)  # noqa: SLF001  (our own class)

    def _moved(self, note: Parsed, target: Callable[[Document], tuple[int, str, str]], *, pinned: bool) -> Document:
        """Move the note's own bytes to the place, between the prefix and suffix, that *target* names."""
        raw = self.text[note.block.start : note.block.end].rstrip("\r\n") + self.newline
        rest = self._without([note.block, *note.copies], self._expect(gone={note.id}))
        offset, prefix, suffix = target(rest)
        after = rest.text[offset:]
        gap = "" if not after or after[0] in "\r\n" or after.startswith("- ") else rest.newline
        moved = rest.with_text(rest.text[:offset] + prefix + raw + (suffix or gap) + after)
        return self._first_proven([lambda: moved], self._expect() | {note.id: pinned})

    def _pin_target(self) -> tuple[int, str, str]:
        walk = _Sections()
        last: Block | None = None
        for block in self.blocks:
            if block.kind == "heading":
                walk.enter(block)
            if walk.pinned and block.kind != "blank":
                last = block
            elif last is not None and not walk.pinned:
                break
        if last is not None:
            return last.end, self._gap(last.end, tight=last.kind == "item"), ""
        offset = self._intro_end()
        newline = self.newline
        following = next((block for block in self.blocks if block.start >= offset and block.kind != "blank"), None)
        headed = following is None or (following.kind == "heading" and following.level <= _PINNED_LEVEL)
        # what stood there without a heading would otherwise be pinned with it
        suffix = (
            "" if headed else f"{newline}## Notes{newline}" + newline * (self.text[offset : offset + 1] not in "\r\n")
        )
        return offset, f"{self._gap(offset)}## Pinned{newline * 2}", suffix

    def _intro_end(self) -> int:
        """Return the place before the first section or list: after front matter, title and introduction."""
        end = 1 if self.text.startswith("\ufeff") else 0
        for block in self.blocks:
            if block.kind == "item" or (block.kind == "heading" and block.level > 1):
                break
            if block.kind != "blank":
                end = block.end
        return end

    def _unpin_target(self, section: tuple[str, ...]) -> tuple[int, str, str]:
        walk = _Sections()
        last: Block | None = None
        for block in self.blocks:
            if block.kind == "heading":
                walk.enter(block)
            if walk.path == section and not walk.pinned and block.kind != "blank":
                last = block
        if last is not None and not last.open:
            return last.end, self._gap(last.end, tight=last.kind == "item"), ""
        place = self.place
        if place.blocked:
            raise blocked_error(place.blocked, self.where)
        return self.character_offset(place.offset), place.prefix, ""

    def _spliced(self, block: Block, new: str) -> Document:
        return self.with_text(self.text[: block.start] + new + self.text[block.end :])

    def _first_proven(self, attempts: Iterable[Callable[[], Document]], expected: dict[str, bool]) -> Document:
        """Return the first attempt whose notes are exactly *expected*, each pinned or not as expected."""
        for attempt in attempts:
            document = attempt()
            if {one: note.pinned for one, note in document.notes.items()} == expected:
                return document
        raise FileStateError(
            "this change would alter a neighbouring note, so nothing was changed",
            where=self.where,
            hint="make the change in an editor",
        )


class _Sections:
    """The headings above the place that a walk through the blocks has reached."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, str]] = []
        self.pinned = False

    def enter(self, heading: Block) -> bool:
        """Take in a heading; tell whether what follows is pinned."""
        self.stack = [one for one in self.stack if one[0] < heading.level]
        self.stack.append((heading.level, heading.title))
        if heading.level <= _PINNED_LEVEL:
            self.pinned = heading.level == _PINNED_LEVEL and heading.title.strip().casefold() == PINNED
        return self.pinned

    @property
    def path(self) -> tuple[str, ...]:
        """Return the titles from the outermost heading to the nearest."""
        return tuple(title for _, title in self.stack)


def _lines(text: str) -> int:
    """Return the number of lines of *text*, an unfinished last one included."""
    return len(LINE.findall(text)) if "\r" in text else text.count("\n") + (text[-1:] not in {"", "\n"})


def blocked_error(blocked: str, where: str) -> FileStateError:
    """Return the error for a place that nothing can be written to."""
    return FileStateError(f"nothing can be added: {blocked}", where=where, hint="close it in an editor, then try again")


def render(text: str, *, bullet: str = "- ", newline: str = "\n") -> str:
    """Return *text* as a list item that reads back as exactly that text.

    Raise `NoteError` where no bullet does (`- ---` would be a thematic break: then `* ---` is tried).
    """
    # what begins with white space (an indented block brought over) cannot be an item's first line: the note is the same
    for spelling in (text, text.strip()):
        for mark in (bullet, "- ", "* "):
            first, *rest = spelling.split("\n")
            indent = " " * len(mark)
            rendered = "\n".join([mark + first, *(indent + line if line else "" for line in rest)]) + "\n"
            if (not rest and first[:1].isalpha()) or _reads_back(rendered, spelling):
                return rendered if newline == "\n" else rendered.replace("\n", newline)
    raise NoteError("this text cannot be written as a Markdown list item", hint="write it as a sentence")


def _reads_back(rendered: str, text: str) -> bool:
    blocks = scan(rendered)
    return len(blocks) == 1 and blocks[0].kind == "item" and item_text(rendered, blocks[0].indent) == text
