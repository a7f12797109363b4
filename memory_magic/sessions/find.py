"""Where past sessions lie: a cheap listing, without reading a conversation.

Without the setting `session_folders` the tools' own places are looked at (their environment variables first), and the
project that one works in, for its notebooks and chats. With it, only the folders that it names are searched, in depth,
and each file is told by its content. Sub-agents' transcripts, hidden folders and installed packages are left out.

The limit is shared fairly: files are grouped by project, newest first within each, and the groups take turns, so that
one busy project starves no other. That order is kept in the answer. Of a file no more is looked at than its name, its
time, and for a rollout the line that names its directory (rollouts of all projects lie in one folder).

Nothing is written, no link to a folder is followed, and what cannot be looked at is said and passed over.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_magic import sessions
from memory_magic.errors import SessionFormatError
from memory_magic.sessions import claude_code, codex, ipython_history, jupyter_chat, mito, notebook, oh_my_pi, recognise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from memory_magic.sessions.records import Session

DEPTH = 12  # folders below a named one
PROJECT_DEPTH = 6
ENTRIES = 200_000  # entries of folders that one search looks at

_ENDINGS = frozenset({".jsonl", ".chat", ".ipynb", ".json"} | recognise.DATABASES)
_PROJECT_ENDINGS = {".chat": jupyter_chat.SOURCE, ".ipynb": notebook.SOURCE}
_OTHERS = frozenset({"__pycache__", "node_modules", "site-packages", "subagents", "venv"})
_HISTORY = "history.sqlite"
_ROLLOUT_ID = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-fA-F-]{36})")
_NO_SIGN = re.compile(r"[^\w]+")


class Wanted(Protocol):
    """The settings that a search asks for."""

    @property
    def session_folders(self) -> tuple[str, ...]:
        """Return the folders to look in; none means the tools' own places."""

    @property
    def scan_limit(self) -> int:
        """Return how many sessions one scan may list."""


@dataclass(frozen=True, slots=True)
class Found:
    """A session file: *source* is its reader, *project* groups it with others, *own_id* is the id in its name."""

    path: Path
    source: str
    project: str
    modified: datetime
    size: int
    own_id: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of a search: *seen* sessions in all, of which *files* are within the limit, fairly chosen.

    *ids* holds the ids of all sessions that tools recorded themselves, so that chats which copy them can tell.
    *problems* are sentences about folders that could not be looked at.
    """

    files: tuple[Found, ...] = ()
    seen: int = 0
    ids: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Search:
    """What a search has met so far."""

    found: dict[tuple[int, int], Found] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    left: int = field(default_factory=lambda: ENTRIES)

    def add(self, path: Path, source: str | None = None) -> None:
        """Take a file, once, whatever names it has; without *source* only if its content is a session's."""
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) in self.found:
                return
            kind = source or recognise.source_of(path)
        except OSError:  # it has gone meanwhile, or is not ours to read: reading it by name will say so
            return
        if kind is None or _is_sub_agents(path, kind):
            return
        modified = datetime.fromtimestamp(status.st_mtime, UTC)
        self.found[status.st_dev, status.st_ino] = Found(
            path, kind, _project(path, kind), modified, status.st_size, _own_id(path, kind)
        )

    def walk(self, folder: Path, depth: int) -> Iterator[Path]:
        """Yield the files below a folder that may be sessions, in the order of their names."""
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(f"{folder} cannot be looked at: {error.strerror}")
            return
        for entry in inside:
            self.left -= 1
            if self.left < 0:
                return
            if _is_folder(entry):
                if depth and not entry.name.startswith(".") and entry.name not in _OTHERS:
                    yield from self.walk(folder / entry.name, depth - 1)
            elif Path(entry.name).suffix.lower() in _ENDINGS:
                yield folder / entry.name


def find(wanted: Wanted, cwd: Path, environ: Mapping[str, str] = os.environ, since: datetime | None = None) -> Finding:
    """List the sessions that there are, at most `scan_limit`, leaving out files not changed after *since*."""
    search = _Search()
    home = Path(environ.get("HOME") or Path.home())
    if wanted.session_folders:
        for name in wanted.session_folders:
            folder = cwd / _expanded(name, home)
            if not folder.is_dir():
                search.problems.append(f"{folder} is no folder (setting session_folders)")
                continue
            for path in search.walk(folder, DEPTH):
                search.add(path)
    else:
        for source, path in _own_places(environ, home):
            search.add(path, source)
        _look_in_project(search, cwd, home)
    if search.left < 0:
        search.problems.append(f"there are more than {ENTRIES} files: name narrower folders in session_folders")
    everything = list(search.found.values())
    return Finding(
        files=_fairly(_recent(everything, since), wanted.scan_limit),
        seen=len(everything),
        ids=frozenset(found.own_id for found in everything if found.own_id is not None),
        problems=tuple(search.problems),
    )


