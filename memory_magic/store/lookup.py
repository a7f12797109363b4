"""Which records are about a note, found without reading the journal (store_rules 5).

The index keeps for each record its place and the ids on its left and right. Where it is level with the journal, a
look-up is one query for each id and one read for each record, whatever the journal's length. Else (no index, another
process wrote meanwhile, a journal that was rewritten) one pass over the journal gives the same answers. A record that
does not stand where the index says makes the index distrusted for this answer.
"""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Final, Protocol

from memory_magic.store import files
from memory_magic.store.history import Link
from memory_magic.store.index import DamagedIndexError
from memory_magic.store.replay import STAYING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memory_magic.store.index import Index
    from memory_magic.store.journal import Journal
    from memory_magic.store.records import JournalRecord

_END: Final = re.compile(
    rb"  - n: ([0-9]{1,18}), prev: [0-9a-f]{16}(?:, salt: [0-9a-f]{32})?, chain: ([0-9a-f]{64})\s*$"
)
_STEP: Final = (
    f"SELECT n, new_id FROM journal WHERE id = ? AND n > ? AND action NOT IN {STAYING} ORDER BY n DESC LIMIT 1"  # noqa: S608
)
_COLUMNS: Final = "SELECT at, length, n, id, new_id FROM journal "
_EITHER_SIDE: Final = f"WHERE id = ?1 UNION ALL {_COLUMNS}WHERE new_id = ?1"
_GREATEST: Final = 2**63 - 1  # what SQLite can compare a number with; no record's number has 19 digits
_MOST: Final = 64  # ids that one beginning may stand for: more are ambiguous anyway


class Lookup(Protocol):
    """What can be asked."""

    def links_of(self, one: str) -> list[Link]:
        """Return the links with this id on either side."""

    def ids_from(self, prefix: str) -> list[str]:
        """Return ids that begin with *prefix*, a bounded number of them."""

    def numbered(self, n: int) -> list[Link]:
        """Return the records with this number (several only in a fork)."""

    def step(self, one: str, after: int) -> tuple[int, str | None] | None:
        """Return number and right side of the last change after *after* with exactly this id on its left."""

    def end_of(self, moment: int | str) -> int:
        """Return where the last record stands with this number, or with a time not after this one; -1: none."""


class IndexLookup:
    """Answers from the index, which must be level with the journal."""

    def __init__(self, index: Index) -> None:
        self._connection = index.connection  # looked up once: each look asks the disk whether the file is the same

    def _ask(self, where: str, *values: object) -> list[Link]:
        return list(map(Link._make, self._connection.execute(_COLUMNS + where, values)))

    def links_of(self, one: str) -> list[Link]:
        """Return the links with this id on either side."""
        return self._ask(_EITHER_SIDE, one)

    def ids_from(self, prefix: str) -> list[str]:
        """Return ids that begin with *prefix*, a bounded number of them."""
        sql = (
            "SELECT id FROM journal WHERE id >= ?1 AND id < ?2 UNION"
            " SELECT new_id FROM journal WHERE new_id >= ?1 AND new_id < ?2 LIMIT ?3"
        )
        return [row[0] for row in self._connection.execute(sql, (prefix, f"{prefix}\x7f", _MOST))]

    def live_from(self, prefix: str, scope: str) -> list[str]:
        """Return the notes of a scope that stand and whose ids begin with *prefix*."""
        sql = "SELECT id FROM notes WHERE id >= ? AND id < ? AND scope = ?"
        return [row[0] for row in self._connection.execute(sql, (prefix, f"{prefix}\x7f", scope))]

    def numbered(self, n: int) -> list[Link]:
        """Return the records with this number."""
        return self._ask("WHERE n = ? ORDER BY at", n) if n <= _GREATEST else []

    def step(self, one: str, after: int) -> tuple[int, str | None] | None:
        """Return number and right side of the last change after *after* with exactly this id on its left."""
        row = self._connection.execute(_STEP, (one, after)).fetchone()
        return None if row is None else (row[0], row[1])

    def end_of(self, moment: int | str) -> int:
        """Return where the last record stands with this number, or with a time not after this one; -1: none."""
        if isinstance(moment, int) and moment > _GREATEST:
            return -1
        column = "n =" if isinstance(moment, int) else "time <="
        sql = f"SELECT max(at) FROM journal WHERE {column} ?"  # noqa: S608  (two fixed spellings)
        at = self._connection.execute(sql, (moment,)).fetchone()[0]
        return -1 if at is None else int(at)


