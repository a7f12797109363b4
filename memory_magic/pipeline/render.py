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
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memory_magic.sessions.records import ASSISTANT, Call, Context, Turn
from memory_magic.text import private
from memory_magic.text.invisible import visible
from memory_magic.text.redact import redact, redact_json

if TYPE_CHECKING:
    from memory_magic.sessions.records import Session

MEMORY_LEFT_OUT = "[an answer of a memory tool was left out]"

_MEMORY_TOOL = re.compile(r"(?:^|[._/:-])(?:memory_[a-z_]+|remember|recall)$", re.IGNORECASE)
_RECALL_OPEN = re.compile(r"<native_memory_recall\b[^>]*>", re.IGNORECASE)
_RECALL_CLOSE = re.compile(r"</native_memory_recall\s*>", re.IGNORECASE)
_SECTION = re.compile(r"^# Memory (?:\(personal\)|\(project\)|Guidance)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Clean:
    """A session without secrets and memory blocks, and how many secrets of each kind were taken out."""

    session: Session
    redacted: dict[str, int]


def clean(session: Session) -> Clean:
    """Return the session as stage one may use it. Turns keep their places; one of which nothing is left is empty."""
    wash = _Wash()
    turns = tuple(replace(turn, text=wash.prose(turn.text)) for turn in session.turns)
    calls = tuple(
        replace(
            call,
            name=wash.text(call.name),
            arguments=wash.arguments(call.arguments),
            output=None if call.output is None else wash.text(call.output),
        )
        for call in session.calls
    )
    context = tuple(replace(note, text=wash.prose(note.text)) for note in session.context)
    washed = replace(
        session,
        id=wash.text(session.id),
        path=wash.text(session.path),
        cwd=None if session.cwd is None else wash.text(session.cwd),
        turns=turns,
        calls=calls,
        context=context,
    )
    return Clean(washed, dict(sorted(wash.kinds.items())))


def contents(session: Session) -> str:
    """Return what a model would be given of a session: a JSON array of response items, one on each line."""
    return serialise(clean(session).session)


def serialise(session: Session) -> str:
    """Return a cleaned session as a JSON array of response items; `[]` when nothing of it is left."""
    import msgspec

    lines = [msgspec.json.encode(item).decode() for entry in _numbered(session) for item in _items(*entry)]
    return "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"


def without_memory_blocks(text: str) -> str:
    """Cut every block that memory-magic puts before a model; one that is left open reaches to the end of the text."""
    rest, kept = text, []
    while start := _first_block(rest):
        kept.append(rest[: start.start()])
        end = _RECALL_CLOSE.search(rest, start.end())
        rest = rest[end.end() :] if end else ""
    return "".join([*kept, rest]).strip() if kept else text


def is_memory_tool(name: str) -> bool:
    """Tell a tool whose answers are memory: ours, or another memory server's by its usual names."""
    return bool(_MEMORY_TOOL.search(name))


def _first_block(text: str) -> re.Match[str] | None:
    """Find where the next block of ours begins."""
    starts = [found for found in (_RECALL_OPEN.search(text), _SECTION.search(text)) if found]
    return min(starts, key=lambda found: found.start(), default=None)


class _Wash:
    """Takes secrets out of strings and counts their kinds."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """Return one string without hidden characters (they can split a secret), private spans and secrets."""
        seen = visible(text)
        result = redact(private.cut(seen) if "<" in seen else seen)
        self.kinds.update(result.kinds)
        return result.text

    def prose(self, text: str) -> str:
        """Return what somebody said, also without memory blocks."""
        return self.text(without_memory_blocks(text))

    def arguments(self, value: object) -> object:
        """Return a JSON value with every string in it washed; there the key beside a value tells a secret, too."""
        known, kinds = redact_json(value)
        self.kinds.update(kinds)
        return self._leaves(known)

    def _leaves(self, value: object) -> object:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self._leaves(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._leaves(inner) for inner in value]
        return value


def _numbered(session: Session) -> list[tuple[int, Turn | Call | Context]]:
    """Return the items in order; a number joins a call to its output."""
    return list(enumerate(session.ordered(), start=1))


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