def load(finding: Finding) -> Iterator[tuple[Found, Session | SessionFormatError]]:
    """Read the sessions of a finding one by one, each conversation once: chats lose what their tools recorded."""
    for found in finding.files:
        try:
            session = sessions.read_as(found.source, found.path, finding.ids)
        except SessionFormatError as error:
            yield found, error
            continue
        if not is_copy(session, finding.ids):
            yield found, session


def is_copy(session: Session, covered: Iterable[str]) -> bool:
    """Tell whether nothing is left of a chat that was read without the *covered* sessions."""
    repeats = not set(session.copy_of).isdisjoint(covered)
    return repeats and not (session.turns or session.calls)


def _expanded(name: str, home: Path) -> Path:
    """Return a folder's path with a leading ~ replaced."""
    return home / name[2:] if name.startswith("~/") else home if name == "~" else Path(name)


def _own_places(environ: Mapping[str, str], home: Path) -> Iterator[tuple[str, Path]]:
    """Yield the session files in the places where their tools put them."""
    codex_home = Path(environ.get("CODEX_HOME") or home / ".codex")
    for path in _glob(codex_home / "sessions", "*/*/*/rollout-*.jsonl"):
        yield codex.SOURCE, path
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    for path in _glob(claude / "projects", "*/*.jsonl"):
        yield claude_code.SOURCE, path
    for path in _oh_my_pi_files(environ, home):
        yield oh_my_pi.SOURCE, path
    for path in _glob(home / ".mito" / "ai-chats", "*.json"):
        yield mito.SOURCE, path
    ipython = Path(environ.get("IPYTHONDIR") or home / ".ipython")
    for path in _glob(ipython, f"profile_*/{_HISTORY}"):
        yield ipython_history.SOURCE, path


def _oh_my_pi_files(environ: Mapping[str, str], home: Path) -> Iterator[Path]:
    """Yield oh-my-pi's session files."""
    named = environ.get("PI_CODING_AGENT_SESSION_DIR")
    if named:
        yield from _glob(Path(named), "*.jsonl")
        yield from _glob(Path(named), "*/*.jsonl")
        return
    agent = environ.get("PI_CODING_AGENT_DIR") or home / (environ.get("PI_CONFIG_DIR") or ".omp") / "agent"
    yield from _glob(Path(agent) / "sessions", "*/*.jsonl")


def _glob(folder: Path, pattern: str) -> Sequence[Path]:
    """Return the files of a pattern in a stable order; a folder that is not there has none."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return ()


def _look_in_project(search: _Search, cwd: Path, home: Path) -> None:
    """Take the notebooks and chats below the directory that one works in; home and what holds it are no project."""
    here = Path(os.path.realpath(cwd))
    if Path(os.path.realpath(home)).is_relative_to(here):
        return
    for path in search.walk(here, PROJECT_DEPTH):
        if source := _PROJECT_ENDINGS.get(path.suffix.lower()):
            search.add(path, source)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Tell a folder from a file; a link to a folder is neither walked nor read."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_sub_agents(path: Path, source: str) -> bool:
    """Tell the transcript of a sub-agent: it lies in a folder that is called like the session that started it."""
    if source == claude_code.SOURCE and path.name.startswith("agent-"):
        return True
    owners = (path.parent, path.parent.parent)
    return path.suffix == ".jsonl" and any(
        owner.with_name(f"{owner.name}.jsonl").exists() for owner in owners if owner.name
    )


def _own_id(path: Path, source: str) -> str | None:
    """Return the id that a tool gave to its own file, as far as the name tells it."""
    if source == codex.SOURCE:
        named = _ROLLOUT_ID.match(path.name)
        return named[1] if named else None
    if source == claude_code.SOURCE:
        return path.stem
    return path.stem.rpartition("_")[2] if source == oh_my_pi.SOURCE else None


def _project(path: Path, source: str) -> str:
    """Return what groups sessions of one project, whatever tool wrote them: its directory, with signs left out."""
    if source == codex.SOURCE:
        place = codex.cwd_of(path) or str(path.parent)
    elif source in (mito.SOURCE, ipython_history.SOURCE):
        return source
    else:
        named_after = source in (claude_code.SOURCE, oh_my_pi.SOURCE)
        place = path.parent.name if named_after else str(path.parent)
    return _NO_SIGN.sub("-", place).strip("-").lower()


def _recent(found: list[Found], since: datetime | None) -> list[Found]:
    """Return the files that changed after a time."""
    return found if since is None else [one for one in found if one.modified > since]


def _fairly(found: list[Found], limit: int) -> tuple[Found, ...]:
    """Return at most *limit* files: newest first within each project, the projects taking turns."""
    groups: dict[str, list[Found]] = {}
    for one in sorted(found, key=lambda one: (-one.modified.timestamp(), str(one.path))):
        groups.setdefault(one.project, []).append(one)
    ranked = [(turn, one) for group in groups.values() for turn, one in enumerate(group)]
    ranked.sort(key=lambda pair: (pair[0], -pair[1].modified.timestamp(), str(pair[1].path)))
    return tuple(one for _, one in ranked[:limit])
