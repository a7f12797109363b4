"""Changes that bring notes back, take them over or make several changes one: restore, import, promote, undo.

The same protocol as in `operations`: planned on a document, applied again to other bytes when an editor saves
meanwhile, rebuilt from journal records after a crash. `Put` is the general addition: many notes at once, each to its
section, pinned or not, item or prose. `Several` is one change made of independent ones: one temp, one append, one
exchange.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_magic.store.journal_format import Draft, join_titles, split_titles
from memory_magic.store.placing import Item, placed
from memory_magic.text.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memory_magic.store.note import Document
    from memory_magic.store.operations import Operation
    from memory_magic.store.records import JournalRecord


@dataclass(frozen=True, slots=True)
class Put:
    """Add *items* to *scope* under the name of *action*; *details* are further fields of each item's record."""

    scope: str
    action: str
    items: tuple[Item, ...]
    details: tuple[Mapping[str, str], ...] = ()

    @property
    def added(self) -> frozenset[str]:
        """Return the ids that exist because of this change."""
        return frozenset(item.id_in(self.scope) for item in self.items)

    @property
    def taken(self) -> frozenset[str]:
        """Return no ids: nothing goes."""
        return frozenset()

    def is_done(self, document: Document) -> bool:
        """Tell whether all notes stand in *document*, pinned where they should be."""
        return all(
            (note := document.notes.get(item.id_in(self.scope))) is not None
            and (note.pinned or not item.pinned or note.kind != "item")
            for item in self.items
        )

    def apply(self, document: Document) -> Document:
        """Return *document* with the notes that it lacks."""
        return placed(document, self.items)

    def drafts(self, document: Document) -> list[Draft]:  # noqa: ARG002  (the items say it all)
        """Return one record for each note."""
        details = self.details or ({},) * len(self.items)
        return [
            Draft(self.action, fields_of(self.scope, item) | {name: value for name, value in extra.items() if value})
            for item, extra in zip(self.items, details, strict=True)
        ]


def fields_of(scope: str, item: Item) -> dict[str, str]:
    """Return the journal's fields for a note that comes into *scope*."""
    fields = {"scope": scope, "id": item.id_in(scope), "after": item.text}
    return fields | {name: value for name, value in place_fields(item.section, item.pinned, item.kind).items() if value}


def place_fields(section: Sequence[str], pinned: bool, kind: str) -> dict[str, str]:  # noqa: FBT001  (a column)
    """Return where a note stands as journal fields, empty ones included."""
    return {
        "section": redact(join_titles(section)).text,
        "pinned": "yes" if pinned else "",
        "kind": "" if kind == "item" else kind,
    }


def section_from(text: str) -> tuple[str, ...]:
    """Return the path of headings that a `section` field names."""
    return split_titles(text)


def item_from(record: JournalRecord) -> Item:
    """Return the note that a record brought."""
    fields = record.fields
    section = section_from(fields.get("section", "")) if record.action != "promote" else ()
    return Item(fields.get("after", ""), fields.get("pinned") == "yes", section, fields.get("kind", "item"))


@dataclass(frozen=True, slots=True)
class Several:
    """Several changes of one file as one; they touch different notes."""

    parts: tuple[Operation, ...]

    @property
    def added(self) -> frozenset[str]:
        """Return the ids that exist because of any part."""
        return frozenset().union(*(part.added for part in self.parts))

    @property
    def taken(self) -> frozenset[str]:
        """Return the ids that are gone because of any part."""
        return frozenset().union(*(part.taken for part in self.parts))

    def is_done(self, document: Document) -> bool:
        """Tell whether *document* shows the effect of every part already."""
        return all(part.is_done(document) for part in self.parts)

    def apply(self, document: Document) -> Document:
        """Return *document* with every part done that is not done yet."""
        for part in self.parts:
            document = document if part.is_done(document) else part.apply(document)
        return document

    def drafts(self, document: Document) -> list[Draft]:
        """Return the records of all parts, in their order."""
        return [draft for part in self.parts for draft in part.drafts(document)]
