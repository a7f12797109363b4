"""What a purge destroys, found before anything is touched: versions of notes, fields of records, lines of other files.

By *id* the whole lineage of a note goes, all that revise, promote, a linked edit or a merge joined (`only_version`:
that text alone). By *text* goes every whole value that holds it, live notes too. By *session* goes every text that
entered by it and every later version of a note that began in it. By *scope* goes all of it. Wherever a purged text is
quoted, in evidence or a version that stands no more, the whole value goes with it. A live note that only quotes it
stays, told with file and line, unless `quoting` takes it, too: never half, journal erased and file kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from memory_magic.errors import UsageError
from memory_magic.store import files
from memory_magic.store.bench import document_of, resolved
from memory_magic.store.history import lineage
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.purge import erase, ledger, places
from memory_magic.store.purge.search import SHORT, Needles, fold, texts_of
from memory_magic.store.records import GLOBAL, Scope
from memory_magic.store.scope import safe_directory
from memory_magic.store.undoing import UNKNOWN_TEXT
from memory_magic.text.redact import MARKER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench
    from memory_magic.store.note import Document
    from memory_magic.store.records import JournalRecord

_HEX: Final = re.compile(r"[0-9a-f]{64}")
_SESSION_KEY: Final = re.compile(r"^(?:session|path): (\".*\")$", re.MULTILINE)
_FRONT_BYTES: Final = 16_384
_AUTHORS: Final = 1000  # records that are looked at for who wrote them


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for: exactly one of *one* (an id), *text*, *session*, *scope* (a directory name)."""

    one: str = ""
    text: str = ""
    session: str = ""
    scope: str = ""
    only_version: bool = False
    quoting: bool = False
    short: bool = False
    forbid: bool = False
    tombstone: bool = True
    delete_copies: bool = False


@dataclass(frozen=True, slots=True)
class Live:
    """A note that stands in a memory file."""

    scope: str
    id: str
    text: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file other than notes and journal that hold a purged text; *whole*: the file goes."""

    path: Path
    place: str
    lines: tuple[int, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that goes (*live* notes, versions by id in *texts*, *finds* in the journal, *lines*), and what stays.

    *quoting* are live notes that hold the text and stay. *forbidden* are the texts that get a tombstone,
    *documents* the memory files as they were read, by scope.
    """

    request: Request
    needles: Needles
    live: tuple[Live, ...] = ()
    quoting: tuple[Live, ...] = ()
    finds: erase.Finds = field(default_factory=erase.Finds)
    lines: tuple[Lines, ...] = ()
    copies: tuple[Path, ...] = ()
    forbidden: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    documents: dict[str, Document] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        """Tell whether there is anything to destroy, or to forbid."""
        found = self.live or self.finds.fields or self.finds.loose or self.lines or self.copies
        return bool(found or self.request.text or self.request.session)

    @property
    def versions(self) -> dict[str, str]:
        """Return the texts that stand in the journal only, by id."""
        live = {note.id for note in self.live}
        return {one: text for one, text in self.finds.texts.items() if one not in live}

    def is_covered_by(self, shown: Plan) -> bool:
        """Tell whether nothing goes that *shown* did not show."""
        return (
            {note.id for note in self.live} <= {note.id for note in shown.live}
            and self.finds.ids <= shown.finds.ids
            and {(at, name) for at, names in self.finds.fields.items() for name in names}
            <= {(at, name) for at, names in shown.finds.fields.items() for name in names}
            and self._other_lines <= shown._other_lines
        )

    @property
    def _other_lines(self) -> set[tuple[Path, tuple[int, ...]]]:
        """Return the lines that go, but for the ledger's: each prompt adds some, and they tell nothing new."""
        return {(one.path, one.lines) for one in self.lines if not ledger.owns(one.path)}


def scopes_of_root(root: Path) -> list[Scope]:
    """Return every scope that has a directory below *root*, global first."""
    found = [Scope(GLOBAL, root / GLOBAL)]
    try:
        names = sorted(path.name for path in (root / "workspace").iterdir() if _HEX.fullmatch(path.name))
    except OSError:
        names = []
    for name in names:
        one = f"workspace/{name}"
        path = root / one
        if path.is_dir() and path.resolve().is_relative_to(root.resolve()):
            found.append(Scope(one, safe_directory(root, one)))
    return found


