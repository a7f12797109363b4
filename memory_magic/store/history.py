"""Every life of a note, and the store as it was: rules on journal records, no file in sight (store_rules 3, 4, 10).

A *lineage* is all that is joined by revise, promote, a linked observe or a merge: a graph of ids whose edges are the
records with an id on the left and another on the right. An id may live more than once (A -> B -> A), so a lineage is
a set of records in journal order, not a list of ids. What a record means later depends on others: one may be
cancelled (it never happened), or *undone* by a record that names it, which may be undone in turn. A change and its
undo together count as nothing.

Pure: records and links in, records and states out.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic.errors import UsageError
from memory_magic.store.replay import TAKING, Known, cancels, number_in, replay

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from memory_magic.store.records import JournalRecord

STILL: Final = frozenset({"approve", "cancel"})
"""Actions that change no note."""

_UNMOVED: Final = STILL | {"pin", "unpin"}
_NUMBER: Final = re.compile(r"#?([0-9]{1,12})")
_AGO: Final = re.compile(r"([0-9]{1,6}) ?([mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_TIME_FORMAT: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


class Link(NamedTuple):
    """Where a record stands in the journal (*at*, *length* in bytes) and which notes it joins.

    A tuple, not a dataclass: a look-up makes one of each row, and they would cost more than the query.
    """

    at: int
    length: int
    n: int
    id: str | None
    new_id: str | None


@dataclass(frozen=True, slots=True)
class History:
    """Every life of the note *id*, oldest record first; *live* are the notes of its lineage that stand now.

    *cancelled* records never took effect; *undone* says for a record which later one took it back; *hidden* counts
    records of scopes that are not seen from here.
    """

    id: str
    live: tuple[str, ...]
    records: tuple[JournalRecord, ...]
    cancelled: frozenset[int] = frozenset()
    undone: dict[int, int] = field(default_factory=dict)
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Moment:
    """The store as it was after record *n* (0: before the first) of *time*: scope -> notes, pinned and newest first."""

    n: int
    time: str
    notes: dict[str, tuple[Known, ...]]


def lineage(start: str, links_of: Callable[[str], Iterable[Link]]) -> list[Link]:
    """Return all links that are joined to *start*, in journal order; *links_of* answers with an id on either side."""
    found: dict[int, Link] = {}
    seen, ahead = {start}, [start]
    while ahead:
        for link in links_of(ahead.pop()):
            found[link.at] = link
            for one in (link.id, link.new_id):
                if one is not None and one not in seen:
                    seen.add(one)
                    ahead.append(one)
    return sorted(found.values())


def resolve(
    one: str, step: Callable[[str, int], tuple[int, str | None] | None], is_live: Callable[[str], bool]
) -> str | None:
    """Return the live note that *one* means now, or None.

    A live id is itself. Else the last record with the id on its left leads to its right side, and from there only
    records with a greater number count, so this ends. *step* answers with number and right side of that record.
    """
    after = 0
    while not is_live(one):
        taken = step(one, after)
        if taken is None or taken[1] is None:
            return None
        after, one = taken[0], taken[1]
    return one


def ids_of(record: JournalRecord) -> set[str]:
    """Return the ids that a record is about."""
    return {one for one in (record.id, record.new_id) if one}


def scopes_of(record: JournalRecord) -> set[str]:
    """Return the scopes that a record changes."""
    return {record.scope, record.fields["to"]} if "to" in record.fields else {record.scope}


def cancelled_by(records: Iterable[JournalRecord]) -> frozenset[int]:
    """Return the numbers that *records* cancel."""
    return frozenset(cancels(record) for record in records if record.action == "cancel")


def undoes(record: JournalRecord) -> int:
    """Return the number of the record that this one takes back, or 0."""
    return number_in(record, "undoes")


def undone_by(records: Sequence[JournalRecord]) -> dict[int, int]:
    """Return for each record that is taken back now the number of the one that did it; *records* in journal order."""
    lost = cancelled_by(record for record in records if not undoes(record))
    taken: dict[int, int] = {}
    for record in reversed(records):
        target = undoes(record)
        if target and record.n not in taken and record.n not in lost:
            taken.setdefault(target, record.n)
    return taken


def later_changes(records: Sequence[JournalRecord], target: JournalRecord) -> list[JournalRecord]:
    """Return what still counts among the changes that *records* made after *target* to the same notes."""
    ids, lost, taken = ids_of(target), cancelled_by(records), undone_by(records)
    later = [record for record in records if record.offset > target.offset and ids_of(record) & ids]
    numbers = {record.n for record in later}
    return [
        record
        for record in later
        if record.action not in STILL
        and record.n not in lost
        and record.n not in taken
        and undoes(record) not in numbers
    ]


def state_before(records: Iterable[JournalRecord], target: JournalRecord) -> dict[str, Known]:
    """Return the notes that *records* (all about them) left right before *target*, by id."""
    listed = list(records)
    lost = cancelled_by(listed)
    state = replay((record for record in listed if record.offset < target.offset), cancelled=lost)
    return {one: known for notes in state.values() for one, known in notes.items()}


def live_ids(records: Sequence[JournalRecord], cancelled: Collection[int]) -> tuple[str, ...]:
    """Return the notes that stand after *records*, which must be whole lineages: a replay that keeps ids only."""
    live: dict[str, None] = {}
    for record in records:
        fields, action = record.fields, record.action
        one = fields.get("id", "")
        if record.n in cancelled or action in _UNMOVED:
            continue
        if action in TAKING or "new_id" in fields or ("before" in fields and "after" not in fields):
            live.pop(one, None)
        if action not in TAKING and "after" in fields:
            live[fields.get("new_id", one)] = None
    return tuple(live)


# -- the store as it was --------------------------------------------------------------------------------------------


def moment_at(records: Iterable[JournalRecord], end: int, cancelled: Collection[int]) -> Moment:
    """Return the store after the record at byte *end* of the journal; *records* are streamed up to it."""
    last: list[JournalRecord] = []

    def until_end() -> Iterable[JournalRecord]:
        for record in takewhile(lambda one: one.offset <= end, records):
            if record.n:
                last[:] = [record]
                yield record

    state = replay(until_end(), cancelled=cancelled)
    notes = {scope: tuple(_in_order(known.values())) for scope, known in sorted(state.items()) if known}
    return Moment(last[0].n, last[0].time, notes) if last else Moment(0, "", notes)


def _in_order(known: Iterable[Known]) -> list[Known]:
    """Return notes pinned first, then newest first; of one number the lower line is the newer."""
    placed = sorted(enumerate(known), key=lambda pair: (not pair[1].pinned, -pair[1].n, -pair[0]))
    return [note for _, note in placed]


def read_moment(typed: str, now: dt.datetime) -> int | str:
    """Return what a person typed for a moment: a record's number (`412`, `#412`), or a time as the journal writes it.

    Times are ISO 8601, in UTC unless they name a zone (the journal shows UTC); a date alone is its beginning; `3d` is
    three days before *now* (m, h, d, w).
    """
    text = typed.strip()
    if number := _NUMBER.fullmatch(text):
        return int(number[1])
    try:
        if ago := _AGO.fullmatch(text):
            return journal_time(now - dt.timedelta(**{_UNITS[ago[2]]: int(ago[1])}))
        return journal_time(dt.datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        raise UsageError(
            f"this is no moment: {text[:40]!r}",
            hint="for example 2026-11-30, 2026-11-30T18:35, 3d (three days ago) or #412 (after record 412)",
        ) from None


def journal_time(moment: dt.datetime) -> str:
    """Return *moment* as the journal writes times; one without a zone is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    return aware.astimezone(dt.UTC).strftime(_TIME_FORMAT)
