"""Every life of a note and the store as it was: rules on records, and the same answers with and without an index."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import AmbiguousNoteError, NoSuchNoteError, UsageError
from memory_magic.store import history as rules
from memory_magic.store.archive import Archive
from memory_magic.store.history import Link, lineage, read_moment, resolve
from memory_magic.store.journal import Journal
from memory_magic.store.journal_format import Draft
from memory_magic.store.lookup import IndexLookup, ScanLookup, lookup, read_links
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

GitRepo = Callable[..., Path]
NOW = dt.datetime(2026, 11, 30, 18, 35, tzinfo=dt.UTC)


def record(n: int, action: str, **fields: str) -> JournalRecord:
    """Make a record that stands at byte 100 n."""
    return JournalRecord(n, action, f"2026-11-30T18:35:{n:02}.000000Z", {"scope": "global", **fields}, None, "", "",
                         offset=100 * n, length=100)  # fmt: skip


def actions(found: rules.History) -> list[tuple[int, str]]:
    """Return numbers and actions."""
    return [(one.n, one.action) for one in found.records]


# -- rules ----------------------------------------------------------------------------------------------------------


def test_a_lineage_is_all_that_is_joined() -> None:
    """Forwards and backwards from any of its ids, each record once, in journal order."""
    edges = [("a", "b"), ("b", "c"), ("x", "y"), ("d", "c"), ("c", None), ("c", "a")]
    links = [Link(at, 1, at, one, other) for at, (one, other) in enumerate(edges, 1)]

    def links_of(one: str) -> list[Link]:
        return [link for link in links if one in (link.id, link.new_id)]

    for start in "abcd":
        assert [link.n for link in lineage(start, links_of)] == [1, 2, 4, 5, 6]
    assert [link.n for link in lineage("x", links_of)] == [3]
    assert lineage("nobody", links_of) == []


def test_a_replaced_id_leads_to_what_stands_now_and_always_ends() -> None:
    """The last record with the id on its left counts, and from there only later ones: A -> B -> A does not turn."""
    changes = [(1, "a", "b"), (2, "b", "a"), (3, "a", "b"), (4, "b", "c"), (5, "q", None)]

    def step(one: str, after: int) -> tuple[int, str | None] | None:
        later = [(n, new) for n, old, new in changes if old == one and n > after]
        return max(later, default=None)

    assert resolve("a", step, {"c"}.__contains__) == "c"
    assert resolve("a", step, {"a"}.__contains__) == "a"
    assert resolve("a", step, {"b"}.__contains__) == "b"
    assert resolve("a", step, set().__contains__) is None
    assert resolve("q", step, {"c"}.__contains__) is None
    assert resolve("unknown", step, {"c"}.__contains__) is None


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=12), st.sampled_from("abcd"))
def test_resolution_ends_for_any_journal(edges: list[tuple[str, str]], start: str) -> None:
    """However notes were replaced by each other, a look-up needs no more steps than there are records."""
    steps = 0

    def step(one: str, after: int) -> tuple[int, str | None] | None:
        nonlocal steps
        steps += 1
        return max(((n, new) for n, (old, new) in enumerate(edges, 1) if old == one and n > after), default=None)

    resolve(start, step, lambda _: False)
    assert steps <= len(edges) + 1


def test_undo_and_redo_take_each_other_back() -> None:
    """Whatever is taken back by a record that still counts is undone; a redo takes the undo back."""
    records = [
        record(1, "revise", id="a", new_id="b"),
        record(2, "revise", id="b", new_id="a", undoes="1"),
        record(3, "revise", id="a", new_id="b", undoes="2"),
    ]
    assert rules.undone_by(records[:2]) == {1: 2}
    assert rules.undone_by(records) == {2: 3}
    cancelled = [*records[:2], record(3, "cancel", id="b", cancels="2")]
    assert rules.undone_by(cancelled) == {}


def test_only_what_counts_is_a_later_change() -> None:
    """A change with its undo, what was cancelled, an approval, and what is about other notes are none."""
    first = record(1, "remember", id="a", after="x")
    later = [
        record(2, "pin", id="a"),
        record(3, "unpin", id="a", undoes="2"),
        record(4, "approve", id="a"),
        record(5, "retire", id="a"),
        record(6, "cancel", id="a", cancels="5"),
        record(7, "retire", id="other"),
    ]
    assert rules.later_changes([first, *later], first) == []
    changed = record(8, "revise", id="a", new_id="b")
    assert rules.later_changes([first, *later, changed], first) == [changed]
    again = record(9, "pin", id="a", undoes="3")
    assert rules.later_changes([first, *later, again], first) == [later[0]]


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("412", 412),
        ("#412", 412),
        (" #0 ", 0),
        ("2026-11-30", "2026-11-30T00:00:00.000000Z"),
        ("2026-11-30T18:35", "2026-11-30T18:35:00.000000Z"),
        ("2026-11-30T19:35:00+01:00", "2026-11-30T18:35:00.000000Z"),
        ("2026-11-30T18:35:00.123456Z", "2026-11-30T18:35:00.123456Z"),
        ("3d", "2026-11-27T18:35:00.000000Z"),
        ("90 m", "2026-11-30T17:05:00.000000Z"),
        ("1w", "2026-11-23T18:35:00.000000Z"),
    ],
)
def test_a_moment_may_be_typed_in_many_ways(typed: str, moment: int | str) -> None:
    """A number, a date or time (UTC without a zone, as the journal shows it), or how long ago."""
    assert read_moment(typed, NOW) == moment


@pytest.mark.parametrize("typed", ["", "yesterday", "2026-13-01", "#x", "12:30", "999999w", "٣"])
def test_what_is_no_moment_is_told(typed: str) -> None:
    """The error shows how a moment is written."""
    with pytest.raises(UsageError, match="#412"):
        read_moment(typed, NOW)


# -- lives of a note ------------------------------------------------------------------------------------------------


def test_history_shows_every_life(root: Path) -> None:
    """A -> B -> A, retired, remembered again: one history, from any of its ids, its texts or the start of an id."""
    store = Store(root)
    first = store.remember("A", by="ana")
    second = store.revise("A", "B", evidence="heard")
    store.revise("B", "A", evidence="heard wrong")
    store.retire("A", evidence="done")
    store.remember("A", by="bo")
    store.remember("another")
    archive = Archive(store)
    expected = [(1, "remember"), (2, "revise"), (3, "revise"), (4, "retire"), (5, "remember")]
    for target in (first.id, second.id, first.id[:7], second.id[:12].upper(), "A", "B"):
        found = archive.history(target)
        assert actions(found) == expected
        assert found.live == (first.id,)
    assert [one.fields.get("evidence") for one in found.records] == [None, "heard", "heard wrong", "done", None]
    assert store.get(second.id).text == "A"


def test_history_of_what_an_editor_did(root: Path) -> None:
    """An edit of this very moment belongs to it, linked where one note became one."""
    store = Store(root)
    store.remember_many(["one", "two", "three"])
    store.scopes[0].memory_file.write_text("- one\n- TWO!\n- three\n", encoding="utf-8")
    found = Archive(store).history("TWO!")
    assert actions(found) == [(2, "remember"), (4, "observe")]
    assert found.records[1].fields["before"] == "two"


def test_history_joins_notes_that_became_one(root: Path) -> None:
    """Both branches of a merge are the same lineage."""
    store = Store(root)
    store.remember_many(["one", "two"])
    store.revise("one", "two", evidence="the same")
    found = Archive(store).history("one")
    assert actions(found) == [(1, "remember"), (2, "remember"), (3, "revise")]
    assert found.live == (store.get("two").id,)


def test_history_says_what_was_taken_back_and_what_never_happened(root: Path) -> None:
    """Undone records name the one that did it."""
    store = Store(root)
    store.remember("one")
    store.revise("one", "two", evidence="x")
    Archive(store).undo(2)
    assert Archive(store).history("one").undone == {2: 3}


def test_history_of_nobody_is_an_error_in_words(root: Path) -> None:
    """Unknown ids and texts, empty targets and beginnings that fit several notes are told apart."""
    store = Store(root)
    archive = Archive(store)
    with pytest.raises(NoSuchNoteError, match="past or present"):
        archive.history("abcdef")
    with pytest.raises(UsageError):
        archive.history(" ")
    many = store.remember_many([f"note {n}" for n in range(40)])
    store.retire("note 1", evidence="x")
    with pytest.raises(NoSuchNoteError):
        archive.history(many[0].id[:5])  # too short for an id, and no text
    assert len(archive.history(many[0].id[:6]).records) == 1


def test_a_beginning_that_fits_several_notes_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """We never guess between lineages, but two ids of one lineage are no ambiguity."""

    def note_id(scope: str, text: str) -> str:
        return f"aaaaaa{'xyz'.index(text[0]) + 1}".ljust(26, "0")

    for module in ("note", "operations", "past", "targets", "placing"):
        monkeypatch.setattr(f"memory_magic.store.{module}.note_id", note_id)
    store = Store(root)
    store.remember("x")
    store.revise("x", "y", evidence="e")
    store.retire("y", evidence="e")
    archive = Archive(store)
    assert len(archive.history("aaaaaa").records) == 3
    store.remember("z")
    assert actions(archive.history("aaaaaa")) == [(4, "remember")]  # a live note comes first
    store.retire("z", evidence="e")
    with pytest.raises(AmbiguousNoteError, match="aaaaaa1"):
        archive.history("aaaaaa")


def test_nothing_of_another_workspace_shows(root: Path, git_repo: GitRepo) -> None:
    """From B, notes of A do not exist, and of a note that came from A its own id and scope are left out."""
    a, b = Store(root, git_repo("a")), Store(root, git_repo("b"))
    secret = a.remember("only in A", scope="workspace")
    moved = a.remember("moves", scope="workspace", evidence="in A")
    a.revise("moves", "moved", evidence="in A", scope="workspace")
    promoted = Archive(a).promote("moved", to="global")
    with pytest.raises(NoSuchNoteError):
        Archive(b).history(secret.id)
    found = Archive(b).history(promoted.id)
    assert (actions(found), found.hidden) == ([(4, "promote")], 2)
    shown = repr(found)
    assert a.workspace is not None
    assert a.workspace.id not in shown
    assert moved.id not in shown
    assert len(Archive(a).history(promoted.id).records) == 3
    assert len(Archive(b).history(secret.id, scope="all").records) == 1


@pytest.mark.parametrize("damage", ["none", "deleted", "behind", "read-only", "moved", "broken"])
def test_the_answer_does_not_depend_on_the_index(root: Path, damage: str) -> None:
    """Without an index, with one that is behind or whose places are wrong, one pass over the journal says the same."""
    store = Store(root)
    store.remember_many([f"note {n}" for n in range(20)])
    for n in range(5):
        store.revise(f"note 7{'!' * n}", f"note 7{'!' * (n + 1)}", evidence="x")
    expected = Archive(store).history("note 7!!!!!")
    assert len(expected.records) == 6
    journal = root / "JOURNAL.md"
    if damage == "deleted":
        store.close()
        for end in ("", "-wal", "-shm"):
            (root / f"index.sqlite3{end}").unlink(missing_ok=True)
    elif damage == "behind":
        Journal(journal).append([Draft("approve", {"scope": "global", "id": expected.live[0]})])
    elif damage == "moved":
        data = journal.read_bytes()
        start = data.index(b"- **")
        # the same size: nothing but the bytes themselves tells that records stand elsewhere
        journal.write_bytes(b"\n" * start + data[start + 1 :] + b"\n")
    again = Store(root, read_only=damage in {"read-only", "deleted", "broken"})
    if damage == "broken":
        again.list()
        with sqlite3.connect(root / "index.sqlite3") as connection:
            connection.execute("ALTER TABLE journal RENAME COLUMN new_id TO other")
    assert Archive(again).is_approved(expected.live[0]) is (damage == "behind")
    found = Archive(again).history("note 7!!!!!")
    assert [(one.n, one.fields) for one in found.records][:6] == [(one.n, one.fields) for one in expected.records]
    assert found.live == expected.live


def test_both_ways_of_looking_up_agree(root: Path) -> None:
    """Index and scan give the same links, beginnings, numbers, steps and ends."""
    store = Store(root)
    store.remember_many(["one", "two", "three"])
    store.revise("one", "two", evidence="x")
    store.pin("three")
    store.retire("three", evidence="x")
    store.remember("three")
    journal = Journal(root / "JOURNAL.md")
    fast, slow = lookup(store._indexes.reading(), journal), ScanLookup(journal.records())
    assert isinstance(fast, IndexLookup)
    records = list(journal.records())
    for one in {id_ for entry in records for id_ in (entry.id, entry.new_id) if id_}:
        assert sorted(fast.links_of(one)) == sorted(slow.links_of(one))
        assert fast.ids_from(one[:6]) == slow.ids_from(one[:6])
        for after in range(9):
            assert fast.step(one, after) == slow.step(one, after)
    for moment in (*range(10), *(entry.time for entry in records), "2000", "3000"):
        assert fast.end_of(moment) == slow.end_of(moment)
        if isinstance(moment, int):
            assert fast.numbered(moment) == slow.numbered(moment)
    assert read_links(journal, fast.numbered(3)) == [records[2]]
    assert read_links(journal, [Link(3, 50, 1, "x", None)]) is None


# -- the store as it was --------------------------------------------------------------------------------------------


def test_state_at_every_number_is_the_replay_of_that_prefix(root: Path) -> None:
    """Each record's number gives exactly what stood after it; 0 is the empty store."""
    store = Store(root)
    store.remember_many(["one", "two"])
    store.pin("two")
    store.revise("one", "uno", evidence="x")
    store.retire("two", evidence="x")
    records = store.journal()
    archive = Archive(store)
    for n in range(len(records) + 1):
        found = archive.state_at(n)
        expected = replay(records[:n]).get("global", {})
        assert {note.id for note in found.notes.get("global", ())} == set(expected)
        assert found.n == n
    assert [note.text for note in archive.state_at(3).notes["global"]] == ["two", "one"]  # pinned first
    assert archive.state_at(len(records)).notes["global"][0].text == "uno"
    with pytest.raises(UsageError, match="no record 99"):
        archive.state_at(99)


