"""Questions about the past: every life of a note, the store at a moment, a note that was retired (store_rules 3, 4).

A person names a note by an id, the beginning of one (also of a note that is long gone), or its exact text. Records of
scopes that are not seen from here are never shown, not even their ids: they are counted.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory_magic.errors import AmbiguousNoteError, NoSuchNoteError, UsageError
from memory_magic.store import gate
from memory_magic.store.history import (
    History,
    Moment,
    cancelled_by,
    journal_time,
    lineage,
    live_ids,
    moment_at,
    read_moment,
    resolve,
    scopes_of,
    undone_by,
)
from memory_magic.store.ids import LENGTH, normalise, note_id, read_prefix, shown_length
from memory_magic.store.lookup import IndexLookup
from memory_magic.store.targets import quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memory_magic.store.access import Access
    from memory_magic.store.lookup import Lookup
    from memory_magic.store.records import JournalRecord, Scope

ELSEWHERE: Final = "another workspace"
_ERASED: Final = "purged-"


@dataclass(frozen=True, slots=True)
class Retired:
    """A note that stood once: its id and its scope."""

    id: str
    scope: str


def history(access: Access, target: str, *, scope: str | None = None) -> History:
    """Return every life of the note that *target* means: an id, the beginning of one, or its exact text."""
    scopes = access.scopes_named(scope)
    seen = {place.id for place in scopes}
    _look_at(access, target, scopes)
    families = access.asked(lambda found: _families(access, found, target, scopes))
    if len(families) != 1:
        raise _several(target, [one for one, _ in families]) if families else _none(target, scopes)
    one, records = families[0]
    shown = tuple(_as_seen(record, seen) for record in records if record.scope in seen or scopes_of(record) & seen)
    cancelled = cancelled_by(record for record in records if "undoes" not in record.fields)
    stand = tuple(note for note in live_ids(records, cancelled) if _owner(note, records) in seen)
    return History(one, stand, shown, cancelled, undone_by(records), len(records) - len(shown))


def _look_at(access: Access, target: str, scopes: Sequence[Scope]) -> None:
    """Bring journal and index level with the files where that can be: an edit of a moment ago is past, too."""
    if not target.strip():
        raise UsageError("say which note: an id or its exact text")
    for scope in scopes:
        access.reader.level(scope)


def _families(
    access: Access, found: Lookup, target: str, scopes: Sequence[Scope]
) -> list[tuple[str, list[JournalRecord]]]:
    """Return the lineages that *target* may mean, each under the id that led to it."""
    seen = {scope.id for scope in scopes}
    families: list[tuple[str, list[JournalRecord]]] = []
    for one in _candidates(access, found, target, scopes):
        if any(one in {record.id, record.new_id} for _, records in families for record in records):
            continue
        records = access.records(found, lambda asked, one=one: lineage(one, asked.links_of))  # type: ignore[misc]
        if _owner(one, records) in seen:
            families.append((one, records))
    return families


def _candidates(access: Access, found: Lookup, target: str, scopes: Sequence[Scope]) -> list[str]:
    """Return the ids that *target* may mean: of a live note, else of any that ever was, else of its exact text."""
    if target.startswith(_ERASED):
        return [target]
    prefix = read_prefix(target) or ""
    if len(prefix) == LENGTH and found.links_of(prefix):
        return [prefix]
    if prefix:
        live = [one for scope in scopes for one in _live(access, found, prefix, scope)]
        if ids := live or found.ids_from(prefix):
            return ids
    spellings = {normalise(target), normalise(gate.clean(target).text)}
    return [note_id(scope.id, spelling) for scope in scopes for spelling in sorted(spellings)]


def _live(access: Access, found: Lookup, prefix: str, scope: Scope) -> list[str]:
    """Return the notes that stand in *scope* and whose ids begin with *prefix*."""
    if isinstance(found, IndexLookup):
        return found.live_from(prefix, scope.id)
    return [note.id for note in access.reader.notes(scope) if note.id.startswith(prefix)]


def _owner(one: str, records: Sequence[JournalRecord]) -> str:
    """Return the scope that the note *one* is of; an empty string where no record has it."""
    for record in records:
        if record.id == one:
            return record.scope
        if record.new_id == one:
            return record.fields.get("to", record.scope)
    return ""


def _as_seen(record: JournalRecord, seen: Collection[str]) -> JournalRecord:
    """Return a record without the id and scope of a workspace that is not seen from here."""
    if "to" not in record.fields or scopes_of(record) <= set(seen):
        return record
    hidden = "to" if record.scope in seen else "scope"
    gone = "new_id" if hidden == "to" else "id"
    fields = {name: value for name, value in record.fields.items() if name != gone} | {hidden: ELSEWHERE}
    return dataclasses.replace(record, fields=fields)


def _several(target: str, ids: Sequence[str]) -> AmbiguousNoteError:
    length = shown_length(list(ids))
    names = ", ".join(one[:length] for one in ids[:5])
    return AmbiguousNoteError(f"{len(ids)} notes fit {quoted(target)}: {names}", hint="give a longer id")


def _none(target: str, scopes: Sequence[Scope]) -> NoSuchNoteError:
    names = " and ".join("global" if scope.is_global else "the workspace" for scope in scopes[:2])
    return NoSuchNoteError(
        f"no note, past or present, fits {quoted(target)} in {names}",
        hint="to find a changed text: journal --grep WORD",
    )


def state_at(access: Access, moment: dt.datetime | str | int, *, scope: str | None = None) -> Moment:
    """Return the notes as they were after record *moment* (a number), or at a time.

    A text may be anything that `read_moment` understands; a time without a zone is UTC.
    """
    if isinstance(moment, str):
        moment = read_moment(moment, access.now())
    elif isinstance(moment, dt.datetime):
        moment = journal_time(moment)
    scopes = access.scopes_named(scope)
    for place in scopes:
        access.reader.level(place)
    end = access.asked(lambda found: found.end_of(moment))
    if end < 0 and isinstance(moment, int) and moment:
        raise UsageError(f"the journal has no record {moment}", hint="its records count from 1")
    found = moment_at(access.journal.records(), end, access.journal.cancelled())
    seen = {place.id for place in scopes}
    return Moment(found.n, found.time, {name: notes for name, notes in found.notes.items() if name in seen})


def find_retired(access: Access, target: str, scopes: Sequence[Scope]) -> Retired:
    """Return the note that *target* means and that may have to come back.

    A live note is itself; a replaced one leads to what replaced it, and where that was retired, that is meant.
    """
    _look_at(access, target, scopes)
    ends = access.asked(lambda found: _ends(access, found, target, scopes))
    if len(ends) != 1:
        raise _several(target, list(ends)) if ends else _none(target, scopes)
    ((one, owner),) = ends.items()
    return Retired(one, owner)


def _ends(access: Access, found: Lookup, target: str, scopes: Sequence[Scope]) -> dict[str, str]:
    """Return where the replacements of what *target* may mean end: id -> scope, of the scopes that are seen."""
    seen = {scope.id for scope in scopes}
    ends: dict[str, str] = {}
    for one in _candidates(access, found, target, scopes):
        last = _last_id(found, one)
        records = access.records(found, lambda asked, last=last: sorted(asked.links_of(last)))  # type: ignore[misc]
        owner = _owner(last, records)
        if owner in seen:
            ends[last] = owner
    return ends


def _last_id(found: Lookup, one: str) -> str:
    """Return where the replacements of *one* end."""
    ends = [one]

    def step(at: str, after: int) -> tuple[int, str | None] | None:
        taken = found.step(at, after)
        if taken is not None and taken[1] is not None:
            ends.append(taken[1])
        return taken

    resolve(one, step, lambda _: False)
    return ends[-1]


def last_text(one: str, records: Sequence[JournalRecord]) -> str:
    """Return the text that the note *one* had last, as far as *records* about it hold it."""
    for record in reversed(records):
        if record.id == one and "before" in record.fields:
            return record.fields["before"]
        if (record.new_id or record.id) == one and "after" in record.fields:
            return record.fields["after"]
    return ""
