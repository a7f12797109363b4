"""Which git repository a directory lies in, and the address of its origin, without starting git where that is safe.

The plain case (a `.git` directory, or the `.git` file of a work tree or submodule, owned by us, with a configuration
that `git_config` can read) is answered from git's files. Everything else is asked of the git program: bare
repositories, files of another owner (git's `safe.directory` decides), includes, work-tree configuration, whatever
looks damaged. Where git refuses, the answer is a sentence in `trouble`, never a guess.

Invariants: only what the repository's own configuration says counts, not the person's or the machine's; `insteadOf` is
not applied; no `GIT_*` variable of a surrounding hook (`GIT_DIR` …) is believed; git is started by an absolute path,
without shell, pager, hooks, file-system monitor or prompt, and only to read. Without a git program nothing is believed
at all.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from memory_magic.store.git_config import NotPlainError, effective_urls, read_config
from memory_magic.store.small_files import read_small

NO_GIT = "the git program was not found"
_UNSAFE = "git does not trust the owner of this repository (see git's setting safe.directory)"
_UNREADABLE = "git cannot read this repository's configuration"
# a first start from a sleeping network disk is slow; a prompt must not wait longer than this
_TIMEOUT_SECONDS = 10.0
_CEILINGS = "GIT_CEILING_DIRECTORIES"
# settings of the person, which say what is safe; every other GIT_* variable may come from a surrounding hook
_KEPT = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", _CEILINGS})
# a symbolic ref or a commit, as git itself demands of a HEAD
_HEAD = re.compile(rb"ref:[ \t\r\n]*refs/|[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?\s*\Z")
# Windows has no owners in this sense and reports 0 for every file
_our_id = getattr(os, "geteuid", int)


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository around a directory: *urls* of its origin as written, *trouble* in words.

    *top* is the top of the work tree, None in a bare repository or inside `.git`; of several urls the first after the
    last empty one counts, as for `git fetch`.
    """

    top: Path | None
    urls: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def url(self) -> str:
        """Return the address that counts, or an empty string."""
        return next(iter(self.urls), "")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where git's files lie; without *common* git has to be asked for what is there."""

    directory: Path
    common: Path | None = None
    linked: bool = False


def find_repository(directory: Path) -> Repository | None:
    """Return the repository that *directory* (existing, free of links) lies in, or None when it lies in none."""
    try:
        place = _locate(directory)
    except OSError:
        return Repository(None, trouble=_UNREADABLE)
    if place is None:
        return None
    git = _git_program()
    if git is None:
        return Repository(place.directory, trouble=NO_GIT)
    urls = _read_urls(place)
    if urls is None:
        return _ask(git, directory, place)
    return Repository(place.directory, urls)


# --- git's files -----------------------------------------------------------------------------------------------------


def _locate(directory: Path) -> _Place | None:
    """Walk up to the first directory that may hold a repository; stop, as git does, where another disk begins."""
    device = directory.stat().st_dev
    ceilings = [os.path.realpath(entry) for entry in os.environ.get(_CEILINGS, "").split(os.pathsep) if entry]
    for folder in (directory, *directory.parents):
        if folder.stat().st_dev != device or (folder != directory and str(folder) in ceilings):
            return None
        entry = folder / ".git"
        try:
            mode = entry.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            if _looks_like_git(folder, folder):
                return _Place(folder)
        else:
            return _judge(folder, entry, mode)
    return None


def _judge(directory: Path, entry: Path, mode: int) -> _Place:
    """Decide whether a `.git` entry is of the plain kind."""
    linked = stat.S_ISREG(mode)
    git_dir = _linked(entry) if linked else entry
    if git_dir is None:
        return _Place(directory)
    common = _common(git_dir)
    if not _looks_like_git(git_dir, common):
        return _Place(directory)
    ours = all(path.lstat().st_uid == _our_id() for path in (directory, entry, git_dir))
    return _Place(directory, common if ours else None, linked)


def _linked(entry: Path) -> Path | None:
    """Return where a `.git` file points, or None for any other text."""
    text = os.fsdecode(read_small(entry))
    target = text.removeprefix("gitdir: ").rstrip("\r\n")
    return entry.parent / target if target not in {"", text} and "\0" not in target else None


def _common(git_dir: Path) -> Path:
    """Return the directory that the work trees of a repository share."""
    try:
        text = os.fsdecode(read_small(git_dir / "commondir")).rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError):
        return git_dir
    return git_dir / text if "\0" not in text else git_dir


def _looks_like_git(git_dir: Path, common: Path) -> bool:
    """Tell whether a directory has what git demands of a repository: a valid HEAD, `objects` and `refs`."""
    try:
        head = read_small(git_dir / "HEAD")
    except OSError:
        return False
    return bool(_HEAD.match(head)) and all(os.access(common / name, os.X_OK) for name in ("objects", "refs"))


def _read_urls(place: _Place) -> tuple[str, ...] | None:
    """Read the origin from the files of a plain repository; None says that git has to be asked."""
    if place.common is None:
        return None
    try:
        config = read_config(read_small(place.common / "config"))
    except FileNotFoundError:
        return ()
    except (OSError, NotPlainError):
        return None
    # a submodule's core.worktree points back to where we came from; elsewhere it moves the work tree
    if config.worktree and not place.linked:
        return None
    return effective_urls(config.urls)


# --- the git program -------------------------------------------------------------------------------------------------


def _git_program() -> str | None:
    """Find git in the absolute entries of PATH: a relative one could be a program of the repository's."""
    name = "git.exe" if os.name == "nt" else "git"
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = Path(entry, name)
        # Path.is_file raises where a folder may not be entered
        if path.is_absolute() and os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
            return str(path)
    return None


def _ask(git: str, directory: Path, place: _Place) -> Repository | None:
    """Let git say which repository this is and what its own configuration names as origin."""
    status, out, errors = _run(git, directory, "rev-parse", "--is-inside-work-tree", "--show-cdup")
    if status:
        if b"not a git repository (or any" in errors:
            return None
        return Repository(place.directory, trouble=_UNSAFE if b"dubious ownership" in errors else _UNREADABLE)
    inside, _, up = os.fsdecode(out).partition("\n")
    top = Path(os.path.normpath(directory / up.removesuffix("\n"))) if inside == "true" else None
    status, out, _ = _run(git, directory, "config", "--show-scope", "-z", "--get-all", "remote.origin.url")
    if status == 1:
        return Repository(top)
    if status:
        return Repository(top, trouble=_UNREADABLE)
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    own = tuple(url for scope, url in zip(fields[::2], fields[1::2], strict=False) if scope in {"local", "worktree"})
    return Repository(top, effective_urls(own))


def _run(git: str, directory: Path, *words: str) -> tuple[int, bytes, bytes]:
    """Run git as a reader; a failure to start or to end in time is a status like any other."""
    import subprocess

    environment = {name: value for name, value in os.environ.items() if name in _KEPT or not name.startswith("GIT_")}
    environment |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    options = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
    try:
        done = subprocess.run(  # noqa: S603 - an absolute path and fixed words, no shell
            [git, "-C", str(directory), *options, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_SECONDS,
            env=environment,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return 128, b"", str(error).encode("utf-8", "replace")
    return done.returncode, done.stdout, done.stderr
