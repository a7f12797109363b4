"""Connecting leaves every other byte: 200 made-up configuration files of every style, connected and taken off again."""

from __future__ import annotations

import json
import random
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic.assistants import connect, json_comments, toml_edit
from memory_magic.assistants.connect_specs import USER, Where, find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = 200
WORDS = (
    "alpha",
    "beta",
    "größe",
    "漢字",
    'a "quoted" one',
    "back\\slash",
    "mcpServers",
    "hooks",
    "permissions",
    "x.y",
    "",
)


class _Json:
    """Makes a JSON file with a style of its own: indentation, line ends, comments, trailing commas, byte order mark."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- examples, no secrets
        self.newline = self.random.choice(["\n", "\n", "\r\n"])
        self.indent = self.random.choice(["  ", "    ", "\t", ""])
        self.comments = self.random.random() < 0.5
        self.trailing = self.random.random() < 0.3
        self.compact = self.random.random() < 0.2

    def value(self, depth: int) -> Any:
        kind = self.random.randrange(7 if depth < 3 else 5)
        if kind < 5:
            return self.random.choice([1, -2.5, True, None, *WORDS])
        if kind == 5:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return self.mapping(depth + 1)

    def mapping(self, depth: int) -> dict[str, Any]:
        names = self.random.sample(WORDS[:6], self.random.randrange(4))
        return {name: self.value(depth) for name in names}

    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = self.mapping(0)
        if self.random.random() < 0.6:
            found["mcpServers"] = {
                name: {"command": "uvx", "args": [name]} for name in self.random.sample(["a", "b"], 1)
            }
        if self.random.random() < 0.5:
            found["permissions"] = {"allow": self.random.choice([[], ["Bash(ls)"], ["Bash(ls)", "Read"]]), "deny": []}
        if self.random.random() < 0.5:
            hooks = [{"matcher": "", "hooks": [{"type": "command", "command": "echo hi"}]}]
            found["hooks"] = {"SessionStart": self.random.choice([[], hooks]), "Stop": hooks}
        items = list(found.items())
        self.random.shuffle(items)
        return dict(items)

    def comment(self) -> str:
        if not self.comments or self.random.random() < 0.6:
            return ""
        return self.random.choice([' // he said "hi", {', " /* block , ] */", " //"])

    def text(self, value: Any, level: int = 0) -> str:
        if not isinstance(value, dict | list) or not value:
            return json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        one_line = self.compact or self.random.random() < 0.2
        pad = "" if one_line else self.newline + self.indent * (level + 1)
        end = "" if one_line else self.newline + self.indent * level
        parts = []
        rows = list(value.items()) if isinstance(value, dict) else [(None, one) for one in value]
        for at, (name, one) in enumerate(rows):
            head = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}:{self.random.choice(['', ' '])}"
            last = at == len(rows) - 1
            comma = "," if not last or (self.trailing and not one_line) else ""
            parts.append(f"{pad}{head}{self.text(one, level + 1)}{comma}{'' if one_line else self.comment()}")
        open_, close = ("{", "}") if isinstance(value, dict) else ("[", "]")
        return f"{open_}{''.join(parts)}{end}{close}"

    def file(self) -> str:
        kind = self.random.random()
        if kind < 0.05:
            return self.random.choice(["", "{}", "{ }", " \n", "// nothing yet\n"])
        lead = self.random.choice(["", "\ufeff", f"// mine{self.newline}" if self.comments else ""])
        return f"{lead}{self.text(self.content())}{self.random.choice(['', self.newline])}"


class _Toml:
    """Makes a TOML file: tables, arrays of tables, inline tables, comments, several kinds of strings."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- examples, no secrets
        self.newline = self.random.choice(["\n", "\n", "\r\n"])

    def literal(self) -> str:
        return self.random.choice(
            ["1", "true", "2.5", '"a # no comment"', "'lit\\eral'", '["a", "b"]', "{ x = 1 }", "1979-05-27",
             '"""\nlong\n[no.table]\n"""', "[\n  1, # one\n  2,\n]"],
        )  # fmt: skip

    def file(self) -> str:
        lines = [f"{name} = {self.literal()}" for name in self.random.sample(["model", "a", "b-c"], 2)]
        for table in self.random.sample(
            ["ai", "mcp_servers.docs", "display", "mcp", "mcp.mcpServers.x", "features"], 3
        ):
            lines += ["", self.random.choice(["# a remark", ""]), f"[{table}]{self.random.choice(['', '  # why'])}"]
            lines += [
                f"k{at} = {self.literal()}{self.random.choice(['', ' # c'])}" for at in range(self.random.randrange(3))
            ]
            if table == "ai" and self.random.random() < 0.5:
                lines.append(self.random.choice(['rules = "be nice"', "rules = '''\nbe\nnice'''"]))
        if self.random.random() < 0.3:
            lines += ["", "[[profiles]]", "n = 1", "[[profiles]]", "n = 2"]
        if self.random.random() < 0.05:
            return ""
        text = "\n".join(lines) + self.random.choice(["", "\n", "\n\n"])
        return self.random.choice(["", "", "\ufeff"]) + text.replace("\n", self.newline)


