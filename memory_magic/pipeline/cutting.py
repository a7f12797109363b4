"""What fits of a long session: its beginning and its end, cut between turns, and a word about what is missing.

Two steps, so that no secret is cut in two and a long session is not redacted for nothing:

1. `choose` looks at the raw entries and keeps as many at both ends as may fit, with `SPARE` bytes more on both sides
   of the gap.
2. The kept entries are redacted, text by text, by whoever calls; `without_middle` does it for a single text that is
   far too long, again with `SPARE` to spare on both sides of what it leaves out. `fit` then drops of the laid-out items
   what the spare brought too much, and puts an item in place of the gap that says how many turns, calls and bytes are
   gone.

The gap's edges lie where a turn begins, as long as that keeps at least half of a side's share; otherwise between two
entries, because one endless answer must not cost a whole side. The result never exceeds the limit. Sizes are UTF-8
bytes; a token is four of them (codex). Pure functions: entries and items in, entries and items out.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from memory_magic.sessions.records import Call, Context, Turn
from memory_magic.text.tokens import BYTES_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Entry = Turn | Call | Context

SPARE: Final = 4_096
"""Bytes kept on each side of a cut until secrets are out: longer than any key but a few, and those show their heads."""

DEFAULT_TOKENS: Final = 150_000
"""Limit for a model whose window is not known (codex)."""

WINDOW_PERCENT: Final = 95
SHARE_PERCENT: Final = 70
"""Of a window 95 % can be used, and of that a session gets 70 % (codex)."""

_ENVELOPE = 120  # bytes of JSON around the text of an item, on average
_GAP = 200  # bytes that the item in place of the gap takes, at most
_PARTS = 8  # a single text may have one part in so many of the limit
_SHORTEST = 64  # bytes: less of a text says nothing


@dataclass(frozen=True, slots=True)
class Missing:
    """What was left out between the two ends; *at_turn* tells that the gap begins with a turn."""

    turns: int = 0
    calls: int = 0
    size: int = 0
    at_turn: bool = False

    def told(self) -> str:
        """Say it in words."""
        return f"[left out here: {self.turns:,} turns and {self.calls:,} tool calls, about {self.size:,} bytes]"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The entries at both ends; *tail* is empty and *missing* None when all were kept.

    *fits* tells that they all fit as they are; otherwise single texts have to lose their middles, too.
    """

    head: tuple[Entry, ...]
    tail: tuple[Entry, ...] = ()
    missing: Missing | None = None
    fits: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One laid-out entry: its JSON in UTF-8 (a call with its output), and what it is; *size* counts its separator."""

    json: bytes
    is_turn: bool = False
    is_call: bool = False

    @property
    def size(self) -> int:
        """Return the bytes that it takes in the array."""
        return len(self.json) + 2


@dataclass(frozen=True, slots=True)
class Fitted:
    """The JSON array that a model gets, the bytes that it takes, and whether anything is missing between its items."""

    text: str
    size: int
    truncated: bool


def token_limit(setting: int | None, window: int | None) -> int:
    """Return the most tokens of a session: the *setting*, else a share of the *window*, else `DEFAULT_TOKENS`."""
    if setting is not None:
        return max(setting, 1)
    if window is None or window <= 0:
        return DEFAULT_TOKENS
    return max(window * WINDOW_PERCENT // 100 * SHARE_PERCENT // 100, 1)


def longest_text(tokens: int) -> int:
    """Return the bytes that a single text may have in a session that is cut to so many *tokens*."""
    return max(tokens * BYTES_PER_TOKEN // _PARTS, _SHORTEST)


def choose(entries: Sequence[Entry], tokens: int) -> Chosen:
    """Return the raw entries of which a text of so many *tokens* may be made."""
    limit = tokens * BYTES_PER_TOKEN
    sizes = [size_of(entry) for entry in entries]
    total = sum(sizes)
    if total <= limit + 2 * SPARE:
        return Chosen(tuple(entries), fits=True)
    # a text that is too long comes shortened: it must not push its neighbours out
    longest = longest_text(tokens) + _ENVELOPE
    capped = [min(size, longest) for size in sizes]
    share = limit // 2 + SPARE
    head = _reach(capped, share)
    end = len(entries) - _reach(capped[head:][::-1], share)
    if end <= head:
        return Chosen(tuple(entries))
    return Chosen(tuple(entries[:head]), tuple(entries[end:]), _missing(entries[head:end], sum(sizes[head:end])))


def fit(head: Sequence[Item], tail: Sequence[Item], missing: Missing | None, tokens: int) -> Fitted:
    """Return the array of the items at both ends within so many *tokens*, with a word about what is missing."""
    limit = tokens * BYTES_PER_TOKEN - 4  # the array's own brackets and line feeds
    items = [*head, *tail]
    sizes = [item.size for item in items]
    if missing is None and sum(sizes) <= limit:
        return _array([item.json for item in items], truncated=False)
    room = limit - _GAP
    last, first = (len(items), 0) if missing is None else (len(head), len(head))
    front = _before_turn(items[:last], sizes, room // 2, is_boundary=missing is not None and missing.at_turn)
    rest = max(front, first)
    back = rest + _from_turn(items[rest:], sizes[rest:], room - sum(sizes[:front]))
    lost = [*items[front : max(first, front)], *items[max(first, front) : back]]
    gap = _with(missing, lost)
    if room < 0:
        return _array([], truncated=bool(items))
    told = _told(gap)
    return _array([*(i.json for i in items[:front]), told, *(i.json for i in items[back:])], truncated=True)


def without_middle(text: str, longest: int, wash: Callable[[str], str]) -> str:
    """Return a text washed, and without its middle where it is longer than *longest* bytes.

    Of a text that is much too long only the two ends are washed, each with `SPARE` bytes more than is kept of it.
    """
    size = utf8(text)
    if size <= longest + 2 * SPARE:
        front = back = wash(text)
        if utf8(front) <= longest:
            return front
    else:
        data = text.encode("utf-8", "surrogatepass")
        half = longest // 2 + SPARE
        front, back = wash(_decoded(data[:half])), wash(_decoded(data[-half:]))
    half = longest // 2
    start = _decoded(front.encode("utf-8", "surrogatepass")[:half])
    end = _decoded(back.encode("utf-8", "surrogatepass")[-half:] if half else b"")
    return f"{start}\n[the middle of this text of about {size:,} bytes was left out]\n{end}"


def size_of(entry: Entry) -> int:
    """Return about how many bytes an entry takes as JSON; never less than its texts."""
    if not isinstance(entry, Call):
        return utf8(entry.text) + _ENVELOPE
    output = 0 if entry.output is None else utf8(entry.output) + _ENVELOPE
    return utf8(entry.name) + _size_of_value(entry.arguments) + output + _ENVELOPE


def utf8(text: str) -> int:
    """Return the UTF-8 bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _size_of_value(value: object) -> int:
    """Return about the bytes of a JSON value, however deep."""
    size, ahead = 0, [value]
    while ahead:
        one = ahead.pop()
        if isinstance(one, str):
            size += utf8(one) + 3
        elif isinstance(one, dict):
            ahead += one.keys()
            ahead += one.values()
        elif isinstance(one, list | tuple):
            ahead += one
        else:
            size += 5
    return size


