"""Tombstones forbid exactly what was purged, say nothing of it, and survive the loss of either copy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import MemoryMagicError, NoSuchNoteError
from memory_magic.store.access import Access
from memory_magic.store.archive import Archive
from memory_magic.store.export import export
from memory_magic.store.importing import import_from
from memory_magic.store.purge import run
from memory_magic.store.purge import tombstones as stones
from memory_magic.store.purge.plan import Request
from memory_magic.store.purge.screen import PurgedTextError, forbidden_in
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

FRIDAYS = "Deploys run on Fridays at noon"


def purged(root: Path, **options: bool) -> Store:
    """Return a store from which a sentence was purged."""
    store = Store(root)
    store.remember(FRIDAYS)
    run.purge(Access(store), Request(text=FRIDAYS, **options))  # type: ignore[arg-type]
    return store


def test_file_has_its_format(root: Path) -> None:
    """First the salt, then a line for each tombstone with the number of its purge."""
    purged(root, forbid=True)
    lines = (root / "tombstones.md").read_text().splitlines()
    assert re.fullmatch(r"salt: [0-9a-f]{32}", lines[0])
    assert re.fullmatch(r"- [0-9a-f]{32} n=2", lines[1])
    assert re.fullmatch(rf"- contains: [0-9a-f]{{32}} length={len(FRIDAYS)} n=2", lines[2])
    assert stones.parse((root / "tombstones.md").read_text()).render().splitlines() == lines


@pytest.mark.parametrize("text", [FRIDAYS, f"  {FRIDAYS.replace(' ', '  ')}", FRIDAYS.replace(" ", "\n")])
def test_wrapped_text_is_the_same_text(root: Path, text: str) -> None:
    """White space does not let a purged text in again."""
    with pytest.raises(PurgedTextError, match=r"purged on \d{4}-\d\d-\d\d \(record 2\).*npurge"):
        purged(root).remember(text)


def test_neither_revise_nor_a_batch_brings_it_back(root: Path) -> None:
    """Every way into a memory file asks."""
    store = purged(root)
    other = store.remember("Deploys are on hold")
    with pytest.raises(PurgedTextError):
        store.revise(other.id, FRIDAYS, evidence="said so")
    with pytest.raises(PurgedTextError):
        store.remember_many(["one", FRIDAYS])
    assert [note.text for note in store.list()] == ["Deploys are on hold"]


def test_lost_file_comes_back_from_the_journal(root: Path) -> None:
    """Purge records hold a second copy: a deleted tombstones.md changes nothing."""
    store = purged(root)
    before = (root / "tombstones.md").read_text()
    (root / "tombstones.md").unlink()
    with pytest.raises(PurgedTextError):
        store.remember(FRIDAYS)
    assert (root / "tombstones.md").read_text() == before


def test_lost_journal_leaves_the_file(root: Path) -> None:
    """Without its journal a root still knows what was purged."""
    store = purged(root)
    store.close()
    (root / "JOURNAL.md").unlink()
    with Store(root) as again, pytest.raises(PurgedTextError):
        again.remember(FRIDAYS)


def test_unpurge_allows_it_again(root: Path) -> None:
    """The text may be remembered again, even where an old tombstones.md is put back, until it is purged anew."""
    store = purged(root)
    old = (root / "tombstones.md").read_text()
    assert run.unpurge(Access(store), FRIDAYS).marks == 1
    (root / "tombstones.md").write_text(old)
    store.observe()
    one = store.remember(FRIDAYS).id
    assert store.verify().ok
    assert {scope: list(notes) for scope, notes in replay(store.journal()).items() if notes} == {"global": [one]}
    run.purge(Access(store), Request(text=FRIDAYS))
    with pytest.raises(PurgedTextError):
        store.remember(FRIDAYS)


def test_unpurge_by_number(root: Path) -> None:
    """A purge whose text nobody knows any more is taken back by the number of its record."""
    store = purged(root, forbid=True)
    assert run.unpurge(Access(store), "#2").marks == 2
    store.remember(FRIDAYS)


def test_unpurge_of_what_is_not_forbidden(root: Path) -> None:
    """A text without a tombstone is told so, and nothing is journalled."""
    store = purged(root)
    with pytest.raises(NoSuchNoteError, match="no purge forbids"):
        run.unpurge(Access(store), "something else")
    assert [record.action for record in store.journal()] == ["remember", "purge"]


def test_typed_back_text_is_a_note_again_after_unpurge(root: Path) -> None:
    """What was kept out of sight shows at the next look."""
    store = purged(root)
    with (root / "global" / "MEMORY.md").open("a") as file:
        file.write(f"- {FRIDAYS}\n")
    assert store.list() == []
    run.unpurge(Access(store), FRIDAYS)
    assert [note.text for note in store.list()] == [FRIDAYS]
    assert store.journal()[-1].fields["after"] == FRIDAYS


def test_another_machines_tombstones_count(root: Path) -> None:
    """A line that a sync tool brought forbids as much as one of our own purges."""
    there = stones.Tombstones(stones.new_salt()).with_marks([], 0)
    there = there.with_marks([stones.text_mark(there.salt, FRIDAYS)], 7)
    root.mkdir()
    stones.save(root, there)
    with pytest.raises(PurgedTextError, match="record 7"):
        Store(root).remember(FRIDAYS)


@pytest.mark.parametrize("text", ["", "salt: no\n- x", "- 0123456789abcdef0123456789abcdef n=1\n", "\x00\xff"])
def test_damaged_file_forbids_nothing(text: str) -> None:
    """A file that is none of ours is no error and forbids nothing."""
    assert not stones.parse(text)


def test_no_tombstones_cost_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing was purged no text is ever hashed with scrypt."""
    monkeypatch.setattr(stones, "text_mark", None)
    store = Store(root)
    store.remember(FRIDAYS)
    assert store.get(FRIDAYS).text == FRIDAYS


def test_an_export_made_before_brings_nothing_back(root: Path, tmp_path: Path) -> None:
    """An import skips and counts what was purged here; an undo or restore is refused."""
    store = Store(root)
    first = store.remember(FRIDAYS)
    store.remember("The cat is called Mimi")
    export(Access(store), tmp_path / "all.jsonl")
    run.purge(Access(store), Request(one=first.id))
    told = import_from(Access(store), tmp_path / "all.jsonl", forbidden=forbidden_in(root))
    assert (told.tombstoned, told.added, told.same) == (1, 0, 1)
    assert [note.text for note in store.list()] == ["The cat is called Mimi"]
    with pytest.raises(PurgedTextError):  # also where nobody asked beforehand: the write path asks
        import_from(Access(store), tmp_path / "all.jsonl")
    with pytest.raises(MemoryMagicError):
        Archive(store).undo(1)
    with pytest.raises(MemoryMagicError):
        Archive(store).undo(3)
    assert store.verify().ok
