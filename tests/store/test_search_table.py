"""The full-text table: what a search finds, in which scopes, right after each change, and at what cost in rows."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_magic.store import ranking, search_table
from memory_magic.store.ranking import Scanned
from memory_magic.text import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORKSPACE = f"workspace/{'a' * 64}"
OTHER = f"workspace/{'b' * 64}"
HARD = (
    *('"', "*", "NEAR(", "AND", "OR NOT", "a AND", '"unclosed', "col:x", "terms:deploy", "^deploy", "{a b}", "-deploy"),
    *("?!,;", "->", "to be or not", "\x00", "a\x00b", "\ud800", "deploy\udfff", "deploy " * 1_500, "x" * 10_000),
    *("缩" * 10_000, "', DROP TABLE notes; --", "…", "进…", "ก", "\U0010ffff", "(" * 500, "a " * 5_000),
    " ".join(f"w{number}" for number in range(2_000)),
)


class Table:
    """A search table beside a `notes` table such as the index has."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.execute(
            "CREATE TABLE notes(rowid INTEGER PRIMARY KEY, scope TEXT NOT NULL, text TEXT NOT NULL,"
            " line INTEGER NOT NULL, pinned INTEGER NOT NULL, section TEXT NOT NULL, n INTEGER NOT NULL, terms TEXT)"
        )
        search_table.create(self.connection)

    def add(
        self,
        texts: Sequence[str],
        *,
        scope: str = "global",
        section: str = "Notes",
        pinned: bool = False,
        n: int = 1,
        heading: str = "",
    ) -> list[int]:
        """Append notes to a scope as one transaction of the index would, and return their rowids."""
        connection = self.connection
        first = search_table.next_rowid(connection, scope)
        sql = "SELECT coalesce(max(line), 0) FROM notes WHERE scope = ?"
        line = 1 + connection.execute(sql, (scope,)).fetchone()[0]
        rows = [
            (first + i, scope, text, line + i, pinned, section, n, ranking.packed(text, heading))
            for i, text in enumerate(texts)
        ]
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        search_table.settle(connection, scope)
        connection.execute("COMMIT")
        return list(range(first, first + len(texts)))

    def remove(self, *rowids: int) -> None:
        """Take notes out."""
        self.connection.executemany("DELETE FROM notes WHERE rowid = ?", [(rowid,) for rowid in rowids])

    def search(self, query: str, *scopes: str, limit: int = 8) -> list[str]:
        """Return the texts that a search finds, best first."""
        found = search_table.match(self.connection, query, scopes or None, limit)
        sql = "SELECT text FROM notes WHERE rowid = ?"
        return [self.connection.execute(sql, (one.key,)).fetchone()[0] for one in found]

    def scan(self, query: str) -> list[ranking.Ranked]:
        """Return what a scan of all notes finds."""
        rows = self.connection.execute("SELECT rowid, terms, section, pinned, n, line FROM notes ORDER BY scope, line")
        notes = [Scanned(row[0], row[1], (row[2],), bool(row[3]), (row[4], row[5])) for row in rows]
        return ranking.scan(query, notes, 100)


@pytest.fixture
def table() -> Iterator[Table]:
    """Give an empty table."""
    made = Table()
    yield made
    made.connection.close()


def many(number: int, word: str = "filler") -> list[str]:
    """Return so many notes that have nothing to do with each other."""
    return [f"{word}{i} {i % 7}x {word}" for i in range(number)]


# -- finding ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filler", [0, 500])
def test_a_note_is_found_by_any_of_its_words_in_any_script(table: Table, filler: int) -> None:
    """Each word finds its note, whether FTS5 knows the note already or not."""
    texts = [
        "Deploys run on gen-itgc 20.04",
        "我习惯使用四空格缩进",
        "नमस्ते दुनिया",
        "กาแฟดำ",
        "Café à Łódź",
        "don't panic",
    ]
    table.add(texts + many(filler))
    for query, text in {
        "deploy": 0,
        "GEN-ITGC": 0,
        "itgc": 0,
        "20.04": 0,
        "缩进": 1,
        "进": 1,
        "四空格": 1,
        "नमस्ते": 2,
        "กาแฟ": 3,
        "แ": 3,
        "cafe\u0301": 4,
        "cafe": 4,
        "lodz": 4,
        "don't": 5,
        "panic": 5,
    }.items():
        assert table.search(query)[:1] == [texts[text]], query


