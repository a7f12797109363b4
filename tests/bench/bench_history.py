"""What looking back costs: histories, verify and replay of 100,000 records, beside the least that each could cost.

`history(id)` beside its own look-ups (file and journal still the same? which notes begin so? which records name each
id?) and reading and parsing the bytes of its records; the same in a journal of 10,000 records. `verify` beside reading
and parsing the fields and two SHA-256 for each of them; the memory that it takes. `replay` beside verify's parse. The
sides of a ratio take turns and medians are compared; processor time, because neighbours on a shared machine make the
clock lie.
"""

from __future__ import annotations

import hashlib
import os
import random
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from memory_magic.store import journal_format as form
from memory_magic.store.archive import Archive
from memory_magic.store.ids import note_id
from memory_magic.store.journal import Journal
from memory_magic.store.journal_format import Draft
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

RECORDS, FEWER = 100_000, 10_000
LIVES = 21  # records of the history that is asked for, spread over the whole journal
HISTORY_REACH, LENGTH_REACH = 1.5, 1.3
VERIFY_REACH, REPLAY_REACH = 2.0, 1.3
MEGABYTES = 100
_LINKS = "SELECT at, length, n, id, new_id FROM journal WHERE "

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


def drafts(count: int) -> list[Draft]:
    """Make records of half a kilobyte: a note that is revised now and then, and others that come and go."""
    chance = random.Random(7)  # noqa: S311  (the same records every time, no secret)
    words = [f"word{number}" for number in range(500)]
    made, family, spoken = [], "", ""
    one = text = ""
    for number in range(count):
        if number % (count // LIVES + 1) == 0:
            new_text = f"the note that is revised now and then, here by record {number}"
            new = note_id("global", new_text)
            fields = {"before": spoken, "new_id": new, "evidence": "heard in the stand-up"} if family else {}
            made.append(Draft("revise" if family else "remember", {
                "scope": "global", "id": family or new, "after": new_text, "by": "command line", **fields,
            }))  # fmt: skip
            family, spoken = new, new_text
        elif not one or number % 4:  # three notes of four stay
            text = " ".join(chance.choices(words, k=25))
            one = note_id("global", text)
            by = "notebook analysis.ipynb cell 4f2a (execution 12)"
            made.append(Draft("remember", {"scope": "global", "id": one, "after": text, "by": by}))
        else:
            evidence = " ".join(chance.choices(words, k=8))
            made.append(Draft("retire", {"scope": "global", "id": one, "before": text, "evidence": evidence}))
            one = ""
    return made


def long_store(root: Path, count: int) -> tuple[Store, str]:
    """Make a store whose journal has *count* records, its index level; return it with the id that is asked for."""
    root.mkdir(mode=0o700)
    journal = Journal(root / "JOURNAL.md")
    journal.append(drafts(count))
    store = Store(root, root)
    notes = replay(journal.records(), cancelled=()).get("global", {})
    store.scopes[0].path.mkdir(mode=0o700)
    store.scopes[0].memory_file.write_text("".join(f"- {note.text}\n" for note in notes.values()), encoding="utf-8")
    assert store.observe() == []
    return store, next(one for one, note in notes.items() if note.text.startswith("the note"))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[Store, str]]:
    """Give a store with a long journal and one with a tenth of it."""
    place = tmp_path_factory.mktemp("history")
    made = {count: long_store(place / str(count), count) for count in (FEWER, RECORDS)}
    time.sleep(2.1)  # a file that was written a moment ago is hashed instead of trusted
    return made


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Give a list for rows (what | measured | reach) that is printed when all is measured."""
    rows = ["what | measured | reach"]
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(rows))


def spent(work: Callable[[], object]) -> float:
    """Return the processor time of *work* in seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def in_turns(benchmark: BenchmarkFixture, rounds: int, *sides: Callable[[], object]) -> list[float]:
    """Return the median processor time of each side; they take turns."""
    times: list[list[float]] = [[] for _ in sides]

    def turn() -> None:
        for side, found in zip(sides, times, strict=True):
            found.append(spent(side))

    benchmark.pedantic(turn, rounds=rounds, warmup_rounds=1)  # type: ignore[no-untyped-call]
    return [statistics.median(found[1:]) for found in times]


