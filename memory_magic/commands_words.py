"""Cut the line of a magic into the words of a command, without choking on what people write.

A shell's rules would trip over `don't`. Here a quote only counts when it opens a word and the same quote closes one, so
that an apostrophe inside a word, or a lone quote, is an ordinary letter. Nothing is expanded: `$`, braces, backslashes
and `*` stay as typed.

Commands whose last argument is free text (remember, search, view) take options first; from the first other word on,
everything is the text, byte for byte as typed. `--` ends the options, for a text that starts with a dash.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memory_magic.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD = re.compile(
    r"""\s*(?:
        (?P<option>--?[\w-]+=)?                      # --evidence="said so"
        (?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)')(?=\s|$)
      | (?P<bare>\S+)
    )""",
    re.VERBOSE | re.DOTALL,
)


def split_words(line: str) -> list[str]:
    r"""Return the words of *line*; quotes hold several words together, `\"` and `\\` count inside double quotes."""
    words = []
    place = 0
    while match := _WORD.match(line, place):
        words.append(_word(match))
        place = match.end()
    return words


def split_text(line: str, takes_value: Mapping[str, bool]) -> tuple[list[str], str]:
    """Return leading options and the verbatim text after them.

    *takes_value* says for each known option whether a value follows. UsageError for an option that is not known: it is
    more often a slip than the start of a note.
    """
    options: list[str] = []
    place = 0
    while match := _WORD.match(line, place):
        word = _word(match)
        if word == "--":
            return options, line[match.end() :].strip()
        if not is_option(word) or (match["bare"] is None and match["option"] is None):
            break
        name, attached = _name(word, takes_value)
        options.append(word)
        place = match.end()
        if takes_value[name] and not attached:
            value = _WORD.match(line, place)
            if value is None:
                raise UsageError(f"{name} needs a value after it")
            options.append(_word(value))
            place = value.end()
    return options, line[place:].strip()


def _name(word: str, takes_value: Mapping[str, bool]) -> tuple[str, bool]:
    """Return the name of an option and whether its value is attached (`--limit=3`, `-n3`)."""
    name, equals, _ = word.partition("=")
    if name in takes_value:
        return name, bool(equals)
    if takes_value.get(word[:2]) and not word.startswith("--"):
        return word[:2], True
    raise UsageError(
        f"there is no option {name}", hint="options come first; put -- before a text that starts with a dash"
    )


def is_option(word: str) -> bool:
    """Tell whether *word* looks like an option: a dash and a letter (`-5`, `-` and `- item` are text)."""
    return bool(re.match(r"--?[A-Za-z]", word)) or word == "--"


def _word(match: re.Match[str]) -> str:
    option = match["option"] or ""
    if match["double"] is not None:
        return option + re.sub(r'\\(["\\])', r"\1", match["double"])
    return option + match["single"] if match["single"] is not None else str(match["bare"])
