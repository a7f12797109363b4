"""Loops that run beside steady writers, to compare: `neighbour.py read ROOT CWD LOG READY STOP` and `… burn …`.

`read` lists the notes of a store without rest and logs each answer that is empty or shorter than the one before (notes
are only added meanwhile); `burn` does as much arithmetic and touches no file but STOP.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from memory_magic import Store

PARENT = os.getppid()


def read(store: Store, log: Path, stop: Path) -> None:
    """List until told to stop."""
    seen, looks = 0, 0
    faults: list[str] = []
    while not stop.exists() and os.getppid() == PARENT:
        looks += 1
        count = len(store.list("global"))
        if count < max(seen, 1):
            faults.append(f"look {looks}: {count} notes after {seen}")
        seen = max(seen, count)
    log.write_text(json.dumps({"looks": looks, "seen": seen, "faults": faults}), encoding="utf-8")


def burn(stop: Path) -> None:
    """Calculate until told to stop."""
    while not stop.exists() and os.getppid() == PARENT:
        sum(number * number for number in range(2_000))


if __name__ == "__main__":
    kind, root, cwd, log, ready, stop = sys.argv[1:]
    store = Store(root, cwd)
    store.list()
    Path(ready).touch()
    if kind == "read":
        read(store, Path(log), Path(stop))
    else:
        burn(Path(stop))
