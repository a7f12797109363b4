"""Which notes go into a block of limited size, in what order, and which one the next note would push out.

Two caps hold at once: a number of entries, and a number of characters that the wrapper and the line about omitted notes
share with the entries. Notes rank pinned first, then newest first (greatest `n`; equal ones as given). Then:

1. *Shares.* With several scopes, each first gets its best-ranked notes up to a third of both caps (up to and including
   the note that reaches it, but never more than an even split), so neither scope squeezes the other.
2. *The rest* goes by rank. A note that does not fit ends its scope, so that no older note stands where a newer one was
   left out; but one longer than a third of the room is passed over instead: a single long note never empties a block.

A note of size 0 cannot be shown, and lets others pass as well; the caller says why.

Pure and deterministic; sizes are asked only of notes that may go in. Of a large scope the best-ranked notes are enough
(`beyond` counts the others): `reached_end` tells whether more of a scope would have been looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

ENTRIES: Final = 32
CHARACTERS: Final = 12_000
"""Both from CodeWhale, which counted the second in bytes and without the total."""

SHARE: Final = 3
"""Each scope with notes is sure of one part in so many."""

TOO_LONG: Final = "too long"
NOTHING_VISIBLE: Final = "nothing visible"
NO_ROOM: Final = "no room"


class Candidate(Protocol):
    """What the choice needs to know of a note; *n* is the journal number that orders notes."""

    @property
    def id(self) -> str:
        """The whole id."""

    @property
    def scope(self) -> str:
        """The scope whose share the note counts for."""

    @property
    def pinned(self) -> bool:
        """Whether it ranks before all that are not."""

    @property
    def n(self) -> int:
        """Greater is newer."""


N = TypeVar("N", bound=Candidate)


class Use(NamedTuple):
    """How full one cap is."""

    unit: str
    used: int
    cap: int

    def as_json(self) -> dict[str, object]:
        """Return the keys of headroom and report."""
        return {"used": self.used, "cap": self.cap, "unit": self.unit}


class Choice(NamedTuple):
    """The ids *chosen*, in the order of the block, those *omitted*, by rank, and how full both caps are.

    *reasons* says of an omitted note why, unless it only gave way to newer ones; *older* counts those, also the ones
    that were not given. *next_out* is the id that one more note of average size would push out, None while there is
    room.
    """

    chosen: tuple[str, ...]
    omitted: tuple[str, ...]
    reasons: Mapping[str, str]
    entries: Use
    characters: Use
    next_out: str | None
    older: int

    def reached_end(self, given: Iterable[str]) -> bool:
        """Tell whether every one of the notes *given* of a scope was taken or passed over, so that more might fit."""
        return not self.is_closed and self.reasons.keys() | set(self.chosen) >= set(given)

    @property
    def is_closed(self) -> bool:
        """Tell whether no further note could go in, because all entries are used or there is no room at all."""
        return self.entries.used >= self.entries.cap or NO_ROOM in self.reasons.values()

    @property
    def fuller(self) -> Use:
        """Return the cap that will be reached first."""
        return fuller(self.entries, self.characters)[0]

    @property
    def other(self) -> Use:
        """Return the other cap."""
        return fuller(self.entries, self.characters)[1]

    @property
    def too_long(self) -> int:
        """Return how many notes were passed over for their length."""
        return sum(reason == TOO_LONG for reason in self.reasons.values())

    def headroom(self) -> dict[str, object]:
        """Return what a write reports: the fuller cap, the note that the next one would push out, the other cap."""
        return {**self.fuller.as_json(), "next_out": self.next_out, "other": self.other.as_json()}


def fuller(first: Use, second: Use) -> tuple[Use, Use]:
    """Return both uses, the one that fills more of its cap in front (the first one where they are even)."""
    more = second.used * first.cap > first.used * second.cap
    return (second, first) if more else (first, second)


def _no_line(older: int, too_long: int) -> int:  # noqa: ARG001 -- the shape of `omission`
    return 0


def _nothing_visible(note: object) -> str:  # noqa: ARG001 -- the shape of `unfit`
    return NOTHING_VISIBLE


def choose(  # noqa: PLR0913 -- each limit is one of its own
    notes: Iterable[N],
    *,
    size: Callable[[N], int],
    entries: int = ENTRIES,
    characters: int = CHARACTERS,
    wrapper: int = 0,
    omission: Callable[[int, int], int] = _no_line,
    coming: str | None = None,
    beyond: int = 0,
    unfit: Callable[[N], str] = _nothing_visible,
) -> Choice:
    """Return which *notes* go into a block of at most *entries* notes and *characters* characters.

    *size* is the length of a note's rendered lines with their newline, 0 when nothing of it can be shown; *wrapper* the
    length of all that surrounds the entries; *omission* the length of the line about so many older and so many too
    long notes, 0 for none. *coming* is the scope of the note that `next_out` supposes, by default that of the newest.
    *beyond* counts notes of a lower rank that are not given; *unfit* says why a note has size 0.
    """
    limits = _Limits(entries, characters, wrapper, omission, beyond, unfit)
    measure = _Measure(size)
    ranked = _rank(notes)
    filled = _fit(ranked, measure, limits)
    return Choice(
        chosen=tuple(filled.chosen),
        omitted=tuple(note.id for note in ranked if note.id not in filled.chosen),
        reasons=filled.reasons,
        entries=Use("entries", len(filled.chosen), entries),
        characters=Use("characters", filled.total(limits), characters),
        next_out=_next_out(ranked, filled, measure, limits, coming),
        older=filled.older,
    )


class _Limits(NamedTuple):
    entries: int
    characters: int
    wrapper: int
    omission: Callable[[int, int], int]
    beyond: int
    unfit: Callable[[Any], str]

    def reason(self, note: Any, size: int) -> str:
        """Say why a note that is passed over does not go in."""
        return TOO_LONG if size else self.unfit(note)


class _Coming(NamedTuple):
    """The note that somebody may write next: newer than all others, of average size."""

    scope: str
    n: int
    size: int
    id: str = ""
    pinned: bool = False


class _Measure:
    """Sizes of notes, each asked for once."""

    def __init__(self, size: Callable[[Any], int]) -> None:
        """Wrap the caller's measure."""
        self._size = size
        self._known: dict[str, int] = {}

    def __call__(self, note: Candidate) -> int:
        """Return the size of *note*."""
        if isinstance(note, _Coming):
            return note.size
        if note.id not in self._known:
            self._known[note.id] = self._size(note)
        return self._known[note.id]


