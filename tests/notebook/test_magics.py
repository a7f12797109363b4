"""The magics in a real IPython shell: words as typed, replies, results, completion, loading and unloading."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import memory_magic
from memory_magic import commands_print, commands_switch
from memory_magic.commands import COMMANDS
from memory_magic.notebook.display import MemoryResult

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
HEAVY = (
    "pandas",
    "panel",
    "ipywidgets",
    "jinja2",
    "tqdm",
    "snowballstemmer",
    "filelock",
    "msgspec",
    "openai",
    "pydantic_ai",
)


@pytest.fixture
def shell(root: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[InteractiveShell]:
    """Give a shell with the extension loaded, on a store of its own."""
    one: InteractiveShell = InteractiveShell.instance()
    one.run_line_magic("load_ext", "memory_magic")
    capsys.readouterr()
    yield one
    one.run_line_magic("unload_ext", "memory_magic")


def texts(shell: InteractiveShell) -> list[str]:
    """Return the texts of all notes, as the list shows them."""
    return [note["text"] for note in shell.run_line_magic("memory", "list").data["notes"]]


def test_load_says_whether_anything_is_sent(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Loading prints one line: memory is off, and where the help is; loading again prints nothing."""
    shell = InteractiveShell.instance()
    memory_magic.load_ipython_extension(shell)
    assert capsys.readouterr().out.startswith("memory-magic is off: nothing is put into a prompt.")
    memory_magic.load_ipython_extension(shell)
    assert capsys.readouterr().out == ""
    assert not root.exists()
    memory_magic.unload_ipython_extension(shell)


