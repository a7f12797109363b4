"""What a command is, apart from any one of them.

A `Command` is a row of one table: name, summary, arguments, the function that does the work. The command line,
`%memory` and the reference page are all made from the same rows. The function takes a `Context` (root, directory, who
asks, how to ask back) and the parsed arguments, and returns an `Outcome`: the JSON value that programs rely on, and
beside it what only people need to see. It prints nothing; printers (`commands_print`) and the notebook's display turn
an outcome into text or HTML.

Invariants: everything is imported when it is needed, so that listing commands loads no store; a context opens at most
one store, and `close` closes it; wrong words raise `UsageError`, they never end the process.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

from memory_magic.errors import MemoryMagicError, StoreAccessError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from memory_magic.settings import Settings
    from memory_magic.store.store import Store

COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as `argparse.add_argument` and IPython's `argument` take it; *completes* names what Tab offers."""

    flags: tuple[str, ...]
    options: Mapping[str, Any]
    completes: str = ""

    @property
    def takes_value(self) -> bool:
        """Tell whether a word follows the option."""
        return self.is_option and self.options.get("action", "append") == "append"

    @property
    def is_option(self) -> bool:
        """Tell an option from a positional argument."""
        return self.flags[0].startswith("-")


def arg(*flags: str, completes: str = "", **options: Any) -> Argument:
    """Write an Argument as one writes `add_argument`."""
    return Argument(flags, options, completes)


def positive(word: str) -> int:
    """Return a whole number of at least 1 (argparse makes the ValueError a usage error)."""
    number = int(word)
    if number < 1:
        raise ValueError
    return number


positive.__name__ = "number"  # argparse names it when the word does not fit

A_NOTE: Final = "a note's id (6 letters are enough) or its exact text"
TARGETS: Final = arg("target", metavar="ID|TEXT", nargs="+", completes="note", help=A_NOTE)
WHY: Final = arg(
    "--evidence", metavar="WHY", required=True, help="why: what was said, seen or decided (kept in the journal)"
)
_SAY_YES: Final = "say yes beforehand with -y"
YES: Final = arg("-y", "--yes", action="store_true", help="answer every question with yes")


