"""The sections of the block one by one, each cut so that an agent's hook may hand it over whole.

Claude Code cuts what a hook says above 10,000 characters to a preview and puts the rest into a file that no model
reads. So every answer holds at most `LIMIT` of them, measured as the client does: the JSON text, in UTF-16 units.
A section that is longer is not chopped here; it is composed again with a smaller cap of its own, so that it ends as
the block's rules say: at a note, at a line, with the marker.

The whole block in one answer is cut in the block's order (notes, guidance, project, personal), each no further than a
quarter of the room: the 1,000 tokens of `total_token_limit` four times over would not fit.

Standard library only; every prompt waits for this.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from memory_magic.errors import MemoryMagicError
from memory_magic.prompt.compose import BETWEEN, CUT_ORDER, Ingredients, compose
from memory_magic.prompt.notes import Listed
from memory_magic.prompt.records import GUIDANCE, NOTES, NOTHING, PERSONAL, PROJECT, Block
from memory_magic.prompt.sources import gather
from memory_magic.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory_magic.prompt.notes import Heads
    from memory_magic.prompt.place import Place
    from memory_magic.prompt.sources import Closing
    from memory_magic.settings import Settings
    from memory_magic.store.records import Note
    from memory_magic.store.store import Store

SECTIONS: Final = (PERSONAL, PROJECT, GUIDANCE, NOTES)
LIMIT: Final = 9_500
"""Characters of one answer; the client cuts above 10,000."""

_AROUND: Final = 200  # the JSON around the text, and a sentence before it
_LARGEST_PLAIN: Final = 0xFFFF
_ROUNDS: Final = 40


class TooLateError(Exception):
    """The time that a hook may take is over."""


class Caps(NamedTuple):
    """The caps of the sections, as `compose` asks for them."""

    personal_bytes: int
    project_bytes: int
    summary_injection_token_limit: int
    notes_entries: int
    notes_characters: int
    total_token_limit: int | None = None


_CAP_OF: Final = {
    PERSONAL: "personal_bytes",
    PROJECT: "project_bytes",
    GUIDANCE: "summary_injection_token_limit",
    NOTES: "notes_characters",
}


def caps_of(settings: Settings) -> Caps:
    """Return the caps of *settings*, without the one on the whole."""
    return Caps(
        settings.personal_bytes,
        settings.project_bytes,
        settings.summary_injection_token_limit,
        settings.notes_entries,
        settings.notes_characters,
    )


class Made(NamedTuple):
    """Sections by name, each as a block of its own; *trouble* says what could not be read."""

    blocks: dict[str, Block]
    notes: dict[str, Note]
    trouble: Exception | None = None
    heads: Heads | None = None


class _NoNotes:
    """Stands for a store where no notes are wanted, or where none can be read."""

    def list(self) -> list[Note]:
        """Return no note."""
        return []


def length(text: str) -> int:
    """Return how long *text* is in an answer: as JSON, in UTF-16 units."""
    body = json.dumps(text, ensure_ascii=False)
    return len(body) - 2 + (0 if body.isascii() else sum(ord(char) > _LARGEST_PLAIN for char in body))


def sections(place: Place, wanted: tuple[str, ...], *, limit: int = LIMIT) -> tuple[Made, Closing]:
    """Return the *wanted* sections of the block at *place*, together within *limit*; close what comes with them."""
    caps = caps_of(place.settings)
    needs_notes = NOTES in wanted or place.settings.total_token_limit is not None
    made_of, closing, trouble = _read(place, notes=needs_notes)
    try:
        if place.settings.total_token_limit is not None:
            caps = _within_total(made_of, place.settings, caps)
        blocks = {name: _one(made_of, name, caps) for name in wanted}
        room = limit - _AROUND
        for name, most in _rooms(blocks, room).items():
            blocks[name] = _within(made_of, name, caps, blocks[name], most)
        notes = _notes(made_of.heads, blocks[NOTES]) if NOTES in blocks else {}
    except BaseException:
        closing.close()
        raise
    return Made(blocks, notes, trouble, made_of.heads), closing


def _read(place: Place, *, notes: bool) -> tuple[Ingredients, Closing, Exception | None]:
    """Read the files, and the notes if they are asked for and can be had."""
    trouble: Exception | None = None
    if notes:
        try:
            return (*gather(place), None)
        except (MemoryMagicError, OSError, TooLateError) as error:
            trouble = error
    # a damaged or locked store takes the notes only: the files are given all the same
    made_of, closing = gather(place, cast("Store", _NoNotes()))
    return made_of._replace(heads=Listed([])), closing, trouble


def _only(made_of: Ingredients, name: str) -> Ingredients:
    """Return the ingredients of one section alone."""
    if name == NOTES:
        return Ingredients(heads=made_of.heads)
    if name == PERSONAL:
        return Ingredients(heads=Listed([]), personal=made_of.personal)
    if name == PROJECT:
        return Ingredients(heads=Listed([]), project=made_of.project, project_name=made_of.project_name)
    return Ingredients(heads=Listed([]), template=made_of.template, summaries=made_of.summaries)


def _one(made_of: Ingredients, name: str, caps: Caps) -> Block:
    made = compose(_only(made_of, name), caps)
    return Block(made.text, made.report._replace(sections=tuple(s for s in made.report.sections if s.name == name)))


def _within_total(made_of: Ingredients, settings: Settings, caps: Caps) -> Caps:
    """Return the caps that the sections have once the whole block keeps to `total_token_limit`."""
    whole = compose(made_of, settings)
    used = {section.name: _used(section) for section in whole.report.sections}
    changed = {field: min(getattr(caps, field), used.get(name, 0)) for name, field in _CAP_OF.items()}
    return caps._replace(**changed)


def _used(section: Any) -> int:
    """Return what a section used of the cap that `_CAP_OF` names for it."""
    uses = [section, *([section.other] if section.other else [])]
    return int(next((use.used for use in uses if use.unit != "entries"), 0))


def _rooms(blocks: dict[str, Block], room: int) -> dict[str, int]:
    """Return how long each section may be that has to be cut."""
    sizes = {name: length(made.text) for name, made in blocks.items() if made.text}
    over = sum(sizes.values()) + length(BETWEEN) * max(0, len(sizes) - 1) - room
    share = (room - length(BETWEEN) * (len(SECTIONS) - 1)) // max(1, len(blocks))
    rooms: dict[str, int] = {}
    for name in CUT_ORDER:
        if over > 0 and sizes.get(name, 0) > share:
            less = min(over, sizes[name] - share)
            rooms[name] = sizes[name] - less
            over -= less
    return rooms


def _within(made_of: Ingredients, name: str, caps: Caps, made: Block, most: int) -> Block:
    """Return a section of at most *most* characters."""
    field = _CAP_OF[name]
    for _ in range(_ROUNDS):
        size = length(made.text)
        if size <= most:
            return made
        cap = min(getattr(caps, field), _used(made.report.sections[0]) if made.report.sections else 0)
        caps = caps._replace(**{field: max(0, min(cap - 1, cap * most // size))})
        made = _one(made_of, name, caps)
    return NOTHING if length(made.text) > most else made


def _notes(heads: Heads, made: Block) -> dict[str, Note]:
    """Return the notes that stand in the notes' section, by id."""
    inside = {one for section in made.report.sections for one in section.entries}
    if not inside:
        return {}
    limit = len(inside) * 2
    while True:
        found = {note.id: note for head in heads.first(limit) for note in head.notes}
        if inside <= found.keys() or limit > len(found) * 2:
            return {one: note for one, note in found.items() if one in inside}
        limit *= 4


def notes_block(notes: Iterable[Note], heads: Heads, settings: Settings, most: int) -> Block:
    """Return a notes' section of these notes alone, which were let through before."""
    listed = Listed(notes, short_id=heads.short_id, approved=lambda _: True)
    made_of = Ingredients(heads=listed)
    caps = caps_of(settings)
    return _within(made_of, NOTES, caps, _one(made_of, NOTES, caps), most)


def joined(blocks: Iterable[Block]) -> Block:
    """Return several sections as one block."""
    there = [made for made in blocks if made.text]
    text = BETWEEN.join(made.text for made in there)
    accounts = tuple(section for made in there for section in made.report.sections)
    return Block(text, NOTHING.report._replace(tokens=tokens.estimate(text), sections=accounts))
