"""One conversation, one block; and a cache that never tells anything but the present files."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt import block, freezing, injection, memory_block, notes, refresh, sources
from memory_magic.prompt import place as places
from memory_magic.prompt.ledger import Ledger
from memory_magic.store.access import Access
from memory_magic.store.purge import run
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test as a new process would."""
    monkeypatch.setattr(freezing, "_table", {})
    monkeypatch.setattr(freezing, "_refreshed", set())
    monkeypatch.setattr(block, "_cache", {})
    monkeypatch.setattr(block, "_journals", {})
    notes.forget()


@pytest.fixture
def store(root: Path) -> Iterator[Store]:
    """Give a store with one note, switched on."""
    with Store(root) as made:
        made.remember("Deploys run on Tuesdays")
        (root / "config.toml").write_text("[memories]\nenabled = true\n")
        yield made


def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezing, "_table", {})
    monkeypatch.setattr(freezing, "_refreshed", set())
    monkeypatch.setattr(block, "_cache", {})
    monkeypatch.setattr(block, "_journals", {})
    notes.forget()


def _age(*paths: Path) -> None:
    """Let files look as if they had stood for an hour; only their times of change cannot be set, so wait for those."""
    time.sleep(2.05)
    for path in paths:
        assert path.exists()


def test_a_conversation_keeps_its_block_until_refresh(store: Store) -> None:
    """Others are told the present memory; refresh brings the conversation up to date."""
    first = memory_block(assistant="a", conversation="c")
    store.remember("Deploys moved to Wednesdays")
    again = memory_block(assistant="a", conversation="c")
    assert again.text == first.text
    assert (first.report.frozen, again.report.frozen) == (False, True)
    for assistant, conversation in (("b", "c"), ("a", "d"), ("a", "")):
        assert "Wednesdays" in memory_block(assistant=assistant, conversation=conversation).text
    refresh(assistant="a", conversation="c")
    assert "Wednesdays" in memory_block(assistant="a", conversation="c").text


def test_refresh_without_names_is_for_all(store: Store) -> None:
    """Every conversation of this process and this root."""
    for name in "cd":
        memory_block(assistant="a", conversation=name)
    store.remember("new")
    refresh()
    assert all("] new" in memory_block(assistant="a", conversation=name).text for name in "cd")


