"""What the ledger lets go of when `ledger_days` says how long it is kept; at most once a day.

Months that ended before the first day to keep go whole; in the month of that day the lines before it go, by the door
for rewriting (`store.ledger_files.rewrite`), so that a line that is appended meanwhile stays. Then go stored blocks
that no line names and that nobody touched for a day (who is about to name one has just touched it), and what a crash
left half-written. The age of `ledger/.lock` is the mark of the last time.

Called from a thread beside a prompt and from the commands, never in a prompt's way.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.prompt.ledger_lines import iso
from memory_magic.store import files, ledger_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DAY: Final = 86_400
_LEFT_OVER: Final = 3_600.0
_NAMED: Final = re.compile(rb'"block": ?"([0-9a-f]{64})"')


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many lines and blocks went."""

    lines: int = 0
    blocks: int = 0


def is_due(root: Path | str, moment: float) -> bool:
    """Tell whether a day has passed since the ledger was pruned; one look at the age of a file."""
    try:
        mark = os.stat(f"{root}/{ledger_files.FOLDER}/{ledger_files.LOCK}").st_mtime  # noqa: PTH116
    except OSError:
        return True
    return abs(moment - mark) >= DAY


def prune_when_due(root: Path | str, days: int | None, now: Callable[[], float] = time.time) -> Pruned:
    """Prune unless that was done today or the setting keeps all; raises what the disk refuses."""
    if days is None or not is_due(root, now()) or not os.path.isdir(ledger_files.folder_of(root)):  # noqa: PTH112
        return Pruned()
    return prune(root, days, now)


def prune_quietly(root: Path | str, days: int, now: Callable[[], float] = time.time) -> None:
    """Prune when due; what goes wrong is kept for whoever looks next."""
    try:
        prune_when_due(root, days, now)
    except MemoryMagicError as error:
        ledger_files.keep_problem(root, f"the ledger could not be pruned: {error}")


def prune(root: Path | str, days: int, now: Callable[[], float] = time.time) -> Pruned:
    """Let go of everything that is older than *days* days."""
    folder = ledger_files.folder_of(root)
    ledger_files.require_folder(folder)
    moment = now()
    first = iso(moment - days * DAY).encode()
    with ledger_files.locked(folder):
        os.utime(f"{folder}/{ledger_files.LOCK}", (moment, moment))  # first: a fault is not met at every prompt
    lines = sum(_prune_month(path, first) for path in ledger_files.months(root))
    return Pruned(lines, _prune_blocks(root))


def _prune_month(path: str, first: bytes) -> int:
    month = os.path.basename(path)[:7].encode()  # noqa: PTH119
    if month > first[:7]:
        return 0
    data = files.read(path).data or b""
    if month < first[:7]:
        files.remove(path)
        return sum(1 for line in ledger_files.pieces(data) if line.strip())
    gone = sum(1 for line in ledger_files.pieces(data) if _is_before(line, first))
    if gone:
        ledger_files.rewrite(path, lambda part: _without(part, first))
    return gone


def _without(data: bytes, first: bytes) -> bytes:
    return b"".join(line for line in ledger_files.pieces(data) if not _is_before(line, first))


def _is_before(line: bytes, first: bytes) -> bool:
    """Tell whether a line is of a time before *first*; what is no line of ours stays until its month goes."""
    begin = len(ledger_files.START)
    return line.startswith(ledger_files.START) and line[begin : begin + len(first)] < first


def _prune_blocks(root: Path | str) -> int:
    named: set[str] = set()
    for path in ledger_files.months(root):
        named |= {found.decode() for found in _NAMED.findall(files.read(path).data or b"")}
    gone = 0
    for path in ledger_files.blocks(root):
        name = os.path.basename(path)  # noqa: PTH119
        age = time.time() - files.stat_file(path).mtime_ns / 1e9
        if ledger_files.BLOCK.fullmatch(name):
            if name[:64] not in named and age > DAY:
                files.remove(path)
                gone += 1
        elif name.endswith(".tmp") and age > _LEFT_OVER:
            files.remove(path)
    return gone
