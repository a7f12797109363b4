"""What a person should know about a store: the state of its index, the verdict on its journal, and what is wrong.

`findings` gathers what three modules find: `doctor_files` in memory files and journal, `doctor_drift` between the two,
`doctor_root` in the folders around them. They are loaded when somebody asks, for a hook passes here. Nothing changes a
memory file or the journal. Each finding says what, where, and how to put it right.
"""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import gate
from memory_magic.store.index import SCHEMA, Cursor, DamagedIndexError
from memory_magic.store.journal import Tail
from memory_magic.store.journal_format import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memory_magic.store.bench import Bench
    from memory_magic.store.index import Index
    from memory_magic.store.journal import Journal
    from memory_magic.store.reading import Reader
    from memory_magic.store.records import Finding, Scope, Verification
    from memory_magic.store.writing import Writer

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


def tail_of(journal: Journal) -> Tail:
    """Return the journal's end; an empty one where it cannot be read, for the notes can (store_rules 5)."""
    try:
        return journal.tail()
    except MemoryMagicError:
        return Tail()


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


def finish_torn(writer: Writer) -> None:
    """Let a record that a kill left unfinished be cut as every writer does, where the lock is free."""
    try:
        with writer.hold(timeout=0):
            pass
    except (MemoryMagicError, DamagedIndexError, sqlite3.Error):
        return  # somebody writes, and cuts it, or nobody can: the verdict then names its line


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
    """Look at every file that the store reads, and at what lies beside it; *read_only* tries nothing out.

    Commands stand in *mend* as a notebook has them, `%memory …`; whoever shows a finding writes them as they are typed.
    """
    if not root.is_dir():
        return []
    from memory_magic.store import doctor_drift, doctor_files, doctor_root  # the places of a root ask us
    from memory_magic.store.purge.findings import findings as of_purges

    return [
        *doctor_files.of_journal(journal, anchor),
        *doctor_root.of_rights(root),
        *doctor_root.of_links(root),
        *doctor_root.of_kinds(root),
        *([] if read_only else doctor_root.of_disk(root)),
        *of_purges(root, scopes, journal),
        *doctor_drift.findings(root, scopes, journal, read_only=read_only),
        *(finding for scope in scopes for finding in doctor_files.of_scope(scope)),
        *doctor_files.of_typed(root),
        *doctor_root.of_repositories(scopes),
        *doctor_root.of_places(root),
    ]
