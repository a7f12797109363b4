"""What a session of an agent has been told, and what is new since: both read from the ledger.

A hook is a new process for every prompt and keeps nothing. What a session has had stands in the ledger's lines of its
session id: each line of ours names, among the files of a section, the hash of that section's whole text as it stood
then (`TOLD`) and the state of the files that it came from (`STATE`). So

- a section without such a line has not been told: it is told whole;
- one whose state is the present one needs no look at memory at all;
- a memory file or a summary that reads otherwise is told again, as the one that replaces the other;
- of the notes only the new ones are told, and the ids of those that hold no longer. A line's `entries` are the notes
  that the session holds after it: a note's id is made of its text, so that an equal id is an equal note.

Only lines of the same scopes count: a session that moves to another repository is told that one's memory whole, and
nothing of the first is named there. A line that a purge rewrote ends what came before it: nobody can tell any more
what was said. Standard library only.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic.assistants import hook_sections
from memory_magic.errors import MemoryMagicError, NoSuchNoteError
from memory_magic.prompt import place as places
from memory_magic.prompt.compose import BETWEEN, TITLES
from memory_magic.prompt.guidance import HEADING
from memory_magic.prompt.records import GUIDANCE, NOTES, PERSONAL, PROJECT, Block, FileSeen
from memory_magic.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from memory_magic.prompt.ledger_lines import Line
    from memory_magic.prompt.place import Place

TOLD: Final = "told"
STATE: Final = "hook state"
_FORMAT: Final = 1
_DAYS: Final = 30
_IDS_NAMED: Final = 64
_SHOWN: Final = 10

_REPLACED: Final = "(Memory changed during this conversation. What follows replaces the section told before.)"
_EMPTY: Final = (
    "(Memory changed during this conversation: the section {!r} told before is empty now and holds no more.)"
)
_NEW: Final = "(Memory changed during this conversation. These notes are new.)"
_GONE: Final = "(Memory changed during this conversation. Of the notes told before, these hold no more: {}.)"


class Had(NamedTuple):
    """What a session was told of one section last: hash of its text, state of its files, notes that it holds."""

    sha256: str
    state: str
    entries: tuple[str, ...]


def had(place: Place, assistant: str, conversation: str, wanted: Iterable[str]) -> dict[str, Had]:
    """Return what this session was told of the *wanted* sections, newest first found."""
    import time

    from memory_magic.prompt.ledger import Ledger
    from memory_magic.prompt.ledger_lines import INJECTED, clean, iso

    missing = set(wanted)
    found: dict[str, Had] = {}
    if not conversation:
        return found
    scopes = tuple(scope.id for scope in place.scopes)
    since = iso(time.time() - _DAYS * 86_400)
    for line in Ledger(place.root).lines(since=since, conversation=clean(conversation), assistant=assistant):
        if line.kind != INJECTED or line.scopes != scopes:
            continue
        if line.purged or not missing:
            break
        for name, one in _told(line).items():
            if name in missing:
                found[name] = one
                missing.discard(name)
    return found


def _told(line: Line) -> dict[str, Had]:
    found = {}
    for section in line.sections:
        marks = {one["name"]: one["sha256"] for one in section.get("files", ())}
        if TOLD in marks:
            found[section["name"]] = Had(marks[TOLD], marks.get(STATE, ""), tuple(section["entries"]))
    return found


def state_of(place: Place, name: str) -> str:
    """Return the hash of the state of all that a section comes from, empty while something changed a moment ago."""
    names = _paths(place, name)
    seen = places.look(names)
    if not seen.settled:
        return ""
    scopes = tuple(scope.id for scope in place.scopes)
    what = (_FORMAT, name, names, seen.signatures, scopes, repr(place.settings))
    return hashlib.sha256(repr(what).encode("utf-8", "surrogateescape")).hexdigest()


def _paths(place: Place, name: str) -> tuple[str, ...]:
    if place.settings.total_token_limit is not None:
        return places.paths(place)  # then each section depends on all
    personal = f"{place.root}/{places.PERSONAL_FILE}"
    if name == PERSONAL:
        return (personal,)
    if name == PROJECT:
        return (places.project_path(place), personal)
    if name == GUIDANCE:
        return (f"{place.root}/{places.OVERRIDE}", *(one.path for one in places.summary_places(place)))
    memory = (str(scope.memory_file) for scope in place.scopes)
    return (f"{place.root}/{places.TOMBSTONES}", f"{place.root}/JOURNAL.md", *memory)


def marked(made: Block, name: str, text: str, state: str, entries: Sequence[str] | None = None) -> Block:
    """Return a section's block with the hash of its whole *text* and its *state* in the account, for the ledger."""
    marks = [FileSeen(TOLD, _hash(text), len(text.encode()))]
    marks += [FileSeen(STATE, state)] if state else []
    sections = tuple(
        one._replace(
            files=(*(seen for seen in one.files if seen.name not in {TOLD, STATE}), *marks),
            entries=one.entries if entries is None else tuple(entries),
        )
        if one.name == name
        else one
        for one in made.report.sections
    )
    return Block(made.text, made.report._replace(sections=sections))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def changed(place: Place, name: str, made: hook_sections.Made, before: Had, state: str) -> Block | None:
    """Return what a session must be told of a section that it had *before*, None where nothing is new."""
    now = made.blocks[name]
    if _hash(now.text) == before.sha256:
        return None
    if name == NOTES:
        return _changed_notes(place, made, before, state)
    if not now.text:
        title = {GUIDANCE: HEADING, **TITLES}[name]
        return marked(_with_text(now, _EMPTY.format(title), name), name, "", state)
    return marked(_with_text(now, f"{_REPLACED}{BETWEEN}{now.text}", name), name, now.text, state)


