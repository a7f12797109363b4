"""Where memory is looked at from, and the state of the files that a block depends on.

A `Place` is what one directory sees of one root. `paths` lists every file on which the block depends: the same list is
read (`sources.gather`) and looked at (`look`), so that no cache can miss one. Scopes and settings are part of the
place and not of the files: who holds a place for long sees them as they were, like a `Store` that is open.

A signature that is equal means equal bytes only where the file has stood for two seconds; `Seen.settled` says so.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic import settings as settings_module
from memory_magic.store.scope import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_magic.settings import Settings
    from memory_magic.store.records import Scope
    from memory_magic.store.store import Store

Signature = tuple[int, int, int, int, int]
NOT_THERE: Final[Signature] = (0, 0, 0, 0, 0)
TRUSTED_AFTER_NS: Final = 2_000_000_000
"""As `store.files`: a change within a clock tick of the look cannot be told from none."""

PERSONAL_FILE = "memory.md"
PROJECT_FILE = "memory.md"
SUMMARY_FILE = "consolidated/memory_summary.md"
TOMBSTONES = "tombstones.md"
OVERRIDE = "prompts/read_path.md"
_UNSCOPED_DIGITS = 16


class Place(NamedTuple):
    """What *cwd* sees of the store at *root*; *project* is None where there is none, *off* where it wants no memory."""

    root: Path
    cwd: str
    scopes: tuple[Scope, ...]
    project: Path | None
    off: bool
    settings: Settings

    @property
    def is_on(self) -> bool:
        """Tell whether memory may reach a prompt here."""
        return self.settings.enabled and self.settings.use_memories and not self.off


class SummaryPlace(NamedTuple):
    """A consolidated summary: its name in the report, its path, and its name without the root."""

    name: str
    path: str
    shown: str


def place_at(root: str | Path | None = None, cwd: str | Path | None = None) -> Place:
    """Return what *cwd* (the present directory) sees of the store at *root* (the default one); files are read anew."""
    where = settings_module.find_root(root)
    directory = Path(cwd) if cwd is not None else Path.cwd()
    found = resolve(directory, where)
    settings = settings_module.load(where)
    return Place(where, os.path.realpath(directory), found.scopes, found.project, found.memory_off, settings)


def place_of(store: Store, settings: Settings | None = None) -> Place:
    """Return what an open *store* sees; its scopes stay as they were when it was opened."""
    found = store._resolution  # noqa: SLF001 -- resolving again would cost ten times as much as the rest
    cwd = os.path.realpath(store.cwd)
    return Place(store.root, cwd, store.scopes, found.project, found.memory_off, settings or store.settings)


# --- files ------------------------------------------------------------------------------------------------------------


def project_path(place: Place) -> str:
    """Return where the project's memory file would stand, an empty text without a project."""
    if place.project is None:
        return ""
    return os.path.join(place.project, place.settings.cwd_dir, PROJECT_FILE)  # noqa: PTH118 -- on every prompt


def summary_places(place: Place) -> list[SummaryPlace]:
    """Return the summaries, workspace (or what was extracted from this very directory) before global."""
    scoped = [("workspace", scope.path, scope.id) for scope in place.scopes if not scope.is_global]
    if not scoped:
        digest = hashlib.sha256(os.fsencode(place.cwd)).hexdigest()[:_UNSCOPED_DIGITS]
        scoped = [("unscoped", place.root / "unscoped" / digest, f"unscoped/{digest}")]
    scoped += [("global", scope.path, scope.id) for scope in place.scopes if scope.is_global]
    return [SummaryPlace(name, f"{path}/{SUMMARY_FILE}", f"{shown}/{SUMMARY_FILE}") for name, path, shown in scoped]


def paths(place: Place) -> tuple[str, ...]:
    """Return every file on which the block depends (the index, which only repeats them, apart)."""
    return tuple(_paths(place))


def _paths(place: Place) -> Iterator[str]:
    yield f"{place.root}/{TOMBSTONES}"
    yield f"{place.root}/JOURNAL.md"
    yield f"{place.root}/{PERSONAL_FILE}"
    yield f"{place.root}/{OVERRIDE}"
    if project := project_path(place):
        yield project
    for one in summary_places(place):
        yield one.path
    for scope in place.scopes:
        yield str(scope.memory_file)


class Seen(NamedTuple):
    """The signatures of some files; *settled*: none of them changed so recently that a signature could deceive."""

    signatures: tuple[Signature, ...]
    settled: bool


def look(names: tuple[str, ...]) -> Seen:
    """Return the present signatures of *names*."""
    found = tuple([signature(name) for name in names])
    now = time.time_ns()
    return Seen(found, all(one == NOT_THERE or is_settled(one, now) for one in found))


def signature(path: str) -> Signature:
    """Return what tells two states of a file apart without reading it; links are followed."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- on every prompt
    except (OSError, ValueError):
        return NOT_THERE
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def is_settled(one: Signature, now_ns: int) -> bool:
    """Tell whether a file has stood long enough that an equal signature means equal bytes."""
    return os.name == "posix" and now_ns - one[4] > TRUSTED_AFTER_NS
