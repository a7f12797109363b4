"""How a setting's raw value is read and checked: switches, numbers, limits, choices, texts, lists, a folder's name.

Each function makes one row of the table `Settings`: a dataclass field whose metadata hold a `Kind` (range in words and
the reader), the meaning and the system that the setting comes from. A reader takes what the environment or TOML gives
and raises `UnfitError`; whoever asked knows key and place and makes the message. Pure, standard library only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

ON: Final = frozenset({"1", "on", "true", "yes", "y", "enabled"})
PAUSED: Final = "paused"
"""The word that a paused kernel gives to `MEMORY_MAGIC_ENABLED`: off for it and for all that it starts."""

OFF: Final = frozenset({"0", "off", "false", "no", "n", "disabled", PAUSED, ""})

_LONGEST: Final = 500
SHOWN: Final = 80
"""Characters of a raw value that are read as a number, or shown in an error."""
_MANY: Final = 10_000_000


class UnfitError(ValueError):
    """A raw value does not fit; the caller knows key and place."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a setting's raw value is read; *range* says in words what is allowed."""

    name: str
    range: str
    read: Callable[[object], Any]


def switch(default: bool, meaning: str, source: str) -> Any:  # noqa: FBT001 -- one row of the table
    """Make a row for on or off."""
    return row(default, Kind("switch", "on or off", _read_switch), meaning, source)


def number(default: int, low: int, high: int, meaning: str, source: str) -> Any:
    """Make a row for a whole number from *low* to *high*."""

    def read(raw: object) -> int:
        return _read_number(raw, low, high)

    return row(default, Kind("number", f"{low:,} to {high:,}", read), meaning, source)


def limit(low: int, none: str, meaning: str, source: str) -> Any:
    """Make a row for a number that may be missing; *none* is the word for that."""

    def read(raw: object) -> int | None:
        if raw is False or str(raw).strip().casefold() in {none, "off", "none", ""}:
            return None
        return _read_number(raw, low, _MANY)

    return row(None, Kind("limit", f"{none}, or {low:,} to {_MANY:,}", read), meaning, source)


def choice(default: str, choices: tuple[str, ...], meaning: str, source: str) -> Any:
    """Make a row for one word of *choices*."""

    def read(raw: object) -> str:
        word = _read_text(raw).casefold()
        if word not in choices:
            raise UnfitError
        return word

    return row(default, Kind("choice", " or ".join(choices), read), meaning, source)


def text(default: str, allowed: str, meaning: str, source: str) -> Any:
    """Make a row for a short text."""
    return row(default, Kind("text", allowed, _read_text), meaning, source)


def names(separator: str, allowed: str, meaning: str, source: str) -> Any:
    """Make a row for a list of names."""

    def read(raw: object) -> tuple[str, ...]:
        parts = raw if isinstance(raw, list | tuple) else str(raw).split(separator)
        return tuple(text for part in parts if (text := _read_text(part)))

    return row((), Kind("list", f"{allowed}, with {separator!r} between", read), meaning, source)


def row(default: object, kind: Kind, meaning: str, source: str) -> Any:
    """Make a row of any kind."""
    return field(default=default, metadata={"kind": kind, "meaning": meaning, "source": source})


def _read_switch(raw: object) -> bool:
    word = str(raw).strip().casefold()
    if not isinstance(raw, bool | int | str) or word not in ON | OFF:
        raise UnfitError
    return word in ON


def _read_number(raw: object, low: int, high: int) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str) or len(str(raw)) > SHOWN:
        raise UnfitError
    try:
        number = int(raw)
    except ValueError:
        raise UnfitError from None
    if not low <= number <= high:
        raise UnfitError
    return number


def _read_text(raw: object) -> str:
    if not isinstance(raw, str) or len(raw) > _LONGEST or any(not char.isprintable() for char in raw):
        raise UnfitError
    return raw.strip()


def _read_folder(raw: object) -> str:
    """Return the name of a folder below a project: relative, and never upwards."""
    text = _read_text(raw)
    path = PurePath(text)
    if not text or path.is_absolute() or ".." in path.parts or not path.parts or "\\" in text:
        raise UnfitError
    return text


FOLDER: Final = Kind("text", "a relative folder name without ..", _read_folder)


def is_number(raw: object) -> bool:
    """Tell whether a raw value is a whole number, in range or not."""
    if isinstance(raw, str):
        return bool(re.fullmatch(r"\s*[+-]?[0-9_]+\s*", raw))
    return isinstance(raw, int) and not isinstance(raw, bool)
