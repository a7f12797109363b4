"""The one table of commands; the command line, `%memory` and the reference page are made from it.

A line or a list of words becomes an `Outcome` in three steps: find the command (common options may stand before its
name), parse its words, call its function. Nothing is printed here. `run_words` takes what a shell has split already;
`run_line` takes the line of a magic and leaves free text as it was typed.

Adding a command means adding a row: help, completion, documentation and both shells follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic import commands_history_rows as past
from memory_magic import commands_ledger as ledger
from memory_magic import commands_mcp as mcp
from memory_magic import commands_notes as notes
from memory_magic import commands_purge as purge
from memory_magic import commands_review as review
from memory_magic import commands_store as store
from memory_magic import commands_switch as switch
from memory_magic import commands_view as view
from memory_magic.commands_base import A_NOTE, COMMON, TARGETS, WHY, YES, Argument, Command, arg, positive
from memory_magic.commands_words import is_option, split_text, split_words
from memory_magic.errors import MemoryMagicError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from memory_magic.commands_base import Context, Outcome

_TARGET = arg("target", metavar="ID|TEXT", completes="note", help=A_NOTE)
_FORGET = "Nothing is lost: the journal keeps what was there"


_PRESENT: Final[tuple[Command, ...]] = (
    Command(
        "remember",
        "Save one note",
        notes.remember,
        (
            arg("--pin", action="store_true", help="pin it: pinned notes come first in every block"),
            arg("text", nargs="*", metavar="TEXT", help="the note; - reads it from standard input"),
        ),
        "Without --scope it is global and follows you. Secrets and <private>…</private> are taken out before saving. "
        "Not for memory: secrets, the state of a task, more than a few sentences of instruction (AGENTS.md, a skill).",
        text="text",
    ),
    Command(
        "search",
        "Find notes by their words",
        notes.search,
        (
            arg("-n", "--limit", type=positive, metavar="N", help="how many at most (default: search_limit, 8)"),
            arg("--explain", action="store_true", help="say how the query was read"),
            arg("query", nargs="+", metavar="QUERY", help="words; a note must hold every one"),
        ),
        text="query",
    ),
    Command("get", "Show one note and where it came from", notes.get, (TARGETS,)),
    Command(
        "revise",
        "Replace a note's text",
        notes.revise,
        (_TARGET, arg("new", nargs="+", metavar="NEW", help="the new text"), WHY),
        _FORGET,
    ),
    Command("retire", "Take a note out of use", notes.retire, (_TARGET, WHY), _FORGET),
    Command("pin", "Put a note first in every block", notes.pin, (TARGETS,)),
    Command("unpin", "Let a note take its place by age again", notes.unpin, (TARGETS,)),
    *view.ROWS,
    Command("status", "Say what is remembered where, and whether it reaches a prompt", store.status),
    Command("reindex", "Build the search index anew from the Markdown files", store.reindex, scoped=False),
    Command(
        "init",
        "Make this directory a workspace of its own",
        store.init,
        (YES, arg("label", nargs="*", metavar="NAME", help="its name (default: the directory's)")),
        "Writes .memory-magic.toml with the name and a random id.",
        scoped=False,
    ),
    Command(
        "config",
        "Show the settings, or change one",
        store.config,
        (
            arg("action", nargs="?", choices=("list", "get", "set"), default="list", metavar="list|get|set",
                completes="action", help="list (default), get KEY, set KEY VALUE"),
            arg("key", nargs="?", metavar="KEY", completes="setting", help="a setting's name"),
            arg("value", nargs="*", metavar="VALUE", completes="value", help="its new value"),
        ),
        scoped=False,
    ),
    Command("doctor", "Look for damage and slips, and say how to mend each", store.doctor, scoped=False),
    Command(
        "run",
        "Extract memories from past sessions",
        store.run,
        (arg("--session", action="append", metavar="PATH", completes="path", help="a session's file (may repeat)"),),
        scoped=False,
    ),
    Command(
        "dashboard",
        "Open the dashboard on this computer",
        store.dashboard,
        (
            arg("--port", type=int, default=0, metavar="N", help="port (default: a free one)"),
            arg("--no-browser", action="store_true", help="print the address, open nothing"),
        ),
        scoped=False,
    ),
)  # fmt: skip
_ROWS: Final = (*_PRESENT, *switch.ROWS, *ledger.ROWS, *review.ROWS, *mcp.ROWS, *past.ROWS, *purge.ROWS)
COMMANDS: Final[dict[str, Command]] = {command.name: command for command in _ROWS}
TABLE: Final[tuple[Command, ...]] = tuple(COMMANDS.values())


def find(name: str) -> Command:
    """Return the command called *name*; UsageError names the nearest one."""
    command = COMMANDS.get(name)
    if command is None:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, n=1)
        advice = f"did you mean {near[0]}?" if near else f"commands are {', '.join(COMMANDS)}"
        raise UsageError(f"there is no command {name}", hint=advice)
    return command


def split_name(words: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Return the common options before a command's name, the name (None without one) and the words after it."""
    takes = takes_value(COMMON)
    before: list[str] = []
    rest = list(words)
    while rest and is_option(rest[0]):
        word = rest.pop(0)
        before.append(word)
        name, equals, _ = word.partition("=")
        if takes.get(name) and not equals and rest:
            before.append(rest.pop(0))
    return before, rest[0] if rest else None, rest[1:]


