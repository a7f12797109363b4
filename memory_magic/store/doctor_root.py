"""What doctor finds in the folders of a root: rights, links, the disk, copies, files of no place, twin workspaces.

Many findings of one kind in one folder are told as one, so that a root that was put into the wrong folder does not
scroll for minutes. Nothing here changes a file; only `of_disk` tries an exchange, with two files of its own.
"""

from __future__ import annotations

import os
import shlex
import stat
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files, gate
from memory_magic.store.origin_url import canonical_origin, workspace_id
from memory_magic.store.purge import places
from memory_magic.store.records import Finding
from memory_magic.store.scope_file import alias_id, read_scope_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memory_magic.store.records import Scope

MOST_OF_A_KIND: Final = 10
_WIDE: Final = stat.S_IRWXG | stat.S_IRWXO
_OUR_FILES: Final = (".lock", ".lock.holder", "index.sqlite3")
_KINDS: Final = {stat.S_ISLNK: "a link", stat.S_ISDIR: "a folder"}
_SPELLINGS: Final = ("https://{0}", "http://{0}", "ssh://git@{0}", "git://{0}", "git@{1}:{2}")


def of_rights(root: Path) -> Iterator[Finding]:
    """Stream the files and folders that others may read; many are told by one command."""
    wide = []
    for path in sorted([root, *root.rglob("*")]):
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if not stat.S_ISLNK(mode) and mode & _WIDE:
            wide.append((path, mode))
    if len(wide) > MOST_OF_A_KIND:
        text = f"others may read {len(wide):,} files and folders of the store"
        yield Finding("rights", text, str(root), f"chmod -R go-rwx {shlex.quote(str(root))}")
        return
    for path, mode in wide:
        right = "0700" if stat.S_ISDIR(mode) else "0600"
        text = f"others may read this ({stat.S_IMODE(mode):04o})"
        yield Finding("rights", text, _shown(path), f"chmod {right} {shlex.quote(_shown(path))}")


def of_links(root: Path) -> Iterator[Finding]:
    """Stream the scopes that are links out of the store."""
    for path in sorted((root / "workspace").glob("*")):
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            text = "this workspace is a link that leads out of the store, so it is neither read nor written"
            mend = f"rm {shlex.quote(_shown(path))}, then a real folder; only the file MEMORY.md may be a link"
            yield Finding("link", text, _shown(path), mend)


def of_kinds(root: Path) -> Iterator[Finding]:
    """Stream what stands in the place of a file of ours and is none: nothing can be kept as long as it stands there."""
    for name in _OUR_FILES:
        path = root / name
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            kind = next((kind for is_kind, kind in _KINDS.items() if is_kind(mode)), "no regular file")
            text = f"this is {kind}, and only a file works here"
            yield Finding("file", text, str(path), "move it away; the next command that writes makes the file")


def of_disk(root: Path) -> Iterator[Finding]:
    """Tell a file system on which a save of an editor may be lost."""
    try:
        exchanges = files.has_exchange(root)
    except MemoryMagicError:
        return  # a root that cannot be written is no fault of the file system
    if not exchanges:
        text = (
            "this file system cannot exchange two files, so an editor's save within microseconds of a write may be lost"
        )
        mend = "keep the store on a local disk: move the folder there and set MEMORY_MAGIC_HOME (or --root) to it"
        yield Finding("disk", text, str(root), mend)


def of_places(root: Path) -> Iterator[Finding]:
    """Stream copies by editors and sync tools, and files that belong to no place of a store."""
    foreign: dict[Path, list[Path]] = {}
    for found in places.walk(root):
        if found.place.kind == places.COPY:
            yield _copy(found.path)
        elif found.place.kind == places.UNKNOWN:
            foreign.setdefault(found.path.parent, []).append(found.path)
    for folder, paths in foreign.items():
        mend = "move it out of the store; a bare list of notes is taken over by %memory import FILE"
        if len(paths) > MOST_OF_A_KIND:
            text = f"{len(paths):,} files that do not belong to a store; they are neither read nor kept private"
            yield Finding("foreign", text, _shown(folder), mend.replace("move it", "move them"))
            continue
        for path in paths:
            text = "this file does not belong to a store; it is not read, and a purge only looks into it"
            yield Finding("foreign", text, _shown(path), mend)


def _copy(path: Path) -> Finding:
    shown = _shown(path)
    text = "this looks like a copy of a memory file; it is not read"
    gone = f"rm {shlex.quote(shown)}"
    if "journal" in path.name.casefold() or not path.name.casefold().endswith(".md"):
        return Finding("copy", text, shown, f"take over what is missing, then {gone}")
    return Finding("copy", text, shown, f"%memory import {shlex.quote(shown)} takes what is missing, then {gone}")


def of_repositories(scopes: Sequence[Scope]) -> Iterator[Finding]:
    """Stream the workspaces that are a second folder of one repository (CodeWhale's beside ours, an old address)."""
    ids = {scope.id.rpartition("/")[2]: scope for scope in scopes if not scope.is_global}
    told: set[frozenset[str]] = set()
    for name, scope in ids.items():
        for twin in sorted(_twins(name, scope, ids)):
            pair = frozenset({name, twin})
            if pair in told:
                continue
            told.add(pair)
            yield _twin(*_kept_first(scope, ids[twin]))


def _twins(name: str, scope: Scope, ids: dict[str, Scope]) -> set[str]:
    """Return the other folders in *ids* that mean the repository of *scope*."""
    content, _ = read_scope_file(scope.path)
    same = {alias_id(alias) for alias in content.aliases} if content else set()
    origin = _origin(scope)
    if origin:
        same |= {workspace_id(origin), *_raw_ids(origin)}
        same |= {other for other, one in ids.items() if _origin(one) == origin}
    return (same & ids.keys()) - {name}


def _origin(scope: Scope) -> str:
    """Return the canonical origin; what `scope.toml` holds is canonical already, unless somebody edited it."""
    return canonical_origin(scope.origin) or scope.origin


def _raw_ids(canonical: str) -> Iterator[str]:
    """Yield the names that CodeWhale gives to a repository: the hash of its address as somebody wrote it."""
    host, _, path = canonical.partition("/")
    for spelling in _SPELLINGS:
        for end in ("", ".git", "/"):
            yield workspace_id(spelling.format(canonical, host, path) + end)


def _kept_first(one: Scope, other: Scope) -> tuple[Scope, Scope]:
    """Return the folder that notes are written to, and the one beside it."""
    origin = _origin(other)
    is_kept = bool(origin) and other.id.endswith(workspace_id(origin))
    return (other, one) if is_kept else (one, other)


def _twin(kept: Scope, beside: Scope) -> Finding:
    name = gate.clean_line(kept.label) or kept.id
    text = f"a second folder of the repository {name}: its notes are read, new ones go to {kept.id}"
    if not os.path.lexists(beside.memory_file):
        return Finding("twin", text, _shown(beside.path), f"it has no notes: rm -r {shlex.quote(_shown(beside.path))}")
    mend = (
        f"for each note of %memory list --scope {beside.id} :  %memory promote ID --to {kept.id} --scope {beside.id} ; "
        "then delete the folder"
    )
    return Finding("twin", text, _shown(beside.path), mend)


def _shown(path: Path) -> str:
    """Return a path as it may be shown: a file's name can hold anything."""
    return str(path) if str(path).isprintable() else gate.clean_line(str(path))
