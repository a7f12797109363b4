"""Search for texts that one does not have: by keyed digests, so that a purge that was interrupted can be proven, too.

The plan of a purge holds no text, and once the journal is rewritten nobody has it. What the plan holds of each text is
the digest of its folded form, its length, and an *anchor*: the digest of a word that stands whole inside it. A place
where a word of the right length has the anchor's digest is digested as a whole; the rest is never looked at. A text of
two words is tried at every space between two words, a text of one word at every place inside the longer words.

The key is random and goes with the plan. Whoever reads the plan in that moment could test guesses against it, as
against the ids that it holds anyway.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic.store.purge.search import ENCODED, Needles, as_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SPACED: Final = re.compile(r"\S+")
_PLAIN: Final = re.compile(r"[A-JL-Za-z0-9]+")  # in a file such a word is written in one way, but for escapes
_TOKEN, _WORD, _GAP, _PIECE = "token", "word", "gap", "piece"
_WHOLE, _SHORT = "whole", "short"  # too short to be found inside other texts; the second counts as a word


class Seal(NamedTuple):
    """What a plan holds of one text: *kind* of anchor, *length* of the text, the anchor's place, length and digest."""

    kind: str
    length: int
    place: int
    width: int
    anchor: str
    digest: str


def digest_of(key: bytes, text: str) -> str:
    """Return the keyed digest of a text."""
    return hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def seal(needles: Needles, key: bytes) -> list[str]:
    """Return what a plan holds of *needles*: one word for each text."""
    found = [_of_long(text, key) for text in needles.long]
    kind = _SHORT if needles.words else _WHOLE
    found += [Seal(kind, len(text), 0, 0, "", digest_of(key, text)) for text in sorted(needles.short)]
    return [":".join(map(str, one)) for one in found]


def _of_long(text: str, key: bytes) -> Seal:
    inner = list(_SPACED.finditer(text))[1:-1]
    digest = digest_of(key, text)
    if inner:
        anchor = max(inner, key=lambda one: (_PLAIN.fullmatch(one[0]) is not None, len(one[0])))
        kind = _TOKEN if _PLAIN.fullmatch(anchor[0]) else _WORD
        return Seal(kind, len(text), anchor.start(), len(anchor[0]), digest_of(key, anchor[0]), digest)
    if " " in text:
        return Seal(_GAP, len(text), text.index(" "), 0, "", digest)
    return Seal(_PIECE, len(text), 0, 0, "", digest)


def unseal(words: Iterable[str]) -> list[Seal]:
    """Return the seals that a plan holds; `ValueError` for what is none."""
    found = []
    for word in words:
        kind, length, place, width, anchor, digest = word.split(":")
        if kind not in {_TOKEN, _WORD, _GAP, _PIECE, _WHOLE, _SHORT}:
            raise ValueError(word)
        found.append(Seal(kind, int(length), int(place), int(width), anchor, digest))
    return found


def _pattern(widths: Iterable[int]) -> re.Pattern[bytes]:
    """Return a pattern for the plain words of some lengths."""
    lengths = "|".join(f"[A-Za-z0-9]{{{width}}}" for width in sorted(widths)) or "$^"
    return re.compile(rf"(?<![A-Za-z0-9])(?:{lengths})(?![A-Za-z0-9])".encode())


class SealedNeedles(Needles):
    """Needles whose texts are not known: the same answers, found by digests."""

    def __init__(self, seals: Iterable[str], key: bytes, ids: Iterable[str]) -> None:
        """Search for the texts of *seals* and for *ids*."""
        listed = unseal(seals)
        super().__init__((), frozenset(ids), any(one.kind == _SHORT for one in listed))
        self._key = key
        self._anchors: dict[str, list[Seal]] = {}
        for one in listed:
            if one.width:
                self._anchors.setdefault(one.anchor, []).append(one)
        self._widths = frozenset(one.width for one in listed if one.width)
        self._tokens = _pattern(self._widths) if all(one.kind == _TOKEN for one in listed) else None
        self._gaps = sorted({(one.place, one.length) for one in listed if one.kind == _GAP})
        self._pieces = sorted({one.length for one in listed if one.kind == _PIECE})
        self._shorts = sorted({one.length for one in listed if one.kind in {_WHOLE, _SHORT}})
        self._digests = frozenset(one.digest for one in listed)

    def __bool__(self) -> bool:
        """Tell whether there is anything to search for."""
        return bool(self._digests or self.ids)

    def may_stand_in(self, data: bytes) -> bool:
        """Tell whether *data* needs a closer look; False is certain."""
        if self._tokens is None or b"\\" in data or any(mark in data for mark in ENCODED):
            return True
        if any(one in data for one in self._prefix_bytes):
            return True
        return any(digest_of(self._key, one.decode()) in self._anchors for one in set(self._tokens.findall(data)))

    def _is_short(self, folded: str) -> bool:
        return len(folded) in self._shorts and self._is_one(folded)

    def _is_one(self, text: str) -> bool:
        return digest_of(self._key, text) in self._digests

    def _long_in(self, folded: str) -> Iterator[str]:
        found: set[str] = set()
        if self._widths:
            found |= self._by_anchor(folded)
        if self._gaps:
            found |= self._by_gap(folded)
        if self._pieces:
            found |= self._inside(folded)
        yield from sorted(found)

    def _by_anchor(self, folded: str) -> set[str]:
        found = set()
        known: dict[str, list[Seal]] = {}
        for word in _SPACED.finditer(folded):
            text = word[0]
            if len(text) not in self._widths:
                continue
            if text not in known:
                known[text] = self._anchors.get(digest_of(self._key, text), [])
            for one in known[text]:
                start = word.start() - one.place
                if start >= 0 and digest_of(self._key, piece := folded[start : start + one.length]) == one.digest:
                    found.add(piece)
        return found

    def _by_gap(self, folded: str) -> set[str]:
        pairs = set()
        words = folded.split(" ")
        for before, after in pairwise(words):
            for place, length in self._gaps:
                rest = length - place - 1
                if len(before) >= place and len(after) >= rest:
                    pairs.add(f"{before[len(before) - place :]} {after[:rest]}")
        return {pair for pair in pairs if self._is_one(pair)}

    def _inside(self, folded: str) -> set[str]:
        found = set()
        for word in set(folded.split(" ")):
            for length in self._pieces:
                found |= {word[at : at + length] for at in range(len(word) - length + 1)}
        return {piece for piece in found if self._is_one(piece)}

    def _short_spans(self, folded: str) -> Iterator[tuple[int, int]]:
        if not self.words:
            return
        for length in self._shorts:
            pieces = {folded[at : at + length] for at in range(len(folded) - length + 1)}
            for piece in pieces:
                if self._is_one(piece):
                    yield from (found.span() for found in re.finditer(as_word(piece), folded))
