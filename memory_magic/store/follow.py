"""How the index follows the journal: from where it stopped, else from the beginning (store_rules 5).

The index holds, for each scope, the notes that the journal has reached. Where records were written that it has not
seen (a crash between record and index, another machine, a deleted index) they are applied; where the last record that
it knows no longer stands at its place (a purge, a restored copy) everything is replayed. Files are compared at their
next observation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.store import files
from memory_magic.store import journal_format as form
from memory_magic.store.index import Row, Source
from memory_magic.store.note import Document
from memory_magic.store.replay import cancels, replay

if TYPE_CHECKING:
    from memory_magic.store.bench import Bench
    from memory_magic.store.index import Cursor
    from memory_magic.store.journal import Journal
    from memory_magic.store.records import JournalRecord
    from memory_magic.store.replay import State


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
    records = [record for record in bench.journal.records() if record.n]
    known = bench.index.anchor()
    with bench.index.transaction():
        if known is not None and not any((record.n, record.chain) == known for record in records):
            bench.index.set_meta("anchor", {"n": known[0], "chain": known[1]})
        bench.index.clear_records()
        for scope in bench.index.scopes():
            bench.index.forget(scope)
        _keep(bench, replay(records), records)
    bench.pending.clear()


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
        rows = [
            Row(one.id, one.text, at, one.pinned, "item", (), one.n, one.created, one.by, one.section)
            for at, one in enumerate(notes.values())
        ]
        bench.index.forget(scope)
        # no path: the file is compared with these notes before anything of it is believed
        unread = Source(scope, "", files.Signature(), "", Document(scope, "").place)
        bench.index.put(unread, rows, searchable=False)
