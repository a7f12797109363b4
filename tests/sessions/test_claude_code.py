"""The Claude Code reader: exact turns and calls of real files, rewinds, and what the program says in our name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import claude_code

if TYPE_CHECKING:
    from memory_magic.sessions.records import Session

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
FILES = sorted((DATA / "claude-code").rglob("*.jsonl"))
ID = "0f0e0d0c-0000-4000-8000-000000000001"


def expected(path: Path) -> Any:
    """Return what a reader must find in one file."""
    return json.loads((DATA / "expected" / f"{path.name}.json").read_text(encoding="utf-8"))


class Transcript:
    """Writes lines as the program does: each goes on from the one before it, unless told otherwise."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.last: str | None = None

    def add(self, kind: str, parent: str | None = "", **fields: object) -> str:
        """Add a line of a type and return its id."""
        uuid = f"u{len(self.lines)}"
        common = {
            "uuid": uuid,
            "parentUuid": self.last if parent == "" else parent,
            "sessionId": ID,
            "timestamp": f"2026-11-30T18:00:{len(self.lines):02d}.000Z",
            "cwd": "/home/ana/churn",
            "entrypoint": "cli",
            "isSidechain": False,
        }
        self.lines.append(json.dumps({"type": kind, **common, **fields}))
        self.last = uuid
        return uuid

    def user(self, content: object, parent: str | None = "", **fields: object) -> str:
        """Add a line in the user's role."""
        return self.add("user", parent, message={"role": "user", "content": content}, **fields)

    def assistant(self, *blocks: object, answer: str | None = None, parent: str | None = "", **fields: object) -> str:
        """Add a line of an answer; a text may be given bare."""
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        message = {"id": answer or f"msg_{len(self.lines)}", "role": "assistant", "model": "m", "content": content}
        return self.add("assistant", parent, message=message, **fields)

    def result(self, call_id: str, content: object, parent: str | None = "", **fields: object) -> str:
        """Add a tool's answer."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}
        return self.user([block], parent, toolUseResult={"stdout": "x"})

    def bare(self, **fields: object) -> None:
        """Add a line that is no part of the tree."""
        self.lines.append(json.dumps({"sessionId": ID, **fields}))

    def read(self, folder: Path, end: str = "\n", name: str = f"{ID}.jsonl") -> Session:
        """Write the file and read it."""
        path = folder / name
        path.write_text("\n".join(self.lines) + end, encoding="utf-8")
        return claude_code.read(path)


def use(call_id: str, name: str = "Bash") -> dict[str, object]:
    """Return the block of a call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"command": "ls"}}


def texts(session: Session) -> list[str]:
    """Return the text of each turn."""
    return [turn.text for turn in session.turns]


@pytest.fixture
def made() -> Transcript:
    """Give an empty transcript."""
    return Transcript()


def test_all_four_files_are_there() -> None:
    """No real file is passed over unseen."""
    assert len(FILES) == 4


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:8])
def test_a_real_file_gives_exactly_its_turns_and_calls(path: Path) -> None:
    """Every visible turn and every call is read once, in order, character for character."""
    wanted, session = expected(path), claude_code.read(path)
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == wanted["turns"]
    calls = [
        {"name": call.name, "arguments": call.arguments, "output": call.output, "status": call.status}
        for call in session.calls
    ]
    assert calls == wanted["tool_calls"]
    assert [text for text in wanted["must_not_appear"] for turn in session.turns if text in turn.text] == []
    assert (session.id, session.cwd, session.source) == (wanted["session_id"], wanted["cwd"], "claude-code")
    assert session.skipped == {}


@pytest.mark.parametrize(
    ("start", "interactive"), [("32a9b6a1", True), ("3e1d5eae", True), ("2077a4c5", False), ("196d04e6", False)]
)
def test_only_front_ends_of_a_person_are_interactive(start: str, *, interactive: bool) -> None:
    """A notebook extension and an ACP client count, the print mode and a script do not."""
    path = next(path for path in FILES if path.name.startswith(start))
    assert claude_code.read(path).interactive is interactive


