"""Secrets that show themselves: keys with a provider's prefix or shape, and random runs behind a telling name.

`Page` holds the text with two copies as ASCII bytes of the same length: lower-cased, and with each letter, digit, `_`
and `-` as an `x`. There `bytes.find` leaps from run to run of twenty `x`, a hundred times faster than an expression
that tries every alternative everywhere. A run is judged at its start, at the pieces that dots and the like join to it
on the left (`hvs.`, `1//0`), and behind each `-` and `_` inside of it.

Invariants: finders yield `(start, end, kind)`, possibly overlapping; each looks a fixed distance to the left, and to
the right only along characters that belong to its own run, so time is linear on any input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from memory_magic.text import secret_kinds as kinds
from memory_magic.text.secret_judge import (
    LONGEST_JUDGED,
    Grade,
    Style,
    grade,
    is_placeholder,
    is_secret,
    is_wordy,
    mixes_case,
    pattern,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

Found = tuple[int, int, str]
"""Start, end and kind of a secret."""

KIND_OF_GRADE: Final = {
    Grade.VENDOR: "key",
    Grade.WEAK: "key",
    Grade.TOKEN: "token",
    Grade.SECRET: "secret",
    Grade.PASSWORD: "password",
}

_RUN: Final = b"x" * 20
_LOOK_BACK = 100
_PIECES_BACK = 4
_PIECES_INSIDE = 16
_LONGEST_BODY = 2048
_SHAPE: Final = bytes(
    ord("x") if chr(code) in "-_" or (chr(code).isalnum() and chr(code).isascii()) else ord(" ") for code in range(256)
)
_INDEX_LENGTH = 3


@dataclass(frozen=True, slots=True)
class Page:
    """A text, the same in lower-case ASCII, and with every character of a word as an `x`."""

    text: str
    low: bytes
    shape: bytes

    @classmethod
    def of(cls, text: str) -> Page:
        """Write the two copies: what is not ASCII, and nothing else, becomes `?`, so that offsets stay the same."""
        plain = text.encode() if text.isascii() else text.replace("?", ".").encode("ascii", "replace")
        return cls(text, plain.lower(), plain.translate(_SHAPE))

    def word_start(self, at: int) -> int:
        """Return where the word that ends at *at* begins, looking back a fixed distance."""
        floor = max(at - _LOOK_BACK, 0)
        return max(self.shape.rfind(b" ", floor, at) + 1, floor)


def end_of(source: str, text: str, start: int) -> int:
    """Return where the expression *source* that begins at *start* ends, *start* itself where it does not match."""
    match = pattern(source).match(text, start)
    return match.end() if match else start


@cache
def _end_of_run() -> re.Pattern[bytes]:
    return re.compile(b"x+")


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A row of the dictionary: what a key begins with, and what must follow."""

    text: str
    kind: str
    characters: str
    length: str
    is_exact: bool


@cache
def _index() -> dict[str, tuple[_Prefix, ...]]:
    """Order the dictionary by the first three characters, longest prefix first."""
    rows: dict[str, list[_Prefix]] = {}
    for kind, lines in kinds.PREFIXES.items():
        for line in lines:
            text, _, rule = line.rpartition(" ")
            low, _, high = rule[1:].partition("-")
            stop = "(?![A-Za-z0-9])" if high else ""
            row = _Prefix(
                text, kind, f"[{kinds.CHARACTERS[rule[0]]}]", f"{{{low},{high or _LONGEST_BODY}}}+{stop}", bool(high)
            )
            rows.setdefault(text[:_INDEX_LENGTH], []).append(row)
    return {key: tuple(sorted(found, key=lambda row: -len(row.text))) for key, found in rows.items()}


def find_tokens(page: Page) -> Iterator[Found]:
    """Yield each long run that is a key by its prefix, its shape, or the name in front of it."""
    at, shape, text = 0, page.shape, page.text
    end_of_run, digit = _end_of_run().match, pattern("[0-9]").search
    while (start := shape.find(_RUN, at)) >= 0:
        run = end_of_run(shape, start)
        at = run.end() if run else start + 1
        has_digit = digit(text, start, at) is not None
        if has_digit or not _is_name(text[start:at]):
            for found in _judge_run(page, start, at, has_digit=has_digit):
                at = max(at, found[1])
                yield found


def _is_name(run: str) -> bool:
    """Tell whether *run*, without a digit, is a snake_case, kebab-case or SCREAMING_CASE name or a rule of dashes."""
    return ((run.islower() or run.isupper()) and not run.isalpha()) or not run.strip("-_")


def _judge_run(page: Page, start: int, end: int, *, has_digit: bool) -> Iterator[Found]:
    for place in _starts(page, start, end):
        found = prefixed(page.text, place)
        if found:
            yield found
            return
    if has_digit:
        yield from _shaped(page, start, end)
        yield from _named(page, start, end)


def _starts(page: Page, start: int, end: int) -> Iterator[int]:
    """Yield where a prefix may begin: at pieces joined to the left of the run, at it, behind each `-` in it."""
    text, lefts = page.text, [start]
    while len(lefts) <= _PIECES_BACK and lefts[-1] and text[lefts[-1] - 1] in "./~$:":
        lefts.append(page.word_start(lefts[-1] - 1))
    yield from reversed(lefts)
    inner = start
    for _ in range(_PIECES_INSIDE):
        inner = text.find("-", inner, end) + 1
        if not inner:
            break
        yield inner


