"""Notes: every line that is remembered, whether it is kept from prompts, where it came from, and what it was before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_dashboard import words
from memory_dashboard.data import SUSPICIOUS
from memory_dashboard.markup import Markup, clip, element, join, word_diff
from memory_dashboard.pages.base import ListAndDetail, PageKind, RowTable, facts, section
from memory_dashboard.pages.empty import nothing, why_none
from memory_dashboard.view import View

if TYPE_CHECKING:
    from datetime import datetime

    from memory_dashboard.data import NoteDetail, NoteRow, Slice, Source
    from memory_dashboard.view import Navigator
    from memory_magic.store.records import JournalRecord

_COLUMNS = {
    "id": ("id", 112),
    "note": ("Note", 0),
    "scope": ("Scope", 128),
    "state": ("State", 124),
    "age": ("Age", 72),
    "by": ("By", 170),
}
_ALL_GONE = "All notes were retired or purged; the journal tells when and why."
_UNRECORDED = "No record yet: somebody typed it into the file. The next change that memory-magic writes records it."
# What the detail tells as well.
# A longer text in bold is hard to read.
_HEADING = 160
_SPARE = ("scope", "by")


class NotesBody:
    """Table of notes and the detail of one."""

    def __init__(self, source: Source, navigator: Navigator) -> None:
        self._source = source
        self._navigator = navigator
        self._table = RowTable(_COLUMNS, _SPARE, lambda key: navigator.go(note=key))
        self._shape = ListAndDetail(self._table, lambda page_no: navigator.go(page_no=page_no), self.dismiss)

    @property
    def panel(self) -> Any:
        """Return table and detail."""
        return self._shape.panel

    def show(self, view: View) -> None:
        """Draw the notes of a view."""
        part = self._source.notes(view.scope, view.q, view.page_no)
        self._table.fill(part.rows, view.note)
        self._shape.show(_head(part, view), part.page_no, part.pages, self._detail(view.note))

    def move(self, step: int) -> None:
        """Open the note above or below."""
        key = self._table.beside(self._navigator.view.note, step)
        if key is not None:
            self._navigator.go(note=key, step=False)

    def settle(self) -> None:
        """Mark the open row once the table stands in the browser."""
        self._table.settle()

    def dismiss(self) -> None:
        """Close the detail."""
        self._navigator.go(note="")

    def _detail(self, note_id: str) -> Markup | None:
        if not note_id:
            return None
        found = self._source.note(note_id)
        return _missing(note_id) if found is None else _whole(found, self._source.now)


def _head(part: Slice[NoteRow], view: View) -> Markup:
    """Say how many notes there are and in what order, or why there is none."""
    if not part.total:
        return nothing("No note here", *(why_none(view, "note") or [_ALL_GONE]))
    order = "best match first" if view.q.strip() else "pinned, then newest first"
    counted = join(element("b", words.counted(part.total, "note")), " ", element("span", order, class_="soft"))
    kept = sum(row.state == SUSPICIOUS for row in part.rows)
    if not kept:
        return counted
    told = "put into no prompt until a person approves it"
    return element(
        "div",
        element("span", counted),
        element("span", f"▲ {kept} suspicious here: {told}", class_="warn small"),
        class_="bar",
    )


def _missing(note_id: str) -> Markup:
    """Say that a link leads to a note that is gone."""
    return element(
        "section",
        element("h2", "No such note now"),
        element("p", "No live note has the id ", element("code", note_id), ".", class_="text"),
        element("p", "It may have been revised or retired: the journal tells. ", _to_journal(note_id), class_="soft"),
    )


def _to_journal(note_id: str) -> Markup:
    return element("a", "Look in the journal ›", href=View(page="journal", q=note_id).query())


def _whole(found: NoteDetail, now: datetime) -> Markup:
    """Return all that is known of a note."""
    note = found.note
    chips = [element("span", found.scope, class_="chip on", title=note.scope)]
    chips += [element("span", SUSPICIOUS, class_="chip warn")] if found.suspicion else []
    chips += [element("span", found.state, class_="chip")] if found.state else []
    place = element(
        "p",
        element("code", found.short_id),
        " · ",
        element("code", found.place, title=f"{note.path}:{note.line}"),
        class_="soft small place",
    )
    return join(
        element(
            "section",
            element("div", *chips, class_="chips"),
            element("h2", note.text) if len(note.text) <= _HEADING else element("div", note.text, class_="text body"),
            place,
        ),
        *_doubt(found),
        section("Where it came from", _origin(found)),
        *_last_change(found.changed),
        section(
            f"Journal · {words.counted(len(found.history), 'record')}",
            element("ol", *(_line(record, now) for record in found.history))
            if found.history
            else element("p", _UNRECORDED, class_="soft"),
        ),
    )


def _doubt(found: NoteDetail) -> list[Markup]:
    """Return why a suspicious note is kept from prompts, and what a person who stands by it types."""
    if not found.suspicion:
        return []
    return [
        element(
            "section",
            element("b", "▲ Put into no prompt until a person approves it"),
            element("p", f"It looks like an attack on the assistant: {found.suspicion}.", class_="text"),
            element("p", "Is it right? ", element("code", f"memory-magic approve {found.short_id}")),
            element("p", "Is it not? ", element("code", f"memory-magic reject {found.short_id} --evidence WHY")),
            class_="alarm",
        )
    ]


def _origin(found: NoteDetail) -> Markup:
    note, record = found.note, found.changed
    return facts(
        ("written by", note.by or "not known"),
        ("first seen", words.full_time(note.created)),
        ("changed", _changed(found)),
        ("evidence", record.fields.get("evidence", "") if record else ""),
        ("below", " › ".join(note.section)),
        ("file", element("code", f"{note.path}:{note.line}")),
        ("full id", element("code", note.id)),
        ("chain", join(f"record {record.n:,}, hash ", element("code", record.chain[:8] + "…")) if record else ""),
    )


def _changed(found: NoteDetail) -> str:
    """Return when and by whom a note was changed since it was first written."""
    record = found.changed
    if record is None or record.time == found.note.created:
        return ""
    return f"{words.full_time(record.time)}, by {record.fields.get('by', 'somebody not known')}"


def _last_change(record: JournalRecord | None) -> list[Markup]:
    """Return the last revision with the words that changed, if there was one."""
    if record is None or not (record.fields.get("before") and record.fields.get("after")):
        return []
    return [section("Last change", change(record.fields["before"], record.fields["after"]))]


def change(before: str, after: str) -> Markup:
    """Return two wordings, one below the other, with the differing words marked by sign, line and colour."""
    gone, come = word_diff(before, after)
    return element(
        "div",
        element("div", element("span", "−", class_="bad"), element("span", gone, class_="text"), class_="old"),
        element("div", element("span", "+", class_="good"), element("span", come, class_="text"), class_="new"),
        class_="diff",
    )


def _line(record: JournalRecord, now: datetime) -> Markup:
    """Return one record of a note as a line that leads to the journal."""
    return element(
        "li",
        element("a", words.day_time(record.time, now), href=View(page="journal", record=record.n).query()),
        element("b", words.action_words(record.action)),
        element("span", clip(record.fields.get("by", "–"), 120), class_="text soft"),
    )


PAGE = PageKind(
    key="notes",
    title="Notes",
    icon="sticky_note_2_outlined",
    question="Every line that is remembered, where it came from, and what it was before.",
    build=NotesBody,
    count=lambda source: source.facts().notes,
)
