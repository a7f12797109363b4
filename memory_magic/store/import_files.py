"""What can be imported, read into one shape: an export of ours, a CodeWhale store as it is, a bare MEMORY.md.

Everything read here was written by somebody else, perhaps with ill will: sizes, types, scopes, times and ids are
checked before anything is kept, a fault names file and line, and nothing has been changed yet when it is found. Ids
are never believed, they follow from scope and text. Files are read as they are; nothing beside them is opened.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from memory_magic.errors import MemoryMagicError, NoteError, ScopeError
from memory_magic.store import files, gate
from memory_magic.store import journal_format as form
from memory_magic.store.access import passed
from memory_magic.store.export import FORMAT, KIND
from memory_magic.store.note import Document, decode
from memory_magic.store.placing import Item
from memory_magic.store.records import GLOBAL, JournalRecord
from memory_magic.store.scope import check_scope_name
from memory_magic.store.scope_file import ScopeFile, read_scope_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

LONGEST_LINE: Final = 16_000_000  # bytes; a record may hold three texts of 65,536 bytes, six times that as JSON
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
_HEX: Final = re.compile(r"[0-9a-f]{64}")
_TOMBSTONE: Final = re.compile(r"[ -~]{1,200}")
_KINDS: Final = frozenset({"item", "prose"})


class ImportFileError(MemoryMagicError, ValueError):
    """A file cannot be imported as it is; nothing of it was taken."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One note on its way in; *created* and *by* are what the source says of it, or empty; *line* is where it stood."""

    scope: str
    item: Item
    created: str = ""
    by: str = ""
    line: int = 0


@dataclass(slots=True)
class Parcel:
    """All that a source holds. *refused* says of texts that cannot become notes where they stood and why."""

    name: str
    notes: list[Incoming] = field(default_factory=list)
    scopes: dict[str, ScopeFile] = field(default_factory=dict)
    records: list[JournalRecord] = field(default_factory=list)
    tombstones: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    redacted: dict[str, int] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def add(self, scope: str, item: Item, line: int, created: str = "", by: str = "") -> None:
        """Take a note in after it passed the gate."""
        try:
            cleaned = gate.clean_note(item.text)
        except NoteError as error:
            self.refused.append(f"line {line}: {error.what}")
            return
        for kind, count in cleaned.redacted.items():
            self.redacted[kind] = self.redacted.get(kind, 0) + count
        section = tuple(map(gate.clean_line, item.section))
        text = passed(item.text, cleaned.text)
        self.notes.append(
            Incoming(scope, Item(text, item.pinned, section, item.kind), created, gate.clean_line(by), line)
        )


def read_parcel(path: Path, scope: str | None = None) -> Parcel:
    """Return what *path* holds: a JSON Lines export, a store's directory, or Markdown (whose notes go to *scope*)."""
    if path.is_dir():
        return _read_store(path)
    content = files.read(str(path))
    if content.data is None:
        raise ImportFileError("there is no such file", where=str(path))
    start = content.data[:100].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"{"):
        return _Lines(path, content.data).read()
    if start.startswith((b"<!doctype", b"<html")):
        raise ImportFileError("this is a web page", where=str(path), hint="of an audit bundle, import its memory.jsonl")
    if path.suffix.lower() in {".jsonl", ".json"}:
        raise ImportFileError("this is no export of ours: its first line is no JSON object", where=str(path))
    _require_utf8(path, content.data)
    parcel = Parcel(path.name)
    _read_markdown(parcel, scope or GLOBAL, path, content.data)
    return parcel


def _require_utf8(path: Path, data: bytes) -> None:
    """Refuse what is no text: its notes would be noise in every block."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ImportFileError("this is no UTF-8 text", where=f"{path}:{line}", hint="save it as UTF-8 first") from None


# -- Markdown -------------------------------------------------------------------------------------------------------


def _read_markdown(parcel: Parcel, scope: str, path: Path, data: bytes) -> None:
    document = Document(scope, decode(data), str(path))
    document.require_text()
    for note in document.notes.values():
        if not is_utf8(document.text[note.block.start : note.block.end]):
            parcel.refused.append(f"line {note.block.line}: it holds a byte that is no UTF-8, which would be lost")
            continue
        item = Item(note.text, note.pinned, note.section, note.kind)
        parcel.add(scope, item, note.block.line)


def is_utf8(text: str) -> bool:
    """Tell whether *text*, as `decode` made it, came of UTF-8 alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_store(path: Path) -> Parcel:
    """Read the memory files of a store (CodeWhale's, or another root of ours) at *path* or in `memory` below it."""
    base = next((at for at in (path, path / "memory") if (at / GLOBAL).is_dir() or (at / "workspace").is_dir()), None)
    if base is None:
        raise ImportFileError(
            "this folder holds no store", where=str(path), hint="name the folder with global/MEMORY.md in it"
        )
    parcel = Parcel(path.name)
    places = [GLOBAL, *(f"workspace/{name}" for name in _names(base / "workspace"))]
    for scope in places:
        content = files.read(str(base / scope / "MEMORY.md"))
        if content.data is not None:
            _read_markdown(parcel, scope, base / scope / "MEMORY.md", content.data)
            if scope != GLOBAL and (file := read_scope_file(base / scope)[0]) is not None:
                parcel.scopes[scope] = file  # CodeWhale makes none
    if (base / "JOURNAL.md").is_file():
        parcel.notices.append("its JOURNAL.md was not taken over: keep it where it is to look something up")
    return parcel


def _names(directory: Path) -> list[str]:
    try:
        return sorted(path.name for path in directory.iterdir() if _HEX.fullmatch(path.name))
    except OSError:
        return []


