"""What `connect` has written where: `<root>/connections.json`, so that `disconnect` can put every byte back.

For each file: its hash before and after, the steps that were taken, and their splices. No memory text stands in it: of
what we wrote only the length is kept, of what stood in its place before the text itself, unless that holds a secret;
such a file is put back by its keys. Whoever changes it holds `hold(root)`, a lock on the root's folder itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic.assistants.editors import Splice, Step
from memory_magic.errors import LockTimeoutError
from memory_magic.store import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME: Final = "connections.json"
_WAIT: Final = 10.0
_PAUSE: Final = 0.02


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file: hashes *before* (None: there was none) and *after*, what was done to it, folders made for it."""

    path: Path
    steps: tuple[Step, ...]
    before: str | None = None
    after: str = ""
    splices: tuple[Splice, ...] | None = None
    made: tuple[tuple[str, ...], ...] = ()
    folders: tuple[Path, ...] = ()
    private: bool = True
    keep: bool = False

    @property
    def audiences(self) -> set[str]:
        """Return whose memory stands in the file."""
        return {step.audience for step in self.steps if step.audience}

    def as_json(self) -> dict[str, Any]:
        """Return it for the file."""
        return {
            "path": str(self.path),
            "steps": [step.as_json() for step in self.steps],
            "before": self.before,
            "after": self.after,
            "splices": None if self.splices is None else [list(one) for one in self.splices],
            "made": [list(one) for one in self.made],
            "folders": [str(one) for one in self.folders],
            "private": self.private,
            "keep": self.keep,
        }


@dataclass(frozen=True, slots=True)
class Connection:
    """One assistant, connected for a person (*base* empty) or in the project at *base*."""

    assistant: str
    level: str
    base: str
    files: tuple[FileRecord, ...] = field(default=())

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what tells it from others."""
        return self.assistant, self.level, self.base

    def as_json(self) -> dict[str, Any]:
        """Return it for the file."""
        return {
            "assistant": self.assistant,
            "level": self.level,
            "base": self.base,
            "files": [one.as_json() for one in self.files],
        }


def path_of(root: Path) -> Path:
    """Return where the record of a root stands."""
    return root / NAME


def load(root: Path) -> list[Connection]:
    """Return the connections of a root; one that cannot be understood is passed over."""
    if not files.stat_file(str(path_of(root))).size:
        return []
    data = files.read(str(path_of(root))).data
    try:
        found = json.loads(data or b"{}")
        rows = found["connected"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    connections = []
    for row in rows if isinstance(rows, list) else []:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            connections.append(_connection(row))
    return connections


def _connection(row: Mapping[str, Any]) -> Connection:
    return Connection(
        str(row["assistant"]), str(row["level"]), str(row["base"]), tuple(_file(one) for one in row["files"])
    )


def _file(row: Mapping[str, Any]) -> FileRecord:
    splices = row["splices"]
    return FileRecord(
        path=Path(str(row["path"])),
        steps=tuple(Step.of(one) for one in row["steps"]),
        before=None if row["before"] is None else str(row["before"]),
        after=str(row["after"]),
        splices=None if splices is None else tuple((int(at), str(old), int(length)) for at, old, length in splices),
        made=tuple(tuple(str(part) for part in one) for one in row["made"]),
        folders=tuple(Path(str(one)) for one in row["folders"]),
        private=bool(row["private"]),
        keep=bool(row["keep"]),
    )


def save(root: Path, connections: list[Connection]) -> None:
    """Write the record; none at all where nothing is connected."""
    path = path_of(root)
    if not connections:
        files.remove(str(path))
        return
    rows = [one.as_json() for one in sorted(connections, key=lambda one: one.key)]
    files.make_directory(root)
    files.replace(path, json.dumps({"format": 1, "connected": rows}, ensure_ascii=False, indent=1).encode() + b"\n")


def put(root: Path, connection: Connection) -> None:
    """Enter a connection in the place of one with the same key; call under `hold`."""
    others = [one for one in load(root) if one.key != connection.key]
    save(root, [*others, connection] if connection.files else others)


def without_secrets(record: FileRecord) -> FileRecord:
    """Return the record without its splices where what they keep holds a secret."""
    from memory_magic.text.redact import redact

    kept = "\n".join(old for _, old, _ in record.splices or ())
    return replace(record, splices=None) if kept and redact(kept).text != kept else record


@contextlib.contextmanager
def hold(root: Path, wait: float = _WAIT) -> Iterator[None]:
    """Hold the lock of everything that is connected to a root; where there is no flock, go on without."""
    files.make_directory(root)
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with files.disk_errors(root):
        descriptor = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockTimeoutError("another process is connecting an assistant", where=str(root)) from None
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)
