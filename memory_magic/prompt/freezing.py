"""One conversation, one block: the same bytes until `refresh` or a purge.

A prompt whose memory changes in the middle of a conversation loses the model's cache and contradicts itself. So the
first block of a conversation is its block. Who it is says the pair of assistant and conversation id; a request that
names no conversation is never frozen. Where it is kept:

- *in this process* a table, for who asks again and again (a chat extension, an agent);
- *across processes* the ledger, which holds every block that was injected: the last line of this conversation names
  the block by its hash, and `ledger/blocks` holds its bytes. A hook that starts anew for every prompt finds it there.

A frozen block is used only where the same directory sees the same scopes, so that a conversation id that turns up in
another project brings nothing along. Purge ends it: it rewrites the block in the ledger, so that hash and bytes
no longer agree, and the table compares the purges that the journal has seen. Threads may share the table: an entry is
one tuple, put in one step.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from typing import TYPE_CHECKING, NamedTuple

from memory_magic import settings as settings_module
from memory_magic.prompt.index_file import connect, index_place
from memory_magic.prompt.place import signature
from memory_magic.prompt.records import Block, Report
from memory_magic.prompt.states import block_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memory_magic.prompt.place import Place, Signature

FROZEN_DAYS = 30
"""Days for which a conversation is looked up in the ledger: who comes back later is told the present memory."""

_MOST_KEPT = 256
_PURGES = (b"- **purge** `", b"- **unpurge** `")


class Key(NamedTuple):
    """Whose block it is, and from where: other scopes, other block."""

    root: Path
    assistant: str
    conversation: str
    cwd: str
    scopes: tuple[str, ...]


class _Kept(NamedTuple):
    block: Block
    journal: Signature
    purges: int


_table: dict[Key, _Kept] = {}
_refreshed: set[tuple[Path, str, str]] = set()


def frozen(place: Place, assistant: str, conversation: str, compose: Callable[[], Block]) -> Block:
    """Return the block that this conversation was given first, or *compose* one and keep it, unless it is empty."""
    key = Key(place.root, assistant, conversation, place.cwd, tuple(scope.id for scope in place.scopes))
    journal = signature(f"{place.root}/JOURNAL.md")
    kept = _table.get(key)
    if kept is not None and kept.journal == journal:
        return kept.block
    purges = _purges(place)
    if kept is not None:
        made = kept.block if kept.purges == purges else None
    else:
        made = None if _is_refreshed(key) else _from_ledger(key)
    made = made or compose()
    if made.text:
        _keep(key, _Kept(_as_frozen(made), journal, purges))
    return made


def refresh(*, assistant: str = "", conversation: str = "", root: str | Path | None = None) -> None:
    """Forget the frozen blocks of a conversation (of every one in this process, without names)."""
    where = settings_module.find_root(root)
    if conversation:
        _refreshed.add((where, assistant, conversation))
    for key in list(_table):
        wanted = (assistant or key.assistant, conversation or key.conversation)
        if key.root == where and wanted == (key.assistant, key.conversation):
            _table.pop(key, None)
            _refreshed.add((where, key.assistant, key.conversation))


def forget(root: Path) -> None:
    """Let go of the blocks of *root* that this process holds; the ledger tells which of them still stand."""
    for key in list(_table):
        if key.root == root:
            _table.pop(key, None)


def _is_refreshed(key: Key) -> bool:
    """Tell whether the ledger's block was given up for this conversation."""
    return any((key.root, name, key.conversation) in _refreshed for name in (key.assistant, ""))


def _keep(key: Key, kept: _Kept) -> None:
    _table.pop(key, None)
    while len(_table) >= _MOST_KEPT:
        _table.pop(next(iter(_table)), None)
    _table[key] = kept


def _as_frozen(made: Block) -> Block:
    return Block(made.text, Report(made.report.tokens, made.report.sections, frozen=True))


# --- the ledger -------------------------------------------------------------------------------------------------------


def _from_ledger(key: Key) -> Block | None:
    """Return the block that was injected last into this conversation, from the same place, or None."""
    from memory_magic.prompt.ledger import Ledger
    from memory_magic.prompt.ledger_lines import INJECTED, clean, iso
    from memory_magic.prompt.relevant import without_hits

    if clean(key.cwd) != key.cwd:
        return None  # two directories whose names hold a secret may read the same in the ledger
    ledger = Ledger(key.root)
    since = iso(time.time() - FROZEN_DAYS * 86_400)
    lines = ledger.lines(since=since, conversation=key.conversation, assistant=key.assistant)
    line = next((one for one in lines if one.block and one.kind == INJECTED), None)
    if line is None or not line.block or line.purged or (line.cwd, line.scopes) != (key.cwd, key.scopes):
        return None
    text = ledger.block(line.block)
    if text is None:
        return None
    return block_of(line, without_hits(text), frozen=True)


# --- purges -----------------------------------------------------------------------------------------------------------


def _purges(place: Place) -> int:
    """Return a number that grows with every purge: what the index, else the journal, knows of them."""
    journal = f"{place.root}/JOURNAL.md"
    try:
        connection = connect(index_place(place.root, place.settings.index_path))
        if connection is not None:
            try:
                end = connection.execute("SELECT at + length FROM journal ORDER BY at DESC LIMIT 1").fetchone()
                row = connection.execute("SELECT value FROM meta WHERE key = 'purges'").fetchone()
            finally:
                connection.close()
            if end and end[0] == signature(journal)[2]:
                return len(json.loads(row[0])) if row else 0
    except (sqlite3.Error, OSError):
        pass  # busy or damaged: the journal says the same
    return purges_in(journal)


def purges_in(journal: str, *, start: int = 0) -> int:
    """Return how many purges a journal tells of from the byte *start* on; none where it is no regular file."""
    try:
        if not os.path.isfile(journal):  # noqa: PTH113 -- opening a pipe would wait for its other end
            return 0
        with open(journal, "rb") as file:  # noqa: PTH123
            file.seek(start)
            return sum(line.startswith(_PURGES) for line in file)
    except OSError:
        return 0