def _with_text(made: Block, text: str, name: str) -> Block:
    """Return a block with another text; where its section says nothing it is named all the same."""
    from memory_magic.prompt.records import Section

    sections = made.report.sections or (Section(name, 0, 0, "bytes"),)
    return Block(text, made.report._replace(tokens=tokens.estimate(text), sections=sections))


def _changed_notes(place: Place, made: hook_sections.Made, before: Had, state: str) -> Block | None:
    now = made.blocks[NOTES]
    inside = tuple(one for section in now.report.sections for one in section.entries)
    omitted = {one for section in now.report.sections for one in section.omitted}
    new = [made.notes[one] for one in inside if one not in before.entries and one in made.notes]
    gone = _gone(place, [one for one in before.entries if one not in inside and one not in omitted])
    if made.heads is None or not (new or gone):
        return None
    parts = []
    if gone:
        named = [f"{one[:_SHOWN]}{f' (now {later[:_SHOWN]})' if later else ''}" for one, later in gone.items()]
        more = f" and {len(named) - _IDS_NAMED} more" if len(named) > _IDS_NAMED else ""
        parts.append(_GONE.format(", ".join(named[:_IDS_NAMED]) + more))
    told = now
    if new:
        parts.append(_NEW)
        room = hook_sections.LIMIT - hook_sections.length(BETWEEN.join(parts)) - 4 * hook_sections.length(BETWEEN) - 200
        told = hook_sections.notes_block(new, made.heads, place.settings, room)
        parts.append(told.text)
    told_ids = {one for section in told.report.sections for one in section.entries}
    kept = [one for one in before.entries if one not in gone]
    holds = [*(one for one in inside if one in told_ids and one not in kept), *kept]
    block = _with_text(told if new else now, BETWEEN.join(parts), NOTES)
    return marked(block, NOTES, now.text, state, holds)


def _gone(place: Place, candidates: Sequence[str]) -> Mapping[str, str]:
    """Return those of *candidates* that are no live notes any more, with the id of what replaced each, or nothing.

    A store that cannot be asked names none: silence is better than a note that is said to be gone and is not.
    """
    if not candidates:
        return {}
    from memory_magic.store.store import Store

    found: dict[str, str] = {}
    try:
        with Store(place.root, place.cwd, read_only=True) as store:
            for one in candidates:
                try:
                    later = store.get(one).id
                except NoSuchNoteError:
                    found[one] = ""
                else:
                    if later != one:
                        found[one] = later
    except (MemoryMagicError, OSError):
        return {}
    return found
