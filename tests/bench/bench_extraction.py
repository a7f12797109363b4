"""How well the rule-based extractor finds what people labelled, and how fast.

The set is MemPalace's memory extraction (MIT): 40 snippets in English, Hindi and Chinese with 55 memories labelled in
English. It is read from `$MEMORY_MAGIC_BENCH_DATA`, or `../shared/data` beside the checkout, else the benchmark is
skipped. English: a predicted and a labelled memory match when their token F1 is 0.5 or more, types ignored, each
label once. The other languages: the multiset of types of each snippet, because the labels are not in their language.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.pipeline.offline import select

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

Memories = list[tuple[str, str]]  # (type, text)

NAMED = Path(os.environ.get("MEMORY_MAGIC_BENCH_DATA") or Path(__file__).parents[3] / "shared" / "data")
DATA = NAMED / "extraction" if (NAMED / "extraction").is_dir() or not (NAMED / "labels.jsonl").is_file() else NAMED
SAME = 0.5  # token F1 from which two texts are the same memory

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no benchmark data in {DATA} (set MEMORY_MAGIC_BENCH_DATA)"),
]


def lines(name: str) -> list[dict[str, object]]:
    """Return the records of one file."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def labels() -> dict[str, Memories]:
    """Return the labelled memories of each snippet."""
    return {
        str(record["id"]): [(memory["type"], memory["content"]) for memory in record["memories"]]  # type: ignore[attr-defined]
        for record in lines("labels.jsonl")
    }


def snippets(language: str) -> dict[str, str]:
    """Return the text of each snippet."""
    return {str(record["id"]): str(record["text"]) for record in lines(f"dataset.{language}.jsonl")}


def sentences(text: str) -> list[str]:
    """Split as the baselines do."""
    return [part for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？।])\s*", text) if part]


def f1(common: int, one: int, other: int) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * common / (one + other) if one + other else 0.0


def token_f1(one: str, other: str) -> float:
    """Return the token F1 of two texts."""
    left, right = (Counter(re.findall(r"\w+", text.lower())) for text in (one, other))
    return f1((left & right).total(), left.total(), right.total())


def matched(predicted: list[str], labelled: list[str]) -> int:
    """Return how many labels can be matched at once, each with a prediction of its own."""
    near = [[j for j, label in enumerate(labelled) if token_f1(text, label) >= SAME] for text in predicted]
    owner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j in near[i]:
            if j not in seen:
                seen.add(j)
                if j not in owner or place(owner[j], seen):
                    owner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(predicted)))


def content_score(predicted: dict[str, Memories]) -> float:
    """Return the F1 of contents over all snippets."""
    truth = labels()
    common = sum(matched([t for _, t in predicted[key]], [t for _, t in truth[key]]) for key in truth)
    return f1(common, sum(map(len, predicted.values())), sum(map(len, truth.values())))


def type_score(predicted: dict[str, Memories]) -> float:
    """Return the F1 of the multisets of types over all snippets."""
    truth = labels()
    common = sum((Counter(k for k, _ in predicted[key]) & Counter(k for k, _ in truth[key])).total() for key in truth)
    return f1(common, sum(map(len, predicted.values())), sum(map(len, truth.values())))


def extracted(texts: dict[str, str]) -> dict[str, Memories]:
    """Return what the rules select."""
    return {key: select(text) for key, text in texts.items()}


def test_english_contents(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """The rules beat both 'the first sentence' and 'every sentence', and reach 0.80."""
    texts = snippets("en")
    score = content_score(benchmark(extracted, texts))
    first = content_score({key: [("", sentences(text)[0])] for key, text in texts.items()})
    every = content_score({key: [("", part) for part in sentences(text)] for key, text in texts.items()})
    with capsys.disabled():
        print(f"\nextraction en: F1 {score:.3f} (first sentence {first:.3f}, all sentences {every:.3f})")
    assert score >= 0.80
    assert score > max(first, every)


@pytest.mark.parametrize("language", ["en", "hi", "zh"])
def test_types(language: str, benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """The rules beat both 'every sentence is a fact' and 'the first sentence is a decision'."""
    texts = snippets(language)
    score = type_score(benchmark(extracted, texts))
    facts = type_score({key: [("fact", part) for part in sentences(text)] for key, text in texts.items()})
    decision = type_score({key: [("decision", text)] for key, text in texts.items()})
    with capsys.disabled():
        print(
            f"\nextraction {language}: F1 of types {score:.3f} (all facts {facts:.3f}, first a decision {decision:.3f})"
        )
    assert score > max(facts, decision)
