"""What the journal says is remembered: its records applied one after the other.

The state is the set of (scope, id, text, pinned) with the number of the record that last made or changed each note,
and author and time of the first record of its line. Cancelled records are skipped. A text here is the journal's,
secrets taken out, so that states are compared by (scope, id, pinned). Pure: records in, state out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from memory_magic.store.records import JournalRecord

_MOST_DIGITS: Final = 18  # what fits SQLite's numbers
ADDING: Final = frozenset({"remember", "restore", "import"})
# after these a note is still the note of its id
STAYING: Final = ("pin", "unpin", "cancel", "approve")
TAKING: Final = frozenset({"retire", "prune", "reject"})


class Known(NamedTuple):
    """One note as the journal knows it; a tuple, because a replay makes one for most records."""

    id: str
    text: str
    pinned: bool
    n: int
    created: str
    by: str
    section: str = ""


State = dict[str, dict[str, Known]]  # scope -> id -> note


def replay(
    records: Iterable[JournalRecord], state: State | None = None, *, cancelled: Collection[int] | None = None
) -> State:
    """Return the state after *records*.

    *cancelled*: numbers of the records that do not count (`Journal.cancelled`); the records are then streamed. None
    means that *records* hold any cancellation of them.
    """
    state = {} if state is None else state
    if cancelled is None:
        records = list(records)
        cancelled = {cancels(record) for record in records if record.action == "cancel"}
    for record in records:
        if record.n and record.n not in cancelled:
            apply(state, record)
    return state


def cancels(record: JournalRecord) -> int:
    """Return the number of the record that a `cancel` record takes out, or 0."""
    return number_in(record, "cancels")


def number_in(record: JournalRecord, name: str) -> int:
    """Return the record number that a field holds, or 0."""
    return number_of(record.fields.get(name, ""))


def number_of(text: str) -> int:
    """Return the record number that *text* is, or 0: somebody may have written anything there."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else 0


def apply(state: State, record: JournalRecord) -> None:
    """Apply one record to *state* in place."""
    fields, action = record.fields, record.action
    if action == "purge":
        _purge(state, f"purged-{record.n}-")
        return
    scope = fields.get("scope", "")
    notes = state.get(scope)
    if notes is None:
        notes = state[scope] = {}
    if action in ADDING:
        _add(notes, record, None)
    elif action in TAKING:
        notes.pop(fields.get("id", ""), None)
    elif action == "revise":
        _add(notes, record, notes.pop(fields.get("id", ""), None))
    elif action in {"pin", "unpin"}:
        _set_pinned(notes, record, pinned=action == "pin")
    elif action == "promote":
        # the record brings what is known of the note, so that a replay of one of the two scopes says the same
        notes.pop(fields.get("id", ""), None)
        _add(state.setdefault(fields.get("to", ""), {}), record, None)
    elif action == "observe":
        _observe(notes, record)


def _purge(state: State, prefix: str) -> None:
    """Drop the notes whose ids a purge replaced; versions that live on in others went with their revision."""
    for notes in state.values():
        for one in [one for one in notes if one.startswith(prefix)]:
            del notes[one]


def _add(notes: dict[str, Known], record: JournalRecord, old: Known | None) -> None:
    fields = record.fields
    one = fields.get("new_id") or fields.get("id", "")
    if not one:
        return  # a record that names no note adds none
    there = notes.get(one)
    first = old or there
    pinned = fields.get("pinned") == "yes"
    section = fields.get("section", "")
    if first is None:
        created, by = fields.get("created", record.time), fields.get("author") or fields.get("by", "")
    else:
        created, by = first.created, first.by
        pinned = pinned or bool(old and old.pinned) or bool(there and there.pinned)
        section = (old.section if old else "") or section
    notes[one] = Known(one, fields.get("after", ""), pinned, record.n, created, by, section)


def _set_pinned(notes: dict[str, Known], record: JournalRecord, *, pinned: bool) -> None:
    note = notes.get(record.id or "")
    if note:
        notes[note.id] = note._replace(pinned=pinned, section=record.fields.get("section", note.section))


def _observe(notes: dict[str, Known], record: JournalRecord) -> None:
    # what a purge erased was there: a note that came or went, only its text is gone
    before, after = (
        ("before" in record.fields or "before" in record.erased),
        ("after" in record.fields or "after" in record.erased),
    )
    if before and after:
        old = notes.pop(record.id or "", None)
        _add(notes, record, old._replace(pinned=record.fields.get("pinned") == "yes") if old else None)
    elif after:
        _add(notes, record, None)
    elif before:
        notes.pop(record.id or "", None)
    else:
        _set_pinned(notes, record, pinned=record.fields.get("pinned") == "yes")
