"""Strings of a session made safe: what nobody can see, private spans, our own blocks and secrets are taken out.

Every string is washed by itself, before anything is serialised, because a secret inside of escaped JSON is not
recognised, and an escape may be eaten with it. Hidden characters go first, since they can split a secret or a tag.
With *longest*, a text that is much too long loses its middle; spans and blocks are cut out before that, because an
end without its beginning could not be told from ordinary text, and secrets on both sides of what is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeVar, cast

from memory_magic.pipeline import cutting
from memory_magic.sessions.records import Call, Turn
from memory_magic.text import private
from memory_magic.text.invisible import HIDDEN, visible
from memory_magic.text.redact import redact, redact_json
from memory_magic.text.secret_judge import Grade, grade
from memory_magic.text.secret_kinds import STEMS

if TYPE_CHECKING:
    from memory_magic.sessions.records import Context

_RECALL_OPEN = re.compile(r"<native_memory_recall\b[^>]*>", re.IGNORECASE)
_RECALL_CLOSE = re.compile(r"</native_memory_recall\s*>", re.IGNORECASE)
_SECTION = re.compile(r"^# Memory (?:\(personal\)|\(project\)|Guidance)[ \t]*\r?$", re.MULTILINE)
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY")
_KEY_BEGIN = "-----BEGIN"

_CONTROLS = bytes(code for code in (*range(32), 127) if chr(code) not in "\t\n")
# what `text.secret_places` looks for (a test reads it there), and a colon, behind which values stand
_OF_PLACES = (":", "hooks.slack", "-----begin", "q~", "ssws 00", " -u", "-user", " -p")
_ANCHORS = tuple(anchor.encode() for anchor in (*STEMS, *_OF_PLACES))
_OF_KEYS = "-_0123456789abcdefghijklmnopqrstuvwxyz"
_RUN = b"x" * 20  # the shortest key that has no name
_SHAPE = bytes(ord("x") if chr(code) in _OF_KEYS else ord(" ") for code in range(256))
_LONGEST_HARMLESS = 4_000
_DEEPEST = 20

_Said = TypeVar("_Said", "Turn", "Context")


class Wash:
    """Washes strings and counts the kinds of secrets that it took out."""

    def __init__(self, longest: int | None = None) -> None:
        """Take how many bytes a single text may have; None leaves each as long as it is."""
        self.kinds: Counter[str] = Counter()
        self._longest = longest

    def text(self, text: str) -> str:
        """Return one string without hidden characters, private spans and secrets."""
        seen = without_hidden(text)
        whole = private.cut(seen) if "<" in seen else seen
        if self._longest is None or len(whole) * 4 <= self._longest:
            return self._without_secrets(whole)
        return cutting.without_middle(whole, self._longest, self._piece)

    def prose(self, text: str) -> str:
        """Return what somebody said, also without memory blocks."""
        return self.text(without_memory_blocks(text))

    def entry(self, entry: Turn | Call | Context) -> Turn | Call | Context:
        """Return a turn, a call or a piece of context with every string in it washed."""
        if isinstance(entry, Call):
            return self.call(entry)
        if isinstance(entry, Turn):
            return self.said(entry)
        return self.said(entry)

    def said(self, entry: _Said) -> _Said:
        """Return a turn or a piece of context washed."""
        prose = self.prose(entry.text)
        return entry if prose == entry.text else replace(entry, text=prose)

    def call(self, call: Call) -> Call:
        """Return a call washed: its name, every string of its arguments, its output."""
        name, arguments = self.text(call.name), self.arguments(call.arguments)
        output = None if call.output is None else self.text(call.output)
        if name == call.name and arguments is call.arguments and output == call.output:
            return call
        return replace(call, name=name, arguments=arguments, output=output)

    def arguments(self, value: object) -> object:
        """Return a JSON value with every string in it washed; there the key beside a value tells a secret, too."""
        if is_harmless(value) and (self._longest is None or self._longest >= _LONGEST_HARMLESS):
            return value
        known, kinds = redact_json(value)
        self.kinds.update(kinds)
        return self._leaves(known)

    def _leaves(self, value: object) -> object:
        """Wash what `redact_json` has been through: only what changes now has to be looked at again."""
        if isinstance(value, str):
            return value if "<" not in value and not self._is_long(value) and _is_seen(value) else self.text(value)
        if isinstance(value, dict):
            return {cast("str", self._leaves(str(key))): self._leaves(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._leaves(inner) for inner in value]
        return value

    def _is_long(self, text: str) -> bool:
        return self._longest is not None and len(text) * 4 > self._longest

    def _piece(self, text: str) -> str:
        """Wash one end of a text that was cut: the end of a key block whose beginning is gone goes as well."""
        end = _KEY_END.search(text)
        if end is not None and text.find(_KEY_BEGIN, 0, end.start()) < 0:
            text = text[end.start() :]
        return self._without_secrets(text)

    def _without_secrets(self, text: str) -> str:
        if _has_no_anchor(text):
            return text
        result = redact(text)
        if result.kinds:
            self.kinds.update(result.kinds)
        return result.text


def without_memory_blocks(text: str) -> str:
    """Cut every block that memory-magic puts before a model; one that is left open reaches to the end of the text."""
    if "<" not in text and "# Memory" not in text:
        return text
    rest, kept = text, []
    while start := _first_block(rest):
        kept.append(rest[: start.start()])
        end = _RECALL_CLOSE.search(rest, start.end())
        rest = rest[end.end() :] if end else ""
    return "".join([*kept, rest]).strip() if kept else text


def without_hidden(text: str) -> str:
    """Return `visible(text)`; texts that hide nothing, which most are, are told many times faster."""
    if text.isascii():
        return text if _is_seen(text) else visible(text)
    if len(text) * 2 != len(text.encode("utf-16-le", "surrogatepass")) or _hidden_in_the_basic_plane().search(text):
        return visible(text)
    return text


def is_harmless(value: object) -> bool:
    """Tell arguments in which nothing can be a secret, by what every finder of secrets begins with.

    True is certain, False says nothing. Most calls have a few short strings, of which each would cost a redaction.
    """
    texts: list[str] = []
    if not _gather(value, texts, 0):
        return False
    joined = "\n".join(texts)
    return "<" not in joined and _has_no_anchor(joined)


def _has_no_anchor(text: str) -> bool:
    """Tell a short plain text in which nothing stands that a finder of secrets begins with, or a key could be."""
    if len(text) > _LONGEST_HARMLESS or not _is_seen(text):
        return False
    low = text.lower().encode()
    if _RUN in low.translate(_SHAPE):
        return False
    for anchor in _ANCHORS:  # noqa: SIM110 -- `any` takes twice as long, and this runs for every string of a session
        if anchor in low:
            return False
    return True


def _gather(value: object, texts: list[str], depth: int) -> bool:
    """Collect the strings of a JSON value; False for a key that makes a secret of its value, and for great depth."""
    if isinstance(value, str):
        texts.append(value)
        return True
    if depth >= _DEEPEST:
        return False
    if isinstance(value, dict):
        texts += value
        return all(_is_mere_name(key) and _gather(inner, texts, depth + 1) for key, inner in value.items())
    if isinstance(value, list):
        return all(_gather(inner, texts, depth + 1) for inner in value)
    return value is None or isinstance(value, int | float)


@lru_cache(maxsize=4096)
def _is_mere_name(key: str) -> bool:
    """Tell a key that says nothing of its value, nor has the value that another key names."""
    return grade(key) == Grade.NONE and key.lower() != "value" and not key.lower().endswith("authorization")


def _is_seen(text: str) -> bool:
    """Tell whether every character of a text is plain ASCII that a reader sees, or a tab or line feed."""
    return text.isascii() and len(data := text.encode()) == len(data.translate(None, _CONTROLS))


@cache
def _hidden_in_the_basic_plane() -> re.Pattern[str]:
    """Compile the hidden characters without those of the other planes, which cost a comparison each at every place."""
    basic = re.sub(r"\\U[0-9a-f]{8}(?:-\\U[0-9a-f]{8})?", "", HIDDEN)
    return re.compile(rf"[{basic}\ud800-\udfff]")


def _first_block(text: str) -> re.Match[str] | None:
    """Find where the next block of ours begins."""
    starts = [found for found in (_RECALL_OPEN.search(text), _SECTION.search(text)) if found]
    return min(starts, key=lambda found: found.start(), default=None)
