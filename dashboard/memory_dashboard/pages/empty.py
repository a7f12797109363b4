"""What stands in the place of a page that has nothing to show: an empty store, or one that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_dashboard.markup import Markup, element, join
from memory_dashboard.pages.base import pane
from memory_dashboard.view import ALL_SCOPES

if TYPE_CHECKING:
    from memory_dashboard.data import Facts
    from memory_dashboard.view import View

_CSS = """
:host { display: block; }
.lead, .step { background: var(--mm-card); border: 1px solid var(--mm-line); border-radius: 8px;
  box-sizing: border-box; }
.lead { padding: 24px 28px; margin-bottom: 12px; }
.lead h2 { font-size: 20px; line-height: 28px; margin-bottom: 6px; }
.lead p { font-size: 14px; line-height: 21px; max-width: 76ch; color: var(--mm-soft); }
.steps { display: grid; grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); gap: 12px; }
.step { padding: 16px 18px 18px; display: grid; grid-template-rows: auto 1fr auto; gap: 10px; }
.step .name { display: flex; align-items: center; gap: 10px; font-size: 15px; font-weight: 700; }
.step .number { width: 26px; height: 26px; border-radius: 50%; background: var(--mm-tint); color: var(--mm-accent);
  display: inline-grid; place-items: center; font-size: 13px; }
.step pre { margin: 0; background: var(--mm-sunk); border: 1px solid var(--mm-line); border-radius: 6px;
  padding: 9px 12px; font: 12px/18px ui-monospace, 'DejaVu Sans Mono', monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; }
"""
_STEPS = (
    (
        "Remember one line",
        "In any notebook, after %load_ext memory_magic. It shows here within 2 s.",
        "%remember Deploys run on Tuesdays",
    ),
    (
        "Or from a terminal",
        "The same store, the same journal. Everything said there shows here.",
        "memory-magic remember 'Deploys run on Tuesdays'",
    ),
    ("Or in an editor", "The store is Markdown: each top-level list item of this file is a note.", ""),
)


def panel(facts: Facts) -> Any:
    """Return the page of a store in which nothing is remembered yet."""
    lead = element(
        "div",
        element("h2", "Nothing is remembered yet"),
        element(
            "p",
            "The store at ",
            element("code", facts.root),
            " is empty. Until you say otherwise no assistant is told "
            "anything, no session is read and no network is used. Three ways to begin:",
        ),
        class_="lead",
    )
    steps = [
        _step(number, name, text, command or f"{facts.root}/global/MEMORY.md")
        for number, (name, text, command) in enumerate(_STEPS, 1)
    ]
    return pane(join(lead, element("div", *steps, class_="steps")), _CSS, css_classes=["empty"])


def trouble(text: str) -> Any:
    """Return the page of a store that cannot be read."""
    lead = element(
        "div",
        element("h2", "▲ The store cannot be read"),
        element("p", text, class_="text"),
        element("p", "This page looks again every 2 s and shows the store as soon as it can."),
        class_="lead",
    )
    return pane(lead, _CSS, css_classes=["trouble"])


def nothing(heading: str, *sentences: str) -> Markup:
    """Return what stands below the head of a table without rows."""
    return element(
        "div", element("b", heading), *(element("p", sentence, class_="soft text") for sentence in sentences)
    )


def why_none(view: View, word: str) -> list[str]:
    """Return what would bring rows back to a table that a view left empty."""
    read = " · ".join(view.q.split())
    reasons = [f"Searched for: {read}. A {word} must match; fewer words find more."] if read else []
    if view.scope != ALL_SCOPES:
        reasons.append("Only one scope is shown: the switch above shows all.")
    return reasons


def _step(number: int, name: str, text: str, command: str) -> Markup:
    return element(
        "div",
        element("div", element("span", str(number), class_="number"), name, class_="name"),
        element("p", text, class_="soft"),
        element("pre", command),
        class_="step",
    )
