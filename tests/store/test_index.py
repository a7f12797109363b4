"""The index: private, small writes, one state for a reader, and damage told apart from mere business."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.store import files, search_table
from memory_magic.store.index import SCHEMA, Cursor, DamagedIndexError, Index, Row, Source
from memory_magic.store.note import Place
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import Known
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLACE = Place(7, "\n", 3, "\r\n", "why not", "Title\x1fTools")
SOURCE_REST = ("/a/MEMORY.md", files.Signature(1, 2, 3, 4, 5), "f" * 64, PLACE)
SOURCE = Source("global", *SOURCE_REST)


def row(one: str, n: int = 1, line: int = 1, *, pinned: bool = False, text: str = "") -> Row:
    """Return a note's row."""
    return Row(one * 26, text or one, line, pinned, "item", ("Title", "Tools"), n, "then", "ana", "Home")


def numbered(number: int) -> Row:
    """Return a row whose id is a number."""
    return Row(f"{number:026}", f"text {number}", 1, False, "item", (), 1, "then", "ana")  # noqa: FBT003


def record(n: int, action: str, one: str, new: str | None = None, scope: str = "global") -> JournalRecord:
    """Return a record of 100 bytes."""
    fields = {"scope": scope, "id": one} | ({"new_id": new} if new else {})
    return JournalRecord(n, action, "now", fields, None, "", f"{n:064}", offset=n * 100, length=100)


@pytest.fixture(params=["file", "memory"])
def index(request: pytest.FixtureRequest, root: Path) -> Index:
    """Give an empty index of each kind."""
    return Index(root / "index.sqlite3" if request.param == "file" else None)


def filled(index: Index, *rows: Row) -> Index:
    """Put rows in."""
    with index.transaction():
        index.put(SOURCE, rows)
    return index


# -- notes and sources -----------------------------------------------------------------------------------------


def test_what_is_put_in_comes_out(index: Index) -> None:
    """Source, place, and every column of a note are read back as they were."""
    filled(index, row("a", 1, 5), row("b", 2, 6, pinned=True))
    assert index.source("global") == SOURCE
    assert index.source("workspace/x") is None
    first, second = index.notes("global", "/shown")
    assert (first.text, second.text) == ("b", "a")
    assert (second.id, second.path, second.line, second.pinned, second.kind) == ("a" * 26, "/shown", 5, False, "item")
    assert (second.section, second.n, second.created, second.by) == (("Title", "Tools"), 1, "then", "ana")
    assert index.known("global")["a" * 26] == Known("a" * 26, "a", False, 1, "then", "ana", "Home")  # noqa: FBT003
    assert (index.scopes(), index.count("global"), index.count("other")) == (["global"], 2, 0)


def test_notes_come_pinned_first_then_newest(index: Index) -> None:
    """By pin, journal number, and for one number by line; a limit takes the first."""
    filled(index, row("a", 1, 1), row("b", 1, 2), row("c", 3, 3), row("d", 2, 4, pinned=True))
    assert [note.text for note in index.notes("global", "")] == ["d", "c", "b", "a"]
    assert [note.text for note in index.notes("global", "", 2)] == ["d", "c"]
    assert list(index.known("global")) == [letter * 26 for letter in "abcd"]


def test_a_note_is_found_by_the_beginning_of_its_id(index: Index) -> None:
    """Only whole beginnings count, and only in the scope asked for; wildcards mean nothing."""
    filled(index, row("a"), row("b"))
    assert [note.text for note in index.find("global", "aaaaaa", "")] == ["a"]
    assert [note.text for note in index.find("global", "a" * 26, "")] == ["a"]
    assert [len(index.find("global", odd, "")) for odd in ("%", "_", "a" * 27, "ab", "c")] == [0] * 5
    assert len(index.find("global", "", "")) == 2
    assert index.find("other", "aaaaaa", "") == []


