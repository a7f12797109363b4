"""What it costs to build the index anew, and to follow one changed line, beside the least that both could cost.

Cold rebuild: the index is deleted and `Store.reindex` makes it again from memory file and journal. Beside it stand its
parts, each timed alone in the same run: both files parsed, the ids derived, the search terms made, and the finished
rows put into an empty database of the same schema by bare INSERTs. The two sides take turns, the quickest round of each
counts, in processor time: what other programs take from a shared machine is nobody's cost. Memory is the highest
resident size of a process that does nothing else. The notes are sentences of 4,000 made words whose frequency falls
with their number, 17 words each.
"""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from memory_magic.store import index as index_module
from memory_magic.store import ranking, search_table
from memory_magic.store.index import Index, Row
from memory_magic.store.journal import Journal
from memory_magic.store.note import Document, decode
from memory_magic.store.store import Store
from memory_magic.text import words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from pytest_benchmark.fixture import BenchmarkFixture

    from memory_magic.store.records import JournalRecord

SIZES = (10_000, 100_000)
ROUNDS = 3
REACH = 1.3
GROWTH_REACH = 12.0
MEMORY_FACTOR, MEMORY_ADDED = 4, 60  # times the largest file, plus MB
ROWS_OF_NOTE, ROWS_ADDED = 4, 2
MB = 1_000_000
HIGHEST = """
import sys
from memory_magic.store.store import Store
with Store(sys.argv[1]) as store:
    store.reindex()
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
Made = TypeVar("Made")

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Give a list for rows (what | measured | reach) that is printed when all is measured."""
    rows = ["what | measured | reach"]
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(rows))


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Give a store of each size, seen once, so that its journal knows every note."""
    chance = random.Random(1)  # noqa: S311 - a benchmark, no secret
    letters = "abcdefghijklmnopqrstuvwxyz"
    known = ["".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(4_000)]
    made: dict[int, Path] = {}
    for size in SIZES:
        root = tmp_path_factory.mktemp("index") / str(size)
        (root / "global").mkdir(parents=True)
        texts = [" ".join(known[int(4_000 ** chance.random()) - 1] for _ in range(17)) for _ in range(size)]
        (root / "global" / "MEMORY.md").write_text("# Memory\n\n" + "".join(f"- {text}\n" for text in texts))
        with Store(root) as store:
            store.observe()
        made[size] = root
    return made


def timed(work: Callable[[], Made]) -> tuple[float, Made]:
    """Return the seconds of processor time that *work* takes, and what it gives."""
    gc.collect()
    began = time.process_time()
    made = work()
    return time.process_time() - began, made


def rebuilt(root: Path) -> float:
    """Return the seconds of a rebuild in this process, caches of terms cold."""
    words._CHUNKS.clear()
    with Store(root) as store:
        return timed(store.reindex)[0]


def parts(root: Path, place: Path) -> dict[str, float]:
    """Return the seconds of each part alone: what a rebuild cannot do without."""
    spent: dict[str, float] = {}
    data = (root / "global" / "MEMORY.md").read_bytes()
    spent["memory file, ids"], document = timed(lambda: _parsed(data))
    texts = [note.text for note in document.notes.values()]
    ids = list(document.notes)
    spent["journal"], records = timed(lambda: list(Journal(root / "JOURNAL.md").records()))
    words._CHUNKS.clear()
    spent["terms"], packed = timed(lambda: [ranking.packed(text, "Memory") for text in texts])
    rows = [
        (search_table.BLOCK + at, *Row(one, text, at, False, "item", ("Memory",), at, "", "x").values("global"), terms)  # noqa: FBT003
        for at, (one, text, terms) in enumerate(zip(ids, texts, packed, strict=True), start=1)
    ]
    spent["insert"] = bare_insert(place, rows, records)
    return spent


def _parsed(data: bytes) -> Document:
    document = Document("global", decode(data))
    _ = document.notes  # an id is made of a parsed text: both are one step
    return document


def bare_insert(place: Path, rows: list[tuple[object, ...]], records: list[JournalRecord]) -> float:
    """Return the seconds of putting finished rows into an empty database of the same schema."""
    for path in place.parent.glob(f"{place.name}*"):
        path.unlink()
    index = Index(place)
    try:
        index.check()
        return timed(lambda: _put(index, rows, records))[0]
    finally:
        index.close()


def _put(index: Index, rows: list[tuple[object, ...]], records: list[JournalRecord]) -> None:
    with index.transaction() as connection:
        connection.executemany(index_module._INSERT_NOTE, rows)
        connection.executemany("INSERT INTO search(rowid, terms) VALUES (?, ?)", [(row[0], row[-1]) for row in rows])
        index.add_records(records)


def test_a_rebuild_costs_little_more_than_its_parts(
    roots: dict[int, Path], table: list[str], tmp_path: Path, benchmark: BenchmarkFixture
) -> None:
    """Rebuilding 100,000 notes takes at most 1.3 times its parts, and at most twelve times as long as 10,000."""
    seen: dict[int, list[tuple[float, dict[str, float]]]] = {size: [] for size in SIZES}

    def measure() -> None:
        for size, root in roots.items():
            seen[size].append((rebuilt(root), parts(root, tmp_path / "bare.sqlite3")))

    benchmark.pedantic(measure, rounds=ROUNDS)  # type: ignore[no-untyped-call]
    best = {size: min(whole for whole, _ in rounds) for size, rounds in seen.items()}
    large = {name: min(spent[name] for _, spent in seen[SIZES[-1]]) for name in seen[SIZES[-1]][0][1]}
    sum_of_parts = sum(large.values())
    ratio, growth = best[SIZES[-1]] / sum_of_parts, best[SIZES[-1]] / best[SIZES[0]]
    table += [f"part: {name}, {SIZES[-1]} notes | {seconds:.2f} s |" for name, seconds in large.items()]
    without = sum_of_parts - large["journal"]
    table += [
        f"cold rebuild : parts | {ratio:.2f} x ({best[SIZES[-1]]:.2f} s : {sum_of_parts:.2f} s) | <= {REACH} x",
        f"the same, the journal's parsing not counted as a part | {best[SIZES[-1]] / without:.2f} x |",
        f"100,000 : 10,000 notes | {growth:.1f} x | <= {GROWTH_REACH:.0f} x",
    ]
    benchmark.extra_info["ratio"] = ratio
    assert ratio <= REACH
    assert growth <= GROWTH_REACH


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the highest resident size is read from /proc")
def test_a_rebuild_holds_little_in_memory(
    roots: dict[int, Path], table: list[str], tmp_path: Path, benchmark: BenchmarkFixture
) -> None:
    """A rebuild of 100,000 notes holds at most four times the largest file and 60 MB more than an empty store's."""
    (tmp_path / "empty").mkdir()
    held: dict[str, float] = {}

    def measure() -> None:
        for name, root in (("empty", tmp_path / "empty"), ("full", roots[SIZES[-1]])):
            run = subprocess.run(
                [sys.executable, "-c", HIGHEST, str(root)], capture_output=True, text=True, check=True, env=os.environ
            )
            held[name] = int(run.stdout.split()[-1]) * 1024 / MB

    benchmark.pedantic(measure, rounds=1)  # type: ignore[no-untyped-call]
    root = roots[SIZES[-1]]
    largest = max(path.stat().st_size for path in (root / "JOURNAL.md", root / "global" / "MEMORY.md")) / MB
    reach = held["empty"] + MEMORY_FACTOR * largest + MEMORY_ADDED
    table.append(
        f"highest resident size | {held['full']:.0f} MB (empty store {held['empty']:.0f} MB, largest file"
        f" {largest:.1f} MB) | <= {reach:.0f} MB"
    )
    assert held["full"] <= reach


def test_one_changed_line_writes_few_rows(
    roots: dict[int, Path], table: list[str], benchmark: BenchmarkFixture
) -> None:
    """After an edit of one line among 10,000 notes SQLite changes at most four rows, and two more."""
    root = roots[SIZES[0]]
    path = root / "global" / "MEMORY.md"
    written: list[int] = []
    with Store(root) as store:
        store.search("warm")
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        lines[5_000] = "- this line was changed by hand\n"
        path.write_text("".join(lines))
        connection: sqlite3.Connection = store._indexes.writing().connection

        def follow() -> None:
            before = connection.total_changes
            assert store.search("changed by hand").hits
            written.append(connection.total_changes - before)

        benchmark.pedantic(follow, rounds=1)  # type: ignore[no-untyped-call]
    table.append(
        f"rows written after one changed line of {SIZES[0]} | {written[0]} | <= {ROWS_OF_NOTE * 1 + ROWS_ADDED}"
    )
    assert written[0] <= ROWS_OF_NOTE * 1 + ROWS_ADDED
