"""What doctor finds in the memory files and the journal: damage, sizes, and secrets that were typed by hand.

A secret is told by file, line and kind, never by its value. Hidden parts of a file (`<private>` spans) are left out:
whoever marks a text as private knows that it is there. Nothing here changes a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files, gate
from memory_magic.store.bench import document_of, resolved
from memory_magic.store.note import decode
from memory_magic.store.records import Finding
from memory_magic.store.scope_file import read_scope_file
from memory_magic.text import private
from memory_magic.text.redact import redact
from memory_magic.text.secret_places import find_places
from memory_magic.text.secret_tokens import Page, find_tokens
from memory_magic.text.secret_values import find_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memory_magic.store.journal import Journal
    from memory_magic.store.note import Document
    from memory_magic.store.records import Scope

LARGE_BYTES: Final = 5_000_000  # store_rules 8: above this a rewrite is felt
LARGE_JOURNAL_BYTES: Final = 200_000_000
RIGHTS: Final = "give yourself the rights to it"
_TYPED: Final = ("memory.md", "config.toml")
_MOST_BYTES: Final = 20_000_000  # a typed file beyond this is no text of a person


def of_journal(journal: Journal, anchor: tuple[int, str] | None) -> Iterator[Finding]:
    """Stream the faults of the journal, and its size."""
    where = str(journal.path)
    try:
        verdict = journal.verify(anchor)
        size = files.stat_file(where).size
    except MemoryMagicError as error:
        yield Finding("journal", error.what, where, error.hint or RIGHTS)
        return
    for fault in verdict.faults:
        text = "no note is lost, since the files count, and the journal goes on with this mark; to begin a whole one"
        yield Finding("journal", fault, where, f"{text}: %memory export FILE, then %memory import FILE --root NEW")
    if size > LARGE_JOURNAL_BYTES:
        yield Finding(
            "size",
            f"the journal has {size / 1e6:.0f} MB",
            where,
            "it still works, reading all of it takes seconds; to begin anew: %memory export FILE, then %memory import "
            "FILE --root NEW",
        )


def of_scope(scope: Scope) -> Iterator[Finding]:
    """Stream what is wrong with one scope's memory file and with the file that names the scope."""
    _, trouble = read_scope_file(scope.path)
    if trouble:
        where = str(scope.path / "scope.toml")
        yield Finding("file", trouble, where, "edit it, or delete it: the next write makes it anew")
    where = str(scope.memory_file)
    path = resolved(scope.memory_file)
    try:
        content = files.read(path)
    except MemoryMagicError as error:
        yield Finding("file", error.what, where, error.hint or RIGHTS)
        return
    if content.data is None:
        return
    document = document_of(scope, path, content)
    yield from _of_damage(document, where)
    if document.is_text:
        yield from _of_notes(document, where)
    if len(content.data) > LARGE_BYTES:
        size = len(content.data) / 1e6
        mend = (
            "retire what is no longer needed (%memory retire ID --evidence WHY), or %memory promote notes to projects"
        )
        yield Finding("size", f"the memory file has {size:.1f} MB", where, mend)


def _of_damage(document: Document, where: str) -> Iterator[Finding]:
    for sentence in document.damage:
        yield Finding("file", f"the memory file {sentence}", where, "mend it in an editor, then %memory doctor")
    hidden = document.place.blocked
    if hidden and not any(sentence in hidden or "has an open" in hidden for sentence in document.damage):
        yield Finding("file", f"nothing can be added: {hidden}", where, "close it in an editor, then %memory doctor")


def _of_notes(document: Document, where: str) -> Iterator[Finding]:
    """Stream notes that are longer than a note may be, and secrets in what was typed."""
    for note in document.notes.values():
        size = len(note.text.encode("utf-8", "replace"))
        if size > gate.LIMIT_BYTES:
            text = f"a note of {size:,} bytes, more than the {gate.LIMIT_BYTES:,} that a note may have"
            mend = f"split it in an editor, or %memory retire {note.id[:10]} --evidence WHY"
            yield Finding("size", text, f"{where}:{note.block.line}", mend)
    masked = document.masked
    for line, kind in secrets(masked):
        begun = [note for note in document.notes.values() if note.block.line <= line]
        holder = max(begun, key=lambda note: note.block.line, default=None)
        inside = holder is not None and line <= masked.count("\n", 0, holder.block.end) + 1
        gone = f"%memory purge {holder.id[:10]}" if holder is not None and inside else "take it out in an editor"
        yield _secret(f"{where}:{line}", kind, gone)


def of_typed(root: Path) -> Iterator[Finding]:
    """Stream the secrets in the other files that a person writes: personal memory, settings, prompts."""
    typed = [root / name for name in _TYPED] + sorted((root / "prompts").glob("*"))
    for path in typed:
        if files.stat_file(str(path)).size > _MOST_BYTES:
            continue
        try:
            data = files.read(str(path)).data
        except MemoryMagicError as error:
            yield Finding("file", error.what, str(path), error.hint or RIGHTS)
            continue
        for line, kind in secrets(private.mask(decode(data or b""))):
            yield _secret(f"{path}:{line}", kind, "take it out in an editor")


def _secret(where: str, kind: str, gone: str) -> Finding:
    text = f"a secret stands in a file that people and programs read (kind: {kind}); no prompt and no journal gets it"
    return Finding("secret", text, where, f"{gone}, and change it where it is valid")


def secrets(text: str) -> list[tuple[int, str]]:
    """Return line (1-based) and kind of each secret in *text*, one of a kind in a line; line 1 where it is hidden."""
    kinds = redact(text).kinds
    if not kinds:
        return []
    page = Page.of(text)
    found: dict[int, set[str]] = {}
    for start, end, kind in (*find_tokens(page), *find_named(page), *find_places(page)):
        if start < end:
            found.setdefault(text.count("\n", 0, start) + 1, set()).add(kind)
    lines = text.split("\n")
    # several finders may see one secret: the line by itself says which kind is the most telling
    told = [(line, kind) for line, seen in found.items() for kind in redact(lines[line - 1]).kinds or seen]
    # what only shows once invisible characters are gone, or its neighbour is: the kind is known, not the line
    told += [(1, kind) for kind in kinds if not told or kind not in {one for _, one in told}]
    return sorted(set(told))
