"""Attacks that once succeeded: each was a fault of the store, found by trying to break it."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from memory_magic.errors import AmbiguousNoteError, FileStateError, LockTimeoutError, MemoryMagicError
from memory_magic.store import door, files, gate
from memory_magic.store.lock import StoreLock
from memory_magic.store.markdown import Block, scan
from memory_magic.store.note import Document
from memory_magic.store.operations import Append, from_record
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

Patch = pytest.MonkeyPatch
KEY = "sk-" + "proj-" + "Ab1Cd2Ef3Gh4" * 4


class CrashError(BaseException):
    """Stands for a process that ends at this very point."""


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.root / "global" / "MEMORY.md"


def write(store: Store, text: str) -> None:
    """Write the global memory file by hand."""
    memory(store).parent.mkdir(parents=True, exist_ok=True)
    memory(store).write_text(text, encoding="utf-8")


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree."""
    assert store.verify().ok
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == {
        (note.scope, note.id, note.pinned) for note in store.list("all")
    }


# -- batches ----------------------------------------------------------------------------------


def test_duplicates_within_a_batch_are_one_in_a_store_that_is_known(root: Path) -> None:
    """Duplicates within a batch are one in a store that is known."""
    store = Store(root)
    store.remember("warm")
    written = store.remember_many(["one", "one", "two"])
    assert memory(store).read_text(encoding="utf-8") == "- warm\n- one\n- two\n"
    assert len(store.journal()) == 3
    assert not any(one.notices for one in written)
    check(store)


def test_an_empty_batch_is_a_no_op(root: Path) -> None:
    """An empty batch is a no op."""
    store = Store(root)
    store.remember("warm")
    assert store.remember_many([]) == []


def test_a_large_batch_is_parsed_a_bounded_number_of_times(root: Path, monkeypatch: Patch) -> None:
    """A large batch is parsed a bounded number of times."""
    scanned: list[int] = []

    def counted(text: str) -> list[Block]:
        scanned.append(len(text))
        return scan(text)

    monkeypatch.setattr("memory_magic.store.note.scan", counted)
    Store(root).remember_many([f"note {number}" for number in range(200)])
    assert sum(size > 100 for size in scanned) <= 10


def test_a_pinned_batch_with_duplicates_writes_each_once(root: Path) -> None:
    """A pinned batch with duplicates writes each once."""
    store = Store(root)
    store.remember("warm")
    store.remember_many(["one", "one", "two"], pin=True)
    assert [record.fields["after"] for record in store.journal()] == ["warm", "one", "two"]
    check(store)


def test_a_batch_pins_what_is_there_already(root: Path) -> None:
    """A batch pins what is there already."""
    store = Store(root)
    store.remember_many(["a", "b"])
    store.remember_many(["a", "b"], pin=True)
    assert all(note.pinned for note in store.list())


def test_a_batch_tells_pinned_from_saved(root: Path) -> None:
    """A batch tells pinned from saved."""
    store = Store(root)
    store.remember("a")
    assert [one.status for one in store.remember_many(["a", "b"], pin=True)] == ["pinned", "saved"]
    assert [record.action for record in store.journal()] == ["remember", "pin", "remember"]


def test_a_pinned_append_is_not_done_before_the_note_is_pinned() -> None:
    """A pinned append is not done before the note is pinned."""
    fields = {"scope": "global", "id": "x", "after": "b", "pinned": "yes"}
    operation = from_record(JournalRecord(1, "remember", "now", fields, None, "", ""))
    assert isinstance(operation, Append)
    assert not operation.is_done(Document("global", "- b\n"))


# -- one bad file takes everything down -----------------------------------------------------


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _unreadable(path: Path) -> None:
    path.chmod(0)


@pytest.mark.parametrize("spoil", [_directory, _pipe, _loop, _unreadable])
def test_a_file_that_became_unreadable_costs_its_own_notes_only(
    root: Path, git_repo: Callable[..., Path], spoil: Callable[[Path], None]
) -> None:
    """A file that became unreadable costs its own notes only."""
    store = Store(root, cwd=git_repo("a"))
    store.remember("everywhere")
    store.remember("here", scope="workspace")
    spoil(memory(store))
    try:
        if os.access(memory(store), os.R_OK) and memory(store).is_file():
            pytest.skip("this user may read everything")
        assert [note.text for note in store.list()] == ["here"]
        assert store.get("here").text == "here"
        assert store.status().scopes[1].notes == 1
    finally:
        if memory(store).is_file():
            memory(store).chmod(0o600)


