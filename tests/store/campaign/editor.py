"""An editor beside the writers: reads MEMORY.md, changes it, saves it, and logs what it saved.

`editor.py FILE LOG STOP MODE SEED` runs until the file STOP exists or its parent is gone. MODE says how it saves:
`rename` (temp and rename), `truncate` (in place, emptied first), `in-place` (written over, then cut to length). It
knows nothing of the store and takes no lock. Each save is one line of JSON in LOG, written *after* the save, with all
lines that the buffer held: what stands there was the person's file at that moment, and no later program may lose it
unsaid.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MARK = "- editor "
# a file that only grows would measure parsing in the end
MOST = 60
# what the C library hands to the system at a time
BUFFER = 4096


def by_rename(file: Path, data: bytes, _: random.Random) -> None:
    """Save as vim and most editors do."""
    temporary = file.with_name("4913.swap~")
    temporary.write_bytes(data)
    temporary.replace(file)


def by_truncation(file: Path, data: bytes, chance: random.Random) -> None:
    """Save as nano and the Jupyter server do: for a moment the file is empty, then it grows by buffers."""
    with file.open("wb", buffering=0) as stream:
        time.sleep(chance.choice([0, 0, 0.0005, 0.002]))
        for start in range(0, len(data), BUFFER):
            stream.write(data[start : start + BUFFER])


def in_place(file: Path, data: bytes, chance: random.Random) -> None:
    """Save by writing over the old bytes: for a moment the file is a mixture."""
    file.touch()
    with file.open("r+b", buffering=0) as stream:
        time.sleep(chance.choice([0, 0, 0.0005]))
        stream.write(data)
        stream.truncate(len(data))


SAVE: dict[str, Callable[[Path, bytes, random.Random], None]] = {
    "rename": by_rename,
    "truncate": by_truncation,
    "in-place": in_place,
}


def edit(lines: list[str], line: str, chance: random.Random) -> tuple[list[str], list[str]]:
    """Return the changed lines and those that were taken out: mostly one line more, sometimes one of its own less."""
    own = [place for place, text in enumerate(lines) if text.startswith(MARK)]
    if own and (len(own) >= MOST or chance.random() < 0.2):
        place = chance.choice(own)
        return lines[:place] + lines[place + 1 :], [lines[place]]
    tops = [place for place, text in enumerate(lines) if text.startswith("- ")]
    place = chance.choice(tops) if tops and chance.random() < 0.5 else len(lines)
    return [*lines[:place], line, *lines[place:]], []


def main(file: Path, log: Path, stop: Path, mode: str, seed: int) -> None:
    """Edit until told to stop."""
    chance = random.Random(seed)  # noqa: S311 - chance, no secret
    number, parent = 0, os.getppid()
    with log.open("a", encoding="utf-8") as stream:
        # an editor that outlives an aborted campaign would write into the next one
        while not stop.exists() and os.getppid() == parent:
            number += 1
            read_at = time.time()
            text = file.read_text("utf-8", errors="surrogateescape") if file.exists() else ""
            time.sleep(chance.uniform(0, 0.004))
            lines, removed = edit(text.splitlines(), f"{MARK}{seed}-{number} was here", chance)
            SAVE[mode](file, ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"), chance)
            entry = {"k": number, "read": read_at, "saved": time.time(), "lines": lines, "removed": removed}
            stream.write(json.dumps(entry) + "\n")
            stream.flush()
            time.sleep(chance.uniform(0.005, 0.04))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
