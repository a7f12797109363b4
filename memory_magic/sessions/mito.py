"""Mito's chats (`ai-chats/<thread>.json`, `chat_history_version` 2, seen at mito-ai 0.1.69) as sessions.

The file holds one conversation twice: `display_history` as the person saw it, `ai_optimized_history` as the model did,
entry beside entry. The first is read; of the second only whether the entry of the same index is the result of a tool,
because in the first that stands in the person's name. An answer in agent mode is a JSON object: its `message` is what
was said, its `type` what was done. No entry has a time; the chat says when it began and when it changed last.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memory_magic.errors import SessionFormatError
from memory_magic.sessions.document import Cursor, DamagedError, UnfinishedError
from memory_magic.sessions.fields import decoded, epoch, first_text, id_of_path, modified, texts
from memory_magic.sessions.joining import Conversation, OpenCall
from memory_magic.sessions.jsonl import LINE_LIMIT, MALFORMED, TOO_LONG, UNFINISHED, UNKNOWN
from memory_magic.sessions.records import ASSISTANT, COMPLETED, FAILED, INTERRUPTED, USER

if TYPE_CHECKING:
    import os

    from memory_magic.sessions.records import Session

SOURCE = "mito"

_RESULT = "<Tool Result>"
_RESULT_TOOL = re.compile(r"<Tool Result>\s*Tool '([^']*)' (\w+)")
_INTERRUPTED = frozenset({"agent interupted by user", "agent interrupted by user"})  # the first is their spelling
_SAID_ONLY = frozenset({"ask_user_question", "finished_task"})  # kinds of answers that do nothing
_FRAME = frozenset({"message", "type"})


class _Entry(msgspec.Struct):
    """An entry of either history."""

    role: Any = None
    content: Any = None

    def text(self) -> str:
        """Return what stands in it."""
        return "\n".join(texts(self.content))


class _Result(msgspec.Struct):
    """What the model was told about a tool: its name, and how it ended."""

    tool: str = ""
    failed: bool = False


def read(path: str | os.PathLike[str]) -> Session:
    """Read one chat.

    Raises `SessionFormatError` when the file is no JSON or no chat of Mito.
    """
    file = Path(path)
    reading = _Reading()
    try:
        with file.open("rb") as stream:
            reading.document(Cursor(stream))
    except UnfinishedError:
        reading.to.skipped[UNFINISHED] += 1
    except DamagedError:
        reading.to.skipped[MALFORMED] += 1
    except OSError as error:
        raise SessionFormatError(f"the session cannot be read: {error.strerror}", where=str(file)) from error
    if not reading.is_chat:
        raise SessionFormatError("this is no chat of Mito: it has no list of what was shown", where=str(file))
    return reading.session(file)


class _Reading:
    """The state of one pass over a chat."""

    def __init__(self) -> None:
        self.to = Conversation()
        self.is_chat = False
        self._shown: dict[int, _Entry] = {}
        self._results: dict[int, _Result] = {}
        self._said: dict[str, object] = {}
        self._waiting: OpenCall | None = None
        self._decoder = msgspec.json.Decoder(_Entry)

    def document(self, cursor: Cursor) -> None:
        """Read the whole file."""
        for key in cursor.members():
            if key == "display_history" and cursor.is_at("["):
                self.is_chat = True
                for number in cursor.elements():
                    if entry := self._entry(cursor):
                        self._shown[number] = entry
            elif key == "ai_optimized_history" and cursor.is_at("["):
                for number in cursor.elements():
                    self._model_entry(number, cursor)
            elif key in ("thread_id", "creation_ts", "last_interaction_ts"):
                self._said[key] = decoded((cursor.value(LINE_LIMIT) or b"null").decode("utf-8", "replace"))

    def _entry(self, cursor: Cursor) -> _Entry | None:
        """Take one entry; None, counted, when it is too long or of another shape."""
        raw = cursor.value(LINE_LIMIT)
        if raw is None:
            self.to.skipped[TOO_LONG] += 1
            return None
        try:
            return self._decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            self.to.skipped[MALFORMED] += 1
            return None

    def _model_entry(self, number: int, cursor: Cursor) -> None:
        """Note that an entry is the result of a tool, and how that ended."""
        entry = self._entry(cursor)
        text = entry.text().lstrip() if entry else _RESULT  # what cannot be seen is not taken for the person's word
        if text.startswith(_RESULT):
            found = _RESULT_TOOL.match(text)
            self._results[number] = _Result(found[1], found[2] != "succeeded") if found else _Result()

    def session(self, file: Path) -> Session:
        """Return what was said and done."""
        for number, entry in self._shown.items():
            ref = f"entry {number}"
            if entry.role == ASSISTANT:
                self._answer(entry.text(), ref)
            elif entry.role == USER and number in self._results:
                self._result(entry.text(), self._results[number])
            elif entry.role == USER:
                self.to.say(USER, entry.text(), ref)
            elif entry.role != "system":
                self.to.skipped[UNKNOWN] += 1
        return self.to.session(
            file,
            id=first_text(self._said.get("thread_id")) or id_of_path(file),
            source=SOURCE,
            cwd=None,
            started=epoch(self._said.get("creation_ts")),
            touched=epoch(self._said.get("last_interaction_ts")) or modified(file),
        )

    def _answer(self, text: str, ref: str) -> None:
        """Add an answer: plain words, or a JSON object that says something and does something."""
        self._waiting = None
        if text.strip().lower() in _INTERRUPTED:
            self.to.note(INTERRUPTED, text.strip(), ref)
            return
        answer = decoded(text) if text.lstrip().startswith("{") else None
        if not isinstance(answer, dict) or not isinstance(answer.get("type", ""), str) or "message" not in answer:
            self.to.say(ASSISTANT, text, ref)
            return
        self.to.say(ASSISTANT, first_text(answer["message"]) or "", ref)
        self._action(answer, ref)

    def _action(self, answer: dict[str, Any], ref: str) -> None:
        """Open a call for what an answer does; its result is the next entry."""
        kind = answer.get("type") or "finished_task"
        asked = answer.get("mcp_tool_call")
        if isinstance(asked, dict):
            named = (first_text(asked.get("mcp_server_id")), first_text(asked.get("tool_name")))
            name = "/".join(part for part in named if part)
            self._waiting = self.to.call(name or kind, decoded(asked.get("arguments")), ref)
        elif kind not in _SAID_ONLY:
            given = {key: value for key, value in answer.items() if value is not None and key not in _FRAME}
            self._waiting = self.to.call(kind, given, ref)

    def _result(self, text: str, result: _Result) -> None:
        """Join a tool's result to the call before it; without one the program only said what it could not read."""
        if self._waiting is not None:
            self._waiting.output = text
            self._waiting.stated = FAILED if result.failed else COMPLETED
            self._waiting = None