def _is_subsequence(inside: str, text: str) -> bool:
    letters = iter(text)
    return all(letter in letters for letter in inside)


def _cycle(home: Path, name: str, path: Path, before: str, value_of: Callable[[str], Any], foreign: str) -> None:
    """Connect, look, connect again, take off; and once more with an edit by the person in between."""
    root = home / ".memory-magic"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before.encode())
    assistant, where = find(name), Where(home, None, USER, environ={})
    connect.carry_out(root, assistant, where, connect.plan(root, assistant, where))
    after = path.read_bytes().decode()
    assert after != before
    assert _is_subsequence(before, after), "a byte of somebody else was lost"
    assert ("\r\n" in before) <= ("\n" not in after.replace("\r\n", "")), "line ends were mixed"
    assert not any(one.is_change for one in connect.plan(root, assistant, where)), "connecting again changes something"
    connect.remove(root, connect.plan_removal(root, assistant, [where]))
    assert path.read_bytes().decode() == before
    # the person edits in between: ours goes, theirs stays
    connect.carry_out(root, assistant, where, connect.plan(root, assistant, where))
    edited = path.read_bytes().decode()
    mark = len("\ufeff") if edited.startswith("\ufeff") else 0
    path.write_bytes((edited[:mark] + foreign + edited[mark:]).encode())
    connect.remove(root, connect.plan_removal(root, assistant, [where]))
    left = path.read_bytes().decode()
    assert foreign in left
    assert "memory" not in left.replace(".memory-magic", "")
    assert value_of(left) == value_of(before)


@pytest.mark.parametrize("seed", range(FILES // 2))
def test_json_files_keep_every_other_byte(home: Path, seed: int) -> None:
    """A settings file in any style of JSON is as it was after disconnect, and keeps all that is not ours in between."""
    before = _Json(seed).file()
    _cycle(home, "claude-code", home / ".claude" / "settings.json", before, json_comments.value_of, "// by hand\n")


@pytest.mark.parametrize("seed", range(FILES // 4))
def test_toml_files_keep_every_other_byte(home: Path, seed: int) -> None:
    """The same of Codex's config.toml."""
    before = _Toml(seed).file()
    tomllib.loads(before.removeprefix("\ufeff"))
    _cycle(home, "codex", home / ".codex" / "config.toml", before, toml_edit.value_of, "# by hand\n")


@pytest.mark.parametrize("seed", range(FILES // 4))
def test_rules_in_toml_keep_every_other_byte(home: Path, seed: int) -> None:
    """The same of marimo's file, where our part stands inside of a text of the person's."""
    before = _Toml(1000 + seed).file()
    _cycle(home, "marimo", home / ".marimo.toml", before, toml_edit.value_of, "# by hand\n")
