"""The proof that nothing is left, and an honest list of what it cannot reach (store_rules 1).

Every file under the root, and what a link named MEMORY.md leads to, is searched after decoding and unescaping, folded
as texts are compared, for texts and for ids. What still holds one is told with file and line. Copies by editors and
sync tools are searched raw as well, for they may be no text; each is named. Folders of version control and snapshots
are named as *cannot be proven*. Outside the root stands what a purge never reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files
from memory_magic.store.bench import resolved
from memory_magic.store.purge import places
from memory_magic.store.purge.plan import scopes_of_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memory_magic.store.purge.search import Needles

OUTSIDE: Final = (
    "notebooks (the cell and its output) and their checkpoints",
    "the history of IPython",
    "the assistants' own transcripts and spill files",
    "git history, backups, snapshots and what a sync service keeps",
    "blocks of the disk that were written over",
)
"""What a purge cannot reach, in words."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A place that still holds a purged text or id; *line* 0: a file without lines, or its name."""

    path: str
    line: int
    place: str
    kind: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What the search found: *traces*, *copies* by other programs, folders that *cannot* be proven."""

    files: int
    traces: tuple[Trace, ...] = ()
    copies: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()


def search(root: Path, needles: Needles, beside: Iterable[Path] = ()) -> Proof:
    """Search every file under *root*, and further files *beside* it that can be seen."""
    traces: list[Trace] = []
    copies: list[str] = []
    count = 0
    for found in _all_files(root, beside):
        count += 1
        if found.place.kind == places.COPY:
            copies.append(str(found.path))
        traces += _traces(found, needles)
    return Proof(count, tuple(traces), tuple(copies), tuple(str(path) for path in places.unprovable(root)))


def _all_files(root: Path, beside: Iterable[Path]) -> Iterator[places.Found]:
    seen = set()
    for found in places.walk(root):
        seen.add(resolved(found.path))
        yield found
    # a link that leads out of the root was read above; copies that an editor left beside its target were not
    for scope in scopes_of_root(root):
        target = Path(resolved(scope.memory_file))
        for path in sorted(target.parent.glob(".MEMORY.md.*")):
            if resolved(path) not in seen:
                yield places.Found(path, path.name, places.place_of(path.name))
    for path in beside:
        if path.is_file():
            yield places.Found(path, path.name, places.Place("files of the project", places.HAND, places.OTHER.pattern))


def _traces(found: places.Found, needles: Needles) -> list[Trace]:
    if found.place.kind == places.MARKS and found.relative != ".purge.json":
        return []
    if found.relative == ".purge.json":
        return []  # removed after this proof
    where, name, kind = str(found.path), found.place.name, found.place.kind
    traces = [Trace(where, 0, f"{name} (the name of a file)", kind)] if needles.is_held_by(found.path.stem) else []
    try:
        data = files.read(where).data
    except MemoryMagicError:
        return [*traces, Trace(where, 0, f"{name} (cannot be read)", kind)]
    if data is None:
        return traces
    lines = needles.lines_in(data)
    if not lines and kind in {places.COPY, places.UNKNOWN, places.CACHE} and _raw(data, needles):
        lines = [0]
    return [*traces, *(Trace(where, line, name, kind) for line in lines)]


def _raw(data: bytes, needles: Needles) -> bool:
    """Tell whether bytes that are no text hold a needle as it was typed, in UTF-8 or UTF-16."""
    for text in (*needles.texts, *needles.ids):
        if len(text) < 8 and text not in needles.ids:  # noqa: PLR2004  (short texts are part of anything)
            continue
        if any(text.encode(codec, "surrogatepass") in data for codec in ("utf-8", "utf-16-le", "utf-16-be")):
            return True
    return False
