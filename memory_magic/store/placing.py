"""Many notes into a memory file at once, each where it stood: its section, pinned or not, item or prose.

What comes back from elsewhere (an import, a restore, a note of another scope) brings a *path of headings* and a kind.
A file without notes is written whole, in the order given, headings made anew, so that it reads back as exactly those
notes (store_rules 9). In a file with notes each joins the last note of its section; sections that are not there are
made at the end. One reading of the result proves it: every note that was there stands as it was, every new one is
there. Pure: document in, document out.

Levels of headings are not kept anywhere, only their titles; they are chosen so that the paths come out the same and
exactly the pinned notes stand below a level-2 heading "Pinned".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from typing import TYPE_CHECKING, Final

from memory_magic.errors import FileStateError, NoteError
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.markdown import scan
from memory_magic.store.note import PINNED, Document, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from memory_magic.store.note import Parsed

LIST_END: Final = "<!-- -->"  # CommonMark's way to end a list, or an indented block, before an indented block
_PINNED_LEVEL: Final = 2
_DEEPEST: Final = 6
_PINNED_PATH: Final = ("Pinned",)
_NO_TITLE: Final = ("",)  # a heading without a title: what stands below it is told apart from what stands below none

Path = tuple[str, ...]
Heading = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Item:
    """A note on its way into a file; *section* are the headings above it, outermost first."""

    text: str
    pinned: bool = False
    section: Path = ()
    kind: str = "item"

    def id_in(self, scope: str) -> str:
        """Return the id that the text has in *scope*."""
        return note_id(scope, normalise(self.text))


def placed(document: Document, items: Iterable[Item]) -> Document:
    """Return *document* with those *items* that it lacks, each pinned that should be.

    `NoteError` for a text that no list item can hold, `FileStateError` where the file cannot take notes.
    """
    document.require_writable()
    wanted = {item.id_in(document.scope): item for item in items}
    missing = [fitted(item) for one, item in wanted.items() if one not in document.notes]
    result = _with_missing(document, missing) if missing else document
    for one, item in wanted.items():
        note = result.notes[one]
        if item.pinned and not note.pinned and note.kind == "item":
            result = result.pinned(note)
    return result


def fitted(item: Item) -> Item:
    """Return *item* as a file can hold it: prose that reads as no block of its own becomes a list item."""
    pinned = item.pinned
    if item.kind == "prose" and not pinned and _stands_alone(item.text):
        return replace(item, section=_titles(item.section))
    render(item.text)  # NoteError, before anything is written
    return Item(item.text, pinned, _titles(item.section))


def _stands_alone(text: str) -> bool:
    blocks = scan(f"{text}\n")
    return len(blocks) == 1 and blocks[0].kind == "prose" and not blocks[0].open


def _titles(section: Path) -> Path:
    """Return the titles that a heading of ours can show."""
    return tuple(title for title in section[:_DEEPEST] if _is_title(title))


def _is_title(title: str) -> bool:
    blocks = scan(f"## {title}\n")
    return len(blocks) == 1 and blocks[0].kind == "heading" and blocks[0].title == title


def _with_missing(document: Document, items: list[Item]) -> Document:
    bare = not document.notes and all(block.kind in {"blank", "heading"} for block in document.blocks)
    whole = bare and not _is_pinned(_open_headings(document))
    for attempt in (items, [replace(item, kind="item") for item in items]):
        result = _written(document, attempt) if whole else _joined(document, attempt)
        if _is_proven(document, result, attempt):
            return result
    raise FileStateError(
        "these notes cannot be added without altering others", where=document.where, hint="add them in an editor"
    )


def _is_proven(before: Document, after: Document, items: Sequence[Item]) -> bool:
    expected = {one: note.pinned for one, note in before.notes.items()}
    expected |= {item.id_in(before.scope): item.pinned for item in items}
    return {one: note.pinned for one, note in after.notes.items()} == expected and all(
        after.notes[item.id_in(before.scope)].kind == item.kind for item in items
    )


# -- a file without notes -------------------------------------------------------------------------------------------


def _written(document: Document, items: Sequence[Item]) -> Document:
    """Write a whole file: what stands under no heading, then the pinned, then the other sections in their order."""
    stack = _open_headings(document)
    sheet = _Sheet(document.newline, stack, last="heading" if stack else "")
    pinned = [item if item.section else replace(item, section=_PINNED_PATH) for item in items if item.pinned]
    others = [item for item in items if not item.pinned]
    first = list(takewhile(lambda item: not item.section, others))
    for item in first:
        sheet.add(item)
    for item in (*pinned, *others[len(first) :]):
        placed_item = item if item.section else replace(item, section=_NO_TITLE)
        sheet.open(placed_item)
        sheet.add(placed_item)
    unfinished = "" if document.text.endswith(("\n", "\r")) or not document.text.strip("\ufeff") else document.newline
    return document.with_text(document.text + unfinished + sheet.text)


class _Sheet:
    """Text under way: what was written last, and the headings above it."""

    def __init__(self, newline: str, stack: Iterable[Heading] = (), *, last: str = "") -> None:
        self.newline = newline
        self.stack = list(stack)
        self.last = last
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        """Return what was written."""
        return "".join(self._lines)

    def open(self, item: Item) -> None:
        """Write the headings that lead to the section of *item*, unless it is open already."""
        for level, title in _headings(self.stack, item):
            self._set_off()
            self._lines.append(f"{'#' * level} {title}".rstrip() + self.newline)
            self.last = "heading"
            self.stack = [one for one in self.stack if one[0] < level] + [(level, title)]

    def add(self, item: Item) -> None:
        """Write one note, set off from what stands before unless both are list items."""
        if item.kind == "item":
            self._write(render(item.text, newline=self.newline), "item")
            return
        kind = "indented" if item.text[:1] in {" ", "\t"} else "prose"
        if kind == "indented" and self.last in {"item", "indented"}:
            self._write(LIST_END + self.newline, "comment")
        self._write(item.text.replace("\n", self.newline) + self.newline, kind)

    def _write(self, chunk: str, kind: str) -> None:
        if not kind == self.last == "item":
            self._set_off()
        self._lines.append(chunk)
        self.last = kind

    def _set_off(self) -> None:
        if self.last:
            self._lines.append(self.newline)


def _headings(stack: Sequence[Heading], item: Item) -> list[Heading]:
    """Return the headings to write below *stack* for *item*; none where its section is open."""
    section = item.section
    if _fits(stack, item):
        return []
    titles = tuple(title for _, title in stack)
    same = 0
    while same < min(len(titles), len(section) - 1) and titles[same] == section[same]:
        same += 1
    for kept, levels in _levels(stack, same, len(section)):
        new = list(zip(levels, section[kept:], strict=True))
        if _fits(_below(stack, new), item):
            return new
    return [(_PINNED_LEVEL, _PINNED_PATH[0])] if item.pinned else [(1, section[0])]


def _levels(stack: Sequence[Heading], same: int, depth: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield how many open headings to keep, and levels for the others: what a person would write first, then all."""
    border = stack[0][0] if stack else _PINNED_LEVEL
    starts = [(same, stack[same - 1][0] + 1)] if same else []
    for kept, level in (*starts, (0, border), (0, _PINNED_LEVEL), (0, 1)):
        yield kept, tuple(range(level, level + depth - kept))
    for kept in range(same, -1, -1):
        for levels in combinations(range(1, _DEEPEST + 1), depth - kept):
            yield kept, levels


