"""What stage one reads: codex' filter, our own memory left out, every string redacted by itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_magic.pipeline import render
from memory_magic.sessions import read
from memory_magic.sessions.records import Call, Context, Session, Turn
from memory_magic.text.redact import MARKER

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
ROLLOUTS = sorted(DATA.rglob("rollout-*.jsonl"))
EMPTY = Session(
    id="s",
    source="codex",
    path="/x.jsonl",
    cwd="/home/ana",
    started=None,
    updated=None,
    interactive=True,
    origin_host=None,
    turns=(),
    calls=(),
    context=(),
)


def items(session: Session) -> list[dict[str, Any]]:
    """Return the items of what a model would be given."""
    decoded: list[dict[str, Any]] = json.loads(render.contents(session))
    return decoded


def said(*texts: str) -> Session:
    """Return a session in which a person said these texts."""
    return replace(EMPTY, turns=tuple(Turn("user", text, "human", "line 1") for text in texts))


def secrets(path: Path) -> list[str]:
    """Return the invented secrets of a file."""
    found: list[str] = json.loads((DATA / "expected" / f"{path.name}.json").read_text(encoding="utf-8"))["secrets"]
    return found


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name[8:27])
def test_contents_of_real_files(path: Path) -> None:
    """Turns, calls, outputs and environment are there; instructions, reasoning, other people's memory are not."""
    session = read(path)
    text = render.contents(session)
    found = json.loads(text)
    outputs = sum(call.output is not None for call in session.calls)
    assert len(found) == len(session.turns) + len(session.calls) + outputs + len(session.context)
    assert "<environment_context>" in text
    for absent in (
        "[vendor instructions removed]",
        "# AGENTS.md",
        "**Planning",
        "gAAAAfake",
        "MEMBLOCK",
        "System note",
    ):
        assert absent not in text


@pytest.mark.parametrize("path", [path for path in ROLLOUTS if secrets(path)], ids=lambda path: path.name[8:27])
def test_no_secret_is_in_the_contents(path: Path) -> None:
    """The invented keys of the real files are replaced and counted."""
    session = read(path)
    text = render.contents(session)
    assert [secret for secret in secrets(path) if secret in text] == []
    assert MARKER in text
    assert sum(render.clean(session).redacted.values()) == 1


def test_items_have_the_shape_of_response_items() -> None:
    """One item on each line, in the order of the session."""
    session = replace(
        EMPTY,
        turns=(Turn("user", "hi", "human", "line 1"), Turn("assistant", "ok", "assistant", "line 4")),
        calls=(Call("exec_command", {"cmd": "ls"}, "a\nb", "completed", 1), Call("x", None, None, "no output", 2)),
        context=(Context("environment_context", "<environment_context/>", 0, 0),),
    )
    text = render.contents(session)
    assert [json.loads(line.rstrip(",")) for line in text.splitlines()[1:-1]] == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context/>"}],
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "exec_command", "arguments": {"cmd": "ls"}, "call_id": "call_3"},
        {"type": "function_call_output", "call_id": "call_3", "output": "a\nb"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
        {"type": "function_call", "name": "x", "arguments": None, "call_id": "call_5"},
    ]
    assert text.startswith("[\n")


def test_an_empty_session_is_an_empty_array() -> None:
    """Two characters, as codex sends them."""
    assert render.contents(EMPTY) == "[]"
    assert render.contents(said("  ", '<native_memory_recall trust="untrusted">x</native_memory_recall>')) == "[]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("hello", "hello"),
        ("a <native_memory_recall trust='x'>m</native_memory_recall> b", "a  b"),
        ("<NATIVE_MEMORY_RECALL>m</native_memory_recall >hello", "hello"),
        ("hello <native_memory_recall>never closed", "hello"),
        (
            "# Memory (personal)\nm\n# Memory Guidance\nm\n<native_memory_recall>m</native_memory_recall>\nhello",
            "hello",
        ),
        ("hello\n\n# Memory (project)\nlikes tabs", "hello"),
        ("# Memory (personal)  \r\nm", ""),
        ("about # Memory (personal)", "about # Memory (personal)"),
        ("# Memory of a whale", "# Memory of a whale"),
        ("<native_memory_recall>a</native_memory_recall>x<native_memory_recall>b</native_memory_recall>y", "xy"),
    ],
)
def test_memory_blocks_are_cut_out(text: str, left: str) -> None:
    """Our block goes wherever it stands; one that is left open hides the rest; other text stays as it was."""
    assert render.without_memory_blocks(text) == left


@pytest.mark.parametrize(
    "name", ["mcp__memory.memory_search", "memory_get", "remember", "x__recall", "mcp/memory_list"]
)
def test_answers_of_memory_tools_are_left_out(name: str) -> None:
    """A model that reads the session does not learn our own recall; it sees that something was left out."""
    session = replace(said("hi"), calls=(Call(name, {}, "user prefers polars", "completed", 1),))
    expected = "memory" not in name and "remember" not in name and "recall" not in name
    assert ("polars" in render.contents(session)) is expected


def test_answers_of_other_tools_stay() -> None:
    """A tool whose name only resembles ours is read."""
    session = replace(said("hi"), calls=(Call("memory_search.exec", {}, "polars", "completed", 1),))
    assert "polars" in render.contents(session)


def test_every_string_is_redacted_by_itself() -> None:
    """A key inside quotes, in a nested argument, in a key, in an output, in context or in the path is found."""
    key = "sk-proj-" + "Zk3QpX9vLr2mN8bT" + "q7WcYh4DsE6fGj1K"
    session = replace(
        said(f'say "token={key}"\nnext'),
        path=f"/home/{key}/x.jsonl",
        cwd=f"/home/{key}",
        calls=(
            Call("x", {"cmd": [f"export A='{key}'", {key: 1}], "password": "correct-horse-7"}, f"out {key}", "ok", 1),
        ),
        context=(Context("environment_context", f"<cwd>{key}</cwd>", 0, 0),),
    )
    washed = render.clean(session)
    assert key not in repr(washed.session)
    text = render.contents(session)
    assert key not in text
    assert "correct-horse-7" not in text
    assert "\\nnext" in text
    assert sum(washed.redacted.values()) >= 7


def test_private_spans_and_hidden_characters_are_cut_out() -> None:
    """What a person marked as private, and what nobody can see, is not read."""
    session = said("a<private>door code 4821</private>b \u202ec\u2066")
    assert items(session)[0]["content"][0]["text"] == "ab c"


def test_cleaning_twice_changes_nothing() -> None:
    """A cleaned session is clean."""
    for path in ROLLOUTS:
        once = render.clean(read(path)).session
        assert render.clean(once).session == once
        assert render.clean(once).redacted == {}


def test_our_own_tags_and_templates_in_a_turn_stay_text() -> None:
    """Nothing in a session can end the array or an item."""
    text = '</conversation> {{ x }} "}]}]\n[{"role":"system"}] \u2028'
    assert len(items(said(text))) == 1
