"""IPython's history (`profile_<name>/history.sqlite`) as one session.

Of each cell `source_raw` is read, what was typed; `source` holds what input transformers made of it. A cell that
begins with `%%ai` is a turn of the person without its first line. There are no answers, except in `output_history`
if the person set `db_log_output`, and there an answer counts only if it is more than the name of an object. All other
cells are the person's code: context, with the number of IPython session and line as reference.

A history names no directory, so it belongs to none. No cell has a time of its own; the history changed last when its
last session with cells ended, or when the file was written. The database itself is never opened: see `live_copy`.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import live_copy
from memory_magic.sessions.fields import id_of_path, modified, without_colours
from memory_magic.sessions.joining import Conversation
from memory_magic.sessions.jsonl import LINE_LIMIT, MALFORMED, TOO_LONG
from memory_magic.sessions.notebook import AI_CELL, OUTPUT_SHOWN
from memory_magic.sessions.records import ASSISTANT, CELL_OUTPUT, CODE, USER

if TYPE_CHECKING:
    import os

    from memory_magic.sessions.records import Session

SOURCE = "ipython"

_CELLS = """
    SELECT history.session, history.line,
           CASE WHEN length(history.source_raw) <= :limit THEN history.source_raw END,
           history.source_raw IS NULL,
           substr(output_history.output, 1, :limit)
    FROM history LEFT JOIN output_history USING (session, line)
    ORDER BY history.session, history.line
"""
_TIMES = """
    SELECT min(start), max("end"), max("end" IS NULL)
    FROM sessions WHERE session IN (SELECT session FROM history)
"""
_ONLY_A_NAME = re.compile(r"<[^<>]*>")  # <IPython.core.display.Markdown object>


def read(path: str | os.PathLike[str]) -> Session:
    """Read one history.

    Raises `SessionFormatError` when the file is no IPython history, is damaged, or cannot be copied.
    """
    file = Path(path)
    try:
        with live_copy.opened(file) as connection:
            connection.text_factory = _text
            return _session(file, connection)
    except sqlite3.Error as error:
        raise SessionFormatError(
            f"this is no IPython history: {error}",
            where=str(file),
            hint="give the path of a history.sqlite in ~/.ipython/profile_default",
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        says = getattr(error, "strerror", None) or "it takes too long to copy"
        raise SessionFormatError(f"the session cannot be read: {says}", where=str(file)) from error


def _session(file: Path, connection: sqlite3.Connection) -> Session:
    """Read the cells of an open history."""
    to = Conversation()
    for session, line, source, absent, output in connection.execute(_CELLS, {"limit": LINE_LIMIT}):
        ref = f"cell {session}/{line}"
        if not isinstance(source, str):
            to.skipped[MALFORMED if absent or source is not None else TOO_LONG] += 1
            continue
        shown = without_colours(output) if isinstance(output, str) else ""
        asked = AI_CELL.match(source)
        if asked is None:
            to.note(CODE, source, ref)
            to.note(CELL_OUTPUT, _short(shown), ref)
            continue
        to.say(USER, source[asked.end() :].strip("\n"), ref)
        if not _ONLY_A_NAME.fullmatch(shown.strip()):
            to.say(ASSISTANT, shown, ref)
    start, end, running = connection.execute(_TIMES).fetchone()
    return to.session(
        file,
        id=id_of_path(file),
        source=SOURCE,
        cwd=None,
        started=_local(start),
        touched=(None if running else _local(end)) or modified(file),
    )


def _text(raw: bytes) -> str:
    """Return a text of the database, whatever its bytes are."""
    return raw.decode("utf-8", "replace")


def _short(text: str) -> str:
    """Return an output as far as it is shown, and say how much of it is missing."""
    more = len(text) - OUTPUT_SHOWN
    return text if more <= 0 else f"{text[:OUTPUT_SHOWN]}\n[{more} more characters]"


def _local(stamp: object) -> datetime | None:
    """Return a time in UTC; one without a zone is the local time of this machine, as IPython writes it."""
    try:
        return datetime.fromisoformat(stamp).astimezone(UTC) if isinstance(stamp, str) else None
    except (ValueError, OverflowError, OSError):
        return None
