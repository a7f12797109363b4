"""The past of a store behind one object: history, undo, restore, promote, review, export, import.

    with Store() as store:
        store.archive.history("7k2m9q4tzc")

An `Archive` belongs to one `Store` and works on the same journal, index, lock and files; what it does lies in modules
of its own (`past`, `undoing`, `promoting`, `reviewing`, `export`, `importing`, `bundle`), which are imported when they
are needed. Nothing here is on a hook's path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.store.access import Access

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable
    from pathlib import Path

    from memory_magic.store.export import Exported
    from memory_magic.store.history import History, Moment
    from memory_magic.store.importing import Imported
    from memory_magic.store.records import Written
    from memory_magic.store.store import Store


class Archive:
    """What can be asked and done about the past of one store."""

    def __init__(self, store: Store) -> None:
        self._access = Access(store)

    def _forbidden(self) -> Callable[[str], bool]:
        """Return the check of what was purged and must not come back."""
        from memory_magic.store.purge.screen import forbidden_in

        return forbidden_in(self._access.root)

    # -- asking ------------------------------------------------------------------------------------------------

    def history(self, target: str, *, scope: str | None = None) -> History:
        """Return every life of the note *target*: an id (also of a note long gone), its beginning, or an exact text."""
        from memory_magic.store.past import history

        return history(self._access, target, scope=scope)

    def state_at(self, moment: dt.datetime | str | int, *, scope: str | None = None) -> Moment:
        """Return the notes as they were after a record (a number, exact) or at a time (UTC unless it names a zone)."""
        from memory_magic.store.past import state_at

        return state_at(self._access, moment, scope=scope)

    def number_of_head(self, head: str) -> int | None:
        """Return the number of the record at which the chain had this value (or one that begins so), or None.

        A head noted elsewhere that the journal does not have any more tells that its end was cut off.
        """
        from memory_magic.store.lookup import number_of_head

        return number_of_head(self._access.journal, head)

    def is_approved(self, one: str) -> bool:
        """Tell whether a person approved the note with exactly this id."""
        from memory_magic.store.reviewing import is_approved

        access = self._access
        return access.asked(lambda found: is_approved(access.records(found, lambda asked: sorted(asked.links_of(one)))))

    # -- changing ----------------------------------------------------------------------------------------------

    def undo(self, n: int, *, evidence: str | None = None, by: str | None = None, scope: str | None = None) -> Written:
        """Take record *n* back by a new record; `UndoError` says which later record is in the way, if one is."""
        from memory_magic.store.undoing import undo

        return undo(self._access, n, evidence=evidence, by=by, scope=scope, forbidden=self._forbidden())

    def restore(
        self, target: str, *, evidence: str | None = None, by: str | None = None, scope: str | None = None
    ) -> Written:
        """Bring the retired note *target* back to where it stood."""
        from memory_magic.store.undoing import restore

        return restore(self._access, target, evidence=evidence, by=by, scope=scope, forbidden=self._forbidden())

    def promote(
        self,
        target: str,
        *,
        to: str,
        evidence: str | None = None,
        by: str | None = None,
        scope: str | None = None,
    ) -> Written:
        """Move the note *target* to the scope *to*; it gets a new id, and the old one leads to it."""
        from memory_magic.store.promoting import promote

        return promote(self._access, target, to=to, evidence=evidence, by=by, scope=scope)

    def approve(
        self, target: str, *, evidence: str | None = None, by: str | None = None, scope: str | None = None
    ) -> Written:
        """Journal that a person stands by the note *target*."""
        from memory_magic.store.reviewing import approve

        return approve(self._access, target, evidence=evidence, by=by, scope=scope)

    def reject(self, target: str, *, evidence: str, by: str | None = None, scope: str | None = None) -> Written:
        """Take the note *target* out because a person does not want it."""
        from memory_magic.store.reviewing import reject

        return reject(self._access, target, evidence=evidence, by=by, scope=scope)

    # -- out and in --------------------------------------------------------------------------------------------

    def export(
        self,
        path: Path | None = None,
        *,
        scope: str | None = None,
        history: bool = False,
        style: str = "jsonl",
    ) -> tuple[Exported, str]:
        """Write the notes of *scope* (None: of every scope) to *path*, or return them as text where it is None.

        *style* is jsonl or markdown; *history* adds the whole journal (JSON Lines of every scope only).
        """
        from memory_magic.store.export import export

        return export(self._access, path, scope=scope, history=history, style=style)

    def bundle(self, path: Path, *, scope: str | None = None) -> Exported:
        """Write an audit bundle to *path*: one HTML page with the data and a check inside."""
        from memory_magic.store.bundle import write_bundle

        return write_bundle(self._access, path, scope=scope)

    def import_from(
        self,
        path: Path,
        *,
        scope: str | None = None,
        history: bool = False,
        on_conflict: str = "skip",
        by: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Take over an export, a CodeWhale store or a MEMORY.md; *history* into an empty root only, verbatim.

        *on_conflict* says what becomes of a note that stood here once: skip, overwrite, new.
        """
        from memory_magic.store.importing import import_from

        return import_from(
            self._access,
            path,
            scope=scope,
            history=history,
            on_conflict=on_conflict,
            by=by,
            progress=progress,
            forbidden=self._forbidden(),
        )