def test_the_source_is_given_only_where_no_note_is_there_yet(index: Index) -> None:
    """An append asks for the file's row and for duplicates at once; equal ids of other scopes do not count."""
    filled(index, row("a"), row("b"))
    assert index.source_without("global", ["c" * 26]) == SOURCE
    assert index.source_without("global", ["c" * 26, "d" * 26]) == SOURCE
    for ids in ("a", "ca", "cda", "acd"):
        assert index.source_without("global", [one * 26 for one in ids]) is None
    assert index.source_without("workspace/x", ["c" * 26]) is None
    with index.transaction():
        index.put(Source("workspace/x", *SOURCE_REST), [row("c")])
    assert index.source_without("global", ["c" * 26]) == SOURCE


def test_full_text_search_follows_before_many_notes_are_late(index: Index) -> None:
    """One by one or many at once, never more than some dozen notes are left for a search to look at one by one."""
    filled(index)
    late = 0
    for batch in [1] * 200 + [40] * 5:
        with index.transaction():
            index.insert(SOURCE, [numbered(index.count("global") + at) for at in range(batch)])
        sql = "SELECT count(*) FROM notes, search_blocks WHERE notes.rowid > max(indexed, block * ?)"
        late = max(late, index.connection.execute(sql, (search_table.BLOCK,)).fetchone()[0])
    assert search_table.LATE_NOTES < late <= search_table.LATE_NOTES + 16
    assert index.count("global") == 400


def test_only_what_differs_is_written(index: Index) -> None:
    """Putting the same rows again writes the source row alone; a change touches its own row."""
    rows = [row("abcdefghjk"[at % 10], at, at + 1, text=f"{at}") for at in range(10)]
    filled(index, *rows)

    def changes(*rows: Row) -> int:
        before = index.connection.total_changes
        filled(index, *rows)
        return index.connection.total_changes - before - 1  # the source row

    assert changes(*rows) == 0
    assert changes(*rows[:-1], row("k", 99, 10, text="changed")) == 2  # an old row out, a new one in
    assert changes(*rows[:-1]) == 1
    assert changes(*rows) == 1
    assert [note.text for note in index.notes("global", "")] == [f"{at}" for at in range(9, -1, -1)]


