"""Every file under a root is of a place that says what a purge does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memory_magic.store.access import Access
from memory_magic.store.purge import places, run
from memory_magic.store.purge.plan import Request
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

HEX = "ab" * 32
OURS = {
    "global/MEMORY.md": places.NOTES,
    f"workspace/{HEX}/MEMORY.md": places.NOTES,
    f"workspace/{HEX}/scope.toml": places.HAND,
    "JOURNAL.md": places.JOURNAL,
    "memory.md": places.HAND,
    "config.toml": places.HAND,
    "prompts/stage_one_system.md": places.HAND,
    ".gitignore": places.HAND,
    ".stignore": places.HAND,
    "global/stage_one/2026-01-01T00-00-00-0123abcd-a.md": places.LINES,
    "unscoped/0123456789abcdef/stage_one/undated-0123abcd.md": places.LINES,
    f"workspace/{HEX}/consolidated/skills/deploy/SKILL.md": places.LINES,
    "global/consolidated/MEMORY.md": places.LINES,
    "global/generations/3/memory_summary.md": places.LINES,
    "ledger/2026-11.jsonl": places.LEDGER,
    f"ledger/blocks/{HEX}.md": places.LEDGER,
    "index.sqlite3": places.CACHE,
    "index.sqlite3-wal": places.CACHE,
    "state.sqlite3-shm": places.CACHE,
    "tombstones.md": places.MARKS,
    ".purge.json": places.MARKS,
    ".lock": places.MARKS,
    ".lock.holder": places.MARKS,
    "global/.MEMORY.md.12.0123456789abcdef.new": places.TEMP,
    "global/.MEMORY.md.12-14.0123456789abcdef.99-0a0b.old": places.TEMP,
    "..purge.json.123.tmp": places.TEMP,
    ".JOURNAL.md.123.tmp": places.TEMP,
    "global/stage_one/.x.md.123.tmp": places.TEMP,
    ".exchange-probe.12.a": places.TEMP,
    "global/MEMORY.md~": places.COPY,
    "global/.MEMORY.md.swp": places.COPY,
    "global/.MEMORY.md.un~": places.COPY,
    "global/MEMORY (conflicted copy 2026-11-30).md": places.COPY,
    "MEMORY 2.md": places.COPY,
    "global/notes.txt": places.UNKNOWN,
}


@pytest.mark.parametrize("relative", OURS)
def test_every_kind_of_file_has_its_place(relative: str) -> None:
    """Each name that the contract lists, and each copy that an editor makes, is known."""
    assert places.place_of(relative).kind == OURS[relative]


def test_a_used_root_holds_no_file_without_a_place(root: Path, git_repo: object) -> None:
    """After writes, a purge and an unpurge, no file of ours is of no place."""
    assert callable(git_repo)
    store = Store(root, git_repo())
    one = store.remember("Deploys run on Fridays").id
    store.remember("The build needs Node 22", scope="workspace")
    store.verify()
    run.purge(Access(store), Request(one=one))
    run.unpurge(Access(store), "Deploys run on Fridays")
    store.findings()
    assert [found.relative for found in places.walk(root) if found.place is places.OTHER] == []


def test_a_file_of_no_place_is_searched_and_told(root: Path) -> None:
    """A strange file that holds the text is named with its line."""
    store = Store(root)
    one = store.remember("Deploys run on Fridays").id
    (root / "global" / "notes.txt").write_text("first\nDeploys run\n  on Fridays\n")
    done = run.purge(Access(store), Request(one=one))
    assert [(trace.path, trace.line, trace.kind) for trace in done.proof.traces] == [
        (str(root / "global" / "notes.txt"), 2, places.UNKNOWN)
    ]


def test_a_later_registration_wins() -> None:
    """A room that comes later may say better what becomes of its files."""
    before = places.registered()
    try:
        place = places.register("rules files", places.HAND, r"global/rules\.md")
        assert places.place_of("global/rules.md") is place
    finally:
        places._places[:] = before
