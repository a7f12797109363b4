"""The two text editors by themselves: what they change, what they refuse."""

from __future__ import annotations

import tomllib

import pytest

from memory_magic.assistants import editors, json_comments, toml_edit
from memory_magic.assistants.editors import ADD, PUT, Step
from memory_magic.errors import FileStateError


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "b": 2\n}\n'),
        ("{}", '{\n  "b": 2\n}'),
        ('{"a": 1}', '{"a": 1, "b": 2}'),
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"b": 2\n}\n'),
        ('{\n  "a": 1, // one\n}', '{\n  "a": 1, // one\n  "b": 2\n}'),
        ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "b": 2\n}'),
        ('{\n  "a": 1 /* one */\n}', '{\n  "a": 1, /* one */\n  "b": 2\n}'),
        ("{\n  // nothing\n}", '{\n  // nothing\n  "b": 2\n}'),
        ('{"b": 1}', '{"b": 2}'),
        ('{"b": 1, "b": 3}', '{"b": 1, "b": 2}'),
        ('{\r\n "a": 1\r\n}', '{\r\n "a": 1,\r\n "b": 2\r\n}'),
    ],
)
def test_member_is_put_in_the_manner_of_the_file(before: str, after: str) -> None:
    """A new member takes indentation, line end and commas of the others; remarks stay with their lines."""
    assert json_comments.put(before, ["b"], 2) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": 1, "b": 2}', '{"a": 1}'),
        ('{"b": 2, "a": 1}', '{ "a": 1}'),
        ('{\n  "a": 1, // one\n  "b": 2\n}', '{\n  "a": 1 // one\n}'),
        ('{\n  "b": 2,\n  // of a\n  "a": 1\n}', '{\n  // of a\n  "a": 1\n}'),
        ('{\n  "b": 2\n}', "{}"),
        ('{\n  // kept\n  "b": 2\n}', "{\n  // kept\n}"),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_member_is_dropped_with_its_comma(before: str, after: str) -> None:
    """What is taken out takes its comma along and no remark of anybody."""
    assert json_comments.drop(before, ["b"]) == after


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1,, }', 1, 9),
        ('{\n"a" 1}', 2, 5),
        ('{"a": tru}', 1, 7),
        ('{"a": "x}', 1, 7),
        ('{"a": 1} x', 1, 10),
        ("{ /* no end", 1, 3),
        ('{"a": 1', 1, 8),
        ('{"a": "\\x"}', 1, 7),
        ("[" * 300, 1, 202),
    ],
)
def test_fault_in_json_is_named_with_its_place(text: str, line: int, column: int) -> None:
    """A text that is no JSON raises one error with line and column, however deep it is."""
    with pytest.raises(FileStateError) as raised:
        json_comments.value_of(text, "file")
    assert raised.value.where == f"file:{line}:{column}"


def test_value_in_the_way_is_not_replaced() -> None:
    """Where a group or a list should be and is none, nothing is changed."""
    with pytest.raises(FileStateError, match="no group"):
        json_comments.put('{"hooks": 3}', ["hooks", "x"], 1)
    with pytest.raises(FileStateError, match="no list"):
        json_comments.add('{"hooks": {"x": 3}}', ["hooks", "x"], 1)
    with pytest.raises(FileStateError, match="value of another table"):
        toml_edit.drop_table('a = { memory = { command = "x" } }\n', ["a", "memory"])


@pytest.mark.parametrize(
    "value", ['""" three', 'ends with "', "back\\slash\n", '""""""\n', "a\x00b\nc", "größe\n漢字", ""]
)
@pytest.mark.parametrize(
    "before", ["", "[ai]\n", "[ai]\nrules = 'x'\n", '[ai]\nrules = """x"""\n', "[ai]\r\nk = 1\r\n"]
)
def test_every_text_survives_toml(before: str, value: str) -> None:
    """Whatever a text holds, TOML gives it back."""
    new = toml_edit.put_text(before, ["ai", "rules"], value)
    assert tomllib.loads(new)["ai"]["rules"] == value


def test_splices_lead_back() -> None:
    """The stretches that were changed give the old text back, one step after the other."""
    steps = [Step(PUT, ("a", "b"), {"x": [1, 2]}), Step(ADD, ("c",), "d")]
    before = '{"c": [], "z": 0}'
    done = editors.apply(before, steps, lambda _: "", "file")
    assert editors.unsplice(done.text, done.splices) == before
    assert editors.apply(done.text, steps, lambda _: "", "file").text == done.text
    assert done.made == (("a",),)


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "/venv/bin/memory-magic", "args": ["mcp"]}, True),
        ({"command": "python", "args": ["-m", "memory_magic", "mcp"]}, True),
        ({"command": "'/a b/memory-magic' hook codex --section notes"}, True),
        ({"hooks": [{"command": "/x/memory-magic hook codex"}]}, True),
        ({"hooks": [{"command": "/x/memory-magic hook codex"}, {"command": "echo"}]}, False),
        ({"command": "npx", "args": ["server-memory", "/home/ana/.memory-magic/x"]}, False),
        ({"command": "cat /home/memory-magic/hooks"}, False),
        ("memory-magic", False),
        ({"command": 3, "args": "memory-magic"}, False),
    ],
)
def test_ours_is_told_by_the_command(entry: object, ours: bool) -> None:  # noqa: FBT001 -- a table's column
    """An entry is ours when it runs this program, not when it only names it."""
    assert editors.is_ours(entry) is ours
