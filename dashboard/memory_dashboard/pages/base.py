"""What a page is: a name in the address, words for the drawer, and a body that can show a View.

A page module offers one `PageKind`; the frame makes one body for each window and calls `show` after each change of view
or store, and only for the page in sight. `show` is idempotent and reads everything from the source: a body keeps no
state besides its widgets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from memory_dashboard import theme
from memory_dashboard.markup import Markup, element, join

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memory_dashboard.data import Source
    from memory_dashboard.view import Navigator, View


class Body(Protocol):
    """The moving part of a page in one window."""

    @property
    def panel(self) -> Any:
        """Return what Panel draws."""

    def show(self, view: View) -> None:
        """Draw *view* from the source as it is now."""

    def move(self, step: int) -> None:
        """Open the row *step* below the open one."""

    def dismiss(self) -> None:
        """Close the detail."""

    def settle(self) -> None:
        """Do what Panel takes only once the browser has drawn the page."""


@dataclass(frozen=True, slots=True)
class PageKind:
    """One page of the drawer; *build* makes its body, *count* the number beside its name."""

    key: str
    title: str
    icon: str
    question: str
    build: Callable[[Source, Navigator], Body]
    count: Callable[[Source], int]


def pane(markup: Markup, *css: str, **options: Any) -> Any:
    """Return a pane that shows markup of ours."""
    options = {"sizing_mode": "stretch_width", "margin": 0, **options}
    return pn.pane.HTML(markup.html, stylesheets=[theme.TEXT_CSS, *css], **options)


def facts(*pairs: tuple[str, str | Markup]) -> Markup:
    """Return a list of names and values; empty values are left out."""
    shown = [(name, value) for name, value in pairs if value != ""]
    return element("dl", *(join(element("dt", name), element("dd", value)) for name, value in shown))


def section(heading: str, *content: Markup) -> Markup:
    """Return a part of a detail with its heading."""
    return element("section", element("span", heading, class_="caps"), *content)


class RowTable:
    """A table of one screenful: rows come from outside, a click tells *on_pick* the key of its row."""

    def __init__(
        self, widths: dict[str, tuple[str, int]], spare: Sequence[str], on_pick: Callable[[Any], None]
    ) -> None:
        self._spare = list(spare)
        self._keys: list[Any] = []
        self._on_pick = on_pick
        self._fields = list(widths)
        self.widget = pn.widgets.Tabulator(
            self._frame([]),
            titles={name: title for name, (title, _) in widths.items()},
            # `plaintext` and `textarea` write text nodes; no formatter here reads HTML.
            formatters={name: {"type": "textarea"} for name in widths},
            configuration={"renderVertical": "basic", "columnDefaults": {"headerSort": False, "resizable": False}},
            layout="fit_columns",
            widths={name: width for name, (_, width) in widths.items() if width},
            pagination=None,
            selectable=1,
            disabled=True,
            show_index=False,
            sortable=False,
            sizing_mode="stretch_width",
            margin=0,
            stylesheets=[theme.TABLE_CSS],
        )
        self.widget.on_click(self._clicked)

    def fill(self, rows: Sequence[Any], picked: Any) -> None:
        """Show *rows* and mark the one whose key is *picked*; beside an open detail the *spare* columns give way."""
        hidden = self._spare if picked else []
        if hidden != self.widget.hidden_columns:
            self.widget.hidden_columns = hidden
        keys = [row.key for row in rows]
        frame = self._frame(rows)
        if keys != self._keys or not frame.equals(self.widget.value):
            self._keys = keys
            self.widget.value = frame
        selection = [keys.index(picked)] if picked in keys else []
        if selection != self.widget.selection:
            self.widget.selection = selection

    def settle(self) -> None:
        """Mark the open row again: a mark that was set before the table stood in the browser does not show."""
        selection, self.widget.selection = self.widget.selection, []
        self.widget.selection = selection

    def beside(self, key: Any, step: int) -> Any | None:
        """Return the key *step* rows below *key*; the first row when *key* is not in sight."""
        if not self._keys:
            return None
        if key not in self._keys:
            return self._keys[0]
        return self._keys[min(max(self._keys.index(key) + step, 0), len(self._keys) - 1)]

    def _frame(self, rows: Sequence[Any]) -> pd.DataFrame:
        return pd.DataFrame({name: [getattr(row, name) for row in rows] for name in self._fields}, dtype=object)

    def _clicked(self, event: Any) -> None:
        # A click may arrive after the rows have changed under it.
        if 0 <= event.row < len(self._keys):
            self._on_pick(self._keys[event.row])


class ListAndDetail:
    """The common shape of pages: a table in a card, its pager, and a detail beside it (over it on a narrow screen)."""

    def __init__(self, table: RowTable, on_page: Callable[[int], None], on_close: Callable[[], None]) -> None:
        self._table = table
        self.head = pane(Markup(""), HEAD_CSS)
        self._pager = pmui.Pagination(
            count=1,
            value=0,
            size="small",
            shape="rounded",
            margin=0,
            sx=_PAGER_SX,
            visible=False,
            sizing_mode="stretch_width",
            stylesheets=[theme.PAGER_CSS],
        )
        self._pager.param.watch(lambda event: on_page(event.new + 1), "value")
        self._detail_text = pane(Markup(""), theme.DETAIL_TEXT_CSS)
        close = pmui.IconButton(
            icon="close", size="small", margin=0, label="Close", description="Close (Esc)", stylesheets=[_CLOSE_CSS]
        )
        close.param.watch(lambda _: on_close(), "clicks")
        self._scroll = pn.Column(
            table.widget, sizing_mode="stretch_width", margin=0, stylesheets=[theme.SCROLL_CSS], css_classes=["rows"]
        )
        self._detail = pn.Column(
            close,
            self._detail_text,
            visible=False,
            margin=0,
            sizing_mode="stretch_width",
            css_classes=["detail"],
            stylesheets=[theme.CARD_CSS, theme.DETAIL_CSS],
        )
        card = pn.Column(
            self.head,
            self._scroll,
            self._pager,
            sizing_mode="stretch_width",
            margin=0,
            css_classes=["list"],
            stylesheets=[theme.CARD_CSS],
        )
        self.panel = pn.Row(
            card, self._detail, sizing_mode="stretch_width", margin=0, stylesheets=[theme.SPLIT_CSS], css_classes=[]
        )

    def show(self, head: Markup, page_no: int, pages: int, detail: Markup | None) -> None:
        """Draw head, pager and detail; no *detail* closes it."""
        self.head.object = head.html
        self._pager.param.update(count=pages, value=page_no - 1, visible=pages > 1)
        self._detail_text.object = detail.html if detail else ""
        self._detail.visible = detail is not None
        self.panel.css_classes = ["open"] if detail else []


HEAD_CSS = """
:host { padding: 10px 14px; border-bottom: 1px solid var(--mm-line); box-sizing: border-box; }
.bar { display: flex; justify-content: space-between; align-items: center; gap: 8px 12px; flex-wrap: wrap; }
"""
_PAGER_SX = {
    "& .MuiPaginationItem-root": {"fontSize": "12px", "color": "var(--mm-text)"},
    "& .MuiPaginationItem-root.Mui-selected": {"backgroundColor": "var(--mm-accent)", "color": "var(--mm-card)"},
}
_CLOSE_CSS = ":host { position: absolute; top: 8px; right: 8px; z-index: 1; margin: 0; }"
