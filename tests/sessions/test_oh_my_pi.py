"""The oh-my-pi reader: the live branch of a tree of entries, and nothing that was cleared."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import oh_my_pi

if TYPE_CHECKING:
    from memory_magic.sessions.records import Session

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
FILE = next((DATA / "omp").rglob("*.jsonl"))
EXPECTED: Any = json.loads((DATA / "expected" / f"{FILE.name}.json").read_text(encoding="utf-8"))
HEADER: dict[str, object] = {"type": "session", "version": 3, "id": "s1", "cwd": "/home/ana/demand"}


class Tree:
    """Writes entries as the program does: each goes on from the one before it, unless told otherwise."""

    def __init__(self, *head: dict[str, object]) -> None:
        self.lines: list[str] = [json.dumps(line) for line in head or (HEADER,)]
        self.last: str | None = None

    def add(self, kind: str, parent: str | None = "", **fields: object) -> str:
        """Add an entry of a type and return its id."""
        name = f"e{len(self.lines)}"
        common = {"id": name, "parentId": self.last if parent == "" else parent}
        self.lines.append(json.dumps({"type": kind, **common, "timestamp": "2026-11-30T19:00:00.000Z", **fields}))
        self.last = name
        return name

    def say(self, role: str, content: object, parent: str | None = "", **fields: object) -> str:
        """Add a message."""
        return self.add("message", parent, message={"role": role, "content": content, **fields})

    def read(self, folder: Path, end: str = "\n") -> Session:
        """Write the file and read it."""
        path = folder / "2026-11-30T19-00-00-000Z_s9.jsonl"
        path.write_text("\n".join(self.lines) + end, encoding="utf-8")
        return oh_my_pi.read(path)


def text(words: str) -> dict[str, object]:
    """Return a block of text."""
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "bash") -> dict[str, object]:
    """Return the block of a call."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": {"command": "ls"}}


def texts(session: Session) -> list[str]:
    """Return the text of each turn."""
    return [turn.text for turn in session.turns]


@pytest.fixture
def tree() -> Tree:
    """Give a session of which only the header is written."""
    return Tree()


def test_the_real_file_gives_exactly_its_turns_and_calls() -> None:
    """Character for character, with its title line, custom entries and timings left out."""
    session = oh_my_pi.read(FILE)
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == EXPECTED["turns"]
    calls = [
        {"name": made.name, "arguments": made.arguments, "output": made.output, "status": made.status}
        for made in session.calls
    ]
    assert calls == EXPECTED["tool_calls"]
    assert (session.id, session.cwd) == (EXPECTED["session_id"], EXPECTED["cwd"])
    assert (session.source, session.interactive, session.skipped) == ("oh-my-pi", True, {})
    assert session.updated == datetime(2026, 11, 30, 19, 2, 13, 4000, tzinfo=UTC)
    assert [turn.ref for turn in session.turns] == ["line 5", "line 9"]


def test_only_the_live_branch_counts(tree: Tree, tmp_path: Path) -> None:
    """What was taken back stays in the file, with its calls, and is not read."""
    tree.say("user", "one")
    fork = tree.say("assistant", [text("answer one")])
    tree.say("user", "two")
    tree.say("assistant", [text("wrong"), call("c1")])
    tree.say("toolResult", [text("out")], toolCallId="c1")
    tree.add("branch_summary", fork, summary="tried two, abandoned")
    tree.say("user", "three")
    session = tree.read(tmp_path)
    assert texts(session) == ["one", "answer one", "three"]
    assert (session.calls, session.skipped) == ((), {})


def test_a_rewind_to_the_beginning_takes_back_everything(tree: Tree, tmp_path: Path) -> None:
    """A new first entry has no parent."""
    tree.say("user", "one", None)
    tree.say("user", "again", None)
    assert texts(tree.read(tmp_path)) == ["again"]


def test_what_was_cleared_is_not_read(tree: Tree, tmp_path: Path) -> None:
    """A reset of the conversation hides all that came before it."""
    tree.say("user", "one")
    tree.add("reset_boundary")
    tree.say("user", "two")
    assert texts(tree.read(tmp_path)) == ["two"]


def test_a_compaction_loses_no_turn(tree: Tree, tmp_path: Path) -> None:
    """The model saw a summary from then on; the turns were said all the same."""
    tree.say("user", "one")
    tree.add("compaction", summary="sum", firstKeptEntryId="e9")
    tree.say("user", "two")
    assert texts(tree.read(tmp_path)) == ["one", "two"]


def test_a_lost_line_costs_only_itself(tree: Tree, tmp_path: Path) -> None:
    """Where a parent is missing, the entry before it goes on; unknown entries hold the chain together."""
    tree.say("user", "one")
    tree.say("user", "lost")
    tree.say("user", "two")
    tree.add("hologram")
    tree.say("user", "three")
    tree.lines[2] = tree.lines[2][:30]
    session = tree.read(tmp_path)
    assert texts(session) == ["one", "two", "three"]
    assert session.skipped == {"malformed": 1, "unknown": 1}


def test_format_1_is_a_plain_list(tmp_path: Path) -> None:
    """Its entries have no ids."""
    path = tmp_path / "x.jsonl"
    said = [{"type": "message", "message": {"role": "user", "content": words}} for words in ("one", "two")]
    path.write_text("\n".join(map(json.dumps, [HEADER, *said])), encoding="utf-8")
    assert texts(oh_my_pi.read(path)) == ["one", "two"]


