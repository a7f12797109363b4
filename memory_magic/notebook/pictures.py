"""Draw outcomes as HTML: tables like those of a product, readable in a light and in a dark theme.

One function for each kind of outcome, all pure: outcome in, markup out. They use the blocks of `notebook.html`,
which escape everything. Kinds without a picture of their own show their text. Loaded when Jupyter first asks for HTML,
so that `%load_ext` and a terminal never pay for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memory_magic.commands_print import as_text, headroom_text
from memory_magic.commands_table import count, one_line, plain, scope_name
from memory_magic.notebook import html
from memory_magic.notebook.display import PROG
from memory_magic.notebook.view_picture import draw_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.commands_base import Outcome
    from memory_magic.notebook.html import Markup


def draw(outcome: Outcome) -> str:
    """Return *outcome* as HTML."""
    return str(_PICTURES.get(outcome.kind, _text)(outcome))


def _text(outcome: Outcome) -> Markup:
    return html.card(html.exact(as_text(outcome, width=None, prog=PROG)))


def _where(extra: dict[str, Any]) -> list[Markup]:
    """Return a chip for each place that a listing looked at."""
    if extra["scope"]:
        names = ["all scopes" if extra["scope"] == "all" else scope_name(extra["scope"], extra["labels"])]
    else:
        names = [scope_name(scope, extra["labels"]) for scope in extra["labels"]]
    return [html.chip(name) for name in names]


def _notice(extra: dict[str, Any]) -> list[Markup]:
    return [html.foot(extra["scope_notice"])] if extra["scope_notice"] else []


def _hits(outcome: Outcome) -> Markup:
    data, extra = outcome.data, outcome.extra
    hits = data["hits"]
    top = max((hit["score"] for hit in hits), default=0.0) or 1.0
    rows = [
        (
            at,
            html.ident(extra["short"][hit["id"]]),
            html.note_text(*_marked(hit["text"], extra["words"])),
            scope_name(hit["scope"], extra["labels"]),
            html.quiet(hit["by"] or ""),
            html.join([html.bar(hit["score"] / top, width="60px"), html.code(f" {hit['score']:.2f}")]),
        )
        for at, hit in enumerate(hits, 1)
    ]
    title = html.head(html.strong(count(len(hits), "note")), "for", html.code(one_line(data["query"])), *_where(extra))
    parts = [title, html.table(("#", "id", "Note", "Scope", "From", "Score"), rows, right=(0,))] if hits else [title]
    if not hits:
        parts.append(html.foot("No note has one of these words. Try others."))
    if extra["explain"]:
        terms = " ".join(extra["terms"]) or "nothing"
        parts.append(html.foot(f"read as: {terms} (the very phrase first, then every word, then some)"))
        parts += [html.foot(f"{at}: {why}") for at, why in enumerate(extra["why"], 1)]
    if data["fallback"]:
        parts.append(html.foot(data["fallback"]))
    if hits:
        parts.append(_next_steps(extra["short"][hits[0]["id"]]))
    return html.card(*parts, *([] if hits else _notice(extra)))


def _next_steps(short: str) -> Markup:
    steps = (("Read one: ", f"%memory get {short}"), (" · As a table: ", "_.df"), (" · All: ", "%memory list"))
    return html.foot(*(part for words, typed in steps for part in (words, html.code(typed))))


def _marked(text: str, words: list[str]) -> list[object]:
    """Return *text* in pieces, the ones that a word of the query hit as marks; each piece is escaped later."""
    wanted = [re.escape(word) for word in sorted(words, key=len, reverse=True) if word]
    if not wanted:
        return [text]
    style = "background:rgba(255,205,40,.38);color:inherit;border-radius:3px"
    pieces: list[object] = []
    for at, piece in enumerate(re.split(f"({'|'.join(wanted)})", plain(text), flags=re.IGNORECASE)):
        pieces.append(html.tag("mark", piece, style=style) if at % 2 else piece)
    return pieces


def _notes(outcome: Outcome) -> Markup:
    extra = outcome.extra
    notes = outcome.data["notes"]
    rows = [
        (
            ("◆" if note["pinned"] else "") + ("▲" if note["suspicious"] else ""),
            html.ident(extra["short"][note["id"]]),
            html.note_text(note["text"]),
            scope_name(note["scope"], extra["labels"]),
            html.quiet(note["by"] or ""),
            html.quiet(_day(note["created"])),
        )
        for note in notes
    ]
    title = html.head(html.strong(count(len(notes), "note")), html.quiet("◆ pinned, then newest first"), *_where(extra))
    if not notes:
        start = html.foot("Nothing is remembered yet. ", html.code("%remember TEXT"), " is the start.")
        return html.card(title, start, *_notice(extra))
    held = sum(note["suspicious"] is not None for note in notes)
    said = f"▲ {count(held, 'suspicious note')}, told to no assistant: "
    foot = [html.foot(said, html.code("%memory review"))] if held else []
    return html.card(title, html.table(("", "id", "Note", "Scope", "From", "Created"), rows), *foot)


def _day(time: str | None) -> str:
    return (time or "")[:16].replace("T", " ")


def _note(outcome: Outcome) -> Markup:
    data, extra = outcome.data, outcome.extra
    title = html.head(html.ident(extra["short"][data["id"]]), html.chip(scope_name(data["scope"], extra["labels"])))
    facts = [
        ("id", html.code(data["id"])),
        ("file", html.code(f"{data['path']}:{data['line']}")),
        ("heading", " > ".join(extra["section"])),
        ("created", _day(data["created"])),
        ("from", data["by"] or ""),
        ("pinned", "◆ first in every block" if data["pinned"] else ""),
    ]
    body = html.tag("div", html.note_text(data["text"]), style="padding:2px 12px 10px")
    known = [(html.quiet(name), value) for name, value in facts if value]
    return html.card(title, body, html.table((), known, widths={0: "80px"}))


def _journal(outcome: Outcome) -> Markup:
    data, extra = outcome.data, outcome.extra
    records = data["records"][-(extra["limit"] or 20) :]
    rows = [
        (
            f"{record['n']:,}",
            html.quiet(_day(record["time"])),
            html.strong(record["action"]),
            html.note_text(*_change(record, extra["texts"])),
            html.quiet(record["evidence"] or ""),
            html.quiet(record["by"] or ""),
        )
        for record in records
    ]
    verdict = html.chip(
        "✓ chain whole" if data["verified"]["ok"] else "▲ chain broken" if extra["tampered"] else "▲ with findings"
    )
    title = html.head(html.strong(count(len(data["records"]), "record")), verdict, html.code(data["head"][:16]))
    return html.card(title, html.table(("n", "Time (UTC)", "Action", "What", "Why", "Who"), rows, right=(0,)))


def _change(record: dict[str, Any], texts: dict[int, str]) -> list[object]:
    """Return a record's before, struck out, and its after; or what it did to a note that kept its text."""
    if not record["before"] and not record["after"]:
        return [texts.get(record["n"], "")]
    pieces: list[object] = []
    if record["before"]:
        pieces += ["− ", html.tag("del", record["before"], style="opacity:.75")]
    if record["after"]:
        added = html.tag("ins", record["after"], style="text-decoration:none")
        pieces += ["\n+ " if record["before"] else "+ ", added]
    return pieces


