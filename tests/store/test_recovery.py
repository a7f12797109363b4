"""Recovery: every temp file that a crash, an editor or another machine left is settled once, and loses nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from memory_magic.store import door, files, recovery
from memory_magic.store.door import temps
from memory_magic.store.journal import Journal
from memory_magic.store.journal_format import Draft
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.store.records import JournalRecord

Patch = pytest.MonkeyPatch


class CrashError(BaseException):
    """Stands for a process that ends at this very point."""


@pytest.fixture(autouse=True)
def _no_second_to_wait(monkeypatch: Patch) -> None:
    """Let a predecessor be looked at once more by the very next writer, not by one a second later."""
    monkeypatch.setattr(door, "OLD_SECONDS", 0.0)


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.root / "global" / "MEMORY.md"


def texts(store: Store) -> list[str]:
    """Return the texts of all notes in their order."""
    return [note.text for note in store.list()]


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree."""
    assert store.verify().ok
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == {
        (note.scope, note.id, note.pinned) for note in store.list("all")
    }


def settled(store: Store) -> None:
    """Check that nothing is pending any more, and that a second look finds nothing."""
    assert [temp.state for temp in temps(str(memory(store))) if temp.state != "old"] == []
    assert store.observe() == []
    check(store)


def crash(patch: Patch, point: str, work: Callable[[], object], store: Store) -> Store:
    """Let the process end at *point* of *work*, and open the store anew."""

    def end(*_: object, **__: object) -> None:
        raise CrashError

    with patch.context() as broken:
        broken.setattr(f"memory_magic.store.{point}", end)
        with pytest.raises(CrashError):
            work()
    store.close()
    return Store(store.root)


def filled(root: Path, *names: str) -> Store:
    """Return a store that holds some notes."""
    store = Store(root)
    store.remember_many(names or ("one", "two", "three"))
    return store


def put(path: Path, data: bytes, name: str) -> Path:
    """Put a temp file beside a memory file, named for *data*."""
    temp = path.with_name(f".MEMORY.md.{name}")
    temp.write_bytes(data)
    return temp


def shape(data: bytes) -> str:
    """Return the hash that a temp file's name promises."""
    return files.sha256(data)[:16]


# -- with and without a record ---------------------------------------------------------------------------------


def test_a_temp_without_its_record_is_dropped(root: Path, monkeypatch: Patch) -> None:
    """A crash between temp and record means that nothing was promised: the change is not there, and no temp is."""
    store = filled(root)
    after = crash(monkeypatch, "bench.Bench.write", lambda: store.remember("four"), store)
    assert len(temps(str(memory(after)))) >= 1
    assert after.observe() == []
    assert sorted(texts(after)) == ["one", "three", "two"]
    settled(after)
    assert len(after.journal()) == 3


def test_a_temp_with_its_record_is_done_again_on_the_present_bytes(root: Path, monkeypatch: Patch) -> None:
    """The record counts, not the stored bytes: what an editor saved after the crash is kept beside the change."""
    store = filled(root)
    after = crash(monkeypatch, "door.swap", lambda: store.remember("four"), store)
    memory(after).write_text("# Mine\n\n- one\n- two\n- three\n- by hand\n", encoding="utf-8")
    assert set(texts(after)) == {"one", "two", "three", "by hand", "four"}
    assert memory(after).read_text(encoding="utf-8") == "# Mine\n\n- one\n- two\n- three\n- by hand\n- four\n"
    settled(after)
    assert [record.action for record in after.journal()[3:]] == ["remember", "observe"]


def test_a_batch_shares_one_temp_and_is_done_again_whole(root: Path, monkeypatch: Patch) -> None:
    """Several records, one intent: all of its notes come."""
    store = filled(root)
    after = crash(monkeypatch, "door.swap", lambda: store.remember_many(["four", "five"]), store)
    (temp,) = [temp for temp in temps(str(memory(after))) if temp.state == "new"]
    assert (temp.first, temp.last) == (4, 5)
    after.observe()
    assert set(texts(after)) == {"one", "two", "three", "four", "five"}
    settled(after)


