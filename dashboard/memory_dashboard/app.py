"""The frame of the dashboard: drawer, header, and the page in sight, one `Window` for each browser tab.

A window draws a View from the Source and does nothing else. Every widget asks the Navigator for a change; the
Navigator calls `_turned`, which draws and writes the address. Every two seconds `tick` looks whether the files
changed (by any window, notebook or editor) and draws again if they did. When the store cannot be read the page says
why, in the words of the error, and goes on looking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import panel as pn
import panel_material_ui as pmui
from panel_material_ui.template.base import Page

from memory_dashboard import theme, words
from memory_dashboard.browser import Browser
from memory_dashboard.markup import Markup, clip, element, join
from memory_dashboard.pages import empty, journal, notes
from memory_dashboard.pages.base import pane
from memory_dashboard.view import ALL_SCOPES, FIRST_PAGE, Navigator, View
from memory_magic.errors import MemoryMagicError
from memory_magic.text.report import error_text

if TYPE_CHECKING:
    from memory_dashboard.data import Facts, Source
    from memory_dashboard.pages.base import Body, PageKind

PAGES: tuple[PageKind, ...] = (notes.PAGE, journal.PAGE)
# "Shows within two seconds" is what the first page promises for a change on disk.
TICK_MILLISECONDS = 2_000
_LOGO = (
    "data:image/svg+xml;utf8,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'>"
    "<rect width='24' height='24' rx='6' fill='%230b6470'/><path d='M6.5 17V7.5l5.5 6 5.5-6V17' fill='none' "
    "stroke='white' stroke-width='2.4' stroke-linejoin='round' stroke-linecap='round'/></svg>"
)


def build(source: Source) -> Any:
    """Return the page for one browser tab, at the view that its address names."""
    given = pn.state.session_args or {}
    said = {name: values[-1].decode("utf-8", "replace") for name, values in given.items() if values}
    window = Window(source, View.from_values(said))
    pn.state.onload(window.settle)
    pn.state.add_periodic_callback(window.tick, period=TICK_MILLISECONDS)
    return window.page


class Window:
    """One browser tab on a source."""

    def __init__(self, source: Source, view: View) -> None:
        self._source = source
        self._navigator = Navigator(view)
        self._kinds = {kind.key: kind for kind in PAGES}
        self._bodies: dict[str, Body] = {}
        self._drawn: tuple[object, ...] = ()
        self._drawing = False
        self._loaded = False
        self._greeting: dict[str, Any] = {}
        self.browser = Browser(self._heard)
        self._controls = [_Controls(self._navigator, wide=wide) for wide in (True, False)]
        self._live = pane(Markup(""), theme.STATUS_CSS, sizing_mode=None)
        self._menu = pmui.MenuList(
            items=[{"label": kind.title, "icon": kind.icon} for kind in PAGES],
            active=0,
            margin=0,
            sx={},
            dense=True,
            sizing_mode="stretch_width",
        )
        self._menu.on_click(self._chosen)
        self._foot = pane(Markup(""), theme.FOOT_CSS)
        self._heading = pane(Markup(""))
        self._slot = pn.Column(sizing_mode="stretch_width", margin=0)
        self.page = self._frame()
        self.page.param.watch(self._theme_turned, "dark_theme")
        self._navigator.listen(self._turned)
        self.tick()

    def settle(self) -> None:
        """Do what had to wait until the browser had drawn the page."""
        self._loaded = True
        if self._greeting:
            self._greet(self._greeting)
        for body in self._bodies.values():
            body.settle()

    def tick(self) -> None:
        """Look at the files; draw again when they changed."""
        try:
            self._source.refresh()
        except (MemoryMagicError, OSError) as error:
            self._trouble(error)
            return
        if self._drawn != self._state_of_things():
            self._draw()
        self._live.object = self._status().html

    def _frame(self) -> Any:
        wide, narrow = self._controls
        # The script is not in the drawer: a narrow window takes its content out of the page whenever it folds.
        body = pn.Column(
            self.browser,
            narrow.panel,
            self._heading,
            self._slot,
            sizing_mode="stretch_width",
            stylesheets=[theme.BODY_CSS],
            margin=0,
        )
        return Page(
            title="Memory",
            meta_name="memory-magic",
            logo=_LOGO,
            favicon=_LOGO,
            header=[wide.panel, self._live],
            sidebar=[self._menu, self._foot],
            main=[body],
            sidebar_width=212,
            sidebar_resizable=False,
            theme_config=theme.THEME_CONFIG,
            raw_css=[theme.DOCUMENT_CSS],
            sx=theme.PAGE_SX,
        )

    def _draw(self) -> None:
        """Draw the present view; widgets that change by it are not listened to meanwhile."""
        self._drawing = True
        try:
            self._draw_frame(self._source.facts())
            self._draw_page()
            self._drawn = self._state_of_things()
        except (MemoryMagicError, OSError) as error:
            self._trouble(error)
        finally:
            self._drawing = False

    def _draw_frame(self, facts: Facts) -> None:
        view = self._navigator.view
        kind = self._kind()
        for controls in self._controls:
            controls.show(view, facts)
        self._menu.param.update(active=PAGES.index(kind), sx=_menu_sx([each.count(self._source) for each in PAGES]))
        self._foot.object = _foot(facts).html
        self._heading.object = join(
            element("h1", kind.title),
            element("p", kind.question, class_="soft"),
            *_off(self._source.off),
            *_notices(facts, view),
        ).html

    def _draw_page(self) -> None:
        facts, kind = self._source.facts(), self._kind()
        if not facts.notes and not facts.records:
            self._slot.objects = [empty.panel(facts)]
            return
        if kind.key not in self._bodies:
            self._bodies[kind.key] = kind.build(self._source, self._navigator)
        body = self._bodies[kind.key]
        body.show(self._navigator.view)
        if list(self._slot.objects) != [body.panel]:
            self._slot.objects = [body.panel]

    def _trouble(self, error: Exception) -> None:
        """Say why nothing can be shown."""
        self._drawn = ()
        self._live.object = element("span", "▲ not readable", class_="badge no").html
        self._slot.objects = [empty.trouble(error_text(error))]

    def _state_of_things(self) -> tuple[object, ...]:
        """Return what a drawing depends on besides the view: the files, and the minute for what is `7 min` old."""
        return self._source.generation, f"{self._source.checked:%d %H:%M}", self._source.off

    def _kind(self) -> PageKind:
        return self._kinds.get(self._navigator.view.page, self._kinds[FIRST_PAGE])

    def _status(self) -> Markup:
        seen = f"{self._source.checked:%H:%M:%S} UTC"
        live = element(
            "span",
            element("span", "", class_="dot"),
            "Live",
            element("span", f"· {seen}", class_="soft seen"),
            class_="badge live",
            title=f"The files were last looked at {seen}; a change shows within 2 s.",
        )
        lock = element(
            "span",
            element("span", "lock", class_="icon"),
            "Read-only",
            class_="badge",
            title="This page writes nothing.",
        )
        return element("div", live, lock, class_="status")

    def _turned(self, view: View, step: bool) -> None:  # noqa: FBT001 - the form of a listener
        self._draw()
        self.browser.address(view.query(), f"{self._kind().title} · Memory", step=step)

    def _chosen(self, item: Any) -> None:
        chosen = next((kind.key for kind in PAGES if kind.title == item.get("label")), FIRST_PAGE)
        self._navigator.go(page=chosen, note="", record=0)

    def _theme_turned(self, event: Any) -> None:
        if not self._drawing:
            self.browser.remember_theme(dark=bool(event.new))

    def _heard(self, message: dict[str, Any]) -> None:
        """Take a message of the browser's script."""
        kind = message["kind"]
        if kind == "hello":
            self._greet(message)
        elif kind == "search":
            self._navigator.show(View.from_query(str(message.get("search", ""))), step=False)
        elif kind == "key":
            self._pressed(str(message.get("key", "")))

    def _greet(self, message: dict[str, Any]) -> None:
        """Follow the system's dark setting and fold the drawer of a narrow window."""
        self._greeting = message
        if not self._loaded:
            # Panel drops what is changed before the browser says that it is ready.
            return
        self._drawing = True
        try:
            self.page.param.update(dark_theme=bool(message.get("dark")), sidebar_open=not message.get("narrow"))
        finally:
            self._drawing = False

    def _pressed(self, key: str) -> None:
        body = self._bodies.get(self._kind().key)
        if body is None:
            return
        if key == "Escape":
            body.dismiss()
        elif key in {"j", "k"}:
            body.move(1 if key == "j" else -1)


