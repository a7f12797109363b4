"""The Codex reader: exact turns and calls of real files, and what it does with lines that no file should have."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import codex

if TYPE_CHECKING:
    from memory_magic.sessions.records import Session

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
EXPECTED = sorted((DATA / "expected").glob("rollout-*.json"))
START = "2026-11-30T18:00:00.000Z"


def expected(path: Path) -> Any:
    """Return what a reader must find in one file."""
    return json.loads(path.read_text(encoding="utf-8"))


def line(kind: str, payload: object, time: str = START, **more: object) -> str:
    """Return one line of a rollout."""
    return json.dumps({"timestamp": time, "type": kind, "payload": payload, **more}, ensure_ascii=False)


def meta(**more: object) -> str:
    """Return the line that begins a rollout."""
    return line("session_meta", {"id": "s1", "timestamp": START, "cwd": "/home/ana/churn", "source": "cli", **more})


def said(role: str, *texts: str, time: str = START) -> str:
    """Return the line of a message."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return line("response_item", {"type": "message", "role": role, "content": content}, time)


def called(call_id: str, name: str = "exec_command", arguments: str = '{"cmd": "ls"}') -> str:
    """Return the line of a tool call."""
    return line("response_item", {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id})


def answered(call_id: str, output: object) -> str:
    """Return the line of a tool's output."""
    return line("response_item", {"type": "function_call_output", "call_id": call_id, "output": output})


def read(tmp_path: Path, *lines: str, end: str = "\n") -> Session:
    """Write a rollout and read it."""
    path = tmp_path / "rollout-2026-11-30T18-00-00-s1.jsonl"
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return codex.read(path)


def texts(session: Session) -> list[tuple[str, str]]:
    """Return role and text of each turn."""
    return [(turn.role, turn.text) for turn in session.turns]


def test_all_ten_files_are_there() -> None:
    """Each real file has its expected reading, so that none is passed over unseen."""
    assert len(EXPECTED) == len(list(DATA.rglob("rollout-*.jsonl"))) == 10


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name[8:27])
def test_turns_are_exactly_the_expected_ones(path: Path) -> None:
    """Every visible human and assistant turn is read once, in order, character for character."""
    wanted = expected(path)
    session = codex.read(DATA / wanted["file"])
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == wanted["turns"]
    assert (session.id, session.cwd, session.source) == (wanted["session_id"], wanted["cwd"], "codex")
    assert {turn.origin for turn in session.turns} <= {"human", "assistant"}
    assert session.skipped == {}


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name[8:27])
def test_calls_are_exactly_the_expected_ones(path: Path) -> None:
    """Every tool call has its name, arguments, output and status."""
    wanted = expected(path)
    calls = [
        {"name": call.name, "arguments": call.arguments, "output": call.output, "status": call.status}
        for call in codex.read(DATA / wanted["file"]).calls
    ]
    assert calls == wanted["tool_calls"]


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name[8:27])
def test_no_turn_holds_what_must_not_appear(path: Path) -> None:
    """Instructions, environment, reasoning, recalled memory and tool output are in no turn."""
    wanted = expected(path)
    for turn in codex.read(DATA / wanted["file"]).turns:
        assert [text for text in wanted["must_not_appear"] if text in turn.text] == []


def test_updated_is_the_time_of_the_last_turn() -> None:
    """Lines after the last turn (token counts, task_complete) do not make a session younger."""
    session = codex.read(next(DATA.rglob("*01a22dc2-d085*.jsonl")))
    assert session.started == datetime(2026, 11, 30, 18, 41, 11, 821000, tzinfo=UTC)
    assert session.updated == session.turns[-1].time == datetime(2026, 11, 30, 18, 41, 12, 228000, tzinfo=UTC)


def test_turns_point_back_to_their_line() -> None:
    """A turn's reference names the line of the file that holds its text."""
    path = next(DATA.rglob("*01a22dc2-d085*.jsonl"))
    lines = path.read_text(encoding="utf-8").splitlines()
    for turn in codex.read(path).turns:
        number = int(turn.ref.removeprefix("line "))
        assert json.dumps(turn.text, ensure_ascii=False) in lines[number - 1]


def test_environment_is_context_in_its_place(tmp_path: Path) -> None:
    """Environment and sub-agent notices are no turns, and keep their place among turns and calls."""
    session = read(
        tmp_path,
        meta(),
        said("user", "<environment_context>\n<cwd>/a</cwd>\n</environment_context>"),
        said("user", "first"),
        called("c1"),
        said("user", "<subagent_notification>\nchild done\n</subagent_notification>"),
        called("c2"),
        said("assistant", "answer"),
    )
    assert [note.kind for note in session.context] == ["environment_context", "subagent_notification"]
    order = [type(item).__name__ for item in session.ordered()]
    assert order == ["Context", "Turn", "Call", "Context", "Call", "Turn"]


