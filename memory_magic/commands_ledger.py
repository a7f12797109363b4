"""Command on the ledger: what was put into which prompt, and what changed since; its row and its printers.

From a directory only its own is seen (`prompt.ledger.View`); `--scope all` shows every line, to people. Looking at the
ledger lets go of what is older than `ledger_days`, at most once a day, and says once what went wrong with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memory_magic.commands_base import Command, Outcome, arg, positive
from memory_magic.commands_notes import redacted
from memory_magic.commands_table import clip, count, one_line, plain, table
from memory_magic.errors import MemoryMagicError, NoSuchNoteError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from memory_magic.commands_base import Context
    from memory_magic.prompt.ledger import Ledger, Line, View
    from memory_magic.store.store import Store

DEFAULT_LIMIT: Final = 20
_SHOWN: Final = 12
_SHORTEST: Final = 6
_HEX: Final = frozenset("0123456789abcdef")
_WHEN: Final = "2026-11-30, 2026-11-30T18:35 (UTC), 3d (three days ago) or #412 (a record of the journal)"


def ledger(context: Context, args: Namespace) -> Outcome:
    """Show what was put into which prompt, or one stored block and what changed since."""
    from memory_magic.prompt.ledger import Ledger

    store = context.store()
    book = Ledger(store.root)
    notices = _upkeep(store, book)
    view = _view(store, args.scope)
    words = list(args.words)
    if words and words[0] == "show":
        return _show(context, book, words[1:], view, args, notices)
    if words:
        raise UsageError(f"ledger takes no {words[0]!r}", hint=f"for example: {context.run('ledger show 1')}")
    lines = _lines(book, args, view, args.limit or DEFAULT_LIMIT)
    data: dict[str, Any] = {"lines": [_safe(line.as_json()) for line in lines]}
    return Outcome("ledger", data, {"notices": notices, "skipped": book.skipped, "all": view is None})


def _view(store: Store, scope: str | None) -> View | None:
    """Return what may be seen: the scopes of here, those asked for, or None: everything."""
    from memory_magic.prompt.ledger import View

    if scope == "all":
        return None
    named = store.scopes_named(scope)
    return View.of((one.id for one in named), store.cwd)


def _upkeep(store: Store, book: Ledger) -> list[str]:
    """Let old lines go when that is due; return in words what a person should know."""
    from memory_magic.prompt.ledger_retention import prune_when_due

    notices = []
    if not store.read_only:
        try:
            prune_when_due(store.root, store.settings.ledger_days)
        except MemoryMagicError as error:
            notices.append(f"old entries could not be let go of: {error}")
        if problem := book.take_problem():
            notices.append(problem)
    return notices


def _lines(book: Ledger, args: Namespace, view: View | None, limit: int | None) -> list[Line]:
    since, first = _since(args.since)
    found = []
    for line in book.lines(since, args.conversation, args.assistant, view=view):
        if line.head[0] < first:
            continue
        found.append(line)
        if limit is not None and len(found) >= limit:
            break
    return found


def _since(typed: str | None) -> tuple[str | None, int]:
    """Return the time and the journal's record from which on lines are asked for."""
    if typed is None:
        return None, 0
    from memory_magic.store.history import read_moment
    from memory_magic.store.journal import utc_now

    moment = read_moment(typed, utc_now())
    return (None, moment) if isinstance(moment, int) else (moment, 0)


def _safe(value: Any) -> Any:
    """Return a JSON value with each text redacted once more: a line may be older than a rule."""
    from memory_magic.prompt.ledger_lines import clean

    if isinstance(value, str):
        return value if _HEX.issuperset(value) else clean(value)
    if isinstance(value, list):
        return [_safe(one) for one in value]
    if isinstance(value, dict):
        return {key: _safe(one) for key, one in value.items()}
    return value


# -- one block ------------------------------------------------------------------------------------------------------


def _show(
    context: Context, book: Ledger, words: list[str], view: View | None, args: Namespace, notices: list[str]
) -> Outcome:
    if len(words) != 1:
        raise UsageError("say which one: its number in the list, or the hash of its block",
                         hint=f"for example: {context.run('ledger show 1')}")  # fmt: skip
    store = context.store()
    line = _chosen(book, words[0], view, args)
    text = book.block(line.block)
    data = {"line": _safe(line.as_json()), "text": None if text is None else redacted(text), "now": None}
    extra: dict[str, Any] = {"notices": notices}
    if text is not None:
        data["now"] = redacted(book.difference(line.block, _now(store, line)) or "")
    return Outcome("ledger_block", data, extra)


def _now(store: Store, line: Line) -> str:
    """Return what an assistant would be told now in the directory of *line*, or here where that is gone."""
    from pathlib import Path

    from memory_magic.prompt.block import memory_block
    from memory_magic.store.store import Store

    there = Path(line.cwd)
    if there == store.cwd or not there.is_dir():
        return memory_block(store, settings=store.settings).text
    with Store(store.root, there, read_only=True) as other:
        return memory_block(other, settings=store.settings).text