@pytest.mark.parametrize("action", ["revise", "retire", "pin"])
def test_a_recorded_change_whose_note_was_deleted_meanwhile_is_cancelled(
    root: Path, monkeypatch: Patch, action: str
) -> None:
    """After the crash a person took the note out: the file wins, and the journal says that the change was not done."""
    store = filled(root)
    changes: dict[str, Callable[[], object]] = {
        "revise": lambda: store.revise("two", "2", evidence="x"),
        "retire": lambda: store.retire("two", evidence="x"),
        "pin": lambda: store.pin("two"),
    }
    after = crash(monkeypatch, "door.swap", changes[action], store)
    memory(after).write_text("- one\n- three\n", encoding="utf-8")
    assert set(texts(after)) == {"one", "three"}
    assert memory(after).read_text(encoding="utf-8") == "- one\n- three\n"
    cancelled = [record for record in after.journal() if record.action == "cancel"]
    assert [record.fields["cancels"] for record in cancelled] == ([] if action == "retire" else ["4"])
    settled(after)


def test_a_crash_in_recovery_is_recovered_from(root: Path, monkeypatch: Patch) -> None:
    """Whoever holds the lock next begins again; the change is there once."""
    store = filled(root)
    after = crash(monkeypatch, "door.swap", lambda: store.revise("two", "2", evidence="x"), store)
    for point in ("door.write_temp", "door.swap", "door.os.rename", "door.keep_old", "recovery.files.remove"):
        after = crash(monkeypatch, point, after.observe, after)
    after.observe()
    assert sorted(texts(after)) == ["2", "one", "three"]
    assert [record.action for record in after.journal()] == ["remember"] * 3 + ["revise"]
    settled(after)


def test_a_part_that_was_never_whole_is_removed(root: Path) -> None:
    """What a crash left of a temp before it got its name was never exchanged."""
    store = filled(root)
    put(memory(store), b"- ha", "9.0123456789abcdef.part")
    store.remember("four")
    settled(store)
    assert "ha" not in memory(store).read_text(encoding="utf-8")


# -- saves -----------------------------------------------------------------------------------------------------


def test_a_save_that_came_out_before_a_crash_is_merged(root: Path, monkeypatch: Patch) -> None:
    """The editor saved, our exchange took its file out, we died before looking: its notes come back, its cuts count."""
    store = filled(root)
    real = door.swap

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        Path(target).write_text("- one\n- three\n- from the editor\n", encoding="utf-8")
        real(temporary, target, expect_absent=expect_absent)
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(door, "swap", swap)
        with pytest.raises(CrashError):
            store.remember("ours")
    store.close()
    after = Store(root)
    assert set(texts(after)) == {"one", "three", "from the editor", "ours"}
    assert [record.fields.get("by") for record in after.journal()[4:]] == [recovery.RECOVERED] * 2
    settled(after)


def test_a_save_that_lost_most_notes_adds_and_takes_nothing_out(root: Path, monkeypatch: Patch) -> None:
    """An editor that died in mid save did not mean to retire everything."""
    monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: None))
    store = filled(root, *(f"note {number}" for number in range(6)))
    after = crash(monkeypatch, "door.keep_old", lambda: store.remember("ours"), store)
    (temp,) = [temp for temp in temps(str(memory(after))) if temp.state == "new"]
    Path(temp.path).write_text("- note 0\n- from the editor\n", encoding="utf-8")
    assert set(texts(after)) == {*(f"note {number}" for number in range(6)), "ours", "from the editor"}
    settled(after)


def test_an_equal_predecessor_is_dropped_silently(root: Path, monkeypatch: Patch) -> None:
    """A crash right after the exchange leaves what stood there before: there is nothing to merge and no record."""
    store = filled(root)
    after = crash(monkeypatch, "door.keep_old", lambda: store.retire("two", evidence="x"), store)
    assert set(texts(after)) == {"one", "three"}
    assert [record.action for record in after.journal()[3:]] == ["retire"]
    settled(after)


