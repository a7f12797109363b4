"""Notes as a file that outlives the program: JSON Lines that come back byte for byte, or Markdown (store_rules 9).

JSON Lines: keys sorted, UTF-8, no time of export, no path, no line number, so that equal stores give equal bytes:

    {"format":1,"kind":"memory-magic"}
    {"aliases":[],"created":"","label":"","origin":"","scope":"global"}
    {"by":"ana","created":"2026-…Z","id":"…","kind":"item","pinned":true,"scope":"global","section":["Pinned"],"text":"…"}

A scope's line stands before its notes (global first, then by id), pinned notes before the others in file order. With
history follow the journal's records with all fields, salts and chain, and the tombstones. Every text passes the gate
once more; one that holds a secret (typed by hand into a file) goes out redacted, under the id of the redacted text.
A secret in an old journal field is replaced by the field's commitment, as a purge would, so that the chain still holds.

Formats:
1  2026-11  as above; `importing` reads it.
"""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memory_magic.errors import LockTimeoutError, StoreAccessError, UsageError
from memory_magic.store import files, gate
from memory_magic.store import journal_format as form
from memory_magic.store.access import passed
from memory_magic.store.bench import document_of, resolved
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.note import Document
from memory_magic.store.placing import Item, fitted, placed
from memory_magic.store.scope_file import ScopeFile, read_scope_file
from memory_magic.text.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench
    from memory_magic.store.records import JournalRecord, Note, Scope

FORMAT: Final = 1
KIND: Final = "memory-magic"
UNKNOWN: Final = "unknown"
TOMBSTONES: Final = "tombstones.md"
_TOMBSTONE: Final = re.compile(r"[0-9a-f]{32}(?: (?:(?:contains|session):)?[0-9a-f]{32}(?::[0-9]{1,6})?)*")


@dataclass(frozen=True, slots=True)
class Exported:
    """What went out: counts, the *path* (empty: nowhere yet), the journal's *head*, sentences for the person."""

    path: str
    scopes: int
    notes: int
    records: int
    head: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One scope on its way out."""

    scope: Scope
    content: ScopeFile
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one moment held: the scopes with their notes, and the journal up to byte *end*."""

    parts: tuple[Part, ...]
    n: int = 0
    head: str = form.GENESIS
    end: int = 0

    @property
    def notes(self) -> list[Note]:
        """Return all notes."""
        return [note for part in self.parts for note in part.notes]


def take_snapshot(access: Access, scope: str | None = None) -> Snapshot:
    """Return notes and journal of one moment: under the lock, with editors' changes journalled, where that can be."""
    scopes = [one for one in access.scopes_named(scope or "all") if one.is_global or one.path.is_dir() or scope]
    scopes.sort(key=lambda one: (not one.is_global, one.id))
    if access.store.read_only or not access.root.is_dir():
        return _unlocked(access, scopes)
    found: list[Snapshot] = []

    def work(bench: Bench) -> None:
        parts = []
        for one in scopes:
            access.writer.observe(bench, one)
            parts.append(_part(one, bench.index.notes(one.id, str(one.memory_file))))
        tail = bench.tail
        found.append(Snapshot(tuple(parts), tail.n, tail.chain, tail.size))

    try:
        access.run(work)
    except (LockTimeoutError, StoreAccessError):
        return _unlocked(access, scopes)  # reading needs no lock: only an edit of this moment may be missing
    return found[-1]


def _unlocked(access: Access, scopes: list[Scope]) -> Snapshot:
    parts = []
    for scope in scopes:
        path = resolved(scope.memory_file)
        document_of(scope, path, files.read(path)).require_text()  # notes must not be left out unsaid
        parts.append(_part(scope, access.reader.notes(scope)))
    tail = access.journal.tail()
    return Snapshot(tuple(parts), tail.n, tail.chain, tail.size)


def _part(scope: Scope, notes: list[Note]) -> Part:
    content = read_scope_file(scope.path)[0] or ScopeFile(scope.label, scope.origin)
    ordered = sorted(notes, key=lambda note: (not note.pinned, note.line))
    return Part(scope, ScopeFile() if scope.is_global else content, tuple(ordered))


# -- JSON Lines -----------------------------------------------------------------------------------------------------


def encode_line(value: dict[str, Any]) -> str:
    """Return one line of JSON; equal values give equal bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def lines(access: Access, snapshot: Snapshot, *, history: bool = False) -> Iterator[str]:
    """Stream the lines of an export."""
    yield encode_line({"format": FORMAT, "kind": KIND})
    for part in snapshot.parts:
        yield encode_line(scope_value(part))
        for note in part.notes:
            yield encode_line(note_value(note))
    if not history:
        return
    for record in records_of(access, snapshot):
        yield encode_line(record_value(record))
    if tombstones := read_tombstones(access.root):
        yield encode_line({"tombstones": tombstones})


def scope_value(part: Part) -> dict[str, Any]:
    """Return a scope as it goes out."""
    content = part.content
    return {
        "scope": part.scope.id,
        "label": gate.clean_line(content.label),
        "origin": gate.clean_line(content.origin),
        "aliases": [gate.clean_line(alias) for alias in content.aliases],
        "created": gate.clean_line(content.created),
    }


def note_value(note: Note) -> dict[str, Any]:
    """Return a note as it goes out; its id is that of the text as it goes out."""
    text = passed(note.text, gate.clean(note.text).text)
    return {
        "scope": note.scope,
        "id": note_id(note.scope, normalise(text)),
        "text": text,
        "pinned": note.pinned,
        "section": [gate.clean_line(title) for title in note.section],
        "kind": note.kind,
        "created": note.created or "",
        "by": gate.clean_line(note.by or "") or UNKNOWN,
    }


def records_of(access: Access, snapshot: Snapshot) -> Iterator[JournalRecord]:
    """Stream the journal's records up to the snapshot, secrets in old fields sealed."""
    for record in access.journal.records():
        if record.offset >= snapshot.end:
            return
        yield without_secrets(record)


