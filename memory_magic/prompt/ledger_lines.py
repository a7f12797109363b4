"""One line of the ledger: what it holds, how it is made of a block, how it is read back, and who may see it.

Format 1, 2026-12: `{"time", "kind", "assistant", "conversation", "notebook", "cwd", "scopes", "sections": [{"name",
"cap", "used", "unit", "entries", "omitted", "dropped"?, "files"?}], "block", "head": {"n", "chain"}, "purged"?}`;
`time` stands first (`store.ledger_files.START`), `chain` has 16 digits. Of the ids that were left out the first
`OMITTED` are kept, `dropped` counts all where there were more: the journal's head tells what else there was.

Every text that somebody else made (directory, notebook, conversation, names) passes `clean`. Pure; standard library.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

INJECTED, WRITTEN, CITED = "injected", "written", "cited"
KINDS: Final = (INJECTED, WRITTEN, CITED)
GLOBAL: Final = "global"
OMITTED: Final = 256
LONGEST: Final = 1_000
"""Characters that are kept of a directory, a notebook, a conversation."""

_OURS: Final = re.compile(r"[0-9a-hjkmnp-tv-z]{26}|global|workspace/[0-9a-f]{64}|unscoped/[0-9a-f]{16}|[a-z]{1,12}")


class SectionLike(Protocol):
    """What a line keeps of a section of a block."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def cap(self) -> int:
        """Its budget."""

    @property
    def used(self) -> int:
        """What it took of that."""

    @property
    def unit(self) -> str:
        """What both are counted in."""

    @property
    def entries(self) -> Sequence[str]:
        """The ids that are inside."""

    @property
    def omitted(self) -> Sequence[str]:
        """The ids that were left out."""


class ReportLike(Protocol):
    """The account of a block."""

    @property
    def sections(self) -> Sequence[SectionLike]:
        """The account, section by section."""


class BlockLike(Protocol):
    """A block as `prompt.block` makes it."""

    @property
    def text(self) -> str:
        """What the assistant gets."""

    @property
    def report(self) -> ReportLike:
        """What it cost."""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the ledger. *block* is a hash, None where nothing was handed out; *head*: number and 16 digits."""

    time: str
    kind: str
    assistant: str
    conversation: str | None
    notebook: str | None
    cwd: str
    scopes: tuple[str, ...]
    sections: tuple[dict[str, Any], ...]
    block: str | None
    head: tuple[int, str]
    purged: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the line under the keys of `ledger --json`."""
        found: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        found["scopes"], found["sections"] = list(self.scopes), list(self.sections)
        found["head"] = {"n": self.head[0], "chain": self.head[1]}
        if not self.purged:
            del found["purged"]
        return found


@dataclass(frozen=True, slots=True)
class View:
    """From where the ledger is looked at: what concerns another repository or directory is not seen.

    Seen are the lines whose workspaces are all among *scopes*; a line of global memory alone only in its directory.
    """

    scopes: frozenset[str]
    cwd: str

    @classmethod
    def of(cls, scopes: Iterable[str], cwd: Path | str) -> View:
        """Return the view from directory *cwd*, which sees *scopes*."""
        return cls(frozenset(scopes), clean(str(cwd)))

    def shows(self, line: Line) -> bool:
        """Tell whether *line* may be shown here."""
        own = {scope for scope in line.scopes if scope != GLOBAL}
        return own <= self.scopes if own else line.cwd == self.cwd


def clean(text: str) -> str:
    """Return *text* as it goes into a line: without secrets, not longer than `LONGEST`."""
    if _OURS.fullmatch(text):
        return text
    from memory_magic.text.redact import redact

    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return redact(short.encode("utf-8", "replace").decode()).text  # a name on disk may be no text


def iso(moment: float) -> str:
    """Return a moment as lines write it: UTC with microseconds."""
    seconds, micro = divmod(int(moment * 1_000_000), 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{micro:06}Z"


def section_of(section: SectionLike) -> dict[str, Any]:
    """Return what a line keeps of a section."""
    omitted = section.omitted
    found: dict[str, Any] = {
        "name": clean(section.name),
        "cap": section.cap,
        "used": section.used,
        "unit": clean(section.unit),
        "entries": [clean(str(one)) for one in section.entries],
        "omitted": [clean(str(one)) for one in omitted[:OMITTED]],
    }
    dropped = max(len(omitted), getattr(getattr(section, "dropped", None), "count", 0))
    if dropped > len(found["omitted"]):
        found["dropped"] = dropped
    seen = [one for one in getattr(section, "files", ()) if one.sha256]
    if seen:
        found["files"] = [{"name": clean(one.name), "sha256": one.sha256, "size": one.size} for one in seen]
    return found


def parse(raw: bytes) -> Line | None:
    """Return the line that some bytes hold, or None for what is no line of ours."""
    try:
        found = json.loads(raw)
        return _line(found) if isinstance(found, dict) else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _line(found: dict[str, Any]) -> Line:
    head = found["head"]
    line = Line(
        time=_text(found["time"]),
        kind=_text(found["kind"]),
        assistant=_text(found["assistant"]),
        conversation=_text_or_none(found["conversation"]),
        notebook=_text_or_none(found["notebook"]),
        cwd=_text(found["cwd"]),
        scopes=tuple(_texts(found["scopes"])),
        sections=tuple(_read_section(one) for one in found["sections"]),
        block=_text_or_none(found["block"]),
        head=(_number(head["n"]), _text(head["chain"])),
        purged=found.get("purged") is True,
    )
    if line.kind not in KINDS:
        raise ValueError(line.kind)
    return line


def _read_section(found: dict[str, Any]) -> dict[str, Any]:
    section: dict[str, Any] = {
        "name": _text(found["name"]),
        "cap": _number(found["cap"]),
        "used": _number(found["used"]),
        "unit": _text(found["unit"]),
        "entries": _texts(found["entries"]),
        "omitted": _texts(found["omitted"]),
    }
    if "dropped" in found:
        section["dropped"] = _number(found["dropped"])
    if "files" in found:
        section["files"] = [
            {"name": _text(one["name"]), "sha256": _text(one["sha256"]), "size": _number(one["size"])}
            for one in found["files"]
        ]
    return section


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(type(value).__name__)
    return value


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise TypeError(type(value).__name__)
    return [_text(one) for one in value]
