"""`make demo` is the first thing that a newcomer sees: it has to stay short, complete, and away from their files."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def _run(tree: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """Run the demo in *place*."""
    command = [sys.executable, str(tree / "tests" / "demo.py"), str(place)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_demo_shows_the_main_job_and_can_be_run_again(tree: Path, home: Path, tmp_path: Path) -> None:
    """The demo prints each step in at most 60 lines, leaves HOME alone, and starts from nothing the second time."""
    place = tmp_path / "demo"
    done = _run(tree, place)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 60
    for word in ("[REDACTED_SECRET]", "Tuesdays", "<native_memory_recall", "prefer tabs", "What to type next"):
        assert word in done.stdout
    for note in ("Sales figures are in EUR", "给客户演示时请用深色模式", "रिपोर्ट में तारीख़"):
        # typed, saved, found again, and in the block
        assert done.stdout.count(note) == 4
    assert list(home.iterdir()) == []
    # ids come from the texts, so the part before the first random number (the journal's head) is always the same
    assert _run(tree, place).stdout.splitlines()[:28] == lines[:28]


def test_demo_never_empties_a_folder_that_is_not_its_own(tree: Path, tmp_path: Path) -> None:
    """A folder with somebody's files is refused and left as it is."""
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    done = _run(tree, tmp_path)
    assert done.returncode == 1
    assert "name an empty folder" in done.stderr
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"
