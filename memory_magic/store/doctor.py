"""What a person should know about a store: damage, look-alikes, rights, sizes, and the verdict on the journal.

Nothing here changes a memory file. Each finding says what, where, and how to put it right.
"""

from __future__ import annotations

import re
import sqlite3
import stat
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files, gate
from memory_magic.store.bench import document_of, resolved
from memory_magic.store.index import SCHEMA, Cursor, DamagedIndexError
from memory_magic.store.journal_format import Draft
from memory_magic.store.records import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memory_magic.store.bench import Bench
    from memory_magic.store.index import Index
    from memory_magic.store.journal import Journal, Tail
    from memory_magic.store.reading import Reader
    from memory_magic.store.records import Scope, Verification
    from memory_magic.store.writing import Writer

LARGE_BYTES: Final = 5_000_000  # store_rules 8: above this a rewrite is felt
LARGE_JOURNAL_BYTES: Final = 200_000_000
LOOK_ALIKE: Final = re.compile(
    r"(?i)(memory|journal)( ?\(.*\)| \d+|\.sync-conflict-.*| - .*copy.*)\.md"
    r"|.*~|\..*\.sw[a-p]|\.#.*|#.*#|.*\.orig|.*\.rej"
)


def index_state(reader: Reader, scopes: Sequence[Scope], tail: Tail) -> tuple[int, int, bool, dict[str, object] | None]:
    """Return notes in the index, its schema, whether it agrees with files and journal, and the last complete verify."""
    index = reader.indexes.reading()
    if index is None:
        return 0, SCHEMA, False, None
    try:
        fresh = cursor_of(index).n == tail.n and all(
            reader.level(scope) is not None for scope in scopes if scope.path.is_dir()
        )
        index = reader.indexes.reading() or index
        verified = index.meta("verified")
        return (
            sum(index.count(scope.id) for scope in scopes),
            SCHEMA,
            fresh,
            verified if isinstance(verified, dict) else None,
        )
    except (sqlite3.Error, DamagedIndexError):
        return 0, SCHEMA, False, None


def cursor_of(index: Index) -> Cursor:
    """Return how far the index has followed the journal; nothing where it cannot be read."""
    try:
        return index.cursor()
    except (sqlite3.Error, DamagedIndexError):
        return Cursor()


def anchor_of(index: Index) -> tuple[int, str] | None:
    """Return a record that the journal is known to have reached; None where the index cannot be read."""
    try:
        return index.anchor()
    except (sqlite3.Error, DamagedIndexError):
        return None


def keep_verdict(writer: Writer, verdict: Verification) -> None:
    """Keep the result of a complete verify in the index, where the lock is free."""
    try:
        with writer.hold(timeout=0) as bench, bench.index.transaction():
            value = {"n": verdict.n, "time": f"{_now()}", "ok": verdict.ok}
            bench.index.set_meta("verified", value)
    except (MemoryMagicError, DamagedIndexError, sqlite3.Error):
        return  # status then shows the verify before this one; the verdict itself is in the caller's hands


def _now() -> str:
    from memory_magic.store.journal import utc_now

    return utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")


def record_init(writer: Writer, scope: Scope, by: str) -> None:
    """Journal that a directory was made a workspace."""
    draft = Draft("init", {"scope": scope.id, "after": scope.label, "by": gate.clean_line(by)})

    def work(bench: Bench) -> None:
        bench.record([draft])
        bench.tell(lambda _: None)

    writer.run(work)


def findings(
    root: Path, scopes: Sequence[Scope], journal: Journal, anchor: tuple[int, str] | None, *, read_only: bool = False
) -> list[Finding]:
    """Look at every file that the store reads, and at what lies beside it; *read_only* tries nothing out."""
    if not root.is_dir():
        return []
    found = [*_of_journal(journal, anchor), *_of_rights(root), *_of_links(root)]
    found += [] if read_only else _of_disk(root)
    from memory_magic.store.purge.findings import findings as of_purges  # it asks the places, which ask us

    found += of_purges(root, scopes, journal)
    for scope in scopes:
        found += [*_of_file(scope), *_of_neighbours(scope.path)]
    return [*found, *_of_neighbours(root)]


def _of_journal(journal: Journal, anchor: tuple[int, str] | None) -> Iterator[Finding]:
    where = str(journal.path)
    try:
        verdict = journal.verify(anchor)
        size = files.stat_file(where).size
    except MemoryMagicError as error:
        yield Finding("journal", error.what, where, error.hint or "mend its rights")
        return
    for fault in verdict.faults:
        yield Finding(
            "journal", fault, where, "nothing is lost by going on: the files count; keep a copy of the journal as it is"
        )
    if size > LARGE_JOURNAL_BYTES:
        yield Finding(
            "size", f"the journal has {size / 1e6:.0f} MB", where, "it still works; reading all of it takes seconds"
        )


def _of_file(scope: Scope) -> Iterator[Finding]:
    where = str(scope.memory_file)
    path = resolved(scope.memory_file)
    try:
        content = files.read(path)
    except MemoryMagicError as error:
        yield Finding("file", error.what, where, error.hint or "mend its rights")
        return
    if content.data is None:
        return
    document = document_of(scope, path, content)
    for sentence in document.damage:
        yield Finding("file", f"the memory file {sentence}", where, "mend it in an editor")
    hidden = document.place.blocked
    if hidden and not any(sentence in hidden or "has an open" in hidden for sentence in document.damage):
        yield Finding("file", f"nothing can be added: {hidden}", where, "close it in an editor")
    if len(content.data) > LARGE_BYTES:
        size = len(content.data) / 1e6
        yield Finding(
            "size",
            f"the memory file has {size:.1f} MB",
            where,
            "retire what is no longer needed, or split it by project",
        )


def _of_neighbours(directory: Path) -> Iterator[Finding]:
    try:
        names = sorted(path.name for path in directory.iterdir())
    except OSError:
        return
    for name in names:
        if LOOK_ALIKE.fullmatch(name):
            text = "this looks like a copy of a memory file; it is not read"
            yield Finding(
                "copy", text, str(directory / gate.clean_line(name)), "take over what is missing, then delete it"
            )


def _of_rights(root: Path) -> Iterator[Finding]:
    for path in sorted([root, *root.rglob("*")]):
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if not stat.S_ISLNK(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO):
            right = "0700" if stat.S_ISDIR(mode) else "0600"
            yield Finding("rights", f"others may read this ({stat.S_IMODE(mode):04o})", str(path), f"chmod {right} it")


def _of_links(root: Path) -> Iterator[Finding]:
    for path in sorted((root / "workspace").glob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            text = "this workspace is a link that leads out of the store, so it is neither read nor written"
            yield Finding("link", text, str(path), "put a real folder there; only the file MEMORY.md may be a link")


def _of_disk(root: Path) -> Iterator[Finding]:
    try:
        exchanges = files.has_exchange(root)
    except MemoryMagicError:
        return  # a root that cannot be written is no fault of the file system
    if not exchanges:
        text = (
            "this file system cannot exchange two files, so an editor's save within microseconds of a write may be lost"
        )
        yield Finding("disk", text, str(root), "keep the store on a local disk")
