"""What a root gets when it is first written to: its folder, ignore files for sync tools, a name for each workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic.store import files
from memory_magic.store import scope as scope_module
from memory_magic.store.journal import utc_now

if TYPE_CHECKING:
    from pathlib import Path

    from memory_magic.store.records import Scope

_UNSYNCED: Final = (
    "# files of one machine, not to be synced\n.lock*\n*.new\n*.old\n*.part\nindex.sqlite3*\nstate.sqlite3*\n"
)


def lay_out(root: Path, scope: Scope) -> None:
    """Make what is missing of the root and of *scope*; nothing that is there is changed."""
    files.make_directory(root)
    for name in (".gitignore", ".stignore"):
        if not (root / name).exists():
            files.create(str(root / name), _UNSYNCED.encode(), sync=False)
    if not scope.is_global and not (scope.path / "scope.toml").exists():
        created = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
        content = scope_module.ScopeFile(scope.label, scope.origin, (), created)
        scope_module.write_scope_file(scope.path, content)
