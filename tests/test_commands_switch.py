"""Off, on and pause: what each writes, whom it concerns, what it leaves alone, and what status says of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic import commands, commands_switch, settings
from memory_magic.commands_base import Context, Outcome
from memory_magic.errors import MemoryMagicError, MemoryOffError, SettingError
from memory_magic.prompt.hook import before_build
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOK = "%memory"
VARIABLE = "MEMORY_MAGIC_ENABLED"
ROWS = {row.name: row for row in commands_switch.ROWS}
Run = Callable[..., Outcome]


@pytest.fixture
def run(root: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command without printing; the variable that a pause sets is put back after the test."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr(commands_switch, "_before_pause", [])
    root.mkdir(mode=0o700)

    def runner(name: str, *words: str, **options: Any) -> Outcome:
        context = Context(**options)
        try:
            return commands.run_words(ROWS.get(name) or commands.find(name), words, context)[0]
        finally:
            context.close()

    return runner


def said(outcome: Outcome) -> str:
    """Return what a person reads after a switch."""
    return commands_switch.PRINTERS["switched"](outcome, None, "memory-magic")


def block() -> str:
    """Return what the hook puts into a prompt here, as a new process would."""
    answers: list[dict[str, str]] = []
    before_build({"response_topic": "t"}, lambda _, message: answers.append(message))
    return answers[0]["appendSystemContext"] if answers else ""


def where(run: Run, **options: Any) -> tuple[bool, str]:
    """Return whether status says that notes reach a prompt, and its word for why not."""
    told = run("status", **options).data["injection"]
    assert told["text"].startswith("Memory is ")
    return told["on"], told["why"]


# -- off and on -------------------------------------------------------------------------------------------------------


def test_on_and_off_write_the_setting(run: Run, root: Path) -> None:
    """The switch is `enabled` in config.toml; the hook obeys at its next prompt; the reply says whom it concerns."""
    run("remember", "Use tabs")
    assert block() == ""
    outcome = run("on")
    assert (root / "config.toml").read_text() == "[memories]\nenabled = true\n"
    assert outcome.data == {
        "enabled": True,
        "paused": False,
        "project": None,
        "path": str(root / "config.toml"),
        "changed": True,
    }
    assert said(outcome).startswith("Memory is on: assistants that are connected to this store")
    assert "Use tabs" in block()
    assert where(run) == (True, "on")
    outcome = run("off")
    assert (root / "config.toml").read_text() == "[memories]\nenabled = false\n"
    assert (outcome.status, outcome.data["changed"]) == (0, True)
    for words in ("Memory is off", str(root), "keeps what it was told", "work as before", "saved in"):
        assert words in said(outcome)
    assert block() == ""
    assert where(run) == (False, "off")
    assert run("off").data["changed"] is False


def test_the_environment_goes_before_and_that_is_said(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the variable says otherwise, the file is written, the reply says what holds here, and the status is 1."""
    monkeypatch.setenv(VARIABLE, "on")
    outcome = run("off")
    assert outcome.status == 1
    assert f"Still on here: {VARIABLE}" in said(outcome)
    assert "%memory pause" in said(run("off", prog=NOTEBOOK))
    monkeypatch.setenv(VARIABLE, "off")
    outcome = run("on")
    assert outcome.status == 1
    assert "Memory is switched on, but not here" in said(outcome)
    assert settings.load(root, {}).enabled is True
    assert where(run) == (False, "environment")


def test_off_works_whatever_else_is_wrong(run: Run, root: Path) -> None:
    """An unknown key does not stop it; a file that nobody can read means off, and the error says so."""
    (root / "config.toml").write_text("[memories]\nenabled = true\nnonsense = 1\n")
    assert run("off").status == 0
    assert "enabled = false\nnonsense = 1" in (root / "config.toml").read_text()
    (root / "config.toml").write_text("[memories\n")
    with pytest.raises(SettingError, match="memory is off as long as the settings file is not valid TOML"):
        run("off")
    (root / "config.toml").write_text("memories = { recall = 'off' }\n")
    with pytest.raises(SettingError, match="without touching other lines"):
        run("off")


def test_on_with_a_wrong_setting_is_kept_and_denied(run: Run, root: Path) -> None:
    """Unknown means deny: the wish is saved, memory stays off until the file is put right, and the status is 1."""
    (root / "config.toml").write_text("[memories]\nnotes_entries = 9999\n")
    outcome = run("on")
    assert outcome.status == 1
    assert "Off until the settings are put right: notes_entries = 9999" in said(outcome)
    assert where(run) == (False, "broken")
    run("remember", "Use tabs")
    assert block() == ""
    run("config", "set", "notes_entries", "9")
    assert where(run) == (True, "on")
    assert "Use tabs" in block()


