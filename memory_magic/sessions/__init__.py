"""Sessions that other programs wrote, read into one common record.

Each reader module (`codex`, `claude_code`, `oh_my_pi`, `jupyter_chat`, `mito`, `notebook`, `ipython_history`) offers
`read(path) -> Session`. They only read, stream, skip and count what they do not know, and raise `SessionFormatError`
only when a file as a whole is not theirs. `find` tells where such files lie. This package loads a reader, and with it
the JSON decoder, at the moment when a session is read and not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.errors import SessionFormatError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection
    from pathlib import Path

    from memory_magic.sessions.records import Session

_BY_NAME = {".chat": "jupyter-chat", ".ipynb": "notebook"}  # these say best what is wrong with such a file


def read(path: str | os.PathLike[str], covered: Collection[str] = ()) -> Session:
    """Read one session file with the reader that its content asks for.

    *covered* holds ids of sessions that are read from their tools' own files: what a chat repeats of them is left out.
    Raises `SessionFormatError` when the path names no file, or no session that a reader knows.
    """
    from pathlib import Path

    file = Path(path)
    _check_is_file(file)
    if file.name.endswith(".jsonl.zst"):
        raise SessionFormatError(
            "this session is compressed", where=str(file), hint=f"unpack it first: zstd -d {file.name}"
        )
    from memory_magic.sessions import recognise

    try:
        source = recognise.source_of(file)
    except OSError as error:
        raise SessionFormatError(f"the session cannot be read: {error.strerror}", where=str(file)) from error
    return read_as(source or _by_name(file), file, covered)


def read_as(source: str | None, file: Path, covered: Collection[str] = ()) -> Session:
    """Read one session file with a named reader (the name that its sessions have as *source*)."""
    from memory_magic.sessions import claude_code, codex, ipython_history, jupyter_chat, mito, notebook, oh_my_pi

    if source == jupyter_chat.SOURCE:
        return jupyter_chat.read(file, covered)
    readers: dict[str, Callable[[Path], Session]] = {
        claude_code.SOURCE: claude_code.read,
        codex.SOURCE: codex.read,
        ipython_history.SOURCE: ipython_history.read,
        mito.SOURCE: mito.read,
        notebook.SOURCE: notebook.read,
        oh_my_pi.SOURCE: oh_my_pi.read,
    }
    if source in readers:
        return readers[source](file)
    raise SessionFormatError(
        "this is no session that any reader knows: no Codex rollout, no transcript of Claude Code or oh-my-pi, "
        "no Jupyter chat (.chat), no chat of Mito (.json), no notebook (.ipynb), no IPython history (.sqlite)",
        where=str(file),
        hint="check the path of the session",
    )


def _by_name(file: Path) -> str | None:
    """Return the reader for a file of which nothing shows whose it is."""
    return "codex" if file.name.startswith("rollout-") else _BY_NAME.get(file.suffix)


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
