"""The search terms of a text, the same for index and query.

A text is cut at white space into chunks, and each chunk into terms by a function of the chunk alone, so that its terms
are kept in a cache: most chunks of a memory are words seen before. A chunk becomes, after NFKC:

- letters, digits and their combining marks: case-folded and stemmed where the script has a stemmer (`scripts`); a Latin
  word with diacritics also without them, so that `cafe` finds `café`;
- what connectors join (`gen-itgc`, `20.04`, `don't`, `Downloads/transcripts`, `snake_case`): whole and by part, a path
  also by its segments; `camelCase` whole and by part; `C++` and `C#` whole;
- runs of scripts without spaces: overlapping pairs or triples, and at the end of the run what is left of them, marked
  by `TAIL` (`缩进` gives `缩进` and `进…`), so that every shorter piece is the beginning of some term;
- symbols and emoji: one term each; a chunk of nothing but punctuation: itself.

A query drops the tails (a note need not end there) and, unless nothing else is left, stop words. All functions are
pure and take any string: control characters, lone surrogates and NUL separate words. No term holds white space or a
control character.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from memory_magic.text.scripts import PAIRED, TRIPLED, stemmer_for
from memory_magic.text.stop_words import stop_words

if TYPE_CHECKING:
    from collections.abc import Iterator

TAIL: Final = "…"  # NFKC turns it into three dots, so no text can hold it
LONGEST_TERM: Final = 64  # characters; longer words are cut, in index and query alike
MOST_WANTED: Final = 128  # distinct terms of one query; of more the longest, which are the rarest

_CONNECTORS: Final = "-_./'@:+#&=\\~%"
_PARTS: Final = re.compile(r"[-_./'@:+#&=\\~%,]+")
_SEGMENTS: Final = re.compile(r"[/@:+#&=\\~%]+")
_LETTER_CASES: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^A-Z]+|[A-Z]+")
_CAMEL: Final = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMA_IN_NUMBER: Final = re.compile(r"(?<=\d),(?=\d)")
_RUNS: Final = re.compile(f"([{PAIRED}]+)|([{TRIPLED}]+)|[^{PAIRED}{TRIPLED}]+")
_PAIRED: Final = re.compile(f"[{PAIRED}]")
_TRIPLED: Final = re.compile(f"[{TRIPLED}]")
_VARIATIONS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_MARKS: Final = frozenset({"Mn", "Mc", "Me"})
_NUMBER_COMMA: Final = "\ufdd0"  # no character: stands for a comma inside a number while the others become blanks

_LONGEST_LITERAL: Final = 16
_SHORTEST_STEMMED: Final = 3
_LONGEST_KEPT: Final = 32  # characters of a chunk in the cache
_MOST_KEPT: Final = 32_768  # chunks, some 10 MB


class _Chunks(dict[str, tuple[str, ...]]):
    """Terms of chunks seen before; emptied when full."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = tuple(_chunk_terms(chunk))
        if len(chunk) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[chunk] = found
        return found


class _Symbols(dict[int, str]):
    """What becomes of each character before NFKC: a symbol stands alone."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        placed = f" {char} " if _is_symbol(point, unicodedata.category(char)) else char
        if len(self) < _MOST_KEPT:
            self[point] = placed
        return placed


class _Places(dict[int, int | str | None]):
    """What becomes of each character: itself if it belongs to words, a blank, nothing, or a term of its own."""

    def __missing__(self, point: int) -> int | str | None:
        place = _place(point)
        if len(self) < _MOST_KEPT:
            self[point] = place
        return place


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for: *words* is the whole query in order, *wanted* the distinct terms that matter, with *weights*.

    *complete* tells that no stop word was left out. A wanted term that ends in `TAIL` stands for every term that
    begins as it does.
    """

    words: tuple[str, ...]
    wanted: tuple[str, ...]
    weights: tuple[float, ...]
    complete: bool


