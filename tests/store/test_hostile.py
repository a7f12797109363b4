"""Faults that a hostile tester found: torn journals, strange numbers, files that are none, ids that look alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import AmbiguousNoteError, NoteError, StoreAccessError
from memory_magic.store import gate
from memory_magic.store.access import Access
from memory_magic.store.archive import Archive
from memory_magic.store.index import Index, Row, Source
from memory_magic.store.purge import run
from memory_magic.store.purge.plan import Request
from memory_magic.store.purge.screen import PurgedTextError
from memory_magic.store.store import Store
from memory_magic.store.undoing import NoSuchRecordError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TORN = b"- **remember** `2026-12-01T00:00:00.0"
HUGE = 10**30


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the root of a store with one note."""
    with Store(tmp_path / "root", tmp_path) as store:
        store.remember("one note")
    return tmp_path / "root"


def test_a_record_that_a_kill_left_unfinished_is_cut_by_verify(root: Path) -> None:
    """Nobody was told that it is kept, so it is no finding either."""
    journal = root / "JOURNAL.md"
    whole = journal.read_bytes()
    journal.write_bytes(whole + TORN)
    verdict = Store(root, root).verify()
    assert verdict.ok
    assert verdict.n == 1
    assert journal.read_bytes() == whole


def test_a_read_only_store_names_the_line_of_a_torn_record(root: Path) -> None:
    """It writes nothing, not even that."""
    journal = root / "JOURNAL.md"
    torn = journal.read_bytes() + TORN
    journal.write_bytes(torn)
    verdict = Store(root, root, True).verify()  # noqa: FBT003 -- the signature of the contract
    assert not verdict.ok
    assert not verdict.tampered
    assert journal.read_bytes() == torn


@pytest.mark.parametrize("length", [1, 4, 20, 37])
def test_a_first_append_that_was_killed_leaves_no_mark(tmp_path: Path, length: int) -> None:
    """The heading stands, the first record does not: the next writer begins it anew."""
    root = tmp_path / "root"
    with Store(root, tmp_path) as store:
        store.remember("one note")
    journal = root / "JOURNAL.md"
    heading = journal.read_bytes().partition(b"- **")[0]
    journal.write_bytes(heading + TORN[:length])
    (root / "index.sqlite3").unlink()
    with Store(root, tmp_path) as store:
        store.remember("another")
        assert store.verify().ok
        assert {note.text for note in store.list()} == {"one note", "another"}


def test_only_a_changed_record_breaks_the_chain(root: Path, tmp_path: Path) -> None:
    """A foreign line and a fork are findings; a changed word is tampering."""
    journal = root / "JOURNAL.md"
    first = journal.read_bytes()
    with Store(root, tmp_path) as store:
        store.remember("left")
    left = journal.read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    (other / "JOURNAL.md").write_bytes(first)
    with Store(other, tmp_path) as store:
        store.remember("right")
    right = (other / "JOURNAL.md").read_bytes()
    for data, tampered in (
        (left + b"a line\n", False),
        (left + right[len(first) :], False),
        (left.replace(b"after: left", b"after: lift"), True),
    ):
        journal.write_bytes(data)
        verdict = Store(root, tmp_path, True).verify()  # noqa: FBT003
        assert (verdict.ok, verdict.tampered) == (False, tampered)


def test_a_record_number_that_no_record_has_is_no_crash(root: Path) -> None:
    """However many digits a person types."""
    store = Store(root, root)
    with pytest.raises(NoSuchRecordError):
        Archive(store).undo(HUGE)
    with pytest.raises(ValueError, match="no record"):
        Archive(store).state_at(HUGE)


def test_ids_that_look_alike_are_told_apart_in_the_error(root: Path) -> None:
    """Two notes that share the ten shown characters are named by as many as differ."""
    store = Store(root, root)
    ids = [store.remember(f"Prefer plan {number}").id for number in (11272438, 28403127)]
    assert ids[0][:10] == ids[1][:10]
    for ask in (store.get, Archive(store).history):
        with pytest.raises(AmbiguousNoteError) as caught:
            ask(ids[0][:10])
        assert all(one[:11] in str(caught.value) for one in ids)


