"""Connecting an assistant to this memory and taking it off again: what would change first, then exactly that.

`plan` reads the assistant's files and makes their new texts; nothing is written. `carry_out` takes the lock of all that
is connected to this root, plans again, and writes only if that is what was shown; of several files either all are
changed or none. `plan_removal` and `remove` are the way back: every byte as it was where nobody has changed the file
since, else what is ours and nothing more.

Invariants: what cannot be read as JSON, TOML or UTF-8 is not touched; connecting again changes nothing; a file in a
work tree that git follows is changed only when the person says so, because what is in it will be pushed.
"""

from __future__ import annotations

import difflib
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_magic.assistants import config_files, connections, editors, rules_files
from memory_magic.assistants.connect_specs import PROJECT, Assistant, Target, Where, find
from memory_magic.assistants.connections import Connection, FileRecord
from memory_magic.errors import ChangedMeanwhileError, FileStateError, MemoryMagicError, UsageError
from memory_magic.store import files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memory_magic.assistants.config_files import Config
    from memory_magic.assistants.editors import Applied

_CONTEXT = 1
_GIT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Change:
    """One file: as it is (*before*), as it would be (*text*, None: it goes), and whether that is *exact*."""

    before: Config
    text: str | None
    target: Target
    applied: Applied | None = None
    exact: bool = True
    record: FileRecord | None = None

    @property
    def path(self) -> Path:
        """Return the file."""
        return self.before.path

    @property
    def is_change(self) -> bool:
        """Tell whether the file would be another one."""
        return (self.text is None) != (self.before.data is None) or self.text != self._old

    @property
    def _old(self) -> str | None:
        return None if self.before.data is None else self.before.text

    @property
    def diff(self) -> str:
        """Return what would change as a person reads it: redacted, with + and -."""
        from memory_magic.text.redact import redact

        old, new = (self._old or "").splitlines(), (self.text or "").splitlines()
        lines = list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:]
        return redact("\n".join(lines)).text


# -- connecting -------------------------------------------------------------------------------------------------------


def plan(root: Path, assistant: Assistant, where: Where, *, switched_on: bool = False) -> list[Change]:
    """Return what connecting would do to each file; MemoryMagicError where one cannot be changed safely."""
    _check_level(assistant, where)
    bodies = _Bodies(root, where.base, switched_on=switched_on)
    known = {one.path: one for one in _connection(root, assistant, where).files}
    changes = []
    for target in _targets(assistant, where):
        before = config_files.read(target.path)
        if before.data is None and not target.create:
            continue
        _require_inside(target, where)
        applied = editors.apply(before.text, target.steps, bodies, str(target.path))
        change = Change(before, applied.text, target, applied, record=known.get(target.path))
        if change.is_change:
            config_files.require_writable(before)
        changes.append(change)
    if not changes:
        raise MemoryMagicError(
            f"{assistant.title}: there is nothing to write to on this computer", hint="start the assistant once first"
        )
    return changes


def _targets(assistant: Assistant, where: Where) -> list[Target]:
    """Return the files, each once: one may be a link to another."""
    found: dict[str, Target] = {}
    for target in assistant.targets(where):
        found.setdefault(os.path.realpath(target.path), target)
    return list(found.values())


def _check_level(assistant: Assistant, where: Where) -> None:
    if where.level not in assistant.levels:
        raise UsageError(
            f"{assistant.title} can be connected with --{assistant.levels[0]} only",
            hint=f"memory-magic connect {assistant.name}; for one project: memory-magic connect agents-md",
        )
    if where.level == PROJECT and where.project is None:
        raise UsageError("this folder belongs to no project", hint="change to the project's folder, or use --user")


def _require_inside(target: Target, where: Where) -> None:
    """Refuse a link of a project that leads out of it: a foreign project must not lead our pen elsewhere."""
    if not where.base or target.private:
        return
    if not Path(os.path.realpath(target.path)).is_relative_to(os.path.realpath(where.base)):
        raise FileStateError(
            "this is a link that leads out of the project; nothing was changed",
            where=str(target.path),
            hint="put a real file there",
        )


