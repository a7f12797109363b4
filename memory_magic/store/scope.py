"""Which memory a directory sees: `global` always, and the workspace of its repository or project when that is certain.

`resolve` is the one rule for reading and for writing. It looks, in this order, for a `.memory-magic.toml` with an `id`
at or below the top of the git work tree, for the origin of that repository, and (when it has none) for such a file
above it. So a submodule or a nested clone keeps its own memory, and a folder of several clones can be one workspace
only for what has no origin of its own. Whatever is damaged, unreadable, distrusted by git or ambiguous in its address
gives global memory only and one sentence in `Resolution.notice`: unknown means deny.

A workspace is a directory `workspace/<64 hex>`, which keeps its name for life. The directory of the canonical origin
is the scope; when it is missing, the one that CodeWhale made (SHA-256 of the address as written) or one that lists the
origin as an alias is used instead; when several exist all are read and the canonical one is written to.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from memory_magic.errors import FileStateError, ScopeError
from memory_magic.store.git_origin import Repository, find_repository
from memory_magic.store.origin_url import canonical_origin, display_origin, workspace_id
from memory_magic.store.project_file import ProjectFile, clean_label, home_and_root, init, project_files
from memory_magic.store.records import GLOBAL, Scope
from memory_magic.store.scope_file import ScopeFile, alias_holders, read_scope_file, write_scope_file

__all__ = [
    "Resolution",
    "ScopeFile",
    "canonical_origin",
    "check_scope_name",
    "display_origin",
    "init",
    "read_scope_file",
    "resolve",
    "safe_directory",
    "scopes_on_disk",
    "workspace_id",
    "write_scope_file",
]

_WORKSPACE = re.compile(r"workspace/[0-9a-f]{64}")
_NAMES = frozenset({GLOBAL, "workspace", "all"})
_NAME_SHOWN = 40
_MAKE_ONE = "%memory init NAME makes a folder a workspace"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a directory sees: *scopes* to read (global first), *writes_to* for the workspace's notes, *notice* why not.

    *project* is the folder whose project memory file is read, None for home and the top of the file system;
    *memory_off* says that a project file asks for no memory here (or cannot be understood, which may mean that).
    """

    scopes: tuple[Scope, ...]
    workspace: Scope | None
    writes_to: Scope
    notice: str
    project: Path | None
    memory_off: bool = False


@dataclass(frozen=True, slots=True)
class _Identity:
    """A workspace as found: *id*, further ids of the same, and what people may be shown; or *notice*: why none."""

    id: str = ""
    also: tuple[str, ...] = ()
    canonical: str = ""
    label: str = ""
    notice: str = ""


def resolve(cwd: Path, root: Path) -> Resolution:
    """Tell which scopes *cwd* sees in the store at *root*; nothing is written.

    A scope directory `global` that leads outside the root is a `FileStateError`; everything else that is unclear about
    the workspace denies it, with a sentence.
    """
    everyone = Scope(GLOBAL, safe_directory(root, GLOBAL))
    try:
        start = Path(os.path.realpath(cwd, strict=True))
        fault = "" if start.is_dir() else "it is no folder"
    except (OSError, ValueError):
        fault = "the folder does not exist or cannot be entered"
    if fault:
        return Resolution((everyone,), None, everyone, _denied(fault), None)
    repository, files, forbidden = find_repository(start), project_files(start), home_and_root(start)
    identity = _identify(start, repository, [file for file in files if file.directory not in forbidden])
    scopes, workspace, notice = _workspaces(root, identity)
    return Resolution(
        scopes=(everyone, *scopes),
        workspace=workspace,
        writes_to=workspace or everyone,
        notice=notice,
        project=_project(start, repository, files, forbidden),
        memory_off=any(file.off for file in files),
    )


def _denied(why: str) -> str:
    """Say in one sentence that only global memory is used."""
    return f"Only global memory is used here: {why}."


def _project(
    start: Path,
    repository: Repository | None,
    files: tuple[ProjectFile, ...],
    forbidden: frozenset[Path],
) -> Path | None:
    """Return the top of the work tree, else the nearest folder with a project file, else the directory itself."""
    top = repository.top if repository else None
    candidates = [*([top] if top else []), *(file.directory for file in files), start]
    return next((folder for folder in candidates if folder not in forbidden), None)


# --- identity --------------------------------------------------------------------------------------------------------


def _identify(start: Path, repository: Repository | None, files: list[ProjectFile]) -> _Identity:
    """Find what names the workspace: a project file inside the repository, its origin, a project file above it."""
    border = (repository.top or start) if repository else Path(start.anchor)
    inside = [file for file in files if file.directory.is_relative_to(border)]
    return (
        _from_files(inside)
        or (_from_repository(repository) if repository else None)
        or _from_files(files[len(inside) :])
        or _Identity(notice=_denied(_why_none(repository)))
    )


