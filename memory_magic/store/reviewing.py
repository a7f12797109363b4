"""A person's verdict on a note: approve it, or reject it.

An approval changes no file. It is a record about an id, and an id is of one text, so an approval never covers a text
that came later. Whoever composes a block asks `is_approved`. A rejected note is taken out like a retired one, under a
name of its own. Undo withdraws an approval by a `cancel` record that says `undoes: n`; undo of that approves again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.store import gate
from memory_magic.store.history import undoes, undone_by
from memory_magic.store.journal_format import Draft
from memory_magic.store.operations import Retire
from memory_magic.store.writing import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench
    from memory_magic.store.records import JournalRecord, Written


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
