"""Edit a TOML file that a person keeps: one table or one text changes, every other byte stays.

A writer that rebuilds the file would move comments and blank lines, so tables are added at the end as text, found again
by the statements of `settings_file`, and each result is *proven* with the standard library's parser: it must differ
from the old value in exactly what was asked, or nothing is changed. A text that is no TOML raises `FileStateError` with
line and column.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from memory_magic.assistants.json_comments import find, newline_of
from memory_magic.errors import FileStateError
from memory_magic.settings_file import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memory_magic.settings_file import Statement

    Path = Sequence[str]

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_PLACE: Final = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_BOM: Final = "\ufeff"


def value_of(text: str, name: str = "the file") -> dict[str, Any]:
    """Return what *text* holds."""
    try:
        return tomllib.loads(text.removeprefix(_BOM), parse_float=str)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _PLACE.search(message)
        lines = text.split("\n")
        line, column = (found[1], found[2]) if found and found[1] else (str(len(lines)), str(len(lines[-1]) + 1))
        what = _PLACE.sub("", message)
        what = f"{what[:1].lower()}{what[1:]} in line {line}, column {column}"
        raise FileStateError(
            f"this is not valid TOML: {what}; nothing was changed",
            where=f"{name}:{line}:{column}",
            hint="put it right in an editor, then try again",
        ) from None
    except RecursionError:
        raise FileStateError("this is nested too deeply; nothing was changed", where=name) from None


def put_table(text: str, path: Path, values: dict[str, Any], name: str = "the file") -> str:
    """Return *text* with the table at *path* holding *values*; a new one goes to the end."""
    old = find(value_of(text, name), path)
    if old is not None:
        text = drop_table(text, path, name)

    def wanted(plain: dict[str, Any]) -> None:
        at = plain
        for step in path[:-1]:
            at = at.setdefault(step, {})
        at[path[-1]] = values

    newline = newline_of(text)
    lines = [f"[{'.'.join(_key(one) for one in path)}]"]
    lines += [f"{_key(key)} = {_literal(value)}" for key, value in values.items()]
    new = f"{text}{_glue(text)}{newline.join(lines)}{newline}"
    return _proven(text, new, wanted, name)


def drop_table(text: str, path: Path, name: str = "the file") -> str:
    """Return *text* without the table at *path*, its own lines and the blank one before it; comments stay."""
    if find(value_of(text, name), path) is None:
        return text
    found = statements(text)
    at = next((place for place, one in enumerate(found) if one.header and one.path == tuple(path)), None)
    if at is None:
        raise FileStateError(
            f"{'.'.join(path)} is written as a value of another table there; nothing was changed",
            where=name,
            hint="write it as a table of its own, or take it out in an editor",
        )
    inside = [found[at]]
    for one in found[at + 1 :]:
        if one.header:
            break
        inside.append(one)
    start, end = _line_start(text, found[at].start), _line_end(text, inside[-1].end)
    blank = text[:start].endswith(newline_of(text) * 2)
    start -= len(newline_of(text)) if blank else 0

    headers = {one.path for place, one in enumerate(found) if one.header and place != at}

    def wanted(plain: dict[str, Any]) -> None:
        _drop(plain, path, headers)

    return _proven(text, text[:start] + text[end:], wanted, name)


def _drop(plain: dict[str, Any], path: Path, headers: set[tuple[str, ...]]) -> None:
    """Take a table out, and those around it that were only there for it: without one of the *headers*."""
    del find(plain, path[:-1])[path[-1]]
    for depth in range(len(path) - 1, 0, -1):
        if find(plain, path[:depth]) != {} or tuple(path[:depth]) in headers:
            return
        del find(plain, path[: depth - 1])[path[depth - 1]]


def put_text(text: str, path: Path, value: str, name: str = "the file") -> str:
    """Return *text* with the string *value* at *path* (table and key)."""
    table, key = tuple(path[:-1]), path[-1]
    plain = value_of(text, name)
    found = statements(text)
    there = next((one for one in found if not one.header and one.path == tuple(path)), None)
    newline = newline_of(text)
    literal = text_literal(value, newline)

    def wanted(changed: dict[str, Any]) -> None:
        at = changed
        for step in table:
            at = at.setdefault(step, {})
        at[key] = value

    if there is not None:
        like = _literal_like(text[there.start : there.end], find(plain, path), value, newline)
        with suppress(FileStateError):  # the way it was written does not carry the new text
            return _proven(text, text[: there.start] + like + text[there.end :], wanted, name)
        return _proven(text, text[: there.start] + literal + text[there.end :], wanted, name)
    if find(plain, path) is not None:
        raise FileStateError(f"{'.'.join(path)} is written in a way that cannot be changed safely", where=name)
    head = next((one for one in found if one.header and one.path == table), None)
    if head is None:
        new = f"{text}{_glue(text)}[{'.'.join(_key(one) for one in table)}]{newline}{_key(key)} = {literal}{newline}"
        return _proven(text, new, wanted, name)
    at = _line_end(text, head.end)
    lead = "" if text[:at].endswith("\n") else newline
    return _proven(text, f"{text[:at]}{lead}{_key(key)} = {literal}{newline}{text[at:]}", wanted, name)


def drop_text(text: str, path: Path, name: str = "the file") -> str:
    """Return *text* without the line that assigns *path*; unchanged where there is none."""
    there = next((one for one in statements(text) if not one.header and one.path == tuple(path)), None)
    if there is None:
        return text
    start, end = _assignment_start(text, there), _line_end(text, there.end)

    def wanted(plain: dict[str, Any]) -> None:
        del find(plain, path[:-1])[path[-1]]

    return _proven(text, text[:start] + text[end:], wanted, name)


def drop_empty_header(text: str, path: Path, name: str = "the file") -> str:
    """Return *text* without the header of the table at *path*, if that holds nothing."""
    if find(value_of(text, name), path) != {}:
        return text
    return drop_table(text, path, name) if any(s.header and s.path == tuple(path) for s in statements(text)) else text


def _proven(old: str, new: str, change: Callable[[dict[str, Any]], None], name: str) -> str:
    expected = copy.deepcopy(value_of(old, name))
    change(expected)
    try:
        same = value_of(new, name) == expected
    except FileStateError:
        same = False
    if not same:
        raise FileStateError(
            "this file cannot be changed safely; nothing was changed", where=name, hint="change it in an editor"
        )
    return new


def _glue(text: str) -> str:
    """Return what stands between the present end of a text and a new table."""
    newline = newline_of(text)
    if not text.removeprefix(_BOM):
        return ""
    return newline if text.endswith("\n") else newline * 2


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _assignment_start(text: str, one: Statement) -> int:
    # the span of a statement is its value's: the key stands before it on the same line
    return _line_start(text, one.start)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(_literal(one) for one in value)}]"
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_key(key)} = {_literal(one)}" for key, one in value.items()) + " }" if value else "{}"
        )
    return str(value)


def text_literal(value: str, newline: str = "\n") -> str:
    """Return a string as TOML has it: on one line, or between three quotes where it has several."""
    if "\n" not in value:
        return _literal(value)
    return f'"""{newline}{_escaped(value, newline)}"""'


def _escaped(value: str, newline: str) -> str:
    """Return *value* as it stands between three double quotes."""
    escaped = value.replace("\\", "\\\\").replace('"""', '""\\"')
    if escaped.endswith('"'):
        escaped = escaped[:-1] + '\\"'
    escaped = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
    return escaped.replace("\n", newline)


def _literal_like(old: str, old_value: object, value: str, newline: str) -> str:
    """Return a literal of *value* in the manner of the *old* one: its quotes, and of a longer text its beginning."""
    if old.startswith("'"):
        lead = newline if old.startswith(f"'''{newline}") else ""
        return f"'''{lead}{value.replace(chr(10), newline)}'''"
    if not isinstance(old_value, str) or not value.startswith(old_value):
        return text_literal(value, newline)
    size = 3 if old.startswith('"""') else 1
    return f'"""{old[size:-size]}{_escaped(value[len(old_value) :], newline)}"""'
