"""Search quality: LoCoMo dialogues and XQuAD paragraphs, one configuration for all, beside what others do.

Each benchmark fills a search table as a store would (one scope a dialogue; for R@10 one note a turn, for hit@1 one note
a session; one scope of all 240 paragraphs of a language), asks every question, and prints the figure beside its goal.
The same notes and questions go to a table with CodeWhale's query (bare `unicode61`, AND) and, where installed, to
rank_bm25 and bm25s. basic-memory (on PATH, or named by `$BASIC_MEMORY`; it needs Python 3.12) is asked every sixth
question of XQuAD through its MCP server, as an assistant would: it indexes some five notes a second, so LoCoMo's
thousands are left out. The data may not be shipped (CC BY-NC, CC BY-SA): `$MEMORY_MAGIC_BENCH_DATA` names their
directory, else it is looked for beside the checkout, else the benchmarks are skipped.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from memory_magic.store import ranking, search_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_benchmark.fixture import BenchmarkFixture

GOALS = {"hit@1": 0.77, "R@10": 0.73, "en": 0.93, "zh": 0.925, "hi": 0.905, "th": 0.935}
NOTES = (
    "CREATE TABLE notes(rowid INTEGER PRIMARY KEY, scope TEXT, text TEXT, line INTEGER, pinned INTEGER, section TEXT,"
    " n INTEGER, terms TEXT)"
)
ADVERSARIAL = 5
PROGRAM = os.environ.get("BASIC_MEMORY") or shutil.which("basic-memory")
ASKED_OF_IT = 6  # one question in so many

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


@dataclass(frozen=True)
class Question:
    """A question, the category of LoCoMo, and the positions of the notes that answer it."""

    text: str
    category: int
    wanted: frozenset[int]


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Give a list for rows that is printed when all is measured."""
    rows = [" | ".join(["what", "questions", "reach", "ours", *RIVALS, "basic-memory"])]
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(rows))


def bench_data() -> Path:
    """Return the directory of the data sets; it may be absent."""
    named = os.environ.get("MEMORY_MAGIC_BENCH_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
    return folder / "search" if (folder / "search").is_dir() else folder


def needed(name: str) -> Any:
    """Return a data set, or skip."""
    path = bench_data() / name
    if not path.is_file():
        pytest.skip(f"no {name}: set MEMORY_MAGIC_BENCH_DATA")
    return json.loads(path.read_text(encoding="utf-8"))


def dialogues(*, by_session: bool) -> Sets:
    """Return the notes of each LoCoMo dialogue, one a session or one a turn, and the questions that have evidence."""
    return [_dialogue(sample, by_session=by_session) for sample in needed("locomo_dev.json")]


def _dialogue(sample: Any, *, by_session: bool) -> tuple[list[str], list[Question]]:
    talk = sample["conversation"]
    notes: list[str] = []
    place: dict[str, int] = {}
    for key in sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:])):
        turns = [f"{turn['speaker']}: {turn['text']} {turn.get('blip_caption', '')}".rstrip() for turn in talk[key]]
        for number, turn in enumerate(talk[key]):
            place[turn["dia_id"]] = len(notes) + (0 if by_session else number)
        notes += ["\n".join([talk[f"{key}_date_time"], *turns])] if by_session else turns
    questions = []
    for one in sample["qa"]:
        evidence = re.findall(r"D\d+:\d+", " ".join(one["evidence"]))
        wanted = frozenset(place[turn] for turn in evidence if turn in place)
        if wanted:
            questions.append(Question(one["question"], one["category"], wanted))
    return notes, questions


def paragraphs(language: str) -> Sets:
    """Return the paragraphs of XQuAD in a language with their questions, as one scope."""
    notes: list[str] = []
    questions = []
    for article in needed(f"xquad_{language}.json")["data"]:
        for paragraph in article["paragraphs"]:
            questions += [Question(one["question"], 0, frozenset({len(notes)})) for one in paragraph["qas"]]
            notes.append(paragraph["context"])
    return [(notes, questions)]


Search: TypeAlias = "Callable[[str, int], list[int]]"
Maker: TypeAlias = "Callable[[Sequence[str]], Search]"
Sets: TypeAlias = "list[tuple[list[str], list[Question]]]"
Measure: TypeAlias = "Callable[[Maker, Sets], tuple[float, float]]"


