"""The Jupyter chat reader: personas and persons, deleted messages, error notices, and chats that copy a session."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import jupyter_chat

if TYPE_CHECKING:
    from memory_magic.sessions.records import Session

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
FILES = sorted((DATA / "jupyter-ai").glob("*.chat"))
CLAUDE = "jupyter-ai-personas::acp::Claude"
ANA, JUPYTERNAUT = "ana", "jupyter-ai-personas::x::Jupyternaut"


def expected(path: Path) -> Any:
    """Return what a reader must find in one file."""
    return json.loads((DATA / "expected" / f"{path.name}.json").read_text(encoding="utf-8"))


def said(sender: object, body: object, **more: object) -> dict[str, object]:
    """Return a message."""
    return {"sender": sender, "body": body, "type": "msg", "time": 1796064372.5, **more}


def read(folder: Path, *messages: object, covered: tuple[str, ...] = (), **more: object) -> Session:
    """Write a chat and read it."""
    path = folder / "x.chat"
    numbered = [
        {"id": f"m{number}", **message} if isinstance(message, dict) else message
        for number, message in enumerate(messages)
    ]
    users = {ANA: {"bot": False}, CLAUDE: {"bot": True}, JUPYTERNAUT: {"bot": True}, "hidden::sys": {"bot": True}}
    whole = {"messages": numbered, "users": users, "attachments": {}, "metadata": {"id": "chat1"}, **more}
    path.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return jupyter_chat.read(path, covered)


def texts(session: Session) -> list[tuple[str, str]]:
    """Return role and text of each turn."""
    return [(turn.role, turn.text) for turn in session.turns]


def test_all_five_files_are_there() -> None:
    """No real file is passed over unseen."""
    assert len(FILES) == 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_real_file_gives_exactly_its_turns_and_calls(path: Path) -> None:
    """Every visible turn and every call is read once, in order, character for character."""
    wanted, session = expected(path), jupyter_chat.read(path)
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == wanted["turns"]
    calls = [
        {"name": call.name, "arguments": call.arguments, "output": call.output, "status": call.status}
        for call in session.calls
    ]
    assert calls == wanted["tool_calls"]
    assert [text for text in wanted["must_not_appear"] for turn in session.turns if text in turn.text] == []
    assert (session.id, session.source, session.cwd) == (wanted["session_id"], "jupyter-chat", str(path.parent))
    assert (session.skipped, session.interactive) == ({}, True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_chat_that_copies_a_session_names_it_and_can_be_left_out(path: Path) -> None:
    """The tool's own file stays; of the chat nothing is left once that file is known."""
    wanted = expected(path).get("same_conversation_as")
    session = jupyter_chat.read(path)
    assert len(session.copy_of) == (wanted is not None)
    if wanted:
        assert session.copy_of[0] in wanted
        copy = jupyter_chat.read(path, covered=session.copy_of)
        assert (copy.turns, copy.calls, copy.context) == ((), (), ())
    assert jupyter_chat.read(path, covered=["another"]).turns == session.turns


def test_only_the_covered_persona_is_left_out(tmp_path: Path) -> None:
    """In a chat with several personas the others still count, with what was said to them."""
    messages = (
        said(ANA, "to claude", metadata={"to_persona": CLAUDE}),
        said(CLAUDE, "from claude"),
        said(ANA, "whoever answers"),
        said(JUPYTERNAUT, "me"),
        said(ANA, "whoever answers next"),
        said(CLAUDE, "", metadata={"tool_calls": [{"title": "t"}]}),
        said(ANA, "open end"),
    )
    metadata = {"acp_session_ids": {CLAUDE: "s1", JUPYTERNAUT: None, "x": ["a", "b"]}}
    assert len(read(tmp_path, *messages, metadata=metadata).turns) == 6
    session = read(tmp_path, *messages, metadata=metadata, covered=("s1",))
    assert texts(session) == [("user", "whoever answers"), ("assistant", "me"), ("user", "open end")]
    assert session.calls == ()
    assert session.copy_of == ("a", "b", "s1")


def test_deleted_hidden_and_empty_messages_are_no_turns(tmp_path: Path) -> None:
    """What the person took back is not read, even if its text is still there."""
    session = read(
        tmp_path,
        said(ANA, "secret plan", deleted=True),
        said("hidden::sys", "go"),
        said(ANA, "  "),
        said(JUPYTERNAUT, ""),
        said(ANA, "hello", deleted=False),
    )
    assert texts(session) == [("user", "hello")]
    assert session.skipped == {}


def test_a_message_that_comes_again_replaces_itself(tmp_path: Path) -> None:
    """An answer that grew while it was written counts once, where it began."""
    session = read(
        tmp_path, said(JUPYTERNAUT, "al", id="m"), said(ANA, "thanks", id="n"), said(JUPYTERNAUT, "all", id="m")
    )
    assert texts(session) == [("assistant", "all"), ("user", "thanks")]
    assert session.turns[0].ref == "message m"


