"""A reader for the plain part of git's configuration files, which says when it had better ask git itself.

Starting git costs a few milliseconds and a hook pays them at each prompt, so that the usual `.git/config` is read
here. `read_config` understands sections (quoted and dotted), comments, quotes, escapes, continuation lines, CRLF and a
BOM as git does. Whatever can change the answer from outside the file (`include`, `includeIf`, unknown extensions,
work-tree configuration) and whatever git itself would refuse raises `NotPlainError`: the caller then asks git, so that
both always agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ESCAPED = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}
_BLANK = re.compile(r"(?:[ \t\n]+|[#;][^\n]*)+")
_SECTION = re.compile(r'\[([-.A-Za-z0-9]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]')
_KEY = re.compile(r"([A-Za-z][-A-Za-z0-9]*)[ \t]*(=?)")
# a value without quotes and escapes, which is nearly every value
_SIMPLE = re.compile(r'([^\n"\\#;]*)(?:[#;][^\n]*)?\n')
_ORIGIN = "remote.origin.url"
# a partial clone says so in an extension that has no bearing on where the origin is read
_HARMLESS_EXTENSIONS = frozenset({"extensions.partialclone"})
# values of settings that git weighs before it reads anything else; others may be a refusal
_USUAL: dict[str, set[str | None]] = {
    "core.repositoryformatversion": {"0", "1"},
    "core.bare": {"true", "false", None},
}


class NotPlainError(Exception):
    """The file holds something that only git can judge."""


@dataclass(frozen=True, slots=True)
class LocalConfig:
    """What a repository's own configuration says: *urls* of the origin in file order, *worktree* set or not."""

    urls: tuple[str, ...]
    worktree: bool = False


def read_config(data: bytes) -> LocalConfig:
    """Read the bytes of a configuration file; raise `NotPlainError` when git has to be asked."""
    if b"\0" in data:
        raise NotPlainError
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").replace("\r\n", "\n") + "\n"
    if "\r" in text:
        raise NotPlainError
    urls: list[str] = []
    worktree = False
    for name, value in _entries(text):
        if name == _ORIGIN:
            urls.append(_one_line(value))
        elif name == "core.worktree":
            worktree = True
        else:
            _check(name, value)
    return LocalConfig(tuple(urls), worktree)


def effective_urls(urls: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values that count: an empty one, as in newer releases of git, takes back those before it."""
    start = max((place + 1 for place, url in enumerate(urls) if not url), default=0)
    return urls[start:]


def _check(name: str, value: str | None) -> None:
    """Refuse the entries whose effect lies outside this file."""
    if name == "include.path" or (name.startswith("includeif.") and name.endswith(".path")):
        raise NotPlainError
    if name.startswith("extensions.") and name not in _HARMLESS_EXTENSIONS:
        raise NotPlainError
    if value not in _USUAL.get(name, {value}):
        raise NotPlainError


def _one_line(value: str | None) -> str:
    """Return the value of the origin; git's releases differ about inner tabs, and a bare key is an error of theirs."""
    if value is None or "\t" in value:
        raise NotPlainError
    return value


def _entries(text: str) -> list[tuple[str, str | None]]:
    """List (full name in git's spelling, value) of a whole file."""
    entries: list[tuple[str, str | None]] = []
    section, place = "", _skip(text, 0)
    while place < len(text):
        if text[place] == "[":
            section, place = _section(text, place)
        else:
            key, value, place = _entry(text, place)
            if not section:
                raise NotPlainError
            entries.append((f"{section}.{key}", value))
        place = _skip(text, place)
    return entries


def _skip(text: str, place: int) -> int:
    """Step over blanks, line ends and comments."""
    blank = _BLANK.match(text, place)
    return blank.end() if blank else place


def _section(text: str, place: int) -> tuple[str, int]:
    """Read a section header: its name in lower case, its subsection as it stands."""
    header = _SECTION.match(text, place)
    if not header:
        raise NotPlainError
    name = header[1].lower()
    if header[2] is not None:
        name += "." + re.sub(r"\\(.)", r"\1", header[2])
    return name, header.end()


def _entry(text: str, place: int) -> tuple[str, str | None, int]:
    """Read `key = value`, or a bare key, whose value is None."""
    key = _KEY.match(text, place)
    if not key:
        raise NotPlainError
    name, place = key[1].lower(), key.end()
    if not key[2]:
        if text[place] != "\n":
            raise NotPlainError
        return name, None, place + 1
    if simple := _SIMPLE.match(text, place):
        return name, simple[1].strip(" \t"), simple.end()
    value, place = _quoted(text, place)
    return name, value, place


def _quoted(text: str, place: int) -> tuple[str, int]:
    """Read a value that holds quotes or escapes, character by character; blanks outside quotes count only inside."""
    out: list[str] = []
    blanks: list[str] = []
    quoted = False
    while (char := text[place]) != "\n":
        if char in " \t" and not quoted:
            blanks += [char] if out else []
            place += 1
        elif char in "#;" and not quoted:
            # the comment reaches to the line's end, backslashes included
            return "".join(out), text.index("\n", place) + 1
        else:
            out += blanks
            blanks = []
            quoted ^= char == '"'
            piece, place = _character(text, place)
            out += piece
    if quoted:
        raise NotPlainError
    return "".join(out), place + 1


def _character(text: str, place: int) -> tuple[list[str], int]:
    """Read one character of a value, resolving an escape; a quote and a continued line add nothing."""
    char = text[place]
    if char == '"':
        return [], place + 1
    if char != "\\":
        return [char], place + 1
    follower = text[place + 1]
    if follower == "\n":
        if place + 2 >= len(text):
            raise NotPlainError
        return [], place + 2
    if follower not in _ESCAPED:
        raise NotPlainError
    return [_ESCAPED[follower]], place + 2