@pytest.mark.parametrize("text", ["\u200b", "\u202e \u2066", "\ufeff\n\u00ad"])
def test_a_note_that_nobody_can_see_is_refused(text: str) -> None:
    """It would be an empty line in every list."""
    with pytest.raises(NoteError, match="see"):
        gate.clean_note(text)


def test_a_memory_file_that_cannot_be_read_is_told(root: Path) -> None:
    """An empty answer alone would say that nothing was remembered."""
    file = root / "global" / "MEMORY.md"
    file.unlink()
    file.mkdir()
    store = Store(root, root)
    assert store.list() == []
    assert str(file) in store.unread[0]
    file.rmdir()
    file.write_text("- back\n", encoding="utf-8")
    assert [note.text for note in store.list()] == ["back"]


def test_status_works_without_a_journal_that_can_be_read(root: Path) -> None:
    """Reads work, writes refuse."""
    (root / "JOURNAL.md").unlink()
    (root / "JOURNAL.md").mkdir()
    assert Store(root, root).status().scopes[0].notes == 1


@pytest.mark.parametrize("name", [".lock", ".lock.holder", "index.sqlite3", "tombstones.md"])
def test_doctor_tells_what_stands_in_the_place_of_a_file(root: Path, name: str) -> None:
    """A folder there stops every write, so doctor must neither stop at it nor pass over it."""
    (root / name).unlink(missing_ok=True)
    (root / name).mkdir(mode=0o700)
    found = Store(root, root, True).findings()  # noqa: FBT003
    assert any(name in finding.where for finding in found)


def test_a_root_that_is_a_link_to_nowhere_is_said_in_words(tmp_path: Path) -> None:
    """The error names the link itself, not a file that could not be made in it."""
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(StoreAccessError, match="a folder should be"):
        Store(tmp_path / "link", tmp_path).remember("x")


def test_reindex_builds_the_index_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from a process that has not opened it, and also where it is missing."""
    made: list[str] = []
    real = Index.insert

    def insert(self: Index, source: Source, rows: Iterable[Row], *, searchable: bool = True) -> None:
        made.append(source.scope)
        real(self, source, rows, searchable=searchable)

    monkeypatch.setattr(Index, "insert", insert)
    assert Store(root, root).reindex() == 1
    assert len(made) == 1
    (root / "index.sqlite3").unlink()
    made.clear()
    assert Store(root, root).reindex() == 1
    assert len(made) == 1


def test_a_store_names_its_project(tmp_path: Path) -> None:
    """The folder whose project memory file is read."""
    assert Store(tmp_path / "root", tmp_path).project == tmp_path


def test_a_damaged_byte_in_another_store_is_not_taken_over(root: Path, tmp_path: Path) -> None:
    """A replacement character in place of what stood there would be a loss that nobody sees."""
    other = tmp_path / "whale" / "global"
    other.mkdir(parents=True)
    (other / "MEMORY.md").write_bytes(b"- bad \xff byte\n- fine\n")
    store = Store(root, root)
    told = Archive(store).import_from(tmp_path / "whale")
    assert "line 1" in told.refused[0]
    assert {note.text for note in store.list()} == {"one note", "fine"}


def test_a_purged_text_does_not_come_back_by_a_move(tmp_path: Path) -> None:
    """It stays where it lives in the other scope; a move into the scope that forgot it is refused like a new note."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".memory-magic.toml").write_text('id = "0123456789abcdef0123456789abcdef"\n', encoding="utf-8")
    store = Store(tmp_path / "root", folder)
    forgotten = store.remember("the same sentence")
    store.remember("the same sentence", scope="workspace")
    archive = Archive(store)
    run.purge(Access(store), Request(one=forgotten.id))
    with pytest.raises(PurgedTextError):
        archive.promote("the same sentence", to="global", scope="workspace")
    assert [note.scope for note in store.list()] == [store.scopes[1].id]
