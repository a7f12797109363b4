"""What a block costs: unchanged, changed, in stores of every size, and as the process that a hook starts.

*Unchanged* beside the least that telling so can cost: one stat for each file that the block depends on, and one index
query for the notes. *Changed* (the personal file is) beside the pure chain on the same text, already read, as a process
runs it that has never seen a note. Both in a store of 100 notes and in one of 100,000. The *hook's process* beside
`python -c pass`, all compiled, with a block of 32 notes. The sides of a ratio take turns and medians are compared; in
this process by processor time, because neighbours on a shared machine make the clock lie; of processes the least wall
time counts, for the same reason.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt import memory_block, notes, sources
from memory_magic.prompt import place as places
from memory_magic.prompt.compose import compose
from memory_magic.prompt.notes import Listed
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

FEW, MANY = 100, 100_000
UNCHANGED_REACH, CHANGED_REACH, FLAT_REACH = 1.5, 1.2, 1.5
PROCESS_REACH, PROCESS_MORE = 4.0, 0.100
_FIRST = (
    "SELECT id, text, scope, line, pinned, kind, n FROM notes WHERE scope = 'global'"
    " ORDER BY pinned DESC, n DESC, line DESC LIMIT 40"
)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]


def _store(root: Path, count: int) -> Store:
    """Make a store of *count* notes, with a personal memory file and a summary."""
    store = Store(root, root.parent)
    store.remember("Answer in short sentences", pin=True)
    with store.scopes[0].memory_file.open("a", encoding="utf-8") as file:
        file.writelines(f"- fact {number}: the team deploys part {number * 7} by hand\n" for number in range(count))
    store.observe()
    (root / "config.toml").write_text("[memories]\nenabled = true\n")
    (root / "memory.md").write_text("I like short answers and tabs.\n" * 100)
    summary = root / "global" / "consolidated" / "memory_summary.md"
    summary.parent.mkdir()
    summary.write_text("The team ships on Tuesdays and never on Fridays.\n" * 60)
    return store


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Store]:
    """Give a small store and a large one, whose files have stood for a while."""
    place = tmp_path_factory.mktemp("block")
    made = {}
    for count in (FEW, MANY):
        (place / str(count)).mkdir()
        made[count] = _store(place / str(count) / "root", count)
    time.sleep(2.1)  # a file that was written a moment ago is read instead of trusted
    return made


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Give a list for rows (what | measured | reach) that is printed when all is measured."""
    rows = ["what | measured | reach"]
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(rows))