def test_state_at_a_time_is_the_last_record_not_after_it(root: Path) -> None:
    """Times are the records' own; a moment between two writes has the first of them only."""
    moments = iter([NOW + dt.timedelta(minutes=n) for n in range(3)] + [NOW] * 9)
    store = Store(root, clock=lambda: next(moments))
    for text in ("one", "two", "three"):
        store.remember(text)
    archive = Archive(store)
    at = archive.state_at(NOW + dt.timedelta(seconds=90))
    assert ([note.text for note in at.notes["global"]], at.n) == (["two", "one"], 2)
    assert archive.state_at("2026-11-30T18:36:00Z").n == 2
    assert archive.state_at(NOW - dt.timedelta(days=1)).notes == {}
    assert archive.state_at(NOW + dt.timedelta(days=1)).n == 3
    assert archive.state_at(NOW.replace(tzinfo=None)).n == 1
    assert archive.state_at("#1").n == 1


def test_state_at_leaves_out_what_was_cancelled_later(root: Path) -> None:
    """A change that an editor made impossible never happened, also at the very number of its record."""
    journal = Journal(root / "JOURNAL.md")
    root.mkdir(mode=0o700)
    journal.append([
        Draft("remember", {"scope": "global", "id": "a" * 26, "after": "one"}),
        Draft("remember", {"scope": "global", "id": "b" * 26, "after": "two"}),
        Draft("cancel", {"scope": "global", "cancels": "2"}),
    ])  # fmt: skip
    found = Archive(Store(root, read_only=True)).state_at(2)
    assert [note.text for note in found.notes["global"]] == ["one"]


