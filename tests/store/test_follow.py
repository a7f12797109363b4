"""The index follows the journal: from where it stopped, or from the beginning where that place is no longer true."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from memory_magic.store import follow as follow_module
from memory_magic.store.journal import Journal
from memory_magic.store.journal_format import Draft
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Patch = pytest.MonkeyPatch


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.root / "global" / "MEMORY.md"


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree."""
    assert store.verify().ok
    agree(store)


def agree(store: Store) -> None:
    """Check that replay and files agree."""
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == {
        (note.scope, note.id, note.pinned) for note in store.list("all")
    }


@pytest.fixture
def starts(monkeypatch: Patch) -> list[str]:
    """Note each replay from the beginning."""
    seen: list[str] = []
    real = follow_module.follow_from_start

    def from_start(bench: object) -> None:
        seen.append("start")
        real(bench)  # type: ignore[arg-type]

    monkeypatch.setattr(follow_module, "follow_from_start", from_start)
    return seen


def without_index(root: Path, work: Callable[[Store], object]) -> None:
    """Let somebody else, whose index lies elsewhere, change the store: our index does not see it."""
    kept = root.parent / "kept"
    kept.mkdir()
    for path in root.glob("index.sqlite3*"):
        shutil.move(path, kept / path.name)
    with Store(root) as other:
        other.observe()
        work(other)
    for path in root.glob("index.sqlite3*"):
        path.unlink()
    for path in kept.iterdir():
        shutil.move(path, root / path.name)
    kept.rmdir()


def test_an_index_that_is_level_reads_no_journal(root: Path, starts: list[str], monkeypatch: Patch) -> None:
    """The last record stands where the index left it: nothing is replayed or read."""
    store = Store(root)
    store.remember("one")
    monkeypatch.setattr(Journal, "records", lambda *_: pytest.fail("the journal was read"))
    store.remember("two")
    assert starts == ["start"] * len(starts)
    assert len(starts) <= 1


def test_an_index_that_is_behind_applies_what_it_missed(root: Path, starts: list[str]) -> None:
    """Changes of all kinds by another one arrive, with numbers, dates and authors, from where we stopped."""
    store = Store(root)
    store.remember_many(["one", "two", "three"], by="ana")
    store.close()

    def change(other: Store) -> None:
        other.remember("four", by="bob")
        other.revise("one", "1", evidence="x", by="bob")
        other.retire("two", evidence="x")
        other.pin("three")

    without_index(root, change)
    starts.clear()
    store.remember("five", by="ana")
    assert starts == []
    found = [(note.text, note.pinned, note.n, note.by) for note in store.list()]
    assert found == [
        *(("three", True, 3, "ana"), ("five", False, 8, "ana"), ("1", False, 5, "ana"), ("four", False, 4, "bob")),
    ]
    check(store)


def test_a_cancellation_of_what_was_taken_in_replays_everything(root: Path, starts: list[str]) -> None:
    """A later record that reaches back before our place makes the state before it wrong."""
    store = Store(root)
    store.remember_many(["one", "two"])
    Journal(root / "JOURNAL.md").append([Draft("cancel", {"scope": "global", "cancels": "2"})])
    starts.clear()
    store.observe()
    assert starts == ["start"]
    assert {note.text for note in store.list()} == {"one", "two"}
    check(store)


def test_a_cancellation_of_what_comes_with_it_does_not(root: Path, starts: list[str]) -> None:
    """Both records are new: the note they are about never was."""
    store = Store(root)
    store.remember("one")
    Journal(root / "JOURNAL.md").append(
        [
            Draft("remember", {"scope": "global", "id": "z" * 26, "after": "never"}),
            Draft("cancel", {"scope": "global", "cancels": "2"}),
        ]
    )
    starts.clear()
    store.remember("two")
    assert starts == []
    assert {note.text for note in store.list()} == {"one", "two"}
    check(store)


def test_a_record_that_reaches_into_two_scopes_replays_everything(root: Path, starts: list[str]) -> None:
    """What moves a note to another scope is not followed piece by piece."""
    store = Store(root)
    store.remember("one")
    Journal(root / "JOURNAL.md").append([Draft("promote", {"scope": "global", "to": "global"})])
    starts.clear()
    store.remember("two")
    assert starts == ["start"]
    assert [note.text for note in store.list("all")][:2] == ["two", "one"]


def test_a_journal_put_back_from_a_copy_is_replayed(root: Path, starts: list[str]) -> None:
    """Our place lies beyond its end, or another record stands there: the files win, and writing goes on."""
    store = Store(root)
    store.remember("one")
    shutil.copy(root / "JOURNAL.md", root.parent / "copy")
    store.remember("two")
    shutil.copy(root.parent / "copy", root / "JOURNAL.md")
    starts.clear()
    store.remember("three")
    assert starts == ["start"]
    assert {note.text for note in store.list()} == {"one", "two", "three"}
    agree(store)
    other = Journal(root.parent / "copy")
    other.append([Draft("remember", {"scope": "global", "id": "z" * 26, "after": "x"}) for _ in range(2)])
    shutil.copy(root.parent / "copy", root / "JOURNAL.md")
    store.remember("four")
    assert {note.text for note in store.list()} == {"one", "two", "three", "four"}
    agree(store)


def test_every_scope_is_followed(root: Path, git_repo: Callable[..., Path]) -> None:
    """Records of the workspace arrive with those of global memory, and only in their scope."""
    cwd = git_repo("a")
    store = Store(root, cwd=cwd)
    store.remember("one")
    store.remember("here", scope="workspace")
    store.close()

    def change(_: Store) -> None:
        with Store(root, cwd=cwd) as other:
            other.remember("there", scope="workspace")
            other.remember("two")
            other.retire("here", evidence="x")

    without_index(root, change)
    assert [note.text for note in store.list("workspace")] == ["there"]
    assert [note.text for note in store.list("global")] == ["two", "one"]
    check(store)


def test_foreign_records_are_passed_over(root: Path) -> None:
    """CodeWhale's journal below ours neither counts nor stops anybody."""
    root.mkdir(mode=0o700)
    foreign = "\n- **retire** `1796064039` /home/a/.codewhale/memory/global/MEMORY.md\n  - before: one\n"
    (root / "JOURNAL.md").write_text(foreign, encoding="utf-8")
    store = Store(root)
    store.remember("one")
    store.reindex()
    assert [(note.text, note.n) for note in store.list()] == [("one", 1)]
    check(store)


def test_building_anew_covers_workspaces_that_are_not_seen_here(root: Path, git_repo: Callable[..., Path]) -> None:
    """Reindex reads every scope on disk; the number is that of all notes."""
    Store(root, cwd=git_repo("a")).remember("in a", scope="workspace")
    store = Store(root, cwd=git_repo("b"))
    store.remember("in b", scope="workspace")
    store.remember("for all")
    before = store.list("all")
    assert store.reindex() == 3
    assert store.list("all") == before
    assert len(store.journal()) == 3
