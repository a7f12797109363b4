"""`connect`, `disconnect` and `setup` as a person uses them: what is asked, what is written, what comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_magic import Store, commands, commands_connect
from memory_magic.assistants import config_files, connections
from memory_magic.commands_base import Context, Outcome
from memory_magic.errors import FileStateError, MemoryMagicError, StoreAccessError, UsageError
from memory_magic.prompt.ledger import Ledger
from memory_magic.settings import find_root, load, set_value

GitRepo = Callable[..., Path]
ROWS = {row.name: row for row in commands_connect.ROWS}
NAMES = ("claude-code", "codex", "notebook-intelligence", "marimo", "mito")
SETTINGS = '{\n  // mine\n  "model": "opus",\n  "permissions": {\n    "allow": ["Bash(ls)"] // ls\n  }\n}\n'


class Person:
    """Somebody who types commands and answers questions."""

    def __init__(self, cwd: Path, *, says: bool | None = None) -> None:
        self.cwd = cwd
        self.says = says
        self.asked: list[str] = []

    def _ask(self, question: str) -> bool:
        self.asked.append(question)
        return bool(self.says)

    def __call__(self, *words: str) -> Outcome:
        context = Context(cwd=self.cwd, ask=None if self.says is None else self._ask)
        try:
            return commands.run_words(ROWS[words[0]], words[1:], context)[0]
        finally:
            context.close()

    def text(self, *words: str) -> str:
        """Return what the person reads."""
        outcome = self(*words)
        return commands_connect.PRINTERS[outcome.kind](outcome, 100, "memory-magic")


@pytest.fixture(autouse=True)
def _own_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tests away from where the tester's own programs were moved to."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "JUPYTER_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def person(tmp_path: Path, home: Path) -> Person:
    """Give a person in a folder of no project, with Claude Code's settings."""
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(SETTINGS)
    return Person(tmp_path / "work")


@pytest.fixture
def on() -> Path:
    """Give the default root with memory on."""
    root = find_root()
    set_value(root, "enabled", value=True)
    return root


def every_file(*folders: Path) -> dict[str, bytes]:
    """Return all files below *folders* with their bytes."""
    found = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in found if ".git/" not in str(path)}


# -- Claude Code and Codex --------------------------------------------------------------------------------------------


def test_claude_code_gets_hooks_tools_and_approvals(person: Person, home: Path, on: Path) -> None:
    """One hook entry a section for each event, a server that is always loaded, and its tools approved beforehand."""
    person("connect", "claude-code", "-y")
    text = (home / ".claude" / "settings.json").read_text()
    assert "// mine" in text
    assert "// ls" in text
    settings = json.loads("\n".join(line.split("//")[0] for line in text.split("\n")))
    for event in ("SessionStart", "UserPromptSubmit", "SubagentStart"):
        (group,) = settings["hooks"][event]
        commands_ = [entry["command"] for entry in group["hooks"]]
        assert [one.split()[-1] for one in commands_] == ["personal", "project", "guidance", "notes"]
        assert all(Path(one.split()[0]).is_absolute() for one in commands_)
        assert {entry["type"] for entry in group["hooks"]} == {"command"}
    assert settings["permissions"]["allow"][0] == "Bash(ls)"
    assert "mcp__memory__memory_search" in settings["permissions"]["allow"]
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["memory"]
    assert server["alwaysLoad"] is True
    assert server["args"][-1] == "mcp"


def test_hook_that_connect_writes_gives_memory(person: Person, home: Path, on: Path, tmp_path: Path) -> None:
    """The very command line from the settings, run as the client does, tells the notes."""
    with Store(on, tmp_path) as store:
        store.remember("Deploys run on Tuesdays")
    person("connect", "codex", "-y")
    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]["SessionStart"][0]["hooks"]
    payload = json.dumps({"session_id": "s", "cwd": str(tmp_path), "hook_event_name": "SessionStart"})
    done = subprocess.run(hooks[3]["command"], shell=True, input=payload, capture_output=True, text=True, check=True)  # noqa: S602
    assert "Deploys run on Tuesdays" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_codex_gets_a_server_in_toml(person: Person, home: Path, on: Path) -> None:
    """Codex's own table is added behind the others, approved unless the person wants to be asked."""
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('# mine\nmodel = "gpt-5"\n\n[mcp_servers.docs]\ncommand = "docs"\n')
    person("connect", "codex", "-y", "--no-approve")
    assert "default_tools_approval_mode" not in config.read_text()
    person("connect", "codex", "-y")
    found = tomllib.loads(config.read_text())["mcp_servers"]
    assert list(found) == ["docs", "memory"]
    assert found["memory"]["default_tools_approval_mode"] == "approve"
    assert config.read_text().startswith("# mine\n")