def _reach(sizes: Sequence[int], room: int) -> int:
    """Return how many of *sizes* go into the *room*, from the first on."""
    return bisect_right(list(accumulate(sizes)), room)


def _before_turn(items: Sequence[Item], sizes: Sequence[int], room: int, *, is_boundary: bool) -> int:
    """Return how many items to keep from the front: up to a turn, where that keeps half of the room filled."""
    sums = list(accumulate(sizes[: len(items)], initial=0))
    most = bisect_right(sums, room) - 1 if room >= 0 else 0
    if most == len(items) and is_boundary:
        return most
    for place in range(min(most, len(items) - 1), -1, -1):
        if sums[place] * 2 < room:
            break
        if items[place].is_turn:
            return place
    return most


def _from_turn(items: Sequence[Item], sizes: Sequence[int], room: int) -> int:
    """Return the place from which to keep items to the end: from a turn, where that keeps half of the room filled."""
    sums = list(accumulate(reversed(sizes), initial=0))  # sums[n]: bytes of the last n
    most = bisect_right(sums, room) - 1 if room >= 0 else 0
    for kept in range(most, 0, -1):
        if sums[kept] * 2 < room:
            break
        if items[len(items) - kept].is_turn:
            return len(items) - kept
    return len(items) - most


def _missing(entries: Sequence[Entry], size: int) -> Missing:
    turns = sum(isinstance(entry, Turn) for entry in entries)
    calls = sum(isinstance(entry, Call) for entry in entries)
    return Missing(turns, calls, size, at_turn=bool(entries) and isinstance(entries[0], Turn))


def _with(missing: Missing | None, lost: Sequence[Item]) -> Missing:
    """Return what is missing with the items that did not fit in the end."""
    before = missing or Missing()
    return Missing(
        before.turns + sum(item.is_turn for item in lost),
        before.calls + sum(item.is_call for item in lost),
        before.size + sum(item.size for item in lost),
    )


def _told(gap: Missing) -> bytes:
    """Return the item that stands in place of the gap."""
    return f'{{"type":"left_out","text":"{gap.told()}"}}'.encode()


def _array(items: Sequence[bytes], *, truncated: bool) -> Fitted:
    """Return the items as an array, one on each line."""
    if not items:
        return Fitted("[]", 2, truncated)
    pieces = [b",\n"] * (2 * len(items) + 1)
    pieces[0], pieces[-1] = b"[\n", b"\n]"
    pieces[1::2] = items
    data = b"".join(pieces)
    return Fitted(data.decode(), len(data), truncated)


def _decoded(data: bytes) -> str:
    """Return the whole characters of a piece of UTF-8."""
    return data.decode("utf-8", "ignore")
