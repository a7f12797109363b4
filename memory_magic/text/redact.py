"""Secrets out, everything else untouched: each becomes `[REDACTED_SECRET]`, counted by kind and never by value.

`redact` asks three finders for spans (keys that show themselves, values behind a telling name, places where secrets
stand), merges what overlaps, and puts the marker in its place. Characters that nobody sees can split a key: where a
text holds any, the same is asked of the text without them and the spans are brought back to the original.

A cut changes what its neighbours stand beside, so the result is looked at again until nothing is found; a text without
secrets is read once. Invariants: `redact(redact(t).text).text == redact(t).text`; the text outside of the spans stays
as it was, character for character; time is linear in the text; no value is kept, logged or raised.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from memory_magic.text.invisible import HIDDEN
from memory_magic.text.secret_judge import Grade, Style, grade, is_secret, pattern
from memory_magic.text.secret_kinds import MARKER
from memory_magic.text.secret_places import find_places
from memory_magic.text.secret_tokens import KIND_OF_GRADE, Page, find_tokens
from memory_magic.text.secret_values import find_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_magic.text.secret_tokens import Found

__all__ = ["MARKER", "Redacted", "redact", "redact_json"]

ROUNDS: Final = 4
"""How often a cut may bring to light another secret."""

_NEIGHBOURHOOD: Final = 20_480
_DEEPEST: Final = 100
_LONGEST_NAME: Final = 100
_GENERAL_KINDS: Final = frozenset({"password", "secret", "token", "key", "header", "kubernetes", "url_password"})
_CONTROLS: Final = bytes(
    code for code in range(128) if not chr(code).isprintable() and chr(code) not in "\t\n\r\x0b\x0c"
)
_STRANGE: Final = bytes.maketrans(_CONTROLS, b"?" * len(_CONTROLS))


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind were taken out."""

    text: str
    kinds: dict[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Return *text* with each secret replaced by the marker, and the counts by kind."""
    counts: dict[str, int] = {}
    found = _merged(_find(text))
    for _ in range(ROUNDS):
        if not found:
            break
        for _, _, kind in found:
            counts[kind] = counts.get(kind, 0) + 1
        text, places = _replaced(text, found)
        found = _merged(list(_find_near(text, places)))
    return Redacted(text, counts)


def _find_near(text: str, places: list[int]) -> Iterator[Found]:
    """Yield what shows only now, looking as far around each of *places* as any finder looks."""
    done = 0
    for at in places:
        if at < done:
            continue
        low = max(at - _NEIGHBOURHOOD, done)
        done = at + _NEIGHBOURHOOD
        while (following := bisect_right(places, done)) and places[following - 1] + _NEIGHBOURHOOD > done:
            done = places[following - 1] + _NEIGHBOURHOOD
        low = 0 if low == 0 else text.find("\n", low, at) + 1 or low
        yield from ((start + low, end + low, kind) for start, end, kind in _find(text[low:done]))


def _replaced(text: str, found: list[Found]) -> tuple[str, list[int]]:
    """Return *text* with the marker in place of *found*, and where the markers stand in it."""
    pieces: list[str] = []
    places: list[int] = []
    done = length = 0
    for start, end, _ in found:
        places.append(length + start - done)
        length = places[-1] + len(MARKER)
        pieces += text[done:start], MARKER
        done = end
    return "".join([*pieces, text[done:]]), places


def _merged(found: list[Found]) -> list[Found]:
    """Join overlapping spans, keeping the most telling kind."""
    merged: list[Found] = []
    for start, end, kind in sorted(found):
        if merged and start < merged[-1][1]:
            low, high, first = merged[-1]
            merged[-1] = low, max(high, end), kind if first in _GENERAL_KINDS else first
        else:
            merged.append((start, end, kind))
    return merged


def _find(text: str) -> list[Found]:
    """List the secrets of *text*, also those that invisible characters split."""
    page = Page.of(text)
    found = [*find_tokens(page), *find_named(page), *find_places(page)]
    if _splits(page):
        found += _find_split(text)
    return [span for span in found if span[0] < span[1]]


_SPLIT: Final = rb"\?(?<=[!->@-~]\?)\?*+(?=[!->@-~])"


@cache
def _split() -> re.Pattern[bytes]:
    return re.compile(_SPLIT)


def _splits(page: Page) -> bool:
    """Tell whether invisible characters, and nothing else, stand between two visible characters of ASCII."""
    if page.text.isascii() and len(page.low.translate(None, _CONTROLS)) == len(page.low):
        return False
    # a control becomes `?` too; a `?` of an ASCII text is no invisible character and is sorted out below
    strange = page.low.translate(_STRANGE)
    hidden = pattern(rf"[{HIDDEN}]+")
    return any(hidden.fullmatch(page.text, *gone.span()) for gone in _split().finditer(strange))


def _pieces(text: str) -> list[tuple[int, int]]:
    """Return the pieces between the invisible characters of *text*; line breaks of any kind are visible."""
    kept: list[tuple[int, int]] = []
    done = 0
    for gone in pattern(rf"(?:\x1b\[[0-?]*+[ -/]*+[@-~]|(?![\r\x0b\x0c\x85\u2028\u2029])[{HIDDEN}])++").finditer(text):
        kept.append((done, gone.start()))
        done = gone.end()
    return [*kept, (done, len(text))]


def _find_split(text: str) -> list[Found]:
    """List the secrets that show when the invisible characters are left out, with bounds in *text*."""
    kept = _pieces(text)
    page = Page.of("".join(text[start:end] for start, end in kept))
    found = sorted([*find_tokens(page), *find_named(page), *find_places(page)])
    return list(_brought_back(found, kept))


def _brought_back(found: list[Found], kept: list[tuple[int, int]]) -> Iterator[Found]:
    """Give the bounds of *found*, measured in the concatenation of the pieces *kept*, in the original text."""
    lengths = accumulate((end - start for start, end in kept), initial=0)
    begins = list(lengths)[:-1]

    def original(at: int) -> int:
        piece = bisect_right(begins, at) - 1
        return kept[piece][0] + at - begins[piece]

    for start, end, kind in found:
        if start < end:
            yield original(start), original(end - 1) + 1, kind


def redact_json(value: object) -> tuple[object, dict[str, int]]:
    """Return *value* (what `json.loads` gives) with each string leaf and key redacted, and the counts by kind.

    The key of a leaf is its name: `{"token": "…"}` is caught, and so is `{"name": "TOKEN", "value": "…"}`. What is
    nested deeper than a hundred levels becomes the marker, kind `too_deep`: a leaf is never let through unread.
    """
    counts: dict[str, int] = {}
    return _leaf(value, "", 0, counts), counts


def _leaf(value: object, name: str, depth: int, counts: dict[str, int]) -> object:
    """Redact one value that stands under the key *name*."""
    if isinstance(value, str):
        return _named_text(value, name, counts)
    if isinstance(value, dict | list | tuple):
        if depth >= _DEEPEST:
            return _marked("too_deep", counts)
        if isinstance(value, dict):
            return _object(value, name, depth + 1, counts)
        items = [_leaf(item, name, depth + 1, counts) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, int | float) and not isinstance(value, bool) and grade(name) == Grade.PASSWORD:
        return _marked("password", counts) if is_secret(str(value), Grade.PASSWORD, Style.TALK) else value
    return value


def _object(value: dict[object, object], name: str, depth: int, counts: dict[str, int]) -> dict[object, object]:
    """Redact keys and values; a field called *value* is named by its neighbour called *name* or *key*."""
    label = next((str(value[key]) for key in ("name", "key", "Name", "Key") if isinstance(value.get(key), str)), name)
    result: dict[object, object] = {}
    for key, item in value.items():
        own = str(key)
        new = _named_text(own, "", counts) if isinstance(key, str) else key
        while new in result:
            new = f"{new}+"  # two keys became the marker: neither value may be lost
        result[new] = _leaf(item, label if own.lower() == "value" else own, depth, counts)
    return result


def _named_text(text: str, name: str, counts: dict[str, int]) -> str:
    """Redact one string, as a whole when its name makes it a secret."""
    rank = grade(name) if name and len(name) <= _LONGEST_NAME else Grade.NONE
    if rank and text != MARKER and is_secret(text, rank, Style.QUOTED):
        return _marked(KIND_OF_GRADE[rank], counts)
    if name.lower().endswith("authorization"):
        return _header_text(text, name, counts)
    done = redact(text)
    for kind, count in done.kinds.items():
        counts[kind] = counts.get(kind, 0) + count
    return done.text


def _header_text(text: str, name: str, counts: dict[str, int]) -> str:
    """Redact the value of an `Authorization` field as if the name stood in front of it."""
    done = redact(f"{name}: {text}")
    for kind, count in done.kinds.items():
        counts[kind] = counts.get(kind, 0) + count
    return done.text[len(name) + 2 :]


def _marked(kind: str, counts: dict[str, int]) -> str:
    counts[kind] = counts.get(kind, 0) + 1
    return MARKER
