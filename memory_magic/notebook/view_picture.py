"""Draw a view: budgets as bars, what is left out and why, what changed since the last injection, the exact text.

The exact text stands in one element, character for character: what a person copies out of it is what an assistant
gets. Our own words in it (headings, fence, ids) are tinted by elements around them, which add no character. A block
cannot forge them: text of files and notes is escaped before it gets there, and here once more.
"""

from __future__ import annotations

import html as escaping
import re
from typing import TYPE_CHECKING, Any, Final

from memory_magic.commands_table import count, one_line, scope_name
from memory_magic.commands_view_print import (
    budgets,
    diff_lines,
    left_out_title,
    more_left_out,
    secrets_text,
    share,
    shown,
    told_text,
    usage,
    why_nothing,
)
from memory_magic.notebook import html
from memory_magic.notebook.display import PROG

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory_magic.commands_base import Outcome
    from memory_magic.notebook.html import Markup

MOST_ROWS: Final = 2_000
"""Left-out notes in one picture: a notebook that holds more of them opens slowly; the text form names all."""

OPEN_DIFF: Final = 14
"""Lines of a difference that are shown at once; a longer one opens on a click."""

_ADDED: Final = "background:rgba(38,166,91,.16)"
_GONE: Final = "background:rgba(214,69,65,.15)"
_OURS: Final = re.compile(
    r"^(?P<heading># Memory (?:\(personal\)|\(project\)|Guidance))$|^(?P<fence></?native_memory_recall[^\n]*>)$"
    r"|(?<=^- \[)(?P<id>[0-9a-hjkmnp-tv-z]{10,26})(?= (?:global|workspace)\] )",
    re.MULTILINE,
)
_PRE: Final = (
    f"margin:0;padding:10px 12px 12px;{html.MONO};font-size:12px;line-height:1.55;white-space:pre-wrap;color:inherit;"
    f"overflow-wrap:anywhere;border:none;border-top:1px solid {html.LINE};background:transparent;max-height:40em;"
    "overflow:auto;unicode-bidi:plaintext;text-align:start"
)


def draw_view(outcome: Outcome) -> Markup:
    """Return a view as HTML."""
    extra = outcome.extra
    parts = [_title(outcome)]
    if outcome.data["block"] or extra["omitted"] or extra["files"]:
        parts.append(_budgets(outcome.data["sections"]))
    parts += [*_files(extra), *_left_out(extra), *_suspicious(extra)]
    if secrets := secrets_text(extra["secrets"]):
        parts.append(_line(html.strong("Secrets"), secrets))
    if outcome.data["block"] or extra["last"].state != "never":
        parts += _changed(extra)
    if outcome.data["block"]:
        return html.card(*parts, *_exact(outcome))
    notice = [html.foot(extra["scope_notice"])] if extra["scope_notice"] else []
    return html.card(*parts, html.foot(f"Nothing would be added: {why_nothing(outcome)}."), *notice)


def _title(outcome: Outcome) -> Markup:
    extra = outcome.extra
    chips = [*extra["asked"], *(scope_name(scope, extra["labels"]) for scope in extra["labels"]), extra["notice"]]
    return html.head(
        html.strong(f"{outcome.data['tokens']:,}", 20),
        html.quiet("tokens would be added to a prompt"),
        *(html.chip(one_line(chip)) for chip in chips),
    )


def _line(*children: object) -> Markup:
    """Return a line of its own between two parts of a card."""
    return html.tag("div", html.head(*children), style=f"border-top:1px solid {html.LINE}")


def _budgets(sections: list[dict[str, Any]]) -> Markup:
    rows = [
        (
            _section(row.name, row.source),
            html.bar(row.use["used"] / row.use["cap"] if row.use["cap"] else 1.0, full=row.bites),
            _whole(html.strong(f"{row.use['used']:,}"), usage(row.use).removeprefix(f"{row.use['used']:,}")),
            _whole(share(row.use)),
            html.join(_fit_line(part, bites=row.bites) for part in row.fit.split(", ")),
        )
        for row in budgets(sections)
    ]
    heads = ("Section", "Use", "Used of cap", "%", "Fit")
    return html.tag("div", html.table(heads, rows, right=(2, 3), widths={1: "26%"}), style="overflow-x:auto")


def _whole(*children: object) -> Markup:
    """Return something short that is not broken into lines."""
    return html.tag("span", *children, style="white-space:nowrap")


def _fit_line(text: str, *, bites: bool) -> Markup:
    return html.tag("div", html.strong(text) if bites else text, style="white-space:nowrap")


def _section(name: str, source: str) -> Markup:
    """Return a section's name, and below it the files that it comes from."""
    below = [html.tag("div", html.code(source), style=f"color:{html.QUIET}")] if source else []
    return html.tag("div", _whole(html.strong(name)), *below)