def test_on_says_what_else_keeps_prompts_free(run: Run) -> None:
    """`use_memories` off and a session switch off are named, not silently overruled."""
    run("config", "set", "use_memories", "off")
    run("config", "set", "generate_memories", "off")
    assert "use_memories is off" in said(run("on"))
    assert where(run) == (False, "use_memories")
    assert "not extracted" in run("status").data["injection"]["text"]


def test_a_warning_is_one_line_for_commands_that_went_on(run: Run, root: Path) -> None:
    """Every command but those whose answer says it gets one line: what is wrong, what is used instead."""
    context = Context()
    assert commands_switch.warning("list", context) == ""
    (root / "config.toml").write_text("[memories]\nnotes_entries = 9999\nx = 1\n")
    line = commands_switch.warning("list", context)
    assert line.startswith("note: ")
    assert line.count("\n") == 0
    for words in ("x = 1", "(and 1 more)", "default values are used", "memory is off", "memory-magic doctor"):
        assert words in line
    assert commands_switch.warning("doctor", context) == commands_switch.warning("config", context) == ""
    assert run("list").status == 0


# -- pause ------------------------------------------------------------------------------------------------------------


def test_pause_is_for_this_kernel_and_its_children(run: Run, root: Path) -> None:
    """Hook, capture and extraction find memory off here and in what this kernel starts; the file stays as it is."""
    run("on")
    run("remember", "Use tabs")
    kept = (root / "config.toml").read_text()
    outcome = run("pause", prog=NOTEBOOK)
    assert outcome.data["paused"] is True
    assert "restarted" in said(outcome)
    assert "Not reached: assistants outside" in said(outcome)
    assert (root / "config.toml").read_text() == kept
    assert block() == ""
    assert where(run, prog=NOTEBOOK) == (False, "paused")
    assert "Elsewhere it is on" in run("status", prog=NOTEBOOK).data["injection"]["text"]
    assert "paused in this notebook" in run("view").extra["notice"]
    with pytest.raises(MemoryOffError, match="paused"):
        run("run", "--session", "x.jsonl")
    assert run("remember", "Use spaces").data["status"] == "saved"
    code = "import sys; from memory_magic.cli import main; sys.exit(main(['status', '--json']))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(child.stdout)["injection"]["why"] == "paused"
    assert run("pause", prog=NOTEBOOK).data["changed"] is False