def test_an_error_notice_is_context_without_its_traceback(tmp_path: Path) -> None:
    """A person who quotes such a notice says something, though."""
    body = (
        'It failed.\n\n<details class="jp-jai-error-details">\n<summary>Why (x)</summary><pre>Traceback</pre></details>'
    )
    session = read(tmp_path, said(JUPYTERNAUT, body), said(ANA, body))
    assert [(note.kind, note.text) for note in session.context] == [("error_notice", "It failed.\nWhy (x)")]
    assert texts(session) == [("user", body)]


def test_calls_say_how_they_ended(tmp_path: Path) -> None:
    """With the tool's status, or with what can be seen."""
    calls = [
        {"title": "a", "status": "failed", "raw_output": "boom"},
        {"title": "b", "raw_output": [{"type": "text", "text": "x"}, {"type": "image", "data": "AAAA"}]},
        {"kind": "edit", "raw_input": {"p": 1}},
        "odd",
    ]
    session = read(tmp_path, said(JUPYTERNAUT, "done", metadata={"tool_calls": calls}))
    assert [(call.name, call.arguments, call.output, call.status, call.place) for call in session.calls] == [
        ("a", None, "boom", "failed", 0),
        ("b", None, "x\n[image]", "completed", 0),
        ("edit", {"p": 1}, None, "no output", 0),
    ]
    assert session.skipped == {"malformed": 1}


def test_attachments_are_context_before_the_words(tmp_path: Path) -> None:
    """Only the path is named, the file is not opened."""
    attachments = {"k": {"type": "file", "value": "data/churn.csv"}}
    session = read(tmp_path, said(ANA, "look", attachments=["k", "lost", 5]), attachments=attachments)
    assert [(note.kind, note.text, note.place) for note in session.context] == [("attachment", "data/churn.csv", 0)]


def test_a_sender_without_entry_is_told_by_its_name(tmp_path: Path) -> None:
    """Personas have a common prefix; everybody else is a person."""
    session = read(tmp_path, said("someone", "a"), said(JUPYTERNAUT, "b"), said(None, "c"), users={JUPYTERNAUT: "x"})
    assert texts(session) == [("user", "a"), ("assistant", "b"), ("user", "c")]


def test_times_are_those_of_the_turns(tmp_path: Path) -> None:
    """Without a usable one the file's own time says when the chat changed."""
    session = read(tmp_path, said(ANA, "a"), said(JUPYTERNAUT, "b", time=1796064373))
    assert session.started == datetime(2026, 11, 30, 18, 46, 12, 500000, tzinfo=UTC)
    assert session.updated == datetime(2026, 11, 30, 18, 46, 13, tzinfo=UTC)
    for odd in (None, "now", True, 1e300):
        untimed = read(tmp_path, said(ANA, "a", time=odd))
        assert untimed.started is None
        assert untimed.updated is not None


def test_odd_values_do_not_stop_the_reader(tmp_path: Path) -> None:
    """Fields of another type than usual are ignored one by one."""
    session = read(
        tmp_path,
        7,
        said(ANA, None),
        said(ANA, "hello", metadata=5, attachments={}),
        said(ANA, "x", type="hologram"),
        said(JUPYTERNAUT, 5, metadata={"tool_calls": 5}),
        users=[],
        metadata={"acp_session_ids": 5},
    )
    assert texts(session) == [("user", "hello")]
    assert session.skipped == {"malformed": 2, "unknown": 1}
    assert session.id.startswith("x-")


@pytest.mark.parametrize("content", [b"", b"<html>", b"{}", b"[]", b'{"messages": 5}', b'{"cells": [], "nbformat": 4}'])
def test_a_file_that_is_no_chat_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error says what the file is not."""
    path = tmp_path / "x.chat"
    path.write_bytes(content)
    with pytest.raises(SessionFormatError, match=r"no Jupyter chat.*x\.chat"):
        jupyter_chat.read(path)


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    """Nobody gets a traceback for a chat that was deleted meanwhile."""
    with pytest.raises(SessionFormatError, match="cannot be read"):
        jupyter_chat.read(tmp_path / "nowhere.chat")


def test_a_message_over_the_limit_costs_only_itself(tmp_path: Path) -> None:
    """A picture of 33 MB in a tool's answer is passed over and counted."""
    huge = said(JUPYTERNAUT, "", metadata={"tool_calls": [{"title": "t", "raw_output": "A" * 33_000_000}]})
    session = read(tmp_path, said(ANA, "before"), huge, said(ANA, "after"))
    assert [text for _, text in texts(session)] == ["before", "after"]
    assert session.skipped == {"too long": 1}


@given(st.data())
def test_whatever_happens_to_the_bytes_a_session_or_our_error_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut, overwritten or mixed up: no other exception, and no traceback in a turn of a whole message."""
    raw = bytearray(FILES[2].read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 300))] = data.draw(st.binary(max_size=20))
        raw = raw or bytearray(b" ")
    path = tmp_path_factory.getbasetemp() / "damaged.chat"
    path.write_bytes(raw)
    try:
        session = jupyter_chat.read(path)
    except SessionFormatError:
        return
    assert len(session.turns) <= 4
