"""Which sessions are extracted, in which order, and why the others are not. Pure: records and rules in, verdicts out.

A session is *eligible* when no rule speaks against it, whether it was extracted already or not. Of the eligible ones
those whose content changed since the last success are *due*, newest first within each workspace, the workspaces taking
turns, so that a busy project starves no other. The limit of a start is applied by whoever claims.

Each rule is a sentence that a person reads beside the session. The sentence depends on nothing but the arguments; the
time is one of them. A time of a last turn that lies in the future (a clock was set back) is no age, and no rest either.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memory_magic.pipeline import models_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

DAY: Final = 86_400.0
HOUR: Final = 3_600.0

ON, OFF, LOCAL = "on", "off", "local"
"""What a session is marked with: extracted, left out, extracted on this machine only."""

UNKNOWN_ORIGIN = "where it came from is not known, so it goes to no remote model (setting remote_sources)"
_RUNNING = "it is the session that runs now"
_OFF = "memory is off for it"
_NOBODY = "nobody sat in front of it"
_PURGED = "it was purged"
_TURNS: Final = 1 << 34
"""More than any time in seconds until the year 2514; ranks hold a turn above it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A registered session. *group* is its workspace, *updated* in seconds since 1970, *version* hashes its content.

    *mode* is on, off or local; *trouble* says why it cannot be used at all; *done* is the version that succeeded last.
    """

    source: str
    session: str
    path: str
    group: str
    updated: float | None
    interactive: bool
    version: str
    mode: str = ON
    origin_host: str | None = None
    local_only: bool = False
    trouble: str = ""
    purged: bool = False
    done: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells sessions apart."""
        return self.source, self.session

    @property
    def changed(self) -> bool:
        """Tell whether its content differs from what was extracted last."""
        return self.version != self.done


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that decide, and *now* in seconds since 1970; *current* holds ids and paths that run now."""

    now: float
    age_days: int
    idle_hours: int
    remote: bool = False
    remote_sources: frozenset[str] = frozenset()
    current: Collection[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Skip:
    """A session that is not extracted, and why."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Who is eligible, who of them is due (with a rank, the lowest first), and who is neither."""

    eligible: tuple[Candidate, ...]
    due: tuple[tuple[int, Candidate], ...]
    skipped: tuple[Skip, ...]


def choose(candidates: Iterable[Candidate], rules: Rules) -> Choice:
    """Return the verdict on every session; of two records of one session the newer one counts."""
    eligible, skipped = [], []
    for one in _each_once(candidates):
        reason = against(one, rules)
        if reason:
            skipped.append(Skip(one, reason))
        else:
            eligible.append(one)
    return Choice(tuple(eligible), tuple(ranked(one for one in eligible if one.changed)), tuple(skipped))


def against(one: Candidate, rules: Rules, *, asked: bool = False) -> str:
    """Return what speaks against extracting a session, or nothing; *asked* sets age, rest and interactivity aside."""
    always = one.trouble or (_PURGED if one.purged else "") or (_OFF if one.mode == OFF else "")
    return always or kept_here(one, rules) or ("" if asked else _untimely(one, rules))


def kept_here(one: Candidate, rules: Rules) -> str:
    """Return why a session may not leave this machine, or nothing where it may or need not."""
    if not rules.remote or one.source in rules.remote_sources:
        return ""
    if one.local_only or one.mode == LOCAL:
        return "it is marked to stay on this machine (setting remote_sources)"
    if one.origin_host is None:
        return UNKNOWN_ORIGIN
    if is_local(one.origin_host):
        return f"it was held with a model on {one.origin_host}, so it stays here (setting remote_sources)"
    return ""


def is_local(host: str) -> bool:
    """Tell whether a host is this machine or lies in a private network; a bare name, which no public host has, does."""
    name = host.strip("[]").rstrip(".").casefold()
    bare = "." not in name and ":" not in name
    return bare or name.endswith((".local", ".internal")) or models_names.is_local(name) or _is_link_local(name)


def ranked(due: Iterable[Candidate]) -> Iterator[tuple[int, Candidate]]:
    """Yield sessions with their ranks: newest first within each group, the groups taking turns."""
    turns: dict[str, int] = {}
    for one in sorted(due, key=lambda one: (-(one.updated or 0.0), one.source, one.session)):
        turn = turns.get(one.group, 0)
        turns[one.group] = turn + 1
        yield turn * _TURNS + (_TURNS - 1 - max(min(int(one.updated or 0), _TURNS - 1), 0)), one


def _untimely(one: Candidate, rules: Rules) -> str:
    """Return why a session is not extracted by itself at this time."""
    if not one.interactive:
        return _NOBODY
    if one.session in rules.current or one.path in rules.current:
        return _RUNNING
    if one.updated is None:
        return "it has no time"
    rested = rules.now - one.updated
    if rested < rules.idle_hours * HOUR:
        return f"it has rested for less than {_counted(rules.idle_hours, 'hour')}"
    if rested > rules.age_days * DAY:
        return f"it is older than {_counted(rules.age_days, 'day')}"
    return ""


def _each_once(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    """Return one record of each session: the newest, of equal ones the first path."""
    kept: dict[tuple[str, str], Candidate] = {}
    for one in candidates:
        there = kept.get(one.key)
        if there is None or (-(one.updated or 0.0), one.path) < (-(there.updated or 0.0), there.path):
            kept[one.key] = one
    return kept.values()


def _is_link_local(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_link_local
    except ValueError:
        return False


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
