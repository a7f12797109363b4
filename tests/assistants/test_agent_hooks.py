"""The hooks of Claude Code and Codex: what a session is told, when, how much, and what happens when all goes wrong."""

from __future__ import annotations

import fcntl
import io
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_magic import Store
from memory_magic.assistants import agent_hooks, hook_sections
from memory_magic.assistants.agent_hooks import SECTIONS, Asked, answer, asked_for, run_process
from memory_magic.errors import HookError
from memory_magic.prompt.ledger import Ledger
from memory_magic.prompt.sources import gather
from memory_magic.settings import set_value
from memory_magic.store import ledger_files

GitRepo = Callable[..., Path]
NOTES = ("notes",)


@pytest.fixture
def on(root: Path) -> Path:
    """Give a root whose memory is on."""
    set_value(root, "enabled", value=True)
    return root


def payload(data: Path, name: str, cwd: Path | str, **more: Any) -> dict[str, Any]:
    """Return a real payload as it would come from *cwd*."""
    found: dict[str, Any] = json.loads((data / "hooks" / f"{name}.json").read_text("utf-8"))
    return {**found, "cwd": str(cwd), **more}


def told(fields: dict[str, Any], *sections: str, assistant: str = "claude-code") -> str:
    """Return the text that an agent is given."""
    said = answer(json.dumps(fields).encode(), Asked(assistant, sections or SECTIONS))
    return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""


def remember(root: Path, cwd: Path, *texts: str, scope: str | None = None) -> None:
    """Save notes."""
    with Store(root, cwd) as store:
        for text in texts:
            store.remember(text, scope=scope)


