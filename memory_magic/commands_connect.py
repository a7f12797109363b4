"""Commands connect, disconnect and setup: which assistants are told this memory; their rows and printers.

`connect` says what it would change, line by line, asks, and changes it; memory that is off is switched on in the same
conversation, and past sessions are extracted only if the person says so, too. `disconnect` is the way back. `setup` is
the first page: what is on this computer, what is connected, which older memories could be taken over.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic import settings as rules
from memory_magic.commands_base import Command, Outcome, arg
from memory_magic.commands_table import one_line, plain, table
from memory_magic.errors import MemoryMagicError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from memory_magic.assistants.connect import Change
    from memory_magic.assistants.connect_specs import Assistant, Where
    from memory_magic.commands_base import Context

_OLD_STORES: Final = (
    ("CodeWhale", ("~/.codewhale/memory/global/MEMORY.md", "~/.codewhale/memory/memory/global/MEMORY.md"), "import"),
    ("CodeWhale", ("~/.deepseek/memory/global/MEMORY.md",), "import"),
    ("Codex", ("~/.codex/memories/MEMORY.md",), ""),
    ("oh-my-pi", ("~/.omp/agent/memories",), ""),
    ("Claude Code", ("~/.claude/projects/*/memory/MEMORY.md",), ""),
)
_GENERATE: Final = (
    "May past sessions of your assistants be read to extract memories from them? (On this computer; no model is asked "
    "unless a setting names one.)"
)


# -- connect ----------------------------------------------------------------------------------------------------------


def connect(context: Context, args: Namespace) -> Outcome:
    """Connect an assistant to this memory, or list them."""
    if args.list or not args.name:
        return _listed(context)
    from memory_magic.assistants import connect as work

    assistant = work.find(args.name)
    where = _where(context, args, assistant.levels[0])
    switch = not rules.load(context.root).enabled and not rules.faults(context.root)
    asks = switch and not args.dry_run
    agreed = asks and _agrees(context, _switch_question(context, assistant), yes=args.yes)
    changes = work.plan(context.root, assistant, where, switched_on=agreed or (switch and args.dry_run))
    _require_tracked(context, assistant, changes, tracked=args.tracked)
    diffs = [_diff(one) for one in changes if one.is_change]
    lines: list[str] = []
    if args.dry_run:
        lines += ["Memory is off: you would be asked whether to switch it on."] if switch else []
        return _outcome(assistant, where, changes, diffs, lines, dry=True)
    if diffs:
        question = "\n".join([*diffs, *_pushed(changes), f"Connect {assistant.title}: change these files?"])
        context.confirm(question, yes=args.yes)
    if agreed:
        lines += _switch_on(context, yes=args.yes)
        if not rules.load(context.root).enabled:
            lines = [f"▲ Still off here: {rules.SETTINGS['enabled'].variable} in the environment says so."]
            changes = work.plan(context.root, assistant, where)
    elif switch:
        lines.append(f"▲ Memory is off: {assistant.title} is told nothing until you type {context.run('on')}.")
    work.carry_out(context.root, assistant, where, changes)
    lines += assistant.after if diffs else ()
    return _outcome(assistant, where, changes, diffs, lines, dry=False)


def _switch_question(context: Context, assistant: Assistant) -> str:
    return (
        f"Memory is off. Switch it on, so that {assistant.title} (and every other assistant that is connected to "
        f"{plain(context.root)}) is told your notes?"
    )


def _agrees(context: Context, question: str, *, yes: bool) -> bool:
    """Tell whether the person says yes; nobody there to ask counts as no."""
    try:
        context.confirm(question, yes=yes)
    except MemoryMagicError:
        return False
    return True


def _switch_on(context: Context, *, yes: bool) -> list[str]:
    """Switch memory on; extraction only where the person says yes to that as well (-y alone does not)."""
    origin = rules.explain_one(context.root, rules.SETTINGS["generate_memories"]).origin
    lines = ["Memory is on."]
    if origin == "default":
        generate = not yes and _agrees(context, _GENERATE, yes=False)
        if not generate:
            rules.set_value(context.root, "generate_memories", value=False)
            lines.append(f"Past sessions are not read ({context.run('config set generate_memories on')} changes that).")
    rules.set_value(context.root, "enabled", value=True)
    return lines


def _where(context: Context, args: Namespace, level: str) -> Where:
    """Return for whom something is connected, and from where."""
    from memory_magic.assistants.connect_specs import PROJECT, USER, Where

    if args.project and args.user:
        raise UsageError("--project and --user exclude each other")
    chosen = PROJECT if args.project else USER if args.user else level
    return Where(
        home=_home(),
        project=_project(context),
        level=chosen,
        root=_other_root(context),
        approve=not getattr(args, "no_approve", False),
    )


def _home() -> Path:
    try:
        return Path(os.environ.get("HOME") or str(Path.home()))
    except RuntimeError as error:
        raise MemoryMagicError("there is no home directory, where assistants keep their settings") from error


def _project(context: Context) -> Path | None:
    from memory_magic.store.scope import resolve

    return resolve(Path(context.cwd or Path.cwd()), context.root).project


def _other_root(context: Context) -> Path | None:
    """Return the root where it is not the default one: then the assistants have to be told."""
    usual = rules.find_root(None, {name: value for name, value in os.environ.items() if name != "MEMORY_MAGIC_HOME"})
    return None if context.root == usual else context.root


def _require_tracked(context: Context, assistant: Assistant, changes: Sequence[Change], *, tracked: bool) -> None:
    from memory_magic.assistants.connect import tracked as followed

    found = [] if tracked else followed(changes)
    if found:
        names = ", ".join(plain(path) for path in found)
        raise MemoryMagicError(
            f"git follows {names}, so what is written there will be pushed and everybody who has the project reads it; "
            "nothing was changed",
            hint=f"if you want that: {context.run(f'connect {assistant.name} --tracked')}",
        )


def _pushed(changes: Sequence[Change]) -> list[str]:
    from memory_magic.assistants.connect import tracked as followed

    lines = [f"▲ git follows {plain(path)}: what is in it will be pushed." for path in followed(changes)]
    inside = [one for one in changes if one.is_change and not one.target.private]
    if inside and not lines:
        lines.append("▲ These files stand in the project: if you add them to git, they are pushed like the rest.")
    return lines


def _diff(change: Change) -> str:
    head = "new file " if change.before.data is None else "delete " if change.text is None else ""
    exact = "" if change.exact else "   (changed by somebody since: only memory-magic's part is taken out)"
    body = "\n".join(f"  {line}" for line in plain(change.diff).split("\n"))
    return f"{head}{plain(change.path)}{exact}\n{body}"


def _outcome(
    assistant: Assistant, where: Where, changes: Sequence[Change], diffs: list[str], lines: list[str], *, dry: bool
) -> Outcome:
    data = {
        "assistant": assistant.name,
        "level": where.level,
        "changed": bool(diffs) and not dry,
        "dry_run": dry,
        "files": [{"path": str(one.path), "changed": one.is_change, "diff": one.diff} for one in changes],
    }
    return Outcome("connected", data, {"title": assistant.title, "diffs": diffs, "lines": lines})


# -- disconnect -------------------------------------------------------------------------------------------------------


def disconnect(context: Context, args: Namespace) -> Outcome:
    """Take an assistant off this memory: every byte back where nobody has changed the file since."""
    from memory_magic.assistants import connect as work

    assistant = work.find(args.name)
    removals = work.plan_removal(context.root, assistant, _places(context, args, assistant))
    changes = [one for removal in removals for one in removal.changes]
    diffs = [_diff(one) for one in changes if one.is_change]
    data: dict[str, Any] = {
        "assistant": assistant.name,
        "connected": bool(removals),
        "changed": bool(diffs) and not args.dry_run,
        "dry_run": args.dry_run,
        "files": [
            {"path": str(one.path), "changed": one.is_change, "exact": one.exact, "diff": one.diff} for one in changes
        ],
    }
    extra = {"title": assistant.title, "diffs": diffs}
    if args.dry_run or not removals:
        return Outcome("disconnected", data, extra)
    if diffs:
        context.confirm("\n".join([*diffs, f"Disconnect {assistant.title}: change these files?"]), yes=args.yes)
    work.remove(context.root, removals)
    return Outcome("disconnected", data, extra)


def _places(context: Context, args: Namespace, assistant: Assistant) -> list[Where]:
    """Return where to disconnect: what was asked for, else for the person and in this project."""
    from dataclasses import replace

    asked = args.project or args.user
    first = _where(context, args, assistant.levels[0])
    levels = (first.level,) if asked else assistant.levels
    return [place for level in levels if (place := replace(first, level=level)).level != "project" or place.project]


# -- setup, list ------------------------------------------------------------------------------------------------------


def _listed(context: Context) -> Outcome:
    from memory_magic.assistants import connect as work

    return Outcome("connections", {"assistants": work.listing(context.root, _anywhere(context))})


def _anywhere(context: Context) -> Where:
    from memory_magic.assistants.connect_specs import USER, Where

    return Where(home=_home(), project=_project(context), level=USER)


def setup(context: Context, args: Namespace) -> Outcome:  # noqa: ARG001 -- every command has this signature
    """Show what is on this computer, what is connected, and what could be taken over."""
    data = _listed(context).data
    data["old_stores"] = [
        {"name": name, "path": str(path), "import": bool(verb)} for name, path, verb in _old_stores(_home())
    ]
    data["enabled"] = rules.load(context.root).enabled
    data["root"] = str(context.root)
    return Outcome("setup", data)


def _old_stores(home: Path) -> list[tuple[str, Path, str]]:
    found = []
    for name, patterns, verb in _OLD_STORES:
        for pattern in patterns:
            there = sorted(home.glob(pattern.removeprefix("~/")))
            found += [(name, path, verb) for path in there]
    return found


# -- text for people --------------------------------------------------------------------------------------------------


def _print_connected(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- a shared signature
    data, extra = outcome.data, outcome.extra
    title, lines = extra["title"], [f"  {line}" for line in extra["lines"]]
    if data["dry_run"]:
        said = "Nothing was written. This would change:" if extra["diffs"] else f"{title}: nothing would change."
        return "\n".join([said, *extra["diffs"], *lines])
    if not extra["diffs"]:
        return "\n".join([f"{title} is connected already; nothing was changed.", *lines])
    names = [f"  {plain(one['path'])}" for one in data["files"] if one["changed"]]
    undo = f"  {prog} disconnect {data['assistant']} puts everything back."
    return "\n".join([f"{title} is connected: it is told from its next conversation on.", *names, *lines, undo])


def _print_disconnected(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001
    data, extra = outcome.data, outcome.extra
    title = extra["title"]
    if data["dry_run"]:
        said = "Nothing was written. This would change:" if extra["diffs"] else f"{title}: nothing would change."
        return "\n".join([said, *extra["diffs"]])
    if not data["connected"]:
        return f"{title} is not connected here; nothing was changed."
    rows = [
        f"  {plain(one['path'])}: {'as it was before, to the byte' if one['exact'] else 'our part was taken out'}"
        for one in data["files"]
        if one["changed"]
    ]
    return "\n".join([f"{title} is disconnected: its next conversation is told nothing.", *rows])


def _print_connections(outcome: Outcome, width: int | None, prog: str) -> str:
    rows = []
    for one in outcome.data["assistants"]:
        places = [_place(row) for row in one["connected"]]
        rows.append((one["name"], "yes" if one["found"] else "", "; ".join(places) or "-", one_line(one["title"])))
    shown = table(("name", "on this computer", "connected", "what"), rows, limit=width)
    return f"{shown}\n\nconnect one: {prog} connect NAME (--dry-run shows what would change)"


def _place(row: dict[str, Any]) -> str:
    states = {one["state"] for one in row["files"]}
    trouble = "" if states <= {"connected"} else f" ({', '.join(sorted(states))})"
    return f"{one_line(row['project'] or 'for you')}{trouble}"


def _print_setup(outcome: Outcome, width: int | None, prog: str) -> str:
    data = outcome.data
    state = "on" if data["enabled"] else "off: nothing reaches a prompt"
    lines = [f"Your memory is at {plain(data['root'])} and is {state}.", "", _print_connections(outcome, width, prog)]
    if data["old_stores"]:
        lines += ["", "Older memories on this computer:"]
        for one in data["old_stores"]:
            how = f"  take it over: {prog} import {plain(one['path'])}" if one["import"] else ""
            lines.append(f"  {one['name']}: {plain(one['path'])}{how}")
    return "\n".join(lines)


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {
    "connected": _print_connected,
    "disconnected": _print_disconnected,
    "connections": _print_connections,
    "setup": _print_setup,
}

_NAME: Final = "an assistant's name, as connect --list shows it"
_LEVELS: Final = (
    arg("--project", action="store_true", help="in this project only"),
    arg("--user", action="store_true", help="for you, in every project"),
    arg("--dry-run", action="store_true", help="show what would change, change nothing"),
)

ROWS: Final[tuple[Command, ...]] = (
    Command(
        "connect",
        "Connect an assistant, so that it is told your notes",
        connect,
        (
            arg("name", nargs="?", metavar="NAME", help=_NAME),
            arg("--list", action="store_true", help="list the assistants, and how they stand"),
            *_LEVELS,
            arg("--no-approve", action="store_true", help="let the assistant ask before each use of a tool"),
            arg("--tracked", action="store_true", help="also write into files that git follows (they will be pushed)"),
            arg("-y", "--yes", action="store_true", help="do not ask; past sessions stay unread all the same"),
        ),
        "Shows every line that changes, and asks first. Comments, order and other entries stay.",
        scoped=False,
    ),
    Command(
        "disconnect",
        "Take an assistant off, and put its files back",
        disconnect,
        (
            arg("name", metavar="NAME", help=_NAME),
            *_LEVELS,
            arg("-y", "--yes", action="store_true", help="do not ask"),
        ),
        "Every byte as it was where nobody has changed the file since; else only what is ours goes.",
        scoped=False,
    ),
    Command(
        "setup",
        "Show what is on this computer, what is connected, and older memories",
        setup,
        scoped=False,
    ),
)
