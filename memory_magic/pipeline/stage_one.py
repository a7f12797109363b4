"""Stage one: a session becomes a stage-one file that a person can read.

Read, clean (no secret, no private span, none of our own memory), extract, write. The file lies in the folder of the
session's workspace; a session whose directory belongs to none stays in `unscoped/` of exactly that directory, one
without a directory in `unscoped/none/`: unknown means deny.

*version* is a hash of the cleaned session, not of the file's bytes, so that a file that was only touched, or grew by
lines that hold no turn, is the same version. Of a version that has its file nothing is written again. A file keeps
its name when its session is extracted anew. Everything that reaches the disk has been redacted twice: the session
before the rules see it, and each field before it is written.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_magic.errors import FileStateError, MemoryOffError, ReadOnlyStoreError
from memory_magic.pipeline import artefacts
from memory_magic.pipeline.artefacts import Artefact, safe_slug
from memory_magic.store.scope import resolve
from memory_magic.text.invisible import visible
from memory_magic.text.redact import redact
from memory_magic.text.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.pipeline.offline import Extraction
    from memory_magic.sessions.records import Session
    from memory_magic.store.records import Scope

UNSCOPED = "unscoped"
NO_DIRECTORY = "none"

OUTPUT = "output"
NO_OUTPUT = "no_output"


class _Switch(Protocol):
    """The one setting that stage one asks for."""

    @property
    def enabled(self) -> bool:
        """Tell whether sessions may be read at all."""


class Memory(Protocol):
    """What stage one needs of a store."""

    @property
    def root(self) -> Path:
        """Return the directory that holds everything."""

    @property
    def settings(self) -> _Switch:
        """Return the settings in force."""


@dataclass(frozen=True, slots=True)
class Output:
    """What became of one session; *path* is its stage-one file, *stem* the name of that without `.md`."""

    stem: str | None
    session: str
    source: str
    cwd: str | None
    updated: str | None
    generated: str
    model: str
    status: str
    input_tokens: int
    truncated: bool
    redacted: dict[str, int] = field(default_factory=dict)
    error: str | None = None
    path: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the record as the command line prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


def run_session(
    path: str | os.PathLike[str],
    *,
    store: Memory,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Output:
    """Extract one session by the offline rules.

    Raises `MemoryOffError` while `enabled` is false or the session's project asks for no memory, `SessionFormatError`
    for a file that is no session, `ReadOnlyStoreError` for a store open for reading, `StoreAccessError` when the disk
    refuses.
    """
    if not store.settings.enabled:
        raise MemoryOffError(
            "memory is off, so no session is read", hint="switch it on with: memory-magic config set enabled on"
        )
    if getattr(store, "read_only", False):
        raise ReadOnlyStoreError(
            "this store is open for reading only, so nothing can be extracted", where=str(store.root)
        )
    from memory_magic import sessions
    from memory_magic.pipeline import offline, render

    session = sessions.read(path)
    folder = folder_of(session.cwd, store.root)
    washed = render.clean(session)
    rendered = render.serialise(washed.session)
    version = version_of(washed.session)
    known = artefacts.find(folder, washed.session.source, washed.session.id)
    if known is not None:
        earlier = artefacts.read(known)
        if (earlier.version, earlier.model) == (version, offline.MODEL):
            return output_of(known, earlier)
    artefact = build(
        washed.session,
        offline.extract(washed.session),
        version=version,
        model=offline.MODEL,
        input_tokens=estimate(rendered),
        redacted=washed.redacted,
        generated=clock(),
    )
    stem = (
        known.stem
        if known
        else artefacts.new_stem(folder, artefact.source, artefact.session, session.started, artefact.slug)
    )
    return output_of(artefacts.write(folder, stem, artefact), artefact)


def build(
    session: Session,
    extraction: Extraction,
    *,
    version: str,
    model: str,
    input_tokens: int,
    redacted: dict[str, int],
    generated: datetime,
) -> Artefact:
    """Return the stage-one file's content for a cleaned session and what was extracted from it."""
    kinds = Counter(redacted)

    def safe(text: str) -> str:
        result = redact(visible(text))
        kinds.update(result.kinds)
        return result.text

    raw, summary = safe(extraction.raw_memory), safe(extraction.rollout_summary)
    if not (raw.strip() and summary.strip()):
        raw = summary = ""
    return Artefact(
        session=safe(session.id),
        source=session.source,
        path=safe(session.path),
        cwd=None if session.cwd is None else safe(session.cwd),
        updated=_stamp(session.updated) if session.updated else None,
        version=version,
        model=model,
        input_tokens=input_tokens,
        truncated=False,
        generated=_stamp(generated),
        slug=safe_slug(safe(extraction.rollout_slug or "")) if raw else None,
        raw_memory=raw,
        rollout_summary=summary,
        redacted={kind: kinds[kind] for kind in sorted(kinds)},
    )


def output_of(path: Path, artefact: Artefact) -> Output:
    """Return the record of a stage-one file."""
    return Output(
        stem=path.stem,
        session=artefact.session,
        source=artefact.source,
        cwd=artefact.cwd,
        updated=artefact.updated,
        generated=artefact.generated,
        model=artefact.model,
        status=OUTPUT if artefact.has_output else NO_OUTPUT,
        input_tokens=artefact.input_tokens,
        truncated=artefact.truncated,
        redacted=artefact.redacted,
        path=str(path),
    )


def folder_of(cwd: str | None, root: Path) -> Path:
    """Return the stage-one folder for sessions of a directory; it need not exist.

    Raises `MemoryOffError` when a project file there says `memory = "off"`, `FileStateError` when the folder is a
    link that leads out of the store.
    """
    real = _real(cwd)
    scope = None if real is None else _workspace(real, root)
    home = scope.path if scope else root / UNSCOPED / _directory_name(real)
    folder = home / artefacts.FOLDER
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root)):
        raise FileStateError(
            "a folder of the store is a link that leads outside the store",
            where=str(folder),
            hint="put a real folder there",
        )
    return folder


def version_of(session: Session) -> str:
    """Return a hash (64 hex) of what a cleaned session says, whatever bytes its file has."""
    import msgspec

    said = (
        session.source,
        session.id,
        session.cwd,
        [(turn.role, turn.text) for turn in session.turns],
        [(call.name, call.arguments, call.output, call.status, call.place) for call in session.calls],
        [(note.kind, note.text, note.place) for note in session.context],
    )
    return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()


def _real(cwd: str | None) -> str | None:
    """Return the real path of a session's directory; None for one that names no place on this machine."""
    if not cwd or "\0" in cwd or not Path(cwd).is_absolute():
        return None
    return os.path.realpath(cwd)


def _workspace(real: str, root: Path) -> Scope | None:
    """Return the workspace that a directory belongs to."""
    resolution = resolve(Path(real), root)
    if resolution.memory_off:
        raise MemoryOffError(
            "the project of this session asks for no memory",
            where=real,
            hint='take memory = "off" out of its .memory-magic.toml',
        )
    return resolution.workspace


def _directory_name(real: str | None) -> str:
    """Return the name below `unscoped/`."""
    if real is None:
        return NO_DIRECTORY
    return hashlib.sha256(real.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _stamp(time: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