@pytest.mark.parametrize(
    ("entrypoint", "text", "interactive"),
    [
        ("cli", "hi", True),
        ("claude-vscode", "hi", True),
        ("notebook-intelligence", "hi", True),
        ("sdk-ts", "hi", False),
        ("sdk-ts", "System note: When creating or editing Jupyter notebooks, x.\n\nhi", True),
        ("sdk-py", "System note: When creating or editing Jupyter notebooks, x.\n\nhi", False),
        ("sdk-cli", "hi", False),
        (None, "hi", False),
    ],
)
def test_interactive_needs_a_sign_of_a_person(
    made: Transcript, tmp_path: Path, entrypoint: str | None, text: str, *, interactive: bool
) -> None:
    """The SDK counts only where the client behind it left its text."""
    made.user(text, entrypoint=entrypoint)
    session = made.read(tmp_path)
    assert (texts(session), session.interactive) == (["hi"], interactive)


def test_a_turn_points_back_to_its_line_and_updated_is_its_time() -> None:
    """A reference names the line; lines after the last turn do not make a session younger."""
    path = FILES[0]
    session = claude_code.read(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    for turn in session.turns:
        assert json.dumps(turn.text, ensure_ascii=False)[1:-1] in lines[int(turn.ref.removeprefix("line ")) - 1]
    assert session.updated == session.turns[-1].time


def test_one_answer_on_several_lines_is_one_turn(made: Transcript, tmp_path: Path) -> None:
    """Texts of one message id that follow each other belong together; a call between them parts them."""
    made.user("q")
    made.assistant("one", answer="a")
    made.assistant("two", answer="a")
    made.assistant(use("t1"), answer="a")
    made.result("t1", "out")
    made.assistant("three", answer="a")
    made.assistant("four", answer="b")
    session = made.read(tmp_path)
    assert texts(session) == ["q", "one\ntwo", "three", "four"]
    assert session.calls[0].place == 2


def test_a_rewind_takes_back_what_followed(made: Transcript, tmp_path: Path) -> None:
    """After going back to an earlier point only the new branch counts, with its calls."""
    made.user("one")
    fork = made.assistant("answer one")
    made.user("two")
    made.assistant("wrong", use("t1"))
    made.result("t1", "dropped")
    made.assistant("more of it")
    made.user("three", fork)
    made.assistant("answer three")
    session = made.read(tmp_path)
    assert texts(session) == ["one", "answer one", "three", "answer three"]
    assert session.calls == ()
    assert session.skipped == {}


def test_a_rewind_to_the_beginning_takes_back_everything(made: Transcript, tmp_path: Path) -> None:
    """A new first prompt has no parent."""
    made.user("one", None)
    made.assistant("answer one")
    made.user("again", None)
    made.assistant("answer again")
    assert texts(made.read(tmp_path)) == ["again", "answer again"]


def test_a_rewind_without_a_new_prompt_counts_too(made: Transcript, tmp_path: Path) -> None:
    """Where the file ends with a note of where the conversation stands, that is where it stands."""
    made.user("one")
    stands = made.assistant("answer one")
    made.user("two")
    made.assistant("answer two")
    made.bare(type="last-prompt", leafUuid=stands)
    assert texts(made.read(tmp_path)) == ["one", "answer one"]


def test_a_note_that_lags_behind_takes_nothing_back(made: Transcript, tmp_path: Path) -> None:
    """The note may be older than the last lines of an answer, or name a line that is not there."""
    prompt = made.user("one")
    made.assistant("answer")
    made.bare(type="last-prompt", leafUuid=prompt)
    made.bare(type="last-prompt", leafUuid="nowhere")
    assert texts(made.read(tmp_path)) == ["one", "answer"]
    made.lines.pop()
    assert texts(made.read(tmp_path)) == ["one", "answer"]


def test_another_answer_to_one_prompt_replaces_the_first(made: Transcript, tmp_path: Path) -> None:
    """What was asked again has one answer."""
    prompt = made.user("one")
    made.assistant("first try", answer="a")
    made.assistant("second try", answer="b", parent=prompt)
    assert texts(made.read(tmp_path)) == ["one", "second try"]


def test_tools_side_by_side_keep_their_answers(made: Transcript, tmp_path: Path) -> None:
    """Answers of parallel calls hang off the chain, and lines about hooks fork it: nothing of that is a rewind."""
    made.user("q")
    first = made.assistant(use("t1"), answer="a")
    second = made.assistant(use("t2"), answer="a")
    made.result("t1", "one", first)
    made.add("progress", first, data={"type": "hook_progress"})
    made.result("t2", [{"type": "text", "text": "two"}, {"type": "image", "source": {"data": "AAAA"}}], second)
    made.assistant("done", answer="b")
    session = made.read(tmp_path)
    assert [call.output for call in session.calls] == ["one", "two\n[image]"]
    assert texts(session) == ["q", "done"]


def test_a_compaction_loses_no_turn(made: Transcript, tmp_path: Path) -> None:
    """The chain is cut there; the turns before it were said all the same, the summary was not."""
    made.user("one")
    before = made.assistant("answer one")
    made.add("system", None, subtype="compact_boundary", logicalParentUuid=before)
    made.user("This session is being continued from a previous conversation", isCompactSummary=True)
    made.user("two")
    assert texts(made.read(tmp_path)) == ["one", "answer one", "two"]


def test_a_lost_line_costs_only_itself(made: Transcript, tmp_path: Path) -> None:
    """Where a parent is missing the line before it goes on."""
    made.user("one")
    made.assistant("answer one")
    made.user("two")
    made.assistant("answer two")
    made.lines[1] = made.lines[1][:40]
    session = made.read(tmp_path)
    assert texts(session) == ["one", "two", "answer two"]
    assert session.skipped == {"malformed": 1}


def test_copied_lines_count_once(made: Transcript, tmp_path: Path) -> None:
    """A resume may write the same line again."""
    made.user("one")
    made.assistant("answer one")
    made.lines += made.lines
    assert texts(made.read(tmp_path)) == ["one", "answer one"]


def test_parents_in_a_circle_end(made: Transcript, tmp_path: Path) -> None:
    """A damaged tree is read without going round for ever."""
    made.user("one", "u2")
    made.assistant("a", parent="u0")
    made.user("two", "u1")
    made.assistant("b", parent="u3")
    assert texts(made.read(tmp_path))[-1] == "b"


@pytest.mark.parametrize(
    "text",
    [
        "<command-name>/model</command-name>",
        "<local-command-stdout>Set model</local-command-stdout>",
        "<system-reminder>\nbe brief\n</system-reminder>",
        "This session is being continued from a previous conversation that ran out of context. Summary: x",
        "[Request interrupted by user for tool use]",
        "<task-notification>\nchild done\n</task-notification>",
        "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
        "<ide_opened_file>The user opened x.py</ide_opened_file>",
    ],
)
def test_text_of_the_program_is_no_turn(made: Transcript, tmp_path: Path, text: str) -> None:
    """Whether it is a whole message or a block beside the person's words."""
    made.user(text)
    made.user([{"type": "text", "text": text}, {"type": "text", "text": "hello"}])
    assert texts(made.read(tmp_path)) == ["hello"]


def test_words_around_a_reminder_stay(made: Transcript, tmp_path: Path) -> None:
    """The program may hang its reminder on the person's words."""
    made.user("hello\n\n<system-reminder>\nbe brief\n</system-reminder>\n")
    made.user("what does <system-reminder> mean?")
    assert texts(made.read(tmp_path)) == ["hello", "what does <system-reminder> mean?"]


def test_meta_sidechains_and_errors_are_no_turns(made: Transcript, tmp_path: Path) -> None:
    """Injected lines, sub-agents and messages of the program itself."""
    made.user("hello")
    made.user("expanded skill", isMeta=True)
    made.add("user", isSidechain=True, message={"content": "sub-agent, go"})
    made.add("assistant", message={"model": "<synthetic>", "content": "API Error: 500"})
    made.user("done", origin={"kind": "task-notification"})
    session = made.read(tmp_path)
    assert texts(session) == ["hello"]
    assert [(note.kind, note.text) for note in session.context] == [
        ("error_notice", "API Error: 500"),
        ("program_text", "done"),
    ]


def test_a_file_of_a_sub_agent_is_nobodys_conversation(made: Transcript, tmp_path: Path) -> None:
    """Its lines carry the id of the session that started it, its file has another name."""
    made.user("go", isSidechain=True)
    made.assistant("done", isSidechain=True)
    session = made.read(tmp_path, name="agent-77.jsonl")
    assert (session.turns, session.interactive, session.id) == ((), False, "agent-77")


def test_a_fork_is_a_session_of_its_own(made: Transcript, tmp_path: Path) -> None:
    """A copied line names the session that it was copied from."""
    made.user("one")
    other = ID.replace("1", "2")
    assert made.read(tmp_path, name=f"{other}.jsonl").id == other
    assert made.read(tmp_path, name="copy.jsonl").id == ID


def test_calls_say_how_they_ended(made: Transcript, tmp_path: Path) -> None:
    """Failed, done, or never answered; tools that run at the server count too."""
    made.user("q")
    made.assistant(use("t1"), use("t2"))
    made.result("t1", "boom", is_error=True)
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": "hit"}]}
    made.assistant(search, found)
    made.result("nobody", "lost")
    session = made.read(tmp_path)
    assert [(call.name, call.status, call.output) for call in session.calls] == [
        ("Bash", "failed", "boom"),
        ("Bash", "no output", None),
        ("web_search", "completed", "hit"),
    ]
    assert session.skipped == {"output without a call": 1}


def test_the_environment_is_context(made: Transcript, tmp_path: Path) -> None:
    """So is what the person typed while the assistant was at work; instructions and hooks are not kept."""
    made.add("attachment", attachment={"type": "environment", "snapshot": {"platform": "linux"}})
    made.add("attachment", attachment={"type": "queued_command", "prompt": "and tests"})
    made.add("attachment", attachment={"type": "instructions", "files": [{"content": "use tabs"}]})
    made.add("attachment", attachment={"type": "hook_additional_context", "content": ["likes tea"]})
    made.user("hello")
    session = made.read(tmp_path)
    assert [(note.kind, note.text) for note in session.context] == [
        ("environment_context", '{"platform":"linux"}'),
        ("queued_command", "and tests"),
    ]


@pytest.mark.parametrize(
    ("message", "request_id", "host"),
    [
        ("msg_01ABCDEFGHIJKLMNOPQRSTUV", "req_011ABCDEFGH", "api.anthropic.com"),
        ("msg_01ABCDEFGHIJKLMNOPQRSTUV", None, None),
        ("msg_1", "req_011ABCDEFGH", None),
    ],
)
def test_origin_host_is_told_only_where_the_ids_tell(
    made: Transcript, tmp_path: Path, message: str, request_id: str | None, host: str | None
) -> None:
    """Another server in between gives ids of another shape, and then nothing is known."""
    made.user("q")
    made.assistant("a", answer=message, requestId=request_id)
    assert made.read(tmp_path).origin_host == host


def test_unknown_and_damaged_lines_are_counted_never_raised(made: Transcript, tmp_path: Path) -> None:
    """The reader goes on, says how much it left out, and leaves the half-written last line for the next time."""
    made.user("hello")
    made.add("hologram", data=1)
    made.user([{"type": "telepathy"}, 7, None, {"type": "text", "text": "again"}])
    made.add("user", message="no object")
    made.lines += ["{not json", "[1]", '{"type": 5}', '{"type":"user","message":{"content":"x"}}', '{"type":"us']
    session = made.read(tmp_path, end="")
    assert texts(session) == ["hello", "again"]
    assert session.skipped == {"malformed": 5, "unfinished": 1, "unknown": 4}


def test_lines_without_ids_follow_each_other(tmp_path: Path) -> None:
    """A record without a tree is a plain list."""
    path = tmp_path / "x.jsonl"
    lines = [{"type": "user", "sessionId": "s", "message": {"content": text}} for text in ("one", "two")]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    assert texts(claude_code.read(path)) == ["one", "two"]


@pytest.mark.parametrize(
    "content", [b"", b"text\n", b'{"type":"session_meta","payload":{}}\n', b'{"type":"user","id":"m1","content":1}\n']
)
def test_a_file_that_is_no_transcript_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error says what the file is not, and where."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionFormatError, match=r"no Claude Code transcript.*x\.jsonl:1"):
        claude_code.read(path)


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    """Nobody gets a traceback for a session that was deleted meanwhile."""
    with pytest.raises(SessionFormatError, match="cannot be read"):
        claude_code.read(tmp_path / "nowhere.jsonl")


@given(st.data())
def test_whatever_happens_to_the_bytes_a_session_or_our_error_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut, overwritten or mixed up: no other exception, and no instructions in a turn."""
    raw = bytearray(FILES[1].read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 300))] = data.draw(st.binary(max_size=20))
        raw = raw or bytearray(b" ")
    path = tmp_path_factory.getbasetemp() / "damaged.jsonl"
    path.write_bytes(raw)
    try:
        session = claude_code.read(path)
    except SessionFormatError:
        return
    assert len(session.turns) <= 3
