"""The command line as a process: exit status, one line on standard error, pipes, encodings, and what it loads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from memory_magic import cli
from memory_magic.errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def memory(root: Path) -> Cli:
    """Run `memory-magic` as a process of its own, with nobody at the keyboard."""

    def run(*words: str, stdin: str | None = None, **options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "memory_magic", *words],
            capture_output=True,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            encoding="utf-8",
            env={**os.environ, **options},
            check=False,
            timeout=120,
        )

    return run


def test_main_job_from_remember_to_view(memory: Cli) -> None:
    """A note is saved, found, shown in the block and in the journal, all with exit status 0."""
    saved = memory("remember", "Deploys run on Tuesdays")
    assert saved.returncode == 0
    assert saved.stdout.startswith("Remembered in global: Deploys run on Tuesdays\n")
    assert saved.stderr == ""
    found = json.loads(memory("--json", "search", "deploys").stdout)
    assert found["hits"][0]["by"] == "command line"
    assert "Deploys run on Tuesdays" in memory("view").stdout
    assert "remember" in memory("journal").stdout
    one, two = memory("view", "--json"), memory("view", "--json", PYTHONHASHSEED="7")
    assert one.stdout == two.stdout


def test_expected_error_is_one_line_and_status_1(memory: Cli) -> None:
    """A note that is not there: status 1, nothing on standard output, one line on standard error with what to do."""
    done = memory("get", "nosuch")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("memory-magic: ")
    assert "Search for a word" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["rember", "x"],
        ["remember"],
        ["remember", "--pinn", "x"],
        ["retire", "x"],
        ["search", "-n", "many", "x"],
        ["--root"],
        ["--nonsense", "list"],
        ["hook"],
        ["hook", "elsewhere"],
        ["--json", "hook", "capsule"],
        ["config", "set", "enabled"],
    ],
)
def test_wrong_words_are_status_2(memory: Cli, words: list[str]) -> None:
    """Wrong use is status 2 and one line that says how it goes."""
    done = memory(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    if words != ["--root"]:
        assert done.stderr.count("\n") == 1


def test_no_command_shows_the_overview(memory: Cli) -> None:
    """Without a command the overview comes with status 2; --help gives it with status 0; --version says the version."""
    bare, asked = memory(), memory("--help")
    assert (bare.returncode, asked.returncode) == (2, 0)
    assert bare.stderr == asked.stdout
    for name in ("remember", "dashboard", "hook capsule", "--root"):
        assert name in asked.stdout
    assert memory("--version").stdout.startswith("memory-magic 0.")
    help_text = memory("remember", "--help")
    assert help_text.returncode == 0
    assert "usage: memory-magic remember" in help_text.stdout


def test_common_options_on_both_sides(memory: Cli, tmp_path: Path) -> None:
    """--root, --json and --scope are accepted before and after the command."""
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    first = json.loads(memory("--root", a, "--json", "--scope", "global", "remember", "x").stdout)
    second = json.loads(memory("remember", "x", f"--root={b}", "--json", "-s", "global").stdout)
    assert first["path"].startswith(a)
    assert second["path"].startswith(b)


def test_option_without_effect_is_said(memory: Cli) -> None:
    """A scope given to a command that has no use for it is accepted, and said."""
    done = memory("config", "get", "enabled", "--scope", "global")
    assert done.returncode == 0
    assert "no effect" in done.stderr


def test_question_without_a_keyboard_is_a_refusal(memory: Cli, git_repo: Callable[..., Path]) -> None:
    """With no standard input a question is refused, and the refusal names -y; with a yes piped in it goes ahead."""
    repo = git_repo("alpha")
    os.chdir(repo)
    refused = memory("init", "study")
    assert refused.returncode == 1
    assert "-y" in refused.stderr
    assert not (repo / ".memory-magic.toml").exists()
    assert memory("init", "study", stdin="n\n").returncode == 1
    assert memory("init", "study", stdin="y\n").returncode == 0
    assert (repo / ".memory-magic.toml").exists()


def test_secret_in_wrong_words_is_not_repeated(memory: Cli) -> None:
    """A token typed in the wrong place does not come back in the error."""
    for words in (["get", SECRET], [SECRET], ["search", "-n", SECRET, "x"], ["config", "set", SECRET, "x"]):
        done = memory(*words)
        assert done.returncode in {1, 2}
        assert SECRET not in done.stdout + done.stderr


def test_pipe_that_closes_early(memory: Cli, root: Path) -> None:
    """`memory-magic journal | head` ends quietly."""
    memory("remember", "x" * 60_000)
    command = f"{sys.executable} -m memory_magic list | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() in {"0", "141"}


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}]
)
def test_any_locale_shows_any_script(memory: Cli, variables: dict[str, str]) -> None:
    """A terminal that cannot show a character shows its escape; nothing breaks, and the file is right."""
    memory("remember", "图表默认使用深色主题")
    done = memory("list", **variables)
    assert done.returncode == 0
    assert "图表" in done.stdout or "\\u56fe\\u8868" in done.stdout


def test_bytes_that_are_no_text(memory: Cli, root: Path) -> None:
    """An argument that is not UTF-8 is wrong use, not a traceback."""
    done = subprocess.run(
        [sys.executable.encode(), b"-m", b"memory_magic", b"remember", b"caf\xe9"], capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"not valid UTF-8" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="rights as on POSIX")
def test_root_that_cannot_be_made(memory: Cli, tmp_path: Path) -> None:
    """A file in the root's place is one line with status 1."""
    file = tmp_path / "file"
    file.write_text("")
    done = memory("--root", str(file), "remember", "x")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_doctor_and_verify_tell_by_status(memory: Cli) -> None:
    """Doctor is status 1 when it found something, 0 otherwise."""
    memory("remember", "x")
    assert memory("doctor").returncode == 0
    assert memory("doctor", MEMORY_MAGIC_ENABLD="1").returncode == 1
    assert memory("verify").returncode == 0