def test_state_at_shows_the_scopes_that_are_seen(root: Path, git_repo: GitRepo) -> None:
    """Another workspace is left out unless all are asked for."""
    a, b = Store(root, git_repo("a")), Store(root, git_repo("b"))
    a.remember("in A", scope="workspace")
    b.remember("for all")
    assert list(Archive(b).state_at(2).notes) == ["global"]
    assert len(Archive(b).state_at(2, scope="all").notes) == 2


# -- a long journal that something happened to ----------------------------------------------------------------------


@pytest.fixture(params=[2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def long(request: pytest.FixtureRequest, root: Path) -> Journal:
    """Give a journal of many records, about 0.5 kB each."""
    root.mkdir(mode=0o700)
    journal = Journal(root / "JOURNAL.md")
    journal.append(
        [
            Draft("remember", {"scope": "global", "id": f"{n:026}", "after": f"note {n} " + "word " * 30, "by": "ana"})
            for n in range(request.param)
        ]
    )
    return journal


def test_one_changed_bit_in_a_long_journal_is_found_and_named(long: Journal) -> None:
    """Verify names the one record; all others are told to be whole, and undo and history go on."""
    n = long.tail().n
    data = bytearray(long.path.read_bytes())
    at = data.index(b"note %d word" % (n // 2))
    data[at + 3] ^= 1
    long.path.write_bytes(data)
    verdict = long.verify()
    assert verdict.faults == (f"record {n // 2 + 1}: was changed after it was written",)
    assert verdict.n == n
    assert len(replay(long.records(), cancelled=long.cancelled())["global"]) == n


def test_half_of_a_long_journal_cut_off_is_found_by_what_the_index_remembers(long: Journal, root: Path) -> None:
    """The chain of what is left holds, so the end that the index knew is missed."""
    n = long.tail().n
    store = Store(root)
    store.scopes[0].path.mkdir(mode=0o700)
    store.scopes[0].memory_file.write_text(
        "".join(f"- note {k} {('word ' * 30).strip()}\n" for k in range(3)), encoding="utf-8"
    )
    head = long.tail()
    anchor = (head.n, head.chain)
    data = long.path.read_bytes()
    long.path.write_bytes(data[: data.index(b"- **", len(data) // 2)])
    assert long.verify().ok
    faults = long.verify(anchor).faults
    assert faults == (f"the journal ends before record {n}, known from the index: its end is missing",)
    assert lookup(None, long).end_of(n) == -1


def test_two_sides_of_a_long_journal_merged_by_git_are_a_fork(long: Journal, tmp_path: Path) -> None:
    """Both sides' records count in file order; verify says that they fork, and says nothing of tampering."""
    n = long.tail().n
    other = Journal(tmp_path / "other.md")
    other.path.write_bytes(long.path.read_bytes())
    size = long.path.stat().st_size
    for journal, side in ((long, "ours"), (other, "theirs")):
        journal.append([Draft("remember", {"scope": "global", "id": f"{side}{k}", "after": side}) for k in range(2)])
    long.path.write_bytes(long.path.read_bytes() + other.path.read_bytes()[size:])
    faults = long.verify().faults
    assert faults == (f"record {n + 1}: forks from an earlier record (two machines, or a merge by version control)",)
    assert len(ScanLookup(long.records()).numbered(n + 1)) == 2
    assert {"ours1", "theirs1"} <= set(replay(long.records())["global"])


def test_a_long_journal_is_read_in_bounded_memory(long: Journal) -> None:
    """Verify, replay of cancellations, and looking for one kind of record hold no list of all records."""
    import tracemalloc

    size = long.path.stat().st_size
    tracemalloc.start()
    long.verify()
    long.cancelled()
    for _ in long.records():
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < max(8_000_000, size * 0.7)