def test_phrase_then_all_words_then_some(table: Table) -> None:
    """Tiers hold across a thousand notes, also where more notes hold all words than are ranked."""
    table.add([f"friday number {i} we never deploy" for i in range(300)])
    table.add(["note: deploy friday", *(f"deploy deploy deploy {i}" for i in range(700))])
    found = search_table.match(table.connection, "deploy friday", None, 20)
    assert [one.tier for one in found] == [ranking.PHRASE] + [ranking.ALL] * 19
    assert table.search("deploy friday", limit=1) == ["note: deploy friday"]


def test_pinned_and_newer_break_ties_among_thousands(table: Table) -> None:
    """Of more equal notes than are ranked, the pinned one is first and the newest second."""
    table.add(["deploy old"], pinned=True)
    table.add([f"deploy {chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}" for i in range(3_000)], n=2)
    assert table.search("deploy", limit=2) == ["deploy old", "deploy jle"]


def test_a_word_that_most_notes_hold_is_ranked_by_fts5(table: Table) -> None:
    """A word in more notes than are looked at one by one is answered, best first."""
    table.add([f"deploy {i} and a good deal of other things that make a note longer" for i in range(2_500)])
    table.add(["deploy deploy"])
    assert table.search("deploy", limit=1) == ["deploy deploy"]
    assert len(table.search("deploy", limit=20)) == 20


def test_common_words_fill_up_what_rare_ones_leave(table: Table) -> None:
    """Where the rare word has fewer notes than asked for, notes with the common ones follow."""
    table.add([f"deploy {i} friday" for i in range(2_500)])
    table.add(["kubernetes", "kubernetes deploy"])
    found = table.search("kubernetes deploy friday", limit=8)
    assert len(found) == 8
    assert found[0] == "kubernetes deploy"
    assert "kubernetes" in found


def test_a_common_word_lifts_rows_of_a_rare_one(table: Table) -> None:
    """Among notes with the rare word, those with the common one come first."""
    table.add([f"deploy {i}" for i in range(2_500)])
    table.add([f"kubernetes {chr(97 + i)}" for i in range(9)] + ["kubernetes deploy"])
    table.add([f"kubernetes {chr(107 + i)}" for i in range(9)])
    assert table.search("deploy kubernetes", limit=1) == ["kubernetes deploy"]


def test_an_unknown_word_finds_its_inflections(table: Table) -> None:
    """A word that no note has finds notes with the same beginning."""
    table.add(["Hausaufgaben machen", *many(200)])
    assert table.search("Hausaufgabenheft") == ["Hausaufgaben machen"]


def test_a_heading_finds_its_notes(table: Table) -> None:
    """A word of the heading finds the notes below it."""
    table.add(["on fridays never"], section="Deploy", heading="Deploy")
    table.add(many(100), section="Other")
    assert table.search("deploy") == ["on fridays never"]


def test_a_neighbour_lends_its_words(table: Table) -> None:
    """Of equal notes that beside one which names the other word is first, unless a heading stands between."""
    table.add(["kubernetes cluster", "restarts nightly", *many(100), "restarts weekly"])
    assert table.search("restarts kubernetes", limit=3)[1:] == ["restarts nightly", "restarts weekly"]
    other = Table()
    other.add(["kubernetes cluster"], section="a")
    other.add(["restarts nightly", *many(100), "restarts weekly"], section="b")
    assert other.search("restarts kubernetes", limit=3)[1:] == ["restarts weekly", "restarts nightly"]


def test_the_limit_is_kept(table: Table) -> None:
    """No more than *limit* notes come back, and none for nought."""
    table.add([f"deploy {i}" for i in range(30)])
    assert len(table.search("deploy", limit=3)) == 3
    assert len(table.search("deploy", limit=100)) == 30
    assert table.search("deploy", limit=0) == []


# -- scopes ----------------------------------------------------------------------------------------------------


def test_a_search_sees_its_scopes_only(table: Table) -> None:
    """Global and the named workspace are searched, another one is not; None searches all."""
    table.add(["deploy here"])
    table.add(["deploy there"], scope=WORKSPACE)
    table.add(["deploy elsewhere", *many(200)], scope=OTHER)
    assert set(table.search("deploy", "global", WORKSPACE)) == {"deploy here", "deploy there"}
    assert set(table.search("deploy")) == {"deploy here", "deploy there", "deploy elsewhere"}
    assert table.search("elsewhere", "global", WORKSPACE) == []
    assert table.search("deploy", "workspace/unknown") == []