def check(request: Request) -> None:
    """Raise `UsageError` for a request that is no request, or a dangerous one that was not meant."""
    asked = [one for one in (request.one, request.text, request.session, request.scope) if one.strip()]
    if len(asked) != 1:
        raise UsageError("say what to purge: an id, --text, --session or --scope, one of them")
    if request.text and not request.short and len(fold(request.text)) < SHORT:
        raise UsageError(
            f"a text of fewer than {SHORT} characters is part of many words",
            hint="--short purges every value that holds it as a word; look at the list before you say yes",
        )
    if request.text and not fold(request.text):
        raise UsageError("there is nothing to search for in this text")
    if request.forbid and not request.text:
        raise UsageError("--forbid goes with --text")


def survey(access: Access, bench: Bench, request: Request) -> Plan:
    """Return what *request* means now; call under the lock, with files and journal level."""
    return _Surveyor(access, bench, request).run()


class _Surveyor:
    def __init__(self, access: Access, bench: Bench, request: Request) -> None:
        self._access = access
        self._bench = bench
        self._request = request
        self._root = access.root
        self._documents = {scope.id: (scope, _document(scope)) for scope in scopes_of_root(access.root)}

    def run(self) -> Plan:
        check(self._request)
        ids, texts = self._asked()
        ids |= {note_id(scope, normalise(text)) for text in texts if self._request.text for scope in self._documents}
        needles = Needles(texts_of(text for text in texts if _is_searchable(text)), frozenset(ids), self._words)
        live, quoting = self._sort(needles)
        gone = frozenset({*ids, *(note.id for note in live)})
        kept = frozenset(note.id for note in self._all_live() if note.id not in gone)
        whole = frozenset({self._request.scope} - {""})
        # the ids of live notes that go by their text are searched for as well
        needles = replace(needles, ids=gone)
        finds = erase.Survey(resolved(self._access.journal.path), needles, kept, whole).run()
        needles = replace(needles, ids=frozenset(finds.ids))
        lines, copies = self._elsewhere(needles)
        forbidden = [*texts, *(note.text for note in live)]
        if self._request.text:
            forbidden += [text for text in finds.texts.values() if needles.holds_text(text)]
        return Plan(
            self._request,
            needles,
            tuple(live),
            tuple(quoting),
            finds,
            tuple(lines),
            tuple(copies),
            texts_of(text for text in forbidden if text != UNKNOWN_TEXT) if self._request.tombstone else (),
            self._authors(finds),
            {scope: document for scope, (_, document) in self._documents.items()},
        )

    @property
    def _words(self) -> bool:
        return bool(self._request.short and self._request.text)

    # -- what was asked for -----------------------------------------------------------------------------------------

    def _asked(self) -> tuple[set[str], list[str]]:
        """Return ids and texts that the request names."""
        request = self._request
        if request.text:
            return set(), [request.text]
        if request.one:
            return self._of_note(request.one)
        records = [record for record in self._bench.journal.records() if record.n]
        if request.session:
            ids = _of_session(records, request.session)
            texts = [*_texts_of_ids(records, ids), *(note.text for note in self._all_live() if note.id in ids)]
            return ids, [*texts, *([request.session] if len(fold(request.session)) >= SHORT else [])]
        ids = {one for record in records if record.scope == request.scope and (one := record.id)}
        ids |= {one for record in records if record.scope == request.scope and (one := record.new_id)}
        ids -= {one for record in records if "to" in record.fields and (one := record.new_id)} - _ids_in(
            records, request.scope
        )
        there = [note for note in self._all_live() if note.scope == request.scope]
        ids |= {note.id for note in there}
        return ids, [*_texts_of_ids(records, ids), *(note.text for note in there)]

    def _of_note(self, one: str) -> tuple[set[str], list[str]]:
        """Return the versions of a note, and their texts."""
        found = self._access.lookup(self._bench)
        records = self._access.records(found, lambda asked: lineage(one, asked.links_of))
        ids = {one}
        if not self._request.only_version:
            ids |= {id_ for record in records for id_ in (record.id, record.new_id) if id_}
        ids = {id_ for id_ in ids if not id_.startswith(erase.PREFIX)}
        there = [note.text for note in self._all_live() if note.id in ids]
        return ids, [*_texts_of_ids(records, ids), *there]

    # -- live notes -------------------------------------------------------------------------------------------------

    def _all_live(self) -> Iterator[Live]:
        for scope, document in self._documents.values():
            for note in document.notes.values():
                yield Live(scope.id, note.id, note.text, str(scope.memory_file), note.block.line)

    def _sort(self, needles: Needles) -> tuple[list[Live], list[Live]]:
        """Return the live notes that go, and those that stay though they hold the text."""
        request = self._request
        going: list[Live] = []
        staying: list[Live] = []
        for note in self._all_live():
            if note.id in needles.ids or (request.scope and note.scope == request.scope):
                going.append(note)
            elif needles.holds_text(note.text):
                (going if request.text or request.quoting else staying).append(note)
        return going, staying

    # -- other files ------------------------------------------------------------------------------------------------

    def _elsewhere(self, needles: Needles) -> tuple[list[Lines], list[Path]]:
        lines: list[Lines] = []
        copies: list[Path] = []
        scope = self._request.scope
        blocks = ledger.blocks_of_scope(self._root, scope) if scope else frozenset()
        for found in places.walk(self._root):
            whole = self._goes_whole(found) or (found.place.kind == places.LEDGER and found.path.stem in blocks)
            if whole:
                lines.append(Lines(found.path, found.place.name, whole=True))
            elif found.place.kind in {places.LINES, places.LEDGER}:
                data = files.read(str(found.path)).data or b""
                at = needles.lines_in(data)
                if scope and found.place.kind == places.LEDGER:
                    at = sorted({*at, *ledger.lines_of_scope(data, scope)})
                if at:
                    lines.append(Lines(found.path, found.place.name, tuple(at)))
            elif found.place.kind == places.COPY and self._request.delete_copies:
                copies.append(found.path)
        return lines, copies

    def _goes_whole(self, found: places.Found) -> bool:
        request = self._request
        if request.scope and found.relative.startswith(f"{request.scope}/"):
            return found.place.kind in {places.LINES, places.TEMP} or found.relative.endswith("/scope.toml")
        if request.session and "/stage_one/" in found.relative:
            data = files.read(str(found.path)).data or b""
            return _is_of_session(data[:_FRONT_BYTES].decode("utf-8", "replace"), request.session)
        return False

    def _authors(self, finds: erase.Finds) -> tuple[str, ...]:
        """Return who brought the purged texts: a notebook's cell may hold them still."""
        found: dict[str, None] = {}
        if not finds.fields or len(finds.fields) > _AUTHORS:
            return ()
        for record in self._bench.journal.read([(self._bench.index.offset_of(n), 0) for n in sorted(finds.fields)]):
            if "after" in finds.fields.get(record.n, ()) and record.fields.get("by"):
                found[record.fields["by"]] = None
        return tuple(found)