def without_secrets(record: JournalRecord) -> JournalRecord:
    """Return *record* with commitments, or redacted text where there is no chain, in place of fields with secrets."""
    if not redact("\n".join(record.fields.values())).kinds:
        return record
    hot = {name: redact(value) for name, value in record.fields.items() if not _is_tombstone(name, value)}
    if record.n == 0:
        return dataclasses.replace(record, fields=record.fields | {name: found.text for name, found in hot.items()})
    return sealed(record, [name for name, found in hot.items() if found.kinds])


def _is_tombstone(name: str, value: str) -> bool:
    """Tell whether a field holds digests of ours: they look like keys, and without them a purge cannot be checked."""
    return name == "tombstone" and _TOMBSTONE.fullmatch(value) is not None


def sealed(record: JournalRecord, names: list[str] | None = None) -> JournalRecord:
    """Return *record* with the commitments of some fields (None: all) in their place, as a purge leaves them."""
    gone = [name for name in record.fields if names is None or name in names]
    if not gone or not record.n:
        return record
    salts = {
        name: form.field_salt(record.salt, name) if record.salt is not None else record.salts.get(name, "")
        for name in record.fields
    }
    erased = {name: form.commitment(salts[name], record.fields[name]) for name in gone}
    kept = {name: value for name, value in record.fields.items() if name not in erased}
    own = {name: salt for name, salt in salts.items() if name in kept}
    return dataclasses.replace(record, fields=kept, salt=None, salts=own, erased=record.erased | erased)


def record_value(record: JournalRecord) -> dict[str, Any]:
    """Return a record as it goes out; what it does not have is left out."""
    value: dict[str, Any] = {"n": record.n, "action": record.action, "time": record.time, "fields": record.fields}
    if record.n:
        value |= {"prev": record.prev, "chain": record.chain}
    optional = {"salt": record.salt, "salts": record.salts, "erased": record.erased}
    return value | {name: found for name, found in optional.items() if found}


def read_tombstones(root: Path) -> list[str]:
    """Return the lines of the root's tombstone file; they hold digests only."""
    data = files.read(str(root / TOMBSTONES)).data or b""
    return [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]


# -- Markdown -------------------------------------------------------------------------------------------------------


def markdown(snapshot: Snapshot) -> str:
    """Return the notes as Markdown: a heading for each scope, below it its sections."""
    return "\n".join(_scope_markdown(part) for part in snapshot.parts)


def _scope_markdown(part: Part) -> str:
    title = "Notes that follow me" if part.scope.is_global else f"Notes of {_name(part)}"
    items = [_printable(note, title) for note in part.notes]
    if not items:
        return f"# {title}\n\nNone.\n"
    return placed(Document(part.scope.id, f"# {title}\n"), items).text


def _name(part: Part) -> str:
    return gate.clean_line(part.content.label or part.content.origin) or part.scope.id[:18]


def _printable(note: Note, title: str) -> Item:
    value = note_value(note)
    section = (title, *(("Pinned",) if note.pinned else value["section"] or ("Notes",)))
    return fitted(Item(value["text"], note.pinned, section, note.kind))


# -- where it goes --------------------------------------------------------------------------------------------------


def export(
    access: Access, path: Path | None = None, *, scope: str | None = None, history: bool = False, style: str = "jsonl"
) -> tuple[Exported, str]:
    """Write notes (and *history*) to *path*, or return them as text where it is None; *style* is jsonl or markdown."""
    if history and (scope is not None or style != "jsonl"):
        raise UsageError(
            "the history is that of the whole store, as JSON Lines", hint="leave out --scope and --markdown"
        )
    if path is not None:
        require_outside(access.root, path)
    snapshot = take_snapshot(access, scope)
    stream = iter([markdown(snapshot)]) if style == "markdown" else lines(access, snapshot, history=history)
    text = ""
    if path is None:
        text = "".join(stream)
    else:
        write(path, stream)
    hot = sum(1 for note in snapshot.notes if note_value(note)["id"] != note.id)
    notices = (f"{count_of(hot)} what is not kept (a secret typed by hand, for one): it goes out without it",) * bool(
        hot
    )
    told = Exported(
        str(path or ""),
        len(snapshot.parts),
        len(snapshot.notes),
        snapshot.n if history else 0,
        snapshot.head if snapshot.n else "",
        notices,
    )
    return told, text


def count_of(number: int) -> str:
    """Return how many notes hold something."""
    return "1 note holds" if number == 1 else f"{number:,} notes hold"


def require_outside(root: Path, path: Path) -> None:
    """Raise `UsageError` for a file below the store's root: it would be taken for part of the memory."""
    if path.expanduser().resolve().is_relative_to(root.resolve()):
        raise UsageError("that file would lie inside the store", hint="choose a place outside it")
    if path.is_dir():
        raise UsageError(f"there is a folder called {path.name}", hint="name a file")


def write(path: Path, stream: Iterator[str]) -> None:
    """Write a private file by temp and rename, streaming."""
    temporary = path.with_name(f".{path.name}.part")
    with files.disk_errors(path):
        files.create(str(temporary), b"", sync=False)
        try:
            with temporary.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.writelines(stream)
            temporary.replace(path)
        except BaseException:
            files.remove(str(temporary))
            raise
