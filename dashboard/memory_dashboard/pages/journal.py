"""Journal: who changed what, when and why, and whether the chain of records is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_dashboard import words
from memory_dashboard.markup import Markup, element, join
from memory_dashboard.pages.base import ListAndDetail, PageKind, RowTable, facts, section
from memory_dashboard.pages.empty import nothing, why_none
from memory_dashboard.pages.notes import change
from memory_dashboard.view import View

if TYPE_CHECKING:
    from memory_dashboard.data import RecordRow, Slice, Source
    from memory_dashboard.view import Navigator
    from memory_magic.store.records import JournalRecord, Verification

_COLUMNS = {
    "n": ("No.", 72),
    "time": ("When (UTC)", 132),
    "action": ("Action", 116),
    "scope": ("Scope", 128),
    "what": ("What", 0),
    "by": ("By", 170),
}
# What the detail tells as well.
_SPARE = ("scope", "by")
_SHOWN_FAULTS = 5


class JournalBody:
    """Table of records and the detail of one."""

    def __init__(self, source: Source, navigator: Navigator) -> None:
        self._source = source
        self._navigator = navigator
        self._table = RowTable(_COLUMNS, _SPARE, lambda key: navigator.go(record=key))
        self._shape = ListAndDetail(self._table, lambda page_no: navigator.go(page_no=page_no), self.dismiss)

    @property
    def panel(self) -> Any:
        """Return table and detail."""
        return self._shape.panel

    def show(self, view: View) -> None:
        """Draw the records of a view."""
        part = self._source.records(view.scope, view.q, view.page_no)
        self._table.fill(part.rows, view.record)
        head = _head(part, self._source.facts().verdict)
        if not part.total:
            head = join(head, nothing("No record here", *why_none(view, "record")))
        self._shape.show(head, part.page_no, part.pages, self._detail(view.record))

    def move(self, step: int) -> None:
        """Open the record above or below."""
        key = self._table.beside(self._navigator.view.record, step)
        if key is not None:
            self._navigator.go(record=key, step=False)

    def settle(self) -> None:
        """Mark the open row once the table stands in the browser."""
        self._table.settle()

    def dismiss(self) -> None:
        """Close the detail."""
        self._navigator.go(record=0)

    def _detail(self, n: int) -> Markup | None:
        if not n:
            return None
        record = self._source.record(n)
        if record is None:
            return element(
                "section", element("h2", f"There is no record {n:,}"), element("p", _why_none(), class_="soft")
            )
        return _whole(record, self._source)


def _why_none() -> str:
    return "The link may come from another store, or the journal was cut. The verdict above the table tells."


def _head(part: Slice[RecordRow], verdict: Verification) -> Markup:
    """Say how many records there are, and whether the chain holds."""
    counted = join(
        element("b", words.counted(part.total, "record")), " ", element("span", "newest first", class_="soft")
    )
    if verdict.ok:
        sign = f"✓ Hash chain intact: {verdict.n:,} of {words.counted(verdict.n, 'record')}"
        return element("div", element("span", counted), element("span", sign, class_="badge ok verdict"), class_="bar")
    return join(
        element(
            "div", element("span", counted), element("span", "▲ Chain broken", class_="badge no verdict"), class_="bar"
        ),
        *(element("p", fault, class_="bad text") for fault in verdict.faults[:_SHOWN_FAULTS]),
        element(
            "p",
            "Notes are safe: MEMORY.md is the truth, the journal its history. ",
            element("code", "memory-magic verify"),
            " lists every fault; a copy of JOURNAL.md from before mends it.",
            class_="soft",
        ),
    )


def _whole(record: JournalRecord, source: Source) -> Markup:
    """Return all fields of a record."""
    before, after = record.fields.get("before", ""), record.fields.get("after", "")
    words_of_it = [section("What changed", _wordings(before, after))] if before or after else []
    return join(
        element(
            "section",
            element(
                "div",
                element("span", words.action_words(record.action), class_="chip on"),
                *(
                    [element("span", source.label(record.scope), class_="chip", title=record.scope)]
                    if record.scope
                    else []
                ),
                class_="chips",
            ),
            element("h2", f"Record {record.n:,}"),
            element("p", words.full_time(record.time), class_="soft small"),
        ),
        *words_of_it,
        section("Why and by whom", _account(record, source)),
        section("Chain", _links(record)),
    )


def _wordings(before: str, after: str) -> Markup:
    if before and after:
        return change(before, after)
    sign, kind, mark = ("+", "new", "good") if after else ("−", "old", "bad")
    shown = element("span", after or before, class_="text")
    return element("div", element("div", element("span", sign, class_=mark), shown, class_=kind), class_="diff")


def _account(record: JournalRecord, source: Source) -> Markup:
    """Return who, why and all fields that have no place of their own."""
    known = {"before", "after", "evidence", "by", "scope", "id", "new_id"}
    others = [(name, value) for name, value in record.fields.items() if name not in known]
    erased = ", ".join(record.erased)
    return facts(
        ("by", record.fields.get("by", "not known")),
        ("evidence", record.fields.get("evidence", "")),
        ("note", _note_link(record.id, source)),
        ("became", _note_link(record.new_id, source)),
        *others,
        ("purged", f"✕ {erased}" if erased else ""),
    )


def _note_link(note_id: str | None, source: Source) -> str | Markup:
    """Return an id, as a link when the note is live."""
    if not note_id:
        return ""
    shown = element("code", note_id)
    return element("a", shown, href=View(page="notes", note=note_id).query()) if source.is_live(note_id) else shown


def _links(record: JournalRecord) -> Markup:
    return facts(
        ("hash", element("code", record.chain)),
        ("follows", element("code", record.prev) if record.prev else "the first record"),
    )


PAGE = PageKind(
    key="journal",
    title="Journal",
    icon="history_outlined",
    question="Who changed what, when and why; and whether the record of it is whole.",
    build=JournalBody,
    count=lambda source: source.facts().records,
)