def terms(text: str) -> list[str]:
    """Return the search terms of *text* in order, with repetitions."""
    return list(chain.from_iterable(map(_CHUNKS.__getitem__, text.split())))


def query(text: str) -> Query:
    """Return what a search for *text* looks for; without any term nothing is wanted."""
    chunks = text.split()
    bare = [_bare(chunk) for chunk in chunks]
    stop = stop_words(bare)
    words: list[str] = []
    content: list[str] = []
    for chunk, plain in zip(chunks, bare, strict=True):
        found = _without_tails(_CHUNKS[chunk])
        words += found
        if plain and plain not in stop:
            content += [term for term in found if term not in stop]
    wanted = list(dict.fromkeys(content or words))
    if len(wanted) > MOST_WANTED:
        kept = frozenset(sorted(wanted, key=len, reverse=True)[:MOST_WANTED])
        wanted = [term for term in wanted if term in kept]
    weights = tuple(_weight(term, before) for before, term in zip(["", *wanted], wanted, strict=False))
    return Query(tuple(words), tuple(wanted), weights, complete=len(wanted) == len(set(words)))


def gram_size(term: str) -> int:
    """Return how many characters overlapping grams of this term's script have, or 0 for a script with words."""
    if _PAIRED.match(term):
        return 2
    return 3 if _TRIPLED.match(term) else 0


# -- one chunk -------------------------------------------------------------------------------------------------


def _chunk_terms(chunk: str) -> Iterator[str]:
    """Yield the terms of a piece of text without white space."""
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        yield _stem(chunk.casefold()[:LONGEST_TERM])
        return
    pieces = _pieces(chunk)
    if pieces:
        for piece in pieces:
            for run in _RUNS.finditer(piece):
                yield from _run_terms(run)
    elif len(literal := unicodedata.normalize("NFKC", chunk)) <= _LONGEST_LITERAL and _is_literal(literal):
        yield literal


def _pieces(chunk: str) -> list[str]:
    """Return what is left of a chunk between characters that no term can hold."""
    clean = unicodedata.normalize("NFKC", chunk)
    if "," in clean:
        clean = _COMMA_IN_NUMBER.sub(_NUMBER_COMMA, clean)
    return [piece for piece in clean.translate(_PLACES).replace(_NUMBER_COMMA, ",").split() if piece.strip(_CONNECTORS)]


def _place(point: int) -> int | str | None:
    """Classify a character; see `_Places`."""
    char = chr(point)
    if char in _CONNECTORS:
        return point
    if char in "’‘ʼ":  # the apostrophes that keyboards make
        return "'"
    if char in "‐‑‒–":
        return "-"
    if char == "\u200b" or point < ord("0"):
        return " "
    return _place_by_category(point, unicodedata.category(char))


def _place_by_category(point: int, category: str) -> int | str | None:
    if category == "Cf" or _VARIATIONS.match(chr(point)):
        return None  # joiners, soft hyphens, direction marks, choices of a glyph
    if category[0] in "LNM":
        return point
    return f" {chr(point)} " if _is_symbol(point, category) else " "


def _is_symbol(point: int, category: str) -> bool:
    """Tell whether a character is a term by itself; ASCII's symbols are punctuation of identifiers instead."""
    return point > 0x7F and (category[0] == "S" or category in {"Co", "Cn"})  # noqa: PLR2004


def _is_literal(text: str) -> bool:
    """Tell whether punctuation can be a term: printable, without anything that separates terms."""
    return bool(text) and text.isprintable() and " " not in text


def _run_terms(run: re.Match[str]) -> Iterator[str]:
    """Yield the terms of one run of a piece: grams, or words with what joins them."""
    if run.lastindex:
        yield from _grams(run[0], run.lastindex + 1)
        return
    core = run[0].strip(_CONNECTORS)
    if not core:
        return
    if run[0].endswith(("++", "#")) and run[0].rstrip("+#").endswith(core):
        yield (core + run[0][len(run[0].rstrip("+#")) :]).casefold()[:LONGEST_TERM]
    yield from _word_terms(core)


