"""The changes that a person or assistant can ask for, each able to be applied again.

An operation is planned on a document: what the journal will say (`drafts`) and the document that results. The same
operation can be applied to other bytes, because an editor may save between reading and writing, and rebuilt from its
journal record, because a crash may come between record and exchange (store_rules 2). `is_done` tells that a document
shows the effect already. Ids name the notes; texts here have passed the gate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Final, Protocol

from memory_magic.errors import NoSuchNoteError
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.journal_format import Draft, join_titles
from memory_magic.store.note import Document, render
from memory_magic.store.operations_history import Put, item_from, place_fields, section_from
from memory_magic.text.redact import redact

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from memory_magic.store.note import Parsed
    from memory_magic.store.records import JournalRecord

_ADDING: Final = frozenset({"remember", "restore", "import"})
_TAKE_OUT: Final = frozenset({"retire", "reject", "prune"})


class Operation(Protocol):
    """What the write path needs of a change."""

    @property
    def added(self) -> frozenset[str]:
        """Return the ids that exist because of this change."""

    @property
    def taken(self) -> frozenset[str]:
        """Return the ids that are gone because of this change."""

    def is_done(self, document: Document) -> bool:
        """Tell whether *document* shows the effect already."""

    def apply(self, document: Document) -> Document:
        """Return *document* changed; raise `NoSuchNoteError` where the note is gone."""

    def drafts(self, document: Document) -> list[Draft]:
        """Return what the journal will say."""


def _note(document: Document, one: str) -> Parsed:
    note = document.notes.get(one)
    if note is None:
        raise NoSuchNoteError("the note is no longer there", where=document.where)
    return note


@lru_cache(maxsize=1)  # one write asks several times
def _ids(scope: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(note_id(scope, normalise(text)) for text in texts)


def _with(fields: dict[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    return fields | {name: value for name, value in extra.items() if value}


@dataclass(frozen=True, slots=True)
class Append:
    """Remember *texts* in *scope*, at the append place or, *pinned*, at the end of the Pinned section."""

    scope: str
    texts: tuple[str, ...]
    extra: Mapping[str, str]
    pinned: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids in the order of the texts."""
        return _ids(self.scope, self.texts)

    @property
    def added(self) -> frozenset[str]:
        """Return the ids that exist because of this change."""
        return frozenset(self.ids)

    @property
    def taken(self) -> frozenset[str]:
        """Return no ids: nothing goes."""
        return frozenset()

    def is_done(self, document: Document) -> bool:
        """Tell whether all texts stand in *document*."""
        notes = document.notes
        return all(one in notes and (notes[one].pinned or not self.pinned) for one in self.ids)

    @property
    def height(self) -> int:
        """Return how many lines the texts take."""
        return sum(text.count("\n") + 1 for text in self.texts)

    def without(self, present: Container[str]) -> Append | None:
        """Return the same for the texts that are not *present*, or None."""
        left = {one: text for one, text in zip(self.ids, self.texts, strict=True) if one not in present}
        return Append(self.scope, tuple(left.values()), self.extra, self.pinned) if left else None

    def chunk(self, prefix: str, newline: str) -> bytes:
        """Return the bytes to write at a place that asks for *prefix*."""
        return (prefix + "".join(render(text, newline=newline) for text in self.texts)).encode("utf-8")

    def apply(self, document: Document) -> Document:
        """Return *document* with the texts that it lacks."""
        missing = {one: text for one, text in zip(self.ids, self.texts, strict=True) if one not in document.notes}
        if missing:
            document = appended(document, *missing.values())
        if self.pinned:
            for one in self.ids:
                document = document if document.notes[one].pinned else document.pinned(document.notes[one])
        return document

    def drafts(self, document: Document | None) -> list[Draft]:  # noqa: ARG002  (the texts say it all)
        """Return one remember record for each text."""
        pinned = {"pinned": "yes"} if self.pinned else {}
        return [
            Draft("remember", _with({"scope": self.scope, "id": one, "after": text} | pinned, self.extra))
            for one, text in zip(self.ids, self.texts, strict=True)
        ]


def appended(document: Document, *texts: str) -> Document:
    """Return *document* with *texts* as list items at the append place."""
    document.require_appendable()
    place = document.place
    chunk = place.prefix + "".join(render(text, newline=place.newline) for text in texts)
    offset = document.character_offset(place.offset)
    return document.with_text(document.text[:offset] + chunk + document.text[offset:])


