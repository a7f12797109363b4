"""Edit a JSON file that a person keeps: one member or element changes, every other byte stays.

The standard library reads JSON but forgets comments, order and spaces. So this module cuts the text into nodes that
know where they stand (comments and trailing commas, as editors' settings have them, are allowed) and changes one
stretch. Then the result is *proven*: it is parsed again and must differ from the old value in exactly what was asked,
or nothing is changed. The proof is what makes a small parser safe.

Text in, text out; line ends and indentation follow the file. A text that is no JSON raises `FileStateError` with line
and column.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memory_magic.errors import FileStateError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Path = Sequence[str]

_SPACE: Final = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_INDENT: Final = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_REST_OF_LINE: Final = re.compile(r"[ \t]*(?:(?://[^\n\r]*)|(?:/\*[^\n]*?\*/[ \t]*))?")
_DEEPEST: Final = 200
_BOM: Final = "\ufeff"


@dataclass(slots=True)
class Node:
    """A value and where it stands; members of an object and elements of an array are its *children*."""

    kind: str
    start: int
    end: int = 0
    value: Any = None
    children: list[Child] = field(default_factory=list)

    def child(self, name: str) -> Child | None:
        """Return the member called *name*: of several the last, which is the one that counts."""
        return next((one for one in reversed(self.children) if one.name == name), None)

    def plain(self) -> Any:
        """Return the value as Python has it."""
        if self.kind == "object":
            return {one.name: one.node.plain() for one in self.children}
        if self.kind == "array":
            return [one.node.plain() for one in self.children]
        return self.value


class Child(NamedTuple):
    """A member or element: where its key (or value) begins, and where the comma behind it stands, -1 without one."""

    name: str
    start: int
    node: Node
    comma: int


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name

    def fail(self, at: int, what: str) -> FileStateError:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return FileStateError(
            f"this is not valid JSON: {what} in line {line}, column {column}; nothing was changed",
            where=f"{self.name}:{line}:{column}",
            hint="put it right in an editor, then try again",
        )

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        at = found.end() if found else at
        if self.text.startswith("/*", at):
            raise self.fail(at, "a comment has no end")
        return at

    def document(self) -> Node | None:
        at = self.space(1 if self.text.startswith(_BOM) else 0)
        if at == len(self.text):
            return None
        node = self.node(at, 0)
        rest = self.space(node.end)
        if rest != len(self.text):
            raise self.fail(rest, "something follows the end")
        return node

    def node(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.fail(at, "it is nested too deeply")
        char = self.text[at : at + 1]
        if char in {"{", "["}:
            return self.container(at, depth)
        if char == '"':
            value, end = self.string(at)
            return Node("value", at, end, value)
        found = _PLAIN.match(self.text, at)
        if found is None:
            raise self.fail(at, "a value is missing" if char else "it ends too early")
        return Node("value", at, found.end(), json.loads(found[0]))

    def string(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self.text, at)
        if found is None:
            raise self.fail(at, "a text in double quotes is missing or has no end")
        try:
            return json.loads(found[0]), found.end()
        except ValueError:
            raise self.fail(at, "a text holds an escape that is none") from None

    def container(self, at: int, depth: int) -> Node:
        is_object = self.text[at] == "{"
        node = Node("object" if is_object else "array", at)
        close = "}" if is_object else "]"
        at = self.space(at + 1)
        while not self.text.startswith(close, at):
            start, name = at, ""
            if is_object:
                name, at = self.string(at)
                at = self.space(at)
                if not self.text.startswith(":", at):
                    raise self.fail(at, "a colon is missing")
                at = self.space(at + 1)
            value = self.node(at, depth + 1)
            at = self.space(value.end)
            comma = at if self.text.startswith(",", at) else -1
            node.children.append(Child(name, start, value, comma))
            if comma >= 0:
                at = self.space(at + 1)
            elif not self.text.startswith(close, at):
                raise self.fail(at, f"a comma or {close} is missing")
        node.end = at + 1
        return node


def parse(text: str, name: str = "the file") -> Node | None:
    """Return the value of *text* with its places, None where there is nothing but space and comments."""
    return _Parser(text, name).document()


def value_of(text: str, name: str = "the file") -> dict[str, Any]:
    """Return the object that *text* holds, an empty one for an empty file."""
    node = parse(text, name)
    if node is None:
        return {}
    if node.kind != "object":
        raise FileStateError("this holds no JSON object {…}; nothing was changed", where=name)
    found: dict[str, Any] = node.plain()
    return found


def find(value: Any, path: Path) -> Any:
    """Return what stands at *path* of a plain value, None where nothing does."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


# -- changes ---------------------------------------------------------------------------------------------------------


def put(text: str, path: Path, value: Any, name: str = "the file") -> str:
    """Return *text* with *value* at *path*; objects on the way are made."""

    def wanted(plain: dict[str, Any]) -> None:
        at = plain
        for step in path[:-1]:
            at = at.setdefault(step, {})
        at[path[-1]] = value

    return _proven(text, _put(text, path, value, name), wanted, name)


def add(text: str, path: Path, element: Any, name: str = "the file") -> str:
    """Return *text* with *element* as the last one of the array at *path*, which is made if need be."""
    there = find(value_of(text, name), path)
    if there is None:
        return put(text, path, [element], name)

    def wanted(plain: dict[str, Any]) -> None:
        find(plain, path).append(element)

    node = _node_at(text, path, name)
    if node is None or node.kind != "array":
        raise _not_a("list", path, name)
    return _proven(text, _inserted(text, node, None, element), wanted, name)


