"""The order of the notes that a query found: tiers first, then BM25 with what stands around a note.

A note is held as its terms in one string, two blanks between two terms and one at each end (`packed`), because
`str.count` then counts terms, pairs of terms and beginnings of terms exactly, at the speed of C. The nearest heading's
terms follow after `SEPARATOR`.

Tiers: 2 the whole query stands in the note, 1 all its words do, 0 some do. In a note longer than a passage the words
must stand within one passage, function words included, or every long note would hold every question's words.
Within a tier the score is BM25 (k1 1.0, b 0.4) over the wanted terms, plus
- word pairs of the query that stand side by side in the note (weight 0.4; no pairs of grams, which overlap anyway);
- terms that begin with the same five letters as a wanted word (0.3): inflections that no stemmer knew;
- for a short note, whose subject its neighbours often name: a wanted term that it lacks counts a half if the heading
  or the note beside it has it, 0.3 if the next but one has it. Never more, so that a note is not lifted by neighbours
  that say the same, and equal notes stay equal;
- for a long note, the best passage (0.2).
The two last fade into each other between 40 and 100 terms. Equal scores: pinned first, then newer.

A note is a result only if it or its heading holds a wanted term; of a term that no note holds, an inflection. The
numbers are one configuration for all scripts and note lengths, measured on LoCoMo dialogues 1-6 and XQuAD in four
languages (tests/bench/bench_search_quality.py). Pure.
"""

from __future__ import annotations

import heapq
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory_magic.text import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memory_magic.text.words import Query

SEPARATOR: Final = "\x1f"
SOME: Final = 0
ALL: Final = 1
PHRASE: Final = 2

_K1: Final = 1.0
_B_SHORT: Final = 0.1
_B_LONG: Final = 0.4
_PAIR: Final = 0.4
_FAMILY: Final = 0.3
_FAMILY_LETTERS: Final = 5
_BESIDE: Final = 0.5
_NEXT_BUT_ONE: Final = 0.3
_HEADING: Final = 0.5
_PASSAGE: Final = 40  # terms
_LONG: Final = 100  # terms
_PASSAGE_SHARE: Final = 0.2
_WITH_FAMILY: Final = re.compile(rf"[^\d!-/:-@\[-`{{-~]{{{_FAMILY_LETTERS + 1},}}")  # letters and marks only
_MANY_LOOKS: Final = 2_000  # terms times patterns, above which one pass over the terms is quicker
_SCORE_HALF: Final = 20.0  # the sum that is shown as half a tier


@dataclass(frozen=True, slots=True)
class Collection:
    """What the notes searched have in common: their number, average length in terms, how many hold each term.

    Of the *unknown* terms, which no note holds, *found* tells how many hold an inflection.
    """

    notes: int
    average: float
    found: Mapping[str, int]
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ranked:
    """One result; *score* is greater for better, its whole part is the *tier*; *terms* are those that it holds."""

    key: int
    tier: int
    score: float
    terms: tuple[str, ...]


