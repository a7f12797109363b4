"""The state of everything that a block is made of, as one hash: the block of an unchanged memory is not made again.

A hook is a new process for every prompt, and most prompts find memory as the one before left it. Each line of the
ledger that was written for a settled state names it (among the files of the notes' section, as `state`); where the
newest lines of this directory name the present state, the block that they name is the block. It is told by its hash
that its bytes are the ones that were made then.

The state covers the signatures of all files, settings, scopes, place, and the code that makes blocks: an update makes
them anew. A file that changed within two seconds has no state yet.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memory_magic.prompt import place as places
from memory_magic.prompt.records import (
    GUIDANCE,
    NOTES,
    PERSONAL,
    PROJECT,
    RELEVANT,
    Block,
    Dropped,
    FileSeen,
    Report,
    Section,
)
from memory_magic.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memory_magic.prompt.ledger_lines import Line
    from memory_magic.prompt.place import Place

STATE: Final = "state"
LOOKED_AT: Final = 8
"""Lines of the ledger that are looked at: several assistants and directories may take turns."""

_UNITS: Final = {PERSONAL: "bytes", PROJECT: "bytes", GUIDANCE: "tokens"}


def state_of(place: Place) -> str:
    """Return the hash of the present state, empty while something changed too recently to be sure."""
    names = places.paths(place)
    seen = places.look(names)
    if not seen.settled:
        return ""
    scopes = tuple(scope.id for scope in place.scopes)
    what = (names, seen.signatures, scopes, place.cwd, str(place.project), repr(place.settings), _code())
    return hashlib.sha256(repr(what).encode("utf-8", "surrogateescape")).hexdigest()


@cache
def _code() -> str:
    """Return a text that changes when the code that makes blocks does."""
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 -- on every prompt
    found = []
    for folder in (here, os.path.join(os.path.dirname(here), "text")):  # noqa: PTH118, PTH120
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".md")):
                    status = entry.stat()
                    found.append((entry.name, status.st_size, status.st_mtime_ns))
    return repr(sorted(found))


class Recorded(NamedTuple):
    """A block out of the ledger, and the journal's head then: number and 16 digits of the chain."""

    block: Block
    head: tuple[int, str]


def recorded(place: Place, state: str) -> Recorded | None:
    """Return the block that was injected at *place* in this very state, or None."""
    from memory_magic.prompt.ledger import Ledger
    from memory_magic.prompt.ledger_lines import INJECTED, clean

    ledger, cwd = Ledger(place.root), clean(place.cwd)
    for line in islice(ledger.lines(), LOOKED_AT):
        if line.kind == INJECTED and line.block and line.cwd == cwd and state in _states(line):
            text = ledger.block(line.block)
            return None if text is None else Recorded(block_of(line, text), line.head)
    return None


def _states(line: Line) -> Iterable[str]:
    return (
        one["sha256"]
        for section in line.sections
        if section["name"] == NOTES
        for one in section.get("files", ())
        if one["name"] == STATE
    )


def marked(made: Block, state: str) -> Block:
    """Return the block with its state in the account, for the ledger."""
    sections = tuple(
        one._replace(files=(*_others(one.files), FileSeen(STATE, state))) if one.name == NOTES else one
        for one in made.report.sections
    )
    return Block(made.text, Report(made.report.tokens, sections, made.report.frozen))


def block_of(line: Line, text: str, *, frozen: bool = False) -> Block:
    """Return a block as the ledger tells of it; hits of a search are no part of it."""
    sections = tuple(_section(one) for one in line.sections if one["name"] != RELEVANT)
    return Block(text, Report(tokens.estimate(text), sections, frozen))


def _section(one: Mapping[str, Any]) -> Section:
    lost = one.get("dropped", len(one["omitted"]))
    return Section(
        name=one["name"],
        cap=one["cap"],
        used=one["used"],
        unit=one["unit"],
        entries=tuple(one["entries"]),
        omitted=tuple(one["omitted"]),
        truncated=bool(lost),
        dropped=Dropped(lost, _UNITS.get(one["name"], "notes")),
        files=_others(FileSeen(**seen) for seen in one.get("files", ())),
    )


def _others(files: Iterable[FileSeen]) -> tuple[FileSeen, ...]:
    return tuple(seen for seen in files if seen.name != STATE)