@pytest.mark.parametrize(
    "text",
    [
        "<memory>\nlikes tabs\n</memory>\n\nhello",
        "System note: When creating or editing Jupyter notebooks (.ipynb), use the tools.\n\nhello",
        "Additional context: Current directory open in Jupyter is: '/home/ana'\nhello",
        "<memory>a</memory>\n\nSystem note: When creating or editing Jupyter notebooks, x.\n\nhello",
        "Additional context: Current directory open in Jupyter is: x\n<memory>a</memory>\nhello",
    ],
)
def test_text_of_extensions_is_cut_off(tmp_path: Path, text: str) -> None:
    """What an extension put before the person's words is no part of the turn, in whatever order it comes."""
    assert texts(read(tmp_path, meta(), said("user", text))) == [("user", "hello")]


def test_a_turn_that_only_mentions_an_extension_stays(tmp_path: Path) -> None:
    """Only text in front of the person's words is cut; the same words further on are the person's."""
    text = "why does it say\nSystem note: When creating or editing Jupyter notebooks?"
    assert texts(read(tmp_path, meta(), said("user", text))) == [("user", text)]


def test_instructions_are_dropped_and_a_question_behind_them_stays(tmp_path: Path) -> None:
    """AGENTS.md and skills are nobody's turn; words after the closing tag are the person's."""
    agents = "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nuse tabs </INSTRUCTIONS> more\n</INSTRUCTIONS>"
    session = read(
        tmp_path,
        meta(),
        said("user", agents, "<skill>\nname: x\n</skill>"),
        said("user", f"{agents}\n\nwhat does this say?"),
    )
    assert texts(session) == [("user", "what does this say?")]