def _written(outcome: Outcome) -> Markup:
    """Draw a write as the lines of its text, with a bar for the room that is left in a block."""
    first, *lines = as_text(outcome, width=None, prog=PROG).split("\n")
    parts: list[object] = []
    for line in lines:
        parts += [line.strip(), html.BREAK]
    headroom = outcome.data.get("headroom")
    if headroom:
        full = headroom["next_out"] is not None
        used = html.bar(headroom["used"] / headroom["cap"] if headroom["cap"] else 1.0, full=full, width="120px")
        parts[-2] = html.join([used, html.tag("span", " ", headroom_text(headroom, PROG))])
    return html.card(html.head(html.strong("✓"), html.note_text(first)), html.foot(*parts[:-1]))


def _status(outcome: Outcome) -> Markup:
    data = outcome.data
    first, *_ = as_text(outcome, width=None, prog=PROG).split("\n")
    labels = {scope["id"]: scope["label"] for scope in data["scopes"]}
    rows = [
        (scope_name(scope["id"], labels), f"{scope['notes']:,}", html.code(scope["path"])) for scope in data["scopes"]
    ]
    journal = data["journal"]
    checked = journal["verified"]
    verdict = (
        "chain not checked yet" if not checked else ("✓ chain whole" if checked["ok"] else "▲ journal with findings")
    )
    return html.card(
        html.head(html.strong(first)),
        html.table(("Scope", "Notes", "File"), rows, right=(1,), widths={0: "20%", 1: "80px"}),
        html.foot(
            html.code(data["root"]),
            f" · index {count(data['index']['notes'], 'note')}{'' if data['index']['fresh'] else ', to be refreshed'}",
            f" · journal {count(journal['records'], 'record')}, {verdict}",
        ),
        *_notice(outcome.extra),
    )


def _served(outcome: Outcome) -> Markup:
    address = outcome.data["address"]
    link = html.tag("a", address, href=address, target="_blank", rel="noopener", style=f"color:{html.LINK}")
    return html.card(html.head(html.strong("Dashboard"), link), html.foot("It ends with the kernel."))


_PICTURES: dict[str, Callable[[Outcome], Markup]] = {
    "hits": _hits,
    "notes": _notes,
    "note": _note,
    "view": draw_view,
    "journal": _journal,
    "status": _status,
    "served": _served,
    "remembered": _written,
    "changed": _written,
}