def process(
    *words: str, stdin: bytes, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook as the client does."""
    return subprocess.run(
        [sys.executable, "-m", "memory_magic", "hook", *words],
        input=stdin, capture_output=True, cwd=cwd, env=env, timeout=30, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("assistant", agent_hooks.NAMES)
def test_start_gives_the_block_and_the_next_prompt_nothing(
    on: Path, data: Path, tmp_path: Path, assistant: str
) -> None:
    """A session is told its memory once, in the client's own form; the prompts after it cost no token."""
    remember(on, tmp_path, "Deploys run on Tuesdays")
    start = payload(data, f"{assistant}-SessionStart", tmp_path)
    said = json.loads(answer(json.dumps(start), Asked(assistant, NOTES)))
    assert said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert set(said) == {"hookSpecificOutput"}
    assert set(said["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert "Deploys run on Tuesdays" in said["hookSpecificOutput"]["additionalContext"]
    prompt = payload(data, f"{assistant}-UserPromptSubmit", tmp_path)
    assert told(prompt, "notes", assistant=assistant) == ""


def test_prompt_gives_what_the_session_has_not_had(on: Path, data: Path, tmp_path: Path) -> None:
    """A session that began before connect is told its memory at its next prompt, and only once."""
    remember(on, tmp_path, "Deploys run on Tuesdays")
    prompt = payload(data, "claude-code-UserPromptSubmit", tmp_path)
    assert "Tuesdays" in told(prompt, "notes")
    assert told(prompt, "notes") == ""
    assert "Tuesdays" in told({**prompt, "session_id": "another"}, "notes")


def test_afterwards_only_what_changed_is_told(on: Path, data: Path, tmp_path: Path) -> None:
    """New notes are told alone, and of notes that hold no more the ids."""
    remember(on, tmp_path, "one stays", "two goes", "three is put right")
    prompt = payload(data, "claude-code-UserPromptSubmit", tmp_path)
    told(prompt, "notes")
    with Store(on, tmp_path) as store:
        store.remember("four is new")
        gone = store.retire("two goes", evidence="over").id
        later = store.revise("three is put right", "three is right", evidence="seen").id
    text = told(prompt, "notes")
    assert "four is new" in text
    assert "three is right" in text
    assert "one stays" not in text
    assert "two goes" not in text
    assert gone[:10] in text
    assert later[:10] in text
    assert told(prompt, "notes") == ""
    # what is told next builds on that, too
    remember(on, tmp_path, "five is newer")
    text = told(prompt, "notes")
    assert "five is newer" in text
    assert "four" not in text
    assert "hold no more" not in text


def test_note_that_is_only_pushed_out_is_not_called_gone(on: Path, data: Path, tmp_path: Path) -> None:
    """A note that newer ones push out of the block is still a note."""
    set_value(on, "notes_entries", value=2)
    remember(on, tmp_path, "first", "second")
    prompt = payload(data, "claude-code-UserPromptSubmit", tmp_path)
    told(prompt, "notes")
    remember(on, tmp_path, "third")
    text = told(prompt, "notes")
    assert "third" in text
    assert "hold no more" not in text


def test_memory_file_that_changed_replaces_the_section(on: Path, data: Path, tmp_path: Path) -> None:
    """A memory file that was edited is told whole again as the one that counts; an emptied one is said to be empty."""
    (on / "memory.md").write_text("I like polars.\n")
    prompt = payload(data, "claude-code-UserPromptSubmit", tmp_path)
    assert told(prompt, "personal").startswith("# Memory (personal)")
    assert told(prompt, "personal") == ""
    (on / "memory.md").write_text("I like pandas.\n")
    text = told(prompt, "personal")
    assert "replaces" in text
    assert "pandas" in text
    assert told(prompt, "personal") == ""
    (on / "memory.md").write_text("")
    assert "empty now" in told(prompt, "personal")
    assert told(prompt, "personal") == ""


def test_each_answer_stays_below_the_clients_limit(on: Path, data: Path, tmp_path: Path) -> None:
    """However much there is, a section and the whole block hold at most 9,500 characters and end as their rules say."""
    (on / "memory.md").write_text('I like "quotes" and 😀 and 漢字\n' * 3000)
    (tmp_path / ".memory-magic").mkdir()
    (tmp_path / ".memory-magic" / "memory.md").write_text("the project\n" * 5000)
    for scope in ("global",):
        (on / scope / "consolidated").mkdir(parents=True)
        (on / scope / "consolidated" / "memory_summary.md").write_text("a line of the summary\n" * 3000)
    remember(on, tmp_path, *(f"note {number} {'x' * 300}" for number in range(60)))
    start = payload(data, "claude-code-SessionStart", tmp_path)
    for sections in (*((one,) for one in SECTIONS), SECTIONS):
        said = answer(json.dumps(start), Asked("claude-code", sections))
        assert 7_000 < len(said.encode("utf-16-le")) // 2 <= hook_sections.LIMIT, sections
    whole = told(start)
    assert whole.count("[Memory truncated]") == 2
    assert "tokens of this summary omitted" in whole
    assert whole.endswith("</native_memory_recall>")
    for sections in (("personal",), ("project",)):
        assert told(start, *sections).endswith("[Memory truncated]")
    assert told(start, "notes").endswith("</native_memory_recall>")


def test_total_limit_of_the_settings_holds_for_the_sections_together(on: Path, data: Path, tmp_path: Path) -> None:
    """`total_token_limit` counts all sections, also where each goes by itself."""
    (on / "memory.md").write_text("I like polars. " * 400)
    remember(on, tmp_path, *(f"note {number} {'x' * 200}" for number in range(30)))
    set_value(on, "total_token_limit", value=2_000)
    start = payload(data, "claude-code-SessionStart", tmp_path)
    assert sum(len(told(start, one).encode()) for one in SECTIONS) <= 2_000 * 4
    assert told(start, "notes")


def test_every_answer_stands_in_the_ledger(on: Path, data: Path, tmp_path: Path) -> None:
    """Each text that an agent is given is a line of the ledger with its session, its ids and its bytes."""
    remember(on, tmp_path, "Deploys run on Tuesdays")
    start = payload(data, "codex-SessionStart", tmp_path)
    text = told(start, "notes", assistant="codex")
    line = next(Ledger(on).lines())
    assert (line.assistant, line.conversation, line.kind) == ("codex", start["session_id"], "injected")
    assert Ledger(on).block(line.block) == text
    assert len(line.sections[0]["entries"]) == 1


def test_another_repository_is_told_its_own_memory_only(on: Path, data: Path, git_repo: GitRepo) -> None:
    """A session that changes to another repository is told that one's notes whole, and no id of the first."""
    first, second = git_repo("first"), git_repo("second")
    remember(on, first, "secret of the first", scope="workspace")
    remember(on, second, "matter of the second", scope="workspace")
    prompt = payload(data, "claude-code-UserPromptSubmit", first)
    assert "secret of the first" in told(prompt, "notes")
    text = told({**prompt, "cwd": str(second)}, "notes")
    assert "matter of the second" in text
    assert "first" not in text
    assert "hold no more" not in text


def test_subagent_has_its_parents_scope(on: Path, data: Path, git_repo: GitRepo, tmp_path: Path) -> None:
    """A sub-agent that starts elsewhere sees what its parent saw, and has a conversation of its own."""
    repo = git_repo("repo")
    remember(on, repo, "matter of the workspace", scope="workspace")
    told(payload(data, "claude-code-SessionStart", repo), "notes")
    child = payload(data, "claude-code-SubagentStart", tmp_path)
    assert "matter of the workspace" in told(child, "notes")
    line = next(Ledger(on).lines())
    assert line.conversation == f"{child['session_id']}/a5f0c2d1"
    assert line.cwd == os.path.realpath(repo)
    orphan = {**child, "session_id": "unknown"}
    assert told(orphan, "notes") == ""


def test_purged_note_is_told_no_more(on: Path, data: Path, tmp_path: Path) -> None:
    """After a purge a session is told the present notes whole, and nothing of what is gone."""
    from memory_magic.store.access import Access
    from memory_magic.store.purge import run

    remember(on, tmp_path, "one stays here", "the code word is xylophone")
    prompt = payload(data, "claude-code-UserPromptSubmit", tmp_path)
    told(prompt, "notes")
    with Store(on, tmp_path) as store:
        access = Access(store)
        run.purge(access, run.request_for(access, "the code word is xylophone"))
    text = told(prompt, "notes")
    assert "one stays here" in text
    assert "xylophone" not in text


def test_memory_that_is_off_says_nothing(root: Path, data: Path, tmp_path: Path) -> None:
    """Without `enabled`, and without any root, the hook is silent and writes nothing."""
    start = payload(data, "claude-code-SessionStart", tmp_path)
    assert told(start) == ""
    assert not root.exists()
    remember(root, tmp_path, "a note")
    assert told(start) == ""
    assert not (root / "ledger").exists()


@pytest.mark.parametrize("event", ["Stop", "PreToolUse", "", None])
def test_other_events_get_no_answer(on: Path, data: Path, tmp_path: Path, event: object) -> None:
    """An event that brings no memory is answered with nothing."""
    remember(on, tmp_path, "a note")
    assert told(payload(data, "claude-code-SessionStart", tmp_path, hook_event_name=event)) == ""


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_every_start_gives_the_block(on: Path, data: Path, tmp_path: Path, source: str) -> None:
    """After a compaction the context is empty: whoever starts is told, whatever it had before."""
    remember(on, tmp_path, "a note")
    start = payload(data, "claude-code-SessionStart", tmp_path, source=source)
    assert told(start, "notes") == told(start, "notes") != ""


@pytest.mark.parametrize(
    "sent",
    [b"", b"no json", b"[]", b"{", b"\xff\xfe", b'{"hook_event_name": "SessionStart", "cwd": "\\u0000"}',
     b'{"hook_event_name": ["SessionStart"]}', b"[" * 100_000],
)  # fmt: skip
def test_broken_payload_never_blocks_the_agent(on: Path, sent: bytes) -> None:
    """Whatever is sent, the exit status is 0, and no word of it is repeated."""
    out, err = io.StringIO(), io.StringIO()
    assert run_process(["claude-code"], io.BytesIO(sent), out, err) == 0
    assert out.getvalue() == ""
    assert "Traceback" not in err.getvalue()


@pytest.mark.parametrize("words", [["--section", "all"], ["--section"], ["--loud"], ["--section=x"]])
def test_wrong_words_never_block_the_agent(root: Path, words: list[str]) -> None:
    """A slip in the configuration costs memory and no prompt; Claude Code takes exit status 2 for a veto."""
    err = io.StringIO()
    assert run_process(["claude-code", *words], io.BytesIO(b"{}"), io.StringIO(), err) == 0
    assert "memory-magic:" in err.getvalue()


def test_words_of_a_hook(tmp_path: Path) -> None:
    """Section and root are read with a space or an equals sign."""
    assert asked_for(["codex", "--section=notes", "--root", str(tmp_path)]) == Asked("codex", NOTES, str(tmp_path))
    with pytest.raises(HookError, match="no such section"):
        asked_for(["codex", "--section", "all"])


def test_problem_is_kept_for_status(on: Path, data: Path, tmp_path: Path) -> None:
    """What went wrong is kept at the root until somebody is shown it, without a word of the conversation."""
    run_process(["claude-code"], io.BytesIO(b'{"prompt": "my secret'), io.StringIO(), io.StringIO())
    said = ledger_files.take_problem(on)
    assert "Claude Code" in said
    assert "my secret" not in said
    assert ledger_files.take_problem(on) == ""


def test_process_answers_on_standard_output(on: Path, data: Path, tmp_path: Path) -> None:
    """The command that `connect` writes answers in a process of its own, in UTF-8 whatever the locale is."""
    remember(on, tmp_path, "größer 漢字")
    sent = json.dumps(payload(data, "claude-code-SessionStart", tmp_path)).encode()
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = process("claude-code", "--section", "notes", stdin=sent, cwd=tmp_path, env=env)
    assert done.returncode == 0
    assert "größer 漢字" in json.loads(done.stdout.decode())["hookSpecificOutput"]["additionalContext"]
    assert done.stderr == b""


def test_process_loads_the_standard_library_only(on: Path, data: Path, tmp_path: Path) -> None:
    """The hook's process loads neither a third-party package nor the table of commands."""
    remember(on, tmp_path, "a note")
    sent = json.dumps(payload(data, "claude-code-UserPromptSubmit", tmp_path))
    code = (
        "import io, sys\n"
        "before = set(sys.modules)\n"
        "from memory_magic.cli import main\n"
        f"sys.stdin = io.TextIOWrapper(io.BytesIO({sent.encode()!r}))\n"
        "main(['hook', 'claude-code'])\n"
        "own = {name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)\n"
        "heavy = {'argparse', 'asyncio', 'email', 'http'} & set(sys.modules)\n"
        "print(sorted(own), sorted(heavy), 'memory_magic.commands' in sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "a note" in done.stdout
    assert done.stderr.strip().endswith("['memory_magic'] [] False")


@pytest.mark.parametrize("missing", ["HOME", "both"])
def test_no_home_and_no_root(data: Path, tmp_path: Path, missing: str) -> None:
    """Without HOME, and where no folder can be the root, the hook is silent and the agent goes on."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_MAGIC")}
    del env["HOME"]
    if missing == "both":
        env["MEMORY_MAGIC_HOME"] = "/dev/null/nothing"
    else:
        env["MEMORY_MAGIC_HOME"] = str(tmp_path / "not made")
    sent = json.dumps(payload(data, "claude-code-SessionStart", tmp_path)).encode()
    done = process("claude-code", stdin=sent, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Traceback" not in done.stderr


def test_broken_index_is_no_obstacle(on: Path, data: Path, tmp_path: Path) -> None:
    """With a damaged index the notes come from the files."""
    remember(on, tmp_path, "a note that stands in a file")
    (on / "index.sqlite3").write_bytes(b"no database" * 1000)
    assert "stands in a file" in told(payload(data, "claude-code-SessionStart", tmp_path), "notes")


def test_locked_store_answers_in_time(on: Path, data: Path, tmp_path: Path) -> None:
    """While somebody holds the lock, the index and the ledger, the hook answers within its time with what it has."""
    (on / "memory.md").write_text("I like polars.\n")
    remember(on, tmp_path, "a note")
    sent = json.dumps(payload(data, "claude-code-SessionStart", tmp_path)).encode()
    other = sqlite3.connect(on / "index.sqlite3", isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    (on / "ledger").mkdir(mode=0o700)
    with (on / ".lock").open("a+b") as lock, (on / "ledger" / ".lock").open("a+b") as book:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.flock(book, fcntl.LOCK_EX)
        start = time.monotonic()
        done = process("claude-code", stdin=sent, cwd=tmp_path)
        took = time.monotonic() - start
    other.close()
    assert done.returncode == 0
    assert took < 9
    assert "I like polars" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_hanging_notes_leave_the_files(on: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When reading the notes takes too long, the files are told without them, and status hears of it."""
    (on / "memory.md").write_text("I like polars.\n")
    remember(on, tmp_path, "a note")
    real = gather

    def hangs(place: Any, store: Any = None) -> Any:
        if store is None:
            time.sleep(20)
        return real(place, store)

    monkeypatch.setattr("memory_magic.assistants.hook_sections.gather", hangs)
    monkeypatch.setattr(agent_hooks, "SECONDS", 0.3)
    out = io.StringIO()
    sent = json.dumps(payload(data, "claude-code-SessionStart", tmp_path)).encode()
    assert run_process(["claude-code"], io.BytesIO(sent), out, io.StringIO()) == 0
    assert "I like polars" in out.getvalue()
    assert "a note" not in out.getvalue()
    assert "could not be read within" in ledger_files.problem(on)


def test_deleted_directory_sees_global_memory(on: Path, data: Path, tmp_path: Path) -> None:
    """A session in a folder that is gone is told global memory."""
    remember(on, tmp_path, "a global note")
    assert "a global note" in told(payload(data, "claude-code-SessionStart", tmp_path / "gone"), "notes")


def test_relevant_notes_follow_the_prompt(on: Path, data: Path, tmp_path: Path) -> None:
    """With `recall = "relevant"` a prompt is answered with the notes that fit it."""
    set_value(on, "recall", value="relevant")
    set_value(on, "notes_entries", value=1)
    remember(on, tmp_path, "the deploy day is Tuesday", "a newer note on tea")
    text = told(payload(data, "claude-code-UserPromptSubmit", tmp_path), "notes")
    assert "the deploy day is Tuesday" in text