def _why_none(repository: Repository | None) -> str:
    """Tell a repository without origin from no repository."""
    what = "this git repository has no origin" if repository else "this folder lies in no git repository"
    return f"{what} ({_MAKE_ONE})"


def _from_files(files: list[ProjectFile]) -> _Identity | None:
    """Take the nearest project file that names a workspace; one that cannot be understood ends the search."""
    for file in files:
        if file.trouble:
            return _Identity(notice=_denied(file.trouble))
        if file.id:
            return _Identity(workspace_id(file.id), label=file.label or clean_label(file.directory.name))
    return None


def _from_repository(repository: Repository) -> _Identity | None:
    """Take the origin's canonical address; None when there is no origin at all."""
    if repository.trouble:
        return _Identity(notice=_denied(repository.trouble))
    if not repository.url:
        return None
    canonical = canonical_origin(repository.url)
    if canonical is None:
        why = f"the address of this repository's origin names no fixed place ({_MAKE_ONE})"
        return _Identity(notice=_denied(why))
    raw = (
        workspace_id(url.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip())
        for url in repository.urls
    )
    label = clean_label(canonical.rpartition("/")[2])
    return _Identity(workspace_id(canonical), tuple(dict.fromkeys(raw)), canonical, label)


# --- directories -----------------------------------------------------------------------------------------------------


def _workspaces(root: Path, identity: _Identity) -> tuple[list[Scope], Scope | None, str]:
    """Return the workspace scopes to read, the one to write to, and why there is none."""
    if not identity.id:
        return [], None, identity.notice
    try:
        canonical = _scope(root, identity.id, identity)
        aliases = alias_holders(root / "workspace", identity.id, identity.canonical.rpartition("/")[2])
        names = dict.fromkeys(name for name in (*identity.also, *aliases) if name != identity.id)
        others = [_scope(root, name, identity) for name in names if (root / "workspace" / name).is_dir()]
    except FileStateError as error:
        return [], None, _denied(f"{error.what} ({error.where})")
    if others and not canonical.path.is_dir():
        return others, others[0], ""
    return [canonical, *others], canonical, ""


def _scope(root: Path, name: str, identity: _Identity) -> Scope:
    """Describe one workspace directory, from its `scope.toml` where it has one."""
    path = safe_directory(root, f"workspace/{name}")
    content = read_scope_file(path)[0] or ScopeFile()
    return Scope(f"workspace/{name}", path, content.label or identity.label, content.origin or identity.canonical)


def scopes_on_disk(root: Path, seen: tuple[Scope, ...]) -> tuple[Scope, ...]:
    """Return the scopes *seen*, and every other that the store at *root* holds; a link that leads outside is none."""
    found = {scope.id: scope for scope in seen}
    try:
        names = sorted(path.name for path in (root / "workspace").iterdir() if path.is_dir())
    except OSError:
        names = []
    for one in (f"workspace/{name}" for name in names):
        if one in found or not _WORKSPACE.fullmatch(one):
            continue
        try:
            path = safe_directory(root, one)
        except FileStateError:
            continue  # doctor names it
        content = read_scope_file(path)[0] or ScopeFile()
        found[one] = Scope(one, path, content.label, content.origin)
    return tuple(found.values())


def safe_directory(root: Path, scope_id: str) -> Path:
    """Return the directory of `global` or `workspace/<64 hex>` below *root*; it need not exist.

    A link inside is followed only as long as it stays below the root (else `FileStateError`); a MEMORY.md that is a
    link may lead anywhere. Any other id is a `ScopeError`.
    """
    if scope_id != GLOBAL and not _WORKSPACE.fullmatch(scope_id):
        raise _unknown(scope_id)
    path = root.absolute() / scope_id
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        raise FileStateError(
            "A folder of the store is a link that leads outside the store",
            where=str(path),
            hint="put a real folder there; only the file MEMORY.md may be a link",
        )
    if os.path.lexists(path) and not path.is_dir():
        raise FileStateError("There is something else where a folder of the store should be", where=str(path))
    return path


# --- names from outside ----------------------------------------------------------------------------------------------


def check_scope_name(name: str) -> str:
    """Return *name* if it is `global`, `workspace`, `all` or `workspace/<64 hex>`, else raise a `ScopeError`."""
    if name in _NAMES or _WORKSPACE.fullmatch(name):
        return name
    raise _unknown(name)


def _unknown(name: str) -> ScopeError:
    """Build the error for a name that is no scope, without repeating a secret or a control character."""
    from memory_magic.text.redact import redact

    shown = clean_label(redact(clean_label(name[:1000], 1000)).text, _NAME_SHOWN)
    return ScopeError(
        f'There is no scope "{shown}"' if shown else "A scope needs a name",
        hint="scopes are: global, workspace, all, or workspace/ followed by 64 hex digits",
    )