def test_a_predecessor_touched_later_is_looked_at_once_more(root: Path) -> None:
    """Who had the old file open and saves into it loses nothing; its missing notes take nothing out."""
    store = filled(root)
    with memory(store).open("r+", encoding="utf-8") as editor:
        store.remember("four")
        editor.truncate()
        editor.write("- one\n- typed late\n")
    assert set(texts(store)) >= {"one", "two", "three", "four"}
    store.remember("five")
    assert set(texts(store)) == {"one", "two", "three", "four", "five", "typed late"}
    settled(store)


def test_a_predecessor_whose_time_alone_changed_is_removed(root: Path) -> None:
    """Touched, but of the same bytes: nothing to merge."""
    store = filled(root)
    store.remember("four")
    (old,) = [temp for temp in temps(str(memory(store))) if temp.first == 4]
    os.utime(old.path)
    assert not store.observe()
    assert temps(str(memory(store))) == []
    assert len(store.journal()) == 4


def test_what_was_retired_does_not_come_back(root: Path) -> None:
    """A stale editor buffer, saved into the predecessor or found after a crash, resurrects no retired note."""
    store = filled(root)
    store.retire("two", evidence="x")
    with memory(store).open("r+", encoding="utf-8") as editor:
        store.remember("four")
        editor.write("- one\n- two\n- three\n- new\n")
    store.observe()
    assert set(texts(store)) == {"one", "three", "four", "new"}
    settled(store)


def test_what_a_person_took_out_after_the_crash_stays_out(root: Path, monkeypatch: Patch) -> None:
    """A save from before brings in what nobody knew; what the journal knew and the file lacks stays out."""
    store = filled(root)
    after = crash(monkeypatch, "door.keep_old", lambda: store.remember("ours"), store)
    memory(after).write_text("- one\n- two\n- ours\n", encoding="utf-8")
    (temp,) = [temp for temp in temps(str(memory(after))) if temp.state == "new"]
    Path(temp.path).write_text("- one\n- two\n- three\n- extra\n", encoding="utf-8")
    assert set(texts(after)) == {"one", "two", "ours", "extra"}
    assert [(record.fields.get("before"), record.fields.get("after")) for record in after.journal()[4:]] == [
        (None, "extra"),
        ("three", None),
    ]
    settled(after)


def test_an_editor_that_saves_during_the_merge_is_merged_too(root: Path, monkeypatch: Patch) -> None:
    """The merge goes through the same door: a save in that moment is kept, and the merge is applied to it."""
    store = filled(root)
    with memory(store).open("r+", encoding="utf-8") as editor:
        store.remember("four")
        editor.seek(0, 2)
        editor.write("- late\n")
    real = door.swap

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        monkeypatch.setattr(door, "swap", real)
        Path(target).write_text("- one\n- two\n- three\n- four\n- at the same time\n", encoding="utf-8")
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)
    store.observe()
    assert set(texts(store)) == {"one", "two", "three", "four", "late", "at the same time"}
    settled(store)


def test_taking_out_goes_through_the_door_as_well(root: Path, monkeypatch: Patch) -> None:
    """A merge that removes a note is applied to the save that came in between."""
    store = filled(root)
    after = crash(monkeypatch, "door.keep_old", lambda: store.remember("ours"), store)
    (temp,) = [temp for temp in temps(str(memory(after))) if temp.state == "new"]
    Path(temp.path).write_text("- one\n- three\n", encoding="utf-8")
    real = door.swap

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        monkeypatch.setattr(door, "swap", real)
        Path(target).write_text("- one\n- two\n- three\n- ours\n- now\n", encoding="utf-8")
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)
    after.observe()
    assert set(texts(after)) == {"one", "three", "ours", "now"}
    settled(after)


# -- of other machines -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "age", "stays"), [(99, 0, True), (99, 3500, True), (99, 3700, False), (4, 0, False), (2, 0, False)]
)
def test_a_foreign_temp_is_left_for_an_hour(root: Path, number: int, age: int, *, stays: bool) -> None:
    """A sync tool may still be under way with it; once its number is past, or it is old, it goes."""
    store = filled(root)
    data = b"- one\n- two\n- three\n- theirs\n"
    temp = put(memory(store), data, f"{number}.{shape(data)}.new")
    then = time.time() - age
    os.utime(temp, (then, then))
    store.remember("four")
    assert temp.exists() is stays
    assert set(texts(store)) == {"one", "two", "three", "four"}
    check(store)


