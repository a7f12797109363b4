"""What the store costs beside the least that it could cost, measured in turns within one run.

`%load_ext memory_magic` in a fresh IPython beside `import pandas`; `Store.remember` beside a bare script that makes the
same system calls on the same bytes (lock, holder file, end of the journal read, memory file read, temp + fsync,
record + fsync, exchange, what came out read, rename to `.old`, directory fsync, an older `.old` removed, one INSERT +
COMMIT); and how many bytes of its journal the status of 100,000 notes reads. The two sides of a ratio take turns, with
a pause between them because people do not write faster, and their medians are compared.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from memory_magic.store import files
from memory_magic.store.journal import TAIL_BYTES
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_benchmark.fixture import BenchmarkFixture

    from memory_magic.store.records import Written

LOAD_REACH = 0.15  # of `import pandas`
WRITE_REACH = 1.5  # times the bare script
PAUSE = 0.03
WRITES = 61
LOADS = 7

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Give a list for rows (what | measured | reach) that is printed when all is measured."""
    rows = ["what | measured | reach"]
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(rows))


def in_turns(
    benchmark: BenchmarkFixture, ours: Callable[[], float], theirs: Callable[[], float], rounds: int
) -> tuple[float, float]:
    """Return the medians of what both sides say that they took, in seconds; they take turns, one warm-up each."""
    spent: list[tuple[float, float]] = []
    waiting: list[float] = []
    benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: spent.append((ours(), waiting[-1])),
        setup=lambda: waiting.append(theirs()),
        rounds=rounds,
        warmup_rounds=1,
    )
    left, right = zip(*spent[1:], strict=True)
    return statistics.median(left), statistics.median(right)


# -- %load_ext -------------------------------------------------------------------------------------------------

_IN_IPYTHON = """
import time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
begin = time.perf_counter()
{statement}
print(time.perf_counter() - begin)
"""
_LOAD = 'shell.run_line_magic("load_ext", "memory_magic")'
_PANDAS = "import pandas"


def seconds(statement: str) -> float:
    """Return how long *statement* takes in a fresh process in which IPython is up."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    words = [sys.executable, "-c", _IN_IPYTHON.format(statement=statement)]
    done = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout.splitlines()[-1])


def test_loading_the_extension(benchmark: BenchmarkFixture, table: list[str]) -> None:
    """Loading the magics takes at most 15 % of what importing pandas takes."""
    pytest.importorskip("pandas")
    ours, theirs = in_turns(benchmark, lambda: seconds(_LOAD), lambda: seconds(_PANDAS), LOADS)
    measured = f"{ours / theirs:.3f} x ({ours * 1e3:.0f} ms : {theirs * 1e3:.0f} ms)"
    table.append(f"%load_ext memory_magic : import pandas | {measured} | <= {LOAD_REACH} x")
    assert ours / theirs <= LOAD_REACH


# -- remember --------------------------------------------------------------------------------------------------


def lines(count: int) -> str:
    """Return a memory file of *count* notes."""
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
    return "".join(
        f"- note {number} says that deployments of service {number % 37} run on {days[number % 5]}\n"
        for number in range(count)
    )


class Bare:
    """The least that a durable, locked, recoverable write of one note can do, without any thought."""

    def __init__(self, place: Path, text: str, record: bytes) -> None:
        self.place, self.record = place, record
        place.mkdir()
        (place / "global").mkdir()
        self.file = str(place / "global" / "MEMORY.md")
        self.journal = str(place / "JOURNAL.md")
        Path(self.file).write_text(text, encoding="utf-8")
        Path(self.journal).write_bytes(record * 50)
        self.index = sqlite3.connect(place / "index.sqlite3", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
            self.index.execute(f"PRAGMA {pragma}")
        self.index.execute("CREATE TABLE notes(id TEXT, text TEXT, line INTEGER, n INTEGER, created TEXT, by TEXT)")
        self.old = ""

    def remember(self, text: str) -> None:
        """Append *text* as a note."""
        with FileLock(self.place / ".lock", mode=0o600):
            self.write(f"{self.place}/.lock.holder", b"pid 12345 on host since 2026-11-30T18:35:00Z\n", sync=False)
            self.end_of_journal()
            os.listdir(f"{self.place}/global")  # noqa: PTH208
            if self.old:
                os.unlink(self.old)  # noqa: PTH108
            before = self.read(self.file)
            new = before + f"- {text}\n".encode()
            part, temp = f"{self.place}/global/.new.part", f"{self.place}/global/.new"
            self.write(part, new, sync=True)
            os.rename(part, temp)  # noqa: PTH104
            descriptor = os.open(self.journal, os.O_RDWR | os.O_CREAT, 0o600)
            os.lseek(descriptor, 0, os.SEEK_END)
            os.write(descriptor, self.record)
            os.fsync(descriptor)
            os.close(descriptor)
            files.exchange(temp, self.file)
            if self.read(temp) != before:
                raise RuntimeError
            self.old = f"{self.place}/global/.old"
            os.replace(temp, self.old)  # noqa: PTH105
            descriptor = os.open(f"{self.place}/global", os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
            self.index.execute("BEGIN IMMEDIATE")
            row = ("0" * 26, text, 1, 1, "2026-11-30T18:35:00.000000Z", "python")
            self.index.execute("INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?)", row)
            self.index.execute("COMMIT")

    @staticmethod
    def write(path: str, data: bytes, *, sync: bool) -> None:
        """Write a private file."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, data)
        if sync:
            os.fsync(descriptor)
        os.close(descriptor)

    @staticmethod
    def read(path: str) -> bytes:
        """Read a file."""
        descriptor = os.open(path, os.O_RDONLY)
        data = os.read(descriptor, os.fstat(descriptor).st_size + 1)
        os.close(descriptor)
        return data

    def end_of_journal(self) -> None:
        """Read the journal's end."""
        descriptor = os.open(self.journal, os.O_RDONLY)
        size = os.fstat(descriptor).st_size
        os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
        os.close(descriptor)


