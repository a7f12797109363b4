"""What a search costs beside the bare FTS5 query on the same index, at 10,000 and 100,000 notes.

The bare query is the same OR expression, ranked by bm25, limit 8. The notes are sentences of LoCoMo's words (a chain in
which each word is followed by one that followed it there), the queries LoCoMo's questions, three words of a note, one
word of a note, and a rare word; without the data both are made of numbered words. The two sides take turns.
Beside the goal (at most twice the bare query, and no faster growth) the speed of making terms is printed.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.store import ranking, search_table
from memory_magic.text import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_benchmark.fixture import BenchmarkFixture

SIZES = (10_000, 100_000)
REACH = 2.0
RARE_REACH = 0.01  # s
TERMS_REACH = 3.0  # MB/s
QUESTIONS = 100
ROUNDS = 3
LOCOMO = "locomo_dev.json"
KINDS = ("questions", "three words", "one word")
NOTES = (
    "CREATE TABLE notes(rowid INTEGER PRIMARY KEY, scope TEXT NOT NULL, text TEXT NOT NULL, line INTEGER NOT NULL,"
    " pinned INTEGER NOT NULL, section TEXT NOT NULL, n INTEGER NOT NULL, terms TEXT NOT NULL)"
)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Give a list for rows that is printed when all is measured."""
    rows = ["what | measured | reach"]
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(rows))


