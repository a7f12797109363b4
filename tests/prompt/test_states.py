"""A block that the ledger holds for the present state is not made again, and for no other state is it ever taken."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt import block, injection, sources, states
from memory_magic.prompt.ledger import Ledger
from memory_magic.prompt.place import place_at
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def settled(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a root with a note and a memory file, as if both had stood for a while."""
    with Store(root) as store:
        store.remember("Deploys run on Tuesdays")
    (root / "config.toml").write_text("[memories]\nenabled = true\n")
    (root / "memory.md").write_text("I like tabs")
    plain = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: plain() + 10_000_000_000)
    return root


def _never(*_: object) -> None:
    raise AssertionError("made again")


def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block, "_cache", {})


def test_an_unchanged_memory_is_answered_from_the_ledger(settled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes and the same account, without reading one file; and a line for this injection as well."""
    first = injection.inject(place_at(), assistant="a")
    _new_process(monkeypatch)
    monkeypatch.setattr(sources, "gather", _never)
    again = injection.inject(place_at(), assistant="b")
    assert again.text == first.text
    assert [(one.name, one.used, one.entries, one.files) for one in again.report.sections] == [
        (one.name, one.used, one.entries, one.files) for one in first.report.sections
    ]
    newer, older = Ledger(settled).lines()
    assert newer.sections == older.sections
    assert newer.block == older.block


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "memory.md").write_text("I like TABS"),
        lambda root: (root / "global" / "MEMORY.md").write_text("- another note\n"),
        lambda root: (root / "config.toml").write_text("[memories]\nenabled = true\nnotes_entries = 0\n"),
        lambda root: (root / "memory.md").unlink(),
        lambda root: next((root / "ledger" / "blocks").glob("*.md")).write_text("forged"),
        lambda root: next((root / "ledger" / "blocks").glob("*.md")).unlink(),
        lambda root: os.truncate(next((root / "ledger").glob("*.jsonl")), 100),
    ],
    ids=["personal", "notes", "setting", "removed", "block forged", "block gone", "line torn"],
)
def test_any_change_makes_the_block_anew(
    change: Callable[[Path], object], settled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told is what a reading of all files gives."""
    injection.inject(place_at(), assistant="a")
    change(settled)
    _new_process(monkeypatch)
    made = injection.inject(place_at(), assistant="a")
    _new_process(monkeypatch)
    assert made.text == block.fresh_block(place_at()).text
    assert made.text
    assert "forged" not in made.text


def test_the_state_differs_by_place_settings_and_code(
    settled: Path, git_repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another directory, another setting, other code: another state; the same again: the same."""
    here = states.state_of(place_at())
    assert here == states.state_of(place_at())
    assert here
    assert states.state_of(place_at(cwd=git_repo("repo"))) != here
    monkeypatch.setenv("MEMORY_MAGIC_NOTES_ENTRIES", "5")
    assert states.state_of(place_at()) != here
    monkeypatch.delenv("MEMORY_MAGIC_NOTES_ENTRIES")
    monkeypatch.setattr(states, "_code", lambda: "newer")
    assert states.state_of(place_at()) != here


def test_what_changed_a_moment_ago_has_no_state(root: Path) -> None:
    """An edit within the clock's tick could hide behind an equal signature: nothing is taken from the ledger."""
    with Store(root) as store:
        store.remember("one")
    (root / "config.toml").write_text("[memories]\nenabled = true\n")
    assert states.state_of(place_at()) == ""
    made = injection.inject(place_at(), assistant="a")
    (line,) = Ledger(root).lines()
    assert made.text
    assert not any("files" in section for section in line.sections)


def test_the_block_of_another_repository_is_never_taken(
    settled: Path, git_repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interleaved prompts of two projects each find their own."""
    here, there = git_repo("a"), git_repo("b")
    for name, place in (("A", here), ("B", there)):
        with Store(settled, place) as store:
            store.remember(f"note of {name}", scope="workspace")
    for _ in range(3):
        for name, other, place in (("A", "B", here), ("B", "A", there)):
            _new_process(monkeypatch)
            text = injection.inject(place_at(cwd=place), assistant="a").text
            assert f"note of {name}" in text
            assert f"note of {other}" not in text
    monkeypatch.setattr(sources, "gather", _never)
    _new_process(monkeypatch)
    assert "note of A" in injection.inject(place_at(cwd=here), assistant="a").text


def test_a_conversation_begins_with_the_state_s_block(settled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first prompt need not make it either; later ones keep it while others see the change."""
    first = injection.inject(place_at(), assistant="a")
    _new_process(monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(sources, "gather", _never)
        assert injection.inject(place_at(), assistant="a", conversation="c").text == first.text
    (settled / "memory.md").write_text("I like spaces")
    _new_process(monkeypatch)
    assert injection.inject(place_at(), assistant="a", conversation="c").text == first.text
    _new_process(monkeypatch)
    assert "spaces" in injection.inject(place_at(), assistant="a").text
