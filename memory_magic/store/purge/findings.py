"""What doctor says of purges: texts that were typed back, a purge that is not finished, a plan that cannot be read.

A line is named, never its text. Nothing here changes a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files
from memory_magic.store.bench import document_of, resolved
from memory_magic.store.purge import intent
from memory_magic.store.purge import tombstones as stones
from memory_magic.store.purge.screen import typed_back
from memory_magic.store.records import Finding
from memory_magic.store.replay import replay

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from pathlib import Path

    from memory_magic.store.journal import Journal
    from memory_magic.store.records import Scope


def findings(root: Path, scopes: Sequence[Scope], journal: Journal) -> Iterator[Finding]:
    """Stream what a person should know."""
    yield from _of_plan(root)
    try:
        if not stones.load(root):
            return
    except MemoryMagicError as error:
        yield Finding("purge", f"nothing can be kept before this is put right: {error.what}", error.where, error.hint)
        return
    try:
        state = replay(journal.records(), cancelled=journal.cancelled())
    except MemoryMagicError:
        return  # the journal cannot be read: doctor says so elsewhere
    for scope in scopes:
        yield from _of_file(root, scope, state.get(scope.id, {}))


def _of_plan(root: Path) -> Iterator[Finding]:
    try:
        plan = intent.read(root)
    except MemoryMagicError as error:
        yield Finding("purge", error.what, error.where, error.hint or "mend its rights")
        return
    if plan is not None:
        text = "a purge is not finished: the next command that can write finishes it"
        mend = "close editors that have a memory file open, then %memory reindex"
        yield Finding("purge", text, str(root / intent.FILE_NAME), mend)


def _of_file(root: Path, scope: Scope, known: Container[str]) -> Iterator[Finding]:
    path = resolved(scope.memory_file)
    try:
        document = document_of(scope, path, files.read(path))
    except MemoryMagicError:
        return  # doctor says so elsewhere
    for one in typed_back(document, root, known):
        line = document.notes[one].block.line
        yield Finding(
            "purge",
            "a purged text was typed back; it stays in the file and is kept out of index, blocks and journal",
            f"{scope.memory_file}:{line}",
            "delete the line in an editor, or allow it again: %memory unpurge TEXT",
        )