def prefixed(text: str, at: int) -> Found | None:
    """Return the key that begins at *at* with a prefix of the dictionary, if one does."""
    for row in _index().get(text[at : at + _INDEX_LENGTH], ()):
        if text.startswith(row.text, at) and not (row.text.isalnum() and _is_inside_base64(text, at)):
            body = pattern(row.characters + row.length).match(text, at + len(row.text))
            if body and _is_plausible(row, body[0]):
                end = body.end() if row.is_exact else end_of(f"{row.characters}*+", text, body.end())
                return at, _without_full_stop(text, end), row.kind
    return None


def _is_inside_base64(text: str, at: int) -> bool:
    """Tell whether the run at *at* goes on what stood before it: a `+` or `/` of Base64 is no boundary of a key."""
    if text[at - 1 : at] not in {"+", "/"}:
        return False
    before = text[max(at - 17, 0) : at - 1]
    return pattern(r"[A-Za-z0-9+/]{16}").fullmatch(before) is not None and mixes_case(before)


def _without_full_stop(text: str, end: int) -> int:
    """Leave the full stop or comma of the sentence out of a key whose body may hold one."""
    while text[end - 1] in ".,":
        end -= 1
    return end


def _is_plausible(row: _Prefix, body: str) -> bool:
    """Tell whether *body* is a key and not words behind something that looks like a prefix."""
    body = body[:LONGEST_JUDGED]
    if is_placeholder(row.text + body) or is_placeholder(body) or not pattern("[A-Za-z]").search(body):
        return False
    if not pattern(r"[._-]").search(body):
        return row.is_exact or mixes_case(body) or pattern("[0-9]").search(body) is not None
    return not is_wordy(body)


_SHAPES: Final = (
    r"(?P<mailchimp>[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9_-]))"
    r"|(?P<maxmind>[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9_-]))"
    r"|(?P<one_password>A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Za-z0-9_-]))"
    r"|(?P<discord>[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-]))"
    r"|(?P<jwt>ey[\w-]{12,}+\.ey[\w/+=-]{8,}+(?:\.[\w/+=-]*+)?)"
    r"|(?P<airtable>pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?![A-Za-z0-9]))"
    r"|(?P<harness>[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}(?![A-Za-z0-9]))"
    r"|(?P<terraform>[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{50,}+)"
    r"|(?P<azure>[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![\w-])|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}(?![\w-]))"
    r"|(?P<new_relic>[0-9a-f]{32}(?:[0-9a-f]{4}|FFFF)NRAL(?![\w-]))"
    r"|(?P<twitter>A{20}[A-Za-z0-9]{1,60}+(?:%[0-9A-F]{2}[A-Za-z0-9]{1,100}+)++)"
    r"|(?P<zhipu>[a-f0-9]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9.]))"
)
"""Keys without a prefix that no word, hash or number is shaped like."""

_JOINED: Final = (
    r"(?<![\w/-])(?:(?P<asana>[0-9]/[0-9]{13,20}(?:/[0-9]{13,20})?:[a-f0-9]{32})|(?P<telegram>[0-9]{8,10}:A[\w-]{32,36})|(?P<facebook>[0-9]{15,16}\|[\w-]{27,40})"
    r"|(?P<hashicorp>s\.(?=[A-Za-z]*[0-9])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[A-Za-z0-9]{24}))(?![\w-])"
)
"""Keys whose first part is a number or one letter, shorter than a run."""

_LONGEST_ID = 48
_WORDS_BACK = 2


def _shaped(page: Page, start: int, end: int) -> Iterator[Found]:
    """Yield the run, with what a dot joins to its left, when it has a shape that one provider alone gives its keys."""
    text = page.text
    before = text[max(start - 2, 0) : start]
    if before[-1:] in {":", "|"} or before == "s.":
        whole = pattern(_JOINED).search(text, max(start - _LONGEST_ID, 0), end + 1)
        if whole and whole.end() == end and whole.lastgroup and not is_placeholder(whole[0]):
            yield whole.start(), end, whole.lastgroup
    for place in _words_before(page, start):
        whole = pattern(_SHAPES).match(text, place)
        if whole and whole.lastgroup and not is_placeholder(whole[0]):
            yield place, whole.end(), whole.lastgroup
            return


def _named(page: Page, start: int, end: int) -> Iterator[Found]:
    """Yield the run when it is random and the name before `=` or `:` says that this is a secret."""
    text = page.text
    left = text[max(start - _LOOK_BACK, 0) : start]
    sign = max(left.rfind("="), left.rfind(":"))
    if sign < 0:
        return
    opener = left[sign + 1 :].lstrip(":\"' \t\\`>")
    name = pattern(r"(?<![\w.-])[\w.-]++(?=[\"'`\]\\ \t:]{0,6}+$)").search(left[:sign])
    rank = grade(name[0]) if name else Grade.NONE
    if rank == Grade.NONE or not pattern(r"[\w./+~%-]*+").fullmatch(opener):
        return
    if rank == Grade.WEAK and "ookie:" in left:
        rank = Grade.TOKEN
    low, high = start - len(opener), end_of(r"[\w./+~%=-]*+", text, end)
    if is_secret(text[low:high], rank, Style.QUOTED):
        yield low, high, KIND_OF_GRADE[rank]


def _words_before(page: Page, start: int) -> Iterator[int]:
    """Yield where the words begin that dots join to the run at *start*, the farthest first, and *start*."""
    places = [start]
    while len(places) <= _WORDS_BACK and places[-1] and page.text[places[-1] - 1] == ".":
        places.append(page.word_start(places[-1] - 1))
    yield from reversed(places)