def speech() -> tuple[list[str], list[str]]:
    """Return sentences and questions: LoCoMo's, else made of numbered words whose frequency falls with the number."""
    named = os.environ.get("MEMORY_MAGIC_BENCH_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
    path = next((one for one in (folder / "search" / LOCOMO, folder / LOCOMO) if one.is_file()), None)
    if path is not None:
        samples = json.loads(path.read_text(encoding="utf-8"))
        talks = [talk for sample in samples for talk in sample["conversation"].values() if isinstance(talk, list)]
        turns = [f"{turn['speaker']}: {turn['text']}" for talk in talks for turn in talk]
        return turns, [one["question"] for sample in samples for one in sample["qa"]]
    chance = random.Random(1)  # noqa: S311 - a benchmark, no secret
    made = [" ".join(f"word{int(4_000 ** chance.random())}" for _ in range(17)) for _ in range(4_000)]
    return made, [" ".join(chance.sample(text.split(), 4)) for text in made[:200]]


def invented(turns: list[str], count: int) -> list[str]:
    """Return *count* notes of the words of *turns*, each word followed by one that followed it there."""
    chance = random.Random(2)  # noqa: S311
    follows: dict[str, list[str]] = {}
    for turn in turns:
        spoken = turn.split()
        for one, after in zip(["", *spoken], [*spoken, ""], strict=True):
            follows.setdefault(one, []).append(after)
    notes: list[str] = []
    while len(notes) < count:
        text: list[str] = []
        while len(text) <= 40 and (word := chance.choice(follows[text[-1] if text else ""])):
            text.append(word)
        if len(text) > 2:
            notes.append(" ".join(text))
    return notes


def index_of(path: Path, notes: list[str], packed: list[str]) -> sqlite3.Connection:
    """Return a database on disk with *notes* in one scope."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(NOTES)
    search_table.create(connection)
    connection.execute("BEGIN")
    first = search_table.next_rowid(connection, "global")
    rows = ((first + i, text, i, i, terms) for i, (text, terms) in enumerate(zip(notes, packed, strict=True)))
    connection.executemany("INSERT INTO notes VALUES (?, 'global', ?, ?, 0, 'Notes', ?, ?)", rows)
    search_table.settle(connection, "global")
    connection.execute("COMMIT")
    return connection


def bare(connection: sqlite3.Connection, query: str) -> float:
    """Return how long FTS5 alone takes for the same OR expression."""
    asked = " OR ".join(map(search_table.expression, words.query(query).wanted))
    sql = "SELECT rowid FROM search WHERE search MATCH ? ORDER BY bm25(search) LIMIT 8"
    return _timed(lambda: connection.execute(sql, (asked,)).fetchall())


def ours(connection: sqlite3.Connection, query: str) -> float:
    """Return how long the whole search takes, query text to ranked rows."""
    return _timed(lambda: search_table.match(connection, query, ["global"], 8))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def medians(connection: sqlite3.Connection, queries: list[str]) -> tuple[float, float]:
    """Return the median seconds of our search and of the bare query, which take turns."""
    spent = [(ours(connection, query), bare(connection, query)) for _ in range(ROUNDS) for query in queries]
    left, right = zip(*spent[len(queries) :], strict=True)
    return statistics.median(left), statistics.median(right)


def queries_of(kind: str, notes: list[str], questions: list[str]) -> list[str]:
    """Return the queries of a kind."""
    chance = random.Random(3)  # noqa: S311
    if kind == "questions":
        return chance.sample(questions, min(QUESTIONS, len(questions)))
    size = 3 if kind == "three words" else 1
    return [" ".join(chance.sample(note.split(), size)) for note in chance.sample(notes[: SIZES[0]], QUESTIONS)]


@pytest.fixture(scope="module")
def spoken() -> tuple[list[str], list[str]]:
    """Give 100,000 notes and the questions."""
    turns, questions = speech()
    return invented(turns, SIZES[-1]), questions


@pytest.fixture(scope="module")
def indexes(
    spoken: tuple[list[str], list[str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[int, sqlite3.Connection]]:
    """Give an index of each size."""
    packed = [ranking.packed(note, "Notes") for note in spoken[0]]
    folder = tmp_path_factory.mktemp("search")
    made = {size: index_of(folder / f"{size}.sqlite3", spoken[0][:size], packed[:size]) for size in SIZES}
    yield made
    for connection in made.values():
        connection.close()


@pytest.mark.parametrize("kind", KINDS)
def test_search_costs_at_most_twice_the_bare_query(
    kind: str,
    spoken: tuple[list[str], list[str]],
    indexes: dict[int, sqlite3.Connection],
    table: list[str],
    benchmark: BenchmarkFixture,
) -> None:
    """The median search of 100,000 notes takes at most twice the bare FTS5 query, and grows no faster than it."""
    queries = queries_of(kind, *spoken)
    seen: dict[int, tuple[float, float]] = {}
    benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: seen.update({size: medians(connection, queries) for size, connection in indexes.items()}), rounds=1
    )
    (small, small_bare), (large, large_bare) = (seen[size] for size in SIZES)
    for size, (mine, its) in seen.items():
        table.append(f"{kind}, {size} notes: {mine * 1e3:.2f} ms, bare {its * 1e3:.2f} ms | {mine / its:.2f} | {REACH}")
    table.append(f"{kind}, growth | {large / small:.2f} | {large_bare / small_bare:.2f}")
    benchmark.extra_info["ratio"] = large / large_bare
    assert large <= REACH * large_bare
    assert large / small <= large_bare / small_bare


def test_rare_words_cost_what_looking_at_their_notes_costs(
    spoken: tuple[list[str], list[str]],
    indexes: dict[int, sqlite3.Connection],
    table: list[str],
    benchmark: BenchmarkFixture,
) -> None:
    """A word that 50 to 100 notes hold is answered at once, though FTS5, which reads no note, is quicker still."""
    held = Counter(term for note in spoken[0] for term in set(words.terms(note)))
    rare = sorted(term for term, notes in held.items() if 50 <= notes <= 100 and term.isalpha())
    if not rare:
        pytest.skip("no word stands in 50 to 100 notes of these")
    queries = random.Random(4).sample(rare, min(QUESTIONS, len(rare)))  # noqa: S311
    seen: list[tuple[float, float]] = []
    benchmark.pedantic(lambda: seen.append(medians(indexes[SIZES[-1]], queries)), rounds=1)  # type: ignore[no-untyped-call]
    mine, its = seen[0]
    table.append(
        f"rare words, {SIZES[-1]} notes: {mine * 1e3:.2f} ms, bare {its * 1e3:.2f} ms | {mine / its:.2f} | told"
    )
    assert mine <= RARE_REACH


def test_terms_are_made_fast(
    spoken: tuple[list[str], list[str]], table: list[str], benchmark: BenchmarkFixture
) -> None:
    """English notes give more than 3 MB of terms a second."""
    notes = spoken[0][:50_000]
    seen: list[float] = []

    def work() -> None:
        words._CHUNKS.clear()
        seen.append(_timed(lambda: [words.terms(note) for note in notes]))

    benchmark.pedantic(work, rounds=3)  # type: ignore[no-untyped-call]
    speed = sum(map(len, notes)) / 1e6 / statistics.median(seen)
    table.append(f"making terms, MB/s | {speed:.1f} | {TERMS_REACH}")
    assert speed >= TERMS_REACH