def test_one_changed_line_among_a_thousand_writes_few_rows(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit of one line by hand costs one note out, one in, its record and the bookkeeping: not a thousand rows."""
    path = root / "global" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"- note {number}\n" for number in range(1000)), encoding="utf-8")
    store = Store(root)
    assert len(store.list()) == 1000
    written = counted(monkeypatch)
    path.write_text(path.read_text(encoding="utf-8").replace("- note 500\n", "- changed\n"), encoding="utf-8")
    assert len(store.observe()) == 1
    assert sum(written) <= 6
    written.clear()
    store.remember("one more")
    assert sum(written) <= 4
    written.clear()
    store.retire("note 999", evidence="x")
    assert sum(written) <= 5


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the rows that each transaction of an index writes."""
    written: list[int] = []
    real = Index.transaction

    @contextlib.contextmanager
    def transaction(self: Index) -> Iterator[sqlite3.Connection]:
        before = self.connection.total_changes
        with real(self) as connection:
            yield connection
        written.append(self.connection.total_changes - before)

    monkeypatch.setattr(Index, "transaction", transaction)
    return written


def test_notes_below_a_new_one_move_down(index: Index) -> None:
    """Lines from the place on are counted anew, those above stay."""
    filled(index, row("a", 1, 1), row("b", 2, 5))
    with index.transaction():
        index.shift("global", 5, 3)
    assert {note.text: note.line for note in index.notes("global", "")} == {"a": 1, "b": 8}


def test_a_scope_can_be_forgotten(index: Index) -> None:
    """Its notes and its source go, those of others stay."""
    filled(index, row("a"))
    other = Source("workspace/x", "/b", files.Signature(), "", PLACE)
    with index.transaction():
        index.put(other, [row("b")])
        index.forget("global")
    assert index.scopes() == ["workspace/x"]
    assert (index.count("global"), index.count("workspace/x")) == (0, 1)


def test_nothing_of_a_failed_transaction_stays(index: Index) -> None:
    """An error inside takes everything back, and the next transaction works."""
    filled(index, row("a"))

    def failing() -> None:
        with index.transaction():
            index.put(SOURCE, [row("b")])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert [note.text for note in index.notes("global", "")] == ["a"]
    filled(index, row("c"))
    assert [note.text for note in index.notes("global", "")] == ["c"]


# -- journal ---------------------------------------------------------------------------------------------------


def test_the_journal_is_followed_up_to_a_cursor(index: Index) -> None:
    """The last record taken in, its chain and the byte after it are kept; nothing taken in changes nothing."""
    assert index.cursor() == Cursor()
    with index.transaction():
        index.add_records([])
        index.add_records([record(1, "remember", "a"), record(2, "remember", "b")])
    assert index.cursor() == Cursor(2, f"{2:064}", 200, 300)
    assert (index.offset_of(2), index.offset_of(9)) == (200, 0)
    assert index.anchor() == (2, f"{2:064}")
    with index.transaction():
        index.clear_records()
    assert (index.cursor(), index.offset_of(2), index.anchor()) == (Cursor(), 0, None)


def test_ids_of_the_past_are_known(index: Index) -> None:
    """On either side of a record; what was never there is not."""
    with index.transaction():
        index.add_records([record(1, "revise", "a", "b")])
    assert [index.knows_id(one) for one in "abc"] == [True, True, False]


def test_the_last_step_from_an_id_is_found(index: Index) -> None:
    """The greatest number after the one asked for, in the scopes seen; pins and cancellations are no steps."""
    with index.transaction():
        index.add_records(
            [
                record(1, "revise", "aaaaaaa", "bbbbbbb"),
                record(2, "revise", "aaaaaaa", "ccccccc"),
                record(3, "pin", "aaaaaaa"),
                record(4, "retire", "bbbbbbb"),
                record(5, "revise", "aaaaaaa", "ddddddd", scope="other"),
            ]
        )
    assert index.successor("aaaaaa", 0, ["global"]) == (2, "ccccccc")
    assert index.successor("aaaaaa", 2, ["global"]) is None
    assert index.successor("aaaaaa", 0, ["global", "other"]) == (5, "ddddddd")
    assert index.successor("bbbbbb", 0, ["global"]) == (4, None)
    assert index.successor("zzzzzz", 0, ["global"]) is None


def test_small_values_are_kept(index: Index) -> None:
    """JSON values by name; an unknown name is None."""
    with index.transaction():
        index.set_meta("verified", {"n": 3, "ok": True})
    assert index.meta("verified") == {"n": 3, "ok": True}
    assert index.meta("other") is None


# -- the file --------------------------------------------------------------------------------------------------


def test_the_database_is_private_before_sqlite_opens_it(root: Path) -> None:
    """0600 with its sidecars, in folders of 0700, whatever the umask; the schema is numbered."""
    before = os.umask(0)
    try:
        index = filled(Index(root / "deep" / "index.sqlite3"), row("a"))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]}
    finally:
        os.umask(before)
    assert {mode for name, mode in modes.items() if "sqlite3" in name} == {0o600}
    assert modes["deep"] == 0o700
    assert index.connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA


