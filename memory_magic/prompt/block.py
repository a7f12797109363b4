"""The block that a model reads, composed, cached and frozen: the one door for hook, magics, dashboard, SDK and export.

    memory_block(cwd=…, assistant=…, conversation=…)     what an assistant gets there; empty when memory is off
    memory_block(store)                                  what it would get: the preview, whatever the switches say
    refresh(…)                                           lets a conversation be told the present memory

Three layers, each of which can be left out without changing a byte:

- *compose* (pure) makes the block out of files and notes;
- the *cache* of this process keeps it under the signatures of all those files and the settings: a block of which
  nothing changed costs one stat a file. A file that changed within two seconds is never trusted by its signature;
- *freezing* gives one conversation the same bytes until `refresh` or a purge: `prompt.freezing` explains how.

Reads a store, writes nothing: whoever hands the block to a model enters it in the ledger (`prompt.inject`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.prompt import place as places
from memory_magic.prompt import sources
from memory_magic.prompt.compose import compose
from memory_magic.prompt.notes import choose_notes, renderer
from memory_magic.prompt.records import NOTHING, Block, Dropped, FileSeen, Report, Section

if TYPE_CHECKING:
    from pathlib import Path

    from memory_magic.prompt.place import Place, Seen, Signature
    from memory_magic.settings import Settings
    from memory_magic.store.store import Store

__all__ = [
    "Block",
    "Dropped",
    "FileSeen",
    "Report",
    "Section",
    "block_at",
    "choose_notes",
    "forget",
    "fresh_block",
    "memory_block",
    "refresh",
    "renderer",
]

_MOST_CACHED = 64
_cache: dict[Place, tuple[tuple[str, ...], Seen, Block]] = {}
_journals: dict[Path, Signature] = {}


def memory_block(
    store: Store | None = None,
    *,
    cwd: str | Path | None = None,
    root: str | Path | None = None,
    assistant: str = "",
    conversation: str = "",
    prompt: str = "",
    settings: Settings | None = None,
) -> Block:
    """Return the block for *cwd* (the present directory) and one *conversation* of an *assistant*.

    With an open *store* it is a preview: never frozen, shown though memory is off, with *settings* instead of the
    store's own if given. *prompt* is searched for only where `recall = "relevant"`; the hits follow the frozen block.
    Raises `MemoryMagicError` where settings or store cannot be read.
    """
    if store is not None:
        place = places.place_of(store, settings)
        return _with_recall(fresh_block(place, store), place, prompt, store)
    return block_at(places.place_at(root, cwd), assistant=assistant, conversation=conversation, prompt=prompt)


def block_at(place: Place, *, assistant: str = "", conversation: str = "", prompt: str = "") -> Block:
    """Return what an assistant gets at *place*: nothing where memory is off, frozen for a named conversation."""
    if not place.is_on:
        return NOTHING
    if conversation:
        from memory_magic.prompt import freezing

        made = freezing.frozen(place, assistant, conversation, lambda: fresh_block(place))
    else:
        made = fresh_block(place)
    return _with_recall(made, place, prompt)


def refresh(*, conversation: str = "", assistant: str = "", root: str | Path | None = None) -> None:
    """Let the next block of a conversation be the present memory; without names, that of every one in this process."""
    from memory_magic.prompt import freezing

    freezing.refresh(assistant=assistant, conversation=conversation, root=root)


def fresh_block(place: Place, store: Store | None = None) -> Block:
    """Return the block of the present memory, out of the cache if nothing changed."""
    kept = _cache.get(place)
    if kept is not None:
        names, before, made = kept
        if before.settled and places.look(names).signatures == before.signatures:
            return made
    else:
        names = places.paths(place)
    # looked at before it is read: what changes in between is seen the next time
    seen = places.look(names)
    _forget_purged(place)
    made = _composed(place, store)
    _cache.pop(place, None)
    if len(_cache) >= _MOST_CACHED:
        del _cache[next(iter(_cache))]
    _cache[place] = names, seen, made
    return made


def forget(root: Path) -> None:
    """Let go of all text of *root* that this process holds in blocks and notes: a purge calls for that."""
    from memory_magic.prompt import freezing, notes

    notes.forget()
    freezing.forget(root)
    for place in list(_cache):
        if place.root == root:
            _cache.pop(place, None)


def _forget_purged(place: Place) -> None:
    """Call `forget` when a purge was written since this process made a block of the root."""
    journal = f"{place.root}/JOURNAL.md"
    now = places.signature(journal)
    before = _journals.setdefault(place.root, now)
    if now == before:
        return
    from memory_magic.prompt import freezing

    _journals[place.root] = now
    # a purge writes the journal anew; one that only grew is read from where it ended
    if now[:2] != before[:2] or now[2] < before[2] or freezing.purges_in(journal, start=before[2]):
        forget(place.root)


def _composed(place: Place, store: Store | None) -> Block:
    made_of, opened = sources.gather(place, store)
    try:
        return compose(made_of, place.settings)
    finally:
        opened.close()


def _with_recall(made: Block, place: Place, prompt: str, store: Store | None = None) -> Block:
    """Append what a search for the prompt finds, where a person asked for that."""
    if not prompt or place.settings.recall != "relevant":
        return made
    from memory_magic.prompt.relevant import with_hits

    return with_hits(made, place, prompt, store)
