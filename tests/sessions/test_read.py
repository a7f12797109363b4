"""Choosing a reader for a path, and what importing costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from memory_magic import sessions
from memory_magic.errors import SessionFormatError
from memory_magic.sessions import recognise

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
EXPECTED = sorted((DATA / "expected").glob("*.json"))


def test_a_path_given_as_text_is_enough(data: Path) -> None:
    """Nobody has to wrap it."""
    path = next((data / "sessions").rglob("*01a22dc2-d085*.jsonl"))
    assert len(sessions.read(str(path)).turns) == 4


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.name[:20])
def test_every_real_file_is_known_by_its_content(tmp_path: Path, expected: Path) -> None:
    """Under a name that tells nothing it gives the same turns and calls; only databases go by their names."""
    wanted = json.loads(expected.read_text(encoding="utf-8"))
    original = DATA / wanted["file"]
    path = tmp_path / ("some.sqlite" if original.suffix == ".sqlite" else "some.txt")
    path.write_bytes(original.read_bytes())
    session = sessions.read(path)
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == wanted["turns"]
    assert len(session.calls) == len(wanted.get("tool_calls", []))
    assert session.skipped == {}


def test_all_25_files_are_there() -> None:
    """Each has its expected reading."""
    assert len(EXPECTED) == 25


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.ipynb", "", "no notebook"),
        ("a.chat", "{}", "no Jupyter chat"),
        ("rollout-x.jsonl", "\n", "no Codex rollout"),
        ("a.json", '{"a": [1, 2]}', "no session that any reader knows"),
        ("a.jsonl", '{"type": "x"}\n', "no session that any reader knows"),
        ("a.sqlite", "x", "no IPython history"),
    ],
)
def test_a_file_of_nobody_is_explained_by_its_name(tmp_path: Path, name: str, content: str, says: str) -> None:
    """The reader that would have read it says what is wrong."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(SessionFormatError, match=says):
        sessions.read(tmp_path / name)


def test_a_damaged_head_does_not_hide_whose_lines_they_are(tmp_path: Path, data: Path) -> None:
    """The first whole line decides."""
    path = next((data / "sessions" / "claude-code").rglob("3e1d5eae*.jsonl"))
    (tmp_path / "x.jsonl").write_bytes(b'{"broken\n\n' + path.read_bytes())
    assert len(sessions.read(tmp_path / "x.jsonl").turns) == 2


def test_recognising_a_large_document_reads_its_head_only(tmp_path: Path) -> None:
    """A data file beside the sessions costs no more than a megabyte."""
    path = tmp_path / "data.json"
    path.write_text('{"a": "' + "x" * 40_000_000 + '", "cells": []}', encoding="utf-8")
    tracemalloc.start()
    try:
        assert recognise.source_of(path) is None
        assert tracemalloc.get_traced_memory()[1] < 80_000_000
    finally:
        tracemalloc.stop()


def test_covered_sessions_are_left_out_of_a_chat(data: Path) -> None:
    """The copy of a conversation gives nothing once the tool's own file is known."""
    path = data / "sessions" / "jupyter-ai" / "claude.chat"
    session = sessions.read(path)
    assert len(session.turns) == 2
    assert sessions.read(path, covered=session.copy_of).turns == ()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere.jsonl", "no such file"),
        (".", "no plain file"),
        ("x.jsonl.zst", "compressed"),
        ("notes.txt", "no session that any reader knows"),
        ("a\0b.jsonl", "cannot be looked at|no such file"),
        (f"{'x' * 5000}.jsonl", "cannot be looked at"),
    ],
)
def test_a_wrong_path_is_explained(tmp_path: Path, name: str, says: str) -> None:
    """Each mistake has one friendly sentence that names the path."""
    for made in ("x.jsonl.zst", "notes.txt"):
        (tmp_path / made).write_text("x", encoding="utf-8")
    with pytest.raises(SessionFormatError, match=says):
        sessions.read(f"{tmp_path}/{name}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    """A path that would block for ever is no session."""
    os.mkfifo(tmp_path / "x.jsonl")
    with pytest.raises(SessionFormatError, match="no plain file"):
        sessions.read(tmp_path / "x.jsonl")


def test_importing_loads_no_decoder() -> None:
    """The JSON decoder comes with the first session, not with the import."""
    code = (
        "import sys, memory_magic.sessions, memory_magic.sessions.records, memory_magic.pipeline.stage_one,"
        " memory_magic.pipeline.artefacts, memory_magic.pipeline.offline, memory_magic.pipeline.render;"
        "print([name for name in ('msgspec', 'pandas', 'jinja2', 'tqdm', 'filelock') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_is_closed_to_us_is_said(tmp_path: Path) -> None:
    """Nobody gets a traceback for a file of somebody else."""
    path = tmp_path / "x.jsonl"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0)
    with pytest.raises(SessionFormatError, match="cannot be read"):
        sessions.read(path)


def test_a_file_that_goes_while_it_is_recognised_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at its kind and the look at its content."""

    def gone(file: Path) -> None:
        """Do what opening a deleted file does."""
        raise FileNotFoundError(2, "No such file or directory", str(file))

    path = tmp_path / "x.jsonl"
    path.write_text("{}", encoding="utf-8")
    monkeypatch.setattr(recognise, "source_of", gone)
    with pytest.raises(SessionFormatError, match="cannot be read: No such file"):
        sessions.read(path)