@dataclass(slots=True)
class _Candidate:
    """What a note's text says about the query: its own terms, the heading's, how often each pattern stands in it."""

    key: int
    own: str
    heading: str
    length: int
    counts: tuple[int, ...]
    pinned: bool
    age: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two neighbouring words of the query; *wanted* is one of them that matters; *sampled*: the other does not."""

    pattern: str
    wanted: str
    sampled: bool


@dataclass(frozen=True, slots=True)
class Scanned:
    """One note of a scan: *terms* as `packed`, *age* greater for newer."""

    key: int
    terms: str
    section: tuple[str, ...] = ()
    pinned: bool = False
    age: tuple[int, int] = (0, 0)


def scan(text: str, notes: Sequence[Scanned], limit: int = 8) -> list[Ranked]:
    """Return the best of *notes*, given in file order, for a query: what the index finds, without one."""
    query = words.query(text)
    if not query.wanted:
        return []
    found = {term: sum(pattern(term) in note.terms for note in notes) for term in query.wanted}
    unknown = frozenset(term for term in query.wanted if not found[term])
    for term in unknown:
        if begin := beginnings(term):
            found[term] = sum(f" {begin}" in note.terms for note in notes)
    average = sum(length_of(note.terms) for note in notes) / max(1, len(notes))
    ranking = Ranking(query, Collection(len(notes), average, found, unknown))
    for note in notes:
        ranking.add(note.key, note.terms, pinned=note.pinned, age=note.age)
    for _, together in itertools.groupby(notes, key=lambda note: note.section):
        ranking.stand([note.key for note in together])
    return ranking.result(limit)


def packed(text: str, heading: str = "") -> str:
    """Return the terms of a note, and of the heading above it, as index and ranking hold them."""
    own = _join(words.terms(text))
    return f"{own}{SEPARATOR}{_join(words.terms(heading))}" if heading else own


def nearest(section: Sequence[str]) -> str:
    """Return the heading right above a note, or nothing."""
    return section[-1] if section else ""


def length_of(terms: str) -> int:
    """Return the number of a note's own terms."""
    own = terms.partition(SEPARATOR)[0]
    return own.count("  ") + 1 if own else 0


def beginnings(term: str) -> str:
    """Return what terms of the same family begin with, or nothing for a term without family."""
    return term[:_FAMILY_LETTERS] if _WITH_FAMILY.fullmatch(term) and not words.gram_size(term) else ""


