"""The frame draws a view of the source, and asks for another one when somebody touches a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from memory_dashboard import app
from memory_dashboard.app import Window
from memory_dashboard.data import Facts, Source
from memory_dashboard.view import ALL_SCOPES, View
from memory_magic.errors import StoreAccessError
from memory_magic.store.records import Verification
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def window(filled: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Window]:
    """Give a maker of windows on the filled store, with a browser that only notes what it is told."""

    def make(**view: Any) -> Window:
        source = Source(lambda: Store(filled.root, filled.cwd, read_only=True))
        made = Window(source, View(**view))
        monkeypatch.setattr(made.browser, "_send_msg", Mock())
        return made

    return make


def told(window: Window) -> list[dict[str, Any]]:
    """Return the messages that went to the browser."""
    send: Any = window.browser._send_msg
    return [call.args[0] for call in send.call_args_list]


def test_a_view_is_drawn_in_every_part_of_the_frame(window: Callable[..., Window], filled: Any) -> None:
    """Heading, drawer, foot, controls and body show the view that the address asked for."""
    made = window(page="journal", q="tuesdays")
    assert "<h1>Journal</h1>" in made._heading.object
    assert made._menu.active in {1, (1,)}
    assert "Chain intact" in made._foot.object
    assert [controls._search.value_input for controls in made._controls] == ["tuesdays"] * 2
    assert made._slot.objects == [made._bodies["journal"].panel]
    assert str(filled.root).replace("<", "&lt;").replace(">", "&gt;") in made._foot.object


def test_the_drawer_changes_the_page_and_the_address(window: Callable[..., Window], filled: Any) -> None:
    """A choice in the drawer is one step in the history, and closes what was open."""
    made = window(note=filled.revised)
    made._chosen({"label": "Journal"})
    assert made._navigator.view == View(page="journal")
    assert told(made) == [{"kind": "address", "search": "?page=journal", "title": "Journal · Memory", "step": True}]
    made._chosen({"label": "no such page"})
    assert made._navigator.view == View()


def test_the_scope_switch_and_the_search_narrow_what_is_shown(window: Callable[..., Window]) -> None:
    """Both copies of the controls follow; the letters of one search are one step of Back."""
    made = window()
    workspace = made._source.facts().scopes[1][0]
    made._controls[1]._scope.value = workspace
    assert made._controls[0]._scope.value == workspace
    made._controls[0]._search.value_input = "d"
    made._controls[0]._search.value_input = "de"
    assert made._navigator.view == View(scope=workspace, q="de")
    assert [message["step"] for message in told(made)] == [True, True, False]


def test_an_unknown_page_or_scope_in_the_address_is_no_error(window: Callable[..., Window]) -> None:
    """The first page is shown, and a scope that is not there is named as such, escaped."""
    made = window(page="nonsense", scope="<b>")
    assert "<h1>Notes</h1>" in made._heading.object
    assert "There is no scope <code>&lt;b&gt;</code>" in made._heading.object
    assert made._controls[0]._scope.value == ALL_SCOPES
    assert made._slot.objects == [made._bodies["notes"].panel]


def test_the_browser_says_hello_and_is_answered_once_it_is_ready(window: Callable[..., Window]) -> None:
    """The system's dark setting is followed after loading, and following it is not remembered as a choice."""
    made = window()
    made._heard({"kind": "hello", "dark": True, "narrow": True})
    assert not made.page.dark_theme
    made.settle()
    assert made.page.dark_theme
    assert not made.page.sidebar_open
    assert told(made) == []
    made.page.dark_theme = False
    assert told(made) == [{"kind": "theme", "dark": False}]


def test_back_shows_the_whole_earlier_view(window: Callable[..., Window], filled: Any) -> None:
    """A query string from the browser replaces every part of the view and is no new step."""
    made = window()
    made._heard({"kind": "search", "search": f"?page=notes&note={filled.pinned}&q=answer"})
    assert made._navigator.view == View(note=filled.pinned, q="answer")
    assert told(made)[0]["step"] is False


def test_keys_move_and_close(window: Callable[..., Window]) -> None:
    """The keys j and k open the row below and above and stop at the ends; Esc closes; other keys do nothing."""
    made = window()
    rows = [row.key for row in made._source.notes(ALL_SCOPES, "", 1).rows]
    for key, opened in [("j", 0), ("j", 1), ("k", 0), ("k", 0)]:
        made._heard({"kind": "key", "key": key})
        assert made._navigator.view.note == rows[opened]
    made._heard({"kind": "key", "key": "x"})
    made._heard({"kind": "key", "key": "Escape"})
    assert made._navigator.view.note == ""


