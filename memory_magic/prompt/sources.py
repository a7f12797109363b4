"""Reading what a block is made of: files of one place, notes from the index or the store. Nothing is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memory_magic.prompt.compose import Ingredients
from memory_magic.prompt.guidance import summary_of, template_of
from memory_magic.prompt.index_file import index_place
from memory_magic.prompt.index_heads import open_index
from memory_magic.prompt.memory_files import ABSENT, Head, read_head
from memory_magic.prompt.notes import Heads, Listed
from memory_magic.prompt.place import PERSONAL_FILE, PROJECT_FILE, project_path, summary_places

if TYPE_CHECKING:
    from memory_magic.prompt.guidance import Summary
    from memory_magic.prompt.place import Place
    from memory_magic.store.records import Note
    from memory_magic.store.store import Store


def gather(place: Place, store: Store | None = None) -> tuple[Ingredients, Closing]:
    """Read all that a block of *place* is made of; close what comes with it when the block is done."""
    personal = read_head(f"{place.root}/{PERSONAL_FILE}", place.settings.personal_bytes)
    summaries = _summaries(place)
    closing = Closing()
    made_of = Ingredients(
        heads=closing.heads(place, store),
        personal=personal,
        project=_project(place, personal),
        project_name=f"{place.settings.cwd_dir}/{PROJECT_FILE}",
        template=template_of(place.root),
        summaries=summaries,
    )
    return made_of, closing


def _project(place: Place, personal: Head) -> Head:
    """Read the project's memory file: one that leads out of the project is not read, the personal one not twice."""
    path = project_path(place)
    if not path:
        return ABSENT
    head = read_head(path, place.settings.project_bytes, inside=str(place.project))
    same = head.identity == personal.identity and personal.identity != (0, 0)
    return ABSENT if same else head


def _summaries(place: Place) -> tuple[Summary, ...]:
    limit = place.settings.summary_injection_token_limit
    found = [summary_of(one.name, one.path, one.shown, limit) for one in summary_places(place)]
    return tuple(one for one in found if one is not None)


class Closing:
    """What was opened for one block."""

    def __init__(self) -> None:
        self._open: list[object] = []

    def heads(self, place: Place, store: Store | None) -> Heads:
        """Return the notes: from the index if it is level with the files, else from a store that reads the files."""
        approved = Approvals(place, store)
        where = index_place(place.root, place.settings.index_path)
        if (found := open_index(where, place.scopes, approved)) is not None:
            self._open.append(found)
            return found
        if not any(os.path.lexists(scope.memory_file) for scope in place.scopes):
            return Listed([])
        if store is None:
            store = _store(place)
            self._open.append(store)
        return Listed(store.list(), approved=approved)

    def close(self) -> None:
        """Close it all."""
        for one in self._open:
            one.close()  # type: ignore[attr-defined]


def _store(place: Place) -> Store:
    from memory_magic.store.store import Store

    return Store(place.root, place.cwd, read_only=True)


class Approvals:
    """Tells which suspicious notes a person approved; the journal is asked only if there is such a note."""

    def __init__(self, place: Place, store: Store | None) -> None:
        self._place = place
        self._store = store

    def __call__(self, note: Note) -> bool:
        """Tell whether an approval of *note* stands."""
        store = self._store or _store(self._place)
        try:
            return store.archive.is_approved(note.id)
        finally:
            if self._store is None:
                store.close()