class Ranking:
    """The candidates of one query: `add` them, tell how some `stand` together, take the `result`."""

    def __init__(self, query: Query, collection: Collection) -> None:
        self._query = query
        self._collection = collection
        self._average = max(1.0, collection.average)
        self._weights = [
            weight * rarity(collection.found.get(term, 0), collection.notes)
            for term, weight in zip(query.wanted, query.weights, strict=True)
        ]
        families = [
            (f" {begin}", weight * _FAMILY, term in collection.unknown)
            for term, weight in zip(query.wanted, self._weights, strict=True)
            if (begin := beginnings(term))
        ]
        self._weights += [weight for _, weight, _ in families]
        self._pairs = _pairs(query)
        self._wanted = len(query.wanted)
        self._stand_ins = [i for i, family in enumerate(families, self._wanted) if family[2]]
        # counts of a candidate are in this order: wanted terms, their families, pairs
        self._patterns = [
            *map(pattern, query.wanted),
            *(begin for begin, _, _ in families),
            *(pair.pattern for pair in self._pairs),
        ]
        exact = [term if not term.endswith(words.TAIL) else "" for term in query.wanted]
        self._exact_terms = [
            *zip(self._patterns, exact, strict=False),
            *((text, "") for text in self._patterns[len(exact) :]),
        ]
        self._phrase = _phrase(query)
        self._weight_of = dict(zip(query.wanted, self._weights, strict=False))
        asked = {*query.words, *query.wanted}
        self._needed = len(query.wanted) if query.complete else len(set(query.words))
        self._exact = {term for term in asked if not term.endswith(words.TAIL)}
        self._open_ended = [(term[: -len(words.TAIL)], term) for term in asked - self._exact]
        self._candidates: dict[int, _Candidate] = {}
        self._headings: dict[str, bool] = {}
        self._beside: dict[int, set[int]] = {}
        self._further: dict[int, set[int]] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._candidates

    def __len__(self) -> int:
        return len(self._candidates)

    def add(self, key: int, terms: str, *, pinned: bool = False, age: tuple[int, int] = (0, 0)) -> None:
        """Take in a note, or a neighbour of one, whether it holds a wanted term or not; greater *age* is newer."""
        own, _, heading = terms.partition(SEPARATOR)
        length = own.count("  ") + 1 if own else 0
        counts = (
            tuple(map(own.count, self._patterns)) if length * len(self._patterns) < _MANY_LOOKS else self._counted(own)
        )
        if heading and not self._says_something(heading):
            heading = ""
        self._candidates[key] = _Candidate(key, own, heading, length, counts, pinned, age)

    def leaders(self, count: int) -> list[int]:
        """Return the best short candidates as far as their own words tell: those that neighbours may lift."""
        order = [
            (self._sum(one.counts, one.length, shortness), one.key)
            for one in self._candidates.values()
            if (shortness := _shortness(one.length))
        ]
        return [key for _, key in heapq.nlargest(count, order)]

    def stand(self, keys: Sequence[int]) -> None:
        """Tell that notes stand one after the other, in this order; those that were not added count for nothing."""
        for distance, near in ((1, self._beside), (2, self._further)):
            for one, other in zip(keys, keys[distance:], strict=False):
                if one in self._candidates and other in self._candidates:
                    near.setdefault(one, set()).add(other)
                    near.setdefault(other, set()).add(one)

    def result(self, limit: int) -> list[Ranked]:
        """Return the best *limit* candidates, best first."""
        hits = [one for one in self._candidates.values() if self._is_hit(one)]
        self._weights[len(self._patterns) - len(self._pairs) :] = self._pair_weights(hits)
        ranked = [(*self._tier_and_score(one), one) for one in hits]
        ranked.sort(key=lambda found: (found[0], found[1], found[2].pinned, found[2].age), reverse=True)
        return [self._ranked(*found) for found in ranked[: max(0, limit)]]

    def _says_something(self, heading: str) -> bool:
        """Tell whether a heading, which many notes share, holds any pattern."""
        if heading not in self._headings:
            self._headings[heading] = any([text in heading for text in self._patterns])  # noqa: C419
        return self._headings[heading]

    def _counted(self, own: str) -> tuple[int, ...]:
        """Return how often each pattern stands in a long note: for many patterns one look at each term is less."""
        there = Counter(own.split())
        counts = [there.get(term, 0) if term else own.count(text) for text, term in self._exact_terms]
        return tuple(counts)

    # -- one candidate -----------------------------------------------------------------------------------------

    def _is_hit(self, one: _Candidate) -> bool:
        """Tell whether a note or its heading holds a wanted term, or the note an inflection of an unknown one."""
        return (
            any(one.counts[: self._wanted])
            or any(one.counts[i] for i in self._stand_ins)
            or any(text in one.heading for text in self._patterns[: self._wanted])
        )

    def _ranked(self, tier: int, score: float, one: _Candidate) -> Ranked:
        held = tuple(term for term, count in zip(self._query.wanted, one.counts, strict=False) if count)
        return Ranked(one.key, tier, tier + round(score / (score + _SCORE_HALF), 6), held)

    def _tier_and_score(self, one: _Candidate) -> tuple[int, float]:
        shortness = _shortness(one.length)
        counts: Sequence[float] = one.counts
        if shortness and (one.heading or one.key in self._beside):
            counts = self._with_surroundings(one, shortness)
        score = self._sum(counts, one.length, shortness)
        together = True
        if one.length > _PASSAGE:
            best, together = self._passage(one)
            score += _PASSAGE_SHARE * (1 - shortness) * best
        if self._phrase in one.own:
            return PHRASE, round(score, 9)
        return (ALL if together and all(one.counts[: self._wanted]) else SOME), round(score, 9)

    def _sum(self, counts: Sequence[float], length: int, shortness: float) -> float:
        """Return BM25 over all patterns."""
        share = _B_LONG + (_B_SHORT - _B_LONG) * shortness
        norm = _K1 * (1 - share + share * length / self._average)
        total = 0.0
        for weight, count in zip(self._weights, counts, strict=False):  # pairs have weights at the end
            if count:
                total += weight * count / (count + norm)
        return total * (_K1 + 1)

    def _with_surroundings(self, one: _Candidate, shortness: float) -> list[float]:
        """Return the counts, with what heading and neighbours lend for patterns that a short note lacks."""
        beside = [self._candidates[key].counts for key in self._beside.get(one.key, ())]
        further = [self._candidates[key].counts for key in self._further.get(one.key, ())]
        counts: list[float] = list(one.counts)
        for i, count in enumerate(counts):
            if count:
                continue
            if any([others[i] for others in beside]):  # noqa: C419 - lists of two: a generator costs more
                counts[i] = _BESIDE * shortness
            elif one.heading and self._patterns[i] in one.heading:
                counts[i] = _HEADING * shortness
            elif any([others[i] for others in further]):  # noqa: C419
                counts[i] = _NEXT_BUT_ONE * shortness
        return counts

    def _passage(self, one: _Candidate) -> tuple[float, bool]:
        """Return the weight of the distinct wanted terms in the best passage, and whether one has all words."""
        held = [weight for weight, count in zip(self._weights, one.counts[: self._wanted], strict=False) if count]
        if len(held) <= 1:
            return sum(held), self._needed <= len(held)
        places = self._places(one.own.split())
        weights, needed = self._weight_of, self._needed
        present: dict[str, int] = {}
        best, total, together, start = 0.0, 0.0, False, 0
        for place, term in places:
            if term not in present:
                total += weights.get(term, 0.0)
            present[term] = present.get(term, 0) + 1
            while places[start][0] < place - _PASSAGE:
                gone = places[start][1]
                present[gone] -= 1
                if not present[gone]:
                    del present[gone]
                    total -= weights.get(gone, 0.0)
                start += 1
            best = max(best, total)
            together = together or len(present) >= needed
        return best, together

    def _places(self, terms: Sequence[str]) -> list[tuple[int, str]]:
        """Return where in a note each word of the query stands."""
        exact = self._exact
        places = [(place, term) for place, term in enumerate(terms) if term in exact]
        for begin, term in self._open_ended:
            places += [(place, term) for place, one in enumerate(terms) if one.startswith(begin)]
        return sorted(places) if self._open_ended else places

    def _pair_weights(self, hits: Sequence[_Candidate]) -> list[float]:
        """Return the weight of each pair by how many notes hold it.

        That is counted among the hits. Those are all that hold a pair of wanted words; for a pair with a function word
        they are a sample, and the wanted word's own number is the bound.
        """
        notes, weights = self._collection.notes, []
        scale = max(1.0, notes / max(1, len(hits)))
        first = len(self._patterns) - len(self._pairs)
        for i, pair in enumerate(self._pairs, first):
            found: float = sum(1 for one in hits if one.counts[i])
            if pair.sampled:
                known = self._collection.found.get(pair.wanted, notes)
                found = max(found, min(found * scale, known))
            weights.append(_PAIR * rarity(found, notes))
        return weights


