"""The hook: one answer on the request's own topic or none, errors without values, a manifest that asks for no more."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import HookError
from memory_magic.prompt import hook
from memory_magic.prompt.block import memory_block
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

TOPIC = "prompt_builder.v1.hook_response.r1"


class Topics:
    """Collects what is published."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.published: list[tuple[str, dict[str, str]]] = []

    def __call__(self, topic: str, message: dict[str, str]) -> None:
        """Take one message."""
        self.published.append((topic, message))


@pytest.fixture
def publish() -> Topics:
    """Give a bus that remembers."""
    return Topics()


@pytest.fixture
def store(root: Path) -> Store:
    """Give a real store with one note, switched on."""
    made = Store(root)
    made.remember("Deploys run on Tuesdays")
    (root / "config.toml").write_text("[memories]\nenabled = true\n")
    return made


def test_the_answer_goes_to_the_topic_once(store: Store, publish: Topics) -> None:
    """The message is the block under `appendSystemContext` and nothing else."""
    hook.before_build({"response_topic": TOPIC, "messages": [{"role": "user"}]}, publish)
    assert publish.published == [(TOPIC, {"appendSystemContext": memory_block(store).text})]
    assert "] Deploys run on Tuesdays\n" in publish.published[0][1]["appendSystemContext"]


@pytest.mark.parametrize("encode", [json.dumps, lambda payload: json.dumps(payload).encode()])
def test_a_payload_may_be_json(encode: Callable[[object], str | bytes], store: Store, publish: Topics) -> None:
    """Text and bytes are read alike."""
    hook.before_build(encode({"response_topic": TOPIC}), publish)
    assert [topic for topic, _ in publish.published] == [TOPIC]


def test_two_requests_at_once_keep_apart(root: Path, git_repo: Callable[..., Path], publish: Topics) -> None:
    """A request that is answered while another is being published gets its own topic and its own memory."""
    (root).mkdir()
    (root / "config.toml").write_text("[memories]\nenabled = true\n")
    places = {name: git_repo(name) for name in ("first", "second")}
    for name, place in places.items():
        Store(root, place).remember(f"note of the {name}", scope="workspace")

    def interleaving(topic: str, message: dict[str, str]) -> None:
        if topic == "first":
            hook.before_build({"response_topic": "second"}, interleaving, cwd=places["second"])
        publish(topic, message)

    hook.before_build({"response_topic": "first"}, interleaving, cwd=places["first"])
    assert [topic for topic, _ in publish.published] == ["second", "first"]
    for topic, message in publish.published:
        assert f"note of the {topic}" in message["appendSystemContext"]
        assert message["appendSystemContext"].count("note of the") == 1


@pytest.mark.parametrize(
    "config",
    ["enabled = false", "enabled = true\nuse_memories = false", "enabled = true\nnotes_entries = 0"],
    ids=["not enabled", "not for prompts", "no room"],
)
def test_nothing_is_published_without_memory(config: str, store: Store, root: Path, publish: Topics) -> None:
    """No memory, or memory that is off, is no message and no line in the ledger: not an empty one."""
    (root / "config.toml").write_text(f"[memories]\n{config}\n")
    hook.before_build({"response_topic": TOPIC}, publish)
    assert publish.published == []
    assert not (root / "ledger").exists()


@pytest.mark.parametrize("topic", [None, 7, "", ["a"], {"a": "b"}])
def test_a_payload_without_a_topic_is_an_error_that_lists_keys(topic: object, root: Path, publish: Topics) -> None:
    """Keys help whoever wires the host; values are the conversation and stay out."""
    payload = {"messages": "my diary", "model": "m-1", **({} if topic is None else {"response_topic": topic})}
    with pytest.raises(HookError, match="response_topic") as caught:
        hook.before_build(payload, publish)
    assert "keys: messages, model" in str(caught.value)
    assert "diary" not in str(caught.value)
    assert "m-1" not in str(caught.value)
    assert publish.published == []


def test_memory_that_is_off_does_not_hide_a_broken_payload(root: Path, publish: Topics) -> None:
    """The contract is checked first."""
    with pytest.raises(HookError):
        hook.before_build({}, publish)