def test_a_foreign_temp_that_was_exchanged_is_merged(root: Path) -> None:
    """Its hash does not fit, so it holds what stood somewhere: its unknown notes are taken over."""
    store = filled(root)
    put(memory(store), b"- one\n- two\n- three\n- theirs\n", "99.0123456789abcdef.new")
    assert set(texts(store)) == {"one", "two", "three"}
    store.remember("four")
    assert set(texts(store)) == {"one", "two", "three", "four", "theirs"}
    settled(store)


def test_a_record_of_another_scope_gives_a_temp_no_right(root: Path, git_repo: Callable[..., Path]) -> None:
    """Number 4 was written, but for the workspace: the global temp of that number has no record."""
    store = Store(root, cwd=git_repo("a"))
    store.remember_many(["one", "two", "three"])
    store.remember("four", scope="workspace")
    data = b"- one\n- two\n- three\n- ghost\n"
    put(memory(store), data, f"4.{shape(data)}.new")
    store.observe()
    assert set(texts(store)) == {"one", "two", "three", "four"}
    settled(store)


def test_records_that_are_no_operation_leave_the_file_alone(root: Path) -> None:
    """A temp that belongs to an observation or a cancellation asks for nothing."""
    store = filled(root)
    memory(store).write_text("- one\n- two\n- three\n- hand\n", encoding="utf-8")
    store.observe()
    data = b"- something else\n"
    put(memory(store), data, f"4.{shape(data)}.new")
    store.observe()
    assert set(texts(store)) == {"one", "two", "three", "hand"}
    settled(store)


@pytest.mark.parametrize(
    "name", ["x.0123456789abcdef.new", "4.0123.new", "4.0123456789ABCDEF.new", "4.0123456789abcdef.tmp", "4-.new"]
)
def test_other_names_are_none_of_ours(root: Path, name: str) -> None:
    """What only resembles a temp file is neither read nor removed."""
    store = filled(root)
    temp = put(memory(store), b"- foreign\n", name)
    store.remember("four")
    assert temp.exists()
    assert set(texts(store)) == {"one", "two", "three", "four"}


def test_a_temp_that_vanishes_meanwhile_is_no_error(root: Path, monkeypatch: Patch) -> None:
    """Somebody cleaned up between listing and reading."""
    store = filled(root)
    path = str(memory(store).with_name(".MEMORY.md.9.0123456789abcdef"))
    ghosts = [door.Temp(f"{path}.{end}", 9, 9, "0123456789abcdef", 0, end) for end in ("new", "old", "part")]
    monkeypatch.setattr(door, "temps", lambda _: ghosts)
    assert store.observe() == []
    assert set(texts(store)) == {"one", "two", "three"}


def test_a_journal_that_got_ahead_is_caught_up_with(root: Path, monkeypatch: Patch) -> None:
    """After a crash between journal and index the next holder follows journal and file, without new records."""
    store = filled(root)
    after = crash(monkeypatch, "bench.Bench.tell", lambda: store.revise("two", "2", evidence="x"), store)
    assert sorted(texts(after)) == ["2", "one", "three"]
    assert len(after.journal()) == 4
    settled(after)


def journalled(root: Path, *drafts: Draft) -> list[JournalRecord]:
    """Append records behind the store's back."""
    return Journal(root / "JOURNAL.md").append(list(drafts))


def test_a_record_without_file_and_temp_is_settled_by_the_file(root: Path) -> None:
    """A record that came from elsewhere, for a note that the file lacks: the file wins and the journal says so."""
    store = filled(root)
    journalled(root, Draft("remember", {"scope": "global", "id": "z" * 26, "after": "nowhere"}))
    store.remember("four")
    assert set(texts(store)) == {"one", "two", "three", "four"}
    settled(store)
