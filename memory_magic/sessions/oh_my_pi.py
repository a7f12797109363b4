"""oh-my-pi's sessions (`sessions/<folder>/<time>_<id>.jsonl`, format 3; pi writes the same) as sessions.

A title line may stand before the header; then come entries that form a tree by `id` and `parentId`. All branches share
the file: the live one is the chain from the last entry up. Whatever lies off it was taken back, and so was what lies
before a `reset_boundary`. Where a parent is missing the entry before it in the file goes on; files of format 1 have no
ids and are plain lists.

Only `message` entries speak: user, assistant, toolResult. Compaction, summaries of abandoned branches, settings and
the entries of extensions are passed over.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memory_magic.errors import SessionFormatError
from memory_magic.sessions.fields import common_host, epoch, first_text, moment, part_texts, provider_host
from memory_magic.sessions.joining import Conversation
from memory_magic.sessions.jsonl import MALFORMED, UNKNOWN, Lines
from memory_magic.sessions.records import ASSISTANT, ERROR_NOTICE, FAILED, USER

if TYPE_CHECKING:
    import os
    from collections import Counter
    from datetime import datetime

    from memory_magic.sessions.records import Session

SOURCE = "oh-my-pi"

# entries that are known and hold no turn: passed over without being counted as unknown
_ENTRIES_DROPPED = frozenset(
    {
        "branch_summary",
        "compaction",
        "credential_pin",
        "custom",
        "custom_message",
        "label",
        "mode_change",
        "model_change",
        "model_usage",
        "service_tier_change",
        "session_info",
        "session_init",
        "thinking_level_change",
        "title_change",
        "ttsr_injection",
    }
)
_ROLES_DROPPED = frozenset({"custom", "developer", "fileMention", "hookMessage", "system"})
_BLOCKS_DROPPED = frozenset({"image", "redactedThinking", "thinking"})
_SHELL = "user_shell_command"
_RESET = "reset_boundary"


class _Line(msgspec.Struct, rename="camel"):
    """A line; *message* stays undecoded until it is known to be on the live branch."""

    type: str
    id: Any = None
    parent_id: Any = None
    timestamp: Any = None
    version: Any = None
    v: Any = None
    cwd: Any = None
    task: Any = None
    message: msgspec.Raw = msgspec.Raw(b"null")


class _Message(msgspec.Struct, rename="camel"):
    """The fields that any wanted message may have."""

    role: Any = None
    content: Any = None
    timestamp: Any = None
    attribution: Any = None
    synthetic: Any = None
    provider: Any = None
    error_message: Any = None
    tool_call_id: Any = None
    is_error: Any = None
    command: Any = None
    output: Any = None
    exclude_from_context: Any = None


class _Entry(msgspec.Struct):
    """An entry of the tree; *above* is the place of the one that it goes on from."""

    number: int
    above: int | None
    kind: str
    time: datetime | None
    message: _Message | None = None


def read(path: str | os.PathLike[str]) -> Session:
    """Read one session.

    Raises `SessionFormatError` when no line of the file is a record of one, or the file cannot be opened.
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
            "this is no oh-my-pi session: no line of it is a record of one",
            where=f"{file}:1",
            hint="give the path of a file in ~/.omp/agent/sessions",
        )
    return reading.session(file)


