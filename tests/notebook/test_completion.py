"""What Tab offers, as a pure function of the line."""

from __future__ import annotations

import pytest

from memory_magic.commands import COMMANDS
from memory_magic.notebook.completion import offers

IDS = ["7k2m9q4tzc", "7zzzzzzzzz", "0b8x1v5ncd"]

CASES = [
    ("%memory ", list(COMMANDS)),
    ("%memory ver", ["verify"]),
    ("memory ver", ["verify"]),
    ("%memory --json ver", ["verify"]),
    ("%memory --sc", ["--scope"]),
    ("%memory get 7", IDS[:2]),
    ("%memory get ", IDS),
    ("%memory retire 0", IDS[2:]),
    ("%memory revise 7k2m9q4tzc new --ev", ["--evidence"]),
    ("%memory list -s ", ["global", "workspace", "all"]),
    ("%memory list --scope=w", ["workspace"]),
    ("%memory --scope g", ["global"]),
    ("%remember --scope w", ["workspace"]),
    ("%%remember -", ["--pin", "--root", "--json", "-s", "--scope", "--help"]),
    ("%remember text that goes o", []),
    ("%memory_search dep", []),
    ("%memory_view --j", ["--json"]),
    ("%memory config ", ["list", "get", "set"]),
    ("%memory config get use", ["use_memories"]),
    ("%memory config set enabled ", ["on", "off"]),
    ("%memory config set memories.recall r", ["relevant"]),
    ("%memory config set preset ", ["oh-my-pi", "codex"]),
    ("%memory config set notes_entries ", []),
    ("%memory config set nonsense ", []),
    ("%memory run --session ", []),
    ("%memory nonsense ", []),
    ("%other ", []),
    ("%mem", []),
    ("", []),
]


@pytest.mark.parametrize(("line", "expected"), CASES)
def test_offers(line: str, expected: list[str]) -> None:
    """Each place offers what the table says of its argument, and nothing where free text stands."""

    def candidates(kind: str, begun: str) -> list[str]:
        return [one for one in IDS if one.startswith(begun)] if kind == "note" else []

    assert offers(line, candidates) == expected
