from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_magic import Store

GitRepo = Callable[..., Path]
CAMPAIGN = Path(__file__).parent / "campaign"
PATIENCE = 240.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def start(script: str, *words: object) -> subprocess.Popen[bytes]:
    """Start one of the campaign's programs."""
    return subprocess.Popen([sys.executable, str(CAMPAIGN / script), *map(str, words)])


def wait_for(paths: list[Path]) -> None:
    """Wait until each program has said that it is ready."""
    deadline = time.monotonic() + PATIENCE
    while not all(path.exists() for path in paths):
        assert time.monotonic() < deadline, "a program did not start"
        time.sleep(0.005)


def verdict(root: Path, cwd: Path, writer_log: Path, editor_log: Path) -> dict[str, Any]:
    """Return the figures after making sure that the judge found no fault."""
    words = [sys.executable, str(CAMPAIGN / "check.py"), *map(str, (root, cwd, writer_log, editor_log))]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    print(json.dumps(found["figures"]))
    assert found["faults"] == []
    figures: dict[str, Any] = found["figures"]
    return figures


@pytest.mark.parametrize("editor", ["none", "rename", "truncate", "in-place"])
def test_kill_9_in_mixed_writes_loses_nothing(editor: str, git_repo: GitRepo, root: Path, tmp_path: Path) -> None:
    """300 writes by killed processes beside an editor: no change and no save is lost, chain and files agree."""
    cwd = git_repo("lab")
    with Store(root, cwd) as store:
        store.remember("the first note")
        file = store.scopes[0].memory_file
    stop, writer_log, editor_log = tmp_path / "stop", tmp_path / "writer.log", tmp_path / "editor.log"
    other = start("editor.py", file, editor_log, stop, editor, 7) if editor != "none" else None
    writer = start("writer.py", "killed", root, cwd, writer_log, 7, 3, 60, 300)
    try:
        assert writer.wait(PATIENCE) == 0
    finally:
        # its children watch for their parent: nothing writes into this root after the test
        writer.kill()
        stop.touch()
        assert other is None or other.wait(PATIENCE) == 0
    figures = verdict(root, cwd, writer_log, editor_log)
    assert figures["acknowledged"] >= 300
    if editor in {"none", "rename"}:
        assert figures["noise"] == 0, "a file that is never half-written is never misread"


def timed(kind: str, cwd: Path, root: Path, place: Path) -> float:
    """Return the seconds that 8 processes need for 50 writes each beside 4 neighbours of a kind."""
    place.mkdir()
    with Store(root, cwd) as store:
        store.remember("the first note")
    ready, go, stop = [place / f"ready{number}" for number in range(12)], place / "go", place / "stop"
    logs = [place / f"reader{number}" for number in range(4)]
    neighbours = [start("neighbour.py", kind, root, cwd, logs[n], ready[n], stop) for n in range(4)]
    writers = [start("writer.py", "steady", root, cwd, place / "log", n, 50, ready[4 + n], go) for n in range(8)]
    try:
        wait_for(ready)
        begin = time.monotonic()
        go.touch()
        statuses = [writer.wait(PATIENCE) for writer in writers]
        seconds = time.monotonic() - begin
    finally:
        for writer in writers:
            writer.kill()
        stop.touch()
        ended = [neighbour.wait(PATIENCE) for neighbour in neighbours]
    assert set(statuses + ended) == {0}
    for log in logs if kind == "read" else []:
        told = json.loads(log.read_text())
        print(told)
        assert told["faults"] == []
        assert told["looks"] > 0
    return seconds


def test_eight_writers_beside_four_readers(git_repo: GitRepo, root: Path, tmp_path: Path) -> None:
    """400 writes arrive, no reader sees an empty answer, and readers cost at most twice what a busy machine does."""
    cwd = git_repo("lab")
    ratios: list[float] = []
    for attempt in range(4):
        here = tmp_path / str(attempt)
        here.mkdir()
        burned = timed("burn", cwd, here / "root", here / "burn")
        read = timed("read", cwd, here / "root2", here / "read")
        figures = verdict(here / "root2", cwd, here / "read" / "log", here / "none")
        assert figures["acknowledged"] == 400
        assert figures["notes"] == 401
        ratios.append(read / burned)
        print(f"{read:.2f} s beside readers, {burned:.2f} s beside burners")
        if ratios[-1] <= 2:
            return
    pytest.fail(f"beside readers the writers took {ratios} times as long as beside burners")
