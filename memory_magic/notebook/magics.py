"""The magics: `%remember`, `%%remember`, `%memory_search`, `%memory_view`, `%%memory_view`, `%memory COMMAND`.

Each magic is a thin shell around the table of commands: it splits the line, runs the command, shows the outcome. Lines
reach us as typed (`no_var_expand`): quotes, `$` and braces of a note are the note's own. Commands that change something
show their reply at once, wherever they stand in a cell; commands that look return a `MemoryResult`, for `_.df` and for
assignment.

An expected error is one line on standard error; only a fault of ours shows a traceback. `load` and `unload` register
and take away everything: magics, completion, quick capture, and the rule that lets a note end in a question mark.
Loading says in one line whether anything reaches a prompt; it opens no store and starts nothing. Settings that cannot
be told do not stop a command: one line on standard error says that their defaults are used and that memory is off.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from IPython.core.error import TryNext
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from memory_magic import commands
from memory_magic import commands_switch as switch
from memory_magic.commands_base import Context, HelpAsked, ask_person
from memory_magic.commands_print import as_json, as_text
from memory_magic.errors import MemoryMagicError
from memory_magic.notebook.completion import MAGICS, offers
from memory_magic.notebook.context import provenance
from memory_magic.notebook.display import PROG, MemoryResult
from memory_magic.notebook.questions import keep_questions
from memory_magic.notebook.quick_capture import captured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from IPython.core.interactiveshell import InteractiveShell

    from memory_magic.commands_base import Command, Outcome

    Shown = MemoryResult | pd.DataFrame | None

CHANGES = frozenset({"remembered", "changed", "initialised", "set", "switched", "reindexed", "ran", "served"})
"""Kinds of outcomes that are shown at once: nobody should miss that something was written."""

_OFFERED = 50
_OFF = "off: nothing is put into a prompt"
_GREETINGS = {
    "on": "on: connected assistants get your notes",
    "paused": "paused in this notebook: nothing is put into a prompt",
    "broken": "off until the settings are put right: nothing is put into a prompt",
    "project": "off in this project: nothing is put into a prompt",
    "use_memories": "on, but use_memories is off: nothing is put into a prompt",
}


def _documented(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a magic the arguments of the command *name*, for `%magic?`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for item in reversed(commands.COMMANDS[name].all_arguments):
            function = argument(*item.flags, **item.options)(function)
        documented: Callable[..., Any] = magic_arguments()(function)
        return documented

    return decorate


def _memory_help(function: Callable[..., Any]) -> Callable[..., Any]:
    """Write the documentation of `%memory` from the table."""
    function.__doc__ = f"""Look at and change what your assistants remember: %memory COMMAND …

{commands.summary_lines(PROG)}

`%memory COMMAND --help` tells the options of one. Options that all take: --root DIR, --json, --scope SCOPE.

The short forms: %remember TEXT saves a note, %%remember one of several lines, %memory_search QUERY finds notes,
%memory_view shows what an assistant would be told. Results have `.df` (a pandas frame) and `.data`.

A note belongs to `global` (it follows you) or to the `workspace` (this repository only). Put several words in quotes:
    %memory revise 7k2m9q4tzc "Deploys run on Tuesdays" --evidence "said in the stand-up"

Everything lies in readable files: %memory status says where. Nothing reaches a prompt before %memory on;
%memory pause keeps memory away from this notebook until %memory on or a restart.
Not for memory: secrets, the state of a task, long instructions (AGENTS.md, a skill).
"""
    return function


@magics_class
class MemoryMagics(Magics):
    """The magics of one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        """Keep the shell that the magics belong to."""
        super().__init__(shell)
        self._interactive = shell

    @no_var_expand
    @line_cell_magic
    @_documented("remember")
    def remember(self, line: str, cell: str | None = None) -> None:
        """Save one note; as %%remember, the cell is the note, with its line breaks."""
        self._run("remember", line, cell, prog="%remember")

    @no_var_expand
    @line_magic
    @_documented("search")
    def memory_search(self, line: str) -> Shown:
        """Find notes by their words."""
        return self._run("search", line, prog="%memory_search")

    @no_var_expand
    @line_cell_magic
    @_documented("view")
    def memory_view(self, line: str, cell: str | None = None) -> Shown:
        """Show what an assistant would be told, byte for byte, with each budget and what is left out; nothing is sent.

        As %%memory_view, the cell is the prompt (it only matters with recall = relevant). --as frame gives a pandas
        frame; its columns are explained by memory_magic.commands_view.frame.
        """
        return self._run("view", line, cell, prog="%memory_view")

    @no_var_expand
    @line_magic
    @_memory_help
    def memory(self, line: str) -> Shown:  # noqa: D102 -- written from the table by _memory_help
        return self._guarded(lambda context: self._memory(line, context))

    def _memory(self, line: str, context: Context) -> Shown:
        """Run `%memory COMMAND …`."""
        before, name, rest = commands.split_line(line)
        if name in {None, "help"} or {"-h", "--help"} & set(before):
            raise HelpAsked(str(type(self).memory.__doc__))
        command = commands.find(str(name))
        return self._show(command, [*before, *commands.words_of(command, rest)], context)

    def _run(self, name: str, line: str, cell: str | None = None, *, prog: str) -> Shown:
        """Run the command *name* with what was typed after its own magic."""
        command = commands.COMMANDS[name]
        return self._guarded(lambda context: self._show(command, commands.words_of(command, line, cell), context, prog))

    def _show(self, command: Command, words: Sequence[str], context: Context, prog: str = "") -> Shown:
        """Run a command; show its outcome, or return it."""
        outcome, args = commands.run_words(command, words, context, prog=prog)
        if note := switch.warning(command.name, context):
            _print(note, sys.stderr)
        if args.json:
            _print(as_json(outcome))
            return None
        if args.scope and not command.scoped:
            _print(f"note: --scope has no effect on {command.name}", sys.stderr)
        return _in_form(outcome, getattr(args, "form", None))

    def _guarded(self, work: Callable[[Context], Shown], *, execution: int | None = None) -> Shown:
        """Do *work* with a context for this cell; an expected error becomes one line."""
        by = provenance(self._interactive, execution=execution)
        context = Context(by=by, ask=ask_person, serve=_serve, prog=PROG)
        try:
            return work(context)
        except HelpAsked as text:
            _print(str(text).rstrip())
        except (MemoryMagicError, OSError) as error:
            from memory_magic.text.report import error_text

            _print(error_text(error), sys.stderr)
        finally:
            context.close()
        return None

    def greet(self) -> None:
        """Say whether anything reaches a prompt, and where the help is."""
        self._guarded(_greet)

    def capture(self, result: Any) -> None:
        """Remember the cell that has just run if it is nothing but one line `# text` and the setting is on."""
        text = captured(getattr(result.info, "raw_cell", None) or "")
        if text is not None:
            self._guarded(lambda context: self._capture(text, context), execution=result.execution_count)

    def _capture(self, text: str, context: Context) -> None:
        settings = context.settings()
        if note := switch.warning("remember", context):
            _print(note, sys.stderr)
        if settings.enabled and settings.quick_capture and not switch.off_files(context.cwd):
            command = commands.COMMANDS["remember"]
            self._show(command, ["--scope", "global", "--", text], context)

    def complete(self, _: Any, event: Any) -> list[str]:
        """Offer words for Tab; TryNext leaves the place to IPython's own completers."""
        found = offers(event.text_until_cursor, self._candidates)
        if not found:
            raise TryNext
        return found

    def _candidates(self, kind: str, begun: str) -> list[str]:
        """Return ids of notes that start with *begun*; an unreadable store offers nothing."""
        if kind != "note":
            return []
        context = Context()
        try:
            store = context.store(read_only=True)
            found = [note.id for note in store.list() if note.id.startswith(begun)]
            return [store.short_id(one) for one in found[:_OFFERED]]
        except (MemoryMagicError, OSError):
            return []
        finally:
            context.close()


