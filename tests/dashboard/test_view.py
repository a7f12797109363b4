"""What a window shows is one value that the address carries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_dashboard.view import Navigator, View

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80)


@given(
    st.builds(View, TEXT, TEXT, st.just("") | TEXT, st.just("") | TEXT, st.integers(0, 10**8), st.integers(1, 10**8))
)
def test_a_view_survives_its_address(view: View) -> None:
    """Reading what was written gives the same view, whatever a person searched for."""
    assert View.from_query(view.query()) == view


def test_the_address_says_only_what_differs() -> None:
    """A first visit has a short address, and ids stand in it as they are."""
    assert View().query() == "?page=notes"
    assert View(page="journal", record=5).query() == "?page=journal&record=5"


@pytest.mark.parametrize(
    "query", ["?record=-1&page_no=0", "?record=x&page_no=²", "?record=99999999999", "?nonsense=1", ""]
)
def test_values_that_do_not_fit_fall_back(query: str) -> None:
    """A mistyped or hostile address shows the first view instead of an error."""
    assert View.from_query(query) == View()


def test_a_text_in_the_address_is_bounded() -> None:
    """An address of a megabyte does not become a search of a megabyte."""
    assert len(View.from_query("?q=" + "x" * 10_000).q) == 500


def test_a_step_is_told_once_and_only_when_something_changed() -> None:
    """Listeners hear of changes, with whether Back should come here again."""
    navigator, heard = Navigator(View()), list[tuple[View, bool]]()
    navigator.listen(lambda view, step: heard.append((view, step)))
    navigator.go(note="abc")
    navigator.go(note="abc")
    navigator.show(View(page="journal"), step=False)
    assert heard == [(View(note="abc"), True), (View(page="journal"), False)]


def test_a_new_search_starts_at_the_first_rows() -> None:
    """Page 3 of one search is not page 3 of the next; opening a note keeps the place."""
    navigator = Navigator(replace(View(), page_no=3))
    navigator.go(note="abc")
    assert navigator.view.page_no == 3
    navigator.go(q="x")
    assert navigator.view.page_no == 1
