"""What the journal says is remembered: its records applied one after the other.

The state is the set of (scope, id, text, pinned) with the number of the record that last made or changed each note,
and author and time of the first record of its line. Cancelled records are skipped. A text here is the journal's,
secrets taken out, so that states are compared by (scope, id, pinned). Pure: records in, state out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory_magic.store.records import JournalRecord

ADDING: Final = frozenset({"remember", "restore", "import", "unpurge"})
TAKING: Final = frozenset({"retire", "prune", "reject"})


@dataclass(frozen=True, slots=True)
class Known:
    """One note as the journal knows it."""

    id: str
    text: str
    pinned: bool
    n: int
    created: str
    by: str
    section: str = ""


State = dict[str, dict[str, Known]]  # scope -> id -> note


def replay(records: Iterable[JournalRecord], state: State | None = None) -> State:
    """Return the state after *records*, which must hold any cancellation of them."""
    state = {} if state is None else state
    listed = [record for record in records if record.n]
    cancelled = {record.fields.get("cancels") for record in listed if record.action == "cancel"}
    for record in listed:
        if str(record.n) not in cancelled:
            apply(state, record)
    return state


def apply(state: State, record: JournalRecord) -> None:
    """Apply one record to *state* in place."""
    notes = state.setdefault(record.scope, {})
    if record.action in ADDING:
        _add(notes, record, None)
    elif record.action in TAKING:
        notes.pop(record.id or "", None)
    elif record.action == "revise":
        _add(notes, record, notes.pop(record.id or "", None))
    elif record.action in {"pin", "unpin"}:
        _set_pinned(notes, record, pinned=record.action == "pin")
    elif record.action == "promote":
        _add(state.setdefault(record.fields.get("to", ""), {}), record, notes.pop(record.id or "", None))
    elif record.action == "observe":
        _observe(notes, record)


def _add(notes: dict[str, Known], record: JournalRecord, old: Known | None) -> None:
    one = record.new_id or record.id or ""
    there = notes.get(one)
    pinned = record.fields.get("pinned") == "yes" or bool(old and old.pinned) or bool(there and there.pinned)
    first = old or there
    created = first.created if first else record.fields.get("created", record.time)
    by = first.by if first else record.fields.get("by", "")
    section = (old.section if old else "") or record.fields.get("section", "")
    notes[one] = Known(one, record.fields.get("after", ""), pinned, record.n, created, by, section)


def _set_pinned(notes: dict[str, Known], record: JournalRecord, *, pinned: bool) -> None:
    note = notes.get(record.id or "")
    if note:
        notes[note.id] = replace(note, pinned=pinned, section=record.fields.get("section", note.section))


def _observe(notes: dict[str, Known], record: JournalRecord) -> None:
    before, after = "before" in record.fields, "after" in record.fields
    if before and after:
        old = notes.pop(record.id or "", None)
        _add(notes, record, replace(old, pinned=record.fields.get("pinned") == "yes") if old else None)
    elif after:
        _add(notes, record, None)
    elif before:
        notes.pop(record.id or "", None)
    else:
        _set_pinned(notes, record, pinned=record.fields.get("pinned") == "yes")
