"""Notes straight from the index: only where it agrees with every file, and never a file beside it."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt.index_file import connect, index_place, journal_head
from memory_magic.prompt.index_heads import open_index
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def store(root: Path) -> Store:
    """Give a closed store with three notes."""
    with Store(root) as made:
        made.remember_many(["one", "two", "three"])
    return made


def _texts(store: Store) -> list[str] | None:
    found = open_index(index_place(store.root, ""), store.scopes)
    if found is None:
        return None
    try:
        return [note.text for head in found.first(10) for note in head.notes]
    finally:
        found.close()


def test_a_level_index_is_read(store: Store) -> None:
    """Newest first, as the store lists them."""
    assert _texts(store) == [note.text for note in store.list()] == ["three", "two", "one"]


def test_an_edited_file_is_not_answered_from_the_index(store: Store) -> None:
    """Neither at once nor later; a file that was touched and has the same bytes is."""
    path = store.scopes[0].memory_file
    data = path.read_bytes()
    path.write_bytes(data + b"- four\n")
    assert _texts(store) is None
    path.write_bytes(data)
    assert _texts(store) == ["three", "two", "one"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda place: place.unlink(),
        lambda place: place.write_bytes(b"no database at all, but long enough to look like one" * 100),
        lambda place: place.write_bytes(b""),
        lambda place: sqlite3.connect(place).execute("PRAGMA user_version = 1").connection.close(),
        lambda place: os.truncate(place, 8_192),
    ],
    ids=["gone", "junk", "empty", "another format", "cut"],
)
def test_without_a_sound_index_the_store_is_asked(damage: Callable[[Path], object], store: Store) -> None:
    """No error, no guess."""
    place = store.root / "index.sqlite3"
    for end in ("-wal", "-shm"):
        place.with_name(place.name + end).unlink(missing_ok=True)
    damage(place)
    assert _texts(store) is None
    assert journal_head(place, 100) is None


def test_a_missing_memory_file_is_level_with_an_index_that_knows_none(store: Store) -> None:
    """A workspace that nobody wrote to yet does not make the index useless."""
    assert open_index(index_place(store.root, ""), store.scopes) is not None
    (store.root / "global" / "MEMORY.md").unlink()
    assert _texts(store) is None


def test_reading_makes_no_file(store: Store) -> None:
    """SQLite's own files beside the database would be a trace."""
    place = store.root / "index.sqlite3"
    for end in ("-wal", "-shm"):
        place.with_name(place.name + end).unlink(missing_ok=True)
    before = sorted(path.name for path in store.root.iterdir())
    assert _texts(store)
    assert sorted(path.name for path in store.root.iterdir()) == before


def test_the_place_of_the_index_is_the_store_s(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same setting to the same file; an index in memory is none for others."""
    monkeypatch.setenv("MEMORY_MAGIC_INDEX_PATH", str(tmp_path / "elsewhere.sqlite3"))
    with Store(root) as store:
        store.remember("one")
        place = index_place(store.root, store.settings.index_path)
    assert place is not None
    assert place.exists()
    assert index_place(root, ":memory:") is None
    assert connect(None) is None


def test_the_head_is_the_journal_s(store: Store) -> None:
    """Only while the index has followed the journal to its end."""
    size = (store.root / "JOURNAL.md").stat().st_size
    last = store.journal()[-1]
    assert journal_head(index_place(store.root, ""), size) == (last.n, last.chain)
    assert journal_head(index_place(store.root, ""), size + 1) is None


def test_short_ids_tell_visible_notes_apart(store: Store) -> None:
    """As the store shows them."""
    found = open_index(index_place(store.root, ""), store.scopes)
    assert found is not None
    for note in store.list():
        assert found.short_id(note.id) == store.short_id(note.id)
    found.close()


def test_an_hour_later_the_signature_is_enough(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A settled file is not read at all."""
    plain = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: plain() + 3_600_000_000_000)

    def never(*_: object) -> int:
        raise AssertionError("the file was opened")

    monkeypatch.setattr(os, "open", never)
    assert _texts(store) == ["three", "two", "one"]
