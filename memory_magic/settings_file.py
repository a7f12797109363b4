"""Edit one key of `config.toml` and leave every other byte as it was.

The standard library reads TOML but does not write it, and a writer that rebuilds the file would lose comments and
order. So this module cuts the text into statements (header, or `key = value` with the exact span of the value),
replaces the one span that changes or adds one line where it belongs, and then *proves* the result: both texts are
parsed, and unless the new one differs in exactly that key the edit is refused and nothing is written. The proof is
what makes a small lexer safe.

The same edit serves a project's `.memory-magic.toml`, whose keys stand above all tables (`replace_top`).

Invariants: line endings, byte order mark, comments and order stay; the file is replaced by temp + rename in one step,
`config.toml` 0600 in a directory 0700 whatever the umask, a project's file with the rights that it has; a symlinked
file keeps its link; an edit that another process made before the rename is read again, not overwritten.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_magic.errors import SettingError, StoreAccessError

if TYPE_CHECKING:
    from collections.abc import Callable

_STRING = r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''
_TOKEN = re.compile(rf"(?P<string>{_STRING})|(?P<comment>#[^\n]*)|(?P<open>[\[{{])|(?P<close>[\]}}])|.", re.DOTALL)
_AT_LINE = re.compile(r"at line (\d+)")
_BOM = "\ufeff"
_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Statement:
    """One assignment or header of a TOML text; *start* and *end* are the span of the value (of the header's text)."""

    path: tuple[str, ...]
    start: int
    end: int
    line: int
    header: bool = False
    dotted: bool = False


def read_text(path: Path) -> str | None:
    """Return the text of the file, or None when there is none; SettingError when it cannot be read as text."""
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):  # reading a pipe would wait for its other end
            raise SettingError(
                "the settings file is no regular file", where=str(path), hint="replace it by a text file"
            )
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise SettingError(
            "the settings file is not UTF-8 text", where=str(path), hint="save it again as UTF-8"
        ) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SettingError(
            f"the settings file cannot be read: {reason}", where=str(path), hint="check its permissions"
        ) from error


def parse(text: str, path: Path) -> dict[str, Any]:
    """Return the tables of *text*; SettingError with path:line when it is not TOML."""
    try:
        return _loads(text)
    except tomllib.TOMLDecodeError as error:
        line = _AT_LINE.search(str(error))
        where = f"{path}:{line[1]}" if line else str(path)
        raise SettingError(
            "the settings file is not valid TOML",
            where=where,
            hint='a line reads key = value, and text stands in "quotes"',
        ) from error
    except RecursionError as error:
        raise SettingError("the settings file is nested too deeply", where=str(path)) from error


def _loads(text: str) -> dict[str, Any]:
    """Parse TOML, numbers with a point as text: no setting is one, and `nan` would not equal itself in the proof."""
    return tomllib.loads(text.removeprefix(_BOM), parse_float=str)


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    """Return the 1-based line where the dotted *path* is assigned, or where its table opens, if it can be told."""
    found = None
    for statement in statements(text):
        if statement.path == path:
            return statement.line
        if found is None and statement.path == path[: len(statement.path)]:
            found = statement.line
    return found


def statements(text: str) -> list[Statement]:
    """Cut a valid TOML *text* into headers and assignments, in file order."""
    found: list[Statement] = []
    table: tuple[str, ...] = ()
    place = len(_BOM) if text.startswith(_BOM) else 0
    while place < len(text):
        if text[place] in " \t\r\n":
            place += 1
        elif text[place] == "#":
            place = _line_end(text, place)
        elif text[place] == "[":
            end = _value_end(text, place)
            table = _path_of(text[place:end])
            found.append(Statement(table, place, end, text.count("\n", 0, place) + 1, header=True))
            place = end
        else:
            equals = _equals(text, place)
            key = _path_of(text[place:equals] + "= 0")
            start = equals + 1 + len(text[equals + 1 :]) - len(text[equals + 1 :].lstrip(" \t"))
            end = _value_end(text, start)
            line = text.count("\n", 0, place) + 1
            found.append(Statement(table + key, start, end, line, dotted=len(key) > 1))
            place = end
    return found


