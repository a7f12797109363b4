"""`<private>…</private>`: what a person keeps out of memory, found before anything is kept or hashed.

Tags are matched in any case, may hold attributes, may nest and may span lines; one that is never closed hides
everything to the end; a stray closing tag is ordinary text. Taking a span out can bring together a new tag
(`<pri<private>x</private>vate>`), so the cut is repeated until nothing changes: `spans` keeps a list of the pieces of
the original that still stand, and each round reads their concatenation. After `ROUNDS` rounds, which only a text made
for that purpose needs, everything from the first tag left is hidden.

Invariants: `cut(cut(t)) == cut(t)`; the spans are disjoint, not adjacent, in order, and include their tags; time is
linear, because a round is one pass of one expression whose repeat is bounded.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

ROUNDS: Final = 8
"""How often a cut may bring together a new tag before the rest of the text is hidden."""

_ATTRIBUTES = 190

_Spans = list[tuple[int, int]]


@cache
def _tag() -> re.Pattern[str]:
    """Compile late: most texts hold no tag at all."""
    return re.compile(rf"<(/?)private(?:[^\S\r\n][^<>\r\n]{{0,{_ATTRIBUTES}}}+)?+>", re.IGNORECASE)


@cache
def _not_a_line_break() -> re.Pattern[str]:
    return re.compile(r"[^\r\n]")


def cut(text: str) -> str:
    """Return *text* without its private spans."""
    return "".join(text[start:end] for start, end in _gaps(spans(text), len(text)))


def mask(text: str) -> str:
    """Return *text* at the same length, each character of a private span but CR and LF replaced by a space."""
    pieces: list[str] = []
    done = 0
    for start, end in spans(text):
        pieces += text[done:start], _not_a_line_break().sub(" ", text[start:end])
        done = end
    return "".join([*pieces, text[done:]])


def spans(text: str) -> list[tuple[int, int]]:
    """Return the private spans of *text*: half-open, outermost, merged and in order."""
    kept = [(0, len(text))]
    current = text
    for _ in range(ROUNDS):
        found = _tagged(current)
        if not found:
            return _gaps(kept, len(text))
        kept = _without(kept, found)
        current = "".join(text[start:end] for start, end in kept)
    first = next((tag.start() for tag in _tag().finditer(current) if not tag[1]), len(current))
    return _gaps(_without(kept, [(first, len(current))]), len(text))


def _tagged(text: str) -> _Spans:
    """Return the outermost tagged spans as they stand in *text*, a tag that is never closed reaching to the end."""
    if "<" not in text:
        return []
    found: _Spans = []
    depth, opened = 0, 0
    for tag in _tag().finditer(text):
        if not tag[1]:
            opened = opened if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                found.append((opened, tag.end()))
    return [*found, (opened, len(text))] if depth else found


def _without(kept: _Spans, cuts: _Spans) -> _Spans:
    """Take *cuts*, measured in the concatenation of the pieces *kept*, out of those pieces."""
    left: _Spans = []
    stays = _gaps(cuts, sum(end - start for start, end in kept))
    piece = iter(kept)
    start = end = offset = 0  # the present piece, and how far its start in the original is from the concatenation
    for low, high in stays:
        at = low
        while at < high:
            while at + offset >= end:
                done = end - offset
                start, end = next(piece)
                offset = start - done
            until = min(high, end - offset)
            left.append((at + offset, until + offset))
            at = until
    return left


def _gaps(found: _Spans, length: int) -> _Spans:
    """Return what lies between *found* in a text of *length* characters, no piece of it empty."""
    edges = [0, *(edge for span in found for edge in span), length]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