def test_no_approve_leaves_the_asking_to_the_client(person: Person, home: Path, on: Path) -> None:
    """With --no-approve no tool is approved beforehand."""
    person("connect", "claude-code", "-y", "--no-approve")
    assert "mcp__" not in (home / ".claude" / "settings.json").read_text()


def test_somebody_elses_server_of_our_name_is_left_alone(person: Person, home: Path, on: Path) -> None:
    """Where a server is called memory already, ours takes another name, for its tools as well."""
    before = '{"mcpServers": {"memory": {"command": "npx", "args": ["server-memory"]}}}'
    (home / ".claude.json").write_text(before)
    person("connect", "claude-code", "-y")
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert servers["memory"] == {"command": "npx", "args": ["server-memory"]}
    assert servers["memory-magic"]["args"][-1] == "mcp"
    assert "mcp__memory-magic__remember" in (home / ".claude" / "settings.json").read_text()
    person("disconnect", "claude-code", "-y")
    assert (home / ".claude.json").read_text() == before


def test_root_that_is_not_the_default_is_named(person: Person, home: Path, root: Path) -> None:
    """With a store elsewhere the hook and the server are told where."""
    set_value(root, "enabled", value=True)
    person("connect", "claude-code", "-y")
    assert f"--root {root}" in (home / ".claude" / "settings.json").read_text()
    assert str(root) in json.loads((home / ".claude.json").read_text())["mcpServers"]["memory"]["args"]


