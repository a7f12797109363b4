"""Records of a session: what every reader yields and every later step consumes.

A session is three lists. *Turns* are what the person and the assistant said to each other. *Calls* are what the
assistant had its tools do. *Context* is what the assistant's program put before the model in the person's name
(environment, notices of sub-agents), and the code, prose and outputs of cells in which nobody talks to an assistant:
no turn, but part of what stage one reads. `ordered` weaves the three back into
the order in which they happened; `Call.place`, `Context.place` and `Context.calls_before` exist for it alone.

Nothing here opens a file, and only the standard library is imported.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

USER = "user"
ASSISTANT = "assistant"

HUMAN_ORIGIN = "human"
ASSISTANT_ORIGIN = "assistant"
FILE_ORIGIN = "file"

NO_OUTPUT = "no output"
COMPLETED = "completed"
FAILED = "failed"

# kinds of context that readers of notebooks and histories share
CODE = "code"
MARKDOWN = "markdown"
CELL_OUTPUT = "cell_output"
INTERRUPTED = "interrupted"
ERROR_NOTICE = "error_notice"


@dataclass(frozen=True, slots=True)
class Turn:
    """One visible utterance: *role* user or assistant, *origin* human, assistant or file, *ref* a line or a cell."""

    role: str
    text: str
    origin: str
    ref: str
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: *output* None when there was none; *place* is the number of turns before it."""

    name: str
    arguments: object
    output: str | None
    status: str
    place: int
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Text that nobody said to anybody: *kind* names its wrapper, or what sort of cell, notice or output it is."""

    kind: str
    text: str
    place: int
    calls_before: int
    ref: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation.

    *interactive* is true only when the record shows that a person sat in front of it. *origin_host* is the host of
    the model server as far as the record tells, None when it does not. *skipped* counts by kind what could not be
    read. Times are aware and in UTC; *updated* is the time of the last turn, or of the file where turns have no time.
    *local_only* is true when the file itself asks not to be sent anywhere. *copy_of* holds the ids of other tools' own
    sessions that this record repeats. *left_out* counts the characters between beginning and end of a record that is
    too long to be held in memory; the turns, calls and context that said them are empty.
    """

    id: str
    source: str
    path: str
    cwd: str | None
    started: datetime | None
    updated: datetime | None
    interactive: bool
    origin_host: str | None
    turns: tuple[Turn, ...]
    calls: tuple[Call, ...]
    context: tuple[Context, ...]
    skipped: dict[str, int] = field(default_factory=dict)
    local_only: bool = False
    copy_of: tuple[str, ...] = ()
    left_out: int = 0

    def ordered(self) -> list[Turn | Call | Context]:
        """Return turns, calls and context in the order in which they happened."""
        keyed: list[tuple[tuple[int, int, int, int], Turn | Call | Context]] = []
        keyed += (((place, 1, 0, 0), turn) for place, turn in enumerate(self.turns))
        keyed += (((call.place, 0, number, 1), call) for number, call in enumerate(self.calls))
        keyed += (((note.place, 0, note.calls_before, 0), note) for note in self.context)
        return [item for _, item in sorted(keyed, key=itemgetter(0))]