# -- JSON Lines -----------------------------------------------------------------------------------------------------


class _Lines:
    """One pass over an export, with the line that a fault is in."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self._data = data.removeprefix(b"\xef\xbb\xbf")
        self._line = 0
        self.parcel = Parcel(path.name)

    def read(self) -> Parcel:
        """Return all that the lines hold."""
        values = self._values()
        head = next(values, {})
        if head.get("kind") != KIND:
            raise self._fault("this is no export of memory-magic", "its first line names the format")
        if head.get("format") != FORMAT:
            raise self._fault("this export has a format that this version cannot read", "update memory-magic")
        for value in values:
            self._take(value)
        return self.parcel

    def _values(self) -> Iterator[dict[str, Any]]:
        for line in self._data.split(b"\n"):
            self._line += 1
            if not line.strip():
                continue
            if len(line) > LONGEST_LINE:
                raise self._fault("this line is too long")
            try:
                value = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError):
                raise self._fault("this line is no JSON", "export again; an editor may have changed the file") from None
            if not isinstance(value, dict):
                raise self._fault("this line is no JSON object")
            yield value

    def _take(self, value: dict[str, Any]) -> None:
        readers: Mapping[str, Callable[[dict[str, Any]], None]] = {
            "text": self._take_note,
            "action": self._take_record,
            "tombstones": self._take_tombstones,
            "label": self._take_scope,
        }
        for key, reader in readers.items():
            if key in value:
                reader(value)
                return
        raise self._fault("this line is neither scope nor note nor record")

    def _take_scope(self, value: dict[str, Any]) -> None:
        scope = self._scope(value)
        aliases = self._texts(value, "aliases")
        self.parcel.scopes[scope] = ScopeFile(
            self._text(value, "label"), self._text(value, "origin"), tuple(aliases), self._text(value, "created")
        )

    def _take_note(self, value: dict[str, Any]) -> None:
        kind = self._text(value, "kind") or "item"
        created = self._text(value, "created")
        if kind not in _KINDS:
            raise self._fault("kind has to be item or prose")
        pinned = value.get("pinned", False)
        if not isinstance(pinned, bool):
            raise self._fault("pinned has to be true or false")
        item = Item(self._text(value, "text"), pinned, tuple(self._texts(value, "section")), kind)
        known = created if _TIME.fullmatch(created) else ""
        self.parcel.add(self._scope(value), item, self._line, known, self._text(value, "by"))

    def _take_record(self, value: dict[str, Any]) -> None:
        n = value.get("n")
        if not isinstance(n, int) or isinstance(n, bool) or n < 0:
            raise self._fault("n has to be a number")
        groups = {name: self._mapping(value, name) for name in ("fields", "salts", "erased")}
        salt = self._text(value, "salt") or None
        record = JournalRecord(
            n,
            self._text(value, "action"),
            self._text(value, "time"),
            groups["fields"],
            salt,
            self._text(value, "prev"),
            self._text(value, "chain"),
            groups["salts"],
            groups["erased"],
        )
        if not is_faithful(record):
            raise self._fault("this is no record of a journal", "export again")
        self.parcel.records.append(record)

    def _take_tombstones(self, value: dict[str, Any]) -> None:
        lines = self._texts(value, "tombstones")
        if not all(_TOMBSTONE.fullmatch(line) for line in lines):
            raise self._fault("these are no tombstones")
        self.parcel.tombstones += lines

    # -- checked values ----------------------------------------------------------------------------------------

    def _text(self, value: dict[str, Any], key: str) -> str:
        found = value.get(key, "")
        if not isinstance(found, str):
            raise self._fault(f"{key} has to be a text")
        return found

    def _texts(self, value: dict[str, Any], key: str) -> list[str]:
        found = value.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise self._fault(f"{key} has to be a list of texts")
        return found

    def _mapping(self, value: dict[str, Any], key: str) -> dict[str, str]:
        found = value.get(key, {})
        if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
            raise self._fault(f"{key} has to be an object of texts")
        return found

    def _scope(self, value: dict[str, Any]) -> str:
        scope = self._text(value, "scope")
        try:
            checked = check_scope_name(scope)
        except ScopeError as error:
            raise self._fault(error.what) from None
        if checked in {"all", "workspace"}:
            raise self._fault("scope has to be global or one workspace's id")
        return checked

    def _fault(self, what: str, hint: str = "") -> ImportFileError:
        return ImportFileError(what, where=f"{self._path}:{self._line}", hint=hint)


def render_record(record: JournalRecord) -> str:
    """Return the Markdown of a record; CodeWhale's get its own form, with a path that names the scope alone."""
    if record.n:
        return form.render(record)
    moment = dt.datetime.strptime(record.time[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=dt.UTC)
    lines = [f"- **{record.action}** `{int(moment.timestamp())}` memory/{record.scope}/MEMORY.md"]
    lines += [f"  - {name}: {value}" for name, value in record.fields.items() if name not in {"scope", "by"}]
    return "\n".join(lines) + "\n\n"


def is_faithful(record: JournalRecord) -> bool:
    """Tell whether *record* written as Markdown reads back as exactly itself, so that it can forge nothing."""
    try:
        read = form.parse(render_record(record))
    except (ValueError, OverflowError):
        return False
    return read is not None and _parts(read) == _parts(record)


def _parts(record: JournalRecord) -> tuple[object, ...]:
    head = (record.n, record.action, record.time, record.salt, record.prev, record.chain)
    return (*head, record.fields, record.salts, record.erased)