def test_the_journal_takes_the_same_keys(window: Callable[..., Window]) -> None:
    """Keys mean the same on every page, and a settled window marks the open row."""
    made = window(page="journal")
    newest = made._source.facts().records
    made._heard({"kind": "key", "key": "j"})
    made._heard({"kind": "key", "key": "j"})
    assert made._navigator.view.record == newest - 1
    made.settle()
    assert made._bodies["journal"]._table.widget.selection == [1]  # type: ignore[attr-defined]
    made._heard({"kind": "key", "key": "Escape"})
    assert made._navigator.view.record == 0


def test_messages_without_form_are_ignored(window: Callable[..., Window]) -> None:
    """A window can send anything; only a message with a kind is heard."""
    made = window()
    for message in (None, "x", {}, {"kind": 5}, {"kind": "unknown"}):
        made.browser._handle_msg(message)
    made.browser._handle_msg({"kind": "search", "search": "?page=journal"})
    assert made._navigator.view.page == "journal"


def test_a_change_on_disk_is_drawn_at_the_next_tick(root: Path) -> None:
    """An empty store shows how to begin; a note that somebody writes takes its place; keys before that do nothing."""
    made = Window(Source(lambda: Store(root, read_only=True)), View())
    assert "Nothing is remembered yet" in made._slot.objects[0].object
    assert made._controls[0]._search.placeholder == "Nothing to search yet"
    made._heard({"kind": "key", "key": "j"})
    with Store(root) as store:
        store.remember("first")
    made.tick()
    assert made._slot.objects == [made._bodies["notes"].panel]
    assert "Search 1 note" in made._controls[0]._search.placeholder


def test_an_unreadable_store_says_why_and_recovers(root: Path) -> None:
    """The page shows the error's own words, escaped, and the store as soon as it can be read again."""
    broken: list[Exception] = [StoreAccessError("no <b>rights</b>", where=str(root))]

    def open_store() -> Store:
        if broken:
            raise broken[0]
        return Store(root, read_only=True)

    made = Window(Source(open_store), View())
    assert "no &lt;b&gt;rights&lt;/b&gt;" in made._slot.objects[0].object
    assert "not readable" in made._live.object
    broken.clear()
    made.tick()
    assert "Nothing is remembered yet" in made._slot.objects[0].object
    assert "Live" in made._live.object


def test_an_error_while_drawing_is_shown_too(window: Callable[..., Window], monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that breaks between the look and the reading is no blank page."""
    made = window()
    monkeypatch.setattr(made._source, "facts", Mock(side_effect=PermissionError("denied")))
    made._navigator.go(page="journal")
    assert "denied" in made._slot.objects[0].object


def test_scopes_of_one_label_can_be_told_apart() -> None:
    """Two repositories that somebody gave one name, even that of the switch's first entry, stay two entries."""
    one, other, third = ("workspace/" + sign * 64 for sign in "abc")
    scopes = (("global", "global", 1), (one, "same", 1), (other, "same", 1), (third, "All scopes", 1))
    facts = Facts("/r", scopes, 4, 4, Verification(ok=True, n=4, head=""), 0, 0, "")
    assert app._scope_options(facts) == {
        "All scopes": ALL_SCOPES,
        "global": "global",
        "same · aaaaaaaaaa": one,
        "same · bbbbbbbbbb": other,
        "All scopes · cccccccccc": third,
    }


def test_a_broken_chain_stands_at_the_foot_of_every_page(window: Callable[..., Window]) -> None:
    """The verdict is in words and with a sign, not in colour alone."""
    made = window()
    facts = made._source.facts()
    broken = Facts(facts.root, facts.scopes, 1, 1, Verification(ok=False, n=1, head=""), 0, 0, "")
    assert "▲ Chain broken" in app._foot(broken).html


def test_the_home_directory_is_written_as_a_tilde(home: Path) -> None:
    """A path below home is short; a sibling of home is not taken for it."""
    assert app._homely(f"{home}/.memory-magic") == "~/.memory-magic"
    assert app._homely(str(home)) == "~"
    assert app._homely(f"{home}-other/x") == f"{home}-other/x"