# -- the searches that are compared ----------------------------------------------------------------------------


def ours(notes: Sequence[str]) -> Search:
    """Search with the product's table."""
    connection = sqlite3.connect(":memory:")
    connection.execute(NOTES)
    search_table.create(connection)
    first = search_table.next_rowid(connection, "global")
    rows = [(first + i, text, i + 1, i + 1, ranking.packed(text, "Notes")) for i, text in enumerate(notes)]
    connection.executemany("INSERT INTO notes VALUES (?, 'global', ?, ?, 0, 'Notes', ?, ?)", rows)
    search_table.settle(connection, "global")
    return lambda query, limit: [
        found.key - first for found in search_table.match(connection, query, ["global"], limit)
    ]


def codewhale(notes: Sequence[str]) -> Search:
    """Search as CodeWhale does: the default tokenizer, all parts quoted and joined with AND."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE bare USING fts5(text)")
    connection.executemany("INSERT INTO bare(rowid, text) VALUES (?, ?)", enumerate(notes))

    def search(query: str, limit: int) -> list[int]:
        expression = " AND ".join('"' + part.replace('"', '""') + '"' for part in query.split())
        sql = "SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY bm25(bare) LIMIT ?"
        return [row[0] for row in connection.execute(sql, (expression, limit))]

    return search


def rank_bm25(notes: Sequence[str]) -> Search:
    """Search with rank_bm25's BM25Okapi over lower-case words."""
    module = importlib.import_module("rank_bm25")
    index = module.BM25Okapi([re.findall(r"\w+", note.lower()) for note in notes])

    def search(query: str, limit: int) -> list[int]:
        scores = index.get_scores(re.findall(r"\w+", query.lower()))
        return [int(one) for one in sorted(range(len(notes)), key=lambda one: -scores[one])[:limit]]

    return search


def bm25s(notes: Sequence[str]) -> Search:
    """Search with bm25s and its English stop words."""
    module = importlib.import_module("bm25s")
    index = module.BM25()
    index.index(module.tokenize(list(notes), stopwords="en", show_progress=False), show_progress=False)

    def search(query: str, limit: int) -> list[int]:
        tokens = module.tokenize([query], stopwords="en", show_progress=False)
        found, _ = index.retrieve(tokens, k=min(limit, len(notes)), show_progress=False)
        return [int(one) for one in found[0]]

    return search