def test_a_link_to_itself_has_no_notes(root: Path) -> None:
    """A link to itself has no notes."""
    (root / "global").mkdir(parents=True)
    (root / "global" / "MEMORY.md").symlink_to("MEMORY.md")
    assert Store(root).list() == []


def test_one_scope_that_is_no_text_does_not_hide_the_other_from_observe(
    root: Path, git_repo: Callable[..., Path]
) -> None:
    """One scope that is no text does not hide the other from observe."""
    store = Store(root, cwd=git_repo("a"))
    store.remember("g")
    store.remember("w", scope="workspace")
    memory(store).write_bytes(b"- a\0b\n")
    assert store.workspace is not None
    store.workspace.memory_file.write_text("- w\n- hand\n", encoding="utf-8")
    with contextlib.suppress(FileStateError):
        store.observe()
    assert [record.fields["after"] for record in store.journal() if record.action == "observe"] == ["hand"]


def test_a_reader_whose_lock_file_vanishes_answers_all_the_same(root: Path, monkeypatch: Patch) -> None:
    """A reader whose lock file vanishes answers all the same."""
    store = Store(root)
    store.remember("one")

    def end(*_: object, **__: object) -> None:
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(door, "swap", end)
        with pytest.raises(CrashError):
            store.remember("two")
    memory(store).write_text("- one\n- hand\n", encoding="utf-8")
    answers = iter([False])
    real = StoreLock.is_ours
    monkeypatch.setattr(StoreLock, "is_ours", lambda self: next(answers, None) is None and real(self))
    assert "hand" in {note.text for note in Store(root).list()}


# -- ----------------------------------------------------------------------------------------


def _typed_late(store: Store, text: str) -> None:
    with memory(store).open("r+", encoding="utf-8") as editor:
        store.remember("two")
        editor.seek(0, 2)
        editor.write(text)


@pytest.mark.parametrize("text", ["\nprose\n\n\tcode()\n"])
def test_what_cannot_be_a_list_item_does_not_brick_the_scope(root: Path, monkeypatch: Patch, text: str) -> None:
    """What cannot be a list item does not brick the scope."""
    monkeypatch.setattr(door, "OLD_SECONDS", 0.0, raising=False)
    store = Store(root)
    store.remember("one")
    _typed_late(store, text)
    store.remember("three")
    assert "code()" in memory(store).read_text(encoding="utf-8")
    check(store)


def test_every_note_that_can_be_read_can_be_written(root: Path) -> None:
    """Every note that can be read can be written."""
    from memory_magic.store.note import render

    for note in Document("global", "\tcode()\n\n    more\n").notes.values():
        render(note.text)


