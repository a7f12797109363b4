"""The full-text table beside the index's `notes`: which notes a query finds, fast at 100,000.

`notes.terms` holds the search terms of each note (`ranking.packed`); `search` is an FTS5 table over them, without a
copy of its own. The tokenizer splits at blanks only, since `text.words` makes the terms. Three rules keep both right:

- **Each scope has a block of rowids** (`search_blocks`), so that a search reads nothing of other scopes, and counts
  how common a word is in the scopes that it searches. A new note takes `next_rowid`.
- **A changed note is a new row.** A rowid that FTS5 has once seen stands for one string of terms for ever; if a note is
  gone or its terms differ, its rowid must be gone from `notes`. FTS5 is not told; what it still says of the old rowid
  is dropped, because no row is there.
- **FTS5 follows late.** One row put into an FTS5 table writes six rows or more (terms, sizes, averages, structure), so
  rows above `search_blocks.indexed` are not in it yet and are looked at one by one, which for a few dozen costs
  nothing that one could measure. `settle` takes them in when there are more, and makes the table anew when a third of
  what it holds is gone.

A search asks for the rowids of each wanted term, rarest first, up to a few thousand; adds up how rare the terms of
each row are; and hands the best to `ranking`, with their neighbours in the file. Terms that too many notes hold only
weigh the rows of the rarer ones, as long as they could not lift any other note into the answer; else FTS5's own bm25
ranks the rows that hold them. So a search costs less than the bare FTS5 query, which must score every row that matches.

Functions on a connection; the caller's transaction holds them together. Queries cannot raise: terms are quoted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memory_magic.store.ranking import Collection, Ranked, Ranking, beginnings, length_of, pattern, rarity
from memory_magic.text import words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from memory_magic.text.words import Query

# every printable ASCII character belongs to a term; bytes above ASCII always do
_TOKENIZER: Final = """ascii tokenchars '!"#$%&''()*+,-./:;<=>?@[\\]^_`{|}~'"""
TABLES: Final = (
    f"""CREATE VIRTUAL TABLE search USING fts5(terms, content='', tokenize="{_TOKENIZER.replace('"', '""')}")""",
    """CREATE TABLE search_blocks(block INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE, indexed INTEGER NOT NULL,
    notes INTEGER NOT NULL, length INTEGER NOT NULL)""",
    "CREATE INDEX notes_by_line ON notes(scope, line)",
    "CREATE INDEX notes_pinned ON notes(n) WHERE pinned",
    # bytes of terms gathered before they are written: a rebuild makes one segment of them, or few
    "INSERT INTO search(search, rank) VALUES ('hashsize', 8388608)",
)

BLOCK: Final = 1 << 32  # rowids of one scope
LATE_NOTES: Final = 64  # that FTS5 need not know yet
_STALE_SHARE: Final = 3  # one row in so many may be stale
_STALE_LEAST: Final = 1_000

_ROWS_OF_TERM: Final = 2_000
_ROWS_OF_QUERY: Final = 4_000
# candidates: so many for each result asked for (more find nothing better on LoCoMo), or a share of the rows that match
_CANDIDATES: Final = 5
_LEAST_CANDIDATES: Final = 24
_MOST_CANDIDATES: Final = 120
_CANDIDATE_SHARE: Final = 16
_LEADERS: Final = 1.6  # candidates whose neighbours are looked at
_LEAST_LEADERS: Final = 8
_NOBODY: Final = -1
_ROUNDING: Final = 1e-6
_PHRASES: Final = 16
_LONGEST_PHRASE: Final = 32  # words
_OTHERS: Final = (
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM notes AS other WHERE other.scope = one.scope"
    " AND other.line {} one.line ORDER BY other.line {} LIMIT 2)"
)
_AROUND: Final = (
    f"SELECT one.rowid, ({_OTHERS.format('<', 'DESC')}), ({_OTHERS.format('>', 'ASC')}) FROM notes AS one"  # noqa: S608
    " WHERE one.rowid IN (SELECT value FROM json_each(?))"
)


@dataclass(frozen=True, slots=True)
class _Block:
    """The rowids of one scope: *first* to *indexed* are in FTS5 unless stale, later ones up to *last* are not."""

    first: int
    indexed: int
    notes: int
    length: int

    @property
    def last(self) -> int:
        return self.first + BLOCK - 1


