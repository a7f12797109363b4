"""Take a change back: a new record of the inverse action that says `undoes: n` (store_rules 10).

Nothing is deleted from the journal. An undo is refused when it would touch more than that change: when a later record
changed the note (it says which), when the text it needs was purged or must not come back, for what was cancelled or is
no change of a note, for a purge. Undo of an undo does the change again. An `observe` is undone in the file like any
other change. What comes back comes to its old section, with the file's own bullet and line ending.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import promoting, reviewing
from memory_magic.store.access import clean_for_file
from memory_magic.store.history import (
    cancelled_by,
    ids_of,
    later_changes,
    lineage,
    scopes_of,
    state_before,
    undoes,
    undone_by,
)
from memory_magic.store.operations import Pin, Retire, Revise
from memory_magic.store.operations_history import Put, Several, section_from
from memory_magic.store.past import find_retired, last_text
from memory_magic.store.placing import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench
    from memory_magic.store.lookup import Lookup
    from memory_magic.store.operations import Operation
    from memory_magic.store.records import JournalRecord, Written
    from memory_magic.store.replay import Known

    Forbidden = Callable[[str], bool]

UNKNOWN_TEXT: Final = "(text not known)"
_ADDING: Final = frozenset({"remember", "restore", "import"})
_TAKING: Final = frozenset({"retire", "reject", "prune"})
_FINAL: Final = {
    "purge": "what a purge destroyed is in no file any more",
    "unpurge": "an unpurge only allows a text again; purge it to forbid it",
}


class UndoError(MemoryMagicError, ValueError):
    """A change cannot be taken back without touching more than that change."""


class NoSuchRecordError(MemoryMagicError, LookupError):
    """The journal has no record with this number (one of a scope that is not seen here answers the same)."""


def nothing_forbidden(text: str) -> bool:  # noqa: ARG001  (the signature of a tombstone check)
    """Tell whether a text must not come back; without tombstones none is forbidden."""
    return False


def undo(
    access: Access,
    n: int,
    *,
    evidence: str | None = None,
    by: str | None = None,
    scope: str | None = None,
    forbidden: Forbidden = nothing_forbidden,
) -> Written:
    """Take record *n* back by a new record; *forbidden* tells of texts that must not return.

    `UndoError` says why not; `NoSuchRecordError` where no such record is seen from *scope*.
    """
    access.require_writable()
    seen = {one.id for one in access.scopes_named(scope)}
    record = access.asked(lambda found: find_record(access, found, n, seen))
    extra = access.signed(by, evidence) | {"undoes": str(n)}
    if record.action in {"approve", "cancel"}:
        return reviewing.turn(access, record, extra, lambda bench: _about(access, bench, record.id or ""))
    if record.action == "promote" and not record.fields.get("merged"):
        return _move_back(access, record, extra)
    _require_kind(record)  # before its scope is asked for: a purge is of none
    place = access.scope(record.scope)
    planned: list[Operation] = []

    def plan(bench: Bench) -> Operation:
        access.writer.observe(bench, place)
        about = _about(access, bench, record.id or "")
        require_undoable(record, about)
        planned.append(inverse(record, state_before(about, record), about, extra, forbidden))
        return planned[-1]

    outcome = access.change(place, plan)
    one = next(iter(planned[-1].added), record.new_id or record.id or "")
    return access.written(place, one, outcome, old_id=next(iter(planned[-1].taken), None))


def find_record(access: Access, found: Lookup, n: int, seen: Collection[str]) -> JournalRecord:
    """Return the record with the number *n* in one of the scopes *seen*."""
    records = access.records(found, lambda asked: asked.numbered(n))
    visible = [record for record in records if scopes_of(record) & {*seen, ""}]
    if not visible:
        raise NoSuchRecordError(
            f"the journal has no record {n} of a scope that is seen here", hint="the command journal lists all"
        )
    if len(visible) > 1:
        raise UndoError(
            f"{len(visible)} records have the number {n}: the journal was written on two machines",
            hint="make the change by hand",
        )
    return visible[0]


def _about(access: Access, bench: Bench, one: str) -> list[JournalRecord]:
    """Return the whole lineage of a note as it stands now that the lock is held."""
    return access.records(access.lookup(bench), lambda asked: lineage(one, asked.links_of))


def _require_kind(record: JournalRecord) -> None:
    """Raise `UndoError` for a record that is no change of a note, or whose text is gone."""
    n, action = record.n, record.action
    if action in _FINAL:
        raise UndoError(f"record {n} is a {action}, which cannot be undone", hint=_FINAL[action])
    if action not in _INVERSES:
        raise UndoError(f"record {n} ({action}) is no change of a note, so there is nothing to undo")
    if record.erased.keys() & {"scope", "id", "new_id", "before", "after"}:
        raise UndoError(f"record {n} cannot be undone: its text was purged")


def require_undoable(record: JournalRecord, about: Sequence[JournalRecord]) -> None:
    """Raise `UndoError` where *record* cannot be taken back; *about* are all records about its notes."""
    _require_kind(record)
    n = record.n
    if n in cancelled_by(one for one in about if not undoes(one)):
        raise UndoError(f"record {n} was cancelled: it changed nothing")
    if by := undone_by(about).get(n):
        raise UndoError(f"record {n} was taken back already, by record {by}", hint=f"to do it again: undo {by}")
    if later := later_changes(about, record):
        last = later[-1]
        raise UndoError(
            f"record {n} cannot be undone: record {last.n} ({last.action}) changed the note later",
            hint=f"first take that back (undo {last.n}), or revise the note",
        )


def inverse(
    record: JournalRecord,
    known: Mapping[str, Known],
    about: Sequence[JournalRecord],
    extra: Mapping[str, str],
    forbidden: Forbidden = nothing_forbidden,
) -> Operation:
    """Return the change that takes *record* back; *known* are its notes as they were before it."""
    return _INVERSES[record.action](_Case(record, known, about, extra, forbidden))


class _Case:
    """One record to take back, and what is needed for it."""

    def __init__(
        self,
        record: JournalRecord,
        known: Mapping[str, Known],
        about: Sequence[JournalRecord],
        extra: Mapping[str, str],
        forbidden: Forbidden,
    ) -> None:
        self.record = record
        self.fields = record.fields
        self.scope = record.scope
        self.one = record.id or ""
        self.known = known
        self.about = about
        self.extra = extra
        self.forbidden = forbidden

    def take_out(self) -> Operation:
        """Take out the note that came."""
        return Retire(self.scope, self.record.new_id or self.one, self.extra, self.fields.get("after", ""))

    def bring_back(self) -> Operation:
        """Bring the note that went back to its section, pinned if it was."""
        return restored(self.scope, self.one, self.text(), self.known.get(self.one), self.about, self.extra)

    def turn_back(self) -> Operation:
        """Let the old text stand again, beside the other one where two notes had become one."""
        if not self.fields.get("merged"):
            return Revise(self.scope, self.record.new_id or "", self.text(), self.extra, self.fields.get("after", ""))
        other = self.known.get(self.record.new_id or "")
        back = self.bring_back()
        if other is not None and not other.pinned and self.fields.get("pinned"):
            return Several((back, Pin(self.scope, other.id, False, self.extra, section_from(other.section))))  # noqa: FBT003
        return back

    def move_pin(self) -> Operation:
        """Move the note back under Pinned, or out of it."""
        before = self.known.get(self.one)
        pinned = before.pinned if before else self.record.action == "unpin"
        section = self.fields.get("section", "") or (before.section if before else "")
        return Pin(self.scope, self.one, pinned, self.extra, section_from(section))

    def undo_observe(self) -> Operation:
        """Take back what an editor did: the note was added, taken out, replaced or moved."""
        came, went = "after" in self.fields, "before" in self.fields
        if came and went:
            return self.turn_back()
        if came:
            return self.take_out()
        return self.bring_back() if went else self.move_pin()

    def text(self) -> str:
        """Return the text that must come back, or refuse."""
        text = self.fields.get("before", "")
        if not text or text == UNKNOWN_TEXT:
            raise UndoError(f"record {self.record.n} cannot be undone: the journal does not hold the text")
        if self.forbidden(text):
            raise UndoError(
                f"record {self.record.n} cannot be undone: its text was purged and must not come back",
                hint="to allow it again: unpurge with the same text",
            )
        return clean_for_file(text)


_INVERSES: Final[Mapping[str, Callable[[_Case], Operation]]] = {
    **dict.fromkeys(_ADDING, _Case.take_out),
    **dict.fromkeys(_TAKING, _Case.bring_back),
    "revise": _Case.turn_back,
    "promote": _Case.bring_back,  # of one that merged: the rest moves back
    "pin": _Case.move_pin,
    "unpin": _Case.move_pin,
    "observe": _Case.undo_observe,
}


def restored(
    scope: str,
    one: str,
    text: str,
    known: Known | None,
    about: Sequence[JournalRecord],
    extra: Mapping[str, str],
) -> Put:
    """Return the change that brings the note *one* back to where its last record says that it stood."""
    section, kind = _former_place(one, about)
    item = Item(text, known.pinned if known else False, section_from(section), kind)
    details = dict(extra)
    if known is not None:
        details |= {"created": known.created, "author": known.by}
    return Put(scope, "restore", (item,), (details,))


def _former_place(one: str, about: Sequence[JournalRecord]) -> tuple[str, str]:
    """Return section and kind of the note *one* as the journal saw them last."""
    for record in reversed(about):
        if one in ids_of(record) and (record.action in _TAKING or "section" in record.fields):
            return record.fields.get("section", ""), record.fields.get("kind", "item")
    return "", next((record.fields["kind"] for record in reversed(about) if "kind" in record.fields), "item")


def _move_back(access: Access, record: JournalRecord, extra: Mapping[str, str]) -> Written:
    """Move a promoted note back to where it came from."""
    source, destination = access.scope(record.fields.get("to", "")), access.scope(record.scope)

    def check(bench: Bench) -> None:
        require_undoable(record, _about(access, bench, record.id or ""))

    return promoting.move(access, record.new_id or "", source, destination, extra, check)


def restore(
    access: Access,
    target: str,
    *,
    evidence: str | None = None,
    by: str | None = None,
    scope: str | None = None,
    forbidden: Forbidden = nothing_forbidden,
) -> Written:
    """Bring a retired note back (an id, or its exact text); one that stands already is a stated no-op."""
    access.require_writable()
    found = find_retired(access, target, access.scopes_named(scope))
    place = access.scope(found.scope)
    extra = access.signed(by, evidence)

    def plan(bench: Bench) -> Operation | None:
        state = access.writer.observe(bench, place)
        if found.id in state.document.notes:
            return None
        about = _about(access, bench, found.id)
        text = last_text(found.id, about)
        if not text or text == UNKNOWN_TEXT:
            raise UndoError("the journal does not hold the text of this note any more")
        if forbidden(text):
            raise UndoError(
                "this text was purged and must not come back", hint="to allow it again: unpurge with the same text"
            )
        went = [record for record in about if found.id in ids_of(record)][-1]
        known = state_before(about, went).get(found.id)
        return restored(place.id, found.id, clean_for_file(text), known, about, extra)

    outcome = access.change(place, plan)
    return access.written(place, found.id, outcome)