def _files(extra: dict[str, Any]) -> list[Markup]:
    if not extra["files"]:
        return []
    rows = [("▲", html.code(one_line(row["name"])), row["reason"]) for row in extra["files"]]
    return [_line(html.strong("Files left out")), html.table((), rows, widths={0: "20px"})]


def _left_out(extra: dict[str, Any]) -> list[Markup]:
    found = extra["left_out"]
    if not found:
        return []
    rows = [
        (
            html.ident(row["short"]),
            html.note_text(one_line(row["text"])),
            html.quiet(f"{row['reason']}, {row['characters']:,} chars"),
        )
        for row in found[:MOST_ROWS]
    ]
    more = more_left_out(extra, PROG)
    if len(found) > MOST_ROWS:
        more = f"and {len(found) - MOST_ROWS:,} more: {PROG} view --omitted --as text prints them all"
    title = html.strong(f"Left out: {left_out_title(extra)}")
    below = [html.foot(more)] if more else []
    return [_line(title, html.quiet("nearest first")), _small_table(rows, (2,)), *below]


def _small_table(rows: Iterable[tuple[object, ...]], right: tuple[int, ...] = ()) -> Markup:
    made = html.table((), rows, right=right, widths={0: "100px", 2: "30%"})
    return html.tag("div", made, style="max-height:32em;overflow:auto")


def _suspicious(extra: dict[str, Any]) -> list[Markup]:
    if not extra["suspicious"]:
        return []
    number = len(extra["suspicious"]) + extra["more_suspicious"]
    rows = [
        (
            html.ident(row["short"]),
            html.tag("div", html.note_text(one_line(row["text"])), html.quiet(f"it {row['reason']}")),
            html.code(row["approve"]),
        )
        for row in extra["suspicious"]
    ]
    more = [html.foot(f"and {extra['more_suspicious']:,} more: {PROG} review")] if extra["more_suspicious"] else []
    title = html.strong(f"▲ {count(number, 'suspicious note')}")
    return [_line(title, html.quiet("told to no assistant until you approve")), _small_table(rows, (2,)), *more]


def _changed(extra: dict[str, Any]) -> list[Markup]:
    """Return how the block differs from what was told last; a long difference opens on a click."""
    title = (html.strong("Last injection"), html.quiet(told_text(extra["last"], extra["asked"])))
    lines, more = diff_lines(extra)
    if not lines:
        return [_line(*title)]
    rest = [html.foot(f"and {count(more, 'line')} more: {PROG} view --diff")] if more else []
    body = html.tag("div", *map(_diff_line, lines), style="padding:2px 0 8px")
    if len(lines) <= OPEN_DIFF:
        return [_line(*title), body, *rest]
    return [html.folded(html.tag("span", title[0], " ", title[1]), body, *rest)]


def _diff_line(line: str) -> Markup:
    """Return one line of a unified diff: its sign stays, so that nothing rests on colour."""
    name = {"+": "ins", "-": "del"}.get(line[:1], "span")
    # where in the block a change stands, the text form says in numbers
    line = "⋯" if line.startswith("@@") else f"{line[:1]} {line[1:]}"
    ground = {"ins": f";{_ADDED}", "del": f";{_GONE}"}.get(name, f";color:{html.QUIET}")
    style = (
        f"display:block;padding:1px 12px;{html.MONO};font-size:12px;line-height:1.5;text-decoration:none;"
        f"white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext;text-align:start{ground}"
    )
    return html.tag(name, line, style=style, dir="auto")


def _exact(outcome: Outcome) -> list[Markup]:
    block = outcome.data["block"]
    lines = count(block.count("\n") + 1, "line")
    facts = f"{lines}, {len(block.encode()):,} bytes, sha256 {outcome.extra['sha256'][:12]}"
    return [_line(html.strong("Exact text"), html.quiet(facts)), exact(block)]


def exact(block: str) -> Markup:
    """Return a block, character for character, as one element to read and to copy."""
    pieces: list[str] = []
    at = 0
    text = shown(block)
    for match in _OURS.finditer(text):
        tint = f"color:{html.LINK}" if match["heading"] is None else "font-weight:700"
        pieces += [_escaped(text[at : match.start()]), html.tag("span", html.Markup(_escaped(match[0])), style=tint)]
        at = match.end()
    # a browser drops a line break that comes first in a <pre>
    begin = "\n" if text.startswith("\n") else ""
    return html.tag("pre", html.Markup(f"{begin}{''.join(pieces)}{_escaped(text[at:])}"), style=_PRE, dir="auto")


def _escaped(text: str) -> str:
    """Escape, and nothing else: `html.tag` would also change a tab."""
    return escaping.escape(text, quote=False)
