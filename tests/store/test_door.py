"""The door: every byte that an editor saved comes out of it and is looked at, kept or put back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import ChangedMeanwhileError, StoreAccessError
from memory_magic.store import door, files
from memory_magic.store.lock import StoreLock
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

Patch = pytest.MonkeyPatch


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.root / "global" / "MEMORY.md"


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree."""
    assert store.verify().ok
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == {
        (note.scope, note.id, note.pinned) for note in store.list("all")
    }


def interfere(monkeypatch: Patch, *saves: Callable[[], object]) -> None:
    """Do each of *saves* right before one exchange, the rest of the exchanges without."""
    real, waiting = door.swap, list(saves)

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        if waiting:
            waiting.pop(0)()
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)


# -- temps -----------------------------------------------------------------------------------------------------


def test_a_temp_is_named_for_its_records_and_its_bytes(tmp_path: Path) -> None:
    """Number or span of numbers, the beginning of the hash, private, and listed oldest first."""
    target = str(tmp_path / "MEMORY.md")
    data = b"- a\n"
    second, _ = door.write_temp(target, (12, 15), data, files.sha256(data))
    first, signature = door.write_temp(target, (3, 3), data, files.sha256(data))
    assert Path(first).name == f".MEMORY.md.3.{files.sha256(data)[:16]}.new"
    assert Path(second).name == f".MEMORY.md.12-15.{files.sha256(data)[:16]}.new"
    found = door.temps(target)
    assert [(temp.path, temp.first, temp.last, temp.state) for temp in found] == [
        (first, 3, 3, "new"),
        (second, 12, 15, "new"),
    ]
    assert Path(first).stat().st_mode & 0o777 == 0o600
    assert signature.size == len(data)


def test_a_temp_has_its_name_only_when_it_is_whole(tmp_path: Path, monkeypatch: Patch) -> None:
    """Before that it is a part, and nobody takes a part for an intent."""
    seen: list[str] = []
    real = files.create

    def create(path: str, data: bytes, *, sync: bool = True) -> files.Signature:
        seen.append(Path(path).suffix)
        return real(path, data, sync=sync)

    monkeypatch.setattr(files, "create", create)
    door.write_temp(str(tmp_path / "MEMORY.md"), (1, 1), b"", files.sha256(b""))
    assert seen == [".part"]


def test_where_there_is_no_folder_there_are_no_temps(tmp_path: Path) -> None:
    """A scope that nobody has written to yet has nothing pending."""
    assert door.temps(str(tmp_path / "none" / "MEMORY.md")) == []


# -- the exchange ----------------------------------------------------------------------------------------------


