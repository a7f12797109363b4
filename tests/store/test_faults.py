"""What goes wrong in real life: the disk, the rights, the clock, other programs, and damaged files."""

from __future__ import annotations

import datetime as dt
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import FileStateError, LockTimeoutError, MemoryMagicError, NoteError, StoreAccessError
from memory_magic.store import door, files, markdown
from memory_magic.store.lock import StoreLock
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree."""
    there = {(note.scope, note.id, note.pinned) for note in store.list("all")}
    assert store.verify().ok
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == there


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.root / "global" / "MEMORY.md"


# -- the hot path ----------------------------------------------------------------------------------------------


def test_remember_parses_nothing_when_the_file_is_known(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the signature in the index an append scans no line, of the file or of the journal."""
    store = Store(root)
    store.remember_many([f"note {number}" for number in range(100)])
    scanned: list[int] = []

    def scan(text: str) -> list[markdown.Block]:
        scanned.append(len(text))
        return markdown.scan(text)

    monkeypatch.setattr("memory_magic.store.note.scan", scan)
    written = store.remember("one more")
    assert (written.line, scanned) == (101, [])
    check(store)


def test_status_reads_the_journals_end_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the journal is, status reads 64 kB of it."""
    store = Store(root)
    store.remember_many([f"note {number} with some words" for number in range(1000)])
    read: list[int] = []
    real = os.pread

    def pread(descriptor: int, size: int, at: int) -> bytes:
        read.append(size)
        return real(descriptor, size, at)

    monkeypatch.setattr(os, "pread", pread)
    assert store.status().journal_records == 1000
    assert sum(read) <= 65_536


# -- the disk refuses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["temp", "record", "exchange"])
def test_a_full_disk_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """When a write fails the file, the journal and the answer to a retry are as if nothing had been tried."""
    store = Store(root)
    store.remember("one")
    before = memory(store).read_bytes(), (root / "JOURNAL.md").read_bytes()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        if where == "temp":
            broken.setattr(os, "write", full)
        elif where == "record":
            broken.setattr("memory_magic.store.journal.files.write_all", full)
        else:
            broken.setattr(files, "exchange", full)
        with pytest.raises(OSError, match="No space left"):
            store.remember("two")
    if where != "exchange":
        assert (memory(store).read_bytes(), (root / "JOURNAL.md").read_bytes()) == before
    assert store.remember("two").status in {"saved", "duplicate"}
    assert [note.text for note in store.list()] == ["two", "one"]
    check(store)


def test_an_index_that_fails_after_the_change_loses_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note is kept, the reply says that the index is built anew, and it is."""
    store = Store(root)
    store.remember("one")

    def broken(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("memory_magic.store.index.Index.insert", broken)
        written = store.remember("two")
    assert any("index could not follow" in notice for notice in written.notices)
    assert [note.text for note in store.list()] == ["two", "one"]
    check(store)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_root_without_rights_is_a_friendly_error(root: Path) -> None:
    """A read-only root is named, reads still work."""
    Store(root).remember("one")
    root.chmod(0o500)
    (root / "JOURNAL.md").chmod(0o400)
    try:
        store = Store(root)
        assert [note.text for note in store.list()] == ["one"]
        with pytest.raises(StoreAccessError, match="JOURNAL"):
            store.remember("two")
    finally:
        root.chmod(0o700)


def test_a_journal_that_is_a_directory_refuses_writes_and_lets_reads_work(root: Path) -> None:
    """Nothing is changed without a record of it."""
    store = Store(root)
    store.remember("one")
    (root / "JOURNAL.md").unlink()
    (root / "JOURNAL.md").mkdir()
    with pytest.raises(FileStateError, match="no file"):
        store.remember("two")
    assert [note.text for note in store.list()] == ["one"]
    assert memory(store).read_text(encoding="utf-8") == "- one\n"


# -- the index -------------------------------------------------------------------------------------------------


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database" * 1000)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:700])


def _older_schema(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")


def _drop_table(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE notes")


@pytest.mark.parametrize("damage", [_garbage, _truncate, _older_schema, _drop_table])
def test_a_damaged_index_is_built_anew(root: Path, damage: Callable[[Path], None]) -> None:
    """Reads and writes go on, with the same notes, numbers and dates."""
    store = Store(root)
    store.remember("one", by="ana")
    before = store.list()
    store.close()
    for end in ("-wal", "-shm"):
        (root / f"index.sqlite3{end}").unlink(missing_ok=True)
    damage(root / "index.sqlite3")
    assert Store(root, read_only=True).list() == before
    assert Store(root).list() == before
    assert Store(root).remember("two").line == 2
    check(Store(root))


def test_an_index_deleted_under_an_open_store_is_noticed(root: Path) -> None:
    """A replaced database file is opened anew before each use."""
    one, other = Store(root), Store(root)
    one.remember("first")
    assert len(other.list()) == 1
    for end in ("", "-wal", "-shm"):
        (root / f"index.sqlite3{end}").unlink(missing_ok=True)
    one.remember("second")
    assert len(other.list()) == 2
    assert other.remember("third").n == 3
    check(one)


def test_a_busy_index_is_waited_for_or_done_without(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that stays locked is not taken for a damaged one: the store goes on without it and says so."""
    store = Store(root)
    store.remember("one")
    store.close()
    monkeypatch.setattr("memory_magic.store.index.BUSY_SECONDS", 0.1)
    blocker = sqlite3.connect(root / "index.sqlite3", isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    try:
        again = Store(root)
        written = again.remember("two")
        assert written.status == "saved"
        assert written.notices
        assert [note.text for note in again.list()] == ["two", "one"]
    finally:
        blocker.close()
    assert (root / "index.sqlite3").exists()
    check(Store(root))


# -- crashes ---------------------------------------------------------------------------------------------------

_CRASHES = ("memory_magic.store.door.os.rename", "memory_magic.store.bench.Bench.write", "memory_magic.store.door.swap")
_LATER = (
    "memory_magic.store.door.keep_old",
    "memory_magic.store.files.sync_directory",
    "memory_magic.store.bench.Bench.tell",
)


class CrashError(BaseException):
    """Stands for a process that ends at this very point."""


@pytest.mark.parametrize("point", [*_CRASHES, *_LATER])
@pytest.mark.parametrize("action", ["remember", "revise", "retire", "pin"])
def test_a_crash_at_any_step_is_settled_by_the_next_holder(
    root: Path, monkeypatch: pytest.MonkeyPatch, point: str, action: str
) -> None:
    """After a crash the change is there whole or not at all, the chain is whole, and no temp is left."""
    store = Store(root)
    store.remember_many(["one", "two", "three"])
    changes: dict[str, Callable[[], object]] = {
        "remember": lambda: store.remember("four"),
        "revise": lambda: store.revise("two", "2", evidence="x"),
        "retire": lambda: store.retire("two", evidence="x"),
        "pin": lambda: store.pin("two"),
    }

    def crash(*_: object, **__: object) -> None:
        raise CrashError

    with monkeypatch.context() as patch:
        patch.setattr(point, crash)
        with pytest.raises(CrashError):
            changes[action]()
    store.close()
    after = Store(root)
    recorded = len(after.journal()) == 4
    after.observe()
    check(after)
    assert len(after.journal()) == 3 + recorded
    done = {"remember": "four" in _texts(after), "revise": "2" in _texts(after), "retire": "two" not in _texts(after)}
    assert done.get(action, any(note.pinned for note in after.list())) is recorded
    assert [temp for temp in door.temps(str(memory(after))) if temp.state != "old"] == []
    assert after.observe() == []
    after.remember("five")
    check(after)


def _texts(store: Store) -> list[str]:
    return [note.text for note in store.list()]


def test_recovery_never_repeats_itself(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two stores that open after a crash do the pending change once."""
    store = Store(root)
    store.remember("one")
    with monkeypatch.context() as patch:
        patch.setattr(door, "swap", lambda *_, **__: (_ for _ in ()).throw(CrashError))
        with pytest.raises(CrashError):
            store.remember("two")
    first, second = Store(root), Store(root)
    assert first.observe() == second.observe() == []
    assert (_texts(first), _texts(second)) == (["two", "one"], ["two", "one"])
    assert [record.action for record in first.journal()] == ["remember", "remember"]
    check(first)


# -- editors ---------------------------------------------------------------------------------------------------


def _interfere(monkeypatch: pytest.MonkeyPatch, save: Callable[[], None], times: int = 1) -> None:
    """Let an editor *save* right before the exchange, *times* times."""
    real, left = door.swap, [times]

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        if left[0]:
            left[0] -= 1
            save()
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)


def _by_rename(path: Path, text: str) -> None:
    other = path.with_name("editor.tmp")
    other.write_text(text, encoding="utf-8")
    other.replace(path)


def _in_place(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("save", [_by_rename, _in_place])
def test_a_save_between_reading_and_exchange_is_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path, str], None]
) -> None:
    """The editor's bytes stay, our change is applied to them, and both are in the journal."""
    store = Store(root)
    store.remember_many(["one", "two"])
    _interfere(monkeypatch, lambda: save(memory(store), "# Title\n\n- one\n- from the editor\n"))
    store.remember("ours")
    assert memory(store).read_text(encoding="utf-8") == "# Title\n\n- one\n- from the editor\n- ours\n"
    check(store)
    assert [record.action for record in store.journal()][2:] == ["remember", "observe"]


def test_a_change_whose_note_an_editor_took_out_is_cancelled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The save is put back, the record is cancelled, and the error says what happened."""
    store = Store(root)
    store.remember_many(["one", "two"])
    _interfere(monkeypatch, lambda: _by_rename(memory(store), "- one\n- other\n"))
    with pytest.raises(MemoryMagicError, match="changed in an editor meanwhile"):
        store.revise("two", "2", evidence="x")
    assert memory(store).read_text(encoding="utf-8") == "- one\n- other\n"
    assert "cancel" in [record.action for record in store.journal()]
    check(store)


def test_an_editor_that_never_rests_wins(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three seconds of saves the last save stands and the change is cancelled."""
    store = Store(root)
    store.remember("one")
    monkeypatch.setattr(door, "PATIENCE", 0.2)
    count = iter(range(1000))
    _interfere(monkeypatch, lambda: _by_rename(memory(store), f"- one\n- save {next(count)}\n"), times=200)
    with pytest.raises(MemoryMagicError, match="editor"):
        store.remember("ours")
    monkeypatch.undo()
    assert "ours" not in memory(store).read_text(encoding="utf-8")
    check(Store(root))


def test_an_editor_that_had_the_old_file_open_is_not_lost(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written into the predecessor after the exchange is merged by a later writer."""
    monkeypatch.setattr(door, "OLD_SECONDS", 0)
    store = Store(root)
    store.remember("one")
    with memory(store).open("r+", encoding="utf-8") as editor:
        store.remember("two")
        editor.seek(0, 2)
        editor.write("- late\n")
    store.remember("three")
    assert set(_texts(store)) == {"one", "two", "three", "late"}
    check(store)


def test_a_half_written_save_is_waited_for(root: Path) -> None:
    """A file that is empty for a moment does not retire every note."""
    store = Store(root)
    store.remember_many([f"note {number}" for number in range(10)])
    text = memory(store).read_text(encoding="utf-8")
    memory(store).write_text("", encoding="utf-8")
    timer = threading.Timer(0.02, lambda: memory(store).write_text(text, encoding="utf-8"))
    timer.start()
    assert store.observe() == []
    timer.join()
    assert len(store.list()) == 10


def test_a_deleted_file_is_taken_at_its_word(root: Path) -> None:
    """Where the file is gone its notes are journalled as taken out, and writing goes on."""
    store = Store(root)
    store.remember("one")
    memory(store).unlink()
    written = store.remember("two")
    assert _texts(store) == ["two"]
    assert any("took out 1 note" in notice for notice in written.notices)
    check(store)


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"\xef\xbb\xbf- bom\n",
            b"- crlf\r\n- two\r\n",
            b"- cr\r- two\r",
            "- sep\u2028arator\n".encode(),
            b"- caf\xe9\n",
        ),
        *(
            b"---\na: b\n---\n- front\n",
            b"- a\n\n```\nopen\n",
            b"- a\n<!-- open\n",
            b"- a\n\n<private>\nhidden\n",
            b"\n\n\n",
        ),
        *(
            b"<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> x\n",
            b"## Pinned\n- p",
            b"- a\0b\n",
            b"\xff\xfe-\0 \0a\0",
        ),
    ],
)
def test_a_file_is_never_rewritten_by_looking_at_it(root: Path, data: bytes) -> None:
    """Whatever stands in a memory file, reading leaves it byte for byte, and a write adds to it or refuses."""
    store = Store(root)
    memory(store).parent.mkdir(parents=True)
    memory(store).write_bytes(data)
    store.list()
    store.findings()
    store.verify()
    assert memory(store).read_bytes() == data
    try:
        written = store.remember("new")
    except (FileStateError, NoteError):
        assert memory(store).read_bytes() == data
        assert store.findings()
    else:
        now = memory(store).read_bytes()
        assert b"new" in now
        assert all(line in now for line in data.split(b"\n"))
        assert store.get(written.id).text == "new"
        check(store)


# -- locks and clocks ------------------------------------------------------------------------------------------


def test_a_lock_that_is_held_is_waited_for_and_its_holder_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names process and host; nothing is written; readers do not wait."""
    store = Store(root)
    store.remember("one")
    monkeypatch.setattr("memory_magic.store.lock.TIMEOUT", 0.2)
    with StoreLock(root).hold():
        with pytest.raises(LockTimeoutError, match=f"pid {os.getpid()}"):
            store.remember("two")
        memory(store).write_text("- one\n- by hand\n", encoding="utf-8")
        assert _texts(store) == ["by hand", "one"]
    assert len(store.journal()) == 1


def test_a_lock_file_deleted_while_it_is_held_is_noticed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer lets go, takes the new lock file, and does its change exactly once."""
    store = Store(root)
    store.remember("one")
    real = door.write_temp
    deleted: list[bool] = []

    def delete(target: str, numbers: tuple[int, int], data: bytes, data_hash: str) -> tuple[str, files.Signature]:
        if not deleted:
            deleted.append(True)
            (root / ".lock").unlink()
        return real(target, numbers, data, data_hash)

    monkeypatch.setattr(door, "write_temp", delete)
    store.remember("two")
    assert [record.action for record in store.journal()] == ["remember", "remember"]
    assert _texts(store) == ["two", "one"]
    check(store)


def test_a_stale_lock_file_of_a_dead_process_holds_nobody_up(root: Path) -> None:
    """Lock and holder files that were left behind are only files."""
    root.mkdir(mode=0o700)
    (root / ".lock").write_text("", encoding="utf-8")
    (root / ".lock.holder").write_text("pid 999999 on elsewhere since 2020-01-01T00:00:00Z\n", encoding="utf-8")
    assert Store(root).remember("one").status == "saved"


def test_a_clock_that_goes_back_changes_no_order(root: Path) -> None:
    """Newest first goes by record number, whatever the clock says."""
    moments = iter(dt.datetime(2026, 11, 30, hour, tzinfo=dt.UTC) for hour in (18, 2, 17))
    store = Store(root, clock=lambda: next(moments))
    for text in ("first", "second", "third"):
        store.remember(text)
    assert _texts(store) == ["third", "second", "first"]
    assert [record.fields.get("clock") for record in store.journal()] == [None, "went back 16 h", None]
    check(store)


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"TZ": "Pacific/Kiritimati"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_locale_and_time_zone_change_nothing(root: Path, variables: dict[str, str]) -> None:
    """A process under another locale or zone writes the same UTF-8 and UTC."""
    code = (
        "from memory_magic.store.store import Store; s = Store(); "
        "s.remember('\\u6df1\\u8272 caf\\xe9'); print(s.journal()[0].time[-1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    assert done.stdout == "Z\n"
    assert Store(root).list()[0].text == "深色 café"
    check(Store(root))


# -- damaged journals ------------------------------------------------------------------------------------------


def _half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def _binary(path: Path) -> None:
    path.write_bytes(os.urandom(1000))


def _conflict(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    path.write_text(f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> other\n", encoding="utf-8")


def _gone(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [_half, _binary, _conflict, _gone])
@pytest.mark.parametrize("with_index", [True, False])
def test_a_damaged_journal_stops_nobody(root: Path, damage: Callable[[Path], None], *, with_index: bool) -> None:
    """No note is lost, the next write works, the file wins, and verify tells of the damage."""
    store = Store(root)
    store.remember_many([f"note {number}" for number in range(6)])
    store.close()
    damage(root / "JOURNAL.md")
    if not with_index:
        for end in ("", "-wal", "-shm"):
            (root / f"index.sqlite3{end}").unlink(missing_ok=True)
    again = Store(root)
    again.remember("after")
    assert set(_texts(again)) == {*(f"note {number}" for number in range(6)), "after"}
    state = replay(again.journal())
    assert set(state["global"]) == {note.id for note in again.list()}
    assert again.remember("more").status == "saved"


def test_a_shortened_journal_is_told_even_after_further_writes(root: Path) -> None:
    """The index remembers how far the journal reached, so cutting its end is found, also later."""
    store = Store(root)
    store.remember_many([f"note {number}" for number in range(6)])
    journal = root / "JOURNAL.md"
    journal.write_bytes(journal.read_bytes()[: store.journal()[3].offset])
    assert store.verify().faults == ("the journal ends before record 6, known from the index: its end is missing",)
    store.remember("after")
    store.remember_many(["more", "and more"])
    assert any("record 6" in fault for fault in store.verify().faults)
    assert len(store.list()) == 9


# -- foreign files ---------------------------------------------------------------------------------------------


def test_look_alikes_are_listed_and_not_read(root: Path) -> None:
    """Conflicted copies and editor backups hold no notes of ours; doctor names them."""
    store = Store(root)
    store.remember("one")
    for name in ("MEMORY (conflicted copy).md", "MEMORY 2.md", "MEMORY.md~", ".MEMORY.md.swp", "MEMORY.md.orig"):
        (root / "global" / name).write_text("- foreign\n", encoding="utf-8")
    assert _texts(store) == ["one"]
    assert len([finding for finding in store.findings() if finding.kind == "copy"]) == 5


def test_a_scope_directory_that_leads_outside_is_refused(root: Path, tmp_path: Path) -> None:
    """A link to elsewhere in the place of a scope's directory is no scope."""
    outside = tmp_path / "outside"
    outside.mkdir()
    root.mkdir(mode=0o700)
    (root / "global").symlink_to(outside)
    with pytest.raises(FileStateError, match="outside"):
        Store(root)
    assert list(outside.iterdir()) == []


def test_a_workspace_link_that_leads_outside_holds_nobody_up(root: Path, tmp_path: Path) -> None:
    """One planted link is skipped and named; the other scopes can be read and written."""
    store = Store(root)
    store.remember("one")
    (root / "workspace").mkdir(mode=0o700)
    link = root / "workspace" / ("a" * 64)
    link.symlink_to(tmp_path)
    assert [note.text for note in store.list("all")] == ["one"]
    store.retire("one", evidence="x")
    assert [finding.where for finding in store.findings() if finding.kind == "link"] == [str(link)]


def test_rights_that_are_too_wide_are_reported(root: Path) -> None:
    """A file that others may read is a finding with the command that mends it."""
    store = Store(root)
    store.remember("one")
    memory(store).chmod(0o644)
    assert [(finding.kind, finding.where) for finding in store.findings()] == [("rights", str(memory(store)))]


def test_a_store_that_was_moved_still_works(root: Path, tmp_path: Path) -> None:
    """No path is kept that matters: the root can be copied elsewhere."""
    store = Store(root)
    store.remember("one", pin=True)
    store.close()
    shutil.copytree(root, tmp_path / "moved")
    moved = Store(tmp_path / "moved")
    assert [(note.text, note.n) for note in moved.list()] == [("one", 1)]
    moved.remember("two")
    check(moved)
