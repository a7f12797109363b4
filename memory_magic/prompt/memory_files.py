"""Reading the files that a block is made of, and making their text safe to stand in a prompt.

A memory file is written by hand, by another program, or by whoever wrote the repository, so anything may stand under
its name. `read_head` opens it without waiting, reads no more than a section can hold with some room around the cut,
and answers for every kind of file with a text or with words for why there is none. It raises nothing.

    read_head -> clean: visible, private spans out, redact -> cut_bytes -> escape_text -> cut_bytes again

Secrets are taken out before the cut, of a text that goes `LOOK_AROUND` bytes further, so that one across the cut is
seen whole; the part of the text that only served for looking never goes into a block. What is escaped grows, so it is
cut once more. Invariants: the result has at most as many bytes as asked, no half character, and nothing hidden.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic.text import private
from memory_magic.text.fence import escape_text
from memory_magic.text.invisible import visible
from memory_magic.text.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOK_AROUND: Final = 20_480
"""Bytes beyond a cut that are read: as far as any rule of redaction looks."""

_BOM: Final = b"\xef\xbb\xbf"
_NOT_BLOCKING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


class Head(NamedTuple):
    """The beginning of a file; *beyond* counts its bytes that were not read. No *text*: absent, empty or in trouble."""

    text: str = ""
    beyond: int = 0
    size: int = 0
    sha256: str = ""
    trouble: str = ""
    identity: tuple[int, int] = (0, 0)


class Clean(NamedTuple):
    """A text without hidden characters, private spans and secrets; *kinds* counts those.

    *beyond* counts the bytes of its file that are not in it.
    """

    text: str = ""
    beyond: int = 0
    kinds: Mapping[str, int] = {}


ABSENT: Final = Head()


def read_head(path: str, most: int, *, inside: str = "") -> Head:
    """Return the first *most* bytes of a file, and what is needed to look around the cut.

    A file that leads out of the folder *inside*, where one is named, is not opened.
    """
    try:
        if inside:
            path = os.path.realpath(path)
            if not path.startswith(os.path.join(os.path.realpath(inside), "")):  # noqa: PTH118 -- the hook's hot path
                return Head(trouble="it leads out of the project")
        descriptor = os.open(path, os.O_RDONLY | _NOT_BLOCKING | (_NO_LINK if inside else 0))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError) as error:
        return Head(trouble=_in_words(error))
    try:
        return _read(descriptor, most + LOOK_AROUND)
    except OSError as error:
        return Head(trouble=_in_words(error))
    finally:
        os.close(descriptor)


def _read(descriptor: int, most: int) -> Head:
    status = os.fstat(descriptor)
    identity = status.st_dev, status.st_ino
    if stat.S_ISDIR(status.st_mode):
        return Head(trouble="a folder stands in its place", identity=identity)
    if not stat.S_ISREG(status.st_mode):
        return Head(trouble="it is no regular file", identity=identity)
    data = os.read(descriptor, most)
    while len(data) < min(most, status.st_size) and (more := os.read(descriptor, most - len(data))):
        data += more
    seen = Head(
        beyond=max(0, status.st_size - len(data)),
        size=max(status.st_size, len(data)),
        sha256=hashlib.sha256(data).hexdigest(),
        identity=identity,
    )
    text = _decoded(data.removeprefix(_BOM), whole=not seen.beyond)
    if text is None:
        return seen._replace(trouble="it is not UTF-8 text")
    return seen._replace(text=text)


def _decoded(data: bytes, *, whole: bool) -> str | None:
    """Return the text, without a character that the end of the data cuts in two; None where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if whole or error.reason != "unexpected end of data":
            return None
        return data[: error.start].decode("utf-8")


def _in_words(error: Exception) -> str:
    """Say why a file cannot be read, without its name."""
    words = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else type(error).__name__
    return f"it cannot be read ({words})"


def clean(head: Head) -> Clean:
    """Return the text of a file as far as it may be shown; nothing of a blank one."""
    seen = visible(head.text)
    if not seen.strip():
        return Clean(kinds={})
    done = redact(private.cut(seen) if "<" in seen else seen)
    text, lost = done.text, 0
    if head.beyond:
        # what comes last may belong to a secret that goes on where nobody has read
        text, lost = cut_bytes(text, len(text.encode()) - LOOK_AROUND)
    lost += head.beyond
    return Clean(text, lost, done.kinds) if text.strip() else Clean(kinds=done.kinds)


def escaped_within(text: str, most: int) -> tuple[str, int]:
    """Return *text* escaped, in at most *most* bytes, and how many bytes of it that leaves out."""
    kept, lost = cut_bytes(text, most)
    safe, grown = cut_bytes(escape_text(kept), most)
    return safe, lost + grown


def cut_bytes(text: str, most: int) -> tuple[str, int]:
    """Return as much of *text* as *most* bytes of UTF-8 hold, and how many bytes are left out."""
    if len(text) * 4 <= most:
        return text, 0
    data = text.encode()
    if len(data) <= most:
        return text, 0
    kept = data[: max(0, most)].decode("utf-8", "ignore")
    return kept, len(data) - len(kept.encode())