def takes_value(arguments: Sequence[Argument]) -> dict[str, bool]:
    """Return for each option whether a value follows."""
    known = {flag: item.takes_value for item in arguments if item.is_option for flag in item.flags}
    return known | {"-h": False, "--help": False}


def split_line(line: str) -> tuple[list[str], str | None, str]:
    """Return the same of a magic's *line*: common options, name, and the rest as it was typed."""
    before, rest = split_text(line, takes_value(COMMON))
    name, _, rest = rest.partition(" ") if " " in rest else (rest, "", "")
    return before, name or None, rest.strip()


def words_of(command: Command, line: str, cell: str | None = None) -> list[str]:
    """Return the words of a magic's *line* and *cell* for *command*; free text stays as it was typed."""
    if not command.text:
        return split_words(line)
    options, text = split_text(line, takes_value(command.all_arguments))
    if cell is not None:
        text = f"{text}\n{cell}" if text else cell
    text = text.strip("\n")
    return [*options, "--", text] if text.strip() else options


def parse(command: Command, words: Sequence[str], prog: str) -> Namespace:
    """Return the parsed *words*; UsageError when they do not fit, HelpAsked when help was asked for."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UsageError("a word of the command is not valid UTF-8", hint="check the terminal's encoding") from None
        if "\0" in word:
            raise UsageError("a word of the command holds a NUL character")
    parser = command.parser(prog)
    at = words.index("--") if "--" in words else len(words)
    if {"-h", "--help"} & set(words[:at]):
        # now, because parsing hides the positional arguments for a while
        parser.print_help()
    _check_evidence(command, words[:at])
    # argparse forgets the -- when options and positionals mix: what follows it travels under names without a dash
    literal = {f"\0{place}": word for place, word in enumerate(words[at + 1 :])}
    args = parser.parse_intermixed_args([*words[:at], *literal])
    for name, value in vars(args).items():
        if isinstance(value, list):
            setattr(args, name, [literal.get(word, word) for word in value])
        elif isinstance(value, str):
            setattr(args, name, literal.get(value, value))
    return args


def _check_evidence(command: Command, words: Sequence[str]) -> None:
    """Refuse `revise ID NEW --evidence because he said so`: words of the reason would end up in the note."""
    takes = takes_value(command.all_arguments)
    single = sum(1 for item in command.all_arguments if not item.is_option and not item.options.get("nargs"))
    free, reasoned, left = 0, False, iter(words)
    for word in left:
        name, equals, _ = word.partition("=")
        if not is_option(word):
            free += 1
            if reasoned:
                raise UsageError(
                    f"the words after {WHY.flags[0]} stand outside of it, from {word!r} on",
                    hint='put the reason in quotes: --evidence "because they said so"',
                )
        elif takes.get(name):
            if not equals:
                next(left, None)
            reasoned = name in WHY.flags and free > single


def run_words(command: Command, words: Sequence[str], context: Context, *, prog: str = "") -> tuple[Outcome, Namespace]:
    """Run *command* with *words* as a shell hands them over; return the outcome and the parsed options.

    *prog* is how the command was typed, where that is not the context's program and the command's name.
    """
    context.typed = prog or context.run(command.name)
    args = parse(command, words, context.typed)
    if args.root is not None:
        context.given_root = args.root
    _check_scope(command, args.scope)
    try:
        outcome = command.run(context, args)
    except MemoryMagicError as error:
        error.what, error.hint = context.as_typed(error.what), context.as_typed(error.hint)
        raise
    if "scope_notice" in outcome.extra:
        outcome.extra["scope_notice"] = context.as_typed(outcome.extra["scope_notice"])
    return outcome, args


def _check_scope(command: Command, scope: str | None) -> None:
    """Refuse an empty scope, and a name that is no scope where the command would not look at it."""
    if scope is None:
        return
    if not scope.strip():
        raise UsageError("the scope's name is empty", hint="scopes are: global, workspace, all, or a scope's id")
    if not command.scoped:
        from memory_magic.store.scope import check_scope_name

        check_scope_name(scope)


def summary_lines(prog: str) -> str:
    """Return all commands with their summaries, aligned."""
    size = max(len(command.name) for command in TABLE)
    return "\n".join(f"  {prog} {command.name:<{size}}  {command.summary}" for command in TABLE)