def test_keys_are_bounded_and_safe_to_print(root: Path, publish: Topics) -> None:
    """A hostile key can neither flood the error nor steer a terminal."""
    payload = {"k\x1b[2J\u202e" + "x" * 500: 1, **{f"key{number}": 0 for number in range(50)}}
    with pytest.raises(HookError) as caught:
        hook.before_build(payload, publish)
    text = str(caught.value)
    assert len(text) < 600
    assert "\x1b" not in text
    assert "key18 and 31 more" in text


@pytest.mark.parametrize(
    "payload",
    ["", "{", '{"diary": ', b"\xff\xfe", '"diary"', "[1]", "null", "[" * 100_000],
    ids=["empty", "open", "cut", "no UTF-8", "text", "list", "null", "deep"],
)
def test_a_payload_that_is_no_object_is_an_error(payload: str | bytes, root: Path, publish: Topics) -> None:
    """The error says so in one line and carries nothing of the payload, not even as its cause."""
    with pytest.raises(HookError, match="JSON") as caught:
        hook.before_build(payload, publish)
    assert "diary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_payload_of_ten_megabytes_is_answered(store: Store, publish: Topics) -> None:
    """A long conversation is no reason to lose the memory."""
    hook.before_build(json.dumps({"messages": "x" * 10_000_000, "response_topic": TOPIC}), publish)
    assert len(publish.published) == 1


def test_an_error_of_the_bus_is_passed_on(store: Store) -> None:
    """Whoever publishes decides what a failure means."""

    def broken(topic: str, message: dict[str, str]) -> None:
        raise ConnectionError(topic, message)

    with pytest.raises(ConnectionError):
        hook.before_build({"response_topic": TOPIC}, broken)


def test_a_remembered_note_reaches_the_prompt(store: Store, publish: Topics) -> None:
    """From `remember` to the answer, through a real store that the hook opens itself."""
    hook.before_build({"response_topic": TOPIC}, publish)
    ((topic, message),) = publish.published
    assert topic == TOPIC
    (note,) = store.list()
    assert f"- [{store.short_id(note.id)} global] Deploys run on Tuesdays" in message["appendSystemContext"]
    assert message["appendSystemContext"] == memory_block(store).text


