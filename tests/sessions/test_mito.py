"""The Mito reader: what the person saw, without what tools said in their name."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import mito

if TYPE_CHECKING:
    from memory_magic.sessions.records import Session

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
FILES = sorted((DATA / "mito").rglob("*.json"))


def expected(path: Path) -> Any:
    """Return what a reader must find in one file."""
    return json.loads((DATA / "expected" / f"{path.name}.json").read_text(encoding="utf-8"))


def action(kind: str, message: str, **fields: object) -> str:
    """Return an answer of agent mode: every field is there, most are null."""
    empty = dict.fromkeys(("cell_update", "mcp_tool_call", "question", "scratchpad_code"))
    return json.dumps({"type": kind, "message": message, **empty, **fields})


def result(tool: str, how: str) -> str:
    """Return what the model is told about a tool."""
    return f"<Tool Result>\nTool '{tool}' {how}.\nOutput:\nx\n</Tool Result>"


def read(folder: Path, *entries: tuple[str, object, object], **more: object) -> Session:
    """Write a chat of (role, shown, told to the model) and read it."""
    whole = {
        "thread_id": "t1",
        "creation_ts": 1796064798.5,
        "last_interaction_ts": 1796064800.25,
        "ai_optimized_history": [{"role": role, "content": told} for role, _, told in entries],
        "display_history": [{"role": role, "content": shown} for role, shown, _ in entries],
        "chat_history_version": 2,
        **more,
    }
    path = folder / "x.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return mito.read(path)


def texts(session: Session) -> list[tuple[str, str]]:
    """Return role and text of each turn."""
    return [(turn.role, turn.text) for turn in session.turns]


def test_both_files_are_there() -> None:
    """No real file is passed over unseen."""
    assert len(FILES) == 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_a_real_file_gives_exactly_its_turns_and_calls(path: Path) -> None:
    """Every visible turn and every call is read once, in order, character for character."""
    wanted, session = expected(path), mito.read(path)
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == wanted["turns"]
    calls = [
        {"name": call.name, "arguments": call.arguments, "output": call.output, "status": call.status}
        for call in session.calls
    ]
    assert calls == wanted["tool_calls"]
    assert [text for text in wanted["must_not_appear"] for turn in session.turns if text in turn.text] == []
    assert (session.id, session.cwd, session.source) == (wanted["session_id"], None, "mito")
    assert (session.skipped, session.interactive) == ({}, True)


def test_the_chat_tells_its_times(tmp_path: Path) -> None:
    """Turns have none, and without the chat's own the file's time is taken."""
    session = read(tmp_path, ("user", "hi", "hi"))
    assert session.started == datetime(2026, 11, 30, 18, 53, 18, 500000, tzinfo=UTC)
    assert session.updated == datetime(2026, 11, 30, 18, 53, 20, 250000, tzinfo=UTC)
    untimed = read(tmp_path, ("user", "hi", "hi"), creation_ts="x", last_interaction_ts=None)
    assert untimed.started is None
    assert untimed.updated is not None


def test_what_an_answer_does_is_a_call(tmp_path: Path) -> None:
    """With the result that follows it; without one it was not done."""
    mcp = {"mcp_server_id": "m", "tool_name": "search", "arguments": "{no json"}
    session = read(
        tmp_path,
        ("user", "go", "<Task>go</Task>"),
        ("assistant", action("cell_update", "editing", cell_update={"code": "x=1"}), ""),
        ("user", "done", result("cell_update", "succeeded")),
        ("assistant", action("mcp_tool_call", "", mcp_tool_call=mcp), ""),
        ("user", "boom", result("mcp_tool_call", "failed")),
        ("assistant", action("run_all_cells", "running"), ""),
        ("assistant", "Agent interupted by user ", ""),
        ("user", "stray", result("agent_response_validation", "failed")),
        ("assistant", action("ask_user_question", "which one?", question="which?"), ""),
        ("user", "the first", "<Task>the first</Task>"),
        ("assistant", action("finished_task", "ready"), ""),
    )
    assert [(call.name, call.arguments, call.output, call.status, call.place) for call in session.calls] == [
        ("cell_update", {"cell_update": {"code": "x=1"}}, "done", "completed", 2),
        ("m/search", "{no json", "boom", "failed", 2),
        ("run_all_cells", {}, None, "no output", 3),
    ]
    said = ["go", "editing", "running", "which one?", "the first", "ready"]
    assert [text for _, text in texts(session)] == said
    assert [(note.kind, note.place) for note in session.context] == [("interrupted", 3)]


@pytest.mark.parametrize("text", ["{not json", "{}", '{"a": 1}', '{"type": 5, "message": "x"}', "[1]", "plain"])
def test_an_answer_that_only_looks_like_an_action_stays(tmp_path: Path, text: str) -> None:
    """Somebody may ask for JSON."""
    assert texts(read(tmp_path, ("assistant", text, text))) == [("assistant", text)]


def test_contents_in_parts_are_joined(tmp_path: Path) -> None:
    """A question with a picture is a list of parts."""
    parts = [{"type": "text", "text": "what is this?"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
    assert texts(read(tmp_path, ("user", parts, parts))) == [("user", "what is this?")]


def test_odd_values_do_not_stop_the_reader(tmp_path: Path) -> None:
    """Histories of unequal length, an unknown role; an entry whose other half cannot be read is nobody's word."""
    session = read(
        tmp_path,
        ("user", "whose?", 5),
        ("tool", "x", "x"),
        ("user", "hello", "hello"),
        ("user", None, "hello"),
        ai_optimized_history=[5, {"role": "user", "content": "<Tool Result>\nodd"}],
        thread_id=7,
    )
    assert texts(session) == [("user", "hello")]
    assert session.skipped == {"malformed": 1, "unknown": 1}
    assert session.id.startswith("x-")


@pytest.mark.parametrize("content", [b"", b"<html>", b"{}", b"[]", b'{"display_history": 5}', b'{"messages": []}'])
def test_a_file_that_is_no_chat_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error says what the file is not."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(SessionFormatError, match=r"no chat of Mito.*x\.json"):
        mito.read(path)


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    """Nobody gets a traceback for a chat that was deleted meanwhile."""
    with pytest.raises(SessionFormatError, match="cannot be read"):
        mito.read(tmp_path / "nowhere.json")


def test_an_entry_over_the_limit_costs_only_itself(tmp_path: Path) -> None:
    """A result of 33 MB is passed over and counted."""
    session = read(tmp_path, ("user", "a", "a"), ("user", "x" * 33_000_000, "b"), ("user", "c", "c"))
    assert [text for _, text in texts(session)] == ["a", "c"]
    assert session.skipped == {"too long": 1}


@given(st.data())
def test_whatever_happens_to_the_bytes_a_session_or_our_error_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut, overwritten or mixed up: no other exception."""
    raw = bytearray(FILES[0].read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 300))] = data.draw(st.binary(max_size=20))
        raw = raw or bytearray(b" ")
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    path.write_bytes(raw)
    try:
        session = mito.read(path)
    except SessionFormatError:
        return
    assert len(session.turns) <= 6
