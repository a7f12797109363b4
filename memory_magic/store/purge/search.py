"""Find texts and ids wherever they may stand, however they were wrapped, indented, encoded or escaped.

A text is compared *folded*: NFC, the marks of lists, quotes and headings stripped from each line, whitespace collapsed.
What is searched is looked at as it is and with JSON and HTML escapes resolved. Texts of fewer than eight characters are
part of many words (`tea` of `team`): they count only as a whole value or line, or, when asked for, as a whole word.

Bytes that do not hold the words of a text in their order cannot hold the text: most are never folded. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORT: Final = 8
"""Characters from which a text is found inside other texts (store_rules 10)."""

ID_SHOWN: Final = 10
_MANY: Final = 24
_TELLING: Final = 3
_MARKS: Final = re.compile(r"^[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,9}[.)])(?:[ \t]+|$))*", re.MULTILINE)
_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_PLAIN: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORD: Final = re.compile(r"\w+")
# NFC makes a K of the Kelvin sign; no other letter or digit of ASCII comes out of another character
_TOKEN: Final = re.compile(r"[A-JL-Za-z0-9]+")
# what may stand between two such words in a file: marks and blanks, an escape, a letter that a mark or the like follows
# (NFC makes one character of them), the number of a list item
_BETWEEN: Final = (
    rb"(?:[^A-JL-Za-z0-9]|\\[bfnrt]|\\u[0-9a-fA-F]{4}|&[A-Za-z0-9]{1,31};"
    rb"|[A-Za-z](?=[\x80-\xff]|\\u|&)|[0-9]{1,9}[.)])+?"
)
_ID: Final = re.compile(r"[0-9a-hjkmnp-tv-z]{10,26}")
ENCODED: Final = (b"\\u00", b"&#", b"\0")


def fold(text: str) -> str:
    """Return *text* as texts are compared here."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(_MARKS.sub("", text).split())


def unescaped(text: str) -> Iterator[str]:
    """Yield *text*, then with its JSON and HTML escapes resolved, as far as it has any."""
    yield text
    resolved = {text}
    for step in (_from_json, _from_html):
        for one in tuple(resolved):
            other = step(one)
            if other not in resolved:
                resolved.add(other)
                yield other


def _from_json(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2]), text)
    if any("\ud800" <= char <= "\udbff" for char in plain):
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs become characters
    return plain


def _from_html(text: str) -> str:
    if "&" not in text:
        return text
    import html

    return html.unescape(text)


def decoded(data: bytes) -> Iterator[str]:
    """Yield the readings of some bytes: UTF-8, and UTF-16 where they look like it."""
    yield data.decode("utf-8", "replace")
    if b"\0" in data:
        for codec in ("utf-16-le", "utf-16-be"):
            yield data.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").decode(codec, "replace")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text folded line by line: *text*, where each part begins in it, and the line that the part is of."""

    text: str
    starts: tuple[int, ...]
    lines: tuple[int, ...]

    def line_at(self, place: int) -> int:
        """Return the line, from 1, of a place in the folded text."""
        at = bisect_right(self.starts, place) - 1
        return self.lines[at] if at >= 0 else 1