def test_calls_stand_where_they_were_made(tree: Tree, tmp_path: Path) -> None:
    """Text before and after a call are two turns; outputs say whether the call failed."""
    tree.say("user", "go")
    thought = {"type": "thinking", "thinking": "hm"}
    tree.say("assistant", [thought, text("a"), text("b"), call("c1"), text("c"), call("c2"), call("c3")])
    tree.say("toolResult", [text("no"), {"type": "image", "data": "AAAA"}], toolCallId="c2", isError=True)
    tree.say("toolResult", [text("yes")], toolCallId="c1")
    tree.say("toolResult", [text("lost")], toolCallId="c9")
    session = tree.read(tmp_path)
    assert texts(session) == ["go", "a\nb", "c"]
    assert [(made.place, made.output, made.status) for made in session.calls] == [
        (2, "yes", "completed"),
        (3, "no\n[image]", "failed"),
        (3, None, "no output"),
    ]
    assert session.skipped == {"output without a call": 1}


def test_only_the_person_speaks_as_user(tree: Tree, tmp_path: Path) -> None:
    """What an agent or the program put there is context, and shell commands that the person hid are not even that."""
    tree.say("user", "hello", attribution="user")
    tree.say("user", "go on", attribution="agent")
    tree.say("user", "todo list", synthetic=True)
    tree.say("developer", "rules")
    tree.say("bashExecution", None, command="git status", output="clean")
    tree.say("bashExecution", None, command="cat key", output="x", excludeFromContext=True)
    tree.say("assistant", [text("half")], errorMessage="overloaded")
    session = tree.read(tmp_path)
    assert texts(session) == ["hello", "half"]
    assert [(note.kind, note.text) for note in session.context] == [
        ("program_text", "go on"),
        ("program_text", "todo list"),
        ("user_shell_command", "git status\nclean"),
        ("error_notice", "overloaded"),
    ]


def test_a_sub_agents_session_is_not_interactive(tree: Tree, tmp_path: Path) -> None:
    """It begins with the task that it was given."""
    tree.say("user", "hello")
    assert tree.read(tmp_path).interactive is True
    tree.add("session_init", task="count the rows", systemPrompt="x")
    assert tree.read(tmp_path).interactive is False


@pytest.mark.parametrize(
    ("providers", "host"),
    [
        (["anthropic"], "api.anthropic.com"),
        (["anthropic", "fake"], None),
        (["fake", "ollama"], "localhost"),
        (["anthropic", None], None),
        ([], None),
    ],
)
def test_origin_host_is_that_of_all_answers(
    tree: Tree, tmp_path: Path, providers: list[str | None], host: str | None
) -> None:
    """One local answer makes a session local; one unknown answer makes its origin unknown."""
    for provider in providers:
        tree.say("assistant", [text("a")], provider=provider)
    assert tree.read(tmp_path).origin_host == host


def test_times_come_from_the_entry_or_its_message(tree: Tree, tmp_path: Path) -> None:
    """The entry counts in ISO 8601, the message in milliseconds."""
    tree.add("message", timestamp=None, message={"role": "user", "content": "a", "timestamp": 1796065332666})
    tree.add("message", timestamp=None, message={"role": "user", "content": "b", "timestamp": True})
    session = tree.read(tmp_path)
    assert [turn.time for turn in session.turns] == [datetime(2026, 11, 30, 19, 2, 12, 666000, tzinfo=UTC), None]


def test_odd_values_do_not_stop_the_reader(tree: Tree, tmp_path: Path) -> None:
    """Lines that are damaged, unknown or half-written are counted."""
    tree.say("user", [text("hello"), {"type": "telepathy"}, 5])
    tree.say("alien", "x")
    tree.add("message", message=5)
    tree.lines += ['{"type": 5}', "[]", '{"type":"mess']
    session = tree.read(tmp_path, end="")
    assert texts(session) == ["hello"]
    assert session.skipped == {"malformed": 3, "unfinished": 1, "unknown": 3}


def test_without_a_header_the_name_tells_the_id(tmp_path: Path) -> None:
    """A session that lost its head belongs to no place."""
    tree = Tree({"type": "title", "v": 1})
    tree.say("user", "hello")
    session = tree.read(tmp_path)
    assert (session.id, session.cwd, texts(session)) == ("s9", None, ["hello"])


@pytest.mark.parametrize("content", [b"", b"text\n", b'{"type":"session_meta","payload":{}}\n', b'{"type":"user"}\n'])
def test_a_file_that_is_no_session_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error says what the file is not, and where."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionFormatError, match=r"no oh-my-pi session.*x\.jsonl:1"):
        oh_my_pi.read(path)


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    """Nobody gets a traceback for a session that was deleted meanwhile."""
    with pytest.raises(SessionFormatError, match="cannot be read"):
        oh_my_pi.read(tmp_path / "nowhere.jsonl")


@given(st.data())
def test_whatever_happens_to_the_bytes_a_session_or_our_error_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut, overwritten or mixed up: no other exception, and never more turns than there were."""
    raw = bytearray(FILE.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 300))] = data.draw(st.binary(max_size=20))
        raw = raw or bytearray(b" ")
    path = tmp_path_factory.getbasetemp() / "damaged-omp.jsonl"
    path.write_bytes(raw)
    try:
        session = oh_my_pi.read(path)
    except SessionFormatError:
        return
    assert len(session.turns) <= 2
