"""The journal page: verdict, rows, and records in full, each of escaped text."""

from __future__ import annotations

from typing import Any

import pytest

from memory_dashboard.data import Source
from memory_dashboard.pages import journal
from memory_dashboard.view import Navigator, View
from memory_magic.store.records import JournalRecord, Verification
from memory_magic.store.store import Store


@pytest.fixture
def body(filled: Any) -> journal.JournalBody:
    """Give the page's body on the filled store."""
    return journal.JournalBody(Source(lambda: Store(filled.root, filled.cwd, read_only=True)), Navigator(View()))


def detail(body: journal.JournalBody) -> str:
    """Return the markup of the open detail."""
    return str(body._shape._detail_text.object)


def opened(body: journal.JournalBody, words: str) -> str:
    """Open the newest record that holds *words* and return its markup."""
    body.show(View(page="journal", record=body._source.records("all", words, 1).rows[0].key))
    return detail(body)


def test_the_verdict_stands_above_the_table(body: journal.JournalBody) -> None:
    """A whole chain is said with a sign and its length."""
    body.show(View(page="journal"))
    n = body._source.facts().records
    assert f"✓ Hash chain intact: {n} of {n} records" in body._shape.head.object


def test_a_damaged_journal_is_said_with_what_to_do(root: Any) -> None:
    """A changed word breaks the chain: the page names the fault and the command, and still shows the records."""
    with Store(root) as store:
        store.remember("the truth")
        store.remember("another")
    path = root / "JOURNAL.md"
    path.write_text(path.read_text(encoding="utf-8").replace("the truth", "a lie<b>"), encoding="utf-8")
    body = journal.JournalBody(Source(lambda: Store(root, read_only=True)), Navigator(View()))
    body.show(View(page="journal"))
    assert "▲ Chain broken" in body._shape.head.object
    assert "memory-magic verify" in body._shape.head.object
    assert len(body._table._keys) == 2


def test_faults_are_escaped_and_bounded() -> None:
    """Texts of faults are data like all others, and a thousand of them are not a thousand lines."""
    verdict = Verification(ok=False, n=9, head="", faults=("<b>" + "x",) * 50)
    part: Any = type("Part", (), {"total": 9})
    markup = journal._head(part, verdict).html
    assert "<b>x" not in markup
    assert markup.count("&lt;b&gt;x") == 5


def test_a_revision_shows_both_wordings_and_the_way_to_the_note(body: journal.JournalBody, filled: Any) -> None:
    """Before, after, evidence, author and both ids are there; only the live id is a link."""
    shown = opened(body, "tuesdays")
    assert "<del>Fridays</del>" in shown
    assert "<ins>Tuesdays</ins>" in shown
    assert "said in the stand-up" in shown
    assert f'href="?page=notes&amp;note={filled.revised}"' in shown
    assert shown.count("href=") == 1


def test_a_retirement_shows_what_went(body: journal.JournalBody) -> None:
    """One wording stands with a minus; a remembered one with a plus."""
    assert 'class="old"' in opened(body, "retire thing 3")
    assert 'class="new"' in opened(body, "remember a hostile note")


def test_hostile_text_is_text_in_every_part_of_a_record(body: journal.JournalBody) -> None:
    """Wording, author and evidence of a hostile record hold no tag of theirs."""
    for words in ("a hostile note", "by somebody hostile"):
        shown = opened(body, words)
        assert "<img" not in shown
        assert "<script" not in shown
        assert "&lt;img src=x" in shown


def test_a_record_that_is_not_there_says_so(body: journal.JournalBody) -> None:
    """A link into another store is no blank panel."""
    body.show(View(page="journal", record=999_999))
    assert "There is no record 999,999" in detail(body)


def test_the_first_record_and_a_purged_one_are_told(body: journal.JournalBody) -> None:
    """Fields without a place of their own are listed; an erased field is named, its text is gone."""
    record = JournalRecord(
        1,
        "remember",
        "2026-01-01T00:00:00Z",
        {"by": "ana", "session": "abc"},
        None,
        "",
        "ff" * 32,
        erased={"after": "00"},
    )
    shown = journal._whole(record, body._source).html
    assert "the first record" in shown
    assert "✕ after" in shown
    assert "<dt>session</dt><dd>abc</dd>" in shown
    assert "What changed" not in shown


def test_a_click_a_turn_and_a_close_are_views(body: journal.JournalBody) -> None:
    """Every act on the page is a change of the address."""
    body.show(View(page="journal"))

    class Click:
        row = 1

    body._table._clicked(Click)
    assert body._navigator.view.record == body._source.facts().records - 1
    body._shape._pager.value = 1
    assert body._navigator.view.page_no == 2
    body.dismiss()
    assert body._navigator.view.record == 0


def test_a_search_without_hit_says_so(body: journal.JournalBody) -> None:
    """An empty table has a reason above it."""
    body.show(View(page="journal", q="no such words"))
    assert "No record here" in body._shape.head.object
    assert "Searched for: no · such · words" in body._shape.head.object
