"""Purged texts are kept out: refused where they are remembered anew, out of sight where they were typed back by hand.

An editor's stale buffer, a sync tool or a person may bring a purged text back into a memory file. It stays in the file,
byte for byte, but reaches neither index nor block nor journal, and doctor says where it stands. A note that the journal
knows is never looked at: a sentence purged in one scope may live on in another. Each text that nobody knows costs 7 ms,
only where there are tombstones; what was decided is kept in memory, by id, as long as the tombstones stay the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files
from memory_magic.store.purge import tombstones as stones

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from pathlib import Path

    from memory_magic.store.bench import Bench
    from memory_magic.store.note import Document
    from memory_magic.store.operations import Operation

_MOST_DECIDED: Final = 100_000
_decided: dict[str, tuple[stones.Tombstones, dict[str, bool]]] = {}


class PurgedTextError(MemoryMagicError, ValueError):
    """A text was purged and must not come back."""


def screened(document: Document, root: Path, known: Callable[[], Container[str]]) -> Document:
    """Return *document* with the purged notes that were typed back kept out of sight; *known* is asked when needed."""
    if files.stat_file(f"{root}/{stones.FILE_NAME}").size == 0:
        return document
    hidden = typed_back(document, root, known())
    return replace(document, hidden=hidden) if hidden else document


def typed_back(document: Document, root: Path, known: Container[str]) -> frozenset[str]:
    """Return the ids of the notes in *document* that were purged and that the journal does not know."""
    forbidden = stones.load(root)
    if not forbidden:
        return frozenset()
    key = str(root)
    if key not in _decided or _decided[key][0] != forbidden or len(_decided[key][1]) > _MOST_DECIDED:
        _decided[key] = forbidden, {}
    decided = _decided[key][1]
    hidden = set()
    for one, note in document.notes.items():
        if one in known:
            continue
        if one not in decided:
            decided[one] = forbidden.forbidding(note.text) is not None
        if decided[one]:
            hidden.add(one)
    return frozenset(hidden)


def require_allowed(bench: Bench, root: Path, scope: str, operation: Operation | None) -> None:
    """Raise `PurgedTextError` where *operation* would bring a purged text into *scope* that does not live there."""
    forbidden = stones.load(root)
    if not forbidden or operation is None:
        return
    for one, text in _texts(operation):
        if bench.index.find(scope, one, ""):
            continue
        n = forbidden.forbidding(text)
        if n is not None:
            raise PurgedTextError(
                f"this text was purged{_when(bench, n)} and must not come back",
                hint="to allow it again: unpurge with the same text",
            )


def _when(bench: Bench, n: int) -> str:
    """Return when purge record *n* was written, in words."""
    records = [record for record in bench.journal.read(bench.index.purges()) if record.n == n]
    date = f" on {records[0].time[:10]}" if records else ""
    return f"{date} (record {n})"


def _texts(operation: object) -> Iterator[tuple[str, str]]:
    """Stream id and text of each note that *operation* writes."""
    from memory_magic.store import operations, operations_history

    if isinstance(operation, operations.Append):
        yield from zip(operation.ids, operation.texts, strict=True)
    elif isinstance(operation, operations.Revise):
        yield operation.new, operation.text
    elif isinstance(operation, operations_history.Put):
        yield from ((item.id_in(operation.scope), item.text) for item in operation.items)
    elif isinstance(operation, operations_history.Several):
        for part in operation.parts:
            yield from _texts(part)


def forbidden_in(root: Path) -> Callable[[str], bool]:
    """Return the check that import, undo and restore ask of each text."""
    return lambda text: stones.load(root).forbidding(text) is not None
