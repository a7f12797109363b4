"""What a block is and what it cost: records of plain values, the same for hook, magics, dashboard, ledger and tests.

Named tuples, where a frozen dataclass takes four times as long to define: every prompt of a hook waits for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memory_magic.text.budget import Use

PERSONAL: Final = "personal"
PROJECT: Final = "project"
GUIDANCE: Final = "guidance"
NOTES: Final = "notes"
RELEVANT: Final = "relevant"


@dataclass(frozen=True, slots=True)
class Dropped:
    """How much did not go in: so many notes, bytes or tokens; *at_least* where nobody counted to the end."""

    count: int = 0
    unit: str = ""
    at_least: bool = False

    def as_json(self) -> dict[str, object]:
        """Return it under the keys of `view --json`."""
        return {"count": self.count, "unit": self.unit, "at_least": self.at_least}


NOTHING_DROPPED: Final = Dropped()
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class FileSeen(NamedTuple):
    """A file that a section comes from, by a name without its place: *sha256* of what was read of its *size* bytes.

    *trouble* says in words why it is left out.
    """

    name: str
    sha256: str = ""
    size: int = 0
    trouble: str = ""


class Section(NamedTuple):
    """One part of the block and what it used of its budget.

    *cap*, *used*, *unit* are of the cap that is fuller. *entries* are the ids of the notes inside, in order, or the
    names of the summaries. *omitted* names what is left out, nearest first; of a large store only the first ones,
    *dropped* counts all. *reasons* says why something is left out, if not for its age; *redacted* counts the secrets
    that were taken out, by kind (`secret` where a note held the marker already).
    """

    name: str
    cap: int
    used: int
    unit: str
    entries: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    truncated: bool = False
    other: Use | None = None
    reasons: Mapping[str, str] = _NONE
    redacted: Mapping[str, int] = _NONE
    dropped: Dropped = NOTHING_DROPPED
    files: tuple[FileSeen, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the section under the keys of `view --json`."""
        return {
            "name": self.name,
            "cap": self.cap,
            "used": self.used,
            "unit": self.unit,
            "entries": list(self.entries),
            "omitted": list(self.omitted),
            "reasons": dict(self.reasons),
            "redacted": dict(self.redacted),
            "truncated": self.truncated,
            "other": self.other.as_json() if self.other else None,
            "dropped": self.dropped.as_json(),
            "files": [one._asdict() for one in self.files],
        }


class Report(NamedTuple):
    """What the block costs, section by section; *frozen*: it is the one that this conversation was given before."""

    tokens: int
    sections: tuple[Section, ...]
    frozen: bool = False


class Block(NamedTuple):
    """The bytes an assistant gets (as text; empty when there is nothing to say) and the account of them."""

    text: str
    report: Report

    def as_json(self) -> dict[str, object]:
        """Return block and report under the keys of `view --json`."""
        return {
            "block": self.text,
            "tokens": self.report.tokens,
            "sections": [section.as_json() for section in self.report.sections],
        }


NOTHING: Final = Block("", Report(0, ()))


class Part(NamedTuple):
    """One section as text (empty: it is left out) and its account."""

    text: str
    section: Section