class StoppedError(MemoryMagicError):
    """A person pressed Ctrl-C at a question."""

    exit_status = 130  # as a shell says it


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command found or did.

    *kind* chooses the printer; *data* is the JSON value; *extra* is for people only; *status* is the exit status.
    """

    kind: str
    data: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)
    status: int = 0


@dataclass(frozen=True, slots=True)
class Command:
    """One row of the table. *text* names the argument that takes the rest of a magic's line as it stands."""

    name: str
    summary: str
    run: Callable[[Context, argparse.Namespace], Outcome]
    arguments: tuple[Argument, ...] = ()
    details: str = ""
    text: str = ""
    scoped: bool = True

    @property
    def all_arguments(self) -> tuple[Argument, ...]:
        """Return the command's own arguments and the common options."""
        return (*self.arguments, *COMMON)

    def parser(self, prog: str) -> Parser:
        """Return a parser for this command alone; *prog* is how the command is typed."""
        parser = Parser(
            prog=prog,
            description=f"{self.summary}. {self.details}".strip(),
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for argument in self.all_arguments:
            parser.add_argument(*argument.flags, **argument.options)
        # argparse formats a usage of its own with %, and a magic's name starts with one
        parser.usage = parser.format_usage().removeprefix("usage: ").rstrip().replace("%", "%%")
        return parser


COMMON: tuple[Argument, ...] = (
    arg("--root", metavar="DIR", help="the store's directory (default: $MEMORY_MAGIC_HOME, else ~/.memory-magic)"),
    arg("--json", action="store_true", help="print JSON for programs"),
    arg(
        "-s",
        "--scope",
        metavar="SCOPE",
        completes="scope",
        help="global, workspace, or a scope's id (reading: also all)",
    ),
)


class HelpAsked(Exception):  # noqa: N818 -- not an error: the way out of a parser that was asked for help
    """Somebody asked for help; the text is the argument."""


class Parser(argparse.ArgumentParser):
    """A parser that raises where argparse would print and end the process."""

    def print_help(self, file: object = None) -> NoReturn:  # noqa: ARG002 -- the signature of argparse
        """Raise the help text, for the shell to print."""
        raise HelpAsked(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise what went wrong, with where the help is."""
        advice = f"see {self.prog} --help"
        _, found, words = message.partition("unrecognized arguments: ")
        options = [word for word in words.split() if word.startswith("-")]
        if options:
            message = f"there is no option {options[0]}"
            advice = f"{advice}; put -- before words that start with a dash"
        elif found:
            advice = f"put several words in quotes; {advice}"
        raise UsageError(message, hint=advice)


class Context:
    """Where a command runs and for whom; opens the store when the first command asks for it."""

    def __init__(
        self,
        root: str | Path | None = None,
        *,
        cwd: str | Path | None = None,
        by: str = COMMAND_LINE,
        ask: Callable[[str], bool] | None = None,
        serve: Callable[..., Any] | None = None,
        prog: str = "memory-magic",
    ) -> None:
        """Keep who asks (*by*), how to ask back (*ask*) and how to start the dashboard (*serve*)."""
        self.given_root = root
        self.cwd = cwd
        self.by = by
        self.prog = prog
        self.typed = ""
        self.serve = serve
        self.progress: Callable[[str], None] | None = None
        self._ask = ask
        self._stores: list[Store] = []

    @property
    def root(self) -> Path:
        """Return the store's root."""
        from memory_magic.settings import find_root

        return find_root(self.given_root)

    def settings(self) -> Settings:
        """Return the settings in force."""
        from memory_magic.settings import load

        return load(self.root)

    def store(self, *, read_only: bool = False) -> Store:
        """Open the store, or return the one that is open."""
        if not self._stores:
            from memory_magic.store.store import Store

            if self.cwd is None:
                _check_directory()
            self._stores.append(Store(self.root, self.cwd, read_only, by=self.by))
        return self._stores[0]

    def close(self) -> None:
        """Close what was opened."""
        while self._stores:
            self._stores.pop().close()

    def confirm(self, question: str, *, yes: bool) -> None:
        """Go on when *yes* or when the person says so; otherwise raise, so that nothing is done."""
        if yes:
            return
        try:
            agreed = self._ask is not None and self._ask(f"{question} [y/N] ")
            answered = self._ask is not None
        except KeyboardInterrupt:
            raise StoppedError("stopped, nothing was done") from None
        except EOFError:
            # the terminal showed the question, and its input has ended
            raise MemoryMagicError("not done, because nobody answered", hint=_SAY_YES) from None
        except (OSError, RuntimeError):
            # no terminal, or a kernel without stdin (nbconvert, papermill)
            agreed = answered = False
        if not answered:
            asked = question.removesuffix("?")
            raise MemoryMagicError(f"not done, because there is nobody to ask: {asked}", hint=_SAY_YES)
        if not agreed:
            raise MemoryMagicError("not done, as you said no")

    def run(self, command: str) -> str:
        """Return how a *command* is typed here: `memory-magic view` in a terminal, `%memory view` in a notebook."""
        return f"{self.prog} {command}"

    def as_typed(self, text: str) -> str:
        """Return a sentence of the store, which names `%memory init`, with the command as it is typed here."""
        return text.replace("%memory init", self.run("init"))


def _check_directory() -> None:
    """Say it when the present directory was deleted: nothing can be seen from there."""
    import os

    try:
        os.getcwd()  # noqa: PTH109 -- no Path is needed
    except FileNotFoundError as error:
        raise StoreAccessError(
            "the present directory does not exist any more", hint="change to one that exists, for example: cd"
        ) from error


def ask_person(question: str) -> bool:
    """Ask on the terminal or in the notebook's input field.

    EOFError, OSError or RuntimeError when nobody can answer.
    """
    return input(question).strip().casefold() in {"y", "yes"}