def test_a_file_that_comes_and_goes_is_replaced_in_either_state(tmp_path: Path, monkeypatch: Patch) -> None:
    """Present or absent, whichever was expected: the new bytes are in place, and what stood there comes out."""
    temporary, target = tmp_path / "temp", tmp_path / "target"
    temporary.write_bytes(b"new")
    assert not door.swap(str(temporary), str(target), expect_absent=False)
    assert target.read_bytes() == b"new"
    temporary.write_bytes(b"newer")
    assert door.swap(str(temporary), str(target), expect_absent=True)
    assert (temporary.read_bytes(), target.read_bytes()) == (b"new", b"newer")

    def gone(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(files, "exchange", gone)
    monkeypatch.setattr(files, "place_new", lambda *_: False)
    with pytest.raises(ChangedMeanwhileError, match="comes and goes"):
        door.swap(str(temporary), str(target), expect_absent=True)


@pytest.mark.parametrize("action", ["remember", "retire"])
def test_a_file_deleted_at_the_last_moment_does_not_stop_a_change(root: Path, monkeypatch: Patch, action: str) -> None:
    """An editor between its unlink and its rename: the change is written, and nothing that was there is lost."""
    store = Store(root)
    store.remember_many(["one", "two"])
    interfere(monkeypatch, memory(store).unlink)
    if action == "remember":
        store.remember("three")
    else:
        store.retire("two", evidence="x")
    expected = {"one", "two", "three"} if action == "remember" else {"one"}
    assert {note.text for note in store.list()} == expected
    check(store)


def test_a_file_that_appears_at_the_last_moment_is_kept(root: Path, monkeypatch: Patch) -> None:
    """Nothing was there when we read; what an editor made meanwhile is merged with the first note."""
    store = Store(root)
    interfere(monkeypatch, lambda: memory(store).write_text("# Mine\n\n- theirs\n", encoding="utf-8"))
    store.remember("ours")
    assert memory(store).read_text(encoding="utf-8") == "# Mine\n\n- theirs\n- ours\n"
    check(store)


@pytest.mark.parametrize("action", ["remember", "revise", "retire", "pin"])
def test_two_saves_in_a_row_are_both_kept(root: Path, monkeypatch: Patch, action: str) -> None:
    """The second save comes while the first is being merged: the newest stands, the change is in it."""
    store = Store(root)
    store.remember_many(["one", "two", "three"])

    def save(text: str) -> Callable[[], object]:
        return lambda: memory(store).write_text(text, encoding="utf-8")

    interfere(monkeypatch, save("- one\n- two\n- three\n- first\n"), save("- one\n- two\n- three\n- second\n"))
    changes: dict[str, Callable[[], object]] = {
        "remember": lambda: store.remember("four"),
        "revise": lambda: store.revise("two", "2", evidence="x"),
        "retire": lambda: store.retire("two", evidence="x"),
        "pin": lambda: store.pin("two"),
    }
    changes[action]()
    found = {note.text: note.pinned for note in store.list()}
    assert "second" in found
    expected = {
        "remember": "four" in found,
        "revise": "2" in found,
        "retire": "two" not in found,
        "pin": found.get("two"),
    }
    assert expected[action]
    check(store)
    store.close()
    check(Store(root))


def test_a_save_that_shows_the_change_already_is_left_as_it_is(root: Path, monkeypatch: Patch) -> None:
    """A person typed what we were about to write: it stands once."""
    store = Store(root)
    store.remember("one")
    interfere(monkeypatch, lambda: memory(store).write_text("- one\n-  ours \n", encoding="utf-8"))
    store.remember("ours")
    assert memory(store).read_text(encoding="utf-8") == "- one\n-  ours \n"
    check(store)


def test_a_save_during_the_way_back_is_the_one_that_stays(root: Path, monkeypatch: Patch) -> None:
    """The change no longer applies, and while the save is put back another one comes: the newest stays, by bytes."""
    store = Store(root)
    store.remember_many(["one", "two"])
    interfere(
        monkeypatch,
        lambda: memory(store).write_text("- one\n- first\n", encoding="utf-8"),
        lambda: memory(store).write_text("- one\n- second\n", encoding="utf-8"),
    )
    with pytest.raises(ChangedMeanwhileError, match="no longer there"):
        store.revise("two", "2", evidence="x")
    assert memory(store).read_text(encoding="utf-8") == "- one\n- second\n"
    assert [record.action for record in store.journal()].count("cancel") == 1
    store.observe()
    assert {note.text for note in store.list()} == {"one", "second"}
    check(store)


def test_a_file_deleted_during_the_way_back_is_made_again(root: Path, monkeypatch: Patch) -> None:
    """The save is put back even where the file has vanished meanwhile."""
    store = Store(root)
    store.remember_many(["one", "two"])
    interfere(monkeypatch, lambda: memory(store).write_text("- one\n- first\n", encoding="utf-8"), memory(store).unlink)
    with pytest.raises(ChangedMeanwhileError):
        store.pin("two")
    assert memory(store).read_text(encoding="utf-8") == "- one\n- first\n"
    check(store)


def test_a_save_with_an_open_fence_refuses_the_change_and_stays(root: Path, monkeypatch: Patch) -> None:
    """Nothing can be added to what the editor saved: it stays by bytes, and the error says why."""
    store = Store(root)
    store.remember("one")
    text = "- one\n\n```\nopen\n"
    interfere(monkeypatch, lambda: memory(store).write_text(text, encoding="utf-8"))
    with pytest.raises(ChangedMeanwhileError, match="code fence"):
        store.remember("ours")
    assert memory(store).read_text(encoding="utf-8") == text
    check(store)


def test_a_cancelled_batch_cancels_each_of_its_records(root: Path, monkeypatch: Patch) -> None:
    """All or nothing: no note of the batch is left in file or replay."""
    store = Store(root)
    store.remember("one")
    interfere(monkeypatch, lambda: memory(store).write_text("- one\n\n<!-- open\n", encoding="utf-8"))
    with pytest.raises(ChangedMeanwhileError):
        store.remember_many(["two", "three"])
    assert [record.fields["cancels"] for record in store.journal() if record.action == "cancel"] == ["2", "3"]
    assert {note.text for note in store.list()} == {"one"}
    check(store)


def test_a_note_that_was_cancelled_can_be_remembered_later(root: Path, monkeypatch: Patch) -> None:
    """What was taken back in the journal is no duplicate."""
    store = Store(root)
    store.remember("one")
    interfere(monkeypatch, lambda: memory(store).write_text("- one\n\n```\nopen\n", encoding="utf-8"))
    with pytest.raises(ChangedMeanwhileError):
        store.remember("ours")
    memory(store).write_text("- one\n", encoding="utf-8")
    assert store.remember("ours").status == "saved"
    check(store)


def test_what_came_out_is_kept_until_it_was_looked_at_again(root: Path) -> None:
    """After a write the predecessor stands beside the file under the hash of its bytes, private like everything."""
    store = Store(root)
    store.remember("one")
    store.remember("two")
    old = [temp for temp in door.temps(str(memory(store))) if temp.state == "old"]
    assert [Path(temp.path).read_bytes() for temp in old] == [b"- one\n"]
    assert files.sha256(b"- one\n").startswith(old[0].hash)
    assert Path(old[0].path).stat().st_mode & 0o777 == 0o600


def test_predecessors_do_not_pile_up(root: Path, monkeypatch: Patch) -> None:
    """However many writes come in a second, a handful of predecessors is kept; later ones take them away."""
    store = Store(root)
    for number in range(door.OLD_MOST + 6):
        store.remember(f"note {number}")
    assert len(door.temps(str(memory(store)))) <= door.OLD_MOST + 2
    monkeypatch.setattr(door, "OLD_SECONDS", 0.0)
    store.remember("last")
    assert len(door.temps(str(memory(store)))) <= 2
    check(store)


def test_a_lock_lost_before_the_exchange_begins_again(root: Path, monkeypatch: Patch) -> None:
    """Nothing goes through the door without the lock: the change is done by the next holding, once."""
    store = Store(root)
    store.remember_many(["one", "two"])
    answers = iter([False])
    real = StoreLock.is_ours
    monkeypatch.setattr(StoreLock, "is_ours", lambda self: next(answers, None) is None and real(self))
    written = store.revise("two", "2", evidence="x")
    assert store.get(written.id).text == "2"
    assert [record.action for record in store.journal()] == ["remember", "remember", "revise"]
    check(store)


def test_a_lock_that_is_lost_again_and_again_is_an_error(root: Path, monkeypatch: Patch) -> None:
    """After a few attempts the person is told, and the next write settles what is pending."""
    store = Store(root)
    store.remember("one")
    with monkeypatch.context() as patch:
        patch.setattr(StoreLock, "is_ours", lambda _: False)
        with pytest.raises(TimeoutError, match="keeps being replaced"):
            store.remember("two")
    store.remember("three")
    assert {note.text for note in store.list()} == {"one", "two", "three"}
    check(store)


def test_a_disk_that_fails_at_the_rename_of_the_predecessor_loses_nothing(root: Path, monkeypatch: Patch) -> None:
    """The change is in place and recorded; the error is told, and the next writer settles the rest."""
    store = Store(root)
    store.remember("one")

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(StoreAccessError):
            store.remember("two")
    assert store.remember("two").status == "duplicate"
    store.remember("three")
    assert [note.text for note in store.list()] == ["three", "two", "one"]
    check(store)


@pytest.mark.parametrize("action", ["remember", "retire"])
def test_a_save_that_is_no_text_refuses_the_change_and_stays(root: Path, monkeypatch: Patch, action: str) -> None:
    """What an editor saved as UTF-16 is put back by bytes; none of the notes is journalled as gone."""
    store = Store(root)
    store.remember_many(["one", "two"])
    data = "- one\n- two\n- three\n".encode("utf-16")
    interfere(monkeypatch, lambda: memory(store).write_bytes(data))
    with pytest.raises(ChangedMeanwhileError, match="NUL"):
        store.remember("ours") if action == "remember" else store.retire("two", evidence="x")
    assert memory(store).read_bytes() == data
    memory(store).write_text("- one\n- two\n", encoding="utf-8")
    assert [note.text for note in store.list()] == ["two", "one"]
    assert [record.action for record in store.journal()][3:] == ["cancel"]
    check(store)
