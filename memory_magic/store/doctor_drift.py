"""Whether the journal, replayed, says what stands in the memory files; where it does not, that is drift.

Compared are (scope, id, pinned), never texts: a secret typed by hand stands in the file only. The look is taken under
the lock, since a writer is between record and exchange for a moment (store_rules 0.5); where the lock cannot be had (a
store for reading, a busy one) two looks that agree have to do. A file that cannot be read, is being written or is no
text is told elsewhere and left out here. Nothing is changed: `%memory reindex` lets the journal follow the files.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import door, files
from memory_magic.store.bench import document_of, resolved
from memory_magic.store.purge.screen import screened
from memory_magic.store.records import Finding
from memory_magic.store.replay import replay

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from memory_magic.store.journal import Journal
    from memory_magic.store.note import Document, Parsed
    from memory_magic.store.records import Scope
    from memory_magic.store.replay import Known, State

LOCK_SECONDS: Final = 2.0
_BETWEEN: Final = 0.2
_MOST_LINES: Final = 5
_FOLLOW: Final = "%memory reindex lets the journal follow the files (%memory journal then shows what changed)"


def findings(root: Path, scopes: Sequence[Scope], journal: Journal, *, read_only: bool = False) -> list[Finding]:
    """Return a finding for each scope whose file and journal differ, and for each that only the journal knows."""
    if not journal.path.is_file() and not any(scope.memory_file.exists() for scope in scopes):
        return []
    with contextlib.ExitStack() as stack:
        if not read_only and _locked(root, stack):
            return list(_look(root, scopes, journal))
    first = list(_look(root, scopes, journal))
    if not first:
        return []
    time.sleep(_BETWEEN)
    return [finding for finding in _look(root, scopes, journal) if finding in first]


def _locked(root: Path, stack: contextlib.ExitStack) -> bool:
    """Take the store's lock until *stack* ends; tell whether it could be had."""
    from memory_magic.store.lock import StoreLock

    try:
        stack.enter_context(StoreLock(root).hold(LOCK_SECONDS))
    except MemoryMagicError:
        return False
    return True


def _look(root: Path, scopes: Sequence[Scope], journal: Journal) -> Iterator[Finding]:
    try:
        state = replay(journal.records(), cancelled=journal.cancelled())
    except MemoryMagicError:
        return  # the journal cannot be read: doctor says so elsewhere
    for scope in scopes:
        yield from _of_scope(root, scope, state.get(scope.id, {}))
    yield from _of_lost(root, state, {scope.id for scope in scopes})


def _of_scope(root: Path, scope: Scope, known: Mapping[str, Known]) -> Iterator[Finding]:
    path = resolved(scope.memory_file)
    try:
        if any(temp.state != "old" for temp in door.temps(path)):
            text = "a change of this file was interrupted; the next command that writes finishes it or takes it back"
            yield Finding("unfinished", text, str(scope.memory_file), "%memory reindex")
            return
        document = screened(document_of(scope, path, files.read(path)), root, lambda: known)
        document.require_text()
    except MemoryMagicError:
        return
    yield from _differences(document, known, str(scope.memory_file))


def _differences(document: Document, known: Mapping[str, Known], where: str) -> Iterator[Finding]:
    notes = document.notes
    new = [note for one, note in notes.items() if one not in known]
    gone = [one for one in known if one not in notes]
    moved = [note for one, note in notes.items() if one in known and known[one].pinned != note.pinned]
    parts = []
    if new:
        parts.append(f"{_notes(len(new))} in the file that the journal does not know ({_lines(new)})")
    if gone:
        shown = ", ".join(one[:10] for one in gone[:_MOST_LINES])
        more = ", …" if len(gone) > _MOST_LINES else ""
        parts.append(f"{_notes(len(gone))} of the journal that do not stand in the file ({shown}{more})")
    if moved:
        parts.append(f"{_notes(len(moved))} pinned in one and not in the other ({_lines(moved)})")
    if parts:
        yield Finding("drift", f"file and journal differ: {'; '.join(parts)}", where, _FOLLOW)


def _lines(notes: Sequence[Parsed]) -> str:
    numbers = [str(note.block.line) for note in notes[:_MOST_LINES]]
    return f"line {', '.join(numbers)}{', …' if len(notes) > _MOST_LINES else ''}"


def _of_lost(root: Path, state: State, there: set[str]) -> Iterator[Finding]:
    """Stream the scopes of the journal that have notes and no folder."""
    for scope, known in state.items():
        if known and scope and scope not in there:
            text = f"the journal has {_notes(len(known))} of a scope whose folder is gone"
            mend = "put the folder back from a copy; %memory journal --scope all shows the texts"
            yield Finding("drift", text, str(root / scope), mend)


def _notes(number: int) -> str:
    return "1 note" if number == 1 else f"{number:,} notes"