def least(store: Store, one: str) -> Callable[[], object]:
    """Return the least that a history can do: its look-ups, and its records read and parsed."""
    index = store._indexes.reading()
    assert index is not None
    connection = index.connection
    file, journal = str(store.scopes[0].memory_file), str(store.root / "JOURNAL.md")

    def work() -> object:
        os.stat(os.path.realpath(file))  # noqa: PTH116
        connection.execute("SELECT * FROM sources WHERE scope = 'global'").fetchone()
        connection.execute("SELECT at + length FROM journal ORDER BY at DESC LIMIT 1").fetchone()
        os.stat(journal)  # noqa: PTH116
        seen, ahead, found = {one}, [one], {}
        while ahead:
            for row in connection.execute(f"{_LINKS}id = ?1 UNION ALL {_LINKS}new_id = ?1", (ahead.pop(),)):
                found[row[0]] = row
                ahead += [other for other in row[3:] if other and other not in seen]
                seen |= {other for other in row[3:] if other}
        descriptor = os.open(journal, os.O_RDONLY)
        records = [
            form.parse(os.pread(descriptor, row[1], at).decode(), at, row[1]) for at, row in sorted(found.items())
        ]
        os.close(descriptor)
        return records

    return work


def test_history(benchmark: BenchmarkFixture, stores: dict[int, tuple[Store, str]], table: list[str]) -> None:
    """A history costs its look-ups and its own records, however long the journal is."""
    (few, few_id), (many, many_id) = stores[FEWER], stores[RECORDS]
    assert len(Archive(many).history(many_id).records) == len(Archive(few).history(few_id).records) == LIVES
    bare = least(many, many_id)
    assert len(bare()) == LIVES  # type: ignore[arg-type]
    ours, theirs, short = in_turns(
        benchmark,
        300,
        lambda: Archive(many).history(many_id),
        bare,
        lambda: Archive(few).history(few_id),
    )
    measured = f"{ours / theirs:.2f} x ({ours * 1e6:.0f} : {theirs * 1e6:.0f} µs)"
    table.append(f"history of {LIVES} records : look-ups, reading, parsing | {measured} | <= {HISTORY_REACH} x")
    measured = f"{ours / short:.2f} x ({ours * 1e6:.0f} : {short * 1e6:.0f} µs)"
    table.append(f"history in a journal of {RECORDS:,} : of {FEWER:,} | {measured} | <= {LENGTH_REACH} x")
    assert ours / theirs <= HISTORY_REACH
    assert ours / short <= LENGTH_REACH


def test_verify_and_replay(benchmark: BenchmarkFixture, stores: dict[int, tuple[Store, str]], table: list[str]) -> None:
    """Verify costs at most twice its parsing and hashing, replay little more than verify's parsing."""
    journal = Journal(stores[RECORDS][0].root / "JOURNAL.md")

    def parse() -> None:
        for _ in journal.records():
            pass

    def parse_and_hash() -> None:
        for record in journal.records():
            for name, value in record.fields.items():
                own = hashlib.sha256(f"{record.salt}{name}".encode()).hexdigest()
                hashlib.sha256(f"{own}{value}".encode()).hexdigest()

    assert journal.verify().ok
    parsed, hashed, verified, replayed = in_turns(
        benchmark,
        7,
        parse,
        parse_and_hash,
        journal.verify,
        lambda: replay(journal.records(), cancelled=journal.cancelled()),
    )
    size = journal.path.stat().st_size / 1e6
    measured = f"{verified / hashed:.2f} x ({verified:.2f} : {hashed:.2f} s, {size:.0f} MB)"
    table.append(f"verify {RECORDS:,} records : parsing, two SHA-256 a field | {measured} | <= {VERIFY_REACH} x")
    measured = f"{replayed / parsed:.2f} x ({replayed:.2f} : {parsed:.2f} s)"
    table.append(f"replay {RECORDS:,} records : verify's parsing | {measured} | <= {REPLAY_REACH} x")
    assert verified / hashed <= VERIFY_REACH
    assert replayed / parsed <= REPLAY_REACH


_VERIFY = """
import re, sys
from pathlib import Path
from memory_magic.store.journal import Journal
verdict = Journal(Path(sys.argv[1])).verify()
status = Path("/proc/self/status").read_text()  # ru_maxrss would tell of the process that started this one
print(int(verdict.ok), re.search(r"VmHWM:\\s*(\\d+)", status)[1])
"""


def test_memory_of_verify(stores: dict[int, tuple[Store, str]], table: list[str], benchmark: BenchmarkFixture) -> None:
    """Verify streams: a process that does nothing else stays below 100 MB."""
    words = [sys.executable, "-c", _VERIFY, str(stores[RECORDS][0].root / "JOURNAL.md")]
    told: list[str] = []
    benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: told.append(subprocess.run(words, check=True, capture_output=True, text=True).stdout), rounds=1
    )
    ok, kilobytes = map(int, told[0].split())
    table.append(f"memory of a verify of {RECORDS:,} records | {kilobytes / 1024:.0f} MB | <= {MEGABYTES} MB")
    assert ok
    assert kilobytes / 1024 <= MEGABYTES
