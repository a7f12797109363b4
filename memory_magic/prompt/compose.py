"""The block out of its ingredients: a pure function, the same for hook, magics, dashboard and export.

    # Memory (personal)     as the capsule has it, to the byte: heading, text as it stands, bare marker when cut
    # Memory (project)
    # Memory Guidance       rules and consolidated summaries
    <native_memory_recall>  notes

in this order, each left out when empty, a blank line between them. Each part holds its own cap, so that none squeezes
another. Only `total_token_limit` looks at the whole: it cuts notes, guidance, project, personal in this order, each
down to 1,000 tokens, and where that is not enough in the same order down to nothing: a limit is a limit.

Invariants: no clock value, place or line number enters, so equal ingredients give equal bytes in every process and
locale; text of any file stands in the block only cleaned, cut and escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from memory_magic.prompt.guidance import HEADING, Summary, Template, guidance_part
from memory_magic.prompt.memory_files import ABSENT, Head, clean, escaped_within
from memory_magic.prompt.notes import Heads, NotesSettings, notes_part, screened
from memory_magic.prompt.records import (
    GUIDANCE,
    NOTES,
    PERSONAL,
    PROJECT,
    Block,
    Dropped,
    FileSeen,
    Part,
    Report,
    Section,
)
from memory_magic.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from memory_magic.prompt.memory_files import Clean

    Maker = Callable[[int | None], Part]

TITLES: Final = {PERSONAL: "# Memory (personal)", PROJECT: "# Memory (project)"}
MARKER: Final = "\n\n[Memory truncated]"
CUT_ORDER: Final = (NOTES, GUIDANCE, PROJECT, PERSONAL)
FLOOR_TOKENS: Final = 1_000
BETWEEN: Final = "\n\n"
NO_ROOM: Final = "no room"


class BlockSettings(NotesSettings, Protocol):
    """The settings that shape a block."""

    @property
    def personal_bytes(self) -> int:
        """Most bytes of the personal memory file."""

    @property
    def project_bytes(self) -> int:
        """Most bytes of the project memory file."""

    @property
    def summary_injection_token_limit(self) -> int:
        """Most tokens of the summaries together."""

    @property
    def total_token_limit(self) -> int | None:
        """Most tokens of the whole, None for no limit."""


class Ingredients(NamedTuple):
    """All that a block is made of. *project_name* is what the report calls the project's file."""

    heads: Heads
    personal: Head = ABSENT
    project: Head = ABSENT
    project_name: str = "memory.md"
    template: Template = Template("", "")
    summaries: tuple[Summary, ...] = ()


def compose(made_of: Ingredients, settings: BlockSettings) -> Block:
    """Return the block for these ingredients, within the caps of *settings*."""
    makers = _makers(made_of, settings)
    parts = {name: make(None) for name, make in makers.items()}
    if settings.total_token_limit is not None:
        _fit(parts, makers, settings.total_token_limit * tokens.BYTES_PER_TOKEN)
    text = joined(part.text for part in parts.values())
    sections = tuple(part.section for name, part in parts.items() if name == NOTES or _is_told(part.section))
    return Block(text, Report(tokens.estimate(text), sections))


def joined(texts: Iterable[str]) -> str:
    """Return the texts that are not empty with a blank line between them."""
    return BETWEEN.join(text for text in texts if text)


def _is_told(section: Section) -> bool:
    """Tell whether there is anything to say of a section: an absent file is no news."""
    return bool(section.used or section.reasons or section.dropped.count)


def _makers(made_of: Ingredients, settings: BlockSettings) -> dict[str, Maker]:
    """Return what makes each part, in the order of the block: asked for at most so many bytes, None for its own cap."""
    personal = _file_maker(PERSONAL, made_of.personal, "memory.md", settings.personal_bytes)
    project = _file_maker(PROJECT, made_of.project, made_of.project_name, settings.project_bytes)
    guidance = _guidance_maker(made_of, settings.summary_injection_token_limit)
    return {PERSONAL: personal, PROJECT: project, GUIDANCE: guidance, NOTES: _notes_maker(made_of.heads, settings)}


def _fit(parts: dict[str, Part], makers: dict[str, Maker], most: int) -> None:
    """Cut *parts* until the whole has at most *most* bytes."""
    for floor in (FLOOR_TOKENS * tokens.BYTES_PER_TOKEN, 0):
        for name in CUT_ORDER:
            over = len(joined(part.text for part in parts.values()).encode()) - most
            size = len(parts[name].text.encode())
            if over > 0 and size > floor:
                parts[name] = makers[name](max(floor, size - over))


def _file_maker(name: str, head: Head, shown_name: str, cap: int) -> Maker:
    """Return what makes the section of a memory file; its text is cleaned once."""
    cleaned = clean(head)
    around = len(TITLES[name]) + len(BETWEEN) + len(MARKER)

    def make(room: int | None) -> Part:
        return _file_part(name, head, cleaned, shown_name, cap if room is None else max(0, min(cap, room - around)))

    return make


def _file_part(name: str, head: Head, cleaned: Clean, shown_name: str, cap: int) -> Part:
    """Return the section of a memory file with at most *cap* bytes of it; heading and marker come on top."""
    kept, lost = escaped_within(cleaned.text, cap)
    lost += cleaned.beyond
    text = f"{TITLES[name]}{BETWEEN}{kept}{MARKER if lost else ''}" if kept else ""
    trouble = head.trouble or (NO_ROOM if cleaned.text and not kept else "")
    section = Section(
        name=name,
        cap=cap,
        used=len(kept.encode()),
        unit="bytes",
        truncated=bool(lost),
        reasons={shown_name: trouble} if trouble else {},
        redacted=dict(sorted(cleaned.kinds.items())),
        dropped=Dropped(lost, "bytes"),
        files=(FileSeen(shown_name, head.sha256, head.size, head.trouble),),
    )
    return Part(text, section)


def _guidance_maker(made_of: Ingredients, limit: int) -> Maker:
    """Return what makes the guidance; its rules stand whole or not at all."""
    template, summaries = made_of.template, made_of.summaries
    texts = (HEADING, template.before, template.after)
    around = sum(len(text.encode()) + len(BETWEEN) for text in texts if text)

    def make(room: int | None) -> Part:
        tighter = limit if room is None else max(0, min(limit, (room - around) // tokens.BYTES_PER_TOKEN))
        return guidance_part(template, summaries, tighter)

    return make


class _Caps(NamedTuple):
    notes_entries: int
    notes_characters: int


def _notes_maker(heads: Heads, settings: NotesSettings) -> Maker:
    """Return what makes the notes; each is rendered once, however often the room shrinks."""
    rendered = screened(heads)

    def make(room: int | None) -> Part:
        part = notes_part(heads, rendered, settings)
        characters = settings.notes_characters
        while room is not None and (size := len(part.text.encode())) > room:
            # characters have one to four bytes: what is too much by bytes shrinks in proportion
            characters = min(characters - 1, len(part.text) * room // size)
            part = notes_part(heads, rendered, _Caps(settings.notes_entries, characters))
        return part

    return make
