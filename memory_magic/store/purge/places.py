"""Every part of a root that keeps text, and what a purge does with each: a registry, so that none is forgotten.

A place says which files are its own and what becomes of them: *notes* and *journal* are rewritten by modules of their
own, *lines* and *ledger* lose what holds the text, *cache* is deleted whole, *temp* are left-overs of a crash,
*marks* hold no text that could be read, *hand* is never ours to change: listed, not erased. *copy* files are made by
editors and sync tools: searched, listed, and deleted only when a person says so. A file of no place is searched and
reported, too, and a test fails where one of ours is of none.

Paths here are relative to the root, with `/`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_magic.store.doctor import LOOK_ALIKE

if TYPE_CHECKING:
    from collections.abc import Iterator

NOTES, JOURNAL, LINES, LEDGER = "notes", "journal", "lines", "ledger"
CACHE, TEMP, MARKS, HAND, COPY, UNKNOWN = "cache", "temp", "marks", "hand", "copy", "unknown"

_SCOPE: Final = r"(?:global|workspace/[0-9a-f]{64}|unscoped/[^/]+)"
UNPROVABLE: Final = frozenset({".git", ".hg", ".svn", ".stversions", ".snapshot", ".snapshots", ".dropbox.cache"})
"""Folders of version control, sync tools and snapshots: what they keep cannot be told from outside."""


@dataclass(frozen=True, slots=True)
class Place:
    """One part of a root: its *name* for people, what becomes of it (*kind*), which files are its own."""

    name: str
    kind: str
    pattern: re.Pattern[str]

    def owns(self, relative: str) -> bool:
        """Tell whether the file at *relative* is of this place."""
        return self.pattern.fullmatch(relative) is not None


_places: list[Place] = []


def register(name: str, kind: str, pattern: str) -> Place:
    """Add a place; a later one wins over an earlier one that has the same files."""
    place = Place(name, kind, re.compile(pattern))
    _places.insert(0, place)
    return place


def registered() -> tuple[Place, ...]:
    """Return the places, last registered first."""
    return tuple(_places)


OTHER: Final = Place("other files", UNKNOWN, re.compile(r".*", re.DOTALL))


def place_of(relative: str) -> Place:
    """Return the place that the file at *relative* is of; `OTHER` for one that nobody knows."""
    return next((place for place in _places if place.owns(relative)), OTHER)


register("notes", NOTES, r"(?:global|workspace/[0-9a-f]{64})/MEMORY\.md")
register("journal", JOURNAL, r"JOURNAL\.md")
register("extracted sessions", LINES, _SCOPE + r"/stage_one/[^/]+\.md")
register("consolidated memory", LINES, _SCOPE + r"/consolidated/.+")
register("earlier generations", LINES, _SCOPE + r"/generations/.+")
register("ledger of what was injected", LEDGER, r"ledger/[^/]+\.jsonl")
register("injected blocks", LEDGER, r"ledger/blocks/[0-9a-f]{64}\.md")
register("lock of the ledger", MARKS, r"ledger/\.lock")
register("what is wrong with the ledger", CACHE, r"\.ledger\.problem")
register("search index", CACHE, r"index\.sqlite3(?:-wal|-shm|-journal)?")
register("job queue", CACHE, r"state\.sqlite3(?:-wal|-shm|-journal)?")
register("tombstones", MARKS, r"tombstones\.md")
register("plan of a purge", MARKS, r"\.purge\.json")
register("lock", MARKS, r"\.lock(?:\.holder|\.soft)?")
register("settings", HAND, r"config\.toml|\.gitignore|\.stignore|.+/scope\.toml")
register("what connect wrote", HAND, r"connections\.json")
register("prompts", HAND, r"prompts/.+")
register("personal memory file", HAND, r"memory\.md")
register(
    "copies by editors and sync tools", COPY, rf"(?i:(?:.*/)?(?:{LOOK_ALIKE.pattern.removeprefix('(?i)')}|[^/]*\.un~))"
)
register(
    "temp files",
    TEMP,
    r"(?:.*/)?(?:\.MEMORY\.md\..*\.(?:new|old|part|kept)|\..+\.\d+\.tmp|\.exchange-probe\.\d+\.[ab])",
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a root: its *path*, where that is below the root, the place that it is of."""

    path: Path
    relative: str
    place: Place


def walk(root: Path) -> Iterator[Found]:
    """Stream every file of *root*; a link to a file counts as the file, links to folders are not followed."""
    for directory, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in UNPROVABLE)
        for name in sorted(names):
            path = Path(directory, name)
            relative = path.relative_to(root).as_posix()
            yield Found(path, relative, place_of(relative))


def unprovable(root: Path) -> list[Path]:
    """Return the folders in and above a root that may keep earlier states of it."""
    inside = [
        Path(directory, name) for directory, folders, _ in os.walk(root) for name in folders if name in UNPROVABLE
    ]
    above = [parent / name for parent in root.resolve().parents for name in sorted(UNPROVABLE)]
    return [*sorted(inside), *(path for path in above if path.is_dir())]