def _in_form(outcome: Outcome, form: str | None) -> Shown:
    """Return the outcome in the form that was asked for with --as, where the command has several."""
    if form == "text":
        _print(as_text(outcome, width=None, prog=PROG))
        return None
    return MemoryResult(outcome).df if form == "frame" else _shown(outcome)


def _shown(outcome: Outcome) -> MemoryResult | None:
    """Show a change at once, return anything else for IPython to show."""
    if outcome.kind == "served":
        _print(
            f"{as_text(outcome, width=None, prog=PROG)}  (ends with the kernel; until then its token opens your notes)"
        )
        return None
    result = MemoryResult(outcome)
    if outcome.kind not in CHANGES:
        return result
    display(result)
    return None


def _greet(context: Context) -> None:
    """Print one line; the settings are read, and where memory is on the project's files."""
    settings = context.settings()
    # a look at the folders above costs what nobody needs while memory is off
    now = switch.state(context, settings, switch.off_files(context.cwd) if settings.enabled else [])
    _print(f"memory-magic is {_GREETINGS.get(now.why, _OFF)}. What is seen here: %memory status. Help: %memory?")
    if note := switch.warning("", context):
        _print(note, sys.stderr)


def _print(text: str, stream: Any = None) -> None:
    """Print to the cell's output; the stream is looked up now, for IPython swaps it."""
    (stream or sys.stdout).write(f"{text}\n")


_running: list[Any] = []


def _serve(root: Any, *, cwd: Any, port: int, browser: bool, as_json: bool = False) -> str:  # noqa: ARG001 -- said by the cell
    """Start the dashboard beside the kernel and return its address; it ends with the kernel.

    The address is printed as one plain line, token included, and the notebook's file keeps it: a kernel on another
    machine can open no browser here. The token opens nothing once the kernel has ended.
    """
    try:
        from memory_dashboard.server import Dashboard
    except ImportError as error:
        from memory_magic.errors import MissingExtraError

        raise MissingExtraError(
            "the dashboard is not installed", hint="install it: pip install 'memory-magic[dashboard]'"
        ) from error
    while _running:
        _running.pop().stop()
    _running.append(Dashboard(root, cwd=cwd, port=port))
    return str(_running[-1].url)


_loaded: dict[int, MemoryMagics] = {}


def load(shell: InteractiveShell) -> None:
    """Register everything with *shell*; loading twice is loading once."""
    if id(shell) in _loaded:
        return
    magics = MemoryMagics(shell)
    shell.register_magics(magics)
    for name in MAGICS:
        for sign in ("%", "%%"):
            shell.set_hook("complete_command", magics.complete, str_key=f"{sign}{name}")
    shell.events.register("post_run_cell", magics.capture)
    shell.input_transformers_cleanup.append(keep_questions)
    _loaded[id(shell)] = magics
    magics.greet()


def unload(shell: InteractiveShell) -> None:
    """Take everything away from *shell* again."""
    magics = _loaded.pop(id(shell), None)
    if magics is None:
        return
    for names in shell.magics_manager.magics.values():
        for name in MAGICS:
            names.pop(name, None)
    for name in MAGICS:
        for sign in ("%", "%%"):
            shell.strdispatchers["complete_command"].strs.pop(f"{sign}{name}", None)
    shell.events.unregister("post_run_cell", magics.capture)
    shell.input_transformers_cleanup.remove(keep_questions)
    while _running:
        _running.pop().stop()