def folded_lines(text: str) -> Folded:
    """Return *text* folded, with the way back to its lines."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    parts, starts, numbers, at = [], [], [], 0
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        part = " ".join(_MARKS.sub("", line, count=1).split())
        if part:
            parts.append(part)
            starts.append(at)
            numbers.append(number)
            at += len(part) + 1
    return Folded(" ".join(parts), tuple(starts), tuple(numbers))


@dataclass(frozen=True)
class Needles:
    """What is searched for: *texts* of notes, *ids*, and *words*: let short texts count as words, too."""

    texts: tuple[str, ...]
    ids: frozenset[str] = frozenset()
    words: bool = False
    _cache: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def long(self) -> tuple[str, ...]:
        """Return the folded texts that are found inside others."""
        return tuple(text for text in dict.fromkeys(map(fold, self.texts)) if len(text) >= SHORT)

    @cached_property
    def short(self) -> frozenset[str]:
        """Return the folded texts that count as whole values, lines or words only."""
        return frozenset(text for text in map(fold, self.texts) if 0 < len(text) < SHORT)

    @cached_property
    def _short_words(self) -> re.Pattern[str] | None:
        if not self.words or not self.short:
            return None
        return re.compile("|".join(as_word(text) for text in sorted(self.short)))

    @cached_property
    def _prefixes(self) -> frozenset[str]:
        return frozenset(one[:ID_SHOWN] for one in self.ids)

    @cached_property
    def _by_word(self) -> tuple[dict[str, list[str]], tuple[str, ...]]:
        """Return the long texts by a word that stands whole inside each, and those without one."""
        table: dict[str, list[str]] = {}
        loose = []
        for text in self.long:
            inner = _WORD.findall(text)[1:-1]
            if len(self.long) > _MANY and inner:
                table.setdefault(max(inner, key=len), []).append(text)
            else:
                loose.append(text)
        return table, tuple(loose)

    def __bool__(self) -> bool:
        """Tell whether there is anything to search for."""
        return bool(self.long or self.short or self.ids)

    @cached_property
    def _bytes(self) -> tuple[re.Pattern[bytes], ...] | None:
        """Return patterns of which bytes must hold one to hold a needle, or None where that cannot be told."""
        patterns = [_as_bytes(text) for text in (*self.long, *self.short)]
        if len(patterns) + len(self._prefixes) > _MANY or None in patterns:
            return None
        return tuple(pattern for pattern in patterns if pattern is not None)

    def may_stand_in(self, data: bytes) -> bool:
        """Tell whether *data* needs a closer look; False is certain."""
        patterns = self._bytes
        return (
            patterns is None
            or any(one in data for one in self._prefix_bytes)
            or any(pattern.search(data) for pattern in patterns)
            or any(mark in data for mark in ENCODED)
        )

    @cached_property
    def _prefix_bytes(self) -> tuple[bytes, ...]:
        return tuple(one.encode() for one in self._prefixes)

    def is_held_by(self, value: str) -> bool:
        """Tell whether one value (a note, a field of a record) holds a text or an id."""
        return self.holds_text(value) or any(self._ids_in(one) for one in unescaped(value))

    def holds_text(self, value: str) -> bool:
        """Tell whether one value holds a text."""
        return any(self._in_folded(fold(one)) for one in unescaped(value))

    def _in_folded(self, folded: str) -> bool:
        if self._is_short(folded) or any(True for _ in self._short_spans(folded)):
            return True
        return any(True for _ in self._long_in(folded))

    def _is_short(self, folded: str) -> bool:
        """Tell whether a whole value or line is a short text."""
        return folded in self.short

    def _short_spans(self, folded: str) -> Iterator[tuple[int, int]]:
        """Yield where short texts stand as words, where they count so."""
        if self._short_words:
            yield from (found.span() for found in self._short_words.finditer(folded))

    def _long_in(self, folded: str) -> Iterator[str]:
        table, loose = self._by_word
        yield from (text for text in loose if text in folded)
        if table:
            for word in table.keys() & set(_WORD.findall(folded)):
                yield from (text for text in table[word] if text in folded)

    def _ids_in(self, text: str) -> bool:
        if len(self._prefixes) <= _MANY:
            return any(one in text for one in self._prefixes)
        return any(found[:ID_SHOWN] in self._prefixes for found in _ID.findall(text))

    def lines_in(self, data: bytes) -> list[int]:
        """Return the lines, from 1, of a file's bytes at which a text or an id begins, in order."""
        if not self or not self.may_stand_in(data):
            return []
        found: set[int] = set()
        for reading in decoded(data):
            for span in self.spans_in(reading):
                found.add(span[0])
        return sorted(found)

    def spans_in(self, text: str) -> list[tuple[int, int]]:
        """Return first and last line, from 1, of every place in *text* that holds a text or an id."""
        spans = set(self._spans_as_it_is(text))
        for line, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
            # an escaped text has its line breaks escaped, too: it stands in one line
            if ("\\" in raw or "&" in raw) and any(self.is_held_by(one) for one in list(unescaped(raw))[1:]):
                spans.add((line, line))
        return sorted(spans)

    def _spans_as_it_is(self, text: str) -> Iterator[tuple[int, int]]:
        folded = folded_lines(text)
        for needle in self._long_in(folded.text):
            yield from (_span(folded, at, len(needle)) for at in _places(needle, folded.text))
        yield from (_span(folded, start, end - start) for start, end in self._short_spans(folded.text))
        ends = (*folded.starts[1:], len(folded.text) + 1)
        for start, end, line in zip(folded.starts, ends, folded.lines, strict=False):
            part = folded.text[start : end - 1]
            if self._is_short(part) or (self._prefixes and self._ids_in(part)):
                yield line, line


def _as_bytes(text: str) -> re.Pattern[bytes] | None:
    """Return a pattern that every spelling of *text* in a file fits, or None for a text without enough of ASCII."""
    tokens = [token.encode() for token in _TOKEN.findall(text)]
    if not tokens or len(max(tokens, key=len)) < _TELLING:
        return None
    return re.compile(_BETWEEN.join(tokens))


def _span(folded: Folded, at: int, length: int) -> tuple[int, int]:
    return folded.line_at(at), folded.line_at(at + length - 1)


def _places(needle: str, text: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def as_word(text: str) -> str:
    """Return a pattern for a short text that is no part of a longer word, in scripts that have spaces."""
    before = r"(?<!\w)" if _has_borders(text[0]) else ""
    after = r"(?!\w)" if _has_borders(text[-1]) else ""
    return f"{before}{re.escape(text)}{after}"


def _has_borders(char: str) -> bool:
    return char.isalnum() and unicodedata.east_asian_width(char) not in "WF" and unicodedata.category(char) != "Lo"


def texts_of(values: Iterable[str]) -> tuple[str, ...]:
    """Return *values* without those that fold to nothing or to the same."""
    return tuple({fold(value): value for value in values if fold(value)}.values())
