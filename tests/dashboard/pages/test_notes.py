"""The notes page: rows, heads, details, each of escaped text."""

from __future__ import annotations

from typing import Any

import pytest

from memory_dashboard.data import Source
from memory_dashboard.pages import notes
from memory_dashboard.view import Navigator, View
from memory_magic.store.store import Store


@pytest.fixture
def body(filled: Any) -> notes.NotesBody:
    """Give the page's body on the filled store."""
    return notes.NotesBody(Source(lambda: Store(filled.root, filled.cwd, read_only=True)), Navigator(View()))


def detail(body: notes.NotesBody) -> str:
    """Return the markup of the open detail."""
    return str(body._shape._detail_text.object)


def test_a_click_opens_the_note_of_its_row(body: notes.NotesBody, filled: Any) -> None:
    """The row that was clicked is the note that opens; a click on a row that has gone does nothing."""
    body.show(View())

    class Click:
        row = 0

    body._table._clicked(Click)
    assert body._navigator.view.note == filled.pinned
    Click.row = 99
    body._table._clicked(Click)
    assert body._navigator.view.note == filled.pinned


def test_an_open_detail_takes_the_room_of_columns_that_it_tells_itself(body: notes.NotesBody, filled: Any) -> None:
    """Scope and author leave the table while the detail is open and come back after it."""
    body.show(View(note=filled.pinned))
    assert body._table.widget.hidden_columns == ["scope", "by"]
    assert body._table.widget.selection == [0]
    assert body._shape._detail.visible
    body.show(View())
    assert body._table.widget.hidden_columns == []
    assert body._table.widget.selection == []
    assert not body._shape._detail.visible


def test_a_detail_tells_where_a_note_came_from_and_what_it_was(body: notes.NotesBody, filled: Any) -> None:
    """Text, file and line, author, evidence, change, difference and each record are there."""
    body.show(View(note=filled.revised))
    shown = detail(body)
    for part in (
        "<h2>Deploys run on Tuesdays</h2>",
        "notebook old.ipynb",
        "by ana",
        "said in the stand-up",
        filled.revised,
    ):
        assert part in shown
    assert "Deploys run on <del>Fridays</del>" in shown
    assert "Deploys run on <ins>Tuesdays</ins>" in shown
    assert "Journal · 2 records" in shown
    assert shown.count('href="?page=journal&amp;record=') == 2


def test_hostile_text_is_text_in_every_part_of_a_detail(body: notes.NotesBody, filled: Any) -> None:
    """Note, author, evidence, heading and path of a hostile note hold no tag of theirs."""
    for words in ("a hostile note", "by somebody hostile", "typed by hand"):
        row = body._source.notes("all", words, 1).rows[0]
        body.show(View(note=row.key))
        assert "<img" not in detail(body)
        assert "<script" not in detail(body)
        assert "&lt;img src=x" in detail(body)


def test_a_long_note_is_not_set_in_bold(body: notes.NotesBody) -> None:
    """Ten thousand characters are shown whole, as body text."""
    row = body._source.notes("all", "xxxxxxxxxx", 1).rows[0]
    body.show(View(note=row.key))
    assert "x" * 10_000 in detail(body)
    assert "<h2>" not in detail(body)


def test_a_note_without_record_says_why(body: notes.NotesBody) -> None:
    """What an editor wrote is explained instead of left blank."""
    row = body._source.notes("all", "typed by hand", 1).rows[0]
    body.show(View(note=row.key))
    assert "No record yet" in detail(body)


def test_a_stale_link_leads_to_the_journal(body: notes.NotesBody) -> None:
    """A note that is gone says so and where to look."""
    body.show(View(note="gone"))
    assert "No such note now" in detail(body)
    assert 'href="?page=journal&amp;q=gone"' in detail(body)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (View(q="no such words"), "Searched for: no · such · words"),
        (View(q="<b>zzz</b>"), "Searched for: &lt;b&gt;zzz&lt;/b&gt;"),
        (View(scope="global", q="深色"), "Only one scope is shown"),
    ],
)
def test_an_empty_table_says_what_would_fill_it(body: notes.NotesBody, view: View, words: str) -> None:
    """No hit is explained with the words as they were read, escaped."""
    body.show(view)
    assert words in body._shape.head.object


def test_a_store_whose_notes_were_all_retired_says_so(root: Any) -> None:
    """An empty table without search and scope points to the journal."""
    with Store(root) as store:
        store.retire(store.remember("x").id, evidence="over")
    body = notes.NotesBody(Source(lambda: Store(root, read_only=True)), Navigator(View()))
    body.show(View())
    assert "retired or purged" in body._shape.head.object
    body.move(1)
    assert body._navigator.view == View()


def test_the_pager_shows_only_when_there_is_more_than_one_page(body: notes.NotesBody) -> None:
    """It counts pages, and a turn of it is a new view."""
    body.show(View())
    assert (body._shape._pager.visible, body._shape._pager.count) == (True, 2)
    body._shape._pager.value = 1
    assert body._navigator.view.page_no == 2
    body.show(View(q="tuesdays"))
    assert not body._shape._pager.visible