def test_claude_config_dir_is_followed(person: Person, home: Path, on: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who moved Claude's folder finds the entries there."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    person("connect", "claude-code", "-y")
    assert (home / "elsewhere" / "settings.json").is_file()
    assert (home / ".claude" / "settings.json").read_text() == SETTINGS


# -- asking -----------------------------------------------------------------------------------------------------------


def test_diff_comes_first_and_no_means_no(person: Person, home: Path, on: Path) -> None:
    """Every line that changes is shown before anything is written; a no leaves every byte."""
    person.says = False
    before = every_file(home)
    with pytest.raises(MemoryMagicError, match="as you said no"):
        person("connect", "claude-code")
    assert "+" in person.asked[-1]
    assert "--section notes" in person.asked[-1]
    assert every_file(home) == before


def test_dry_run_asks_and_writes_nothing(person: Person, home: Path) -> None:
    """A dry run shows the lines, also where memory is off."""
    before = every_file(home)
    text = person.text("connect", "claude-code", "--dry-run")
    assert "Nothing was written" in text
    assert "--section notes" in text
    assert every_file(home) == before


def test_nobody_there_to_ask(person: Person, home: Path) -> None:
    """Without a terminal nothing happens, and the way out is named."""
    before = every_file(home)
    with pytest.raises(MemoryMagicError, match="nobody to ask"):
        person("connect", "claude-code")
    assert every_file(home) == before


def test_secret_in_a_file_is_not_shown(person: Person, home: Path, on: Path) -> None:
    """A key that stands beside our lines does not reach the screen."""
    key = "sk-ant-api03-" + "Zq8x" * 20
    (home / ".claude" / "settings.json").write_text(f'{{"env": {{"ANTHROPIC_API_KEY": "{key}"}}}}')
    outcome = person("connect", "claude-code", "--dry-run")
    assert key not in json.dumps(outcome.data)
    assert key not in commands_connect.PRINTERS[outcome.kind](outcome, 100, "memory-magic")
    person("connect", "claude-code", "-y")
    assert key not in connections.path_of(on).read_text()
    person("disconnect", "claude-code", "-y")
    assert key in (home / ".claude" / "settings.json").read_text()


@pytest.mark.parametrize(
    ("says", "words", "switched"),
    [(True, (), (True, True)), (None, ("-y",), (True, False)), (False, (), (False, True))],
)
def test_memory_is_switched_on_only_by_a_yes(
    person: Person, says: Any, words: tuple[str, ...], switched: tuple[bool, bool]
) -> None:
    """`connect` asks for `enabled`, and reads past sessions only after a yes of its own; -y does not stand for that."""
    person.says = says
    try:
        person("connect", "claude-code", *words)
    except MemoryMagicError:
        assert says is False
    settings = load(find_root())
    assert (settings.enabled, settings.generate_memories) == switched


def test_own_choice_of_extraction_stays(person: Person) -> None:
    """Who set `generate_memories` before is not asked and not overruled."""
    set_value(find_root(), "generate_memories", value=True)
    person("connect", "claude-code", "-y")
    assert load(find_root()).generate_memories is True


# -- again, and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_disconnect_puts_every_byte_back(person: Person, home: Path, on: Path, name: str) -> None:
    """Connecting twice changes nothing more, and disconnecting leaves the home as it was, folders included."""
    with Store(on, person.cwd) as store:
        store.remember("Deploys run on Tuesdays")
    (home / ".mito" / "rules").mkdir(parents=True)
    (home / ".mito" / "rules" / "_metadata.json").write_text('{\r\n\t"mine": {"is_default": false}\r\n}')
    before = {path: data for path, data in every_file(home).items() if ".memory-magic" not in path}
    person("connect", name, "-y")
    once = every_file(home)
    assert "connected already" in person.text("connect", name, "-y")
    assert {path: data for path, data in every_file(home).items() if "/ledger/" not in path} == {
        path: data for path, data in once.items() if "/ledger/" not in path
    }
    person("disconnect", name, "-y")
    after = {path: data for path, data in every_file(home).items() if ".memory-magic" not in path}
    kept = str(home / ".jupyter" / "nbi" / "rules" / "memory-magic.md")
    if name == "notebook-intelligence":
        assert b"Tuesdays" not in after.pop(kept)  # emptied: NBI does not notice that a file is gone
    assert after == before
    assert not connections.path_of(on).exists()


def test_what_the_person_changed_since_stays(person: Person, home: Path, on: Path) -> None:
    """After an edit only ours is taken out, with the diff, and the person's lines stay as they are."""
    path = home / ".claude" / "settings.json"
    person("connect", "claude-code", "-y")
    path.write_text(path.read_text().replace('"model": "opus"', '"model": "haiku", // cheaper'))
    outcome = person("disconnect", "claude-code", "--dry-run")
    assert outcome.data["files"][0]["exact"] is False
    assert "-" in outcome.data["files"][0]["diff"]
    person("disconnect", "claude-code", "-y")
    assert path.read_text() == SETTINGS.replace('"model": "opus"', '"model": "haiku", // cheaper')


def test_newer_installation_replaces_its_older_lines(person: Person, home: Path, on: Path) -> None:
    """Connecting from another environment changes the command in its place and adds no second hook."""
    path = home / ".claude" / "settings.json"
    person("connect", "claude-code", "-y")
    program = json.loads((home / ".claude.json").read_text())["mcpServers"]["memory"]["command"]
    for file in (path, home / ".claude.json"):
        file.write_text(file.read_text().replace(program, "/old/bin/memory-magic"))
    person("connect", "claude-code", "-y")
    assert "/old/bin" not in path.read_text() + (home / ".claude.json").read_text()
    assert path.read_text().count("--section notes") == 3
    person("disconnect", "claude-code", "-y")
    assert path.read_text() == SETTINGS


def test_disconnect_works_without_a_record(person: Person, home: Path, on: Path) -> None:
    """Where the record was lost, our lines are found in the files."""
    person("connect", "claude-code", "-y")
    connections.path_of(on).unlink()
    person("disconnect", "claude-code", "-y")
    assert "memory" not in (home / ".claude" / "settings.json").read_text()
    assert "is not connected" in person.text("disconnect", "claude-code")


def test_two_processes_connect_once(person: Person, home: Path, on: Path) -> None:
    """Two commands at the same time leave one entry each, and whole files."""
    code = (
        "from memory_magic import commands, commands_connect\n"
        "from memory_magic.commands_base import Context\n"
        "row = next(row for row in commands_connect.ROWS if row.name == 'connect')\n"
        "commands.run_words(row, ['claude-code', '-y'], Context())\n"
    )
    words = [sys.executable, "-c", code]
    running = [subprocess.Popen(words, stderr=subprocess.PIPE, cwd=person.cwd) for _ in range(4)]
    errors = [one.communicate()[1] for one in running]
    assert any(one.returncode == 0 for one in running), errors
    assert (home / ".claude" / "settings.json").read_text().count("--section notes") == 3
    person("disconnect", "claude-code", "-y")
    assert (home / ".claude" / "settings.json").read_text() == SETTINGS


# -- files as they are ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file", "content", "where"),
    [
        ("claude-code", ".claude/settings.json", '{\n  "a": 1\n  "b": 2\n}', ":3:3"),
        ("claude-code", ".claude/settings.json", '{"a": [1, }', ":1:11"),
        ("claude-code", ".claude.json", "[]", ".claude.json"),
        ("codex", ".codex/config.toml", 'a = "x"\nb = [1\n', ":3:1"),
        ("codex", ".codex/config.toml", 'a = "x"\nb == 2\n', ":2:4"),
        ("marimo", ".marimo.toml", "[ai]\nrules = 3\n", ".marimo.toml"),
    ],
)
def test_broken_file_is_not_touched(
    person: Person, home: Path, on: Path, name: str, file: str, content: str, where: str
) -> None:
    """A file that is not what it should be stays as it is, and so do the others; the error names line and column."""
    path = home / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    before = every_file(home)
    with pytest.raises(FileStateError) as raised:
        person("connect", name, "-y")
    assert where in raised.value.where
    assert "nothing was changed" in str(raised.value)
    assert every_file(home) == before


