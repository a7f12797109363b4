"""Notes taken out of a memory file for good: through the door, like every change, and without a trace beside it.

The purge record stands in the journal already; what the passage journals of an editor's save is compared with what is
known *without* the purged notes, so that none of them is written down again. A purge is never cancelled: where an
editor keeps saving, or the file has conflict markers, the error says so, the plan stays, and the next holder of the
lock tries again. Afterwards the predecessors beside the file (`.old`) are looked at once more and go at once.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from memory_magic.errors import ChangedMeanwhileError
from memory_magic.store import door, files
from memory_magic.store.bench import FileState, document_of, resolved
from memory_magic.store.note import encode
from memory_magic.store.recovery import recover

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_magic.errors import MemoryMagicError
    from memory_magic.store.bench import Bench
    from memory_magic.store.journal_format import Draft
    from memory_magic.store.note import Document
    from memory_magic.store.records import JournalRecord, Scope


_OPEN_SECONDS: Final = 0.05
"""How long an editor that writes in place may take from opening the file to writing it: then the predecessor goes."""


@dataclass(frozen=True, slots=True)
class Forget:
    """Take the notes *ids* out of the file of *scope*, also what was typed back and is kept out of sight.

    *whole*: everything goes, headings and comments too.
    """

    scope: str
    ids: frozenset[str]
    whole: bool = False

    @property
    def added(self) -> frozenset[str]:
        """Return no ids: nothing comes."""
        return frozenset()

    @property
    def taken(self) -> frozenset[str]:
        """Return the ids."""
        return self.ids

    def is_done(self, document: Document) -> bool:
        """Tell whether none of the notes stands in *document*."""
        if self.whole:
            return not document.text.strip("\ufeff \t\r\n")
        return self.ids.isdisjoint(document.in_full().notes)

    def apply(self, document: Document) -> Document:
        """Return *document* without the notes and their copies."""
        if self.whole:
            return document.with_text("")
        full = document.in_full()
        for one in self.ids & set(full.notes):
            full = full.removed(full.notes[one])
        return document.with_text(full.text)

    def drafts(self, document: Document) -> list[Draft]:  # noqa: ARG002  (its record is written before)
        """Return no drafts."""
        return []


class _Passage(door.Passage):
    """A passage whose record is never cancelled."""

    def _cancel(self, saves: Sequence[files.Content], error: MemoryMagicError) -> NoReturn:
        self._take_in(saves, self.operation.apply)  # the purged notes stand there, and in no record
        self._finish()
        raise ChangedMeanwhileError(
            f"an editor keeps saving this file, so the purge is not finished ({error.what})",
            where=self.state.path,
            hint="close the editor; the next command finishes the purge",
        ) from error


@dataclass(frozen=True, slots=True)
class Tried:
    """What a change made of a file when it was tried: *after* for exactly the bytes *before*."""

    before: bytes
    after: bytes


def take_out(bench: Bench, scope: Scope, operation: Forget, record: JournalRecord, tried: Tried | None = None) -> None:
    """Bring the file of *scope* to where none of the notes stands in it, nor in a predecessor beside it."""
    path = resolved(scope.memory_file)
    known = {one: note for one, note in bench.index.known(scope.id).items() if one not in operation.ids}
    if operation.whole:
        known = {}
    if door.temps(path):
        recover(bench, scope, path, known, at_once=True)
    content = files.read(path)
    state = FileState(scope, path, content, lambda: known)
    new = _new_bytes(state, operation, tried)
    if new is not None:
        temporary, _ = door.write_temp(path, (record.n, record.n), new, files.sha256(new))
        _Passage(bench, state, operation, [record]).run(temporary, new)
        time.sleep(_OPEN_SECONDS)
        recover(bench, scope, path, state.known, at_once=True)
    if operation.whole:
        _remove_empty(scope, path)


def _new_bytes(state: FileState, operation: Forget, tried: Tried | None) -> bytes | None:
    """Return what the file should hold, or None where nothing is to be done."""
    data = state.content.data
    if data is None or not (operation.ids or operation.whole):
        return None
    if tried is not None and tried.before == data:
        return tried.after if tried.after != data else None
    document = document_of(state.scope, state.path, state.content)
    if operation.is_done(document):
        return None
    document.require_writable()
    return encode(operation.apply(document).text)


def _remove_empty(scope: Scope, path: str) -> None:
    """Remove the emptied file, and a link that led to it."""
    content = files.read(path)
    if content.data is not None and not content.data.strip():
        files.remove(path)
        with contextlib.suppress(OSError):
            if Path(scope.memory_file).is_symlink():
                scope.memory_file.unlink()
