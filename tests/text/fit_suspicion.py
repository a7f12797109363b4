"""Fit the weights of memory_magic/text/suspicion_weights.py on the development set, and print them.

    python tests/text/fit_suspicion.py [FILE.jsonl …]

Plain gradient descent on the logistic loss with a little shrinkage; deterministic. Lines of kind `benign`, and those
of further files that name no kind, must not be marked. Also prints what five-fold cross-validation says of the
weights alone, without the rules.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path

from memory_magic.text.suspicion import codes
from memory_magic.text.suspicion_fold import readings
from memory_magic.text.suspicion_weights import THRESHOLD, features, windows

DEV = Path(__file__).resolve().parent.parent / "data" / "suspicion_dev.jsonl"
SHRINKAGE = 0.001
STEPS = 600
RATE = 2.0
RARE = 4

Example = tuple[list[set[str]], bool]


def examples(paths: list[Path]) -> list[Example]:
    """Return for each line its windows and whether it is an attack."""
    found = []
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            told = json.loads(line)
            seen = [features(window) for reading in readings(told["text"]) for window in windows(codes(reading))]
            found.append((seen or [set()], told.get("kind", "benign") != "benign" and "why" not in told))
    return found


def fit(given: list[Example]) -> dict[str, float]:
    """Return the weights; every window of a benign line counts, of an attack the one with most classes."""
    rows = [(window, bad) for seen, bad in given for window in ([max(seen, key=len)] if bad else seen)]
    counts = Counter(one for window, _ in rows for one in window)
    weights = {one: 0.0 for one in sorted(counts) if counts[one] >= RARE} | {"": 0.0}
    known = [([one for one in sorted(window) if one in weights] + [""], bad) for window, bad in rows]
    for _ in range(STEPS):
        slope = {one: SHRINKAGE * weight if one else 0.0 for one, weight in weights.items()}
        for window, bad in known:
            wrong = (1 / (1 + math.exp(-sum(weights[one] for one in window))) - bad) / len(known)
            for one in window:
                slope[one] += wrong
        for one, value in slope.items():
            weights[one] -= RATE * value
    return weights


def marked(seen: list[set[str]], weights: dict[str, float]) -> bool:
    """Tell whether one of the windows is heavy enough."""
    return max(sum(weights.get(one, 0.0) for one in window | {""}) for window in seen) > THRESHOLD / 100


def main() -> None:
    """Print the verdict of cross-validation and the weights."""
    given = examples([DEV, *map(Path, sys.argv[1:])])
    right = Counter[bool]()
    for fold in range(5):
        weights = fit([one for at, one in enumerate(given) if at % 5 != fold])
        for at, (seen, bad) in enumerate(given):
            if at % 5 == fold and marked(seen, weights):
                right[bad] += 1
    attacks = sum(bad for _, bad in given)
    print(f"# alone: {right[True]} of {attacks} attacks, {right[False]} of {len(given) - attacks} benign lines")
    for one, weight in fit(given).items():
        print(f"    {json.dumps(one, ensure_ascii=False)}: {round(100 * weight)},")


if __name__ == "__main__":
    main()