def test_developer_messages_reasoning_and_events_are_no_turns(tmp_path: Path) -> None:
    """What the program told the model, what the model thought, and the copy for the screen are passed over."""
    session = read(
        tmp_path,
        meta(),
        said("developer", "memory: likes tabs"),
        line("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        line("event_msg", {"type": "user_message", "message": "hello"}),
        said("user", "hello"),
        line("compacted", {"message": "summary"}),
    )
    assert texts(session) == [("user", "hello")]
    assert session.skipped == {}


def test_a_rollback_takes_turns_calls_and_context_back(tmp_path: Path) -> None:
    """After a rewind only the live branch counts."""
    session = read(
        tmp_path,
        meta(),
        said("user", "one"),
        called("c1"),
        said("assistant", "answer one"),
        said("user", "two"),
        called("c2"),
        said("assistant", "answer two"),
        line("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
        said("user", "three"),
    )
    assert [text for _, text in texts(session)] == ["one", "answer one", "three"]
    assert len(session.calls) == 1


def test_a_rollback_of_more_turns_than_there_are_takes_all(tmp_path: Path) -> None:
    """A count that is too large empties the session; a senseless one changes nothing."""
    lines = [meta(), said("user", "one"), said("assistant", "answer")]
    assert read(tmp_path, *lines, line("event_msg", {"type": "thread_rolled_back", "num_turns": 9})).turns == ()
    for count in (0, -1, "2", None):
        event = line("event_msg", {"type": "thread_rolled_back", "num_turns": count})
        assert len(read(tmp_path, *lines, event).turns) == 2


def test_outputs_join_their_calls(tmp_path: Path) -> None:
    """An output may be text, parts, or nested; a repeated call id goes to the newest call that waits."""
    session = read(
        tmp_path,
        meta(),
        called("c1"),
        answered("c1", [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:x"}]),
        called("c1"),
        answered("c1", {"content": "b", "success": True}),
        called("c2"),
        answered("c2", None),
        answered("nobody", "lost"),
    )
    assert [call.output for call in session.calls] == ["a", "b", ""]
    assert session.skipped == {"output without a call": 1}


def test_other_calls_are_read_too(tmp_path: Path) -> None:
    """Patches, local shells, searches count as calls; one that never has an output is done when it says so."""
    session = read(
        tmp_path,
        meta(),
        line(
            "response_item", {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin"}
        ),
        line("response_item", {"type": "custom_tool_call_output", "call_id": "p", "output": "ok"}),
        line("response_item", {"type": "local_shell_call", "status": "completed", "action": {"command": ["ls"]}}),
        line("response_item", {"type": "web_search_call", "status": "completed", "action": {"query": "csrf"}}),
        line("response_item", {"type": "tool_search_call", "call_id": "t", "arguments": {"query": "x"}}),
        line("response_item", {"type": "tool_search_output", "call_id": "t", "status": "failed", "tools": []}),
    )
    assert [(call.name, call.status, call.output) for call in session.calls] == [
        ("apply_patch", "completed", "ok"),
        ("local_shell", "completed", None),
        ("web_search", "completed", None),
        ("tool_search", "failed", "[]"),
    ]
    assert session.calls[0].arguments == "*** Begin"


def test_arguments_that_are_no_json_stay_as_they_are(tmp_path: Path) -> None:
    """What the model wrote instead of JSON is kept as text."""
    session = read(tmp_path, meta(), called("c1", arguments="ls -la"), called("c2", arguments="[" * 100_000))
    assert [call.arguments for call in session.calls] == ["ls -la", "[" * 100_000]


def test_messages_between_agents_are_context(tmp_path: Path) -> None:
    """What one agent writes to another is read by stage one, but said by nobody here."""
    session = read(
        tmp_path,
        meta(),
        line("response_item", {"type": "agent_message", "content": [{"type": "input_text", "text": "child done"}]}),
        line("inter_agent_communication", {"author": "/root", "content": "do x"}),
    )
    assert [(note.kind, note.text) for note in session.context] == [
        ("agent_message", "child done"),
        ("inter_agent_communication", "do x"),
    ]


def test_unknown_and_damaged_lines_are_counted_never_raised(tmp_path: Path) -> None:
    """A reader of a format that moves fast goes on, and says how much it left out."""
    session = read(
        tmp_path,
        meta(),
        line("hologram", {"x": 1}),
        line("response_item", {"type": "telepathy"}),
        line("response_item", ["no object"]),
        "{not json",
        "[1, 2]",
        '{"type": "response_item"}',
        "",
        said("user", "hello", time="no time"),
        '{"timestamp":"2026-11-30T18:00:01.000Z","type":"response_item","payload":{"type":"mess',
        end="",
    )
    assert texts(session) == [("user", "hello")]
    assert session.skipped == {"malformed": 4, "unfinished": 1, "unknown": 2}
    assert session.updated == session.started


def test_odd_values_do_not_stop_the_reader(tmp_path: Path) -> None:
    """Fields of another type than usual are ignored one by one."""
    session = read(
        tmp_path,
        meta(source={"subagent": "review"}, cwd=7, model_provider=["x"]),
        line("response_item", {"type": "message", "role": "user", "content": "plain text"}),
        line("response_item", {"type": "message", "role": "user", "content": {"text": "x"}}),
        line("response_item", {"type": "message", "role": 5, "content": []}),
        line("response_item", {"type": "function_call", "name": None, "call_id": 3, "arguments": None}),
    )
    assert texts(session) == [("user", "plain text")]
    assert (session.cwd, session.interactive, session.origin_host) == (None, False, None)
    assert (session.calls[0].name, session.calls[0].status) == ("function", "no output")


def test_without_meta_there_is_no_directory(tmp_path: Path) -> None:
    """A rollout that lost its head is read, but belongs to no place."""
    session = read(tmp_path, said("user", "hello", time="2026-11-30T19:30:00+01:00"))
    assert (session.cwd, session.id) == (None, "2026-11-30T18-00-00-s1")
    assert session.started == session.updated == datetime(2026, 11, 30, 18, 30, tzinfo=UTC)


def test_the_first_meta_counts(tmp_path: Path) -> None:
    """A fork that repeats its parent's head stays itself."""
    session = read(tmp_path, meta(), line("session_meta", {"id": "parent", "cwd": "/elsewhere"}))
    assert (session.id, session.cwd) == ("s1", "/home/ana/churn")


@pytest.mark.parametrize(
    ("fields", "extended", "interactive"),
    [
        ({"source": "cli"}, False, True),
        ({"source": "vscode"}, False, True),
        ({"source": "atlas"}, False, True),
        ({"source": "chatgpt"}, False, True),
        ({"source": "exec"}, False, False),
        ({"source": "mcp"}, False, False),
        ({"source": "unknown"}, False, False),
        ({"source": "unknown"}, True, True),
        ({"source": None}, False, False),
        ({"source": "cli", "thread_source": "subagent"}, False, False),
        ({"source": "cli", "thread_source": "user"}, False, True),
    ],
)
def test_interactive_needs_a_sign_of_a_person(
    tmp_path: Path, fields: dict[str, object], *, extended: bool, interactive: bool
) -> None:
    """Only named front ends, and an unnamed one whose extension left its text, count as a person's session."""
    text = "<memory>x</memory>\n\nhello" if extended else "hello"
    assert read(tmp_path, meta(**fields), said("user", text)).interactive is interactive


@pytest.mark.parametrize(
    ("provider", "host"), [("openai", "api.openai.com"), ("ollama", "localhost"), ("fake", None), (None, None)]
)
def test_origin_host_is_told_only_where_the_file_tells(tmp_path: Path, provider: str | None, host: str | None) -> None:
    """An unknown model provider has no host, which later means: never send this to a remote model."""
    assert read(tmp_path, meta(model_provider=provider)).origin_host == host


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"plain text\n",
        b"SQLite format 3\x00\x10\x00",
        b'{"type":"user","message":{"role":"user","content":"hi"}}\n',
        b'{"type":"session","version":3}\n{"type":"message","payload":{}}\n',
        b'{"a": "\xff"}\n',
    ],
    ids=["empty", "blank", "text", "database", "claude-code", "oh-my-pi", "not-utf8"],
)
def test_a_file_that_is_no_rollout_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error says what the file is not, and where."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionFormatError, match=r"no Codex rollout.*x\.jsonl:1"):
        codex.read(str(path))


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    """Nobody gets a traceback for a wrong path."""
    with pytest.raises(SessionFormatError, match="cannot be read"):
        codex.read(tmp_path / "nowhere.jsonl")
