"""What stage one's reading of a long session costs, beside decoding the session's lines with msgspec and nothing else.

Rendering means: read the rollout, filter it, cut it, redact it leaf by leaf, and lay it out as a model gets it. Once
with the default limit (150,000 tokens, so nearly all of 60 MB is cut out), once with a limit that cuts nothing. Both
sides of a ratio run in this process, in turns, processor time, medians. The memory of a rollout of 1 GB is that of a
process of its own that does nothing else.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from memory_magic import sessions
from memory_magic.pipeline import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

MEGABYTES = 60
CUT_SPEED, WHOLE_SPEED = 0.25, 0.08  # of the speed of decoding alone
MEMORY = 200  # MB for 1 GB
LIMIT = 150_000  # tokens

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

_CODE = """\
def clean(frame: pd.DataFrame) -> pd.DataFrame:
    kept = frame.dropna(subset=['price'])
    return kept.assign(day=kept['time'].dt.floor('D'))
    assert result['price'].mean() == pytest.approx(12.5)
INFO 2026-11-30 18:44:07,112 loader: 48213 rows from data/prices.csv in 0.83 s
tests/test_clean.py ....  [ 57%]
drwxr-xr-x 4 ana ana 4096 Nov 30 18:40 notebooks
| region | n    | mean  |
https://example.org/api/v2/prices?region=north&day=2026-11-30
  warnings.warn(msg, stacklevel=2)
""".splitlines()


def lines(size: int) -> Iterator[bytes]:
    """Yield the lines of a rollout of *size* bytes in the mix of real ones: what the model saw, and the screen."""
    chance = random.Random(7)  # noqa: S311  (the same session every time, no secret)
    words = [
        f"{one}{two}" for one in ("load", "price", "table", "plot", "test") for two in ("", "s", "ed", "ing", "er")
    ]

    def line(kind: str, payload: dict[str, object]) -> bytes:
        return json.dumps({"timestamp": "2026-11-30T18:44:06.213Z", "type": kind, "payload": payload}).encode() + b"\n"

    def say(role: str, text: str) -> dict[str, object]:
        part = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}

    stamp = "2026-11-30T18:44:06.213Z"
    first: dict[str, object] = {"id": "01a22dc5-7948-7f22-ae72-8b8d20dc12fb", "cwd": "/home/ana/prices"}
    first |= {"timestamp": stamp, "source": "cli", "model_provider": "openai"}
    yield line("session_meta", first)
    done = number = 0
    while done < size:
        number += 1
        asked = " ".join(chance.choices(words, k=40)) + "?"
        told = " ".join(chance.choices(words, k=160)) + "."
        output = "\n".join(chance.choices(_CODE, k=120)) + ("\nGröße: 12 – „ok“" if number % 4 == 0 else "")
        call = {"command": ["bash", "-lc", f"python run_{number}.py --day 2026-11-30"], "workdir": "/home/ana/prices"}
        for made in (
            line("response_item", say("user", asked)),
            line("event_msg", {"type": "user_message", "message": asked}),
            line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "gAAAAB" + "x9Zq" * 400}),
            line("response_item", {"type": "function_call", "name": "shell", "arguments": json.dumps(call),
                                   "call_id": f"call_{number}"}),
            line("response_item", {"type": "function_call_output", "call_id": f"call_{number}", "output": output}),
            line("event_msg", {"type": "exec_command_end", "call_id": f"call_{number}", "stdout": output[:2000]}),
            line("response_item", say("assistant", told)),
            line("event_msg", {"type": "agent_message", "message": told}),
            line("event_msg", {"type": "token_count", "info": {"total_tokens": number}, "rate_limits": None}),
        ):  # fmt: skip
            done += len(made)
            yield made


def written(folder: Path, size: int) -> Path:
    """Write a rollout of *size* bytes."""
    path = folder / "rollout-2026-11-30T18-44-06-01a22dc5-7948-7f22-ae72-8b8d20dc12fb.jsonl"
    with path.open("wb") as file:
        file.writelines(lines(size))
    return path


@pytest.fixture(scope="module")
def rollout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a rollout of 60 MB, read once so that it lies in the system's cache."""
    path = written(tmp_path_factory.mktemp("render"), MEGABYTES * 1_000_000)
    path.read_bytes()
    return path


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """Give a list for rows (what | measured | reach) that is printed when all is measured."""
    rows = ["what | measured | reach"]
    yield rows
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(rows))


def decoded(path: Path) -> None:
    """Decode every line with msgspec, and do nothing with it."""
    decoder = msgspec.json.Decoder()
    with path.open("rb") as file:
        for one in file:
            decoder.decode(one)


def spent(work: Callable[[], object]) -> float:
    """Return the processor time of *work* in seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


@pytest.mark.parametrize(
    ("limit", "reach"), [(LIMIT, CUT_SPEED), (MEGABYTES * 1_000_000, WHOLE_SPEED)], ids=["cut", "whole"]
)
def test_rendering(limit: int, reach: float, rollout: Path, table: list[str], benchmark: BenchmarkFixture) -> None:
    """A long session is rendered at a quarter of the speed of decoding when it is cut, at a twelfth when it is not."""
    times: list[list[float]] = [[], []]
    found: list[render.Rendered] = []

    def ours() -> None:
        found[:] = [render.rendered(sessions.read(rollout), limit)]

    def turn() -> None:
        times[0].append(spent(lambda: decoded(rollout)))
        found.clear()  # to free the last round's text is no part of this one
        times[1].append(spent(ours))

    benchmark.pedantic(turn, rounds=5, warmup_rounds=1)  # type: ignore[no-untyped-call]
    base, whole = (statistics.median(found[1:]) for found in times)
    kind = "cut" if limit == LIMIT else "whole"
    table.append(
        f"rendering {MEGABYTES} MB, {kind} : decoding | {base / whole:.3f} x ({whole:.2f} : {base:.2f} s, "
        f"{found[0].input_tokens:,} tokens) | >= {reach} x"
    )
    assert found[0].truncated is (limit == LIMIT)
    assert base / whole >= reach


_READ = """
import re, sys
from pathlib import Path
from memory_magic import sessions
from memory_magic.pipeline import render
found = render.rendered(sessions.read(sys.argv[1]), 150_000)
status = Path("/proc/self/status").read_text()  # ru_maxrss would tell of the process that started this one
print(found.input_tokens, re.search(r"VmHWM:\\s*(\\d+)", status)[1])
"""


def test_memory(tmp_path: Path, table: list[str], benchmark: BenchmarkFixture) -> None:
    """A rollout of 1 GB is rendered in 200 MB."""
    path = written(tmp_path, 1_000_000_000)
    told: list[str] = []
    words = [sys.executable, "-c", _READ, str(path)]
    benchmark.pedantic(  # type: ignore[no-untyped-call]
        lambda: told.append(subprocess.run(words, check=True, capture_output=True, text=True).stdout), rounds=1
    )
    tokens, kilobytes = map(int, told[0].split())
    path.unlink()
    table.append(f"memory of rendering 1 GB | {kilobytes / 1024:.0f} MB | <= {MEMORY} MB")
    assert tokens > LIMIT * 0.9
    assert kilobytes / 1024 <= MEMORY
