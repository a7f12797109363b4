"""Retention: old entries and the blocks that only they name go, once a day, beside whoever is at work."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import MemoryMagicError
from memory_magic.prompt.block import Block, Report, Section
from memory_magic.prompt.ledger import Ledger, record
from memory_magic.prompt.ledger_retention import Pruned, prune, prune_quietly, prune_when_due
from memory_magic.store import files, ledger_files

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400
NOW = 1_796_083_200.0 + 10 * DAY  # 2026-12-11T00:00:00Z


def enter(root: Path, text: str, moment: float, days: int | None = None) -> str:
    """Enter one injection of *moment*."""
    block = Block(text, Report(1, (Section("notes", 1, 1, "entries"),)))
    return record(root, block, assistant="a", conversation=text, cwd="/x", scopes=("global",), head=(1, "0" * 16),
                  days=days, now=lambda: moment)  # fmt: skip


def left(root: Path) -> list[str | None]:
    """Return the conversations that the ledger still tells of, newest first."""
    return [line.conversation for line in Ledger(root).lines()]


def let_blocks_age(root: Path) -> None:
    """Make every stored block two days older."""
    for path in (root / "ledger" / "blocks").iterdir():
        os.utime(path, (time.time() - 2 * DAY,) * 2)


def wait_for_retention() -> None:
    """Wait for the thread that a record started."""
    for thread in threading.enumerate():
        if thread.name == "ledger-retention":
            thread.join()


def test_old_lines_months_and_blocks_go(root: Path) -> None:
    """A month that is past goes whole, the month of the border loses its first lines, what is named stays."""
    for text, days in (("old", 70), ("month", 40), ("border", 8), ("kept", 6), ("new", 0)):
        enter(root, text, NOW - days * DAY)
    enter(root, "old", NOW)  # the block of an old line is named by a new one, too
    enter(root, "orphan of today", NOW - 60 * DAY)
    let_blocks_age(root)
    enter(root, "orphan of today", NOW - 60 * DAY)  # touched again
    assert prune(root, 7, now=lambda: NOW) == Pruned(5, 2)
    assert left(root) == ["old", "new", "kept"]
    assert [path.name for path in (root / "ledger").glob("*.jsonl")] == ["2026-12.jsonl"]
    blocks = {Ledger(root).block(path.stem) for path in (root / "ledger" / "blocks").iterdir()}
    assert blocks == {"old", "new", "kept", "orphan of today"}
    assert prune(root, 7, now=lambda: NOW) == Pruned()


def test_it_happens_once_a_day(root: Path) -> None:
    """The mark of the last time is looked at; a clock that went back a day prunes again, too."""
    enter(root, "old", NOW - 40 * DAY)
    assert prune_when_due(root, 7, now=lambda: NOW).lines == 1
    enter(root, "old", NOW - 40 * DAY)
    assert prune_when_due(root, 7, now=lambda: NOW + DAY / 2) == Pruned()
    assert prune_when_due(root, None, now=lambda: NOW + 3 * DAY) == Pruned()
    assert prune_when_due(root, 7, now=lambda: NOW + DAY).lines == 1
    assert prune_when_due(root / "none", 7) == Pruned()


def test_a_record_prunes_beside_itself(root: Path) -> None:
    """With the setting an entry starts it, in a thread; without the setting nothing ever goes."""
    enter(root, "old", NOW - 40 * DAY)
    enter(root, "new", NOW)
    wait_for_retention()
    assert left(root) == ["new", "old"]
    enter(root, "newer", NOW, days=7)
    wait_for_retention()
    assert left(root) == ["newer", "new"]


def test_a_process_that_ends_at_once_prunes_all_the_same(root: Path) -> None:
    """A hook's process waits for it at its end, not before its answer."""
    enter(root, "old", time.time() - 40 * DAY)
    script = (
        "import sys; from memory_magic.prompt.block import Block, Report;"
        "from memory_magic.prompt.ledger import record;"
        "record(sys.argv[1], Block('new', Report(1, ())), assistant='a', conversation='new', cwd='/x', scopes=[],"
        " head=(0, ''), days=7)"
    )
    subprocess.run([sys.executable, "-c", script, str(root)], check=True)
    assert left(root) == ["new"]


def test_foreign_lines_and_left_overs(root: Path) -> None:
    """Lines that are not ours stay until their month goes; half-written files of a crash go after an hour."""
    enter(root, "old", NOW - 9 * DAY)
    path = root / "ledger" / "2026-12.jsonl"
    with path.open("a") as file:
        file.write('{"not": "ours"}\n')
    for name, age in (("." + "a" * 64 + ".md.7.tmp", 7_200), ("." + "b" * 64 + ".md.8.tmp", 60)):
        stray = root / "ledger" / "blocks" / name
        stray.write_text("half")
        os.utime(stray, (time.time() - age,) * 2)
    prune(root, 7, now=lambda: NOW)
    assert path.read_text() == '{"not": "ours"}\n'
    assert [one.name[1] for one in (root / "ledger" / "blocks").glob(".*")] == ["b"]


