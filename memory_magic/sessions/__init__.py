"""Sessions that other programs wrote, read into one common record.

Each reader module (`codex`, later ones beside it) offers `read(path) -> Session`. They only read, stream line by
line, skip and count what they do not know, and raise `SessionFormatError` only when a file as a whole is not theirs.
This package loads a reader, and with it the JSON decoder, at the moment when a session is read and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.errors import SessionFormatError

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from memory_magic.sessions.records import Session


def read(path: str | os.PathLike[str]) -> Session:
    """Read one session file with the reader that its name asks for.

    Raises `SessionFormatError` when the path names no file, or no session that a reader knows.
    """
    from pathlib import Path

    file = Path(path)
    _check_is_file(file)
    if file.suffix == ".jsonl":
        from memory_magic.sessions import codex

        return codex.read(file)
    if file.name.endswith(".jsonl.zst"):
        raise SessionFormatError(
            "this session is compressed", where=str(file), hint=f"unpack it first: zstd -d {file.name}"
        )
    raise SessionFormatError(
        "this is no session file that can be read yet",
        where=str(file),
        hint="give the path of a Codex rollout: rollout-<time>-<id>.jsonl",
    )


def _check_is_file(file: Path) -> None:
    """Refuse a path that names nothing, or something that is no plain file (a pipe would block for ever)."""
    try:
        found, plain = file.exists(), file.is_file()
    except (OSError, ValueError) as error:
        raise SessionFormatError(f"the path cannot be looked at: {error}", where=repr(str(file))) from error
    if not found:
        raise SessionFormatError("there is no such file", where=str(file), hint="check the path of the session")
    if not plain:
        raise SessionFormatError("this is no plain file", where=str(file), hint="give the path of one session file")
