"""What an entry costs: an append to the ledger beside a bare `O_APPEND` write of the same bytes.

The bare side opens the file, writes and closes it, as a process that was just started must; ours looks besides whether
the folder and the file are what they should be, and whether the month was rewritten in that moment. Below the ratio
stand, for the record, a whole entry (block known, redaction, JSON) and the first entry of a new block. The sides take
turns and medians are compared; processor time, because neighbours on a shared machine make the clock lie.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt import ledger
from memory_magic.prompt.block import Block, Report, Section

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

REACH = 2.0
ROUNDS, AT_ONCE = 60, 200

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]


def a_block(text: str) -> Block:
    """Make a block of 32 notes, 40 more left out, 12,000 characters."""
    inside = tuple(f"{number:026}" for number in range(32))
    outside = tuple(f"{number:026}" for number in range(40))
    section = Section("notes", 12_000, 11_800, "characters", inside, outside)
    return Block(f"{text}\n" * (12_000 // (len(text) + 1)), Report(3_000, (section,)))


def spent(work: Callable[[], object]) -> float:
    """Return the processor time of *work*, done many times, in microseconds for each."""
    begin = time.process_time()
    for _ in range(AT_ONCE):
        work()
    return (time.process_time() - begin) / AT_ONCE * 1e6


def test_an_append_beside_a_bare_write(
    benchmark: BenchmarkFixture, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes, the same folder, both files growing alike: at most twice the time."""
    block = a_block("one and the same note")
    number = iter(range(10**9))

    scopes = ("global", "workspace/" + "ab" * 32)
    talk = "0b0f2c9e-3a51-4b7e-9a9c-3d0f1c2b4a5d"

    def entry(block: Block) -> None:
        where = "/home/ana/project"
        assert not ledger.record(
            tmp_path, block, assistant="a", conversation=talk, cwd=where, scopes=scopes, head=(412, "9d02" * 4)
        )

    entry(block)
    (month,) = (tmp_path / "ledger").glob("*.jsonl")
    line = month.read_bytes()
    assert json.loads(line)["head"]["n"] == 412
    bare_path = str(tmp_path / "ledger" / "bare")
    os.close(os.open(bare_path, os.O_WRONLY | os.O_CREAT, 0o600))

    def bare() -> None:
        descriptor = os.open(bare_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, line)
        os.close(descriptor)

    sides: list[Callable[[], object]] = [
        bare,
        lambda: ledger.append(tmp_path, month.name, line),
        lambda: entry(block),
        lambda: entry(a_block(f"note {next(number)}")),
    ]
    times: list[list[float]] = [[] for _ in sides]

    def turn() -> None:
        for side, found in zip(sides, times, strict=True):
            found.append(spent(side))

    benchmark.pedantic(turn, rounds=ROUNDS, warmup_rounds=1)  # type: ignore[no-untyped-call]
    least, append, known, new = map(statistics.median, times)
    with capsys.disabled():
        print("\nwhat | measured | reach")
        print(f"bare O_APPEND write of {len(line):,} bytes | {least:.1f} us |")
        print(f"append to the ledger | {append:.1f} us = {append / least:.2f} x | <= {REACH:.1f} x")
        print(f"whole entry, block known | {known:.0f} us |")
        print(f"whole entry, new block of 12 kB | {new:.0f} us |")
    assert append <= REACH * least