def _spent(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _in_turns(benchmark: BenchmarkFixture, rounds: int, *sides: Callable[[], object]) -> list[float]:
    """Return the median processor time of each side; they take turns."""
    times: list[list[float]] = [[] for _ in sides]

    def turn() -> None:
        for side, found in zip(sides, times, strict=True):
            found.append(_spent(side))

    benchmark.pedantic(turn, rounds=rounds, warmup_rounds=1)  # type: ignore[no-untyped-call]
    return [statistics.median(found[1:]) for found in times]


def _many_times(work: Callable[[], object], times: int = 50) -> Callable[[], object]:
    """Repeat what is too short for the clock."""

    def repeated() -> None:
        for _ in range(times):
            work()

    return repeated


def _least(store: Store) -> Callable[[], object]:
    """Return the least that an unchanged block can cost."""
    names = places.paths(places.place_of(store))
    index = store._indexes.reading()
    assert index is not None
    connection = index.connection

    def work() -> object:
        for name in names:
            try:
                os.stat(name)  # noqa: PTH116
            except OSError:
                continue
        return connection.execute(_FIRST).fetchall()

    return work


def test_unchanged(benchmark: BenchmarkFixture, stores: dict[int, Store], table: list[str]) -> None:
    """A block of which nothing changed costs its looks at the files, whatever the size of the store."""
    few, many = stores[FEW], stores[MANY]
    assert memory_block(few) is memory_block(few)
    ours, bare, short = _in_turns(
        benchmark,
        100,
        _many_times(lambda: memory_block(many)),
        _many_times(_least(many)),
        _many_times(lambda: memory_block(few)),
    )
    measured = f"{ours / bare:.2f} x ({ours * 2e4:.0f} : {bare * 2e4:.0f} µs)"
    table.append(f"unchanged block : stats and one index query | {measured} | <= {UNCHANGED_REACH} x")
    measured = f"{ours / short:.2f} x ({ours * 2e4:.0f} : {short * 2e4:.0f} µs)"
    table.append(f"unchanged, {MANY:,} notes : {FEW} | {measured} | <= {FLAT_REACH} x")
    assert ours / bare <= UNCHANGED_REACH
    assert ours / short <= FLAT_REACH


def _changing(store: Store) -> Callable[[], object]:
    """Return a block of a store whose personal file has just changed."""
    path = store.root / "memory.md"
    texts = ["I like short answers and tabs.\n" * 100, "I like long answers and blanks\n" * 100]

    def work() -> object:
        texts.reverse()
        path.write_text(texts[0])
        return memory_block(store)

    return work


def _pure(store: Store) -> Callable[[], object]:
    """Return the chain alone, on what is read already; writing the file is not the block's, so it is done here too."""
    place = places.place_of(store)
    made_of, opened = sources.gather(place, store)
    try:
        short = {head.id: made_of.heads.short_id(head.id) for head in made_of.heads.first(40)[0].notes}
        heads = Listed(made_of.heads.first(40)[0].notes, short_id=short.__getitem__)
    finally:
        opened.close()
    path = store.root / "memory.copy"

    def work() -> object:
        path.write_text("I like short answers and tabs.\n" * 100)
        notes._rendered.cache_clear()
        notes._suspicion.cache_clear()
        return compose(made_of._replace(heads=heads), place.settings)

    return work


def test_changed(benchmark: BenchmarkFixture, stores: dict[int, Store], table: list[str]) -> None:
    """A changed block costs the pure chain and little more, whatever the size of the store."""
    few, many = stores[FEW], stores[MANY]
    ours, pure, short = _in_turns(benchmark, 60, _changing(many), _pure(many), _changing(few))
    measured = f"{ours / pure:.2f} x ({ours * 1e3:.2f} : {pure * 1e3:.2f} ms)"
    table.append(f"changed block : the pure chain on the same text | {measured} | <= {CHANGED_REACH} x")
    measured = f"{ours / short:.2f} x ({ours * 1e3:.2f} : {short * 1e3:.2f} ms)"
    table.append(f"changed, {MANY:,} notes : {FEW} | {measured} | <= {FLAT_REACH} x")
    assert ours / pure <= CHANGED_REACH
    assert ours / short <= FLAT_REACH


def test_opened_anew(benchmark: BenchmarkFixture, stores: dict[int, Store], table: list[str]) -> None:
    """For who holds no store, finding scopes and settings comes on top; it is told, not bounded."""
    store = stores[FEW]
    time.sleep(2.1)
    memory_block(root=store.root, cwd=store.cwd)
    ours, resolving = _in_turns(
        benchmark,
        100,
        lambda: memory_block(root=store.root, cwd=store.cwd),
        lambda: places.place_at(store.root, store.cwd),
    )
    share = f"{ours * 1e6:.0f} µs, of which {resolving * 1e6:.0f} for scopes and settings"
    table.append(f"unchanged block by directory | {share} | -")


def _least_wall(benchmark: BenchmarkFixture, store: Store, before: Callable[[], object]) -> tuple[float, float]:
    """Return the least wall time of a hook's process, each begun after *before*, and of `python -c pass`."""
    payload = json.dumps({"response_topic": "here"}).encode()
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    variables |= {"MEMORY_MAGIC_HOME": str(store.root)}
    times: dict[str, list[float]] = {"hook": [], "pass": []}
    words = {"hook": ["-m", "memory_magic", "hook", "capsule"], "pass": ["-c", "pass"]}

    def turn() -> None:
        before()
        for name, argv in words.items():
            command = [sys.executable, *argv]
            begin = time.perf_counter()
            done = subprocess.run(command, input=payload, capture_output=True, check=True, env=variables, cwd=store.cwd)
            times[name].append(time.perf_counter() - begin)
            assert bool(done.stdout) is (name == "hook")

    benchmark.pedantic(turn, rounds=40, warmup_rounds=2)  # type: ignore[no-untyped-call]
    return min(times["hook"]), min(times["pass"])


def test_process(benchmark: BenchmarkFixture, stores: dict[int, Store], table: list[str]) -> None:
    """A prompt waits for its memory little longer than for Python itself."""
    time.sleep(2.1)
    ours, bare = _least_wall(benchmark, stores[FEW], lambda: None)
    measured = f"{ours / bare:.2f} x ({ours * 1e3:.0f} : {bare * 1e3:.0f} ms)"
    table.append(f"hook's process : python -c pass | {measured} | <= {PROCESS_REACH} x")
    table.append(f"hook's process - python -c pass | {(ours - bare) * 1e3:.0f} ms | <= {PROCESS_MORE * 1e3:.0f} ms")
    assert ours / bare <= PROCESS_REACH
    assert ours - bare <= PROCESS_MORE


def test_process_after_a_change(benchmark: BenchmarkFixture, stores: dict[int, Store], table: list[str]) -> None:
    """The first prompt after a change makes the block anew: rules of redaction and suspicion are loaded for that."""
    store = stores[MANY]
    path = store.root / "memory.md"
    texts = ["I like short answers and tabs.\n" * 100, "I like long answers and blanks\n" * 100]

    def change() -> None:
        texts.reverse()
        path.write_text(texts[0])

    ours, bare = _least_wall(benchmark, store, change)
    measured = f"{ours / bare:.2f} x ({ours * 1e3:.0f} : {bare * 1e3:.0f} ms)"
    table.append(f"hook's process after a change, {MANY:,} notes : python -c pass | {measured} | -")
    table.append(f"hook's process after a change - python -c pass | {(ours - bare) * 1e3:.0f} ms | <= 100 ms, told")
