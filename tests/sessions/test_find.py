"""Finding sessions: the tools' own places, named folders, a limit that starves no project, copies counted once."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import find
from memory_magic.settings import Settings

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
UUID = "01a22dc0-641a-7320-90bd-{:012d}"


@dataclass(frozen=True)
class Wanted:
    """The two settings that matter here."""

    session_folders: tuple[str, ...] = ()
    scan_limit: int = 5_000


def write(path: Path, text: str = "{}", time: int = 1_796_000_000) -> Path:
    """Write a file that changed at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (time, time))
    return path


def rollout(home: Path, number: int, cwd: str, time: int) -> Path:
    """Write a rollout of which only the head matters."""
    name = f"rollout-2026-11-30T18-00-00-{UUID.format(number)}.jsonl"
    meta = {"type": "session_meta", "payload": {"id": "x", "cwd": cwd}}
    return write(home / "sessions" / "2026" / "11" / "30" / name, json.dumps(meta) + "\n", time)


def names(finding: find.Finding) -> list[str]:
    """Return source and name of each file, in order."""
    return [f"{found.source} {found.path.name}" for found in finding.files]


def look(
    home: Path, cwd: Path | None = None, wanted: Wanted | None = None, environ: dict[str, object] | None = None
) -> find.Finding:
    """Search with an environment of its own."""
    variables = {"HOME": str(home), **{key: str(value) for key, value in (environ or {}).items()}}
    return find.find(wanted or Wanted(), cwd or home, variables)


def test_the_settings_of_the_store_fit() -> None:
    """What a search asks for is what settings have."""
    settings: find.Wanted = Settings()
    assert (settings.session_folders, settings.scan_limit) == ((), 5_000)


def test_every_tool_is_looked_for_in_its_own_place(home: Path) -> None:
    """Without a word in the settings, under the person's home."""
    rollout(home / ".codex", 1, "/a", 60)
    write(home / ".claude" / "projects" / "-a" / "c.jsonl", time=50)
    write(home / ".omp" / "agent" / "sessions" / "-a" / "t_o.jsonl", time=40)
    write(home / ".mito" / "ai-chats" / "m.json", time=30)
    write(home / ".ipython" / "profile_default" / "history.sqlite", time=20)
    write(home / "nb.ipynb")
    finding = look(home)
    assert sorted(names(finding)) == [
        "claude-code c.jsonl",
        f"codex rollout-2026-11-30T18-00-00-{UUID.format(1)}.jsonl",
        "ipython history.sqlite",
        "mito m.json",
        "oh-my-pi t_o.jsonl",
    ]
    assert finding.ids == {UUID.format(1), "c", "o"}
    assert (finding.seen, finding.problems) == (5, ())


def test_the_tools_variables_move_their_places(home: Path, tmp_path: Path) -> None:
    """Each tool's own variable counts before the usual place."""
    rollout(tmp_path / "cx", 1, "/a", 1)
    write(tmp_path / "cl" / "projects" / "-a" / "c.jsonl")
    write(tmp_path / "pi" / "sessions" / "-a" / "t_o.jsonl")
    write(tmp_path / "ip" / "profile_x" / "history.sqlite")
    write(home / ".claude" / "projects" / "-a" / "usual.jsonl")
    variables: dict[str, object] = {
        "CODEX_HOME": tmp_path / "cx",
        "CLAUDE_CONFIG_DIR": tmp_path / "cl",
        "PI_CODING_AGENT_DIR": tmp_path / "pi",
        "IPYTHONDIR": tmp_path / "ip",
    }
    assert [found.path.is_relative_to(home) for found in look(home, environ=variables).files] == [False] * 4


@pytest.mark.parametrize(
    ("variable", "value", "place"),
    [
        ("PI_CODING_AGENT_SESSION_DIR", "s", "s/t_o.jsonl"),
        ("PI_CODING_AGENT_SESSION_DIR", "s", "s/-a/t_o.jsonl"),
        ("PI_CONFIG_DIR", ".our", "home/.our/agent/sessions/-a/t_o.jsonl"),
    ],
)
def test_oh_my_pi_has_three_variables(home: Path, tmp_path: Path, variable: str, value: str, place: str) -> None:
    """For its sessions, its agent folder and the name of its folder under home."""
    write(tmp_path / place)
    given_value = value if variable == "PI_CONFIG_DIR" else str(tmp_path / value)
    assert names(look(home, environ={variable: given_value})) == ["oh-my-pi t_o.jsonl"]


