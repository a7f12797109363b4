"""The two ways to the index, and a store that goes on where SQLite cannot be used."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import StoreAccessError
from memory_magic.store.index import DamagedIndexError, Index
from memory_magic.store.indexes import Indexes
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def indexes(root: Path) -> Indexes:
    """Give the ways to an index that does not exist yet."""
    return Indexes(root / "index.sqlite3", read_only=False)


def put(index: Index, value: object) -> None:
    """Keep a value."""
    with index.transaction():
        index.set_meta("value", value)


def test_a_reader_makes_no_database(indexes: Indexes, root: Path) -> None:
    """There is nothing to read before somebody has written."""
    assert indexes.reading() is None
    assert not root.exists()
    put(indexes.writing(), 1)
    reader = indexes.reading()
    assert reader is not None
    assert reader.read_only
    assert reader.meta("value") == 1


def test_a_damaged_database_is_deleted_by_the_writer_alone(indexes: Indexes, root: Path) -> None:
    """The reader is told, the writer starts anew."""
    put(indexes.writing(), 1)
    indexes.close()
    (root / "index.sqlite3").write_bytes(b"this is no database" * 400)
    reader = indexes.reading()
    assert reader is not None
    with pytest.raises(DamagedIndexError):
        reader.check()
    assert indexes.writing().meta("value") is None
    assert indexes.reading() is reader
    assert reader.meta("value") is None
    assert indexes.fallback == ""


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), StoreAccessError("No space left")])
def test_a_database_that_cannot_be_used_is_replaced_by_one_in_memory(
    indexes: Indexes, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The store says so in words and goes on; reader and writer then share the one in memory."""

    def refuse(self: Index) -> None:
        if self.path is not None:
            raise error

    monkeypatch.setattr(Index, "check", refuse)
    index = indexes.writing()
    assert index.path is None
    assert "cannot be used" in indexes.fallback
    assert str(error) in indexes.fallback
    put(index, 1)
    assert indexes.reading() is indexes.writing() is index


def test_a_directory_in_the_place_of_the_database_stops_nobody(root: Path) -> None:
    """Notes are kept and found; each reply says that the files are read instead."""
    (root / "index.sqlite3").mkdir(parents=True)
    store = Store(root)
    assert "cannot be used" in store.remember("one").notices[0]
    store.remember("two")
    assert [note.text for note in store.list()] == ["two", "one"]
    assert store.search("one").fallback
    assert store.retire("one", evidence="x").status == "saved"
    assert store.get("two").by == "python"
    assert store.verify().ok
    assert [note.text for note in Store(root).list()] == ["two"]
    assert [note.text for note in Store(root, read_only=True).list()] == ["two"]


def test_a_discarded_database_is_built_again(indexes: Indexes, root: Path) -> None:
    """Discarding twice, or before the first use, does no harm."""
    indexes.discard()
    put(indexes.writing(), 1)
    assert indexes.reading() is not None
    indexes.discard()
    assert not (root / "index.sqlite3").exists()
    assert indexes.writing().meta("value") is None


def test_an_index_in_memory_is_there_after_the_first_write_and_goes_with_the_store() -> None:
    """Without a path nothing is read before something was written, and closing forgets."""
    indexes = Indexes(None, read_only=False)
    assert indexes.reading() is None
    put(indexes.writing(), 1)
    reader = indexes.reading()
    assert reader is not None
    assert reader.meta("value") == 1
    indexes.close()
    assert indexes.reading() is None
    assert indexes.writing().meta("value") is None
    indexes.close_reading()


def test_a_store_without_an_index_file_answers_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status, search and the last verify need no file; nothing of an index is on disk."""
    monkeypatch.setenv("MEMORY_MAGIC_INDEX_PATH", ":memory:")
    store = Store(root)
    assert (store.status().index_notes, store.status().index_fresh) == (0, False)
    store.remember("one")
    store.verify()
    status = store.status()
    assert (status.index_notes, status.index_fresh, status.journal_records) == (1, True, 1)
    assert status.verified is not None
    assert not list(root.glob("index*"))
    assert [note.text for note in Store(root, read_only=True).list()] == ["one"]
