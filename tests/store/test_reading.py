"""Reading: the index where it is right, the file where it is not, never a wait and never a mixture."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import StoreAccessError
from memory_magic.store import files, reading
from memory_magic.store.bench import now_ns
from memory_magic.store.index import DamagedIndexError, Index
from memory_magic.store.journal import Journal
from memory_magic.store.lock import StoreLock
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Patch = pytest.MonkeyPatch


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.root / "global" / "MEMORY.md"


def texts(store: Store) -> list[str]:
    """Return the texts of all notes in their order."""
    return [note.text for note in store.list()]


@pytest.fixture
def locked_out(root: Path) -> Iterator[None]:
    """Let another process hold the lock."""
    root.mkdir(mode=0o700, exist_ok=True)
    with StoreLock(root).hold():
        yield


@pytest.fixture
def reads(monkeypatch: Patch) -> list[str]:
    """Note each file whose bytes are read."""
    seen: list[str] = []
    real = files.read

    def read(path: str) -> files.Content:
        seen.append(Path(path).name)
        return real(path)

    monkeypatch.setattr(files, "read", read)
    return seen


def test_a_file_that_rests_is_not_read_at_all(root: Path, reads: list[str], monkeypatch: Patch) -> None:
    """Two seconds after the last change its signature is enough; before that its hash is taken."""
    store = Store(root)
    store.remember("one")
    reads.clear()
    assert texts(store) == ["one"]
    assert reads == ["MEMORY.md"]
    reads.clear()
    later = now_ns() + 3_000_000_000
    monkeypatch.setattr(reading, "now_ns", lambda: later)
    assert texts(store) == ["one"]
    assert reads == []


def test_a_change_of_equal_size_with_its_time_put_back_is_seen(root: Path, monkeypatch: Patch) -> None:
    """Size, inode and mtime say nothing new; the ctime does."""
    store = Store(root)
    store.remember("one")
    later = now_ns() + 3_000_000_000
    monkeypatch.setattr(reading, "now_ns", lambda: later)
    before = memory(store).stat()
    while memory(store).stat().st_ctime_ns == before.st_ctime_ns:
        with memory(store).open("r+", encoding="utf-8") as file:
            file.write("- two\n")
        os.utime(memory(store), ns=(before.st_atime_ns, before.st_mtime_ns))
    after = memory(store).stat()
    assert (before.st_size, before.st_ino, before.st_mtime_ns) == (after.st_size, after.st_ino, after.st_mtime_ns)
    assert texts(store) == ["two"]


def test_a_reader_does_not_wait_for_a_writer(root: Path) -> None:
    """While somebody holds the lock an edited file is read as it is: new notes first, nothing journalled."""
    store = Store(root)
    store.remember_many(["one", "two"], by="ana")
    memory(store).write_text("- one\n- by hand\n- two\n\n## Pinned\n\n- kept\n", encoding="utf-8")
    with StoreLock(root).hold():
        found = store.list()
        assert [(note.text, note.pinned, note.n, note.by) for note in found] == [
            ("kept", True, 3, None),
            ("by hand", False, 3, None),
            ("two", False, 2, "ana"),
            ("one", False, 1, "ana"),
        ]
        assert store.list(limit=2) == found[:2]
        assert store.get("by hand").line == 2
        assert store.search("hand").hits[0].note.text == "by hand"
        assert not store.status().index_fresh
        assert len(store.journal()) == 2
    assert texts(store)[0] == "kept"
    assert len(store.journal()) == 4


def test_a_store_that_was_never_indexed_is_read_from_its_files(root: Path, locked_out: None) -> None:
    """Without index and journal the file alone answers, lower lines newer."""
    (root / "global").mkdir()
    (root / "global" / "MEMORY.md").write_text("- older\n- newer\n", encoding="utf-8")
    store = Store(root)
    assert [(note.text, note.n, note.created) for note in store.list()] == [("newer", 1, None), ("older", 1, None)]
    assert store.headroom_notes() == store.list()
    assert store.status().scopes[0].notes == 2


def test_numbers_and_dates_come_from_the_journal_where_there_is_no_index(root: Path) -> None:
    """A read-only store without an index says the same as one with it, and notices when the journal grows."""
    store = Store(root)
    store.remember_many(["one", "two"], by="ana")
    store.pin("one")
    expected = store.list()
    store.close()
    for path in root.glob("index.sqlite3*"):
        path.unlink()
    reader = Store(root, read_only=True)
    assert reader.list() == expected
    Store(root).remember("three", by="bob")
    for path in root.glob("index.sqlite3*"):
        path.unlink()
    assert [(note.text, note.n, note.by) for note in reader.list()][1] == ("three", 4, "bob")
    assert reader.fallback is None


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), DamagedIndexError("not a database")])
@pytest.mark.parametrize("call", ["source", "notes", "known", "count"])
def test_an_index_that_fails_while_it_is_read_costs_the_index_only(
    root: Path, monkeypatch: Patch, error: Exception, call: str
) -> None:
    """Whatever goes wrong in SQLite, the answer comes from the file."""
    store = Store(root)
    store.remember("one", by="ana")
    expected = [("one", 1, "ana")]
    real = getattr(Index, call)

    def fail(self: Index, *arguments: object) -> object:
        if self.read_only:
            raise error
        return real(self, *arguments)

    monkeypatch.setattr(Index, call, fail)
    assert [(note.text, note.n, note.by) for note in store.list()] == expected
    assert [note.text for note in store.headroom_notes()] == ["one"]
    assert store.get("one").line == 1
    assert store.search("one").hits
    assert store.status().journal_records == 1
    reader = Store(root, read_only=True)
    assert [(note.text, note.n, note.by) for note in reader.list()] == expected
    assert [note.text for note in reader.headroom_notes()] == ["one"]


def test_a_journal_that_cannot_be_read_costs_dates_only(root: Path, monkeypatch: Patch) -> None:
    """Notes are shown without number and author rather than not at all."""
    store = Store(root)
    store.remember("one")
    store.close()
    for path in root.glob("index.sqlite3*"):
        path.unlink()

    def refuse(*_: object) -> None:
        raise StoreAccessError("Permission denied")

    monkeypatch.setattr(Journal, "tail", refuse)
    assert [(note.text, note.by) for note in Store(root, read_only=True).list()] == [("one", None)]


def test_a_file_that_is_no_text_has_no_notes_and_stays(root: Path, git_repo: Callable[..., Path]) -> None:
    """UTF-16 or binary: the other scope answers, and none of its notes is journalled as gone."""
    store = Store(root, cwd=git_repo("a"))
    store.remember("everywhere")
    store.remember("here", scope="workspace")
    data = "- everywhere\n".encode("utf-16")
    memory(store).write_bytes(data)
    assert texts(store) == ["here"]
    assert store.remember("more", scope="workspace").status == "saved"
    assert memory(store).read_bytes() == data
    assert len(store.journal()) == 3
    memory(store).write_text("- everywhere\n", encoding="utf-8")
    assert texts(store) == ["more", "here", "everywhere"]
    assert len(store.journal()) == 3


@pytest.fixture
def sealed(root: Path) -> Iterator[Callable[[], Store]]:
    """Make a store whose root cannot be written, for everybody who respects rights."""
    with Store(root) as store:
        store.remember_many(["one", "two"])
        store.verify()
    kept = {path: path.stat().st_mode for path in [root, *root.rglob("*")]}
    for path, mode in kept.items():
        path.chmod(stat.S_IMODE(mode) & ~0o222)
    made: list[Store] = []

    def open_one(*, read_only: bool = False) -> Store:
        made.append(Store(root, read_only=read_only))
        return made[-1]

    yield open_one
    for store in made:
        store.close()
    for path, mode in kept.items():
        path.chmod(stat.S_IMODE(mode))


@pytest.mark.parametrize("read_only", [True, False])
def test_a_root_that_may_not_be_written_is_read_without_a_trace(
    root: Path, sealed: Callable[..., Store], monkeypatch: Patch, *, read_only: bool
) -> None:
    """Index and journal are read where SQLite may make no sidecar; nothing appears and nothing changes."""
    # root may write everywhere: what SQLite would find then is said by os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    before = {path: path.stat().st_mtime_ns for path in [root, *root.rglob("*")]}
    store = sealed(read_only=read_only)
    assert texts(store) == ["two", "one"]
    status = store.status()
    assert (status.index_notes, status.index_fresh, status.journal_records) == (2, True, 2)
    assert status.verified is not None
    assert store.get("one").n == 1
    assert {path: path.stat().st_mtime_ns for path in [root, *root.rglob("*")]} == before
    with pytest.raises(StoreAccessError if not read_only else PermissionError):
        store.remember("three")


def test_reading_makes_nothing_where_there_is_nothing(root: Path) -> None:
    """A root without scopes, and a scope without a file, stay as they are; with a folder the index may come."""
    store = Store(root)
    assert texts(store) == []
    assert not root.exists()
    root.mkdir(mode=0o700)
    assert texts(store) == []
    assert list(root.iterdir()) == []


def test_a_moved_file_behind_a_link_is_noticed(root: Path, tmp_path: Path) -> None:
    """The index is believed for the file that it was made from only."""
    one, other = tmp_path / "one.md", tmp_path / "other.md"
    one.write_text("- one\n", encoding="utf-8")
    other.write_text("- other\n", encoding="utf-8")
    (root / "global").mkdir(parents=True)
    link = root / "global" / "MEMORY.md"
    link.symlink_to(one)
    store = Store(root)
    assert texts(store) == ["one"]
    link.unlink()
    link.symlink_to(other)
    assert texts(store) == ["other"]
    assert store.remember("more").status == "saved"
    assert (one.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("- one\n", "- other\n- more\n")