def test_not_text_is_not_touched(person: Person, home: Path, on: Path) -> None:
    """A file in another encoding is refused with its line."""
    (home / ".claude" / "settings.json").write_bytes('{\n"a": "größe"}'.encode("latin-1"))
    with pytest.raises(FileStateError, match="not UTF-8") as raised:
        person("connect", "claude-code", "-y")
    assert raised.value.where.endswith(":2")


def test_read_only_file_is_not_touched(person: Person, home: Path, on: Path) -> None:
    """Who made a file read-only meant it, also where we could replace it; the other file is not written either."""
    path = home / ".claude" / "settings.json"
    path.chmod(0o444)
    with pytest.raises(StoreAccessError, match="read-only"):
        person("connect", "claude-code", "-y")
    assert path.read_text() == SETTINGS
    assert not (home / ".claude.json").exists()


def test_linked_file_stays_a_link_and_keeps_its_mode(person: Person, home: Path, on: Path, tmp_path: Path) -> None:
    """Somebody's dotfiles: the link stays, the file behind it is changed and keeps its permissions."""
    path, real = home / ".claude" / "settings.json", tmp_path / "dotfiles.json"
    path.rename(real)
    real.chmod(0o640)
    path.symlink_to(real)
    person("connect", "claude-code", "-y")
    assert path.is_symlink()
    assert "--section notes" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    person("disconnect", "claude-code", "-y")
    assert path.is_symlink()
    assert real.read_text() == SETTINGS


def test_link_that_leads_nowhere_is_refused(person: Person, home: Path, on: Path) -> None:
    """A broken link is named instead of being filled."""
    path = home / ".claude" / "settings.json"
    path.unlink()
    path.symlink_to(home / "nowhere.json")
    with pytest.raises(FileStateError, match="leads nowhere"):
        person("connect", "claude-code", "-y")


def test_carriage_returns_and_byte_order_mark_stay(person: Person, home: Path, on: Path) -> None:
    """A file from Windows keeps its line ends in our lines, too."""
    path = home / ".claude" / "settings.json"
    before = b"\xef\xbb\xbf" + SETTINGS.replace("\n", "\r\n").encode()
    path.write_bytes(before)
    person("connect", "claude-code", "-y")
    after = path.read_bytes()
    assert after.startswith(b"\xef\xbb\xbf{\r\n")
    assert after.count(b"\n") == after.count(b"\r\n")
    person("disconnect", "claude-code", "-y")
    assert path.read_bytes() == before


def test_new_files_are_private(person: Person, home: Path, on: Path) -> None:
    """What we make in the home directory is readable by its owner alone."""
    person("connect", "mito", "-y")
    for path in (home / ".mito").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0


# -- files in a work tree ---------------------------------------------------------------------------------------------


