"""Codex rollouts (`rollout-<time>-<id>.jsonl`, seen from 0.137 to 0.171) as sessions.

A rollout interleaves two logs: `response_item` lines are what the model saw, `event_msg` lines repeat the same for
the screen. Only the first is read, so that nothing counts twice; of the second only `thread_rolled_back`, because it
takes turns back.

What comes in the role of the user is not always the person. A content part that is one whole wrapper of the program
(`<environment_context>…`, `<subagent_notification>…`) is context; AGENTS.md and skill texts are dropped; what an
extension put before the person's words (`<memory>` block, `System note:` paragraph, `Additional context:` line) is
cut off. What remains is the turn. Outputs are joined to calls by `call_id`, the newest open call first, because ids
may repeat after a resume.

Lines are decoded twice at most: the envelope with its payload left as bytes, then the payload if its type is wanted.
Unknown types, unreadable lines and outputs without a call are counted in `Session.skipped` and never raised.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import inserted
from memory_magic.sessions.fields import decoded, first_text, moment, output_text, provider_host, texts
from memory_magic.sessions.jsonl import MALFORMED, UNKNOWN, Lines
from memory_magic.sessions.records import (
    ASSISTANT,
    ASSISTANT_ORIGIN,
    COMPLETED,
    HUMAN_ORIGIN,
    NO_OUTPUT,
    USER,
    Call,
    Context,
    Session,
    Turn,
)

if TYPE_CHECKING:
    import os
    from collections import Counter
    from collections.abc import Callable
    from datetime import datetime

SOURCE = "codex"
ORPHAN = "output without a call"

# types that are known and hold no turn: passed over without being counted as unknown
_LINES_DROPPED = frozenset(
    {
        "compacted",
        "event_msg",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "token_usage_record",
        "turn_context",
        "world_state",
    }
)
_ITEMS_DROPPED = frozenset(
    {
        "additional_tools",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "context_compaction",
        "ghost_snapshot",
        "image_generation_call",
        "other",
        "reasoning",
    }
)
_CALLS = frozenset({"custom_tool_call", "function_call", "local_shell_call", "tool_search_call", "web_search_call"})
_OUTPUTS = frozenset({"custom_tool_call_output", "function_call_output", "tool_search_output"})
_SELF_CONTAINED = frozenset({"local_shell_call", "web_search_call"})  # their own status says how they ended

# in the user's role, but written by the program: codex' own list, except that AGENTS.md and skills are dropped
_WRAPPERS = frozenset(
    {
        "current_time_reminder",
        "environment_context",
        "image_resize_notice",
        "realtime_delegation",
        "recommended_plugins",
        "rollout_budget",
        "subagent_notification",
        "turn_aborted",
        "user_shell_command",
    }
)
_WRAPPER = re.compile(r"<([a-z][a-z_-]*)(?:\s[^<>]*)?>.*</\1>", re.DOTALL | re.IGNORECASE)
_SKILL = re.compile(r"<(skill|user_instructions)>.*</\1>", re.DOTALL | re.IGNORECASE)
_AGENTS_HEADING = "# agents.md instructions"
_AGENTS_END = "</instructions>"

_HEAD_LINES = 4
_HEAD_LIMIT = 2_000_000  # bytes: the first line carries the vendor's instructions

_CALL_SIZE = 200  # characters that a call counts besides its arguments and output
KEPT = 16_000_000
"""Characters that are kept at each end of a rollout; what lies between is counted, not held in memory."""

_INTERACTIVE = frozenset({"atlas", "chatgpt", "cli", "vscode"})


class _Line(msgspec.Struct, gc=False):
    """The envelope of a line; *payload* stays undecoded until its type is known to be wanted."""

    type: str
    payload: msgspec.Raw
    timestamp: Any = None


class _Meta(msgspec.Struct):
    """The fields of `session_meta` that say whose session it is."""

    id: Any = None
    session_id: Any = None
    timestamp: Any = None
    cwd: Any = None
    originator: Any = None
    source: Any = None
    thread_source: Any = None
    model_provider: Any = None


class _Item(msgspec.Struct):
    """The fields that any wanted `response_item` may have."""

    type: str
    role: Any = None
    content: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    call_id: Any = None
    output: Any = None
    tools: Any = None
    status: Any = None
    author: Any = None


class _Event(msgspec.Struct, gc=False):
    """The fields of an `event_msg` that takes turns back."""

    type: str
    num_turns: Any = None


class _Mail(msgspec.Struct):
    """The fields of an `inter_agent_communication`."""

    author: Any = None
    content: Any = None


class _OpenCall(msgspec.Struct):
    """A call on its way to becoming a record: its output may come many lines later."""

    name: str
    arguments: object
    place: int
    ref: str
    kind: str
    stated: str | None
    call_id: str | None
    output: str | None = None

    def finished(self) -> Call:
        """Return the record. A call that has no output counts as done only if its kind never has one."""
        done = self.output is not None or (self.kind in _SELF_CONTAINED and self.stated is not None)
        status = (self.stated or COMPLETED) if done else NO_OUTPUT
        return Call(self.name, self.arguments, self.output, status, self.place, self.ref)


def read(path: str | os.PathLike[str]) -> Session:
    """Read one rollout.

    Raises `SessionFormatError` when no line of the file is a record of a rollout, or the file cannot be opened.
    """
    file = Path(path)
    lines = Lines(file, msgspec.json.Decoder(_Line))
    reading = _Reading(lines.skipped)
    try:
        for number, line in lines:
            reading.take(number, line)
    except OSError as error:
        raise SessionFormatError(f"the session cannot be read: {error.strerror}", where=str(file)) from error
    if not reading.records:
        raise SessionFormatError(
            "this is no Codex rollout: no line of it is a record of one",
            where=f"{file}:1",
            hint="give the path of a rollout-<time>-<id>.jsonl",
        )
    return reading.session(file)


def cwd_of(file: Path) -> str | None:
    """Return the directory that a rollout names at its head, reading no further; None when it names none there."""
    lines = Lines(file, msgspec.json.Decoder(_Line), _HEAD_LIMIT)
    try:
        for number, line in lines:
            if line.type == "session_meta":
                return first_text(msgspec.json.decode(line.payload, type=_Meta).cwd)
            if number >= _HEAD_LINES:
                break
    except (OSError, msgspec.MsgspecError, RecursionError):  # the reader will say what is wrong with it
        pass
    return None


class _Reading:
    """The state of one pass over a rollout."""

    def __init__(self, skipped: Counter[str]) -> None:
        self.records = 0
        self.skipped = skipped
        self.meta: _Meta | None = None
        self.turns: list[Turn] = []
        self.calls: list[_OpenCall] = []
        self.context: list[Context] = []
        self.extended = False
        self.left_out = 0
        self._head = self._tail = 0
        self._recent: deque[tuple[int, list[Any], int, object]] = deque()
        self._open: dict[str, list[_OpenCall]] = {}
        self._handlers: dict[str, Callable[[int, _Line], None]] = {
            "session_meta": self._session_meta,
            "response_item": self._response_item,
            "event_msg": self._event,
            "inter_agent_communication": self._mail,
        }
        self._meta_decoder = msgspec.json.Decoder(_Meta)
        self._item_decoder = msgspec.json.Decoder(_Item)
        self._event_decoder = msgspec.json.Decoder(_Event)
        self._mail_decoder = msgspec.json.Decoder(_Mail)

    def take(self, number: int, line: _Line) -> None:
        """Sort one line into turns, calls or context, or count it as skipped."""
        handler = self._handlers.get(line.type)
        if handler is None:
            known = line.type in _LINES_DROPPED
            self.records += known
            self.skipped[UNKNOWN] += not known
            return
        try:
            handler(number, line)
        except (msgspec.MsgspecError, RecursionError):
            self.skipped[MALFORMED] += 1
        else:
            self.records += 1

    def _session_meta(self, _number: int, line: _Line) -> None:
        """Keep the first one: a fork repeats its parent's after its own."""
        meta = self._meta_decoder.decode(line.payload)
        if self.meta is None:
            self.meta = meta

    def _event(self, _number: int, line: _Line) -> None:
        """Take back the last turns of the person, with all that followed them."""
        event = self._event_decoder.decode(line.payload)
        if event.type != "thread_rolled_back" or not isinstance(event.num_turns, int) or event.num_turns < 1:
            return
        human = [place for place, turn in enumerate(self.turns) if turn.role == USER]
        first = human[-event.num_turns] if event.num_turns <= len(human) else 0
        del self.turns[first:]
        self.calls = [call for call in self.calls if call.place <= first]
        self.context = [note for note in self.context if note.place <= first]

    def _mail(self, number: int, line: _Line) -> None:
        """Keep what one agent wrote to another as context."""
        mail = self._mail_decoder.decode(line.payload)
        if isinstance(mail.content, str) and mail.content:
            self._add_context("inter_agent_communication", mail.content, number)

    def _response_item(self, number: int, line: _Line) -> None:
        """Take a message, a call or an output; pass over what the model alone needed."""
        item = self._item_decoder.decode(line.payload)
        if item.type == "message":
            self._message(number, item, moment(line.timestamp))
        elif item.type in _CALLS:
            self._call(number, item)
        elif item.type in _OUTPUTS:
            self._output(item)
        elif item.type == "agent_message":
            self._add_context("agent_message", "\n".join(texts(item.content)), number)
        elif item.type not in _ITEMS_DROPPED:
            self.skipped[UNKNOWN] += 1

    def _message(self, number: int, item: _Item, time: datetime | None) -> None:
        """Turn a message into a turn, unless nothing of it is the speaker's."""
        if item.role == ASSISTANT:
            text = "\n".join(texts(item.content))
            origin = ASSISTANT_ORIGIN
        elif item.role == USER:
            text = "\n".join(filter(None, (self._human_part(part, number) for part in texts(item.content))))
            origin = HUMAN_ORIGIN
        else:
            return
        if text.strip():
            self.turns.append(Turn(str(item.role), text, origin, f"line {number}", time))
            self._measure(len(text), self.turns, len(self.turns) - 1)

    def _human_part(self, part: str, number: int) -> str:
        """Return what of one content part is the person's own, maybe nothing."""
        text = part.strip()
        if text[: len(_AGENTS_HEADING)].lower() == _AGENTS_HEADING:
            end = text.lower().rfind(_AGENTS_END)  # the last one: the file itself may hold the tag
            return text[end + len(_AGENTS_END) :].strip() if end >= 0 else ""
        if _SKILL.fullmatch(text):
            return ""
        wrapper = _WRAPPER.fullmatch(text)
        if wrapper and wrapper[1].lower() in _WRAPPERS:
            self._add_context(wrapper[1].lower(), text, number)
            return ""
        return self._without_extension_text(part)

    def _without_extension_text(self, text: str) -> str:
        """Cut what an extension put before the person's words."""
        own, was_cut = inserted.cut(text)
        self.extended = self.extended or was_cut
        return own

    def _add_context(self, kind: str, text: str, number: int) -> None:
        """Note a text of the program at the present place."""
        if text:
            self.context.append(Context(kind, text, len(self.turns), len(self.calls), f"line {number}"))
            self._measure(len(text), self.context, len(self.context) - 1)

    def _call(self, number: int, item: _Item) -> None:
        """Open a call."""
        name = ".".join(part for part in (item.namespace, item.name) if isinstance(part, str) and part)
        call = _OpenCall(
            name=name or item.type.removesuffix("_call"),
            arguments=_arguments(item),
            place=len(self.turns),
            ref=f"line {number}",
            kind=item.type,
            stated=item.status if isinstance(item.status, str) else None,
            call_id=item.call_id if isinstance(item.call_id, str) else None,
        )
        self.calls.append(call)
        given = len(item.arguments) if isinstance(item.arguments, str) else 0
        self._measure(_CALL_SIZE + given, self.calls, len(self.calls) - 1)
        if call.call_id is not None:
            self._open.setdefault(call.call_id, []).append(call)

    def _output(self, item: _Item) -> None:
        """Join an output to the newest call of its id that has none yet."""
        waiting = self._open.get(item.call_id) if isinstance(item.call_id, str) else None
        if not waiting:
            self.skipped[ORPHAN] += 1
            return
        call = waiting.pop()
        if not waiting and isinstance(item.call_id, str):
            del self._open[item.call_id]
        call.output = output_text(item.tools if item.output is None else item.output)
        self._measure(len(call.output or ""), [call], 0)
        if isinstance(item.status, str):
            call.stated = item.status

    def _measure(self, size: int, place: list[Any], at: int) -> None:
        """Count what was read, and empty the oldest entry behind the beginning once the end has grown too long."""
        if self._head + size <= KEPT:
            self._head += size
            return
        self._recent.append((size, place, at, place[at]))
        self._tail += size
        while self._tail > KEPT and len(self._recent) > 1:
            gone, list_of, index, entry = self._recent.popleft()
            self._tail -= gone
            self.left_out += gone
            if index < len(list_of) and list_of[index] is entry:  # else it was taken back meanwhile
                list_of[index] = _emptied(entry)

    def session(self, path: Path) -> Session:
        """Return what was read; a rollout without `session_meta` has no cwd, and so no scope."""
        meta = self.meta or _Meta()
        spoken = [turn.time for turn in self.turns if turn.time is not None]
        started = moment(meta.timestamp) or (spoken[0] if spoken else None)
        return Session(
            id=first_text(meta.id, meta.session_id) or path.stem.removeprefix("rollout-"),
            source=SOURCE,
            path=str(path),
            cwd=first_text(meta.cwd),
            started=started,
            updated=spoken[-1] if spoken else started,
            interactive=self._is_interactive(meta),
            origin_host=provider_host(meta.model_provider),
            turns=tuple(self.turns),
            calls=tuple(call.finished() for call in self.calls),
            context=tuple(self.context),
            left_out=self.left_out,
            skipped={kind: count for kind, count in sorted(self.skipped.items()) if count},
        )

    def _is_interactive(self, meta: _Meta) -> bool:
        """Tell whether a person sat there: a named front end, or an unnamed one whose extension left its text."""
        if meta.thread_source not in (None, USER):
            return False
        if meta.source == "unknown":
            return self.extended
        return isinstance(meta.source, str) and meta.source in _INTERACTIVE


def _emptied(entry: Any) -> Any:
    """Return an entry of which only its place is left."""
    if isinstance(entry, _OpenCall):
        entry.arguments, entry.ref, entry.call_id = None, "", None
        entry.output = None if entry.output is None else ""
        return entry
    return replace(entry, text="", ref="", **({"time": None} if isinstance(entry, Turn) else {}))


def _arguments(item: _Item) -> object:
    """Return a call's arguments, decoded where they are a JSON text."""
    given = next((value for value in (item.arguments, item.input, item.action) if value is not None), None)
    if item.type != "function_call" or not isinstance(given, str):
        return given
    return decoded(given)