def test_notebooks_and_chats_of_the_present_project_are_found(home: Path, tmp_path: Path) -> None:
    """They have no place of their own; hidden folders and installed packages are not searched."""
    project = tmp_path / "project"
    for name in ("a.ipynb", "deep/er/b.chat", "data.json", "x.jsonl", ".ipynb_checkpoints/a.ipynb"):
        write(project / name)
    write(project / "node_modules" / "c.ipynb")
    assert sorted(names(look(home, project))) == ["jupyter-chat b.chat", "notebook a.ipynb"]


def test_home_and_what_holds_it_are_no_project(home: Path) -> None:
    """Else a stray call would read everything that a person has."""
    write(home / "a.ipynb")
    write(home.parent / "b.ipynb")
    for cwd in (home, home.parent, Path("/")):
        assert look(home, cwd).files == ()


def test_named_folders_replace_the_usual_places(home: Path) -> None:
    """Everything in them is told by its content, whatever it is called."""
    write(home / ".claude" / "projects" / "-a" / "usual.jsonl")
    folder = home / "kept"
    shutil.copytree(DATA, folder)
    for _ in range(2):
        finding = look(home, wanted=Wanted(("~/kept", str(folder / "mito"))))
        assert finding.seen == len(finding.files) == 25
        assert finding.problems == ()
        assert {found.source for found in finding.files} == {
            "claude-code",
            "codex",
            "ipython",
            "jupyter-chat",
            "mito",
            "notebook",
            "oh-my-pi",
        }


def test_reading_a_finding_counts_each_conversation_once(home: Path) -> None:
    """Three chats are copies of files that their tools keep: 25 files are 22 conversations."""
    finding = look(home, wanted=Wanted((str(DATA),)))
    loaded = list(find.load(finding))
    assert len(loaded) == 22
    chats = [found.path.name for found, _ in loaded if found.source == "jupyter-chat"]
    assert sorted(chats) == ["jupyternaut.chat", "three_personas.chat"]
    assert not any(isinstance(session, SessionFormatError) for _, session in loaded)


def test_a_chat_stays_while_its_original_is_not_there(home: Path) -> None:
    """The copy is better than nothing."""
    finding = look(home, wanted=Wanted((str(DATA / "jupyter-ai"),)))
    assert len(list(find.load(finding))) == 5


def test_a_file_that_cannot_be_read_is_said_and_the_others_go_on(home: Path) -> None:
    """Deleted between listing and reading, or damaged."""
    write(home / ".mito" / "ai-chats" / "bad.json", "<html>")
    gone = write(home / ".mito" / "ai-chats" / "gone.json", time=1)
    finding = look(home)
    gone.unlink()
    assert [str(error) for _, error in find.load(finding) if isinstance(error, SessionFormatError)] == [
        f"this is no chat of Mito: it has no list of what was shown ({finding.files[0].path})",
        f"the session cannot be read: No such file or directory ({gone})",
    ]


def test_a_busy_project_starves_no_other(home: Path) -> None:
    """With a limit of four, the newest of each project come first, whatever tool wrote them."""
    for number in range(60):
        rollout(home / ".codex", number, "/home/ana/busy", 1_000 + number)
    rollout(home / ".codex", 99, "/home/ana/quiet", 1)
    write(home / ".claude" / "projects" / "-home-ana-busy" / "c.jsonl", time=2_000)
    write(home / ".claude" / "projects" / "-home-ana-third" / "d.jsonl", time=2)
    finding = look(home, wanted=Wanted(scan_limit=4))
    assert [(found.project, found.modified.timestamp()) for found in finding.files] == [
        ("home-ana-busy", 2_000),
        ("home-ana-third", 2),
        ("home-ana-quiet", 1),
        ("home-ana-busy", 1_059),
    ]
    assert (finding.seen, len(finding.ids)) == (63, 63)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 50)), max_size=30, unique=True), st.integers(1, 12))