def _below(stack: Sequence[Heading], new: Iterable[Heading]) -> list[Heading]:
    """Return the open headings after *new* ones were written below *stack*."""
    walk = list(stack)
    for level, title in new:
        walk = [one for one in walk if one[0] < level] + [(level, title)]
    return walk


def _fits(stack: Sequence[Heading], item: Item) -> bool:
    """Tell whether *item* would stand in its section below these headings, pinned or not (prose never is)."""
    if tuple(title for _, title in stack) != item.section or any(level > _DEEPEST for level, _ in stack):
        return False
    return item.kind != "item" or _is_pinned(stack) == item.pinned


def _open_headings(document: Document) -> list[Heading]:
    """Return the headings above the document's end."""
    return _below((), ((block.level, block.title) for block in document.blocks if block.kind == "heading"))


def _is_pinned(stack: Iterable[Heading]) -> bool:
    """Tell whether what follows these open headings is pinned: the last of the two upper levels decides."""
    upper = [heading for heading in stack if heading[0] <= _PINNED_LEVEL]
    return bool(upper) and upper[-1][0] == _PINNED_LEVEL and upper[-1][1].strip().casefold() == PINNED


# -- a file with notes ----------------------------------------------------------------------------------------------


def _joined(document: Document, items: Sequence[Item]) -> Document:
    """Let each item join its section; sections that are not there come last."""
    pinned = [item for item in items if item.pinned]
    if pinned and not any(note.pinned for note in document.notes.values()):
        start = _appended(document, [Item(pinned[0].text)])
        document = start.pinned(start.notes[pinned[0].id_in(document.scope)])
        items = [item for item in items if item is not pinned[0]]
    ends = _section_ends(document)
    groups: dict[int, list[Item]] = {}
    strangers: list[Item] = []
    for item in items:
        note = ends.get((item.section, item.pinned)) or ends.get((() if item.pinned else item.section, True))
        note = None if note and item.kind == "item" and note.pinned != item.pinned else note
        if note is not None and (item.section or item.pinned):
            groups.setdefault(note.block.end, []).append(item)
        else:
            strangers.append(item)
    text = document.text
    kinds = {note.block.end: note.kind for note in document.notes.values()}
    for offset in sorted(groups, reverse=True):
        text = _inserted(document, text, offset, kinds[offset], groups[offset])
    result = document.with_text(text)
    bare = [item for item in strangers if not item.section]
    if bare:
        result = _appended(result, bare)
    return _extended(result, [item for item in strangers if item.section])


