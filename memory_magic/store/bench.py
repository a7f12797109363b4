"""What a holder of the lock works with: index, journal, lock and redaction, and the records not yet in the index.

A `Bench` lives for one holding of the lock. Everything that changes a store goes through it, so that journal, file
and index are brought up in this order, and the index learns in one transaction what the journal and a file have
reached.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Final

from memory_magic.errors import StoreAccessError
from memory_magic.store import files
from memory_magic.store.index import DamagedIndexError, Row, Source
from memory_magic.store.journal import Tail
from memory_magic.store.note import Document, decode
from memory_magic.store.purge.screen import screened
from memory_magic.store.replay import Known, apply
from memory_magic.text.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from memory_magic.store.index import Index
    from memory_magic.store.journal import Journal
    from memory_magic.store.journal_format import Draft
    from memory_magic.store.lock import StoreLock
    from memory_magic.store.note import Parsed
    from memory_magic.store.records import JournalRecord, Scope


_PORTION: Final = 1_000  # notes looked through for secrets at once
_straight: dict[str, tuple[int, int]] = {}  # path without any link -> device and inode of its folder


class Bench:
    """The parts, and what this holding has done so far: *pending* records, *notices* for the person."""

    def __init__(self, index: Index, journal: Journal, lock: StoreLock) -> None:
        self.index = index
        self.journal = journal
        self.lock = lock
        self.tail = journal.without_torn(journal.tail())  # nobody else appends while we hold the lock
        self.pending: list[JournalRecord] = []
        self.notices: list[str] = []

    def number(self, drafts: Sequence[Draft]) -> list[JournalRecord]:
        """Return *drafts* as the records that come next."""
        return self.journal.number(drafts, self.tail)

    def write(self, records: Sequence[JournalRecord]) -> list[JournalRecord]:
        """Write numbered *records* and return them with their places."""
        placed = self.journal.write(records, self.tail)
        last = placed[-1]
        end = last.offset + last.length
        self.tail = Tail(last.n, last.chain, last.time, last.offset, end, end)
        self.pending += placed
        return placed

    def record(self, drafts: Sequence[Draft]) -> list[JournalRecord]:
        """Append *drafts* to the journal."""
        return self.write(self.number(drafts)) if drafts else []

    def tell(self, work: Callable[[Index], None]) -> None:
        """Let the index take in all records so far, and what *work* adds, in one transaction.

        Journal and file hold the change already: an index that fails here is deleted and built anew, as the reply says.
        """
        try:
            with self.index.transaction():
                self.index.add_records(self.pending)
                work(self.index)
        except (sqlite3.Error, DamagedIndexError) as error:
            self.notices.append(f"the change is kept; the index could not follow ({error}) and is built anew")
            with contextlib.suppress(StoreAccessError):  # then its cursor tells the next writer that it is behind
                self.index.delete()
        self.pending.clear()

    def commit(self, source: Source, rows: Sequence[Row]) -> None:
        """Let the index hold *rows* for *source*."""
        self.tell(lambda index: index.put(source, rows))


class FileState:
    """One memory file in agreement with the journal: *content* as read, what is *known*, the *document* parsed from it.

    Both are made at first use only: an append needs neither.
    """

    def __init__(
        self,
        scope: Scope,
        path: str,
        content: files.Content,
        known: Callable[[], dict[str, Known]],
        document: Document | None = None,
    ) -> None:
        self.scope = scope
        self.path = path
        self.content = content
        self._load = known
        self._known: dict[str, Known] | None = None
        self._document = document

    @property
    def known(self) -> dict[str, Known]:
        """Return the notes as the journal knows them."""
        if self._known is None:
            self._known = self._load()
        return self._known

    @property
    def document(self) -> Document:
        """Return the parsed file."""
        if self._document is None:
            self._document = self.read_as(self.path, self.content)
        return self._document

    def read_as(self, path: str, content: files.Content) -> Document:
        """Return *content* parsed as a state of this file, what was purged and typed back out of sight."""
        return screened(document_of(self.scope, path, content), root_of(self.scope), lambda: self.known)

    def apply(self, records: Iterable[JournalRecord]) -> None:
        """Let *known* follow *records* of this scope, in place."""
        apply_all(self.known, self.scope.id, records)

    def know(self, known: dict[str, Known]) -> None:
        """Replace what is known."""
        self._known = known

    def moved_to(self, content: files.Content, document: Document | None = None) -> None:
        """Take in what the file reads now."""
        self.content, self._document = content, document

    @property
    def order(self) -> list[str]:
        """Return the known ids in file order as far as they stand in the file, the others last."""
        known, notes = self.known, self.document.notes
        there = [one for one in notes if one in known]
        return there if len(there) == len(known) else [*there, *(one for one in known if one not in notes)]

    @property
    def lines(self) -> dict[str, int]:
        """Return where each note begins."""
        return {one: note.block.line for one, note in self.document.notes.items()}


def apply_all(known: dict[str, Known], scope: str, records: Iterable[JournalRecord]) -> None:
    """Let *known* notes of *scope* follow *records*, in place."""
    for record in records:
        apply({scope: known}, record)


def root_of(scope: Scope) -> Path:
    """Return the root that the directory of *scope* lies in."""
    return scope.path.parents[scope.id.count("/")]


def resolved(path: Path | str) -> str:
    """Return the file that a memory file's name leads to: dotfile managers keep a link (store_rules 2).

    A path that had no link in it is not taken apart again while its folder is the same one and the file is no link.
    """
    name = str(path)
    folder = _straight.get(name)
    if folder is not None and folder == _identity(os.path.dirname(name)) and not os.path.islink(name):  # noqa: PTH114, PTH120
        return name
    real = os.path.realpath(name)
    if real == name and (there := _identity(os.path.dirname(name))):  # noqa: PTH120
        _straight[name] = there
    return real


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)  # noqa: PTH116  (on the hot path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def document_of(scope: Scope, path: str, content: files.Content) -> Document:
    """Return the parsed file; absent counts as empty."""
    return Document(scope.id, decode(content.data or b""), path)


def redacted(text: str) -> str:
    """Return *text* without secrets."""
    return redact(text).text


def rows_of(document: Document, known: dict[str, Known]) -> list[Row]:
    """Return the index rows of a document, with number, author and time from *known*; secrets taken out."""
    rows = []
    notes = iter(document.notes.values())
    while portion := list(itertools.islice(notes, _PORTION)):
        hot = _holds_secret(portion)
        for note in portion:
            text = redacted(note.text) if hot else note.text
            told = known.get(note.id) or Known(note.id, text, note.pinned, 0, "", "")
            section = tuple(map(redacted, note.section)) if hot else note.section
            details = (note.pinned, note.kind, section, told.n, told.created, told.by, told.section)
            rows.append(Row(note.id, text, note.block.line, *details))
    return rows


def _holds_secret(notes: Sequence[Parsed]) -> bool:
    """Tell whether any of *notes* or the headings above them holds a secret: one pass spares one for each of them."""
    titles = dict.fromkeys(title for section in dict.fromkeys(note.section for note in notes) for title in section)
    return bool(redact("\n\n".join([*titles, *(note.text for note in notes)])).kinds)


def source_of(state: FileState) -> Source:
    """Return the source row for a state."""
    content = state.content
    place = state.document.place
    place = dataclasses.replace(place, section=redacted(place.section)) if place.section else place
    return Source(state.scope.id, state.path, content.signature, content.hash, place)


def still_ours(path: str, written: files.Signature) -> files.Signature:
    """Return the signature of the file that we put at *path*, or none where somebody touched it since."""
    now = files.stat_file(path)
    same = (now.device, now.inode, now.size, now.mtime_ns) == (
        written.device,
        written.inode,
        written.size,
        written.mtime_ns,
    )
    return now if same else files.Signature()


def now_ns() -> int:
    """Return the time that file signatures are compared with."""
    return time.time_ns()
