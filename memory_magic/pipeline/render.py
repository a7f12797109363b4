"""What stage one reads of a session: filtered, without our own memory, redacted.

`clean` makes a session safe to work on: private spans and memory blocks are cut out of every text, then every single
string (turn, argument, output, context) is redacted by itself, before anything is serialised, because a secret inside
escaped JSON is not recognised and an escape may be eaten with it. `contents` gives the form that a model reads:
codex' filter (messages, calls and outputs, environment and sub-agent notices; nothing else is in a `Session`) as a
JSON array, one item on each line, whatever program wrote the session.

Invariant: a text that memory-magic put into a conversation never becomes memory again. That holds for its block
wherever it stands in a turn, and for what its tools answered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory_magic.pipeline import cutting
from memory_magic.pipeline.cutting import Item
from memory_magic.pipeline.washing import Wash, without_memory_blocks
from memory_magic.sessions.records import ASSISTANT, Call, Context, Turn
from memory_magic.text.tokens import BYTES_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory_magic.sessions.records import Session

__all__ = ["clean", "contents", "is_memory_tool", "rendered", "serialise", "without_memory_blocks"]

MEMORY_LEFT_OUT = "[an answer of a memory tool was left out]"

_MEMORY_TOOL = re.compile(r"(?:^|[._/:-])(?:memory_[a-z_]+|remember|recall)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a model is given of a session; *truncated* tells that something is missing in it."""

    text: str
    truncated: bool
    redacted: dict[str, int]
    input_tokens: int


@dataclass(frozen=True, slots=True)
class Clean:
    """A session without secrets and memory blocks, and how many secrets of each kind were taken out."""

    session: Session
    redacted: dict[str, int]


def clean(session: Session) -> Clean:
    """Return the session as stage one may use it. Turns keep their places; one of which nothing is left is empty."""
    wash = Wash()
    washed = replace(
        session,
        id=wash.text(session.id),
        path=wash.text(session.path),
        cwd=None if session.cwd is None else wash.text(session.cwd),
        turns=tuple(map(wash.said, session.turns)),
        calls=tuple(map(wash.call, session.calls)),
        context=tuple(map(wash.said, session.context)),
    )
    return Clean(washed, dict(sorted(wash.kinds.items())))


def rendered(session: Session, tokens: int) -> Rendered:
    """Return what a model is given of a session, raw as it was read: cut to so many *tokens*, redacted, laid out."""
    chosen = cutting.choose(session.ordered(), tokens)
    wash = Wash(None if chosen.fits else cutting.longest_text(tokens))
    head = _laid_out(map(wash.entry, chosen.head), 1)
    tail = _laid_out(map(wash.entry, chosen.tail), len(head) + 1)
    fitted = cutting.fit(head, tail, chosen.missing, tokens)
    kinds = dict(sorted(wash.kinds.items()))
    return Rendered(
        fitted.text,
        fitted.truncated or not chosen.fits or session.left_out > 0,
        kinds,
        -(-fitted.size // BYTES_PER_TOKEN),
    )


def contents(session: Session) -> str:
    """Return what a model would be given of a session: a JSON array of response items, one on each line."""
    return serialise(clean(session).session)


def serialise(session: Session) -> str:
    """Return a cleaned session as a JSON array of response items; `[]` when nothing of it is left."""
    import msgspec

    lines = [msgspec.json.encode(item).decode() for entry in _numbered(session) for item in _items(*entry)]
    return "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"


def is_memory_tool(name: str) -> bool:
    """Tell a tool whose answers are memory: ours, or another memory server's by its usual names."""
    return bool(_MEMORY_TOOL.search(name))


def _numbered(session: Session) -> list[tuple[int, Turn | Call | Context]]:
    """Return the items in order; a number joins a call to its output."""
    return list(enumerate(session.ordered(), start=1))


def _laid_out(entries: Iterable[Turn | Call | Context], first: int) -> list[Item]:
    """Return washed entries as JSON, a call together with its output; those of which nothing is left are no items."""
    import msgspec

    encode = msgspec.json.encode
    found = []
    for number, entry in enumerate(entries, start=first):
        lines = [encode(item) for item in _items(number, entry)]
        if lines:
            found.append(Item(b",\n".join(lines), isinstance(entry, Turn), isinstance(entry, Call)))
    return found


def _items(number: int, entry: Turn | Call | Context) -> list[dict[str, object]]:
    """Return the response items of one entry."""
    if isinstance(entry, Call):
        return _call_items(f"call_{number}", entry)
    if not entry.text.strip():
        return []
    if isinstance(entry, Turn):
        part = "output_text" if entry.role == ASSISTANT else "input_text"
        return [{"type": "message", "role": entry.role, "content": [{"type": part, "text": entry.text}]}]
    return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": entry.text}]}]


def _call_items(call_id: str, call: Call) -> list[dict[str, object]]:
    """Return a call and, where there is one, its output."""
    asked = {"type": "function_call", "name": call.name, "arguments": call.arguments, "call_id": call_id}
    if call.output is None:
        return [asked]
    output = MEMORY_LEFT_OUT if is_memory_tool(call.name) else call.output
    return [asked, {"type": "function_call_output", "call_id": call_id, "output": output}]