def _grams(run: str, size: int) -> Iterator[str]:
    """Yield the overlapping grams of *run*, and its last characters marked as the beginnings that they are."""
    run = run.casefold()
    for start in range(len(run) - size + 1):
        yield run[start : start + size]
    for start in range(max(0, len(run) - size + 1), len(run)):
        yield run[start:] + TAIL


def _word_terms(core: str) -> Iterator[str]:
    """Yield what connectors join: whole, by segment and by part."""
    possessive = core[-2:].casefold() == "'s"
    if possessive:
        core = core[:-2]
    parts = [part for part in _PARTS.split(core) if part]
    if len(parts) > 1:
        yield from _wholes(core)
    for part in parts:
        yield from _part_terms(part)
    if possessive:
        yield "s"


def _wholes(core: str) -> Iterator[str]:
    """Yield a joined word whole, and the segments of a path that are joined words themselves."""
    yield core.casefold()[:LONGEST_TERM]
    if _THOUSANDS.fullmatch(core):
        yield core.replace(",", "")
    segments = [segment.strip(_CONNECTORS) for segment in _SEGMENTS.split(core)]
    if len(segments) > 1:
        for segment in segments:
            if _PARTS.search(segment):
                yield segment.casefold()[:LONGEST_TERM]


def _part_terms(part: str) -> Iterator[str]:
    """Yield a word, and the words that capitals inside it begin."""
    yield from _one_word(part)
    if part.isascii() and _CAMEL.search(part):
        for word in _LETTER_CASES.findall(part):
            yield from _one_word(word)


def _one_word(word: str) -> Iterator[str]:
    """Yield the term of a word, and of a Latin word without its diacritics."""
    folded = unicodedata.normalize("NFKC", word.casefold())[:LONGEST_TERM]
    yield _stem(folded)
    if not folded.isascii():
        plain = _without_diacritics(folded)
        if plain not in {folded, ""} and plain.isascii():
            yield _stem(plain)


def _without_diacritics(word: str) -> str:
    split = unicodedata.normalize("NFD", word.translate(_STROKES))
    return "".join(char for char in split if unicodedata.category(char) not in _MARKS)


@lru_cache(maxsize=_MOST_KEPT)
def _stem(word: str) -> str:
    """Return the stem of a case-folded word; numbers and short words stay."""
    if len(word) < _SHORTEST_STEMMED or not word[0].isalpha() or any(char.isdigit() for char in word):
        return word
    return stemmer_for(word[0])(word) or word


# -- queries ---------------------------------------------------------------------------------------------------


def _bare(chunk: str) -> str:
    """Return a chunk as stop words are written, empty for punctuation alone."""
    pieces = _pieces(chunk)
    return " ".join(pieces).strip(_CONNECTORS).casefold() if pieces else ""


def _without_tails(found: tuple[str, ...]) -> list[str]:
    """Return the terms without the tails of runs that have whole grams."""
    kept: list[str] = []
    for term in found:
        if not (term.endswith(TAIL) and kept and kept[-1].rstrip(TAIL).endswith(term[:-1])):
            kept.append(term)
    return kept


def _weight(term: str, before: str) -> float:
    """Return what a wanted term counts for beside others.

    Grams overlap, so each counts by its share: a word among them is worth several (XQuAD R@1, Thai: 0.940, else
    0.924). A word that is only the one before it without diacritics counts half.
    """
    size = gram_size(term)
    if size:
        return 1 / size
    return 0.5 if before and not before.isascii() and _without_diacritics(before) == term else 1.0


_STROKES: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ŧ": "t"})
_CHUNKS: Final = _Chunks()
_SYMBOLS_OFF: Final = _Symbols()
_PLACES: Final = _Places({ord(_NUMBER_COMMA): ord(_NUMBER_COMMA)})