def test_load_survives_a_broken_settings_file(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A settings file that cannot be read is one line; the magics are there to mend it."""
    root.mkdir()
    (root / "config.toml").write_text("[memories]\nenabled = maybe\n")
    shell = InteractiveShell.instance()
    memory_magic.load_ipython_extension(shell)
    assert "not valid TOML" in capsys.readouterr().err
    assert "memory" in shell.magics_manager.magics["line"]
    memory_magic.unload_ipython_extension(shell)


GREETINGS = [
    ("enabled = true", "", "memory-magic is on: connected assistants get your notes."),
    ("enabled = true", 'memory = "off"', "memory-magic is off in this project:"),
    ("enabled = true\nuse_memories = false", "", "memory-magic is on, but use_memories is off:"),
    ("enabled = true\nnonsense = 1", "", "memory-magic is off until the settings are put right:"),
]


@pytest.mark.parametrize(("config", "project", "greeting"), GREETINGS)
def test_the_greeting_is_true_here(
    root: Path, capsys: pytest.CaptureFixture[str], config: str, project: str, greeting: str
) -> None:
    """Settings, the project's file and a slip in the settings are told apart, in one line on standard output."""
    root.mkdir()
    (root / "config.toml").write_text(f"[memories]\n{config}\n")
    if project:
        Path(".memory-magic.toml").write_text(project)
    shell = InteractiveShell.instance()
    memory_magic.load_ipython_extension(shell)
    captured = capsys.readouterr()
    assert captured.out.startswith(greeting)
    assert captured.out.count("\n") == 1
    assert captured.err.count("\n") == ("nonsense" in config)
    memory_magic.unload_ipython_extension(shell)


def test_a_pause_lasts_until_on_and_over_a_reload(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`%memory pause` writes nothing and is told by status and by the next greeting; `%memory on` ends it."""
    monkeypatch.setenv("MEMORY_MAGIC_ENABLED", "")
    monkeypatch.delenv("MEMORY_MAGIC_ENABLED")
    for row in commands_switch.ROWS:
        monkeypatch.setitem(COMMANDS, row.name, row)
    for kind, printer in commands_switch.PRINTERS.items():
        monkeypatch.setitem(commands_print.PRINTERS, kind, printer)
    assert shell.run_line_magic("memory", "on") is None
    assert shell.run_line_magic("memory", "pause") is None
    assert "Memory is paused in this notebook" in capsys.readouterr().out
    assert shell.run_line_magic("memory", "status").data["injection"]["why"] == "paused"
    shell.run_cell("# typed while paused")
    assert texts(shell) == []
    memory_magic.unload_ipython_extension(shell)
    memory_magic.load_ipython_extension(shell)
    assert "memory-magic is paused in this notebook" in capsys.readouterr().out
    shell.run_line_magic("memory", "on")
    assert shell.run_line_magic("memory", "status").data["injection"]["on"] is True


def test_a_wrong_setting_is_one_warning_and_the_command_goes_on(
    shell: InteractiveShell, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer comes with the default, and beside it one line that says so."""
    root.mkdir(exist_ok=True)
    (root / "config.toml").write_text("[memories]\nnotes_entries = 9999\n")
    shell.run_line_magic("remember", "Use tabs")
    captured = capsys.readouterr()
    assert "Remembered in global" in captured.out
    assert captured.err.count("\n") == 1
    assert "notes_entries = 9999 is out of range" in captured.err
    assert texts(shell) == ["Use tabs"]


def test_unload_takes_everything_away(root: Path) -> None:
    """After unloading no magic, completion, event or transformer of ours is left; unloading again does nothing."""
    shell = InteractiveShell.instance()
    before = (
        {kind: set(names) for kind, names in shell.magics_manager.magics.items()},
        list(shell.events.callbacks["post_run_cell"]),
        list(shell.input_transformers_cleanup),
        dict(shell.strdispatchers["complete_command"].strs),
    )
    memory_magic.load_ipython_extension(shell)
    assert "memory_search" in shell.magics_manager.magics["line"]
    memory_magic.unload_ipython_extension(shell)
    memory_magic.unload_ipython_extension(shell)
    after = (
        {kind: set(names) for kind, names in shell.magics_manager.magics.items()},
        list(shell.events.callbacks["post_run_cell"]),
        list(shell.input_transformers_cleanup),
        dict(shell.strdispatchers["complete_command"].strs),
    )
    assert before == after


def test_loading_is_light() -> None:
    """`%load_ext memory_magic` in a fresh IPython imports no third-party package beside IPython's own."""
    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell; s = InteractiveShell.instance();"
        "before = set(sys.modules); s.run_line_magic('load_ext', 'memory_magic');"
        "new = {n.partition('.')[0] for n in set(sys.modules) - before} - set(sys.stdlib_module_names);"
        f"print(sorted(new), [n for n in {HEAVY!r} if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['IPython', 'memory_magic'] []"


@pytest.mark.parametrize(
    "text",
    [
        "don't use tabs",
        'the "deploy  day" is $HOME {x} {{y}} %s \\n C:\\temp',
        "100 % of `make test` -- really",
        "图表默认使用深色主题",
        "'lone",
        "Is it Tuesday?",
        "why?",
        "run pytest -n 3 --pin",
    ],
)
def test_text_is_taken_as_typed(shell: InteractiveShell, text: str) -> None:
    """Quotes, `$`, braces, question marks and later options are the note's own; IPython expands nothing."""
    shell.user_ns["x"] = "EXPANDED"
    assert shell.run_cell(f"%remember {text}").success
    assert shell.run_cell(f"%memory remember {text}").success
    assert texts(shell) == [text]


def test_remember_replies_wherever_it_stands(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """The reply is shown at once, also in the middle of a cell, and names the scope."""
    shell.run_cell("%remember one\n%remember -s global --pin two\n1 + 1")
    out = capsys.readouterr().out
    assert "Remembered in global: one" in out
    assert "Remembered in global and pinned: two" in out
    assert texts(shell) == ["two", "one"]


def test_cell_is_one_note_of_several_lines(shell: InteractiveShell) -> None:
    """`%%remember` takes the cell as one note, with its line breaks; a line of text in front belongs to it."""
    shell.run_cell("%%remember --pin\nTwo rules:\n\n- don't push\n  - {ever}?\n")
    shell.run_cell("%%remember A title\nand a body\n")
    assert texts(shell) == ["Two rules:\n\n- don't push\n  - {ever}?", "A title\nand a body"]


def test_search_returns_a_result(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """A search shows as Out, can be assigned, holds JSON data and a frame; a question mark at its end is no help."""
    shell.run_cell("%remember Deploys run on Tuesdays")
    shell.run_cell("hits = %memory_search -n 3 deploys")
    result = shell.user_ns["hits"]
    assert isinstance(result, MemoryResult)
    assert result.data["hits"][0]["text"] == "Deploys run on Tuesdays"
    assert list(result.df["text"]) == ["Deploys run on Tuesdays"]
    assert result.df.index.name == "id"
    capsys.readouterr()
    shell.run_cell("%memory_search tuesdays?")
    assert "1 note for tuesdays? in global" in capsys.readouterr().out
    shell.run_cell("other = %memory_search Tuesdays?")
    assert shell.user_ns["other"].data["query"] == "Tuesdays?"


def test_question_marks_elsewhere_are_left_alone(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """`%remember?` stays a request for help, and a string that looks like a magic stays a string."""
    shell.run_cell("text = '''\n%remember what?\n'''")
    assert shell.user_ns["text"] == "\n%remember what?\n"
    shell.run_cell("%remember?")
    assert "Save one note" in capsys.readouterr().out
    assert texts(shell) == []


def test_help_is_good_documentation(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """`%memory?` lists each command with its summary, the short forms and what is not for memory."""
    shell.run_cell("%memory?")
    out = capsys.readouterr().out
    for name in COMMANDS:
        assert f"%memory {name}" in out
    for word in ("%%remember", "%memory_view", ".df", "Not for memory: secrets", "workspace"):
        assert word in out
    shell.run_cell("%memory")
    assert "%memory remember" in capsys.readouterr().out
    shell.run_cell("%memory help")
    assert "%memory remember" in capsys.readouterr().out
    shell.run_cell("%memory retire --help")
    assert "usage: %memory retire" in capsys.readouterr().out
    shell.run_cell("%memory_search --help")
    assert "usage: %memory_search" in capsys.readouterr().out


WRONG = [
    "%memory rember x",
    "%memory get nosuchnote",
    "%memory retire x",
    "%memory revise one two three",
    "%memory config set enabled maybe",
    "%memory config set nonsense 1",
    "%memory run",
    "%memory run --session /nowhere/at/all",
    "%remember",
    "%remember --pinn text",
    "%remember -s",
    "%remember -s nowhere text",
    "%remember -s workspace text",
    "%remember -s ../../etc text",
    "%%remember\n\n",
    "%memory_search",
    "%memory_search -n zero x",
    "%memory_view --root",
    "%memory --root '/dev/null/x' list",
]


@pytest.mark.parametrize("cell", WRONG)
def test_wrong_use_is_one_line(shell: InteractiveShell, capsys: pytest.CaptureFixture[str], cell: str) -> None:
    """Wrong use gives one friendly line on standard error, no traceback, and the cell does not fail."""
    result = shell.run_cell(cell)
    captured = capsys.readouterr()
    assert result.success
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert len(captured.err) > 20


def test_trouble_with_the_disk_is_one_line(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An OSError that nobody foresaw is one line as well."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "/somewhere/MEMORY.md")

    monkeypatch.setattr("memory_magic.store.store.Store.remember", full)
    shell.run_cell("%remember x")
    assert capsys.readouterr().err == "No space left on device: /somewhere/MEMORY.md\n"


def test_secret_is_not_echoed(shell: InteractiveShell, capsys: pytest.CaptureFixture[str], root: Path) -> None:
    """A secret in a note, a query or a slip comes back nowhere."""
    shell.run_cell(f"%remember the token is {SECRET}")
    shell.run_cell(f"%memory_search {SECRET}")
    shell.run_cell(f"%memory get {SECRET}")
    shell.run_cell(f"%memory {SECRET}")
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err
    assert not [path for path in root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


def test_json_for_programs(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints what the command line prints, before or after the command."""
    shell.run_cell("%memory --json list\n%memory list --json")
    assert capsys.readouterr().out == '{\n  "notes": []\n}\n' * 2


def test_view_as_line_and_as_cell(shell: InteractiveShell) -> None:
    """`%memory_view` and `%%memory_view` give the same block; the cell is only the prompt."""
    shell.run_cell("%remember Deploys run on Tuesdays")
    line = shell.run_line_magic("memory_view", "")
    cell = shell.run_cell_magic("memory_view", "", "Plot bill depth, don't {stop}\n")
    assert line.data == cell.data
    assert "not sent: memory is off" in repr(line)
    assert list(line.df["name"]) == ["notes"]


def test_by_records_where_it_was_typed(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal says notebook and execution count; a terminal is called ipython."""
    shell.run_cell("%remember one", store_history=True)
    count = shell.execution_count - 1
    assert shell.run_line_magic("memory", "list").data["notes"][0]["by"] == f"ipython (execution {count})"
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/ana/study/analysis.ipynb")
    shell.run_cell("%remember two", store_history=True)
    by = shell.run_line_magic("memory", "list").data["notes"][0]["by"]
    assert by == f"notebook analysis.ipynb (execution {count + 1})"


def test_option_without_effect_is_said(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """A scope given to a command without use for it is accepted, and said."""
    shell.run_cell("%memory config get enabled -s global")
    captured = capsys.readouterr()
    assert "--scope has no effect on config" in captured.err
    assert "enabled = off" in captured.out


def test_question_is_asked_or_refused(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, git_repo: Any
) -> None:
    """A question goes to the input field; without standard input it is a refusal that names -y."""
    repo = git_repo("alpha")
    monkeypatch.chdir(repo)
    asked: list[str] = []

    def no_input(question: str) -> str:
        asked.append(question)
        raise NotImplementedError("raw_input was called, but this frontend does not support input requests.")

    monkeypatch.setattr("builtins.input", no_input)
    shell.run_cell("%memory init study")
    assert "-y" in capsys.readouterr().err
    assert "ana/alpha" in asked[0] or "alpha" in asked[0]
    monkeypatch.setattr("builtins.input", lambda question: "yes")
    shell.run_cell("%memory init study")
    assert (repo / ".memory-magic.toml").exists()


def complete(shell: InteractiveShell, text: str) -> list[str]:
    """Return what Tab offers at the end of *text*."""
    with provisionalcompleter():
        return [found.text for found in shell.Completer.completions(text, len(text))]


def test_tab_completes_commands_scopes_and_ids(shell: InteractiveShell) -> None:
    """Tab offers commands, options, scopes, ids of live notes, settings and their values."""
    shell.run_cell("%remember Deploys run on Tuesdays")
    note = shell.run_line_magic("memory", "list").data["notes"][0]["id"]
    assert "search" in complete(shell, "%memory se")
    assert set(complete(shell, "%memory re")) >= {"remember", "revise", "retire", "reindex"}
    assert "workspace" in complete(shell, "%remember -s wo")
    assert "global" in complete(shell, "%memory list --scope ")
    assert "global" in complete(shell, "%memory list --scope=gl")
    assert note[:10] in complete(shell, f"%memory get {note[:3]}")
    assert note[:10] in complete(shell, f"%memory retire {note[:2]}")
    assert "notes_entries" in complete(shell, "%memory config set notes_e")
    assert "relevant" in complete(shell, "%memory config set recall rel")
    assert "on" in complete(shell, "%memory config set enabled o")
    assert "--explain" in complete(shell, "%memory_search --ex")
    assert "--pin" in complete(shell, "%%remember --p")
    assert "--json" in complete(shell, "%memory --js")


def test_tab_leaves_other_places_alone(shell: InteractiveShell, root: Path) -> None:
    """Where we have nothing to offer IPython's own completion works, and a broken store is no error."""
    shell.user_ns["some_long_name"] = 1
    assert "some_long_name" in complete(shell, "some_long_n")
    assert "global" not in complete(shell, "%memory nosuch ")
    assert "search" not in complete(shell, "%other se")
    root.mkdir()
    (root / "config.toml").write_text("[memories]\nx = 1\n")
    assert not [one for one in complete(shell, "%memory get ab") if re.fullmatch("[0-9a-z]{10}", one)]


def test_dashboard_runs_beside_the_kernel(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    """`%memory dashboard` shows the address and returns; a second one takes the place of the first; unload ends it."""
    running: list[str] = []

    class Dashboard:
        def __init__(self, where: Path, *, cwd: Path | None, port: int) -> None:
            assert where == root
            self.url = f"http://127.0.0.1:{port}/?token=x"
            running.append(self.url)

        def stop(self) -> None:
            running.remove(self.url)

    server = type(sys)("memory_dashboard.server")
    server.Dashboard = Dashboard  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "memory_dashboard.server", server)
    shell.run_cell("%memory dashboard --port 7001\n%memory dashboard --port 7002")
    assert "http://127.0.0.1:7001/?token=x" in capsys.readouterr().out
    assert running == ["http://127.0.0.1:7002/?token=x"]
    memory_magic.unload_ipython_extension(shell)
    assert running == []
    monkeypatch.setitem(sys.modules, "memory_dashboard.server", None)
    memory_magic.load_ipython_extension(shell)
    shell.run_cell("%memory dashboard")
    assert "pip install 'memory-magic[dashboard]'" in capsys.readouterr().err


def test_hints_are_typed_as_the_magic_is(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """`%remember` without a text names `%remember TEXT`; a wrong scope of %memory_view is an error."""
    shell.run_line_magic("remember", "")
    assert "%remember TEXT" in capsys.readouterr().err
    assert shell.run_line_magic("memory_view", "-s nope") is None
    assert 'There is no scope "nope"' in capsys.readouterr().err
    shell.run_line_magic("remember", "-s workspace x")
    assert "%memory init NAME" in capsys.readouterr().err
