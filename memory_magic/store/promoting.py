"""A note moves from one scope to another: one record, two files, both through the door (store_rules 2, 3).

The record says `id: old -> new` and `to:` the other scope. Each file gets a temp of its own under the record's number;
the destination is exchanged first, so that a reader may see the note twice and never not at all. After a crash the
next holder of the lock goes the same way: it brings the note to the destination before it takes it out of the source
(`recovery`). Where an editor makes the destination impossible the record is cancelled and the source is not touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_magic.errors import ChangedMeanwhileError, NoSuchNoteError, ScopeError
from memory_magic.store import door, files, gate
from memory_magic.store.bench import FileState, redacted, rows_of, source_of, still_ours
from memory_magic.store.journal_format import Draft
from memory_magic.store.note import encode
from memory_magic.store.operations import Retire
from memory_magic.store.operations_history import Put
from memory_magic.store.placing import Item
from memory_magic.store.purge.screen import require_allowed
from memory_magic.store.writing import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench
    from memory_magic.store.note import Document, Parsed
    from memory_magic.store.operations import Operation
    from memory_magic.store.records import JournalRecord, Scope, Written


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two files: as it was, what is done to it, what it becomes."""

    state: FileState
    operation: Operation
    result: Document

    @property
    def changes(self) -> bool:
        """Tell whether the file becomes another."""
        return self.result.text != self.state.document.text


def promote(
    access: Access,
    target: str,
    *,
    to: str,
    scope: str | None = None,
    evidence: str | None = None,
    by: str | None = None,
) -> Written:
    """Move the note *target* (id or exact text, of *scope* where several fit) to the scope *to*."""
    note = access.note_to_change(target, scope)
    destination = access.scope_to_write(to)
    if destination.id == note.scope:
        raise ScopeError("the note is in that scope already", where=note.path, hint="name the other scope")
    return move(access, note.id, access.scope(note.scope), destination, access.signed(by, evidence))


def move(
    access: Access,
    one: str,
    source: Scope,
    destination: Scope,
    extra: Mapping[str, str],
    check: Callable[[Bench], None] | None = None,
) -> Written:
    """Move the note *one*; *check* may refuse once both files have been observed."""
    access.require_writable()
    access.lay_out(destination)
    done: list[Outcome] = []
    moved: list[str] = []

    def work(bench: Bench) -> None:
        there, here = (access.writer.observe(bench, scope) for scope in (destination, source))
        if moved and moved[0] in there.document.notes and one not in here.document.notes:
            done.append(Outcome(there.path, there.lines, (), tuple(bench.notices)))  # recovery did what we left
            return
        if check is not None:
            check(bench)
        note = here.document.notes.get(one)
        if note is None:
            raise NoSuchNoteError("the note is no longer there", where=here.path)
        item = Item(gate.clean_note(note.text).text, note.pinned, (), note.kind)
        moved[:] = [item.id_in(destination.id)]
        require_allowed(bench, access.root, destination.id, Put(destination.id, "promote", (item,)))
        files.make_directory(destination.path)
        done.append(_carry_out(bench, _in(there, item), _out(here, note), _draft(here, there, note, item, extra)))

    access.run(work)
    return access.written(destination, moved[0], done[-1], old_id=one)


def _in(state: FileState, item: Item) -> _Side:
    operation = Put(state.scope.id, "promote", (item,))
    done = operation.is_done(state.document)
    state.document.require_writable()
    return _Side(state, operation, state.document if done else operation.apply(state.document))


def _out(state: FileState, note: Parsed) -> _Side:
    operation = Retire(state.scope.id, note.id, {}, action="promote")
    state.document.require_writable()
    return _Side(state, operation, operation.apply(state.document))


def _draft(here: FileState, there: FileState, note: Parsed, item: Item, extra: Mapping[str, str]) -> Draft:
    new = item.id_in(there.scope.id)
    known = here.known.get(note.id)
    merged = there.document.notes.get(new)
    fields = {
        "scope": here.scope.id,
        "id": note.id,
        "new_id": new,
        "before": redacted(note.text),
        "after": item.text,
        "to": there.scope.id,
        "pinned": "yes" if note.pinned or (merged and merged.pinned) else "",
        "kind": "" if note.kind == "item" else note.kind,
        "copies": str(1 + len(note.copies)) if note.copies else "",
        "merged": "yes" if merged else "",
        "created": known.created if known else "",
        "author": known.by if known else "",
    }
    return Draft("promote", fields | dict(extra))


def _carry_out(bench: Bench, there: _Side, here: _Side, draft: Draft) -> Outcome:
    """Write temps and record, then exchange the destination, then the source."""
    sides = [side for side in (there, here) if side.changes]
    numbered = bench.number([draft])
    temps: list[tuple[str, files.Signature]] = []
    try:
        for side in sides:
            data = encode(side.result.text)
            temps.append(door.write_temp(side.state.path, (numbered[0].n, numbered[0].n), data, files.sha256(data)))
        records = bench.write(numbered)
    except OSError:
        for temporary, _ in temps:
            files.remove(temporary)
        raise
    passages = [door.Passage(bench, side.state, side.operation, records) for side in sides]
    for at, (side, passage) in enumerate(zip(sides, passages, strict=True)):
        try:
            passage.run(temps[at][0], encode(side.result.text))
        except ChangedMeanwhileError:
            _give_up(bench, sides, at, [temporary for temporary, _ in temps[at + 1 :]])
            raise
    for side, passage, (_, written) in zip(sides, passages, temps, strict=True):
        _settle(bench, side, passage, records, written)
    if not there.changes:
        there.state.apply(records)
        bench.commit(source_of(there.state), rows_of(there.state.document, there.state.known))
    state = there.state
    return Outcome(state.path, state.lines, tuple(records), tuple(bench.notices))


def _settle(
    bench: Bench, side: _Side, passage: door.Passage, records: list[JournalRecord], written: files.Signature
) -> None:
    """Let the index follow one file."""
    state = side.state
    if not passage.merged:
        data = encode(side.result.text)
        state.apply(records)
        state.moved_to(files.Content(data, still_ours(state.path, written)), side.result)
    bench.commit(source_of(state), rows_of(state.document, state.known))


def _give_up(bench: Bench, sides: list[_Side], failed: int, temps: list[str]) -> None:
    """Leave a move whose record was cancelled: temps that were not exchanged go, the index follows what stands."""
    for temporary in temps:
        files.remove(temporary)
    state = sides[failed].state
    if state.document.is_text:
        bench.commit(source_of(state), rows_of(state.document, state.known))
    # a destination that holds the note already is compared with the journal at its next observation
