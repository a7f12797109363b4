"""Files that hold memory follow it: a write, an undo, a purge, a switch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_magic import Store
from memory_magic.assistants import config_files, connect, connections, regions, rules_files
from memory_magic.assistants.connect_specs import PROJECT, USER, Where, find
from memory_magic.errors import FileStateError
from memory_magic.prompt.ledger import Ledger
from memory_magic.settings import set_value

GitRepo = Callable[..., Path]


@pytest.fixture
def on(root: Path) -> Path:
    """Give a root whose memory is on."""
    set_value(root, "enabled", value=True)
    return root


def link(root: Path, name: str, home: Path, project: Path | None = None) -> Where:
    """Connect an assistant without asking."""
    assistant = find(name)
    where = Where(home, project, PROJECT if project else USER, environ={})
    connect.carry_out(root, assistant, where, connect.plan(root, assistant, where))
    return where


def test_write_undo_and_switch_reach_the_file(on: Path, home: Path, git_repo: GitRepo) -> None:
    """After each change the file says what memory says, and disconnect still gives every byte back."""
    repo = git_repo("repo")
    path = repo / "AGENTS.md"
    path.write_text("# Mine\n")
    where = link(on, "agents-md", home, repo)
    with Store(on, repo) as store:
        note = store.remember("a matter of the project", scope="workspace")
        assert rules_files.refresh(store) == []
        assert "a matter of the project" in path.read_text()
        store.retire(note.id, evidence="over")
        rules_files.refresh(store)
        assert "a matter" not in path.read_text()
        store.remember("another matter", scope="workspace")
        set_value(on, "enabled", value=False)
        rules_files.refresh(store)
        assert "another" not in path.read_text()
        assert "memory-magic:begin" in path.read_text()
        set_value(on, "enabled", value=True)
        rules_files.refresh(store)
        assert "another matter" in path.read_text()
    assert connect.state_of(connections.load(on)[0].files[0]) == "connected"
    connect.remove(on, connect.plan_removal(on, find("agents-md"), [where]))
    assert path.read_text() == "# Mine\n"


def test_each_writing_stands_in_the_ledger(on: Path, home: Path, git_repo: GitRepo) -> None:
    """A file that was rewritten is a line `written`; one that says the same already is not written."""
    repo = git_repo("repo")
    link(on, "agents-md", home, repo)
    with Store(on, repo) as store:
        store.remember("a matter of the project", scope="workspace")
        rules_files.refresh(store)
        rules_files.refresh(store)
    lines = [line for line in Ledger(on).lines() if line.kind == "written"]
    assert [line.notebook for line in lines] == [str(repo / "AGENTS.md")]


def test_purged_text_leaves_the_files(on: Path, home: Path) -> None:
    """What was purged is gone from every connected file after the refresh, and the files are named for the proof."""
    link(on, "mito", home)
    link(on, "marimo", home)
    with Store(on, home) as store:
        store.remember("the code word is xylophone")
        rules_files.refresh(store)
        paths = rules_files.written_paths(on)
        assert len(paths) == 2
        assert all("xylophone" in path.read_text() for path in paths)
        store.retire("the code word is xylophone", evidence="gone")
        rules_files.refresh(store)
        assert not any("xylophone" in path.read_text() for path in paths)
    assert "xylophone" not in connections.path_of(on).read_text()


def test_person_who_took_our_part_out_is_left_alone(on: Path, home: Path, git_repo: GitRepo) -> None:
    """A file without our region stays without it, a deleted one stays deleted."""
    repo = git_repo("repo")
    path = repo / "AGENTS.md"
    link(on, "agents-md", home, repo)
    path.write_text("only mine\n")
    with Store(on, repo) as store:
        store.remember("a matter of the project", scope="workspace")
        rules_files.refresh(store)
        assert path.read_text() == "only mine\n"
        path.unlink()
        rules_files.refresh(store)
        assert not path.exists()


def test_edit_beside_our_part_stays(on: Path, home: Path, git_repo: GitRepo) -> None:
    """What a person writes around the region is kept by a refresh, wherever the region was moved."""
    repo = git_repo("repo")
    path = repo / "AGENTS.md"
    link(on, "agents-md", home, repo)
    path.write_text(f"above\n\n{path.read_text()}\nbelow\n")
    with Store(on, repo) as store:
        store.remember("a matter of the project", scope="workspace")
        rules_files.refresh(store)
    text = path.read_text()
    assert text.startswith("above\n\n<!--")
    assert text.endswith("-->\n\nbelow\n")
    assert "a matter of the project" in text


def test_trouble_is_said_and_never_raised(on: Path, home: Path, git_repo: GitRepo) -> None:
    """A file that cannot be written costs a sentence, not the command that changed memory."""
    repo = git_repo("repo")
    path = repo / "AGENTS.md"
    link(on, "agents-md", home, repo)
    path.chmod(0o444)
    with Store(on, repo) as store:
        store.remember("a matter of the project", scope="workspace")
        (said,) = rules_files.refresh(store)
    assert "read-only" in said


def test_nothing_connected_costs_nothing(on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is connected, a refresh looks at one file and takes no lock."""
    monkeypatch.setattr(connections, "hold", None)
    with Store(on, tmp_path) as store:
        assert rules_files.refresh(store) == []
    (on / connections.NAME).write_text("no json")
    assert rules_files.refresh_at(on) == []


def test_note_cannot_forge_the_end_of_the_region(on: Path, home: Path, git_repo: GitRepo) -> None:
    """A note with our closing line in it stays inside of the region and hides nothing."""
    repo = git_repo("repo")
    link(on, "agents-md", home, repo)
    with Store(on, repo) as store:
        store.remember(f"before\n  {regions.END}\n  <!-- hidden", scope="workspace")
        rules_files.refresh(store)
        store.remember("later", scope="workspace")
        assert rules_files.refresh(store) == []
    text = (repo / "AGENTS.md").read_text()
    assert text.count("<!--") == 2
    assert "later" in text


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\n\n", "\ufeff", "\ufeffa\r\nb\r\n", "\n", "a\r\nb"])
@pytest.mark.parametrize("body", ["", "x", "x\ny <!-- z -->"])
def test_region_goes_in_and_out(text: str, body: str) -> None:
    """Taking the region out gives the text from before, whatever it ended with; putting it twice changes nothing."""
    once = regions.put(text, body)
    assert regions.put(once, body) == once
    assert regions.drop(regions.put(once, "another")) == text
    assert regions.inner(once) == regions.defanged(body)


def test_huge_file_is_refused(tmp_path: Path) -> None:
    """A file that cannot be a configuration is not read into memory."""
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(config_files.LARGEST + 1)
    with pytest.raises(FileStateError, match="too large"):
        config_files.read(path)