def test_a_database_that_somebody_makes_at_the_same_time_is_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that begin at once end with one file."""
    filled(Index(root / "index.sqlite3"), row("a")).close()
    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert Index(root / "index.sqlite3").count("global") == 1


def test_a_deleted_database_is_built_empty(root: Path) -> None:
    """File and sidecars go; the next use makes an empty one; one in memory starts again as well."""
    for index in (Index(root / "index.sqlite3"), Index(None)):
        filled(index, row("a"))
        index.delete()
        assert not list(root.glob("*"))
        assert index.count("global") == 0
        index.delete()


def test_a_replaced_database_is_opened_anew(root: Path) -> None:
    """A reader notices before each use, a writer when it takes the lock, that the file is no longer the same."""
    index = filled(Index(root / "index.sqlite3"), row("a"))
    reader = Index(root / "index.sqlite3", read_only=True)
    assert reader.count("global") == 1
    other = filled(Index(root / "other.sqlite3"), row("b"), row("c"))
    other.close()
    (root / "other.sqlite3").replace(root / "index.sqlite3")
    for end in ("-wal", "-shm"):
        (root / f"index.sqlite3{end}").unlink(missing_ok=True)
    assert reader.count("global") == 2
    index.check()
    assert index.count("global") == 2


def test_a_reader_writes_no_row(root: Path) -> None:
    """SQLite itself refuses."""
    filled(Index(root / "index.sqlite3"), row("a")).close()
    reader = Index(root / "index.sqlite3", read_only=True)
    assert reader.count("global") == 1
    with pytest.raises(sqlite3.OperationalError, match="readonly"), reader.transaction():
        reader.set_meta("a", 1)


def test_a_reader_that_must_leave_no_trace_leaves_none(root: Path) -> None:
    """Opened untouched, a resting database gets no sidecar; one that is being written is read with its newest rows."""
    writer = filled(Index(root / "index.sqlite3"), row("a"))
    writer.close()
    names = {path.name for path in root.iterdir()}
    reader = Index(root / "index.sqlite3", read_only=True, untouched=True)
    assert reader.count("global") == 1
    assert {path.name for path in root.iterdir()} == names
    filled(writer, row("a"), row("b"))
    assert Index(root / "index.sqlite3", read_only=True, untouched=True).count("global") == 2


def test_a_directory_that_may_not_be_written_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SQLite could make no sidecar the database is opened as one that nobody changes."""
    filled(Index(root / "index.sqlite3"), row("a")).close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert Index(root / "index.sqlite3", read_only=True).count("global") == 1
    assert [path.name for path in root.iterdir()] == ["index.sqlite3"]


def test_one_state_is_read_from_a_snapshot(root: Path) -> None:
    """What another writes meanwhile shows afterwards only."""
    writer = filled(Index(root / "index.sqlite3"), row("a"))
    reader = Index(root / "index.sqlite3", read_only=True)
    with reader.snapshot():
        assert reader.count("global") == 1
        filled(writer, row("a"), row("b"))
        assert reader.count("global") == 1
    assert reader.count("global") == 2


def _no_database(path: Path) -> None:
    path.write_bytes(b"this is no database" * 400)


def _other_schema(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")


def _no_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE sources")


def _foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine(a)")


@pytest.mark.parametrize("damage", [_no_database, _other_schema, _no_table, _foreign])
@pytest.mark.parametrize("read_only", [True, False])
def test_damage_is_named_as_damage(root: Path, damage: Callable[[Path], None], *, read_only: bool) -> None:
    """No database, another format, missing tables, somebody else's database: all are one error of ours."""
    path = root / "index.sqlite3"
    filled(Index(path), row("a")).close()
    damage(path)
    index = Index(path, read_only=read_only)
    with pytest.raises(DamagedIndexError):
        index.check()
    index.close()


def test_a_busy_database_is_not_called_damaged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's long transaction is SQLite's own error: nobody deletes the file for it."""
    monkeypatch.setattr("memory_magic.store.index.BUSY_SECONDS", 0.01)
    index = filled(Index(root / "index.sqlite3"), row("a"))
    blocker = sqlite3.connect(root / "index.sqlite3", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(sqlite3.OperationalError, match="locked"), index.transaction():
            pass
    finally:
        blocker.close()
    assert index.count("global") == 1