def _document(scope: Scope) -> Document:
    """Return a scope's file with nothing hidden: what was typed back is to be found, too."""
    path = resolved(scope.memory_file)
    return document_of(scope, path, files.read(path))


def _is_searchable(text: str) -> bool:
    """Tell whether a text says enough to be searched for: one that is a redacted secret alone stands everywhere."""
    return text != UNKNOWN_TEXT and bool(fold(text.replace(MARKER, "")))


def _texts_of_ids(records: Iterable[JournalRecord], ids: set[str]) -> list[str]:
    found: dict[str, None] = {}
    for record in records:
        for id_field, text_field in erase.sides(record):
            if record.fields.get(id_field) in ids and text_field in record.fields:
                found[record.fields[text_field]] = None
    return [text for text in found if _is_searchable(text)]


def _ids_in(records: Iterable[JournalRecord], scope: str) -> set[str]:
    """Return the ids that a scope's own records name on their left, or brought to it."""
    return {record.id for record in records if record.scope == scope and record.id} | {
        record.new_id for record in records if record.new_id and record.fields.get("to") == scope
    }


def _of_session(records: Iterable[JournalRecord], session: str) -> set[str]:
    """Return every version that entered by *session*, and every later version of a note that began in it."""
    began: set[str] = set()
    entered: set[str] = set()
    for record in records:
        left, new = record.id, record.new_id
        made = new or (left if "after" in record.fields else None)
        if made is None:
            continue
        if _entered_by(record, session):
            entered.add(made)
            if new is None or left in began:
                began.add(made)
        elif new is not None and left in began:
            began.add(new)
    return began | entered


def _entered_by(record: JournalRecord, session: str) -> bool:
    fields, wanted = record.fields, session.strip()
    if wanted in {fields.get("session"), fields.get("by")}:
        return True
    return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", fields.get("by", "")) is not None


def _is_of_session(front: str, session: str) -> bool:
    """Tell whether the front matter of a stage-one file names *session*, by its id or its file."""
    if not front.startswith("---"):
        return False
    head = front.partition("\n---")[0]
    for found in _SESSION_KEY.finditer(head):
        try:
            if json.loads(found[1]) == session.strip():
                return True
        except ValueError:
            continue
    return False
