"""Markup for notebook outputs: escaped by construction, styled inline, without a script.

Every piece of markup is made by `tag`, which escapes each child that is not markup already; so no text of a note can
become HTML. Colours are the host's own (JupyterLab, VS Code define variables) or half transparent, so that a light and
a dark theme, and a theme switched later, read well. No mark rests on colour alone: a sign or a word is with it.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

from memory_magic.commands_table import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


BREAK: Final = Markup("<br>")
INK: Final = "var(--jp-ui-font-color1,var(--vscode-foreground,inherit))"
QUIET: Final = "var(--jp-ui-font-color2,var(--vscode-descriptionForeground,inherit))"
LINK: Final = "var(--jp-content-link-color,var(--vscode-textLink-foreground,inherit))"
MONO: Final = "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace)"
LINE: Final = "rgba(127,127,127,.32)"
GROUND: Final = "rgba(127,127,127,.09)"
ACCENT: Final = "#12808f"
HATCH: Final = "repeating-linear-gradient(-45deg,#b7791f 0 5px,rgba(183,121,31,.35) 5px 10px)"

PLAIN: Final = f"color:{INK};font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.45"
_CARD = f"border:1px solid {LINE};border-radius:8px;overflow:hidden;margin:4px 0;max-width:1280px;{PLAIN}"
_HEAD = "padding:9px 12px;display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 8px"
_FOOT = f"padding:8px 12px;border-top:1px solid {LINE};background:{GROUND};color:{QUIET};font-size:12px"
_TABLE = (
    "width:100%;margin:0;border-collapse:collapse;border:none;table-layout:auto;font-size:13px;"
    "background:transparent;color:inherit"
)
_CELL = (
    f"padding:6px 12px;border:none;border-top:1px solid {LINE};vertical-align:top;max-width:none;white-space:normal;"
    "background:transparent;color:inherit"
)
_CHIP = (
    f"display:inline-block;border:1px solid {LINE};border-radius:10px;padding:0 8px;font-size:12px;white-space:nowrap"
)


def tag(name: str, *children: object, style: str = "", **attributes: str) -> Markup:
    """Return an element; children that are not markup are cleaned and escaped."""
    given = {"style": style, **attributes} if style else attributes
    written = "".join(f' {key}="{html.escape(value)}"' for key, value in given.items())
    return Markup(f"<{name}{written}>{''.join(map(_child, children))}</{name}>")


def _child(child: object) -> str:
    return child if isinstance(child, Markup) else html.escape(plain(child))


def join(parts: Iterable[Markup]) -> Markup:
    """Return pieces of markup, one after the other."""
    return Markup("".join(parts))


def card(*children: Markup) -> Markup:
    """Return the frame around an output."""
    return tag("div", *children, style=_CARD)


def head(*children: object) -> Markup:
    """Return the first line of a card."""
    return tag("div", *children, style=_HEAD)


def foot(*children: object) -> Markup:
    """Return a quiet last line of a card."""
    return tag("div", *children, style=_FOOT)


def strong(text: object, size: int = 13) -> Markup:
    """Return emphasised text."""
    return tag("b", text, style=f"font-size:{size}px;font-weight:600")


def quiet(text: object) -> Markup:
    """Return secondary text."""
    return tag("span", text, style=f"color:{QUIET}")


def code(text: object) -> Markup:
    """Return something to type, or an id."""
    return tag("span", text, style=f"{MONO};font-size:12px")


def ident(text: object) -> Markup:
    """Return a note's short id."""
    return tag("span", text, style=f"{MONO};font-size:12px;color:{LINK};white-space:nowrap")


def chip(text: object) -> Markup:
    """Return a small framed word."""
    return tag("span", text, style=_CHIP)


def note_text(*children: object) -> Markup:
    """Return a note's text: line breaks kept, each script in its own direction."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext;text-align:start"
    return tag("div", *children, style=style, dir="auto")


def bar(part: float, *, full: bool = False, width: str = "100%") -> Markup:
    """Return a bar filled to *part* (0 to 1); hatched when *full*: the cap bites."""
    percent = round(100 * min(max(part, 0.0), 1.0), 1)
    ground = HATCH if full else ACCENT
    inner = tag("span", style=f"display:block;height:8px;border-radius:4px;width:{percent}%;background:{ground}")
    style = (
        "display:inline-block;overflow:hidden;vertical-align:middle;border-radius:4px;"
        f"background:rgba(127,127,127,.22);min-width:60px;width:{width}"
    )
    return tag("span", inner, style=style, role="img", **{"aria-label": f"{percent:g} %"})


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[int] = (),
    widths: Mapping[int, str] | None = None,
) -> Markup:
    """Return a table; *right* are the columns of numbers, *widths* those with a width of their own."""

    def cell(name: str, at: int, content: object, more: str) -> Markup:
        side = "right" if at in right else "left"
        width = f";width:{widths[at]}" if widths and at in widths else ""
        attributes = {"scope": "col"} if name == "th" else {}
        return tag(name, content, style=f"{_CELL};text-align:{side}{width}{more}", **attributes)

    first = f";font-weight:600;font-size:12px;color:{QUIET};background:{GROUND}"
    titles = tag("tr", *(cell("th", at, text, first) for at, text in enumerate(heads)), style="background:transparent")
    body = [
        tag("tr", *(cell("td", at, content, "") for at, content in enumerate(row)), style="background:transparent")
        for row in rows
    ]
    return tag("table", *([tag("thead", titles)] if heads else []), tag("tbody", *body), style=_TABLE)


def folded(title: object, *children: Markup) -> Markup:
    """Return a part that opens on a click, without a script."""
    summary = tag("summary", title, style=f"padding:8px 12px;cursor:pointer;border-top:1px solid {LINE}")
    return tag("details", summary, *children)


def exact(text: str) -> Markup:
    """Return text in which every character and line counts."""
    style = (
        f"margin:0;padding:8px 12px 12px;{MONO};font-size:12px;line-height:1.5;white-space:pre-wrap;color:inherit;"
        "overflow-wrap:anywhere;background:transparent;border:none;max-height:32em;overflow:auto"
    )
    return tag("pre", text, style=style, dir="auto")