def test_work_tree_gets_workspace_notes_only(on: Path, git_repo: GitRepo) -> None:
    """AGENTS.md holds the notes of its workspace, never a word of global memory, and the ledger tells of it."""
    repo = git_repo("repo")
    (on / "memory.md").write_text("my private address\n")
    with Store(on, repo) as store:
        store.remember("a private global note", scope="global")
        store.remember("a matter of the project", scope="workspace")
    (repo / "AGENTS.md").write_text("# Rules\n\nBe nice.")
    Person(repo)("connect", "agents-md", "-y")
    text = (repo / "AGENTS.md").read_text()
    assert text.startswith("# Rules\n\nBe nice.\n<!-- memory-magic:begin")
    assert "a matter of the project" in text
    assert "private" not in text
    line = next(Ledger(on).lines())
    assert (line.kind, line.assistant, line.notebook) == ("written", "agents-md", str(repo / "AGENTS.md"))
    assert all(scope.startswith("workspace/") for scope in line.scopes)
    Person(repo)("disconnect", "agents-md", "-y")
    assert (repo / "AGENTS.md").read_text() == "# Rules\n\nBe nice."


def test_fallback_without_an_index_keeps_scopes_apart(on: Path, git_repo: GitRepo) -> None:
    """Also where the index cannot be used, global notes stay out of a work tree."""
    repo = git_repo("repo")
    with Store(on, repo) as store:
        store.remember("a private global note", scope="global")
        store.remember("a matter of the project", scope="workspace")
    (on / "index.sqlite3").unlink()
    set_value(on, "index_path", value=":memory:")
    Person(repo)("connect", "agents-md", "-y")
    text = (repo / "AGENTS.md").read_text()
    assert "a matter of the project" in text
    assert "private" not in text


def test_tracked_file_needs_a_word(on: Path, git_repo: GitRepo) -> None:
    """What git follows is pushed: that is said, and done only with --tracked."""
    repo = git_repo("repo")
    (repo / "CLAUDE.md").write_text("rules\n")
    subprocess.run(["git", "-C", str(repo), "add", "CLAUDE.md"], check=True)
    person = Person(repo, says=True)
    with pytest.raises(MemoryMagicError, match="will be pushed"):
        person("connect", "agents-md")
    assert (repo / "CLAUDE.md").read_text() == "rules\n"
    person("connect", "agents-md", "--tracked")
    assert "will be pushed" in person.asked[-1]
    assert "memory-magic:begin" in (repo / "CLAUDE.md").read_text()


def test_folder_without_a_workspace_is_told_so(person: Person, on: Path) -> None:
    """Where there are no workspace notes, no file is made."""
    with pytest.raises(MemoryMagicError, match="no workspace"):
        person("connect", "agents-md", "-y")
    assert not (person.cwd / "AGENTS.md").exists()


def test_link_out_of_the_project_is_refused(on: Path, git_repo: GitRepo, tmp_path: Path) -> None:
    """A foreign project's AGENTS.md cannot lead our pen to another file."""
    repo, victim = git_repo("repo"), tmp_path / "victim"
    victim.write_text("mine\n")
    (repo / "AGENTS.md").symlink_to(victim)
    with pytest.raises(FileStateError, match="leads out of the project"):
        Person(repo)("connect", "agents-md", "-y")
    assert victim.read_text() == "mine\n"


def test_two_names_of_one_file_get_one_region(on: Path, git_repo: GitRepo) -> None:
    """CLAUDE.md that is a link to AGENTS.md is written once."""
    repo = git_repo("repo")
    (repo / "AGENTS.md").write_text("rules\n")
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    Person(repo)("connect", "agents-md", "-y")
    assert (repo / "AGENTS.md").read_text().count("memory-magic:begin") == 1
    assert (repo / "CLAUDE.md").is_symlink()


def test_damaged_region_is_not_touched(on: Path, git_repo: GitRepo) -> None:
    """A region that lost one of its lines is named with its place."""
    repo = git_repo("repo")
    Person(repo)("connect", "agents-md", "-y")
    path = repo / "AGENTS.md"
    path.write_text("top\n" + path.read_text().split("\n")[0] + "\nand then mine\n")
    with pytest.raises(FileStateError, match="do not match") as raised:
        Person(repo)("connect", "agents-md", "-y")
    assert raised.value.where.endswith("AGENTS.md:2")


def test_claude_code_in_a_project(on: Path, git_repo: GitRepo, home: Path) -> None:
    """With --project the entries stand in the project, and the server is told which workspace it is."""
    repo = git_repo("repo")
    person = Person(repo)
    person("connect", "claude-code", "--project", "-y")
    assert "--section notes" in (repo / ".claude" / "settings.json").read_text()
    server = json.loads((repo / ".mcp.json").read_text())["mcpServers"]["memory"]
    assert server["args"] == ["mcp", "--workspace", str(repo)]
    assert not (home / ".claude").exists()
    person("disconnect", "claude-code", "-y")
    assert every_file(repo) == {}


