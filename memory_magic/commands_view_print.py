"""What people read of a view: words for budgets, reasons and differences, and the whole as text for a terminal.

The words are here once, for the terminal and for the notebook's picture. The exact text stands between two rules and
is not touched: no cut, no indentation, no changed tab. All else passes `plain` or `one_line`. Pure functions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memory_magic.commands_table import clip, count, one_line, plain, scope_name, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.commands_base import Outcome
    from memory_magic.commands_view_told import Told

SHOWN_DIFF: Final = 24
WIDE: Final = 110
BITES: Final = ": this cap bites"
BEGIN: Final = "-------- the exact text --------"
END: Final = "-------- end of the exact text --------"
_OBEYED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NAMES: Final = {
    "personal": "Personal memory",
    "project": "Project memory",
    "guidance": "Guidance and summary",
    "notes": "Notes",
    "relevant": "Found for this prompt",
}


class Budget(NamedTuple):
    """One cap as people see it: *use* is `{used, cap, unit}`, *fit* says in words how what is there fits.

    *bites*: something is missing because of it; *source*: the file, or the summaries, that it comes from.
    """

    name: str
    use: dict[str, Any]
    fit: str
    bites: bool
    source: str = ""


def budgets(sections: list[dict[str, Any]]) -> list[Budget]:
    """Return a row for each cap, in the order of the block."""
    rows = []
    for section in sections:
        other = section["other"]
        name = _NAMES.get(section["name"], section["name"].capitalize())
        fit, bites = _fit(section)
        rows.append(Budget(f"{name}: {section['unit']}" if other else name, section, fit, bites, _source(section)))
        if other:
            room = other["cap"] - other["used"]
            said = f"✓ room for {room:,} more" if room > 0 else "full"
            rows.append(Budget(f"{name}: {other['unit']}", other, said, bites=False))
    return rows


def _fit(section: dict[str, Any]) -> tuple[str, bool]:
    """Return in words how a section fits, and whether its cap bites."""
    dropped, reasons = section["dropped"], section["reasons"]
    about = "at least " if dropped["at_least"] else ""
    if section["name"] == "notes":
        if not dropped["count"]:
            return "✓ whole", False
        held = sum(reason.startswith("suspicious") for reason in reasons.values())
        left = dropped["count"] - held
        bites = dropped["count"] > sum(reason != "no room" for reason in reasons.values())
        said = f"✂ {about}{left:,} left out{BITES if bites else ''}" if left else ""
        return ", ".join(part for part in (said, f"▲ {held:,} suspicious" if held else "") if part), bites
    if dropped["count"] and section["used"]:
        return f"✂ {about}{dropped['count']:,} {dropped['unit']} cut", True
    if reasons and not section["used"]:
        return "▲ left out (see below)", False
    return ("✂ cut", True) if section["truncated"] else ("✓ whole", False)


def _source(section: dict[str, Any]) -> str:
    """Return the files that a section comes from, as its account names them."""
    if section["name"] in {"notes", "relevant"}:
        return ""
    return ", ".join(one_line(one["name"]) for one in section["files"] if one["sha256"] or one["trouble"])


def usage(use: dict[str, Any]) -> str:
    """Return used and cap with their unit."""
    return f"{use['used']:,} of {use['cap']:,} {use['unit']}"


def share(use: dict[str, Any]) -> str:
    """Return how full a cap is, in percent."""
    if not use["cap"]:
        return ""
    percent = 100 * use["used"] / use["cap"]
    return "< 1 %" if 0 < percent < 1 else f"{round(percent)} %"


def why_nothing(outcome: Outcome) -> str:
    """Return why a block is empty: there is no memory, or all of it is left out, and by which setting or for what."""
    omitted, files = outcome.extra["omitted"], outcome.extra["files"]
    if not omitted:
        return "what there is was left out, see below" if files else "there is no memory here yet"
    caps = {row.use["unit"]: row.use["cap"] for row in budgets(outcome.data["sections"])}
    reasons = {reason for section in outcome.data["sections"] for reason in section["reasons"].values()}
    left = f"{'all ' if omitted > 1 else ''}{count(omitted, 'note')} left out"
    if caps.get("entries") == 0:
        return f"{left}, because the setting notes_entries is 0"
    if reasons == {"nothing visible"}:
        return f"{left}, because nothing of their text is visible"
    if reasons and all(reason.startswith("suspicious") for reason in reasons):
        return f"{left}, because {'they look' if omitted > 1 else 'it looks'} suspicious"
    return f"{left}, because the setting notes_characters = {caps.get('characters', 0):,} leaves no room for one"


def left_out_title(extra: dict[str, Any]) -> str:
    """Return how many notes are left out, suspicious ones apart."""
    return f"{'at least ' if extra['at_least'] else ''}{count(extra['left'], 'note')}"


def more_left_out(extra: dict[str, Any], prog: str) -> str:
    """Return the line about those that are not shown, empty where all are."""
    if not extra["more"]:
        return ""
    about = "at least " if extra["at_least"] else ""
    return f"and {about}{extra['more']:,} more: {prog} view --omitted names them all"


def secrets_text(secrets: dict[str, int]) -> str:
    """Return which secrets were taken out, empty where none was."""
    if not secrets:
        return ""
    kinds = ", ".join(f"{one_line(kind)} {number:,}" for kind, number in secrets.items())
    return f"{count(sum(secrets.values()), 'secret')} taken out on the way: {kinds}"


def told_text(told: Told, asked: list[str]) -> str:
    """Return in one sentence how the block differs from what was told last."""
    whom = f" ({one_line(', '.join(asked))})" if asked else ""
    if told.state == "never":
        return f"never told yet from here{whom}: the whole block would be new"
    where = f" in {one_line(told.cwd)}" if told.elsewhere else ""
    talk = f", conversation {one_line(told.conversation)}" if told.conversation else ""
    book = f", {one_line(told.notebook)}" if told.notebook else ""
    last = f"{told.time[:16].replace('T', ' ')} UTC, {one_line(told.assistant)}{talk}{book}{where}"
    added, gone = told.counts
    said = {
        "same": f"nothing changed since {last}",
        "purged": f"told {last}; its text was purged since, so it is not compared",
        "gone": f"told {last}; its text is not kept any more, so it is not compared",
    }
    found = said.get(told.state, f"since {last}: {count(added, 'line')} came, {gone:,} went")
    return f"{found}; that conversation keeps its block until it is refreshed" if told.keeps else found


def diff_lines(extra: dict[str, Any]) -> tuple[list[str], int]:
    """Return the lines of the difference that are shown, and how many more there are."""
    lines = [plain(line) for line in extra["last"].lines]
    if extra["whole_diff"] or len(lines) <= SHOWN_DIFF:
        return lines, 0
    return lines[:SHOWN_DIFF], len(lines) - SHOWN_DIFF


# -- the whole as text ----------------------------------------------------------------------------------------------


def print_view(outcome: Outcome, width: int | None, prog: str) -> str:
    """Return a view as text."""
    data, extra = outcome.data, outcome.extra
    if extra["form"] == "frame":
        from memory_magic.commands_view import frame

        return plain(frame(data).to_string(max_colwidth=40))
    notice = plain(extra["scope_notice"])
    parts = [_head(outcome), _table(data["sections"], width) if data["sections"] and _has_news(outcome) else ""]
    parts += [_files(extra, width), _left_out(extra, width, prog), _suspicious(extra, width, prog)]
    if secrets := secrets_text(extra["secrets"]):
        parts.append(f"{secrets}.")
    if data["block"] or extra["last"].state != "never":
        parts.append(_changed(extra, width, prog))
    if data["block"]:
        parts.append(f"{BEGIN}\n{shown(data['block'])}\n{END}")
    return "\n\n".join(part for part in [*parts, "" if data["block"] else notice] if part)


def shown(block: str) -> str:
    """Return a block as it may stand in a terminal or a page: the very text, unless there is something to obey in it.

    A block is composed without any such character, so what this takes out was put there by nobody of ours.
    """
    if not _OBEYED.search(block):
        return block
    from memory_magic.text.invisible import visible

    return visible(block)


def _has_news(outcome: Outcome) -> bool:
    return bool(outcome.data["block"] or outcome.extra["omitted"] or outcome.extra["files"])


def _head(outcome: Outcome) -> str:
    data, extra = outcome.data, outcome.extra
    if not data["block"]:
        return f"Nothing would be added to a prompt ({extra['notice']}): {why_nothing(outcome)}."
    where = " and ".join(scope_name(scope, extra["labels"]) for scope in extra["labels"])
    head = f"{count(data['tokens'], 'token')} would be added to a prompt ({extra['notice']})"
    return f"{head}\n  memory of {where}; sha256 {extra['sha256'][:12]}"


def _table(sections: list[dict[str, Any]], width: int | None) -> str:
    """Return the budgets; in a terminal without much room the bar stands for the percentage and for what it says."""
    found = budgets(sections)
    if width is None or width >= WIDE:
        rows = [(row.name, _bar(row, 10), usage(row.use), share(row.use), row.fit) for row in found]
        return table(("section", "", "used of cap", "", "fit"), rows, numbers=(3,))
    short = [(row.name, _bar(row, 8), usage(row.use), row.fit.replace(BITES, "")) for row in found]
    return table(("section", "", "used of cap", "fit"), short, limit=width)


def _bar(row: Budget, cells: int) -> str:
    """Return a bar of so many cells: full ones, hatched where the cap bites."""
    cap = row.use["cap"]
    filled = min(cells, round(cells * row.use["used"] / cap)) if cap else cells
    return ("▨" if row.bites else "█") * filled + "·" * (cells - filled)


def _files(extra: dict[str, Any], width: int | None) -> str:
    if not extra["files"]:
        return ""
    rows = [("▲", row["name"], row["reason"]) for row in extra["files"]]
    return "left out, of files:\n" + table(("", "file", "why"), rows, limit=width)


def _left_out(extra: dict[str, Any], width: int | None, prog: str) -> str:
    if not extra["left_out"]:
        return ""
    rows = [(row["short"], row["reason"], f"{row['characters']:,}", row["text"]) for row in extra["left_out"]]
    order = "nearest first" if len(rows) > 1 else "this one"
    lines = [f"left out: {left_out_title(extra)}, {order}:"]
    lines.append(table(("id", "why", "chars", "note"), rows, limit=width, numbers=(2,)))
    return "\n".join(line for line in [*lines, more_left_out(extra, prog)] if line)


def _suspicious(extra: dict[str, Any], width: int | None, prog: str) -> str:
    if not extra["suspicious"]:
        return ""
    number = len(extra["suspicious"]) + extra["more_suspicious"]
    lines = [f"▲ {count(number, 'suspicious note')}, told to no assistant until you approve:"]
    cut: Callable[[str], str] = (lambda line: line) if width is None else (lambda line: clip(line, width))
    for row in extra["suspicious"]:
        lines += [cut(f"  {row['short']}  {one_line(row['text'])}"), f"    it {one_line(row['reason'])}"]
        lines.append(f"    if it is none: {row['approve']}")
    if extra["more_suspicious"]:
        lines.append(f"  and {extra['more_suspicious']:,} more: {prog} review")
    return "\n".join(lines)


def _changed(extra: dict[str, Any], width: int | None, prog: str) -> str:
    told = told_text(extra["last"], extra["asked"])
    lines, more = diff_lines(extra)
    if width is not None and not extra["whole_diff"]:
        lines = [clip(line, width) for line in lines]
    last = [f"and {count(more, 'line')} more: {prog} view --diff"] if more else []
    return "\n".join([f"last injection: {told}.", *lines, *last])


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {"view": print_view}
