"""Turns, calls and context while a file is being read: the part of a reader that all formats share.

Whatever order a format has, a reader calls `say`, `call`, `answer` and `note` in the order of the conversation, and
`session` makes the record. Outputs join calls by id, the newest open call first, because ids may repeat after a
resume; an output without a call is counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from memory_magic.sessions.records import (
    ASSISTANT,
    ASSISTANT_ORIGIN,
    COMPLETED,
    HUMAN_ORIGIN,
    NO_OUTPUT,
    Call,
    Context,
    Session,
    Turn,
)

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

ORPHAN = "output without a call"


class OpenCall(msgspec.Struct):
    """A call on its way to becoming a record: its output may come many lines later."""

    name: str
    arguments: object
    place: int
    ref: str
    stated: str | None = None
    output: str | None = None

    def finished(self) -> Call:
        """Return the record; a call that never was answered says so."""
        status = self.stated or (NO_OUTPUT if self.output is None else COMPLETED)
        return Call(self.name, self.arguments, self.output, status, self.place, self.ref)


class Conversation:
    """What has been read so far of one session."""

    def __init__(self, skipped: Counter[str] | None = None) -> None:
        """Share the counter of a line reader, or start one."""
        self.skipped: Counter[str] = Counter() if skipped is None else skipped
        self.turns: list[Turn] = []
        self.calls: list[OpenCall] = []
        self.context: list[Context] = []
        self._open: dict[str, list[OpenCall]] = {}

    def say(self, role: str, text: str, ref: str, time: datetime | None = None) -> None:
        """Add a turn, unless it is blank."""
        if text.strip():
            origin = ASSISTANT_ORIGIN if role == ASSISTANT else HUMAN_ORIGIN
            self.turns.append(Turn(role, text, origin, ref, time))

    def go_on(self, text: str, time: datetime | None) -> None:
        """Add to the last turn: one answer may be spread over several records."""
        last = self.turns[-1]
        self.turns[-1] = Turn(last.role, f"{last.text}\n{text}", last.origin, last.ref, time or last.time)

    def call(
        self, name: str, arguments: object, ref: str, call_id: object = None, stated: str | None = None
    ) -> OpenCall:
        """Open a call; *call_id* lets its output find it."""
        call = OpenCall(name, arguments, len(self.turns), ref, stated)
        self.calls.append(call)
        if isinstance(call_id, str):
            self._open.setdefault(call_id, []).append(call)
        return call

    def answer(self, call_id: object, output: str, stated: str | None = None) -> None:
        """Join an output to the newest call of its id that has none yet."""
        waiting = self._open.get(call_id) if isinstance(call_id, str) else None
        if not waiting:
            self.skipped[ORPHAN] += 1
            return
        call = waiting.pop()
        call.output = output
        call.stated = stated or call.stated

    def note(self, kind: str, text: str, ref: str) -> None:
        """Add context at the present place, unless it is blank."""
        if text.strip():
            self.context.append(Context(kind, text, len(self.turns), len(self.calls), ref))

    def session(
        self,
        file: Path,
        *,
        id: str,  # noqa: A002 -- the record's own name
        source: str,
        cwd: str | None,
        started: datetime | None = None,
        touched: datetime | None = None,
        interactive: bool = True,
        origin_host: str | None = None,
        **more: Any,
    ) -> Session:
        """Return the record; *touched* says when it changed last if no turn has a time."""
        spoken = [turn.time for turn in self.turns if turn.time is not None]
        begun = started or (spoken[0] if spoken else None)
        return Session(
            id=id,
            source=source,
            path=str(file),
            cwd=cwd,
            started=begun,
            updated=spoken[-1] if spoken else (touched or begun),
            interactive=interactive,
            origin_host=origin_host,
            turns=tuple(self.turns),
            calls=tuple(call.finished() for call in self.calls),
            context=tuple(self.context),
            skipped={kind: count for kind, count in sorted(self.skipped.items()) if count},
            **more,
        )
