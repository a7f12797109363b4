"""How the index follows the journal: from where it stopped, else from the beginning (store_rules 5).

The index holds, for each scope, the notes that the journal has reached. Where records were written that it has not
seen (a crash between record and index, another machine, a deleted index) they are applied; where the last record that
it knows no longer stands at its place (a purge, a restored copy) everything is replayed. Files are compared at their
next observation; from the beginning, a file that holds just the journal's notes is taken in at once, so that a
rebuild parses it, and writes its rows, once. The journal is streamed: of 100,000 records some hundred are held.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import door, files
from memory_magic.store import journal_format as form
from memory_magic.store.bench import FileState, resolved, rows_of, source_of
from memory_magic.store.index import Row, Source
from memory_magic.store.note import Document
from memory_magic.store.records import Scope
from memory_magic.store.replay import cancels, replay

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from memory_magic.store.bench import Bench
    from memory_magic.store.index import Cursor
    from memory_magic.store.journal import Journal
    from memory_magic.store.records import JournalRecord
    from memory_magic.store.replay import Known, State

_BATCH: Final = 500  # records
_MUCH: Final = 1 << 20  # bytes of journal


def follow(bench: Bench) -> None:
    """Bring the index level with the journal's tail."""
    cursor, tail = bench.index.cursor(), bench.tail
    if (cursor.n, cursor.chain or form.GENESIS, cursor.offset) == (tail.n, tail.chain, tail.offset):
        return
    records = _records_after(bench.journal, cursor) if cursor.n else None
    if records is None:
        follow_from_start(bench)
        return
    state = {scope: bench.index.known(scope) for scope in {record.scope for record in records}}
    with bench.index.transaction():
        _keep(bench, replay(records, state), records)


def follow_from_start(bench: Bench) -> None:
    """Replay the whole journal into the index; what it is known to have reached before stays as the anchor."""
    known = bench.index.anchor()
    cancelled = bench.journal.cancelled()
    state: State = {}
    reached = known is None
    with bench.index.transaction():
        bench.index.clear_records()
        for scope in bench.index.scopes():
            bench.index.forget(scope)
        with _refilled(bench.index.connection) if bench.tail.end > _MUCH else contextlib.nullcontext():
            for records in _batches(bench.journal):
                bench.index.add_records(records)
                replay(records, state, cancelled=cancelled)
                reached = reached or any((record.n, record.chain) == known for record in records)
            while state:
                _put_in(bench, *state.popitem())
        if known is not None and not reached:
            bench.index.set_meta("anchor", {"n": known[0], "chain": known[1]})
    bench.pending.clear()


@contextlib.contextmanager
def _refilled(connection: sqlite3.Connection) -> Iterator[None]:
    """Leave the SQL indexes out while much is inserted: made of all rows at once they take a third of the time.

    Nor does Python look for cycles meanwhile: records and rows have none, and each look would visit all of them.
    """
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    made = connection.execute(sql).fetchall()
    for name, _ in made:
        connection.execute(f"DROP INDEX {name}")
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
    for _, statement in made:
        connection.execute(statement)


def _batches(journal: Journal) -> Iterator[list[JournalRecord]]:
    records = (record for record in journal.records() if record.n)
    while batch := list(itertools.islice(records, _BATCH)):
        yield batch


def _put_in(bench: Bench, scope: str, notes: dict[str, Known]) -> None:
    """Put in the notes of a scope that the index has forgotten, as its file has them or else as the journal says."""
    source, rows = _as_read(bench, scope, notes) or _as_journalled(scope, notes)
    notes.clear()  # beside the rows it would count twice where memory is highest
    bench.index.insert(source, rows, searchable=bool(source.path))


def _as_read(bench: Bench, scope: str, notes: dict[str, Known]) -> tuple[Source, list[Row]] | None:
    """Return what the scope's file gives, if it can be read and holds just *notes*: nothing is to be journalled."""
    from memory_magic.store.scope import safe_directory

    try:
        place = Scope(scope, safe_directory(bench.journal.path.parent, scope))
        path = resolved(place.memory_file)
        if not notes or door.temps(path):
            return None
        state = FileState(place, path, files.read(path), lambda: notes)
        there = {one: note.pinned for one, note in state.document.notes.items()}
    except MemoryMagicError:
        return None  # its next observation says what is wrong
    if not state.document.is_text or there != {one: note.pinned for one, note in notes.items()}:
        return None
    return source_of(state), rows_of(state.document, notes)


def _as_journalled(scope: str, notes: dict[str, Known]) -> tuple[Source, list[Row]]:
    """Return what the journal says; without a path, the file is compared with it before anything of it is believed."""
    rows = [
        Row(one.id, one.text, at, one.pinned, "item", (), one.n, one.created, one.by, one.section)
        for at, one in enumerate(notes.values())
    ]
    return Source(scope, "", files.Signature(), "", Document(scope, "").place), rows


def _records_after(journal: Journal, cursor: Cursor) -> list[JournalRecord] | None:
    """Return the records after *cursor*; None where it no longer stands, or a later one reaches back before it."""
    following = [record for record in journal.records(cursor.offset) if record.n]
    if not following or (following[0].n, following[0].chain) != (cursor.n, cursor.chain):
        return None
    records = following[1:]
    cancelled = [cancels(record) for record in records if record.action == "cancel"]
    if any(n <= cursor.n for n in cancelled) or any(record.action in {"promote", "purge"} for record in records):
        return None
    return records


def _keep(bench: Bench, state: State, records: list[JournalRecord]) -> None:
    bench.index.add_records(records)
    for scope, notes in state.items():
        bench.index.forget(scope)
        bench.index.insert(*_as_journalled(scope, notes), searchable=False)