class _Bodies:
    """The texts of the audiences, each made once."""

    def __init__(self, root: Path, base: str, *, switched_on: bool) -> None:
        self._root = root
        self._base = base
        self._on = switched_on
        self.made: dict[str, Any] = {}

    def __call__(self, audience: str) -> str:
        if audience not in self.made:
            block, place = rules_files.block_for(audience, self._root, self._base, switched_on=self._on)
            if audience == rules_files.WORKSPACE and not place.scopes:
                raise MemoryMagicError(
                    "this project has no workspace of its own, so there are no notes that could go into its files",
                    hint="memory-magic init NAME makes it one",
                )
            self.made[audience] = block, place
        text: str = self.made[audience][0].text
        return text


def carry_out(root: Path, assistant: Assistant, where: Where, shown: Sequence[Change]) -> list[Change]:
    """Do what was *shown*; return what was changed. `ChangedMeanwhileError` where it would be something else now."""
    with connections.hold(root):
        changes = plan(root, assistant, where)
        agreed = {(one.path, one.text) for one in shown}
        if any(one.is_change and (one.path, one.text) not in agreed for one in changes):
            raise ChangedMeanwhileError("something changed while you looked; nothing was written", hint="look again")
        records = _write(changes)
        connection = Connection(assistant.name, where.level, where.base, tuple(records))
        connections.put(root, connection)
    done = [one for one in changes if one.is_change]
    for change in done:
        audiences = {step.audience for step in change.target.steps if step.audience}
        blocks = [rules_files.block_for(one, root, where.base) for one in sorted(audiences)]
        rules_files.enter(root, connection, change.path, blocks)
    return done


def _write(changes: Sequence[Change]) -> list[FileRecord]:
    """Write all files, or none: what was written is put back where a later one fails."""
    records: list[FileRecord] = []
    undo: list[tuple[Change, Config, list[Path]]] = []
    try:
        for change in changes:
            if not change.is_change:
                records.append(change.record or _record(change, change.before.sha256 or "", []))
                continue
            after, folders = config_files.write(change.before, change.text or "", private=change.target.private)
            undo.append((change, after, folders))
            records.append(_renewed(change, after, folders))
    except BaseException:
        for change, after, folders in reversed(undo):
            with suppress(MemoryMagicError, OSError):  # the first error is the one to tell of
                _put_back(change, after, folders)
        raise
    return records


def _put_back(change: Change, after: Config, folders: list[Path]) -> None:
    if change.before.data is None:
        config_files.remove(after, folders)
    else:
        config_files.write(after, change.before.text, private=change.target.private)


def _record(change: Change, after: str, folders: list[Path]) -> FileRecord:
    """Return the record of a file that was not connected before."""
    target, applied = change.target, change.applied
    is_new = change.is_change and applied is not None
    return connections.without_secrets(
        FileRecord(
            path=change.path,
            steps=target.steps,
            before=change.before.sha256 if is_new else "",
            after=after,
            splices=applied.splices if is_new and applied is not None else None,
            made=applied.made if applied is not None else (),
            folders=tuple(folders),
            private=target.private,
            keep=target.keep,
        )
    )


def _renewed(change: Change, after: Config, folders: list[Path]) -> FileRecord:
    """Return the record after a change: of a file that was connected before, as it was before that."""
    old = change.record
    new = _record(change, after.sha256 or "", folders)
    if old is None:
        return new
    made = tuple(dict.fromkeys((*old.made, *new.made)))
    kept = replace(new, before=old.before, made=made, folders=(*old.folders, *folders))
    if old.splices is None or change.before.sha256 != old.after or new.splices is None:
        return replace(kept, splices=None)
    # one after the other they lead back to the bytes from before the first
    return connections.without_secrets(replace(kept, splices=(*old.splices, *new.splices)))


def _connection(root: Path, assistant: Assistant, where: Where) -> Connection:
    wanted = Connection(assistant.name, where.level, where.base)
    return next((one for one in connections.load(root) if one.key == wanted.key), wanted)


# -- taking it off ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Removal:
    """What disconnecting would do to the files of one connection."""

    connection: Connection
    changes: tuple[Change, ...]


def plan_removal(root: Path, assistant: Assistant, places: Sequence[Where]) -> list[Removal]:
    """Return what disconnecting from *places* would do; what is not in the record is looked for in the files."""
    found = []
    for where in places:
        connection = _connection(root, assistant, where)
        records = connection.files or _unrecorded(assistant, where)
        changes = [one for record in records if (one := _removal(record)) is not None]
        if connection.files or any(one.is_change for one in changes):
            found.append(Removal(connection, tuple(changes)))
    return found