def test_a_merge_that_is_refused_leaves_no_record(root: Path, monkeypatch: Patch) -> None:
    """A merge that is refused leaves no record."""
    monkeypatch.setattr(door, "OLD_SECONDS", 0.0, raising=False)
    store = Store(root)
    store.remember("one")
    _typed_late(store, "- late\n")
    memory(store).write_text("- one\n- two\n\n```\nopen\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(FileStateError):
            store.remember("three")
    check(store)


# -- what reaches the disk ---------------------------------------------------------------------


def test_a_private_tag_split_by_a_control_character_is_cut(root: Path) -> None:
    """A private tag split by a control character is cut."""
    assert gate.clean("x <pri\x07vate>diary</private> y").text == "x  y"
    store = Store(root)
    store.remember("x <pri\x07vate>diary</private> y")
    assert "diary" not in memory(store).read_text(encoding="utf-8")
    check(store)


def test_two_notes_cannot_make_a_private_tag_together(root: Path) -> None:
    """Two notes cannot make a private tag together."""
    store = Store(root)
    store.remember("the tag begins with <private")
    store.remember("a > b")
    store.remember("c")
    store.reindex()
    assert len(store.list()) == 3
    check(store)


def test_a_secret_in_a_heading_stays_in_its_file(root: Path) -> None:
    """A secret in a heading stays in its file."""
    store = Store(root)
    write(store, f"## key {KEY}\n\n- a\n\n## Other\n\n- b\n")
    store.list()
    store.pin("a")
    store.unpin("a")
    store.close()
    kept = [path.name for path in root.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert {name for name in kept if not name.endswith(".old")} == {"MEMORY.md"}


# -- ----------------------------------------------------------------------------


def test_a_section_whose_title_has_a_slash_is_gone_back_to(root: Path) -> None:
    """A section whose title has a slash is gone back to."""
    store = Store(root)
    write(store, "## CI / CD\n\n- a\n\n## Other\n\n- b\n")
    store.pin("a")
    store.unpin("a")
    assert "## CI / CD\n\n- a\n" in memory(store).read_text(encoding="utf-8")


# -- -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), [(r"\.\d{6}Z`", "Z`"), (r"T\d\d:", "T99:")])
def test_a_time_that_was_edited_stops_nobody(root: Path, old: str, new: str) -> None:
    """A time that was edited stops nobody."""
    store = Store(root)
    store.remember("a")
    journal = root / "JOURNAL.md"
    journal.write_text(re.sub(old, new, journal.read_text(encoding="utf-8")), encoding="utf-8")
    assert store.remember("b").status == "saved"
    assert not store.verify().ok


def test_a_cancellation_that_was_edited_stops_nobody(root: Path) -> None:
    """A cancellation that was edited stops nobody."""
    from memory_magic.store.journal import Journal
    from memory_magic.store.journal_format import Draft

    store = Store(root)
    store.remember("a")
    Journal(root / "JOURNAL.md").append([Draft("cancel", {"scope": "global", "cancels": "the last one"})])
    assert store.remember("b").status == "saved"


# -- ----------------------------------------------------------------------------


def test_the_substitute_tells_a_target_that_is_gone(tmp_path: Path, monkeypatch: Patch) -> None:
    """The substitute tells a target that is gone."""
    monkeypatch.setattr(files, "_exchange_call", lambda: None)
    (tmp_path / "a").write_text("x")
    with pytest.raises(FileNotFoundError):
        files.exchange(str(tmp_path / "a"), str(tmp_path / "b"))


def test_without_exchange_a_file_deleted_at_the_last_moment_does_not_stop_a_change(
    root: Path, monkeypatch: Patch
) -> None:
    """Without exchange a file deleted at the last moment does not stop a change."""
    monkeypatch.setattr(files, "_exchange_call", lambda: None)
    store = Store(root)
    store.remember("one")
    real = door.swap

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        monkeypatch.setattr(door, "swap", real)
        Path(target).unlink()
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)
    store.remember("two")
    assert {note.text for note in store.list()} == {"one", "two"}


def test_a_soft_lock_that_is_held_is_a_time_out(root: Path, monkeypatch: Patch) -> None:
    """A soft lock that is held is a time out."""

    def no_flock(*_: object, **__: object) -> object:
        raise NotImplementedError

    monkeypatch.setattr(FileLock, "acquire", no_flock)
    root.mkdir()
    with StoreLock(root).hold(), pytest.raises(LockTimeoutError, match="pid"), StoreLock(root).hold(0.05):
        pass


def test_threads_that_make_a_workspace_at_once_all_succeed(root: Path, git_repo: Callable[..., Path]) -> None:
    """Threads that make a workspace at once all succeed."""
    cwd = git_repo("a")
    barrier = threading.Barrier(6)
    faults: list[BaseException] = []

    def work(number: int) -> None:
        store = Store(root, cwd=cwd)
        barrier.wait()
        try:
            store.remember(f"note {number}", scope="workspace")
        except BaseException as fault:  # noqa: BLE001
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


# -- ------------------------------------------------------------------------


def test_a_read_only_store_writes_nothing_while_doctor_looks(root: Path, monkeypatch: Patch) -> None:
    """A read only store writes nothing while doctor looks."""
    Store(root).remember("a")
    made: list[str] = []
    real = files.create

    def create(path: str, data: bytes, *, sync: bool = True) -> files.Signature:
        made.append(path)
        return real(path, data, sync=sync)

    monkeypatch.setattr(files, "create", create)
    Store(root, read_only=True).findings()
    assert made == []


def test_an_index_without_a_table_costs_no_verify(root: Path) -> None:
    """An index without a table costs no verify."""
    store = Store(root)
    store.remember("a")
    store.close()
    with sqlite3.connect(root / "index.sqlite3") as connection:
        connection.execute("DROP TABLE meta")
    assert Store(root).verify().n == 1


def test_two_roots_with_one_index_path_do_not_mix(tmp_path: Path, monkeypatch: Patch) -> None:
    """Two roots with one index path do not mix."""
    monkeypatch.setenv("MEMORY_MAGIC_INDEX_PATH", str(tmp_path / "index.sqlite3"))
    a, b = Store(tmp_path / "A"), Store(tmp_path / "B")
    a.remember_many(["a1", "a2", "a3"])
    b.remember("b")
    assert b.verify().ok
    assert a.verify().ok
    a.remember("a4")
    check(a)
    check(b)


def test_a_merge_that_fails_cancels_no_record_of_somebody_else(
    root: Path, git_repo: Callable[..., Path], monkeypatch: Patch
) -> None:
    """A merge that fails cancels no record of somebody else."""
    store = Store(root, cwd=git_repo("a"))
    store.remember("one")

    def end(*_: object, **__: object) -> None:
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(door, "keep_old", end)
        with pytest.raises(CrashError):
            store.remember("two")
    Store(root, cwd=store.cwd).remember("here", scope="workspace")
    (temp,) = [temp for temp in door.temps(str(memory(store))) if temp.state == "new"]
    Path(temp.path).write_text("- two\n- one\n", encoding="utf-8")
    memory(store).write_text("- one\n", encoding="utf-8")
    real = door.swap

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        monkeypatch.setattr(door, "swap", real)
        Path(target).write_text("- one\n\n```\nopen\n", encoding="utf-8")
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)
    with contextlib.suppress(MemoryMagicError):
        store.observe()
    cancelled = [record.fields["cancels"] for record in store.journal() if record.action == "cancel"]
    assert "3" not in cancelled