def test_project_that_moved(on: Path, git_repo: GitRepo, tmp_path: Path) -> None:
    """After a move the old place is said to be gone, and in the new one disconnect finds our part."""
    repo = git_repo("repo")
    Person(repo)("connect", "agents-md", "-y")
    moved = tmp_path / "moved"
    repo.rename(moved)
    listed = Person(moved)("connect", "--list").data["assistants"]
    (row,) = next(one for one in listed if one["name"] == "agents-md")["connected"]
    assert row["files"][0]["state"] == "gone"
    Person(moved)("disconnect", "agents-md", "-y")
    assert not (moved / "AGENTS.md").exists() or "memory-magic" not in (moved / "AGENTS.md").read_text()


# -- the others -------------------------------------------------------------------------------------------------------


def test_rules_files_hold_what_is_personal(person: Person, home: Path, on: Path, git_repo: GitRepo) -> None:
    """Files of the person get the personal file and global notes, and nothing of a workspace."""
    repo = git_repo("repo")
    (on / "memory.md").write_text("I like polars.\n")
    with Store(on, repo) as store:
        store.remember("a global note", scope="global")
        store.remember("a matter of the project", scope="workspace")
    person.cwd = repo
    for name in ("notebook-intelligence", "mito", "marimo"):
        person("connect", name, "-y")
    texts = [
        (home / ".jupyter" / "nbi" / "rules" / "memory-magic.md").read_text(),
        (home / ".mito" / "rules" / "memory-magic.md").read_text(),
        tomllib.loads((home / ".config" / "marimo" / "marimo.toml").read_text())["ai"]["rules"],
    ]
    for text in texts:
        assert "I like polars." in text
        assert "a global note" in text
        assert "a matter of the project" not in text
    assert texts[0].startswith("---\napply: always\n")
    assert json.loads((home / ".mito" / "rules" / "_metadata.json").read_text())["memory-magic"]["is_default"] is True
    (server,) = json.loads((home / ".mito" / "mcp" / "servers.json").read_text()).values()
    assert set(server) == {"name", "command", "args", "env"}
    nbi = json.loads((home / ".jupyter" / "nbi" / "mcp.json").read_text())["mcpServers"]["memory"]
    assert nbi["autoApprove"] == ["memory_search", "memory_get", "remember"]


def test_list_and_setup_tell_where_one_stands(person: Person, home: Path, on: Path) -> None:
    """Both name every assistant, what is connected and how; setup finds older memories."""
    (home / ".codewhale" / "memory" / "global").mkdir(parents=True)
    (home / ".codewhale" / "memory" / "global" / "MEMORY.md").write_text("- old\n")
    person("connect", "claude-code", "-y")
    rows: list[dict[str, Any]] = person("connect", "--list").data["assistants"]
    assert {row["name"] for row in rows} >= {*NAMES, "agents-md"}
    mine = next(row for row in rows if row["name"] == "claude-code")
    assert [one["state"] for one in mine["connected"][0]["files"]] == ["connected", "connected"]
    (home / ".claude" / "settings.json").write_text(SETTINGS)
    assert "taken out" in person.text("connect")
    text = person.text("setup")
    assert "CodeWhale" in text
    assert "import" in text


@pytest.mark.parametrize(
    "words",
    [("connect", "claude"), ("connect", "codex", "--project"), ("connect", "mito", "--project", "--user"),
     ("disconnect", "nothing-of-that-kind")],
)  # fmt: skip
def test_words_that_do_not_fit(person: Person, words: tuple[str, ...]) -> None:
    """A slip is one friendly error that names what would fit, and nothing is written."""
    with pytest.raises(UsageError) as raised:
        person(*words)
    assert raised.value.hint or "exclude" in str(raised.value)
    assert not find_root().exists()


def test_later_failure_puts_the_first_file_back(
    person: Person, home: Path, on: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files are written or none: where the second cannot be, the first is as it was."""
    real = config_files.write

    def write(before: config_files.Config, text: str, *, private: bool = True) -> Any:
        if before.path.name == ".claude.json":
            raise StoreAccessError("the disk is full")
        return real(before, text, private=private)

    monkeypatch.setattr(config_files, "write", write)
    with pytest.raises(StoreAccessError, match="full"):
        person("connect", "claude-code", "-y")
    assert not connections.path_of(on).exists()
    assert (home / ".claude" / "settings.json").read_text() == SETTINGS