def test_hook_answers_on_the_topic_or_not_at_all(memory: Cli) -> None:
    """The hook publishes the block when memory is on, is silent when it is off, and says what a payload lacks."""
    memory("remember", "Deploys run on Tuesdays")
    payload = json.dumps({"response_topic": "t.1"})
    assert memory("hook", "capsule", stdin=payload).stdout == ""
    memory("config", "set", "enabled", "on")
    answer = json.loads(memory("hook", "capsule", stdin=payload).stdout)
    assert answer["topic"] == "t.1"
    assert "Deploys run on Tuesdays" in answer["message"]["appendSystemContext"]
    lacking = memory("hook", "capsule", stdin='{"prompt": "my secret words"}')
    assert lacking.returncode == 1
    assert "response_topic" in lacking.stderr
    assert "my secret words" not in lacking.stderr


def test_hook_does_not_load_the_commands(root: Path) -> None:
    """On the way to the hook neither the table of commands nor any third-party package is imported."""
    code = (
        "import sys, io; before = set(sys.modules); from memory_magic.cli import main;"
        "sys.stdin = io.TextIOWrapper(io.BytesIO(b'{\"response_topic\": \"t\"}')); status = main(['hook', 'capsule']);"
        "new = set(sys.modules) - before;"
        "print(status, 'memory_magic.commands' in new, 'argparse' in new,"
        " sorted({n.partition('.')[0] for n in new} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 False False ['memory_magic']"


def test_package_import_is_light() -> None:
    """`import memory_magic` imports nothing but itself; its public names resolve when asked for."""
    code = (
        "import sys; before = set(sys.modules); import memory_magic; new = set(sys.modules) - before;"
        "print(sorted(new)); print(memory_magic.Store.__name__, memory_magic.memory_block.__name__,"
        " memory_magic.__version__[:2], 'Store' in dir(memory_magic), hasattr(memory_magic, 'nonsense'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['memory_magic']\nStore memory_block 0. True False\n"


def test_main_in_process(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`main` takes words, prints, and returns the status; the terminal's width cuts long lines."""
    assert cli.main(["remember", "x" * 200]) == 0
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    assert cli.main(["list"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60
    assert cli.main(["get", "zzzzzz"]) == 1
    assert cli.main(["list", "--help"]) == 0
    assert cli.main(["rember"]) == 2
    assert cli.main([]) == 2
    assert cli.main(["--version"]) == 0
    assert cli.main(["hook"]) == 2


def test_interrupt_is_no_traceback(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends with status 130 and one word."""

    def interrupted(words: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_run", interrupted)
    assert cli.main(["list"]) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_dashboard_without_its_extra(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the dashboard's packages the error names the line that installs them."""
    monkeypatch.setitem(sys.modules, "memory_dashboard.server", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memory-magic\[dashboard\]'"):
        cli._serve(root, cwd=None, port=0, browser=False)


@pytest.mark.parametrize(
    "words", ["list >&-", "list --json >&-", "--help >&-", "hook capsule <&-", "list <&- >&- 2>&-"]
)
def test_closed_streams_leave_no_traceback(root: Path, words: str) -> None:
    """With standard input or output closed a command is silent, or says one line."""
    script = f"{sys.executable} -m memory_magic {words}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 1
    assert done.returncode == (1 if "hook" in words else 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110 -- Path is for types here
def test_full_output_does_not_sound_as_if_nothing_was_saved(root: Path, memory: Cli) -> None:
    """When the answer cannot be printed, the error says that the command itself is done."""
    script = f"{sys.executable} -m memory_magic remember x >/dev/full"
    done = subprocess.run(["sh", "-c", script], capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "the command is done, but its answer could not be printed" in done.stderr
    assert len(json.loads(memory("list", "--json").stdout)["notes"]) == 1


def test_deleted_directory_is_said(root: Path, tmp_path: Path) -> None:
    """In a directory that was deleted the error says so and what to do."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && {sys.executable} -m memory_magic list"
    done = subprocess.run(["sh", "-c", script], capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 1
    assert "does not exist any more. Change to one that exists" in done.stderr


def test_hints_are_typed_as_the_command_line_is(root: Path, memory: Cli) -> None:
    """On the command line no hint names a magic."""
    done = memory("remember", "-s", "workspace", "x")
    assert "memory-magic init NAME" in done.stderr + memory("list").stdout
    assert "%memory" not in done.stderr + memory("list").stdout