def timed(remember: Callable[[str], object]) -> Callable[[], float]:
    """Return a call that remembers a new text after a pause and says how long that took."""
    numbers = itertools.count()

    def call() -> float:
        text = f"note {next(numbers)} of ours says something short"
        time.sleep(PAUSE)
        begin = time.perf_counter()
        remember(text)
        return time.perf_counter() - begin

    return call


@pytest.mark.parametrize("count", [100, 10_000])
def test_remembering(count: int, benchmark: BenchmarkFixture, tmp_path: Path, table: list[str]) -> None:
    """A write costs at most one and a half times its own system calls, in a small store and in a large one."""
    store = Store(tmp_path / "root")
    file = tmp_path / "root" / "global" / "MEMORY.md"
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_text(lines(count), encoding="utf-8")
    first = store.remember("the first note of ours")
    record = (tmp_path / "root" / "JOURNAL.md").read_bytes()[store.journal()[-1].offset :]
    bare = Bare(tmp_path / "bare", lines(count), record)
    written: list[Written] = []
    ours, theirs = in_turns(
        benchmark,
        timed(lambda text: written.append(store.remember(text))),
        timed(bare.remember),
        WRITES,
    )
    measured = f"{ours / theirs:.2f} x ({ours * 1e3:.2f} ms : {theirs * 1e3:.2f} ms)"
    table.append(f"remember at {count:,} notes : its system calls | {measured} | <= {WRITE_REACH} x")
    assert written[-1].line == first.line + len(written)
    assert store.verify().ok
    assert ours / theirs <= WRITE_REACH


# -- status ----------------------------------------------------------------------------------------------------


def test_status_of_a_large_store(
    benchmark: BenchmarkFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: list[str]
) -> None:
    """With 100,000 notes and records, status reads the last 64 kB of the journal and no more."""
    root = tmp_path / "root"
    (root / "global").mkdir(parents=True, mode=0o700)
    (root / "global" / "MEMORY.md").write_text(lines(100_000), encoding="utf-8")
    store = Store(root)
    assert len(store.observe()) == 100_000
    journal = root / "JOURNAL.md"
    inode, read = journal.stat().st_ino, [0]
    reals = {name: getattr(os, name) for name in ("read", "pread")}

    def counting(name: str) -> Callable[..., bytes]:
        def call(descriptor: int, *arguments: int) -> bytes:
            data: bytes = reals[name](descriptor, *arguments)
            if os.fstat(descriptor).st_ino == inode:
                read[0] += len(data)
            return data

        return call

    for name in reals:
        monkeypatch.setattr(os, name, counting(name))
    fresh = Store(root)  # one that wrote the journal itself would read its last record only
    status = benchmark.pedantic(fresh.status, rounds=1)  # type: ignore[no-untyped-call]
    assert (status.journal_records, status.index_notes) == (100_000, 100_000)
    assert journal.stat().st_size > 100 * TAIL_BYTES
    table.append(f"status of 100,000 notes: bytes read of the journal | {read[0]:,} | <= {TAIL_BYTES:,}")
    assert 0 < read[0] <= TAIL_BYTES