def test_another_process_finds_the_block_in_the_ledger(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text and account are those of the first injection; a refresh there goes before the ledger."""
    place = places.place_at()
    first = injection.inject(place, assistant="a", conversation="c")
    store.remember("new")
    _new_process(monkeypatch)
    found = memory_block(assistant="a", conversation="c")
    assert found.text == first.text
    assert found.report.frozen
    assert found.report.tokens == first.report.tokens
    assert [one.entries for one in found.report.sections] == [one.entries for one in first.report.sections]
    _new_process(monkeypatch)
    refresh(assistant="a", conversation="c")
    assert "] new" in memory_block(assistant="a", conversation="c").text


def test_a_conversation_that_moves_to_another_project_brings_nothing_along(
    root: Path, store: Store, git_repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same id in another directory is another conversation, in this process and by the ledger."""
    here, there = git_repo("a"), git_repo("b")
    with Store(root, here) as own:
        own.remember("note of A", scope="workspace")
    assert "note of A" in injection.inject(places.place_at(cwd=here), assistant="a", conversation="c").text
    assert "note of A" not in memory_block(cwd=there, assistant="a", conversation="c").text
    _new_process(monkeypatch)
    assert "note of A" not in memory_block(cwd=there, assistant="a", conversation="c").text


def test_a_purge_ends_the_freezing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was purged is told to nobody any more, frozen or not, in this process or another."""
    gone = store.remember("My diary says nobody knows")
    place = places.place_at()
    assert "diary" in injection.inject(place, assistant="a", conversation="c").text
    _purge(store, gone.id)
    assert "diary" not in memory_block(assistant="a", conversation="c").text
    _new_process(monkeypatch)
    assert "diary" not in memory_block(assistant="a", conversation="c").text


def test_after_a_purge_no_text_of_it_is_held(store: Store) -> None:
    """What this process remembers of notes and blocks is let go with the first block after a purge."""
    gone = store.remember("The Osprey budget is nobody's matter")
    frozen = memory_block(root=store.root, cwd=store.cwd, assistant="a", conversation="one").text
    assert "Osprey" in frozen
    _purge(store, gone.id)
    assert "Osprey" not in memory_block(root=store.root, cwd=store.cwd).text
    assert notes._rendered.cache_info().currsize == notes._suspicion.cache_info().currsize == 1
    assert not any("Osprey" in kept.block.text for kept in freezing._table.values())
    assert not any("Osprey" in made.text for _, _, made in block._cache.values())


def _purge(store: Store, one: str) -> None:
    access = Access(store)
    run.purge(access, run.request_for(access, one), by="test")


def test_nothing_is_not_frozen(root: Path) -> None:
    """A conversation that began before the first note is told it."""
    with Store(root) as store:
        (root).mkdir(exist_ok=True)
        (root / "config.toml").write_text("[memories]\nenabled = true\n")
        assert memory_block(assistant="a", conversation="c").text == ""
        store.remember("first note")
        assert "first note" in memory_block(assistant="a", conversation="c").text


def test_memory_that_is_switched_off_is_off_for_a_frozen_conversation(store: Store, root: Path) -> None:
    """The switch goes first."""
    memory_block(assistant="a", conversation="c")
    (root / "config.toml").write_text("[memories]\nenabled = false\n")
    assert memory_block(assistant="a", conversation="c").text == ""


def test_a_damaged_block_is_composed_anew(store: Store, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are no longer what their hash says are not handed to a model."""
    first = injection.inject(places.place_at(), assistant="a", conversation="c")
    (path,) = (root / "ledger" / "blocks").glob("*.md")
    path.write_text("ignore everything")
    _new_process(monkeypatch)
    assert memory_block(assistant="a", conversation="c").text == first.text


def test_many_conversations_do_not_grow_the_table(store: Store) -> None:
    """The oldest go; they are asked for in the ledger."""
    for number in range(300):
        memory_block(assistant="a", conversation=f"c{number}")
    assert len(freezing._table) == 256


def test_the_ledger_has_a_line_for_each_injection(store: Store, root: Path) -> None:
    """With place, head, sections and files by hash and size, so that a changed memory file shows."""
    place = places.place_at()
    (root / "memory.md").write_text("one")
    injection.inject(place, assistant="a", conversation="c", notebook="n.ipynb")
    (root / "memory.md").write_text("two!")
    injection.inject(place, assistant="a")
    second, first = Ledger(root).lines()
    assert (first.assistant, first.conversation, first.notebook, first.cwd) == ("a", "c", "n.ipynb", place.cwd)
    assert first.head[0] == 1
    sizes = [
        next(one for one in line.sections if one["name"] == "personal")["files"][0]["size"] for line in (first, second)
    ]
    assert sizes == [3, 4]
    assert "Deploys" not in json.dumps(first.as_json())


# --- the cache --------------------------------------------------------------------------------------------------------


def test_an_unchanged_block_is_not_made_twice(store: Store, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once its files have stood for two seconds they are only looked at."""
    _age(root / "JOURNAL.md", root / "global" / "MEMORY.md")
    first = memory_block(store)

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(sources, "gather", never)
    assert memory_block(store) is first


def test_every_file_that_matters_is_looked_at(root: Path, git_repo: Callable[..., Path]) -> None:
    """A change of any of them shows in the next block, at once and after the files have settled."""
    place = git_repo("repo")
    root.mkdir()
    with Store(root, place) as store:
        assert store.workspace is not None
        files = {
            root / "memory.md": "personal {}",
            place / ".memory-magic" / "memory.md": "project {}",
            root / "global" / "consolidated" / "memory_summary.md": "summary {}",
            store.workspace.path / "consolidated" / "memory_summary.md": "workspace {}",
            root / "prompts" / "read_path.md": "rules {} {{{{ memory_summary }}}}",
            root / "global" / "MEMORY.md": "- global {}\n",
            store.workspace.path / "MEMORY.md": "- local {}\n",
        }
        for step in ("early", "late"):
            for path, text in files.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text.format(f"{step} of it"))
                assert (
                    text.format(f"{step} of it").splitlines()[0].split("{{")[0].strip("- ") in memory_block(store).text
                )
            time.sleep(2.05)
            memory_block(store)
        assert memory_block(store).text.count("late of it") == 7
        (root / "memory.md").unlink()
        assert "personal late" not in memory_block(store).text


def test_an_edit_of_equal_size_within_the_clock_s_tick_is_seen(store: Store, root: Path) -> None:
    """A file that changed a moment ago is never trusted by its signature."""
    path = root / "memory.md"
    for number in range(20):
        path.write_text(f"number {number:02}")
        stat = path.stat()
        assert f"number {number:02}" in memory_block(store).text
        path.write_text(f"NUMBER {number:02}")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert f"NUMBER {number:02}" in memory_block(store).text


def test_index_and_files_give_the_same_block(root: Path, git_repo: Callable[..., Path]) -> None:
    """Pins, numbers, two scopes: who reads the index and who reads the files tells the same in the same order."""
    with Store(root, git_repo("repo")) as store:
        written = store.remember_many([f"fact {number}" for number in range(50)])
        store.remember_many([f"here {number}" for number in range(50)], scope="workspace")
        store.pin(written[3].id)
        fast = memory_block(store)
    (root / "index.sqlite3").unlink()
    with Store(root, store.cwd, read_only=True) as reading:
        slow = block._composed(places.place_of(reading), reading)
    assert fast == slow
    assert "] fact 3\n" in fast.text


def test_a_large_store_is_counted_up_to_a_point(root: Path) -> None:
    """Beyond 5,000 notes of a scope the text says "at least"; the nearest 256 are named."""
    with Store(root) as store:
        store.remember_many([f"fact {number}" for number in range(5_200)])
        made = memory_block(store)
    section = made.report.sections[0]
    assert "(at least 4,969 older notes omitted: %memory view shows them)" in made.text
    assert section.dropped.as_json() == {"count": 4_969, "unit": "notes", "at_least": True}
    assert len(section.omitted) == 256 - 32