@pytest.mark.parametrize("number", ["9" * 20, "9" * 5000, "0" * 5000])
def test_a_number_that_was_edited_stops_nobody(root: Path, number: str) -> None:
    """A number that was edited stops nobody."""
    store = Store(root)
    store.remember("a")
    store.close()
    journal = root / "JOURNAL.md"
    journal.write_text(journal.read_text(encoding="utf-8").replace("n: 1,", f"n: {number},"), encoding="utf-8")
    again = Store(root)
    assert again.remember("b").status == "saved"
    assert not again.verify().ok


def test_an_erasure_that_was_edited_stops_nobody(root: Path) -> None:
    """An erasure that was edited stops nobody."""
    from memory_magic.store.journal import Journal
    from memory_magic.store.journal_format import Draft

    store = Store(root)
    store.remember("a")
    Journal(root / "JOURNAL.md").append([Draft("purge", {"erases": "\u00b2:after"})])
    assert store.verify().n == 2


def test_a_folder_that_may_not_be_entered_costs_its_own_notes_only(root: Path, git_repo: Callable[..., Path]) -> None:
    """A folder that may not be entered costs its own notes only."""
    store = Store(root, cwd=git_repo("a"))
    store.remember("everywhere")
    store.remember("here", scope="workspace")
    (root / "global").chmod(0)
    try:
        if os.access(root / "global", os.X_OK):
            pytest.skip("this user may enter everything")
        assert [note.text for note in store.list()] == ["here"]
        assert store.get("here").text == "here"
        store.status()
    finally:
        (root / "global").chmod(0o700)


def test_a_folder_on_the_path_that_may_not_be_entered_is_passed_over(
    root: Path, git_repo: Callable[..., Path], monkeypatch: Patch
) -> None:
    """A folder on the path that may not be entered is passed over."""
    cwd = git_repo("a")
    real = os.stat

    def stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if str(path).startswith("/locked/"):
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setenv("PATH", f"/locked/bin:{os.environ['PATH']}")
    assert Store(root, cwd=cwd).workspace is not None


# -- found by a newcomer ---------------------------------------------------------------------------------------


def test_a_write_works_without_standard_input(root: Path) -> None:
    """The lock file may get descriptor 0, which is a descriptor like any other."""
    code = "from memory_magic import Store; Store().remember('one')"
    words = [sys.executable, "-c", f"import os; os.close(0)\n{code}"]
    subprocess.run(words, check=True, timeout=60)
    assert [note.text for note in Store(root).list()] == ["one"]


def test_a_root_whose_name_is_not_utf8_works(tmp_path: Path) -> None:
    """A file system's name is bytes."""
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff"))
    Store(root).remember("one")
    assert [note.text for note in Store(root).list()] == ["one"]
    check(Store(root))


def test_an_id_that_is_also_a_text_is_ambiguous(root: Path) -> None:
    """A note that reads like another note's id is not passed over in silence."""
    store = Store(root)
    one = store.remember("foo").id[:10]
    store.remember(one)
    with pytest.raises(AmbiguousNoteError, match="2 notes fit"):
        store.retire(one, evidence="x")
    assert len(store.list()) == 2