class Server:
    """A running basic-memory, whose index holds the notes as files `n<position>.md`; it is asked line by line."""

    def __init__(self, program: str, notes: Sequence[str]) -> None:
        self.home = tempfile.TemporaryDirectory()
        folder = Path(self.home.name) / "basic-memory"
        folder.mkdir()
        for place, note in enumerate(notes):
            (folder / f"n{place}.md").write_text(f"# n{place}\n\n{note}\n", encoding="utf-8")
        # its embeddings would be fetched from a network; the table compares searches by words
        self.environment = {
            **os.environ,
            "HOME": self.home.name,
            "BASIC_MEMORY_HOME": str(folder),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        }
        subprocess.run([program, "reindex"], env=self.environment, check=True, capture_output=True)
        self.process = subprocess.Popen(
            [program, "mcp"],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.asked = 0
        about = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", about)
        self.tell({"method": "notifications/initialized", "params": {}})

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer."""
        assert self.process.stdout is not None
        self.asked += 1
        self.tell({"method": method, "params": params, "id": self.asked})
        for line in self.process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self.asked:
                return answer
        raise EOFError

    def search(self, query: str, limit: int) -> list[int]:
        """Return the positions of the notes found; an error of its query language finds nothing."""
        options = {"query": query, "page_size": limit, "search_type": "text", "output_format": "json"}
        answer = self.ask("tools/call", {"name": "search_notes", "arguments": options})
        try:
            results = json.loads(answer["result"]["content"][0]["text"])["results"]
        except (KeyError, IndexError, TypeError, json.JSONDecodeError):
            return []
        return list(dict.fromkeys(int(one["title"][1:]) for one in results if re.fullmatch(r"n\d+", one["title"])))

    def close(self) -> None:
        """End it and remove its files."""
        self.process.kill()
        self.process.wait()
        self.home.cleanup()


def basic_memory(sets: Sets, measure: Measure) -> str:
    """Return basic-memory's cell of the table."""
    if PROGRAM is None:
        return "not installed"
    some = [(notes, questions[::ASKED_OF_IT]) for notes, questions in sets]
    servers: list[Server] = []

    def make(notes: Sequence[str]) -> Search:
        servers.append(Server(PROGRAM or "", notes))
        return servers[-1].search

    try:
        value, seconds = measure(make, some)
    finally:
        for server in servers:
            server.close()
    return f"{value:.4f} in {seconds * 1e3:.2f} ms (of {sum(len(asked) for _, asked in some)})"


RIVALS: dict[str, Maker] = {"unicode61 AND": codewhale, "rank_bm25": rank_bm25, "bm25s": bm25s}


# -- measures --------------------------------------------------------------------------------------------------


def first_hits(make: Maker, sets: Sets) -> tuple[float, float]:
    """Return the share of questions whose first result answers them, and the mean seconds of a search."""
    return _mean(make, sets, 1, lambda found, question: float(bool(found) and found[0] in question.wanted))


def recall(make: Maker, sets: Sets) -> tuple[float, float]:
    """Return the mean share of the evidence among ten results, and the mean seconds of a search."""
    asked = [(notes, [one for one in questions if one.category != ADVERSARIAL]) for notes, questions in sets]
    return _mean(make, asked, 10, lambda found, question: len(question.wanted & set(found)) / len(question.wanted))


def _mean(
    make: Maker,
    sets: Sets,
    limit: int,
    measure: Callable[[list[int], Question], float],
) -> tuple[float, float]:
    values = []
    seconds = 0.0
    for notes, questions in sets:
        search = make(notes)
        began = time.perf_counter()
        found = [search(question.text, limit) for question in questions]
        seconds += time.perf_counter() - began
        values += [measure(*pair) for pair in zip(found, questions, strict=True)]
    return sum(values) / len(values), seconds / len(values)


def compare(name: str, measure: Measure, sets: Sets, table: list[str], benchmark: BenchmarkFixture) -> float:
    """Return our figure, and put it beside its goal and the rivals' into the table; times are means of a search."""
    kept: list[tuple[float, float]] = []
    benchmark.pedantic(lambda: kept.append(measure(ours, sets)), rounds=1)  # type: ignore[no-untyped-call]
    value, seconds = kept[0]
    cells = [f"{value:.4f} in {seconds * 1e3:.2f} ms"]
    for make in RIVALS.values():
        try:
            its, seconds = measure(make, sets)
        except ImportError:
            cells.append("not installed")
            continue
        cells.append(f"{its:.4f} in {seconds * 1e3:.2f} ms")
    cells.append(basic_memory(sets, measure) if len(sets) == 1 else "not asked")
    benchmark.extra_info[name] = value
    questions = sum(len(asked) for _, asked in sets)
    table.append(" | ".join([name, str(questions), f"{GOALS[name]}", *cells]))
    return value


def test_first_session_answers_the_question(table: list[str], benchmark: BenchmarkFixture) -> None:
    """The first of the sessions found is one with evidence for 0.77 of LoCoMo's questions."""
    value = compare("hit@1", first_hits, dialogues(by_session=True), table, benchmark)
    assert value >= GOALS["hit@1"]


def test_ten_turns_hold_the_evidence(table: list[str], benchmark: BenchmarkFixture) -> None:
    """Ten turns hold 0.73 of the evidence on average over LoCoMo's questions without the adversarial ones."""
    assert compare("R@10", recall, dialogues(by_session=False), table, benchmark) >= GOALS["R@10"]


@pytest.mark.parametrize("language", ["en", "zh", "hi", "th"])
def test_first_paragraph_answers_the_question(language: str, table: list[str], benchmark: BenchmarkFixture) -> None:
    """A question's own paragraph comes first among the 240 of XQuAD, in scripts with and without words."""
    assert compare(language, first_hits, paragraphs(language), table, benchmark) >= GOALS[language]
