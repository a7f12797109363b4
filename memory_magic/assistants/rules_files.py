"""Memory in files that assistants read by themselves: what goes into each, and the door that keeps them level.

Two audiences. `personal` is for files of the person alone, which every project's assistant reads: the personal memory
file, the global summary and the global notes. `workspace` is for files in a work tree, which travel with it: the notes
of that workspace and nothing else, never a word of global memory.

`refresh` makes every connected file say what memory says now; it is called after whatever changes memory (a write, an
undo, a purge, a switch) and costs one look at `connections.json` where nothing is connected. A file of which the
person took our part out stays without it. Memory that is off leaves the part empty: deleting the file would go
unnoticed by some assistants. What is written is entered in the ledger as `written`; a purge rewrites it like the rest,
by the same call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from memory_magic.assistants import config_files, connections, regions
from memory_magic.assistants.editors import REGION, RULES, apply, unsplice
from memory_magic.errors import MemoryMagicError
from memory_magic.prompt.records import NOTHING, Block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from memory_magic.assistants.connections import Connection, FileRecord
    from memory_magic.prompt.notes import Heads
    from memory_magic.prompt.place import Place
    from memory_magic.store.store import Store

PERSONAL, WORKSPACE = "personal", "workspace"
AUDIENCES: Final = (PERSONAL, WORKSPACE)


def block_for(audience: str, root: Path, base: str = "", *, switched_on: bool = False) -> tuple[Block, Place]:
    """Return what an *audience* may read now, and from where it was looked at; *base* is the project's folder.

    Nothing where memory is off, unless *switched_on* says that it is about to be switched on.
    """
    from memory_magic.prompt.place import place_at

    place = place_at(root, base or root)
    wanted = tuple(scope for scope in place.scopes if scope.is_global == (audience == PERSONAL))
    if switched_on:
        place = place._replace(settings=replace(place.settings, enabled=True))
    is_off = place.off and audience == WORKSPACE
    seen = place._replace(scopes=wanted, project=None, off=is_off)
    if not seen.is_on or not wanted:
        return NOTHING, seen
    return _composed(seen, audience), seen


def _composed(place: Place, audience: str) -> Block:
    from memory_magic.prompt.compose import Ingredients, compose
    from memory_magic.prompt.guidance import summary_of, template_of
    from memory_magic.prompt.memory_files import read_head
    from memory_magic.prompt.place import PERSONAL_FILE, summary_places

    heads, close = _heads(place)
    try:
        if audience == WORKSPACE:
            return compose(Ingredients(heads=heads), place.settings)
        limit = place.settings.summary_injection_token_limit
        found = [summary_of(*one, limit) for one in summary_places(place) if one.name == "global"]
        made_of = Ingredients(
            heads=heads,
            personal=read_head(f"{place.root}/{PERSONAL_FILE}", place.settings.personal_bytes),
            template=template_of(place.root),
            summaries=tuple(one for one in found if one is not None),
        )
        return compose(made_of, place.settings)
    finally:
        close()


def _heads(place: Place) -> tuple[Heads, Callable[[], None]]:
    """Return the notes of the place's scopes alone: from the index, else from the files."""
    from memory_magic.prompt.index_file import index_place
    from memory_magic.prompt.index_heads import open_index
    from memory_magic.prompt.notes import Listed
    from memory_magic.prompt.sources import Approvals

    approved = Approvals(place, None)
    if found := open_index(index_place(place.root, place.settings.index_path), place.scopes, approved):
        return found, found.close
    if not any(scope.memory_file.is_file() for scope in place.scopes):
        return Listed([]), _nothing
    from memory_magic.store.store import Store

    ids = {scope.id for scope in place.scopes}
    with Store(place.root, place.cwd, read_only=True) as store:
        notes = [note for note in store.list() if note.scope in ids]
    return Listed(notes, approved=approved), _nothing


def _nothing() -> None:
    return None


# -- keeping files level ----------------------------------------------------------------------------------------------


def refresh(store: Store) -> list[str]:
    """Make the connected files say what memory says now; return in words what could not be done. Never raises."""
    return refresh_at(store.root)


def refresh_at(root: Path) -> list[str]:
    """Do the same for the store at *root*, without one that is open."""
    try:
        if not any(record.audiences for one in connections.load(root) for record in one.files):
            return []
        with connections.hold(root, wait=2.0):
            return _refresh(root)
    except (MemoryMagicError, OSError) as error:
        return [f"the assistants' files were not brought up to date: {error}"]


def _refresh(root: Path) -> list[str]:
    troubles: list[str] = []
    rows: list[Connection] = []
    known = connections.load(root)
    for connection in known:
        records = []
        for record in connection.files:
            try:
                records.append(rewritten(root, connection, record) if record.audiences else record)
            except (MemoryMagicError, OSError) as error:
                troubles.append(f"this file was not brought up to date: {error}")
                records.append(record)
        rows.append(replace(connection, files=tuple(records)))
    if rows != known:
        connections.save(root, rows)
    return troubles


def rewritten(root: Path, connection: Connection, record: FileRecord) -> FileRecord:
    """Bring one file up to date; return its record as it is then."""
    config = config_files.read(record.path)
    if config.data is None:
        return record  # the person deleted it, or the project moved: nothing of memory is left there
    blocks: dict[str, tuple[Block, Place]] = {}

    def body(audience: str) -> str:
        if audience not in blocks:
            blocks[audience] = block_for(audience, root, connection.base)
        return blocks[audience][0].text

    text, name = config.text, str(record.path)
    ours = [step for step in record.steps if step.kind in {REGION, RULES}]
    if not holds_region(text):
        return record
    new = apply(text, ours, body, name).text
    if new == text:
        return record
    changed = record
    if config.sha256 == record.after and record.splices is not None:
        again = apply(unsplice(text, record.splices), record.steps, body, name)
        if again.text == new:
            changed = replace(record, splices=again.splices)
    is_exact = changed is not record
    after, _ = config_files.write(config, new, private=record.private)
    enter(root, connection, record.path, blocks.values())
    return replace(changed, after=after.sha256 or "" if is_exact else "", splices=changed.splices if is_exact else None)


def holds_region(text: str) -> bool:
    """Tell whether a file holds our part, as Markdown or inside of another format."""
    return regions.END in text


def enter(root: Path, connection: Connection, path: Path, blocks: Iterable[tuple[Block, Place]]) -> None:
    """Enter in the ledger what was written into a file."""
    from memory_magic.prompt import ledger
    from memory_magic.prompt.injection import head_of

    for block, place in blocks:
        if block.text:
            ledger.record(
                root,
                block,
                kind=ledger.WRITTEN,
                assistant=connection.assistant,
                notebook=str(path),
                cwd=place.cwd,
                scopes=tuple(scope.id for scope in place.scopes),
                head=head_of(place),
                days=place.settings.ledger_days,
            )


def written_paths(root: Path) -> list[Path]:
    """Return the files outside the root that may hold memory: a purge has to look into them, too."""
    found = (record for one in connections.load(root) for record in one.files if record.audiences)
    return [record.path for record in found if record.path.is_file()]
