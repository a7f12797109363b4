"""`.purge.json`: what an interrupted purge still has to do, told without any text (store_rules 1).

Written by temp and rename before the purge record, removed after the proof. With its record in the journal everything
in it is done again; without, it is dropped. One that cannot be read is a finding of doctor, never an error. Numbers
of records and ids name what goes; lines and files that have neither are named by a keyed digest.

Format 1, 2026-11: the fields of `Intent`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME: Final = ".purge.json"
TEMP_NAME: Final = "..purge.json.0.tmp"  # one name: only a holder of the lock writes it
_FORMAT: Final = 1


class UnreadableIntentError(MemoryMagicError, ValueError):
    """The plan file is not one of ours, or not whole."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What is to be done by purge record *n*.

    *ids*: id -> what stands in its place. *live*: scope -> ids to take out of its file. *scopes* go whole. *erases* as
    in the record. *tombstones* as in the record. *lines* and *files* are keyed digests (*key*), *copies*: delete what
    editors and sync tools left. *needles*: what the proof searches for, sealed with the key.
    """

    n: int
    key: str
    ids: dict[str, str]
    live: dict[str, list[str]]
    scopes: list[str]
    erases: str
    tombstones: str
    lines: list[str]
    files: list[str]
    copies: list[str]
    needles: list[str]

    @property
    def key_bytes(self) -> bytes:
        """Return the key of the digests."""
        return bytes.fromhex(self.key)


_TYPES: Final[dict[str, type]] = {
    "n": int,
    "key": str,
    "ids": dict,
    "live": dict,
    "scopes": list,
    "erases": str,
    "tombstones": str,
    "lines": list,
    "files": list,
    "copies": list,
    "needles": list,
}


def write(root: Path, intent: Intent) -> None:
    """Write the plan file, durably."""
    data = json.dumps({"format": _FORMAT, **asdict(intent)}, sort_keys=True, indent=1)
    files.create(f"{root}/{TEMP_NAME}", data.encode())
    with files.disk_errors(root):
        (root / TEMP_NAME).replace(root / FILE_NAME)
    files.sync_directory(str(root))


def is_pending(root: Path) -> bool:
    """Tell whether a purge was interrupted; the temp file of a plan that was never whole is removed."""
    if files.stat_file(f"{root}/{TEMP_NAME}").inode:
        files.remove(f"{root}/{TEMP_NAME}")
    return exists(root)


def exists(root: Path) -> bool:
    """Tell whether there is a plan file."""
    return files.stat_file(f"{root}/{FILE_NAME}").size > 0


def read(root: Path) -> Intent | None:
    """Return the plan of a purge that was interrupted, or None; raise `UnreadableIntentError` for a damaged one."""
    path = root / FILE_NAME
    data = files.read(str(path)).data
    if data is None:
        return None
    try:
        values = json.loads(data)
        return _checked(values)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UnreadableIntentError(
            "the plan of an interrupted purge cannot be read, so that purge may be half done",
            where=str(path),
            hint="purge the same again; that replaces the plan",
        ) from error


def _checked(values: dict[str, Any]) -> Intent:
    if values.pop("format") != _FORMAT or set(values) != {item.name for item in fields(Intent)}:
        raise ValueError("another format")
    for name, kind in _TYPES.items():
        if type(values[name]) is not kind:
            raise TypeError(name)
    for name in ("scopes", "lines", "files", "copies", "needles"):
        if not all(isinstance(one, str) for one in values[name]):
            raise TypeError(name)
    if not all(isinstance(one, str) for one in values["ids"].values()):
        raise TypeError("ids")
    if not all(isinstance(ids, list) for ids in values["live"].values()):
        raise TypeError("live")
    bytes.fromhex(values["key"])
    from memory_magic.store.purge.sealed import unseal  # writers look for a plan, they seldom find one

    unseal(values["needles"])
    return Intent(**values)


def drop(root: Path) -> None:
    """Remove the plan file."""
    files.remove(str(root / FILE_NAME))
    files.sync_directory(str(root))
