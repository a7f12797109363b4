"""Choosing a reader for a path, and what importing costs."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memory_magic import sessions
from memory_magic.errors import SessionFormatError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_rollout_is_read_by_its_name(data: Path) -> None:
    """A path given as text is enough."""
    path = next((data / "sessions").rglob("*01a22dc2-d085*.jsonl"))
    assert len(sessions.read(str(path)).turns) == 4


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere.jsonl", "no such file"),
        (".", "no plain file"),
        ("x.jsonl.zst", "compressed"),
        ("notes.txt", "no session file that can be read yet"),
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
