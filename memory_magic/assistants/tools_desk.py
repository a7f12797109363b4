"""Where the tools of one conversation work: the store as it is seen from one folder, and whether memory is on there.

A server lives as long as an assistant's session, and meanwhile a person switches memory off, writes
`.memory-magic.toml`, or changes a setting. So each call takes a `Seen` of its own: the settings are read again when
their file changed, the project files on every call, and the scopes are told anew when those changed or after
`STANDS_SECONDS`. The store behind it stays open as long as nothing of that changed.

Without a folder nothing but global memory is seen (unknown means deny): not even what was extracted from a folder.
Invariants: one lock around looking, so that calls may come from several threads; nothing here writes.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic import settings as rules
from memory_magic.prompt.place import NOT_THERE, Place, is_settled, place_of, signature
from memory_magic.store.project_file import project_files
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.prompt.place import Signature
    from memory_magic.settings import Settings
    from memory_magic.store.project_file import ProjectFile

STANDS_SECONDS: Final = 30.0
"""How long the scopes of a folder are taken to stand: a remote that is renamed in git shows after this."""

NO_FOLDER: Final = "the assistant named no folder; `memory-magic mcp --workspace DIR` names one"
_OFF_HERE: Final = (
    "Memory is off in this project (a .memory-magic.toml says so): a person switches it on with "
    "`memory-magic on --project` in its folder."
)
_UNREAD: Final = (
    "Nothing is read from memory, because use_memories is off: a person changes that with "
    "`memory-magic config set use_memories on`."
)
_VARIABLE: Final = rules.SETTINGS["enabled"].variable


class Seen(NamedTuple):
    """What one call sees.

    *off* says why memory is off here (empty: on), *unread* why nothing may be read from it, *no_workspace* why there
    is only global memory.
    """

    store: Store
    place: Place
    off: str = ""
    unread: str = ""
    no_workspace: str = ""


class Desk:
    """The store at *root* as it is seen from *folder*; `close` when the conversation is over."""

    def __init__(
        self,
        root: str | Path | None = None,
        folder: str | Path | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.root = rules.find_root(root)
        self.folder: Path | None = None
        self.why_none = NO_FOLDER
        self._clock = clock
        self._guard = threading.RLock()
        self._opened: tuple[Store, str, float] | None = None
        self._files: tuple[ProjectFile, ...] = ()
        self._settings: tuple[Signature, Settings, str] | None = None
        if folder is not None:
            self.move(folder)

    def move(self, folder: str | Path | None, why_none: str = NO_FOLDER) -> None:
        """Look from *folder* from now on; one that is not there counts as none."""
        wanted = Path(folder) if folder is not None else None
        if wanted is not None and not wanted.is_dir():
            wanted, why_none = None, "the folder that was named does not exist"
        with self._guard:
            if wanted != self.folder:
                self._close()
            self.folder, self.why_none = wanted, why_none

    def look(self) -> Seen:
        """Return what is seen now."""
        with self._guard:
            settings, off = self._switches()
            store = self._store(settings)
            place = place_of(store, settings)
            if self.folder is None:
                # no directory has an empty name: what was extracted from one is not seen
                place = place._replace(cwd="", project=None, off=False)
            elif place.off and not off:
                off = _OFF_HERE
            return Seen(store, place, off, "" if settings.use_memories else _UNREAD, self._no_workspace(store))

    def close(self) -> None:
        """Close the store."""
        with self._guard:
            self._close()

    def _close(self) -> None:
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None

    def _store(self, settings: Settings) -> Store:
        where = self.folder or Path(os.sep)
        files = project_files(where) if self.folder is not None else ()
        state = repr(settings)
        if self._opened is not None:
            store, known, since = self._opened
            if known == state and files == self._files and self._clock() - since < STANDS_SECONDS:
                return store
        self._close()
        store = Store(self.root, where, by="MCP")
        self._opened, self._files = (store, state, self._clock()), files
        return store

    def _no_workspace(self, store: Store) -> str:
        if store.workspace is not None:
            return ""
        return self.why_none if self.folder is None else (store.scope_notice or "this folder belongs to no workspace")

    def _switches(self) -> tuple[Settings, str]:
        """Return the settings and why memory is off by them, read again when their file may have changed."""
        seen = signature(str(rules.config_path(self.root)))
        if self._settings is not None and self._settings[0] == seen and _settled(seen):
            return self._settings[1:]
        settings = rules.load(self.root)
        self._settings = (seen, settings, "" if settings.enabled else _why_off(self.root))
        return self._settings[1:]


def _settled(seen: Signature) -> bool:
    """Tell whether an equal signature means equal bytes: the file has stood for a while, or there is none."""
    return seen == NOT_THERE or is_settled(seen, time.time_ns())


def _why_off(root: Path) -> str:
    """Return the sentence that says why memory is off and which command switches it on."""
    if rules.is_paused():
        return "Memory is paused in the notebook that this was started from: `%memory on` there ends the pause."
    if rules.faults(root):
        return "Memory is off until its settings are put right: `memory-magic doctor` tells what is wrong."
    elsewhere = rules.load(root, {name: value for name, value in os.environ.items() if name != _VARIABLE})
    if os.environ.get(_VARIABLE) is not None and elsewhere.enabled:
        return f"Memory is off: {_VARIABLE} in the environment of this server says so; take it out and start again."
    return "Memory is off: a person switches it on with `memory-magic on`."