def _unrecorded(assistant: Assistant, where: Where) -> tuple[FileRecord, ...]:
    """Return the files that connecting here would write to, as if somebody had changed them since."""
    try:
        targets = _targets(assistant, where)
    except MemoryMagicError:
        return ()
    return tuple(FileRecord(one.path, one.steps, "", private=one.private, keep=one.keep) for one in targets)


def _removal(record: FileRecord) -> Change | None:
    before = config_files.read(record.path)
    if before.data is None:
        return None
    target = Target(record.path, record.steps, record.private, keep=record.keep)
    if record.splices is not None and before.sha256 == record.after:
        text = editors.unsplice(before.text, record.splices)
        if record.before is None and not text:
            return _gone(Change(before, None, target, record=record))
        if files.sha256(text.encode()) == record.before:
            return Change(before, text, target, record=record)
    text = editors.revert(before.text, record.steps, record.made, str(record.path))
    is_exact = files.sha256(text.encode()) == record.before
    if record.before is None and text.strip() in {"", "{}"}:
        return _gone(Change(before, None, target, record=record))
    return Change(before, text, target, exact=is_exact, record=record)


def _gone(change: Change) -> Change:
    """Return a change that takes a file of ours away, or empties it where its reader would not notice that."""
    if not change.target.keep:
        return change
    text = editors.apply(change.before.text, change.target.steps, lambda _: "", str(change.path)).text
    return replace(change, text=text, exact=False)


def remove(root: Path, removals: Sequence[Removal]) -> list[Change]:
    """Do what was planned; return the files that were changed."""
    done = []
    with connections.hold(root):
        for removal in removals:
            for change in removal.changes:
                if not change.is_change:
                    continue
                config_files.require_writable(change.before)
                if change.text is None:
                    if config_files.read(change.path).data != change.before.data:
                        raise ChangedMeanwhileError("this file was changed while you looked", where=str(change.path))
                    config_files.remove(change.before, list(change.record.folders if change.record else ()))
                else:
                    config_files.write(change.before, change.text, private=change.target.private)
                done.append(change)
            connections.put(root, replace(removal.connection, files=()))
    return done


# -- where one stands -------------------------------------------------------------------------------------------------


def tracked(changes: Sequence[Change]) -> list[Path]:
    """Return the files among *changes* that stand in a work tree and that git follows."""
    return [one.path for one in changes if one.is_change and not one.target.private and _is_tracked(one.path)]


def _is_tracked(path: Path) -> bool:
    # a foreign repository's own configuration must not start a program
    words = [
        "git",
        "-c",
        "core.fsmonitor=false",
        "-C",
        str(path.parent),
        "ls-files",
        "--error-unmatch",
        "--",
        path.name,
    ]
    try:
        done = subprocess.run(words, capture_output=True, timeout=_GIT_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return _is_in_index(path)  # no git program: its index names what it follows
    return done.returncode == 0


def _is_in_index(path: Path) -> bool:
    for folder in path.parents:
        index = folder / ".git" / "index"
        if index.is_file():
            name = os.fsencode(path.relative_to(folder).as_posix())
            return name + b"\0" in (files.read(str(index)).data or b"")
    return False


def state_of(record: FileRecord) -> str:
    """Return how a connected file stands: connected, changed (by somebody, ours is in it), taken out, gone, broken."""
    try:
        before = config_files.read(record.path)
        if before.data is None:
            return "gone"
        if before.sha256 == record.after:
            return "connected"
        text = editors.revert(before.text, record.steps, (), str(record.path))
    except (MemoryMagicError, OSError):
        return "broken"
    return "taken out" if text == before.text else "changed"


def listing(root: Path, where: Where) -> list[dict[str, Any]]:
    """Return each assistant: whether it is on this computer, where it is connected, how its files stand."""
    from memory_magic.assistants.connect_specs import ASSISTANTS

    known = connections.load(root)
    rows = []
    for assistant in ASSISTANTS.values():
        own = [one for one in known if one.assistant == assistant.name]
        connected = [
            {
                "level": one.level,
                "project": one.base or None,
                "files": [{"path": str(record.path), "state": state_of(record)} for record in one.files],
            }
            for one in own
        ]
        row = {"name": assistant.name, "title": assistant.title, "found": assistant.is_here(where)}
        rows.append({**row, "levels": list(assistant.levels), "connected": connected})
    return rows


__all__ = [
    "Change",
    "Removal",
    "carry_out",
    "find",
    "listing",
    "plan",
    "plan_removal",
    "remove",
    "state_of",
    "tracked",
]
