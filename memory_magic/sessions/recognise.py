"""Which program wrote a session file, told by what stands in it.

Only the beginning is read. A JSON document is told by the keys of its outermost object, JSON lines by the first line
that @@
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from memory_magic.sessions import claude_code, codex, ipython_history, jupyter_chat, mito, notebook, oh_my_pi
from memory_magic.sessions.document import Cursor, DamagedError
from memory_magic.sessions.jsonl import Lines

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

DATABASES = frozenset({".sqlite", ".sqlite3", ".db"})
LINES_TRIED = 50
HEAD = 1 << 20  # bytes of a document that are looked at

_KEYS = {
    "nbformat": notebook.SOURCE,
    "users": jupyter_chat.SOURCE,
    "acp_session_ids": jupyter_chat.SOURCE,
    "ai_optimized_history": mito.SOURCE,
    "chat_history_version": mito.SOURCE,
    "display_history": mito.SOURCE,
}
# keys that others use, too: enough in a file that is called like theirs, because what tells more may stand far off
_NAMED_KEYS = {
    (".ipynb", "cells"): notebook.SOURCE,
    (".ipynb", "worksheets"): notebook.SOURCE,
    (".chat", "messages"): jupyter_chat.SOURCE,
}


class _Line(msgspec.Struct, rename="camel", gc=False):
    """The fields that tell whose line it is."""

    type: str
    payload: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    session_id: Any = None
    uuid: Any = None
    leaf_uuid: Any = None
    id: Any = None
    version: Any = None
    v: Any = None
    message: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def source_of(file: Path) -> str | None:
    """Return the name of the program's reader, None when no reader knows the file. `OSError` is the caller's."""
    if file.suffix.lower() in DATABASES:
        return ipython_history.SOURCE
    source = _document_source(file)
    if source is None and (file.suffix == ".jsonl" or _has_lines(file)):
        source = _lines_source(file)
    return source


def _has_lines(file: Path) -> bool:
    """Tell whether a line ends near the beginning: a large file that is one line is data of somebody else."""
    with file.open("rb") as stream:
        return len(stream.readline(HEAD)) < HEAD


def _document_source(file: Path) -> str | None:
    """Return whose document it is."""
    with file.open("rb") as stream:
        head: Any = _Head(stream)
        try:
            for key in Cursor(head).members():
                if key in _KEYS:
                    return _KEYS[key]
                if (file.suffix, key) in _NAMED_KEYS:
                    return _NAMED_KEYS[file.suffix, key]
        except DamagedError:  # no document, or none that shows at its head whose it is
            pass
    return None


def _lines_source(file: Path) -> str | None:
    """Return whose lines they are."""
    for number, line in Lines(file, msgspec.json.Decoder(_Line)):
        if source := _line_source(line):
            return source
        if number >= LINES_TRIED:
            break
    return None


def _line_source(line: _Line) -> str | None:
    """Return who writes such a line."""
    if line.payload is not msgspec.UNSET:
        return codex.SOURCE
    if any(isinstance(value, str) for value in (line.session_id, line.uuid, line.leaf_uuid)):
        return claude_code.SOURCE
    if line.type == "session" and line.id is not None:
        return oh_my_pi.SOURCE
    if line.type == "message" and line.message is not msgspec.UNSET:
        return oh_my_pi.SOURCE
    return None


class _Head:
    """The beginning of a file: reads like the file, and ends early."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = HEAD

    def read(self, size: int) -> bytes:
        piece = self._stream.read(min(size, self._left))
        self._left -= len(piece)
        return piece
