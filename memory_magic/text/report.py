"""The one funnel that turns an exception into text for magics, command line, MCP and dashboard.

Expected errors keep their own words; an error of the system says what the disk refused and where; anything else is our
fault and says so in one line. Whatever comes out is one line, without secrets and without anything that a terminal
would act on: an error quotes file names and notes, and those are untrusted.
"""

from __future__ import annotations

import re
from typing import Final

from memory_magic.errors import MemoryMagicError
from memory_magic.text.invisible import visible
from memory_magic.text.redact import redact

LONGEST: Final = 2_000
"""Characters of an error text: enough for every message of ours, too few to flood a notebook."""

_LINES = re.compile(r"\s*\n\s*")


def error_text(error: BaseException) -> str:
    """Return one friendly line that says what happened and, where we know it, what to do.

    Redacted, and plain as of `plain`; at most `LONGEST` characters.
    """
    line = _LINES.sub(" ", redact(plain(_words(error))).text).strip()
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def plain(text: str) -> str:
    """Return untrusted *text* safe to print: no escape sequence, no control but tab and newline, nothing invisible."""
    return visible(text)


def _words(error: BaseException) -> str:
    """Return the message for one kind of exception, still raw."""
    if isinstance(error, MemoryMagicError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        names = " -> ".join(_name(name) for name in (error.filename, error.filename2) if name is not None)
        return f"{error.strerror}: {names}" if names else error.strerror
    if isinstance(error, KeyboardInterrupt):
        return "Interrupted"
    kind, message = type(error).__name__, str(error).strip()
    said = f"{kind}: {message}" if message else kind
    return f"Unexpected {said}. This is a fault of memory-magic: please report it with what you did"


def _name(name: object) -> str:
    """Return a file name as an `OSError` carries it: text, bytes, or the number of an open file."""
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