def test_within_a_project_newer_ones_come_first(files: list[tuple[str, int]], limit: int) -> None:
    """Nobody is served twice while somebody who waits was served less, and no older file overtakes a newer one."""
    made = [
        find.Found(Path(f"{project}{time}"), "codex", project, datetime.fromtimestamp(time, UTC), 1)
        for project, time in files
    ]
    chosen = find._fairly(made, limit)
    assert len(chosen) == min(limit, len(made))
    shares = {}
    for project in {project for project, _ in files}:
        all_of_it = sorted((found for found in made if found.project == project), key=lambda found: found.modified)
        served = [found for found in chosen if found.project == project]
        assert served == all_of_it[::-1][: len(served)]
        shares[project] = (len(served), len(all_of_it))
    most = max((served for served, _ in shares.values()), default=0)
    assert all(served >= most - 1 or served == there for served, there in shares.values())


def test_old_files_can_be_left_out(home: Path) -> None:
    """Before the limit is shared out; their ids still tell which chats are copies."""
    write(home / ".claude" / "projects" / "-a" / "old.jsonl", time=10)
    write(home / ".claude" / "projects" / "-a" / "new.jsonl", time=20)
    finding = find.find(Wanted(), home, {"HOME": str(home)}, datetime.fromtimestamp(15, UTC))
    assert names(finding) == ["claude-code new.jsonl"]
    assert finding.ids == {"old", "new"}


def test_transcripts_of_sub_agents_are_left_out(home: Path) -> None:
    """They lie beside or below the session that started them."""
    line = json.dumps({"type": "user", "sessionId": "s", "message": {"content": "x"}})
    folder = home / "kept" / "-a"
    for name in ("s.jsonl", "s/subagents/agent-1.jsonl", "s/worker.jsonl", "s/deep/worker.jsonl", "agent-2.jsonl"):
        write(folder / name, line)
    assert names(look(home, wanted=Wanted((str(home / "kept"),)))) == ["claude-code s.jsonl"]


def test_a_file_with_two_names_counts_once(home: Path) -> None:
    """Links to a file are one session; links to folders are not followed, even in a circle."""
    path = write(home / ".mito" / "ai-chats" / "a.json")
    os.link(path, path.with_name("b.json"))
    path.with_name("c.json").symlink_to(path)
    assert len(look(home).files) == 1
    folder = home / "kept"
    write(folder / "n.ipynb", '{"cells": []}')
    (folder / "loop").symlink_to(folder)
    assert names(look(home, wanted=Wanted((str(folder),)))) == ["notebook n.ipynb"]


def test_what_cannot_be_looked_at_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named folder that is not there, one that is closed, one that is too large."""
    folder = home / "kept"
    write(folder / "n.ipynb", '{"cells": []}')
    finding = look(home, wanted=Wanted((str(home / "nowhere"), str(folder))))
    assert finding.problems == (f"{home / 'nowhere'} is no folder (setting session_folders)",)
    assert len(finding.files) == 1
    monkeypatch.setattr(find, "ENTRIES", 0)
    assert "name narrower folders" in look(home, wanted=Wanted((str(folder),))).problems[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_closed_folder_is_said(home: Path) -> None:
    """And the search goes on."""
    folder = home / "kept" / "closed"
    folder.mkdir(parents=True)
    folder.chmod(0)
    try:
        assert "cannot be looked at" in look(home, wanted=Wanted((str(home / "kept"),))).problems[0]
    finally:
        folder.chmod(0o700)


def test_nothing_is_opened_that_needs_no_look(home: Path) -> None:
    """In a tool's own place a listing opens only rollouts; a pipe would block for ever."""
    os.mkfifo(home / "x.ipynb")
    folder = home / ".mito" / "ai-chats"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.json")
    assert look(home).files == ()
    assert look(home, wanted=Wanted((str(home),))).files == ()


def test_a_rollout_without_a_head_is_grouped_by_its_folder(home: Path) -> None:
    """Damaged, empty, or with its directory left out."""
    folder = home / ".codex" / "sessions" / "2026" / "11" / "30"
    heads = ("", "{}\n" * 9, '{"type": "session_meta", "payload": 5}\n', '{"type": "event_msg", "payload": {}}\n' * 9)
    for number, head in enumerate(heads):
        write(folder / f"rollout-{number}.jsonl", head)
    finding = look(home)
    assert len({found.project for found in finding.files}) == 1
    assert (len(finding.files), finding.ids) == (4, frozenset())


def test_a_file_that_vanishes_during_the_search_is_passed_over(home: Path) -> None:
    """A link to nothing looks the same."""
    folder = home / ".mito" / "ai-chats"
    folder.mkdir(parents=True)
    (folder / "gone.json").symlink_to(folder / "nowhere.json")
    finding = look(home)
    assert (finding.files, finding.problems) == ((), ())