class _Controls:
    """Scope switch and search box, once in the header and once, on a narrow screen, in the page."""

    def __init__(self, navigator: Navigator, *, wide: bool) -> None:
        self._showing = False
        self._navigator = navigator
        self._scope = pmui.Select(
            label="Scope",
            options={"All scopes": ALL_SCOPES},
            value=ALL_SCOPES,
            size="small",
            margin=0,
            sx=theme.SELECT_SX,
            stylesheets=[theme.CONTROL_CSS],
            sizing_mode="stretch_width",
            max_width=190 if wide else None,
        )
        self._search = pmui.TextInput(
            label="Search notes and journal",
            placeholder="Search",
            size="small",
            margin=0,
            sx=theme.SEARCH_SX,
            stylesheets=[theme.CONTROL_CSS],
            sizing_mode="stretch_width",
            max_width=340 if wide else None,
        )
        self._scope.param.watch(self._scope_picked, "value")
        self._search.param.watch(self._typed, "value_input")
        self.panel = pn.Row(
            self._scope,
            self._search,
            margin=0,
            sizing_mode="stretch_width",
            stylesheets=[theme.CONTROLS_CSS, theme.WIDE_ONLY_CSS if wide else theme.NARROW_ONLY_CSS],
        )

    def show(self, view: View, facts: Facts) -> None:
        """Show what a view asks for, without asking for it again."""
        self._showing = True
        try:
            options = _scope_options(facts)
            value = view.scope if view.scope in options.values() else ALL_SCOPES
            self._scope.param.update(options=options, value=value)
            self._search.placeholder = (
                f"Search {words.counted(facts.notes, 'note')}" if facts.notes else "Nothing to search yet"
            )
            if self._search.value_input != view.q:
                self._search.param.update(value=view.q, value_input=view.q)
        finally:
            self._showing = False

    def _scope_picked(self, event: Any) -> None:
        if not self._showing:
            self._navigator.go(scope=event.new)

    def _typed(self, event: Any) -> None:
        # One step of *Back* should leave the search, not take away its last letter.
        if not self._showing:
            self._navigator.go(q=event.new, step=not self._navigator.view.q)