def _seen(root: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Return what can be told of every file under the root (SQLite's own locking files beside the index apart)."""
    files = [path for path in root.rglob("*") if path.is_file() and path.suffix not in {".sqlite3-shm", ".sqlite3-wal"}]
    stats = {path: path.stat() for path in files}
    return {
        str(path.relative_to(root)): (stat.st_size, stat.st_mtime_ns, stat.st_ino, path.read_bytes())
        for path, stat in stats.items()
    }


@pytest.mark.parametrize("extra", [{}, {"session_id": "s-1"}], ids=["capsule", "with a conversation"])
def test_the_hook_writes_a_line_in_the_ledger_and_its_block(
    extra: dict[str, str], store: Store, root: Path, publish: Topics
) -> None:
    """Not a byte, a file or a time of anything else under the root changes; the block is there once."""
    store.close()
    before = _seen(root)
    for _ in range(3):
        hook.before_build({"response_topic": TOPIC, **extra}, publish)
    after = _seen(root)
    assert {name: after[name] for name in before} == before
    (month, block) = sorted(set(after) - set(before), key=lambda name: "blocks" in name)
    text = publish.published[0][1]["appendSystemContext"]
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert block == f"ledger/blocks/{digest}.md"
    assert after[block][3] == text.encode()
    lines = [json.loads(line) for line in after[month][3].splitlines()]
    assert [line["block"] for line in lines] == [digest] * 3
    assert {line["assistant"] for line in lines} == {"capsule"}
    assert {line["conversation"] for line in lines} == {extra.get("session_id")}
    assert lines[0]["head"]["n"] == 1
    (notes,) = (section for section in lines[0]["sections"] if section["name"] == "notes")
    assert notes["entries"] == [note.id for note in store.list()]


def test_a_ledger_that_cannot_be_written_does_not_break_the_prompt(store: Store, root: Path, publish: Topics) -> None:
    """Something else stands where the ledger should be: the answer is given all the same."""
    (root / "ledger").write_text("in the way")
    hook.before_build({"response_topic": TOPIC}, publish)
    assert len(publish.published) == 1


@pytest.mark.parametrize("key", hook.CONVERSATION_KEYS)
def test_a_named_conversation_keeps_its_block(key: str, store: Store, publish: Topics) -> None:
    """What is remembered in the middle of a conversation is told to the next one."""
    hook.before_build({"response_topic": TOPIC, key: "c-1"}, publish)
    store.remember("Deploys moved to Wednesdays")
    for name in ("c-1", "c-2"):
        hook.before_build({"response_topic": TOPIC, key: name}, publish)
    first, again, other = (message["appendSystemContext"] for _, message in publish.published)
    assert first == again
    assert "Wednesdays" not in again
    assert "Wednesdays" in other


@pytest.mark.parametrize("name", [7, "", "x" * 201, "a\nb", None, ["c"]])
def test_what_is_no_name_of_a_conversation_freezes_nothing(name: object, store: Store, publish: Topics) -> None:
    """A payload of any shape is answered with the present memory."""
    for text in ("one more", "and another"):
        hook.before_build({"response_topic": TOPIC, "session_id": name}, publish)
        store.remember(text)
    first, second = (message["appendSystemContext"] for _, message in publish.published)
    assert first != second


def test_an_unexpected_fault_tells_nothing_of_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch, publish: Topics
) -> None:
    """An error of ours may carry a note in its text: only its kind is said, and it has no cause to print."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError("Deploys run on Tuesdays")

    monkeypatch.setattr(hook, "inject", broken)
    with pytest.raises(HookError, match="ValueError") as caught:
        hook.before_build({"response_topic": TOPIC}, publish)
    assert "Tuesdays" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_search_for_the_prompt_follows_the_frozen_block(store: Store, root: Path, publish: Topics) -> None:
    """With `recall = "relevant"` hits for what the person said last stand behind the block, which stays the same."""
    (root / "config.toml").write_text('[memories]\nenabled = true\nrecall = "relevant"\nnotes_entries = 1\n')
    store.remember("The parser lives in src/parse.py")
    store.remember("Answer in short sentences")
    said = [{"role": "user", "content": [{"type": "text", "text": "where is the parser?"}]}, {"role": "assistant"}]
    for messages in (said, [{"role": "user", "content": "when do deploys run?"}], "no list"):
        hook.before_build({"response_topic": TOPIC, "session_id": "s", "messages": messages}, publish)
    parser, deploys, nothing = (message["appendSystemContext"] for _, message in publish.published)
    assert parser.startswith(nothing)
    assert deploys.startswith(nothing)
    assert "src/parse.py" in parser.removeprefix(nothing)
    assert "Tuesdays" in deploys.removeprefix(nothing)
    assert "src/parse.py" not in deploys
    assert "short sentences" not in parser.removeprefix(nothing)


def test_the_conversation_in_another_process_is_the_same(store: Store, publish: Topics) -> None:
    """Each prompt is a process of its own: the ledger tells it which block this conversation was given."""

    def ask(session: str) -> str:
        payload = json.dumps({"response_topic": TOPIC, "session_id": session}).encode()
        command = [sys.executable, "-m", "memory_magic", "hook", "capsule"]
        run = subprocess.run(command, input=payload, capture_output=True, check=True)
        return str(json.loads(run.stdout)["message"]["appendSystemContext"])

    first = ask("s-1")
    store.remember("Deploys moved to Wednesdays")
    assert ask("s-1") == first
    assert "Wednesdays" in ask("s-2")


def test_a_root_that_is_not_there_is_not_made(root: Path, publish: Topics) -> None:
    """Before the first note the hook is silent and leaves no trace."""
    hook.before_build({"response_topic": TOPIC}, publish)
    assert publish.published == []
    assert not root.exists()


def test_notes_of_another_repository_stay_there(
    root: Path, store: Store, git_repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, publish: Topics
) -> None:
    """In repository B a note of A is in no byte of the answer; in A it is labelled as the workspace's."""
    here, there = git_repo("a"), git_repo("b")
    Store(root, here).remember("Secret of project A", scope="workspace")
    monkeypatch.chdir(there)
    hook.before_build({"response_topic": "b"}, publish)
    monkeypatch.chdir(here)
    hook.before_build({"response_topic": "a"}, publish)
    (_, of_b), (_, of_a) = publish.published
    assert "project A" not in of_b["appendSystemContext"]
    assert " workspace] Secret of project A\n" in of_a["appendSystemContext"]
    assert "Deploys run" in of_a["appendSystemContext"]
    assert "Deploys run" in of_b["appendSystemContext"]


def test_a_confidential_project_gets_no_memory(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, publish: Topics
) -> None:
    """`memory = "off"` in the project's file silences the hook there."""
    (tmp_path / "work" / ".memory-magic.toml").write_text('memory = "off"\n')
    hook.before_build({"response_topic": TOPIC}, publish)
    assert publish.published == []


def test_the_process_form_answers_in_one_line(store: Store) -> None:
    """Payload on stdin, topic and message on stdout, in ASCII whatever the locale."""
    store.remember("深色主题")
    stdout = io.StringIO()
    hook.run_process(io.BytesIO(json.dumps({"response_topic": TOPIC}).encode()), stdout)
    line = stdout.getvalue()
    assert line.isascii()
    assert line.count("\n") == 1
    answer = json.loads(line)
    assert set(answer) == {"topic", "message"}
    assert answer["topic"] == TOPIC
    assert "深色主题" in answer["message"]["appendSystemContext"]


def test_the_process_form_is_silent_without_memory(root: Path) -> None:
    """Nothing to say is nothing on stdout."""
    stdout = io.StringIO()
    hook.run_process(io.StringIO(json.dumps({"response_topic": TOPIC})), stdout)
    assert stdout.getvalue() == ""


SCRIPT = """
import sys
before = set(sys.modules)
from memory_magic.prompt.hook import run_process
run_process(sys.stdin, sys.stdout)
names = {name.partition(".")[0] for name in set(sys.modules) - before}
foreign = sorted(names - set(sys.stdlib_module_names) - {"memory_magic"})
heavy = sorted(names & {"asyncio", "email", "http", "multiprocessing", "unittest"})
print(foreign, heavy, file=sys.stderr)
"""


def test_the_process_imports_the_standard_library_only(store: Store, tree: Path) -> None:
    """A prompt does not wait for a third-party package; with a hostile locale the bytes are the same."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    payload = json.dumps({"response_topic": TOPIC, "user": "naïve"}, ensure_ascii=False).encode()
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=payload, capture_output=True, check=True, env=environment
    )
    assert run.stderr.decode().strip() == "[] []"
    assert json.loads(run.stdout)["message"]["appendSystemContext"] == memory_block(store).text


def test_the_manifest_asks_for_what_the_design_says() -> None:
    """One event, one action, the right to append to a prompt, and reading two places."""
    manifest = hook.load_manifest()
    assert manifest == hook.Manifest(
        "prompt_builder.v1.hook.before_build",
        "on_before_prompt_build",
        allow_prompt_injection=True,
        fs_read=("cwd://", "home://"),
    )
    assert getattr(hook, manifest.action) is hook.before_build


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"home://"]', '"home://", "root://"]'),
        ("= true", "= false"),
        ("= true", "= 1"),
        ("= true", '= true\nfs_write = ["cwd://"]'),
        ("before_build", "after_build"),
        ("on_before_prompt_build", "eval"),
        ("[[interceptor]]", '[[interceptor]]\nevent = "x"\naction = "y"\n[[interceptor]]'),
        ("[capabilities]", "[env]\nx = 1\n[capabilities]"),
        ("[capabilities]", "[capabilities"),
    ],
)
def test_a_manifest_that_asks_for_anything_else_is_refused(old: str, new: str, tmp_path: Path, tree: Path) -> None:
    """More rights, fewer rights, another event, another action, or no TOML: each is an error."""
    text = Path(hook.__file__).with_name("manifest.toml").read_text("utf-8")
    assert old in text
    path = tmp_path / "manifest.toml"
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(HookError, match="manifest"):
        hook.load_manifest(path)


def test_a_missing_manifest_is_refused(tmp_path: Path) -> None:
    """Without its declaration the hook has no rights."""
    with pytest.raises(HookError, match="cannot be read"):
        hook.load_manifest(tmp_path / "none.toml")