def with_value(text: str, table: str, key: str, literal: str) -> str | None:
    """Return *text* with `table.key = literal` and all else unchanged, or None where no safe place is found."""
    known = statements(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    for statement in known:
        if statement.path == (table, key) and not statement.header:
            return text[: statement.start] + literal + text[statement.end :]
    place, line = _place(text, known, table, key, literal)
    if place is None:
        return None
    before = text[:place]
    gap = newline if before.removeprefix(_BOM) and not before.endswith("\n") else ""
    return before + gap + line.replace("\n", newline) + text[place:]


def _place(text: str, known: list[Statement], table: str, key: str, literal: str) -> tuple[int | None, str]:
    """Return where a new line for *key* goes and the line: below its table, beside its dotted kin, or at the end."""
    section: tuple[str, ...] = ()
    last = kin = None
    for statement in known:
        if statement.header:
            section = statement.path
        if section == (table,) and (statement.header or statement.path[0] == table):
            last = statement
        elif not section and statement.path[0] == table:
            kin = statement
    if last is not None:
        return _next_line(text, last.end), f"{key} = {literal}\n"
    if kin is not None:
        return (_next_line(text, kin.end), f"{table}.{key} = {literal}\n") if kin.dotted else (None, "")
    gap = "\n" if text.removeprefix(_BOM).strip() and not text.endswith("\n\n") else ""
    return len(text), f"{gap}[{table}]\n{key} = {literal}\n"


def with_top(text: str, key: str, literal: str | None) -> str:
    """Return *text* with `key = literal` above all tables, or without that line for None, and all else unchanged."""
    newline = "\r\n" if "\r\n" in text else "\n"
    at = len(_BOM) if text.startswith(_BOM) else 0
    known = statements(text)
    if not known and literal is not None:
        at = len(text)  # nothing but remarks, which stay above
    for statement in known:
        if statement.header:
            break
        if statement.path == (key,):
            if literal is not None:
                return text[: statement.start] + literal + text[statement.end :]
            begin = text.rfind("\n", 0, statement.start) + 1 or at
            return text[:begin] + text[_next_line(text, statement.end) :]
        at = _next_line(text, statement.end)
    if literal is None:
        return text
    gap = newline if at > len(_BOM) and text[at - 1] != "\n" else ""
    return f"{text[:at]}{gap}{key} = {literal}{newline}{text[at:]}"


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _next_line(text: str, place: int) -> int:
    return min(len(text), _line_end(text, place) + 1)


def _equals(text: str, place: int) -> int:
    """Return the place of the `=` that ends a key, whose parts may be quoted."""
    while text[place] != "=":
        match = _TOKEN.match(text, place)
        place = match.end() if match and match["string"] else place + 1
    return place


def _value_end(text: str, place: int) -> int:
    """Return where a value ends: at its line's end or comment, outside brackets and strings."""
    depth = 0
    end = place
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or (depth == 0 and (match["comment"] or match[0] in "\r\n")):
            break
        depth += bool(match["open"]) - bool(match["close"])
        place = match.end()
        if not match[0].isspace():
            end = place
    return end


def _path_of(statement: str) -> tuple[str, ...]:
    """Return the key path of a header or of `key = 0`, read by the TOML parser itself."""
    value: Any = tomllib.loads(statement)
    path: list[str] = []
    while value:
        if isinstance(value, list):  # [[array of tables]]
            value = value[0]
            continue
        if not isinstance(value, dict):
            break
        ((name, value),) = value.items()
        path.append(name)
    return tuple(path)


def literal(value: object) -> str:
    """Return *value* (bool, int, text or a list of texts) as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple | list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    quoted = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", quoted) + '"'


def replace_value(path: Path, table: str, key: str, value: object) -> None:
    """Write `table.key = value` into the file at *path*.

    SettingError where the file cannot be edited safely, StoreAccessError when the disk refuses.
    """
    _replace(Path(os.path.realpath(path)), lambda text, target: _edited(text, target, table, key, value))


def replace_top(path: Path, key: str, value: object, *, heading: str = "") -> None:
    """Write `key = value` above the tables of the file at *path*; None takes the line out. Errors as `replace_value`.

    *heading* begins a file that is not there yet. The file keeps its rights, a new one gets those of the umask.
    """

    def edit(text: str, target: Path) -> str:
        wanted = parse(text, target)
        wanted.pop(key, None)
        wanted |= {} if value is None else {key: value}
        new = with_top(text or heading, key, None if value is None else literal(value))
        return _proven(new, wanted, target, key, None if value is None else literal(value))

    _replace(path, edit, private=False)


def _replace(target: Path, edit: Callable[[str, Path], str], *, private: bool = True) -> None:
    for _ in range(_ROUNDS):
        before = read_text(target)
        new = edit(before or "", target)
        if new == (before or "") or _swap(target, before, new, private=private):
            return
    raise SettingError("the settings file keeps changing", where=str(target), hint="close the program that writes it")


def _edited(text: str, path: Path, table: str, key: str, value: object) -> str:
    """Return the edited text, proven to differ from *text* in this one key."""
    wanted = parse(text, path)
    new = with_value(text, table, key, literal(value)) if isinstance(wanted.get(table, {}), dict) else None
    if new is not None:
        wanted.setdefault(table, {})[key] = list(value) if isinstance(value, tuple) else value
        with suppress(tomllib.TOMLDecodeError):
            if _loads(new) == wanted:
                return new
    raise SettingError(
        "the settings file is written in a way that I cannot edit without touching other lines",
        where=f"{path}:{line_of(text, (table,)) or 1}",
        hint=f"write  {key} = {literal(value)}  below a line [{table}] by hand",
    )


def _proven(new: str, wanted: dict[str, Any], path: Path, key: str, value: str | None) -> str:
    """Return *new* if it says what is *wanted* and nothing else."""
    with suppress(tomllib.TOMLDecodeError):
        if _loads(new) == wanted:
            return new
    line = f"write  {key} = {value}  as its first line" if value else f"take the line of {key} out"
    raise SettingError(
        "the file cannot be edited without touching other lines", where=str(path), hint=f"{line} by hand"
    )


def _swap(path: Path, before: str | None, new: str, *, private: bool = True) -> bool:
    """Replace the file unless it changed since it was read; tell whether it was replaced."""
    temp = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if private:
            _make_directory(path.parent)
        with suppress(FileNotFoundError):
            temp.unlink()
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        with os.fdopen(handle, "wb") as stream:
            if private:
                os.fchmod(handle, 0o600)
            elif before is not None:
                os.fchmod(handle, stat.S_IMODE(path.stat().st_mode))
            stream.write(new.encode("utf-8"))
            stream.flush()
            os.fsync(handle)
        if read_text(path) != before:
            temp.unlink()
            return False
        temp.replace(path)
    except OSError as error:
        if isinstance(error, SettingError | StoreAccessError):
            raise
        with suppress(OSError):
            temp.unlink()
        reason = error.strerror or type(error).__name__
        raise StoreAccessError(
            f"the setting could not be saved: {reason}", where=str(path), hint="check the disk and the permissions"
        ) from error
    return True


def _make_directory(path: Path) -> None:
    """Make the root 0700 whatever the umask; an existing directory keeps its mode (doctor looks at it)."""
    if path.is_dir():
        return
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