def _chosen(book: Ledger, word: str, view: View | None, args: Namespace) -> Line:
    """Return the line that a number in the list (1: the newest) or the beginning of a hash means."""
    if word.isdecimal() and len(word) < _SHORTEST:
        lines = _lines(book, args, view, max(int(word), 1))
        if 0 < int(word) <= len(lines):
            return lines[int(word) - 1]
        raise NoSuchNoteError(f"the ledger has no entry {word} here", hint=_elsewhere(view))
    prefix = word.strip().lower()
    if len(prefix) < _SHORTEST or not _HEX.issuperset(prefix):
        raise UsageError("a block is named by its number in the list or by 6 or more digits of its hash")
    found: dict[str, Line] = {}
    for line in book.lines(view=view):
        if line.block and line.block.startswith(prefix):
            found.setdefault(line.block, line)
    if not found:
        raise NoSuchNoteError("the ledger has no such block here", hint=_elsewhere(view))
    if len(found) > 1:
        raise UsageError(f"{len(found)} blocks begin so", hint="give more digits")
    return next(iter(found.values()))


def _elsewhere(view: View | None) -> str:
    return "" if view is None else "only what was told here is seen; --scope all looks everywhere"


# -- text for people ------------------------------------------------------------------------------------------------


def _print_ledger(outcome: Outcome, width: int | None, prog: str) -> str:
    lines, extra = outcome.data["lines"], outcome.extra
    told = [f"▲ {plain(notice)}" for notice in extra["notices"]]
    if extra["skipped"]:
        told.append(f"{count(extra['skipped'], 'damaged line')} passed over")
    if not lines:
        where = "" if extra["all"] else f" here ({prog} ledger --scope all looks everywhere)"
        return "\n".join([f"The ledger has no such entry{where}.", *told])
    rows = [
        (number, line["time"][:19].replace("T", " "), _kind(line), one_line(line["assistant"]),
         _used(line), _left_out(line), (line["block"] or "")[:_SHOWN], line["notebook"] or line["cwd"])
        for number, line in enumerate(lines, start=1)
    ]  # fmt: skip
    heads = ("", "time (UTC)", "what", "assistant", "used", "left out", "block", "where")
    shown = table(heads, rows, limit=width, numbers=(0, 5))
    return "\n".join([shown, "", f"one of them: {prog} ledger show N", *told])


def _kind(line: dict[str, Any]) -> str:
    return f"{line['kind']}, purged" if line.get("purged") else str(line["kind"])


def _used(line: dict[str, Any]) -> str:
    return ", ".join(f"{one['name']} {one['used']:,}/{one['cap']:,} {one['unit']}" for one in line["sections"])


def _left_out(line: dict[str, Any]) -> int:
    return sum(one.get("dropped", len(one["omitted"])) for one in line["sections"])


def _print_block(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data = outcome.data
    line = data["line"]
    told = [f"▲ {plain(notice)}" for notice in outcome.extra["notices"]]
    head = line["head"]
    lines = [
        f"{line['time'][:19].replace('T', ' ')} UTC  {_kind(line)}  {one_line(line['assistant'])}",
        f"  where: {one_line(line['notebook'] or line['cwd'])}",
        f"  conversation: {one_line(line['conversation'] or '-')}",
        f"  journal: up to record {head['n']:,}",
        f"  block: {line['block'] or '-'}",
    ]
    for section in line["sections"]:
        used = f"{section['used']:,} of {section['cap']:,} {section['unit']}"
        lines.append(
            f"  {one_line(section['name'])}: {used}, {count(_left_out({'sections': [section]}), 'note')} left out"
        )
    if data["text"] is None:
        return "\n".join([*lines, "", "The block itself is not kept any more, or was changed since.", *told])
    lines += ["", *plain(data["text"]).split("\n"), ""]
    changed = plain(data["now"]).split("\n") if data["now"] else []
    lines.append("Changed since (- then, + now):" if changed else "An assistant would be told the same there now.")
    marked = [f"  {one[:1]} {one[1:]}" for one in changed]
    lines += marked if width is None else [clip(one, width) for one in marked]
    return "\n".join([*lines, *told])


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {
    "ledger": _print_ledger,
    "ledger_block": _print_block,
}

ROWS: Final[tuple[Command, ...]] = (
    Command(
        "ledger",
        "Show what was put into which prompt, when and where",
        ledger,
        (
            arg("words", nargs="*", metavar="show N|HASH", help="show one stored block, and what changed since"),
            arg("-n", "--limit", type=positive, metavar="N", help=f"how many at most (default: {DEFAULT_LIMIT})"),
            arg("--since", metavar="WHEN", help=f"from then on: {_WHEN}"),
            arg("--assistant", metavar="NAME", help="only what this assistant was told"),
            arg("--conversation", metavar="ID", help="only what was told in this conversation"),
        ),
        "Newest first. From a directory only its own is seen; --scope all looks everywhere.",
    ),
)