def test_what_goes_wrong_is_kept_not_raised(root: Path) -> None:
    """A lock that somebody holds, a link in the ledger's place: told to the next person."""
    enter(root, "old", NOW - 40 * DAY)
    (root / "ledger").rename(root / "elsewhere")
    (root / "ledger").symlink_to(root / "elsewhere")
    prune_quietly(root, 7, now=lambda: NOW)
    assert "a link stands in the place" in Ledger(root).take_problem()
    with pytest.raises(MemoryMagicError):
        prune(root, 7, now=lambda: NOW)


APPENDER = """
import sys
from memory_magic.prompt.block import Block, Report
from memory_magic.prompt.ledger import record
for number in range(400):
    problem = record(sys.argv[1], Block("block", Report(1, ())), assistant=sys.argv[2], conversation=str(number),
                     cwd="/x", scopes=[], head=(0, ""))
    assert not problem, problem
"""


def test_no_line_is_lost_or_doubled_while_a_month_is_rewritten(root: Path) -> None:
    """Three writers append while the file is rewritten again and again: each of their lines is there once."""
    enter(root, "first", time.time())
    running = [subprocess.Popen([sys.executable, "-c", APPENDER, str(root), str(number)]) for number in range(3)]
    (path,) = (root / "ledger").glob("*.jsonl")
    rounds = 0
    while any(one.poll() is None for one in running):
        ledger_files.rewrite(str(path), partial(_marked, mark=f'{{"round": {rounds}}}\n'.encode()))
        rounds += 1
    assert [one.wait() for one in running] == [0, 0, 0]
    assert rounds > 20
    found: dict[str, list[str | None]] = {}
    for line in Ledger(root).lines():
        found.setdefault(line.assistant, []).append(line.conversation)
    assert {name: sorted(ones, key=lambda one: int(one or 0)) for name, ones in found.items() if name != "a"} == {
        str(number): [str(one) for one in range(400)] for number in range(3)
    }
    assert not list((root / "ledger").glob(".*.tmp"))


def _marked(data: bytes, mark: bytes) -> bytes:
    """Return *data* with a mark as its first line, in place of the mark of the round before."""
    lines = [line for line in data.splitlines(keepends=True) if not line.startswith(b'{"round"')]
    return b"".join([mark, *lines])


KILLED = """
import os, sys
from memory_magic.store import files, ledger_files
real = getattr(files, sys.argv[2])
calls = []
def killing(*given, **named):
    result = real(*given, **named) if sys.argv[3] == "after" else None
    os.kill(os.getpid(), 9)
setattr(files, sys.argv[2], killing)
ledger_files.rewrite(sys.argv[1], lambda data: data.replace(b"old", b"new"))
"""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", ["create", "exchange", "remove"])
def test_a_rewrite_that_is_killed_is_finished_by_the_next(root: Path, step: str, moment: str) -> None:
    """At every step: the month is whole in between, and the next rewrite ends the same and leaves nothing beside it."""
    enter(root, "old", NOW)
    enter(root, "other", NOW)
    (path,) = (root / "ledger").glob("*.jsonl")
    wanted = path.read_bytes().replace(b"old", b"new")
    script = [sys.executable, "-c", KILLED, str(path), step, moment]
    assert subprocess.run(script, check=False).returncode == -9
    assert path.read_bytes() in {wanted, wanted.replace(b"new", b"old")}
    ledger_files.rewrite(str(path), lambda data: data.replace(b"old", b"new"))
    assert path.read_bytes() == wanted
    assert not list((root / "ledger").glob(".*.tmp"))


@pytest.mark.parametrize("carried", [True, False])
def test_a_line_written_to_a_file_that_was_just_replaced(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    carried: bool,  # noqa: FBT001
) -> None:
    """Whoever rewrote the month has carried it over, or has not: it is there once in both cases."""
    enter(root, "first", NOW)
    (path,) = (root / "ledger").glob("*.jsonl")
    real = os.write
    calls: list[int] = []

    def replaced(descriptor: int, data: bytes) -> int:
        if calls or not bytes(data).startswith(ledger_files.START):
            return real(descriptor, data)
        calls.append(len(data))
        before = path.read_bytes()
        files.replace(path, before + (data if carried else b""))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", replaced)
    enter(root, "second", NOW)
    assert left(root) == ["second", "first"]
