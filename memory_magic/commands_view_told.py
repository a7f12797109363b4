"""What changed since an assistant was told last: the newest injection that may be seen from here, against a new block.

The ledger is only read. Of the lines that may be seen here (`prompt.ledger.View`) the newest of this very directory
counts; where it has none, the newest of the same repository, and that is said. Both texts are compared without what a
search for one prompt appended. A block whose text was purged or is not kept any more is not compared, and that is said.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memory_magic.commands_notes import redacted

if TYPE_CHECKING:
    from memory_magic.prompt.ledger import Ledger, Line
    from memory_magic.prompt.place import Place
    from memory_magic.store.store import Store

NEVER, SAME, CHANGED, PURGED, GONE = "never", "same", "changed", "purged", "gone"
CONTEXT: Final = 1
_LOOKED_AT: Final = 2_000
"""Lines of other directories of a repository that are passed over in the search for one of this."""


@dataclass(frozen=True, slots=True)
class Told:
    """The last injection and how a new block differs: *state* is never, same, changed, purged or gone.

    *difference* is a unified diff; *elsewhere*: told in another directory of the repository; *keeps*: the conversation
    goes on with its old block.
    """

    state: str = NEVER
    time: str = ""
    assistant: str = ""
    conversation: str | None = None
    notebook: str | None = None
    cwd: str = ""
    block: str | None = None
    difference: str = ""
    elsewhere: bool = False
    keeps: bool = False

    @property
    def lines(self) -> list[str]:
        """Return the lines of the difference, without the two that name both sides."""
        return self.difference.split("\n")[2:] if self.difference else []

    @property
    def counts(self) -> tuple[int, int]:
        """Return how many lines came and went."""
        return sum(line[:1] == "+" for line in self.lines), sum(line[:1] == "-" for line in self.lines)

    def as_json(self) -> dict[str, Any] | None:
        """Return it under the keys of `view --diff --json`; None where nobody was told anything yet."""
        if self.state == NEVER:
            return None
        return {
            "state": self.state,
            "time": self.time,
            "assistant": self.assistant,
            "conversation": self.conversation,
            "notebook": self.notebook,
            "cwd": self.cwd,
            "block": self.block,
            "difference": self.difference if self.state in {SAME, CHANGED} else None,
        }


def told(store: Store, text: str, *, assistant: str | None = None, conversation: str | None = None) -> Told:
    """Return what the last injection here was, and how the block *text* differs from it."""
    from memory_magic.prompt.ledger import Ledger
    from memory_magic.prompt.place import place_of

    place = place_of(store)
    book = Ledger(store.root)
    line = _last(book, place, assistant, conversation)
    if line is None:
        return Told()
    old = None if line.purged else book.block(line.block)
    if old is None:
        return _of(line, place, PURGED if line.purged else GONE)
    difference = _difference(line, old, text)
    return _of(line, place, CHANGED if difference else SAME, difference, keeps=bool(conversation))


def _last(book: Ledger, place: Place, assistant: str | None, conversation: str | None) -> Line | None:
    """Return the newest line that handed out a block: in this directory, else in this repository."""
    from memory_magic.prompt.ledger import CITED, View

    view = View.of((scope.id for scope in place.scopes), place.cwd)
    found = None
    lines = book.lines(assistant=assistant, conversation=conversation, view=view)
    for _, line in zip(range(_LOOKED_AT), lines, strict=False):
        if line.kind == CITED or not (line.block or line.purged):
            continue
        if line.cwd == view.cwd:
            return line
        found = found or line
    return found


def _of(line: Line, place: Place, state: str, difference: str = "", *, keeps: bool = False) -> Told:
    from memory_magic.prompt.freezing import FROZEN_DAYS
    from memory_magic.prompt.ledger import INJECTED, clean, iso

    here = line.cwd == clean(place.cwd)
    frozen = here and line.kind == INJECTED and line.time >= iso(time.time() - FROZEN_DAYS * 86_400)
    return Told(
        state=state,
        time=line.time,
        assistant=redacted(line.assistant),
        conversation=line.conversation and redacted(line.conversation),
        notebook=line.notebook and redacted(line.notebook),
        cwd=redacted(line.cwd),
        block=line.block,
        difference=difference,
        elsewhere=not here,
        keeps=keeps and frozen and state == CHANGED,
    )


def _difference(line: Line, old: str, new: str) -> str:
    """Return a unified diff, empty where nothing changed."""
    import difflib

    from memory_magic.prompt.relevant import without_hits

    # a block may be older than a rule of redaction
    before, after = redacted(without_hits(old)), without_hits(new)
    if before == after:
        return ""
    sides = (before.split("\n") if before else [], after.split("\n") if after else [])
    return "\n".join(difflib.unified_diff(*sides, f"told {line.time}", "now", n=CONTEXT, lineterm=""))