@dataclass(slots=True)
class _Term:
    """One wanted term: its FTS5 *expression*, the *rows* that hold it, or only their number where they are *many*."""

    term: str
    expression: str
    weight: float
    stands_in: bool = False
    rows: list[int] = field(default_factory=list)
    count: int = 0
    many: bool = False
    value: float = 0.0


def create(connection: sqlite3.Connection) -> None:
    """Make the tables; `notes` must be there."""
    for statement in TABLES:
        connection.execute(statement)


def next_rowid(connection: sqlite3.Connection, scope: str) -> int:
    """Return the first rowid that a new note of *scope* may take; those after it are free, too."""
    row = connection.execute("SELECT block, indexed FROM search_blocks WHERE scope = ?", (scope,)).fetchone()
    if row is None:
        sql = "INSERT INTO search_blocks(scope, indexed, notes, length) VALUES (?, 0, 0, 0)"
        row = connection.execute(sql, (scope,)).lastrowid, 0
    first, indexed = row[0] * BLOCK, row[1]
    sql = "SELECT max(rowid) FROM notes WHERE rowid BETWEEN ? AND ?"
    used = connection.execute(sql, (first, first + BLOCK - 1)).fetchone()[0]
    return int(max(first, indexed, used or 0)) + 1


def settle(connection: sqlite3.Connection, scope: str) -> None:
    """Let FTS5 take in the new notes of *scope* if they are many; call at the end of each transaction."""
    for block in _blocks(connection, [scope]):
        span = (block.indexed + 1, block.last)
        late = connection.execute("SELECT count(*) FROM notes WHERE rowid BETWEEN ? AND ?", span).fetchone()[0]
        if late <= LATE_NOTES:
            continue
        live = connection.execute(
            "SELECT count(*) FROM notes WHERE rowid BETWEEN ? AND ?", (block.first, block.indexed)
        ).fetchone()[0]
        if (block.notes - live) > max(_STALE_LEAST, live // _STALE_SHARE):
            rebuild(connection)
        else:
            _take_in(connection, block)


def rebuild(connection: sqlite3.Connection) -> None:
    """Fill the table anew from `notes`; what FTS5 held of notes that are gone is gone."""
    connection.execute("INSERT INTO search(search) VALUES ('delete-all')")
    connection.execute("UPDATE search_blocks SET indexed = 0, notes = 0, length = 0")
    for block in _blocks(connection, None):
        _take_in(connection, block)


def match(
    connection: sqlite3.Connection, query: str, scopes: Sequence[str] | None = None, limit: int = 8
) -> list[Ranked]:
    """Return the best notes of *scopes* (None: of all) for *query*, best first; a result's key is the note's rowid."""
    asked = words.query(query)
    blocks = _blocks(connection, scopes)
    if not asked.wanted or not blocks or limit <= 0:
        return []
    search = _Search(connection, asked, blocks)
    ranking = Ranking(asked, search.collection)
    for rowids in search.batches(limit):
        search.add(ranking, rowids)
        if len(ranking) >= limit:
            break
    if len(asked.words) > 1:  # else whoever matches lacks no word that a neighbour could lend
        search.add_neighbours(ranking, ranking.leaders(max(_LEAST_LEADERS, int(_LEADERS * limit))))
    return ranking.result(limit)


# -- blocks ----------------------------------------------------------------------------------------------------


def _blocks(connection: sqlite3.Connection, scopes: Sequence[str] | None) -> list[_Block]:
    sql = "SELECT block * ?, max(indexed, block * ?), notes, length FROM search_blocks"
    if scopes is None:
        return [_Block(*row) for row in connection.execute(sql, (BLOCK, BLOCK))]
    sql += " WHERE scope IN (SELECT value FROM json_each(?))"
    return [_Block(*row) for row in connection.execute(sql, (BLOCK, BLOCK, json.dumps(list(scopes))))]


def _take_in(connection: sqlite3.Connection, block: _Block) -> None:
    """Put the notes above `indexed` into FTS5."""
    span = (block.indexed + 1, block.last)
    connection.execute(
        "INSERT INTO search(rowid, terms) SELECT rowid, terms FROM notes WHERE rowid BETWEEN ? AND ?", span
    )
    # counting in Python is three times as fast as SQL's length(replace())
    taken = connection.execute("SELECT terms FROM notes WHERE rowid BETWEEN ? AND ?", span)
    length = sum(length_of(row[0]) for row in taken)
    notes, last = connection.execute(
        "SELECT count(*), max(rowid) FROM notes WHERE rowid BETWEEN ? AND ?", span
    ).fetchone()
    connection.execute(
        "UPDATE search_blocks SET notes = notes + ?, length = length + ?, indexed = max(indexed, ?) WHERE block = ?",
        (notes, length, last or 0, block.first // BLOCK),
    )


# -- one search ------------------------------------------------------------------------------------------------


class _Search:
    """The rows of one query's terms in some blocks, and how rare the terms of each row are in sum."""

    def __init__(self, connection: sqlite3.Connection, query: Query, blocks: Sequence[_Block]) -> None:
        self._connection = connection
        self._query = query
        self._blocks = blocks
        self._sections: dict[int, str] = {}
        sql = "SELECT rowid, terms FROM notes WHERE rowid BETWEEN ? AND ?"
        spans = [(block.indexed + 1, block.last) for block in blocks]
        self._late: list[tuple[int, str]] = [row for span in spans for row in connection.execute(sql, span)]
        notes = sum(block.notes for block in blocks) + len(self._late)
        length = sum(block.length for block in blocks) + sum(length_of(terms) for _, terms in self._late)
        terms = [self._look_up(*wanted) for wanted in zip(query.wanted, query.weights, strict=True)]
        for term in terms:
            term.value = term.weight * rarity(term.count, notes)
        found = {term.term: term.count for term in terms}
        unknown = frozenset(term.term for term in terms if term.stands_in)
        self.collection = Collection(notes, length / max(1, notes), found, unknown)
        self._few, self._many = _few_and_many(terms)
        self._every = sum(term.value for term in terms) - _ROUNDING
        self._values = self._sums()

    def batches(self, limit: int) -> Iterator[list[int]]:
        """Yield the rows that match, the most promising first, until the caller has enough."""
        values = self._values
        share = min(_MOST_CANDIDATES, len(values) // _CANDIDATE_SHARE)
        count = max(_LEAST_CANDIDATES, _CANDIDATES * limit, share)
        order = sorted(values, key=values.__getitem__, reverse=True)
        best = order[:count]
        batch = dict.fromkeys(best)
        if self._many and (len(best) < limit or values[best[limit - 1]] < sum(term.value for term in self._many)):
            batch |= dict.fromkeys(self._by_bm25(count))
        if len(self._query.words) > 1 and (not self._few or self._may_miss_whole(best, count)):
            batch |= dict.fromkeys(self._rows(self._phrase(), _PHRASES))
        if self._many or len(values) > count:
            batch |= dict.fromkeys(self._pinned(count))
        yield list(batch)
        if len(values) > count:  # reached only where many of the best rows are gone from `notes`
            yield from (order[start : start + count] for start in range(count, len(order), count))

    def _may_miss_whole(self, best: Sequence[int], count: int) -> bool:
        """Tell whether more rows than *best* hold every term, so that one with the whole phrase may not be in it."""
        return len(best) == count and self._values[best[-1]] >= self._every

    def add(self, ranking: Ranking, rowids: Iterable[int]) -> None:
        """Give the ranking those notes that are there."""
        sql = "SELECT rowid, terms, pinned, n, line, section FROM notes WHERE rowid IN (SELECT value FROM json_each(?))"
        for rowid, terms, pinned, n, line, section in self._connection.execute(sql, (json.dumps(list(rowids)),)):
            self._sections[rowid] = section
            ranking.add(rowid, terms, pinned=bool(pinned), age=(n, line))

    def add_neighbours(self, ranking: Ranking, leaders: Sequence[int]) -> None:
        """Tell the ranking what stands around the best candidates: two notes before, two after, of the same section."""
        lines = []
        for rowid, before, after in self._connection.execute(_AROUND, (json.dumps(leaders),)):
            earlier = [int(one) for one in (before or "").split(",") if one]
            lines.append((rowid, [*reversed(earlier), rowid, *(int(one) for one in (after or "").split(",") if one)]))
        near = {rowid for _, line in lines for rowid in line if rowid not in ranking}
        # a row without any rarer term has something to say only where a common one is wanted, too
        if near := near if self._many else near & self._values.keys():
            self.add(ranking, near)
        for leader, line in lines:
            section = self._sections[leader]
            ranking.stand([rowid if self._sections.get(rowid) == section else _NOBODY for rowid in line])

    # -- rows --------------------------------------------------------------------------------------------------

    def _rows(self, asked: str, limit: int = -1) -> list[int]:
        """Return the rowids that FTS5 has for an expression, at most *limit* of each block."""
        rows = "SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        sql = f"SELECT json_group_array(rowid) FROM ({rows})"  # noqa: S608 - one string is read faster than many rows
        spans = [(asked, block.first, block.indexed, limit) for block in self._blocks]
        return [rowid for span in spans for rowid in json.loads(self._connection.execute(sql, span).fetchone()[0])]

    def _count(self, asked: str) -> int:
        sql = "SELECT count(*) FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ?"
        spans = [(asked, block.first, block.indexed) for block in self._blocks]
        return sum(self._connection.execute(sql, span).fetchone()[0] for span in spans)

    def _by_bm25(self, count: int) -> list[int]:
        """Return the rows that FTS5 itself ranks best for the common terms."""
        order = "ORDER BY bm25(search), rowid DESC"
        sql = f"SELECT rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ? {order} LIMIT ?"  # noqa: S608
        anyone = " OR ".join(term.expression for term in self._many)
        spans = [(anyone, block.first, block.indexed, count) for block in self._blocks]
        return [row[0] for span in spans for row in self._connection.execute(sql, span)]

    def _pinned(self, count: int) -> list[int]:
        """Return the newest pinned notes: with equal words they come first, so none may be left out unseen."""
        where = "INDEXED BY notes_pinned WHERE pinned AND rowid BETWEEN ? AND ?"
        sql = f"SELECT rowid FROM notes {where} ORDER BY n DESC LIMIT ?"  # noqa: S608
        spans = [(block.first, block.last, count) for block in self._blocks]
        return [row[0] for span in spans for row in self._connection.execute(sql, span)]

    def _phrase(self) -> str:
        """Return the FTS5 expression for the whole query (its beginning, where it is very long)."""
        return " + ".join(expression(word) for word in self._query.words[:_LONGEST_PHRASE])

    def _look_up(self, wanted: str, weight: float) -> _Term:
        """Return a term with the rows that hold it; a word that no note has stands for its inflections."""
        term = self._filled(_Term(wanted, expression(wanted), weight), pattern(wanted))
        if not term.count and (begin := beginnings(wanted)):
            inflected = _Term(wanted, _quoted(begin, beginning=True), weight, stands_in=True)
            term = self._filled(inflected, f" {begin}")
        return term

    def _filled(self, term: _Term, text: str) -> _Term:
        late = [rowid for rowid, terms in self._late if text in terms]
        count = self._count(term.expression)
        term.many = count > _ROWS_OF_TERM
        term.rows = late if term.many or not count else self._rows(term.expression) + late
        term.count = count + len(late)
        return term

    def _sums(self) -> dict[int, float]:
        """Return for each row that holds a rarer term how rare its terms are in sum."""
        sums: dict[int, float] = {}
        held = [term.expression for term in self._few if term.count]
        for term in self._few:
            for rowid in reversed(term.rows):  # of rows that are alike the newer comes first
                sums[rowid] = sums.get(rowid, 0.0) + term.value
        for term in self._many:
            both = self._rows(f"({' OR '.join(held)}) AND {term.expression}") if held else []
            for rowid in both + term.rows:
                sums[rowid] = sums.get(rowid, 0.0) + term.value
        return sums


def _few_and_many(terms: Sequence[_Term]) -> tuple[list[_Term], list[_Term]]:
    """Divide the terms into those whose rows are all looked at, rarest first, and those that too many notes hold."""
    few: list[_Term] = []
    many: list[_Term] = []
    rows = 0
    for term in sorted(terms, key=lambda term: term.count):
        rows += term.count
        (many if term.many or (rows > _ROWS_OF_QUERY and few) else few).append(term)
    return few, many


def _quoted(term: str, *, beginning: bool = False) -> str:
    """Return *term* as an FTS5 string, in which no character means anything."""
    text = term.replace('"', '""')
    return f'"{text}"*' if beginning else f'"{text}"'


def expression(term: str) -> str:
    """Return what FTS5 is asked for a wanted term, with every character quoted."""
    return _quoted(term[: -len(words.TAIL)], beginning=True) if term.endswith(words.TAIL) else _quoted(term)
