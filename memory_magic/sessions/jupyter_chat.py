"""Chats of jupyter-ai (`.chat`, written by jupyterlab-chat; seen at jupyter-ai 3.2) as sessions.

The role comes from `users[sender].bot`. Deleted messages, the hidden system user and empty messages are no turns; a
message of a bot with jupyter-ai's error details is a notice. What a persona had its tools do stands in
`metadata.tool_calls` of its messages.

Behind some personas works another program that keeps a record of its own; the chat names it in
`metadata.acp_session_ids`. Then the chat is the copy: `read` leaves out what was said to and by personas whose own
record is among *covered*, so that one conversation counts once and what other personas said in the chat still counts.

The file lists messages before users, so messages are kept until the end is reached.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memory_magic.errors import SessionFormatError
from memory_magic.sessions.document import Cursor, DamagedError, UnfinishedError
from memory_magic.sessions.fields import epoch, first_text, folder_of, id_of_path, modified, part_texts
from memory_magic.sessions.joining import Conversation
from memory_magic.sessions.jsonl import LINE_LIMIT, MALFORMED, TOO_LONG, UNFINISHED, UNKNOWN
from memory_magic.sessions.records import ASSISTANT, ERROR_NOTICE, USER

if TYPE_CHECKING:
    import os
    from collections.abc import Collection

    from memory_magic.sessions.records import Session

SOURCE = "jupyter-chat"

_HIDDEN = "hidden::"
_PERSONA = "jupyter-ai-personas::"
_ERROR_DETAILS = 'class="jp-jai-error-details"'
_ERROR_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)


class _Message(msgspec.Struct):
    """The fields of a message."""

    id: Any = None
    body: Any = None
    time: Any = None
    sender: Any = None
    type: Any = None
    deleted: Any = None
    attachments: Any = None
    metadata: Any = None

    def about(self, name: str) -> object:
        """Return a field of the message's metadata."""
        return self.metadata.get(name) if isinstance(self.metadata, dict) else None


def read(path: str | os.PathLike[str], covered: Collection[str] = ()) -> Session:
    """Read one chat, without what stands in the sessions whose ids are *covered*.

    Raises `SessionFormatError` when the file is no JSON or no chat.
    """
    file = Path(path)
    reading = _Reading(frozenset(covered))
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
        raise SessionFormatError("this is no Jupyter chat: it has no list of messages", where=str(file))
    return reading.session(file)


class _Reading:
    """The state of one pass over a chat."""

    def __init__(self, covered: frozenset[str]) -> None:
        self.to = Conversation()
        self.is_chat = False
        self._covered = covered
        self._messages: dict[str, _Message] = {}
        self._users: dict[str, Any] = {}
        self._attachments: dict[str, Any] = {}
        self._metadata: dict[str, Any] = {}
        self._decoder = msgspec.json.Decoder(_Message)

    def document(self, cursor: Cursor) -> None:
        """Read the whole file."""
        for key in cursor.members():
            if key == "messages" and cursor.is_at("["):
                self.is_chat = True
                for number in cursor.elements():
                    self._message(number, cursor.value(LINE_LIMIT))
            elif key in ("users", "attachments", "metadata"):
                setattr(self, f"_{key}", self._mapping(cursor.value(LINE_LIMIT)))

    def _message(self, number: int, raw: bytes | None) -> None:
        """Keep one message; one whose id came before replaces it in its place."""
        if raw is None:
            self.to.skipped[TOO_LONG] += 1
            return
        try:
            message = self._decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            self.to.skipped[MALFORMED] += 1
            return
        self._messages[first_text(message.id) or f"number {number}"] = message

    def _mapping(self, raw: bytes | None) -> dict[str, Any]:
        """Return an object; anything else is counted and counts as empty."""
        try:
            return msgspec.json.decode(raw or b"", type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            self.to.skipped[MALFORMED] += 1
            return {}

    def _is_bot(self, sender: object) -> bool:
        """Tell a persona from a person; a sender whom the file does not describe, by its name."""
        user = self._users.get(sender) if isinstance(sender, str) else None
        if isinstance(user, dict) and isinstance(user.get("bot"), bool):
            return bool(user["bot"])
        return isinstance(sender, str) and sender.startswith(_PERSONA)

    def _records_elsewhere(self) -> dict[str, tuple[str, ...]]:
        """Return for each persona the ids of the sessions that the program behind it keeps itself."""
        named = self._metadata.get("acp_session_ids")
        found: dict[str, tuple[str, ...]] = {}
        for persona, ids in named.items() if isinstance(named, dict) else ():
            many = ids if isinstance(ids, list) else [ids]
            found[persona] = tuple(one for one in many if isinstance(one, str) and one)
        return found

    def _put(self, covered: frozenset[str]) -> None:
        """Add the messages that count."""
        waiting: list[tuple[str, _Message]] = []  # what the person said before it is known who answers
        for name, message in self._messages.items():
            if message.type not in ("msg", None):
                self.to.skipped[UNKNOWN] += 1
            elif message.deleted is True or str(message.sender).startswith(_HIDDEN):
                continue
            elif not self._is_bot(message.sender):
                waiting.append((name, message))
            else:
                self._person(waiting, message.sender, covered)
                waiting = []
                if message.sender not in covered:
                    self._persona(name, message)
        self._person(waiting, None, covered)

    def _person(self, waiting: list[tuple[str, _Message]], answering: object, covered: frozenset[str]) -> None:
        """Add what the person said, unless it was said to a persona whose program keeps a record."""
        for name, message in waiting:
            if (first_text(message.about("to_persona")) or answering) in covered:
                continue
            for key in message.attachments if isinstance(message.attachments, list) else ():
                attached = self._attachments.get(key) if isinstance(key, str) else None
                if isinstance(attached, dict) and isinstance(attached.get("value"), str):
                    self.to.note("attachment", attached["value"], f"message {name}")
            if isinstance(message.body, str):
                self.to.say(USER, message.body, f"message {name}", epoch(message.time))

    def _persona(self, name: str, message: _Message) -> None:
        """Add what a persona did and said."""
        ref = f"message {name}"
        calls = message.about("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._call(call, ref)
            else:
                self.to.skipped[MALFORMED] += 1
        body = message.body if isinstance(message.body, str) else ""
        if _ERROR_DETAILS in body:
            self.to.note(ERROR_NOTICE, _without_traceback(body), ref)
        else:
            self.to.say(ASSISTANT, body, ref, epoch(message.time))

    def _call(self, call: dict[str, Any], ref: str) -> None:
        """Add a call, with what became of it."""
        name = first_text(call.get("title"), call.get("kind")) or "tool"
        opened = self.to.call(name, call.get("raw_input"), ref, stated=first_text(call.get("status")))
        if call.get("raw_output") is not None:
            opened.output = part_texts(call["raw_output"])

    def session(self, file: Path) -> Session:
        """Return what was read; a chat lies in the folder that its personas work in."""
        elsewhere = self._records_elsewhere()
        covered = frozenset(persona for persona, ids in elsewhere.items() if ids and self._covered.issuperset(ids))
        self._put(covered)
        return self.to.session(
            file,
            id=first_text(self._metadata.get("id")) or id_of_path(file),
            source=SOURCE,
            cwd=folder_of(file),
            touched=modified(file),
            copy_of=tuple(sorted({one for ids in elsewhere.values() for one in ids})),
        )


def _without_traceback(body: str) -> str:
    """Return what an error notice says, without its details."""
    summary = _ERROR_SUMMARY.search(body)
    head = body.split("<details", 1)[0].strip()
    return f"{head}\n{summary[1].strip()}" if summary else head