# -- parts -----------------------------------------------------------------------------------------------------


def _join(terms: Sequence[str]) -> str:
    return f" {'  '.join(terms)} " if terms else ""


def pattern(term: str) -> str:
    """Return what stands in a packed note that holds *term*, or a term that begins like one with a tail."""
    return f" {term[: -len(words.TAIL)]}" if term.endswith(words.TAIL) else f" {term} "


def _phrase(query: Query) -> str:
    """Return what stands in a packed note that holds the whole query."""
    return f"{_join(query.words[:-1])}{pattern(query.words[-1])}" if query.words else SEPARATOR


def _pairs(query: Query) -> list[_Pair]:
    """Return the neighbouring words of the query, both from scripts with words."""
    wanted = set(query.wanted)
    pairs = []
    for first, second in dict.fromkeys(zip(query.words, query.words[1:], strict=False)):
        if words.gram_size(first) or words.gram_size(second):
            continue
        held = [word for word in (first, second) if word in wanted]
        pairs.append(_Pair(f" {first}  {second} ", held[0] if held else "", len(held) < 2))  # noqa: PLR2004
    return pairs


def rarity(found: float, notes: int) -> float:
    """Return the inverse document frequency of a term that *found* of *notes* hold, never negative."""
    found = min(found, notes)
    return math.log(1 + (notes - found + 0.5) / (found + 0.5))


def _shortness(length: float) -> float:
    """Return 1 for a note that a passage holds, 0 for a long one, and between them what is between."""
    return min(1.0, max(0.0, (_LONG - length) / (_LONG - _PASSAGE)))