def drop(text: str, path: Path, name: str = "the file") -> str:
    """Return *text* without the member at *path*; unchanged where there is none."""
    parent = _node_at(text, path[:-1], name)
    child = parent.child(path[-1]) if parent is not None and parent.kind == "object" else None
    if parent is None or child is None:
        return text

    def wanted(plain: dict[str, Any]) -> None:
        del find(plain, path[:-1])[path[-1]]

    return _proven(text, _without(text, parent, child), wanted, name)


def replace_element(text: str, path: Path, place: int, element: Any, name: str = "the file") -> str:
    """Return *text* with another element at *place* of the array at *path*."""
    node = _node_at(text, path, name)
    if node is None:
        return text
    old = node.children[place].node

    def wanted(plain: dict[str, Any]) -> None:
        find(plain, path)[place] = element

    new = text[: old.start] + _written(text, element, _indent_before(text, old.start)) + text[old.end :]
    return _proven(text, new, wanted, name)


def take(text: str, path: Path, place: int, name: str = "the file") -> str:
    """Return *text* without the element at *place* of the array at *path*."""
    node = _node_at(text, path, name)
    if node is None:
        return text

    def wanted(plain: dict[str, Any]) -> None:
        del find(plain, path)[place]

    return _proven(text, _without(text, node, node.children[place]), wanted, name)


def _proven(old: str, new: str, change: Callable[[dict[str, Any]], None], name: str) -> str:
    expected = copy.deepcopy(value_of(old, name))
    change(expected)
    if value_of(new, name) != expected:
        raise FileStateError("this file cannot be changed safely; nothing was changed", where=name)
    return new


def _node_at(text: str, path: Path, name: str) -> Node | None:
    node = parse(text, name)
    for step in path:
        child = node.child(step) if node is not None and node.kind == "object" else None
        if child is None:
            return None
        node = child.node
    return node


def _not_a(what: str, path: Path, name: str) -> FileStateError:
    return FileStateError(f"{'.'.join(path)} is no {what} there; nothing was changed", where=name)


def _put(text: str, path: Path, value: Any, name: str) -> str:
    node = parse(text, name)
    if node is None:
        made = _nested(path, value)
        lead = text if not text or text.endswith("\n") or text == _BOM else text + newline_of(text)
        return f"{lead}{_written(text, made, '')}{newline_of(text)}"
    for depth, step in enumerate(path):
        if node.kind != "object":
            raise _not_a("group {…}", path[:depth] or ("the file",), name)
        child = node.child(step)
        if child is None:
            return _inserted(text, node, step, _nested(path[depth + 1 :], value))
        node = child.node
    return text[: node.start] + _written(text, value, _indent_before(text, node.start)) + text[node.end :]


def _nested(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


def _inserted(text: str, node: Node, key: str | None, value: Any) -> str:
    """Return *text* with a new last child of *node*."""
    head = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    newline = newline_of(text)
    if not node.children:
        outer = _indent_before(text, node.start)
        inner = outer + unit_of(text)
        inside = text[node.start + 1 : node.end - 1]
        kept = "" if _BLANK.fullmatch(inside) else inside.rstrip(" \t\r\n")  # comments stay
        body = f"{kept}{newline}{inner}{head}{_written(text, value, inner)}{newline}{outer}"
        return text[: node.start + 1] + body + text[node.end - 1 :]
    last = node.children[-1]
    end = last.node.end if last.comma < 0 else last.comma + 1
    comma = "," if last.comma < 0 else ""
    if "\n" not in text[node.start : last.start]:
        return text[:end] + f"{comma} {head}{_one_line(value)}" + text[end:]
    found = _REST_OF_LINE.match(text, end)
    line_end = found.end() if found else end
    indent = _indent_before(text, last.start)
    new = f"{newline}{indent}{head}{_written(text, value, indent)}"
    return text[:end] + comma + text[end:line_end] + new + text[line_end:]


def _without(text: str, node: Node, child: Child) -> str:
    """Return *text* without a child of *node* and the comma that it needed."""
    place = next(at for at, one in enumerate(node.children) if one.start == child.start)
    start = child.start
    while start > node.start + 1 and text[start - 1] in " \t\r\n":
        start -= 1
    if child.comma >= 0:
        return text[:start] + text[child.comma + 1 :]
    if place:
        before = node.children[place - 1].comma
        return text[:before] + text[before + 1 : start] + text[child.node.end :]
    end = child.node.end
    inside = text[node.start + 1 : start] + text[end : node.end - 1]
    if _BLANK.fullmatch(inside):
        return text[: node.start + 1] + text[node.end - 1 :]
    return text[:start] + text[end:]


# -- how the file is written -----------------------------------------------------------------------------------------


def newline_of(text: str) -> str:
    """Return the line end of a text."""
    return "\r\n" if "\r\n" in text else "\n"


def unit_of(text: str) -> str:
    """Return one step of indentation as the file has it."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _indent_before(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _written(text: str, value: Any, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=unit_of(text)).split("\n")
    return (newline_of(text) + indent).join(lines)


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