def _scope_options(facts: Facts) -> dict[str, str]:
    """Return labels to scopes; two scopes of one label get the start of their names."""
    labels = [label for _, label, _ in facts.scopes]
    options = {"All scopes": ALL_SCOPES}
    for name, label, _ in facts.scopes:
        own = clip(label, 60)
        options[own if labels.count(label) == 1 and own not in options else f"{own} · {name[-64:][:10]}"] = name
    return options


def _off(why: str) -> list[Markup]:
    """Say above any page that nothing is told while that is so."""
    return [element("p", f"▲ {why}", class_="warn text off")] if why else []


def _notices(facts: Facts, view: View) -> list[Markup]:
    """Return sentences that belong above any page."""
    known = {ALL_SCOPES, *(name for name, _, _ in facts.scopes)}
    if view.scope in known:
        return []
    return [
        element("p", "▲ There is no scope ", element("code", clip(view.scope, 80)), " in this store.", class_="warn")
    ]


def _menu_sx(counts: list[int]) -> dict[str, Any]:
    """Return the style of the drawer's entries, with the number of things beside each name."""
    style: dict[str, Any] = dict(theme.MENU_SX)
    for place, count in enumerate(counts, 1):
        # Digits and commas only: nothing from the store can reach this style.
        style[f"& > .MuiListItemButton-root:nth-of-type({place})::after"] = {
            "content": f'"{count:,}"',
            "fontSize": "12px",
            "color": "var(--mm-soft)",
        }
    return style


def _foot(facts: Facts) -> Markup:
    """Return what stands at the foot of the drawer: chain, root, keys."""
    verdict = facts.verdict
    chain = (
        element("b", element("span", "verified", class_="icon"), " Chain intact", class_="good")
        if verdict.ok
        else element("b", "▲ Chain broken", class_="bad")
    )
    return join(
        element("div", chain, element("div", words.counted(verdict.n, "record"), class_="soft")),
        element(
            "div",
            element("code", _homely(facts.root)),
            element(
                "div", f"{words.size(facts.text_bytes)} text · {words.size(facts.index_bytes)} index", class_="soft"
            ),
        ),
        element(
            "div",
            element("kbd", "/"),
            " search ",
            element("kbd", "j"),
            element("kbd", "k"),
            " move ",
            element("kbd", "Esc"),
            " close",
            class_="soft keys",
        ),
    )


def _homely(root: str) -> str:
    """Return a path with the home directory as `~`."""
    from pathlib import Path

    home = str(Path.home())
    return "~" + root.removeprefix(home) if root == home or root.startswith(home + "/") else root
