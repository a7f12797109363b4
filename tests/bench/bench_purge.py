"""What a purge of one note costs beside the work that it cannot do without, each part timed alone in the same run.

The yardstick: read the root's journal and memory file; parse every record; normalise every value and every note (the
search has to compare normalised texts); write both files anew, durably. A purge does all of it (it looks through the
journal twice and proves afterwards), so that 1.5 times the sum is what it may take.
"""

from __future__ import annotations

import datetime as dt
import statistics
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from memory_magic.store import files
from memory_magic.store import journal_format as form
from memory_magic.store.access import Access
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.note import Document
from memory_magic.store.purge import erase, run
from memory_magic.store.purge.plan import Request
from memory_magic.store.purge.search import fold
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

REACH = 1.5
RECORDS = 100_000
ROUNDS = 3

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


def text_of(number: int) -> str:
    """Return the text of one note."""
    return f"Note {number}: service {number % 37} runs from branch {number % 101}, said Ana & Zoë in week {number % 52}"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a root whose journal has 100,000 records of long fields, one tenth of them of notes that live."""
    root = tmp_path_factory.mktemp("purge") / "root"
    (root / "global").mkdir(parents=True)
    moment = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    chain, out, live = form.GENESIS, [form.HEADING], []
    for n in range(1, RECORDS + 1):
        text = text_of(n)
        fields = {"scope": "global", "id": note_id("global", normalise(text)), "by": "bench", "evidence": text * 2}
        if n % 10 == 0:
            live.append(f"- {text}\n")
            fields["after"] = text
        else:
            fields |= {"before": text}
        time_of = (moment + dt.timedelta(seconds=n)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        record = form.finish(form.Draft("remember" if n % 10 == 0 else "retire", fields), n, time_of, chain)
        chain = record.chain
        out.append(form.render(record))
    (root / "JOURNAL.md").write_text("".join(out))
    (root / "global" / "MEMORY.md").write_text("".join(live))
    return root


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds *work* takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def yardstick(root: Path, beside: Path) -> dict[str, float]:
    """Return the seconds of each part that cannot be left out."""
    journal, memory = root / "JOURNAL.md", root / "global" / "MEMORY.md"
    data = {path: path.read_bytes() for path in (journal, memory)}
    pieces = list(erase.pieces(str(journal)))
    records = [record for piece in pieces if (record := form.parse(piece.decode()))]
    document = Document("global", data[memory].decode())
    parts = {"read": timed(lambda: [path.read_bytes() for path in (journal, memory)])}
    parts["parse"] = timed(lambda: [form.parse(piece.decode()) for piece in pieces])
    parts["parse"] += timed(lambda: Document("global", document.text).notes)
    parts["normalise"] = timed(
        lambda: (
            [fold(value) for record in records for value in record.fields.values()]
            + [fold(note.text) for note in document.notes.values()]
        )
    )
    parts["rewrite"] = sum(timed(partial(files.replace, beside / path.name, data[path])) for path in data)
    return parts


def test_purge_of_one_note(filled: Path, tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    """Purging one note takes at most 1.5 times what its parts take alone."""
    sums: list[float] = []
    purges: list[float] = []
    parts: dict[str, float] = {}

    def work() -> None:
        number = len(sums)
        parts.update(yardstick(filled, tmp_path))
        sums.append(sum(parts.values()))
        with Store(filled) as store:
            store.list()  # the index is level, as it is in a store in use
            one = store.get(text_of(10 * (number + 1))).id
            request = Request(one=one)
            access = Access(store)
            begin = time.perf_counter()
            done = run.purge(access, request)
            purges.append(time.perf_counter() - begin)
            assert done.is_clean
            assert store.verify().ok

    benchmark.pedantic(work, rounds=ROUNDS)  # type: ignore[no-untyped-call]
    ratio = statistics.median(purges) / statistics.median(sums)
    told = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in parts.items())
    measured = f"{ratio:.2f} x ({statistics.median(purges):.3f} s)"
    row = f"purge of one note, {RECORDS:,} records : {told} | {measured} | <= {REACH} x"
    sys.__stdout__.write(f"\n{row}\n")  # type: ignore[union-attr]
    assert ratio <= REACH
