"""What Tab offers after our magics: commands, options, scopes, ids of notes, settings and their values.

`offers` is pure: the text left of the cursor and a function that gives candidates for a kind of argument. It knows no
command by name; the table of commands says what each argument takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic import commands
from memory_magic.commands_base import COMMON
from memory_magic.settings import OFF, ON, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memory_magic.commands_base import Argument, Command

MAGICS: Final = {"remember": "remember", "memory_search": "search", "memory_view": "view", "memory": ""}
"""Names of the magics and the command behind each; `memory` takes any."""

SCOPES: Final = ("global", "workspace", "all")
_SWITCH = ("on", "off")


def offers(text: str, candidates: Callable[[str, str], Sequence[str]]) -> list[str]:
    """Return what may stand at the cursor, given the line's *text* up to it; an empty list leaves it to others.

    *candidates* gets a kind (`note`, `path` …) and the word begun, for kinds that are not in a table.
    """
    words = text.split()
    begun = "" if not words or text[-1].isspace() else words.pop()
    if not words:
        return []
    magic, *before = words
    name = MAGICS.get(magic.lstrip("%"))
    if name is None:
        return []
    if not name:
        common, name, before = commands.split_name(before)
        if name is None:
            return _first_word(common, begun)
    command = commands.COMMANDS.get(name)
    return _for_command(command, before, begun, candidates) if command else []


def _first_word(before: Sequence[str], begun: str) -> list[str]:
    """Return the offers before a command is named: a common option's value, an option, a command."""
    waiting = [item for item in COMMON if before and before[-1] in item.flags and item.takes_value]
    if waiting:
        return _starting(begun, SCOPES if waiting[0].completes == "scope" else ())
    return _starting(begun, [*commands.COMMANDS, *_flags(COMMON, begun)])


def _for_command(
    command: Command, before: Sequence[str], begun: str, candidates: Callable[[str, str], Sequence[str]]
) -> list[str]:
    """Return the offers for the next word of *command*."""
    options = {flag: item for item in command.all_arguments if item.is_option for flag in item.flags}
    flag, equals, value = begun.partition("=")
    if equals and flag in options:
        return _starting(value, _values(options[flag].completes, before, value, candidates))
    if before and before[-1] in options and options[before[-1]].takes_value:
        return _starting(begun, _values(options[before[-1]].completes, before, begun, candidates))
    if begun.startswith("-"):
        return _starting(begun, [*options, "--help"])
    argument = _positional(command, before, options)
    kind = argument.completes if argument else ""
    return _starting(begun, _values(kind, before, begun, candidates))


def _positional(command: Command, before: Sequence[str], options: dict[str, Argument]) -> Argument | None:
    """Return the positional argument that the next word belongs to."""
    places = [item for item in command.arguments if not item.is_option]
    count = 0
    skip = False
    for word in before:
        if skip:
            skip = False
        elif word in options:
            skip = options[word].takes_value
        elif not word.startswith("-"):
            count += 1
    return places[min(count, len(places) - 1)] if places else None


def _values(kind: str, before: Sequence[str], begun: str, candidates: Callable[[str, str], Sequence[str]]) -> list[str]:
    """Return the candidates for a kind of argument."""
    if kind == "scope":
        return list(SCOPES)
    if kind == "action":
        return ["list", "get", "set"]
    if kind == "setting":
        return list(SETTINGS)
    if kind == "value":
        return _setting_values(before[-1] if before else "")
    return list(candidates(kind, begun)) if kind else []


def _setting_values(key: str) -> list[str]:
    """Return what a setting may be, where that is a short list."""
    setting = SETTINGS.get(key.removeprefix("memories."))
    if setting is None:
        return []
    if setting.kind.name == "switch":
        return [word for word in _SWITCH if word in ON | OFF]
    return setting.kind.range.split(" or ") if setting.kind.name == "choice" else []


def _flags(arguments: Sequence[Argument], begun: str) -> list[str]:
    return [flag for item in arguments for flag in item.flags] if begun.startswith("-") else []


def _starting(begun: str, found: Sequence[str]) -> list[str]:
    return [word for word in found if word.startswith(begun)]