@pytest.mark.parametrize("before", [None, "on"])
def test_on_ends_a_pause_and_puts_the_variable_back(
    run: Run, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """What the variable was before the pause it is again, set or not."""
    if before is not None:
        monkeypatch.setenv(VARIABLE, before)
    run("pause", prog=NOTEBOOK)
    run("pause", prog=NOTEBOOK)
    assert os.environ[VARIABLE] == "paused"
    outcome = run("on", prog=NOTEBOOK)
    assert os.environ.get(VARIABLE) == before
    assert outcome.status == 0
    assert "The pause of this notebook is over." in said(outcome)
    assert where(run) == (True, "on")


def test_a_terminal_cannot_pause_nor_end_a_pause(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the command line pause says what to do instead; `on` below a paused notebook says where the pause ends."""
    with pytest.raises(MemoryMagicError, match="pause needs a notebook") as caught:
        run("pause")
    assert caught.value.exit_status == 1
    for words in ("memory-magic off --project", "memory-magic off", f"{VARIABLE}=off"):
        assert words in caught.value.hint
    assert VARIABLE not in os.environ
    monkeypatch.setenv(VARIABLE, "paused")
    outcome = run("on")
    assert outcome.status == 1
    assert "type %memory on in the notebook" in said(outcome)
    assert "started from" in run("status").data["injection"]["text"]


# -- one project ------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(run: Run, git_repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a repository with one note, memory switched on, and the present directory below its top."""
    place = git_repo("secret")
    run("on")
    (place / "deep").mkdir()
    monkeypatch.chdir(place / "deep")
    run("remember", "Use tabs")
    return place


def test_a_confidential_project_is_off_for_all_but_the_person(run: Run, project: Path) -> None:
    """One line in the project's own file: no block, no extraction; what a person types is kept."""
    assert block()
    outcome = run("off", "--project", "-y")
    file = project / ".memory-magic.toml"
    assert file.read_text().splitlines()[-1] == 'memory = "off"'
    assert (outcome.data["project"], outcome.data["path"], outcome.data["changed"]) == ("off", str(file), True)
    assert block() == ""
    assert where(run) == (False, "project")
    assert str(file) in run("status").data["injection"]["text"]
    assert run("view").extra["notice"] == "not sent: memory is off in this project"
    assert run("remember", "Use spaces").data["status"] == "saved"
    assert run("search", "spaces").data["hits"]
    assert Store(cwd=project / "deep").is_off_here
    assert run("off", "--project", "-y").data["changed"] is False
    assert "Still" not in said(run("on"))
    assert "memory-magic on --project takes that out" in said(run("on"))


def test_on_takes_the_line_out_again(run: Run, project: Path) -> None:
    """A file that we made goes, a file of the person's loses one line, and memory is back."""
    file = project / ".memory-magic.toml"
    run("off", "--project", "-y")
    assert run("on", "--project", "-y").data["project"] == "on"
    assert not file.exists()
    assert block()
    file.write_text('label = "Lab" # ours\nid = "abc"\n')
    run("off", "--project", "-y")
    assert file.read_text() == 'label = "Lab" # ours\nid = "abc"\nmemory = "off"\n'
    assert "gone from" in said(run("on", "--project", "-y"))
    assert file.read_text() == 'label = "Lab" # ours\nid = "abc"\n'
    assert "Nothing to do" in said(run("on", "--project", "-y"))


def test_each_of_both_asks_first(run: Run, project: Path) -> None:
    """Without -y a person is asked, with the path; a no changes nothing, and nobody there is a no."""
    asked: list[str] = []

    def refuse(question: str) -> bool:
        asked.append(question)
        return False

    with pytest.raises(MemoryMagicError, match="you said no"):
        run("off", "--project", ask=refuse)
    assert not (project / ".memory-magic.toml").exists()
    run("off", "--project", "-y")
    with pytest.raises(MemoryMagicError, match="you said no"):
        run("on", "--project", ask=refuse)
    with pytest.raises(MemoryMagicError, match="nobody to ask"):
        run("on", "--project")
    assert all(str(project / ".memory-magic.toml") in question for question in asked)
    assert where(run) == (False, "project")


def test_a_file_further_up_is_named_and_left(run: Run, project: Path) -> None:
    """What a folder above the project says is not the project's to change."""
    above = project.parent / ".memory-magic.toml"
    above.write_text('memory = "off"\n')
    outcome = run("on", "--project", "-y")
    assert (outcome.data["project"], outcome.data["changed"]) == ("off", False)
    assert str(above) in said(outcome)
    assert above.read_text() == 'memory = "off"\n'


def test_a_file_that_cannot_be_understood_means_off_and_is_not_edited(run: Run, project: Path) -> None:
    """It may well say off: nothing is sent, doctor names it, and no switch writes into it."""
    file = project / ".memory-magic.toml"
    file.write_text("memory = \n")
    assert block() == ""
    assert where(run) == (False, "project")
    assert "not valid TOML" in said(run("off", "--project", "-y"))
    with pytest.raises(SettingError, match="cannot be changed"):
        run("on", "--project", "-y")
    assert file.read_text() == "memory = \n"
    findings = run("doctor")
    assert findings.status == 1
    assert [(one["kind"], one["where"]) for one in findings.data["findings"]] == [("project", str(file))]


def test_a_link_is_not_followed_with_a_pen(run: Run, project: Path, tmp_path: Path) -> None:
    """A repository of strangers may hold a link to a file of one's own."""
    mine = tmp_path / "mine.toml"
    mine.write_text('label = "x"\n')
    (project / ".memory-magic.toml").symlink_to(mine)
    with pytest.raises(SettingError, match="is a link"):
        run("off", "--project", "-y")
    mine.write_text('memory = "off"\n')
    with pytest.raises(SettingError, match="is a link"):
        run("on", "--project", "-y")
    assert mine.read_text() == 'memory = "off"\n'


def test_home_is_no_project(run: Run, home: Path) -> None:
    """Home and the top of the file system are never a project: one line, nothing written."""
    with pytest.raises(MemoryMagicError, match="belongs to no project"):
        run("off", "--project", "-y", cwd=home)
    assert not (home / ".memory-magic.toml").exists()


def test_on_in_a_project_says_that_memory_is_off_altogether(run: Run, project: Path) -> None:
    """The line is gone, and the reply does not pretend that notes flow now."""
    run("off", "--project", "-y")
    run("off")
    assert "Memory as a whole is off" in said(run("on", "--project", "-y"))
    assert not (project / ".memory-magic.toml").exists()
