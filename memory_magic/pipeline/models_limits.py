"""Rate limits as servers tell them in their response headers, kept for an hour for the guard before the next run.

Understood are `x-ratelimit-{limit,remaining}-<what>` (OpenAI), `anthropic-ratelimit-<what>-{limit,remaining}` and the
plain pair `[x-]ratelimit-{limit,remaining}`. Each *what* (requests, tokens, input-tokens, …) is one window. What is not
known stops nobody: no header, a limit of nothing, a number that is none, a reading older than an hour or from the
future.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KEPT_SECONDS: Final = 3_600.0
"""How long a reading counts (issue 7; codex asks its server afresh instead)."""

_OPENAI = re.compile(r"x-ratelimit-(limit|remaining)-([a-z0-9-]{1,40})")
_ANTHROPIC = re.compile(r"anthropic-ratelimit-([a-z0-9-]{1,40})-(limit|remaining)")
_PLAIN = re.compile(r"(?:x-)?ratelimit-(limit|remaining)")
_NUMBER = re.compile(r"\s*(\d{1,15})(?:\.\d*)?\s*")
_MOST_WINDOWS = 16


@dataclass(frozen=True, slots=True)
class Window:
    """One limit of a server: *what* it counts, the *limit*, and how much of it *remaining*."""

    what: str
    limit: int
    remaining: int

    @property
    def percent(self) -> float:
        """Return how much is left in percent."""
        return 100.0 * self.remaining / self.limit


@dataclass(frozen=True, slots=True)
class Limits:
    """All windows of one server as of a moment: *taken* in seconds since 1970, *host* of the server."""

    host: str
    taken: float
    windows: tuple[Window, ...]

    def fresh(self, now: float) -> bool:
        """Tell whether the reading still counts."""
        return 0 <= now - self.taken < KEPT_SECONDS

    def short(self, percent: float, now: float) -> Window | None:
        """Return the window of which least is left when that is less than *percent*, else None: go on."""
        if not self.fresh(now):
            return None
        least = min(self.windows, key=lambda window: window.percent, default=None)
        return least if least is not None and least.percent < percent else None

    def as_json(self) -> dict[str, object]:
        """Return plain values, which `from_json` reads."""
        return {
            "host": self.host,
            "taken": self.taken,
            "windows": [[window.what, window.limit, window.remaining] for window in self.windows],
        }


def from_json(value: object) -> Limits | None:
    """Return the reading that `as_json` wrote; None for anything else, since what is not known stops nobody."""
    try:
        windows = tuple(_window(*row) for row in value["windows"])  # type: ignore[index]
        return Limits(str(value["host"]), float(value["taken"]), windows)  # type: ignore[index]
    except (LookupError, TypeError, ValueError):
        return None


def of_headers(headers: Iterable[tuple[str, str]] | Mapping[str, str], host: str, now: float) -> Limits | None:
    """Return what a response's *headers* tell of limits; None when they tell nothing."""
    pairs: dict[str, dict[str, int]] = {}
    for name, text in headers.items() if hasattr(headers, "items") else headers:
        key, number = _key(name.lower()), _NUMBER.fullmatch(text)
        if key is not None and number is not None and (key[0] in pairs or len(pairs) < _MOST_WINDOWS):
            pairs.setdefault(key[0], {})[key[1]] = int(number[1])
    found = tuple(
        Window(what, pair["limit"], min(pair["remaining"], pair["limit"]))
        for what, pair in sorted(pairs.items())
        if pair.get("limit", 0) > 0 and "remaining" in pair
    )
    return Limits(host, now, found) if found else None


def _key(name: str) -> tuple[str, str] | None:
    """Return (what is counted, limit or remaining) of a header's name."""
    if found := _OPENAI.fullmatch(name):
        return found[2], found[1]
    if found := _ANTHROPIC.fullmatch(name):
        return found[1], found[2]
    if found := _PLAIN.fullmatch(name):
        return "requests", found[1]
    return None


def _window(what: object, limit: object, remaining: object) -> Window:
    if not isinstance(what, str) or type(limit) is not int or type(remaining) is not int or not 0 <= remaining <= limit:
        raise ValueError("no window")
    if limit == 0:
        raise ValueError("a window of nothing")
    return Window(what, limit, remaining)