class _Reading:
    """The state of one pass over a session."""

    def __init__(self, skipped: Counter[str]) -> None:
        self.records = 0
        self.skipped = skipped
        self._header: _Line | None = None
        self._entries: list[_Entry] = []
        self._places: dict[str, int] = {}
        self._sub_agent = False
        self._decoder = msgspec.json.Decoder(_Message)

    def take(self, number: int, line: _Line) -> None:
        """Keep one entry, or count it as skipped."""
        if line.type == "session":
            self.records += 1
            self._header = self._header or line
        elif line.type == "title":
            self.records += line.v is not None
        elif line.type in ("message", _RESET) or line.type in _ENTRIES_DROPPED:
            self._sub_agent = self._sub_agent or (line.type == "session_init" and isinstance(line.task, str))
            self._entry(number, line)
        else:
            self.skipped[UNKNOWN] += 1
            if first_text(line.id) and self._header:
                self._hang(number, line, None)

    def _entry(self, number: int, line: _Line) -> None:
        """Hang a known entry into the tree."""
        message = None
        if line.type == "message":
            try:
                message = self._decoder.decode(line.message)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                self.skipped[MALFORMED] += 1
                return
            self.records += 1
        self._hang(number, line, message)

    def _hang(self, number: int, line: _Line, message: _Message | None) -> None:
        """Find the place that an entry goes on from: its parent's, or the last one's where the parent is missing."""
        last = len(self._entries) - 1 if self._entries else None
        name, parent = first_text(line.id), first_text(line.parent_id)
        if name is None or (parent is not None and parent not in self._places):
            above = last
        else:
            above = self._places[parent] if parent is not None else None
        self._entries.append(_Entry(number, above, line.type, moment(line.timestamp), message))
        if name is not None:
            self._places[name] = len(self._entries) - 1

    def _live(self) -> list[_Entry]:
        """Return the entries of the live branch, oldest first, back to where the person cleared it."""
        chain: list[_Entry] = []
        at = len(self._entries) - 1 if self._entries else None
        while at is not None:
            entry = self._entries[at]
            if entry.kind == _RESET:
                break
            chain.append(entry)
            at = entry.above
        return chain[::-1]

    def session(self, file: Path) -> Session:
        """Return what the live branch says."""
        header = self._header or _Line("session")
        conversation = Conversation(self.skipped)
        providers: list[object] = []
        for entry in self._live():
            if entry.message is not None:
                self._add(conversation, entry, entry.message)
                providers += [entry.message.provider] if entry.message.role == ASSISTANT else []
        return conversation.session(
            file,
            id=first_text(header.id) or file.stem.rpartition("_")[2],
            source=SOURCE,
            cwd=first_text(header.cwd),
            started=moment(header.timestamp),
            interactive=not self._sub_agent,
            origin_host=common_host(provider_host(provider) for provider in providers),
        )

    def _add(self, to: Conversation, entry: _Entry, message: _Message) -> None:
        """Add one message of the live branch."""
        ref = f"line {entry.number}"
        if message.role == USER:
            text = "\n".join(text for kind, text, _ in self._blocks(message.content) if kind == "text")
            if message.attribution in (None, USER) and message.synthetic is not True:
                to.say(USER, text, ref, entry.time or _stamp(message))
            else:
                to.note("program_text", text, ref)
        elif message.role == ASSISTANT:
            self._answer(to, ref, entry.time or _stamp(message), message)
        elif message.role == "toolResult":
            text = part_texts(message.content)
            to.answer(message.tool_call_id, text, FAILED if message.is_error is True else None)
        elif message.role in ("bashExecution", "pythonExecution"):
            if message.exclude_from_context is not True:
                to.note(_SHELL, f"{message.command or ''}\n{message.output or ''}", ref)
        elif message.role not in _ROLES_DROPPED:
            self.skipped[UNKNOWN] += 1

    def _answer(self, to: Conversation, ref: str, time: datetime | None, message: _Message) -> None:
        """Add an answer: texts that follow each other are one turn, calls stand where they were made."""
        said: list[str] = []
        for kind, text, block in self._blocks(message.content):
            if kind == "text":
                said.append(text)
                continue
            to.say(ASSISTANT, "\n".join(said), ref, time)
            said.clear()
            to.call(text, block.get("arguments"), ref, block.get("id"))
        to.say(ASSISTANT, "\n".join(said), ref, time)
        if isinstance(message.error_message, str):
            to.note(ERROR_NOTICE, message.error_message, ref)

    def _blocks(self, content: object) -> list[tuple[str, str, dict[str, Any]]]:
        """Return kind, text or name, and the whole of each wanted block."""
        if isinstance(content, str):
            return [("text", content, {})]
        found: list[tuple[str, str, dict[str, Any]]] = []
        for block in content if isinstance(content, list) else []:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text" and isinstance(block.get("text"), str):
                found.append(("text", block["text"], block))
            elif kind == "toolCall":
                found.append(("call", first_text(block.get("name")) or "tool", block))
            elif kind not in _BLOCKS_DROPPED:
                self.skipped[UNKNOWN] += 1
        return found


def _stamp(message: _Message) -> datetime | None:
    """Return a message's own time, which counts milliseconds."""
    stamp = message.timestamp
    return epoch(stamp / 1000) if isinstance(stamp, int | float) and not isinstance(stamp, bool) else None