@dataclass(frozen=True, slots=True)
class Revise:
    """Let the note *old* read *text*."""

    scope: str
    old: str
    text: str
    extra: Mapping[str, str]
    before: str = ""

    @property
    def new(self) -> str:
        """Return the id that *text* has."""
        return note_id(self.scope, normalise(self.text))

    @property
    def added(self) -> frozenset[str]:
        """Return the new id."""
        return frozenset({self.new})

    @property
    def taken(self) -> frozenset[str]:
        """Return the old id, unless the new text has the same."""
        return frozenset({self.old}) - self.added

    def is_done(self, document: Document) -> bool:
        """Tell whether the new text stands and the old is gone."""
        return self.new in document.notes and (self.old == self.new or self.old not in document.notes)

    def apply(self, document: Document) -> Document:
        """Return *document* with the note replaced, its copies taken out."""
        return document.replaced(_note(document, self.old), self.text)

    def drafts(self, document: Document) -> list[Draft]:
        """Return one revise record, which says when two notes became one."""
        note = _note(document, self.old)
        fields = {"scope": self.scope, "id": self.old, "new_id": self.new, "before": self.before, "after": self.text}
        if note.copies:
            fields["copies"] = str(1 + len(note.copies))
        if self.new != self.old and self.new in document.notes:
            fields["merged"] = "yes"
            if note.pinned or document.notes[self.new].pinned:
                fields["pinned"] = "yes"
        return [Draft("revise", _with(fields, self.extra))]


@dataclass(frozen=True, slots=True)
class Retire:
    """Take the note *one* out, under the name of *action*: retire, reject, prune, or promote where it leaves."""

    scope: str
    one: str
    extra: Mapping[str, str]
    before: str = ""
    action: str = "retire"

    @property
    def added(self) -> frozenset[str]:
        """Return no ids: nothing comes."""
        return frozenset()

    @property
    def taken(self) -> frozenset[str]:
        """Return the id."""
        return frozenset({self.one})

    def is_done(self, document: Document) -> bool:
        """Tell whether the note is gone."""
        return self.one not in document.notes

    def apply(self, document: Document) -> Document:
        """Return *document* without the note and its copies."""
        return document.removed(_note(document, self.one))

    def drafts(self, document: Document) -> list[Draft]:
        """Return one record, which says where the note stood, so that it can come back there."""
        note = _note(document, self.one)
        fields = {"scope": self.scope, "id": self.one, "before": self.before}
        if note.copies:
            fields["copies"] = str(1 + len(note.copies))
        place = place_fields(note.section, note.pinned, note.kind)
        return [Draft(self.action, _with(_with(fields, place), self.extra))]


@dataclass(frozen=True, slots=True)
class Pin:
    """Move the note *one* under Pinned, or, with *pinned* off, back to *section*."""

    scope: str
    one: str
    pinned: bool
    extra: Mapping[str, str]
    section: tuple[str, ...] = ()

    @property
    def added(self) -> frozenset[str]:
        """Return no ids: the note only moves."""
        return frozenset()

    @property
    def taken(self) -> frozenset[str]:
        """Return no ids: the note only moves."""
        return frozenset()

    def is_done(self, document: Document) -> bool:
        """Tell whether the note stands where it should."""
        note = document.notes.get(self.one)
        return note is not None and note.pinned == self.pinned

    def apply(self, document: Document) -> Document:
        """Return *document* with the note moved."""
        note = _note(document, self.one)
        return document.pinned(note) if self.pinned else document.unpinned(note, self.section)

    def drafts(self, document: Document) -> list[Draft]:
        """Return one record that remembers the section that the note came from."""
        section = _note(document, self.one).section if self.pinned else self.section
        fields = {"scope": self.scope, "id": self.one, "section": redact(join_titles(section)).text}
        return [Draft("pin" if self.pinned else "unpin", _with(fields, self.extra))]


def from_record(record: JournalRecord, scope: str = "") -> Operation | None:
    """Return the operation that *record* tells of, or None where it is no change of a file that can be done again.

    *scope* names the file: a `promote` record adds to one and takes out of another, and without it is no operation.
    """
    one, fields, action = record.id or "", record.fields, record.action
    if action == "promote":
        return _promoted(record, scope)
    if action in _ADDING:
        return _added(record)
    if action == "revise":
        return Revise(record.scope, one, fields.get("after", ""), {})
    if action in _TAKE_OUT:
        return Retire(record.scope, one, {}, action=action)
    if action in {"pin", "unpin"}:
        return Pin(record.scope, one, action == "pin", {}, section_from(fields.get("section", "")))
    return None


def _added(record: JournalRecord) -> Operation:
    item = item_from(record)
    if item.section or item.kind != "item":
        return Put(record.scope, record.action, (item,))
    return Append(record.scope, (item.text,), {}, pinned=item.pinned)


def _promoted(record: JournalRecord, scope: str) -> Operation | None:
    if scope and scope == record.fields.get("to"):
        return Put(scope, "promote", (item_from(record),))
    return Retire(scope, record.id or "", {}, action="promote") if scope and scope == record.scope else None


def from_records(records: Sequence[JournalRecord], scope: str) -> list[tuple[Operation, list[JournalRecord]]]:
    """Return the operations of a batch with the records of each: a run of additions is one, so it is parsed once."""
    found: list[tuple[Operation, list[JournalRecord]]] = []
    for adds, run in groupby(records, key=lambda record: record.action in _ADDING):
        batch = list(run)
        if adds and len(batch) > 1:
            found.append((Put(scope, batch[0].action, tuple(map(item_from, batch))), batch))
            continue
        for record in batch:
            operation = from_record(record, scope)
            if operation is not None:
                found.append((operation, [record]))
    return found