def _section_ends(document: Document) -> dict[tuple[Path, bool], Parsed]:
    """Return the last note of each section; that of the first Pinned section also under no path."""
    ends: dict[tuple[Path, bool], Parsed] = {}
    first: Path | None = None
    for note in document.notes.values():
        if note.block.open:
            continue
        ends[note.section, note.pinned] = note
        if note.pinned and first in {None, note.section}:
            first = note.section
            ends[(), True] = note
    return ends


def _inserted(document: Document, text: str, offset: int, kind: str, items: Sequence[Item]) -> str:
    """Return *text* with *items* after the note of a *kind* that ends at *offset*."""
    newline = document.newline
    sheet = _Sheet(newline, last=kind)
    for item in items:
        sheet.add(item)
    unfinished = "" if text[:offset].endswith(("\n", "\r")) else newline
    after = text[offset:]
    gap = newline if sheet.last != "item" and after and after[0] not in "\r\n" else ""
    return text[:offset] + unfinished + sheet.text + gap + after


def _appended(document: Document, items: Sequence[Item]) -> Document:
    """Return *document* with *items* at the append place."""
    document.require_appendable()
    place = document.place
    sheet = _Sheet(place.newline, last="item" if items[0].kind == "item" else "")
    for item in items:
        sheet.add(item)
    offset = document.character_offset(place.offset)
    before, after = document.text[:offset] + place.prefix, document.text[offset:]
    prose_first = items[0].kind != "item" and before and not before.endswith(place.newline * 2)
    gap = place.newline if sheet.last != "item" and after and after[0] not in "\r\n" else ""
    return document.with_text(before + (place.newline if prose_first else "") + sheet.text + gap + after)


def _extended(document: Document, items: Sequence[Item]) -> Document:
    """Return *document* with new sections for *items* at its end."""
    if not items:
        return document
    if document.blocks and document.blocks[-1].open:
        raise NoteError("the file ends in something that was never closed", where=document.where)
    stack = _open_headings(document)
    newline = document.newline
    last = "" if document.text.endswith(newline * 2) else "heading"
    sheet = _Sheet(newline, stack, last=last)
    for item in items:
        sheet.open(item)
        sheet.add(item)
    unfinished = "" if document.text.endswith(("\n", "\r")) or not document.text else newline
    return document.with_text(document.text + unfinished + sheet.text)
