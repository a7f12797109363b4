"""A person's verdict on a note: approve it, or reject it.

An approval changes no file. It is a record about an id, and an id is of one text, so an approval never covers a text
that came later. Whoever composes a block asks `is_approved`, or `approved` for several ids: a query of the index and
one read of the journal for each id that was ever approved, whatever the journal's length. A rejected note is taken out
like a retired one, under a name of its own. Undo withdraws an approval by a `cancel` record that says `undoes: n`; undo
of that approves again.

A note is *suspicious* when its text looks like an attack on the assistant (`text.suspicion`) and nobody approved it.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import gate
from memory_magic.store.history import Link, undoes, undone_by
from memory_magic.store.index import DamagedIndexError
from memory_magic.store.journal_format import Draft
from memory_magic.store.lookup import IndexLookup, read_links
from memory_magic.store.operations import Retire
from memory_magic.store.writing import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench
    from memory_magic.store.records import JournalRecord, Note, Written
    from memory_magic.store.store import Store

_VERDICTS: Final = (
    "SELECT at, length, n, id, new_id, action FROM journal WHERE id = ? AND action IN ('approve', 'cancel') ORDER BY at"
)


def approve(
    access: Access, target: str, *, evidence: str | None = None, by: str | None = None, scope: str | None = None
) -> Written:
    """Journal that a person stands by the note *target*; a note that is approved already is a stated no-op."""
    note = access.note_to_change(target, scope)
    place = access.scope(note.scope)
    extra = access.signed(by, evidence)
    done: list[Outcome] = []

    def work(bench: Bench) -> None:
        state = access.writer.observe(bench, place)
        about = access.records(access.lookup(bench), lambda asked: sorted(asked.links_of(note.id)))
        fields = {"scope": place.id, "id": note.id} | extra
        records = [] if is_approved(about) else _record(bench, Draft("approve", fields))
        done.append(Outcome(state.path, state.lines, tuple(records), tuple(bench.notices)))

    access.run(work)
    return access.written(place, note.id, done[-1], old_id=note.id)


def is_approved(about: Sequence[JournalRecord]) -> bool:
    """Tell whether an approval stands among the records *about* one note."""
    withdrawn = undone_by(about)
    return any(record.action == "approve" and record.n not in withdrawn for record in about)


def suspicious(store: Store, notes: Iterable[Note]) -> dict[str, str]:
    """Return why each of *notes* looks like an attack, by id; those that a person approved are left out."""
    from memory_magic.store.access import Access
    from memory_magic.text.suspicion import suspicion

    reasons = {note.id: reason for note in notes if (reason := suspicion(note.text))}
    stood_by = approved(Access(store), reasons) if reasons else ()
    return {one: reason for one, reason in reasons.items() if one not in stood_by}


def approved(access: Access, ids: Collection[str]) -> frozenset[str]:
    """Return those of *ids* that a person approved; none where the journal cannot be read: whoever asks is careful."""
    if not ids:
        return frozenset()
    try:
        found = _approved_by_index(access, ids)
        return _approved_by_journal(access, ids) if found is None else found
    except MemoryMagicError:
        return frozenset()


def _approved_by_index(access: Access, ids: Collection[str]) -> frozenset[str] | None:
    """Return the approved ones as the index leads to their records, or None where it cannot be trusted."""
    index = access.indexes.reading()
    try:
        if index is None or not isinstance(access.lookup(), IndexLookup):
            return None
        connection = index.connection
        rows = {one: connection.execute(_VERDICTS, (one,)).fetchall() for one in ids}
    except (sqlite3.Error, DamagedIndexError):
        access.indexes.close_reading()
        return None
    links = [Link._make(row[:5]) for told in rows.values() if any(row[5] == "approve" for row in told) for row in told]
    records = read_links(access.journal, links) if links else []
    return None if records is None else _standing(records)


def _approved_by_journal(access: Access, ids: Collection[str]) -> frozenset[str]:
    wanted = frozenset(ids)
    told = (record for record in access.journal.records() if record.action in {"approve", "cancel"})
    return _standing([record for record in told if record.n and record.id in wanted])


def _standing(records: Sequence[JournalRecord]) -> frozenset[str]:
    """Return the ids whose approval stands after *records*, which are approvals and what withdrew them."""
    about: dict[str, list[JournalRecord]] = {}
    for record in records:
        about.setdefault(record.id or "", []).append(record)
    return frozenset(one for one, told in about.items() if is_approved(told))


def reject(access: Access, target: str, *, evidence: str, by: str | None = None, scope: str | None = None) -> Written:
    """Take the note *target* out because a person does not want it; *evidence* says why."""
    extra = access.signed(by, gate.require_evidence(evidence))
    note = access.note_to_change(target, scope)
    place = access.scope(note.scope)
    outcome = access.change(place, lambda _: Retire(place.id, note.id, extra, note.text, "reject"))
    return access.written(place, note.id, outcome, old_id=note.id)


def turn(
    access: Access,
    record: JournalRecord,
    extra: Mapping[str, str],
    about: Callable[[Bench], Sequence[JournalRecord]],
) -> Written:
    """Withdraw the approval *record*, or where *record* withdrew one, approve again."""
    from memory_magic.store.undoing import UndoError

    one = record.id or ""
    place = access.scope(record.scope)
    done: list[Outcome] = []

    def work(bench: Bench) -> None:
        if record.action == "cancel" and not undoes(record):
            raise UndoError(f"record {record.n} says that a change was not made, so there is nothing to undo")
        if by := undone_by(about(bench)).get(record.n):
            raise UndoError(f"record {record.n} was taken back already, by record {by}")
        fields = {"scope": place.id, "id": one} | dict(extra)
        withdrawal = Draft("cancel", fields | {"cancels": str(record.n)})
        draft = withdrawal if record.action == "approve" else Draft("approve", fields)
        done.append(Outcome(str(place.memory_file), {}, tuple(_record(bench, draft)), tuple(bench.notices)))

    access.run(work)
    return access.written(place, one, done[-1], old_id=one)


def _record(bench: Bench, draft: Draft) -> list[JournalRecord]:
    """Journal *draft* and let the index take it in."""
    records = bench.record([draft])
    bench.tell(lambda _: None)
    return records