class _Filled(NamedTuple):
    """A choice in the making: sizes of the chosen by id in rank order, and why the others, but for their age."""

    chosen: dict[str, int]
    reasons: dict[str, str]
    older: int

    def total(self, limits: _Limits) -> int:
        """Return the length of the whole block, 0 when there is none."""
        if not self.chosen:
            return 0
        too_long = sum(reason == TOO_LONG for reason in self.reasons.values())
        return limits.wrapper + sum(self.chosen.values()) + limits.omission(self.older, too_long)


def _rank(notes: Iterable[N]) -> list[N]:
    return sorted(notes, key=lambda note: (not note.pinned, -note.n))


def _fit(ranked: Sequence[Candidate], measure: _Measure, limits: _Limits) -> _Filled:
    """Fill the block, leaving room for the line about omitted notes only if it turns out that one is needed."""
    count = len(ranked) + limits.beyond
    filled = _Filled({}, {}, 0)
    for line in (0, limits.omission(count, 0), limits.omission(count, count)):
        filled = _fill(ranked, measure, limits, limits.characters - limits.wrapper - line)
        if filled.total(limits) <= limits.characters:
            break
    return filled


def _fill(ranked: Sequence[Candidate], measure: _Measure, limits: _Limits, room: int) -> _Filled:
    """Take the shares, then the rest by rank; *room* is what the entries may use of the characters."""
    if limits.entries <= 0 or room <= 0:
        return _Filled({}, {note.id: NO_ROOM for note in ranked}, 0)
    scopes = {note.scope for note in ranked}
    reasons: dict[str, str] = {}
    taken = _shares(ranked, measure, limits, room, reasons) if len(scopes) > 1 else {}
    used, closed = sum(taken.values()), set[str]()
    for note in ranked:
        if len(taken) >= limits.entries or closed >= scopes:
            break
        if note.id in taken or note.scope in closed:
            continue
        size = measure(note)
        if size and used + size <= room:
            taken[note.id] = size
            used += size
        elif _is_passed_over(size, room):
            reasons[note.id] = limits.reason(note, size)
        else:
            closed.add(note.scope)
    chosen = {note.id: taken[note.id] for note in ranked if note.id in taken}
    return _Filled(chosen, reasons, len(ranked) + limits.beyond - len(chosen) - len(reasons))


def _shares(
    ranked: Sequence[Candidate], measure: _Measure, limits: _Limits, room: int, reasons: dict[str, str]
) -> dict[str, int]:
    """Return the sizes, by id, of the notes that each of several scopes is sure of; note who is passed over."""
    groups: dict[str, list[Candidate]] = {}
    for note in ranked:
        groups.setdefault(note.scope, []).append(note)
    most, even = min(-(-limits.entries // SHARE), limits.entries // len(groups)), room // len(groups)
    taken: dict[str, int] = {}
    for group in groups.values():
        sizes: dict[str, int] = {}
        used = 0
        for note in group:
            if len(sizes) >= most or used * SHARE >= room:
                break
            size = measure(note)
            if size and used + size <= even:
                sizes[note.id] = size
                used += size
            elif not _is_passed_over(size, room):
                break
            elif not size or size > room:
                reasons[note.id] = limits.reason(note, size)
        taken |= sizes
    return taken


def _is_passed_over(size: int, room: int) -> bool:
    """Tell whether a note that does not go in lets older ones of its scope pass."""
    return not size or size * SHARE > room


def _next_out(
    ranked: Sequence[Candidate], filled: _Filled, measure: _Measure, limits: _Limits, scope: str | None
) -> str | None:
    """Return the last-ranked note that one more note of average size would push out."""
    if not filled.chosen:
        return None
    newest = max(ranked, key=lambda note: note.n)
    average = -(-sum(filled.chosen.values()) // len(filled.chosen))
    coming = _Coming(scope or newest.scope, newest.n + 1, average)
    pinned = sum(note.pinned for note in ranked)
    after = _fit([*ranked[:pinned], coming, *ranked[pinned:]], measure, limits)
    lost = [name for name in filled.chosen if name not in after.chosen]
    return lost[-1] if lost else None