class ScanLookup:
    """Answers from one pass over the journal, of which places and ids are kept."""

    def __init__(self, records: Iterable[JournalRecord]) -> None:
        self._links: dict[str, list[Link]] = {}
        self._numbers: dict[int, list[Link]] = {}
        self._steps: dict[str, list[tuple[int, str | None]]] = {}
        self._times: list[tuple[int, str]] = []
        for record in records:
            if record.n:
                self._add(record)

    def _add(self, record: JournalRecord) -> None:
        link = Link(record.offset, record.length, record.n, record.id, record.new_id)
        for one in {link.id, link.new_id} - {None}:
            self._links.setdefault(one or "", []).append(link)
        if record.id and record.action not in STAYING:
            self._steps.setdefault(record.id, []).append((record.n, record.new_id))
        self._numbers.setdefault(record.n, []).append(link)
        self._times.append((record.offset, record.time))

    def links_of(self, one: str) -> list[Link]:
        """Return the links with this id on either side."""
        return self._links.get(one, [])

    def ids_from(self, prefix: str) -> list[str]:
        """Return ids that begin with *prefix*, a bounded number of them."""
        return sorted(one for one in self._links if one.startswith(prefix))[:_MOST]

    def numbered(self, n: int) -> list[Link]:
        """Return the records with this number."""
        return self._numbers.get(n, [])

    def step(self, one: str, after: int) -> tuple[int, str | None] | None:
        """Return number and right side of the last change after *after* with exactly this id on its left."""
        return max((step for step in self._steps.get(one, ()) if step[0] > after), default=None, key=lambda it: it[0])

    def end_of(self, moment: int | str) -> int:
        """Return where the last record stands with this number, or with a time not after this one; -1: none."""
        if isinstance(moment, int):
            return max((link.at for link in self.numbered(moment)), default=-1)
        return max((at for at, time in self._times if time <= moment), default=-1)


def lookup(index: Index | None, journal: Journal) -> Lookup:
    """Return the quickest way to ask that can be trusted now."""
    if index is not None:
        try:
            if _is_level(index, journal):
                return IndexLookup(index)
        except (sqlite3.Error, DamagedIndexError):
            pass  # the index is disposable: the journal holds the same
    return ScanLookup(journal.records())


def _is_level(index: Index, journal: Journal) -> bool:
    last = index.connection.execute("SELECT at + length FROM journal ORDER BY at DESC LIMIT 1").fetchone()
    if last is None:
        return False
    if last[0] == files.stat_file(str(journal.path)).size:
        return True
    cursor, tail = index.cursor(), journal.tail()  # junk, or a torn record, may stand behind the last one
    return (cursor.n, cursor.chain, cursor.offset) == (tail.n, tail.chain, tail.offset)


def number_of_head(journal: Journal, head: str) -> int | None:
    """Return the number of the record whose chain begins with *head* (hexadecimal digits), or None.

    A search of bytes: no value can hold a line that looks like the end of a record.
    """
    needle = b", chain: " + head.encode("ascii")
    if not journal.path.exists():
        return None
    with files.disk_errors(journal.path), journal.path.open("rb") as file:
        for line in file:
            if needle in line and (found := _END.match(line)) and found[2].startswith(head.encode("ascii")):
                return int(found[1])
    return None


def read_links(journal: Journal, links: Sequence[Link]) -> list[JournalRecord] | None:
    """Return the records that *links* name, or None where one of them does not stand there (any longer)."""
    records = list(journal.read([link[:2] for link in links]))
    if len(records) != len(links):
        return None
    for record, link in zip(records, links, strict=True):
        fields = record.fields
        if (record.n, fields.get("id"), fields.get("new_id")) != link[2:]:
            return None
    return records