def test_another_scope_does_not_change_an_answer(table: Table) -> None:
    """How common a word is, is counted in the searched scopes only."""
    table.add(["deploy friday", "friday friday", *many(100)])
    before = search_table.match(table.connection, "deploy friday", ["global"])
    table.add([f"friday {i}" for i in range(3_000)], scope=OTHER)
    assert search_table.match(table.connection, "deploy friday", ["global"]) == before


def test_rowids_of_a_scope_stay_in_its_block(table: Table) -> None:
    """Each scope has its own rowids, and a new note takes one that none has had in FTS5."""
    first = table.add(many(100))
    there = table.add(many(3), scope=WORKSPACE)
    assert {rowid // search_table.BLOCK for rowid in first} != {rowid // search_table.BLOCK for rowid in there}
    table.remove(first[-1])
    assert search_table.next_rowid(table.connection, "global") == first[-1] + 1


# -- changes ---------------------------------------------------------------------------------------------------


def test_a_new_note_is_found_before_fts5_knows_it(table: Table) -> None:
    """A single note beside ten thousand is found at once."""
    table.add(many(10_000))
    table.add(["zebra crossing"])
    assert table.search("zebra") == ["zebra crossing"]
    assert table.search("crossing filler", limit=1) == ["zebra crossing"]


def test_a_removed_note_is_gone_at_once(table: Table) -> None:
    """A note that is gone from `notes` is found no more, although FTS5 still has its terms."""
    rowids = table.add(["zebra one", "zebra two", *many(200)])
    table.remove(rowids[0])
    assert table.search("zebra") == ["zebra two"]


def test_many_removed_notes_hide_no_live_one(table: Table) -> None:
    """Where most of the best rows are gone, the next ones are looked at."""
    rowids = table.add([f"zebra zebra {i}" for i in range(200)] + ["zebra and a horse"])
    table.remove(*rowids[:-1])
    assert table.search("zebra") == ["zebra and a horse"]


def test_one_changed_note_writes_no_search_row(table: Table) -> None:
    """Changing one of 10,000 notes writes only what the index itself writes, as `total_changes` counts."""
    rowids = table.add(many(10_000))
    before = table.connection.total_changes
    table.remove(rowids[5_000])
    rowid = search_table.next_rowid(table.connection, "global")
    note = (rowid, "global", "zebra", 5_001, 0, "Notes", 2, ranking.packed("zebra"))
    table.connection.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", note)
    search_table.settle(table.connection, "global")
    assert table.connection.total_changes - before == 2
    assert table.search("zebra") == ["zebra"]


def test_late_notes_are_taken_in_when_they_are_many(table: Table) -> None:
    """A few notes wait; one more than the limit brings all of them into FTS5."""
    sql = "SELECT notes, length FROM search_blocks"
    table.add(many(search_table.LATE_NOTES))
    assert table.connection.execute(sql).fetchone() == (0, 0)
    table.add(["one more"])
    count = search_table.LATE_NOTES + 1
    assert table.connection.execute(sql).fetchone() == (count, 3 * (count - 1) + 2)


def test_the_stored_length_is_that_of_the_notes(table: Table) -> None:
    """SQL counts terms as the ranking does, without headings."""
    texts = [*many(70), "", "one", "two of them", "缩进四空"]
    table.add(texts, heading="A long heading here")
    (length,) = table.connection.execute("SELECT length FROM search_blocks").fetchone()
    assert length == sum(len(words.terms(text)) for text in texts)


def test_the_table_is_made_anew_when_much_of_it_is_gone(table: Table) -> None:
    """After thousands of removed notes the next large change leaves nothing of them in FTS5."""
    table.remove(*table.add([f"zebra {i}" for i in range(2_000)]))
    table.add(many(100), scope=WORKSPACE)
    assert table.connection.execute("SELECT count(*) FROM search WHERE search MATCH 'zebra'").fetchone()[0] == 2_000
    table.add(many(100))
    assert table.connection.execute("SELECT count(*) FROM search WHERE search MATCH 'zebra'").fetchone()[0] == 0
    assert len(table.search("filler", "global", WORKSPACE, limit=300)) == 200


def test_a_rebuild_changes_no_answer(table: Table) -> None:
    """What is found does not depend on how the table came about."""
    rowids = table.add([f"deploy {i} on day {i % 7}" for i in range(300)])
    table.remove(*rowids[::3])
    table.add(["deploy on day 3", "day off"])
    before = [one.key for one in search_table.match(table.connection, "deploy day 3")]
    search_table.rebuild(table.connection)
    assert [one.key for one in search_table.match(table.connection, "deploy day 3")] == before


# -- queries that want to break something ----------------------------------------------------------------------


@pytest.mark.parametrize("query", HARD)
@pytest.mark.parametrize("filler", [0, 200])
def test_a_query_never_raises(table: Table, query: str, filler: int) -> None:
    """Operators, quotes, punctuation, 10 kB, NUL and lone surrogates are searched for as text."""
    table.add(["deploy on friday AND never OR NEAR( the end", "a -> b", "缩进", "กา", *many(filler)])
    found = table.search(query, "global")
    assert isinstance(found, list)
    if "deploy" in query:
        assert found[0].startswith("deploy")


def test_operators_are_words(table: Table) -> None:
    """AND, OR, NOT and NEAR find notes that hold these words and nothing more."""
    table.add(["salt AND pepper", "salt", "NEAR the end", "NOT now"])
    assert table.search("AND") == ["salt AND pepper"]
    assert table.search("NOT") == ["NOT now"]
    assert table.search("NEAR(")[0] == "NEAR the end"


def test_stop_words_alone_find_their_notes(table: Table) -> None:
    """A query of stop words only is answered."""
    table.add(["to be or not to be", "deploy"])
    assert table.search("to be or not to be") == ["to be or not to be"]
    assert table.search("the") == []


def test_an_empty_table_finds_nothing(table: Table) -> None:
    """Without a note, and without a scope, a search finds nothing."""
    assert table.search("deploy") == []
    assert table.search("deploy", "global") == []


TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@settings(max_examples=150)
@given(st.lists(TEXTS, max_size=5), st.text(max_size=40), st.booleans())
def test_every_note_is_found_by_each_of_its_words(texts: list[str], query: str, taken_in: bool) -> None:  # noqa: FBT001
    """No query raises, each word of a note finds it, and a scan finds the same notes in the same tiers."""
    table = Table()
    table.add(texts)
    if taken_in:
        search_table.rebuild(table.connection)
    for text in set(texts):
        for word in text.split():
            if words.query(word).wanted:
                assert text in table.search(word, limit=100), word
    found = search_table.match(table.connection, query, None, 100)
    assert {(one.key, one.tier) for one in found} == {(one.key, one.tier) for one in table.scan(query)}
    table.connection.close()


class Walk(RuleBasedStateMachine):
    """A table under random changes beside a plain list of what ought to be there."""

    NAMES = ("zebra", "horse", "donkey", "friday", "缩进")

    def __init__(self) -> None:
        super().__init__()
        self.table = Table()
        self.there: dict[int, str] = {}

    @rule(number=st.integers(1, 90), name=st.sampled_from(NAMES), scope=st.sampled_from(["global", WORKSPACE]))
    def grow(self, number: int, name: str, scope: str) -> None:
        """Add notes."""
        texts = [f"{name} {i}" for i in range(number)]
        self.there.update(zip(self.table.add(texts, scope=scope), texts, strict=True))

    @rule(share=st.integers(1, 5))
    def shrink(self, share: int) -> None:
        """Take out some notes."""
        gone = list(self.there)[::share]
        self.table.remove(*gone)
        for rowid in gone:
            del self.there[rowid]

    @rule()
    def rebuild(self) -> None:
        """Make the table anew."""
        search_table.rebuild(self.table.connection)

    @invariant()
    def finds_what_is_there(self) -> None:
        """Each name finds exactly the notes that hold it."""
        for name in self.NAMES:
            expected = {rowid for rowid, text in self.there.items() if name in text}
            found = search_table.match(self.table.connection, name, None, 1_000)
            assert {one.key for one in found} == expected

    def teardown(self) -> None:
        """Close the database."""
        self.table.connection.close()


Walk.TestCase.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)
TestWalk = Walk.TestCase


def test_all_sql_reaches_notes_by_an_index(table: Table) -> None:
    """Neighbours and pinned notes are looked up by index, never by reading all notes."""
    table.add(many(100))
    plans = [
        ("EXPLAIN QUERY PLAN " + search_table._AROUND, (json.dumps([1]),)),
        ("EXPLAIN QUERY PLAN SELECT rowid FROM notes INDEXED BY notes_pinned WHERE pinned", ()),
    ]
    for sql, values in plans:
        steps = [row[3] for row in table.connection.execute(sql, values)]
        assert not any(
            step.startswith(("SCAN notes", "SCAN one", "SCAN other")) and "INDEX" not in step for step in steps
        )
