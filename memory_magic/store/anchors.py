"""Where the journal is known to have got to, beside the journal: its head in every line of the ledger (store_rules 5).

The chain tells edits, never a truncation: half a journal is a whole chain. Each line of the ledger names number and
chain of the record that was the last one when a block was handed out. A journal that lacks one of them was cut off
there, and if it has another record of that number, went on differently after. What cannot be read anchors nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files, ledger_files

if TYPE_CHECKING:
    from pathlib import Path

SHOWN: Final = 16
"""Hexadecimal digits of a chain that a line of the ledger keeps (store_rules 5)."""

_HEAD: Final = re.compile(rb'"head": ?\{"n": ?([1-9]\d{0,17}), ?"chain": ?"([0-9a-f]{16})"\}')
_TOLD: Final = 3

Heads = dict[int, set[str]]


def head(root: Path) -> tuple[int, str]:
    """Return number and chain (16 digits) of the journal's last record, of its last 64 kB; (0, "") without one."""
    from memory_magic.store.journal import Journal

    tail = Journal(root / "JOURNAL.md").tail()
    return (tail.n, tail.chain[:SHOWN]) if tail.n else (0, "")


def in_ledger(root: Path) -> Heads:
    """Return every head that the ledger names: number -> the chains that records of this number had."""
    heads: Heads = {}
    for path in ledger_files.months(root):
        try:
            data = files.read(path).data or b""
        except MemoryMagicError:
            continue  # a month that cannot be read anchors nothing; the ledger itself tells of it
        for n, chain in set(_HEAD.findall(data)):
            heads.setdefault(int(n), set()).add(chain.decode())
    return heads


class Anchors:
    """Heads that a journal must have; `meet` takes off what it has, `faults` tells of the rest."""

    def __init__(self, index: tuple[int, str] | None = None, ledger: Heads | None = None) -> None:
        """Keep what the *index* and the *ledger* know."""
        self._index = index if index is not None and index[0] else None
        self._ledger = ledger or {}

    def meet(self, n: int, chain: str) -> None:
        """Take note of a record of the journal."""
        if self._index is not None and self._index == (n, chain):
            self._index = None
        if n in self._ledger:
            self._ledger[n].discard(chain[:SHOWN])

    def faults(self, last: int) -> list[str]:
        """Return in words which heads the journal, whose greatest number is *last*, does not have."""
        missing = sorted(n for n, chains in self._ledger.items() if chains)
        by_source: dict[int, list[str]] = {}
        if self._index is not None:
            by_source.setdefault(self._index[0], []).append("index")
        if missing and missing[-1] > last:
            by_source.setdefault(missing[-1], []).append("ledger")
        told = [
            f"the journal ends before record {n}, known from the {' and the '.join(sources)}: its end is missing"
            for n, sources in sorted(by_source.items())
        ]
        others = [n for n in missing if n <= last]
        told += [
            f"record {n}: the ledger knows another one of this number, so the journal was cut off before it"
            for n in others[:_TOLD]
        ]
        if len(others) > _TOLD:
            told.append(f"the ledger knows {len(others) - _TOLD} further records that the journal does not have")
        return told
