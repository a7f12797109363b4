"""Configuration files of other programs: read with care, written in one step, with everything kept that is not ours.

A file keeps its mode, its byte order mark and its line ends; one that is a link stays a link, and what it leads to is
changed. A new file is private unless it stands in a work tree. Whoever made a file read-only meant it: it is not
changed. Between the look and the write the bytes are compared once more (`ChangedMeanwhileError`).
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_magic.errors import ChangedMeanwhileError, FileStateError, StoreAccessError
from memory_magic.store import files

LARGEST: Final = 32 * 1024 * 1024
_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_PUBLIC: Final = 0o644


@dataclass(frozen=True, slots=True)
class Config:
    """A file as it was read; *data* is None where there is none. *mode* are its permissions."""

    path: Path
    data: bytes | None
    mode: int | None = None

    @property
    def text(self) -> str:
        """Return the text; `FileStateError` where it is not UTF-8."""
        try:
            return (self.data or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            line = (self.data or b"").count(b"\n", 0, error.start) + 1
            raise FileStateError(
                "this is not UTF-8 text; nothing was changed", where=f"{self.path}:{line}", hint="save it as UTF-8"
            ) from None

    @property
    def sha256(self) -> str | None:
        """Return the hash of the bytes, None where there is no file."""
        return None if self.data is None else files.sha256(self.data)


def read(path: Path) -> Config:
    """Read a file of another program; a folder, a pipe or one that is far too large raises `FileStateError`."""
    size = files.stat_file(str(path)).size
    if size > LARGEST:
        raise FileStateError("this is far too large to be a configuration file; nothing was changed", where=str(path))
    found = files.read(str(path))
    if found.data is None:
        if os.path.islink(path):  # noqa: PTH114 -- Path.exists would follow it
            raise FileStateError("this is a link that leads nowhere; nothing was changed", where=str(path))
        return Config(path, None)
    with files.disk_errors(path):
        mode = stat.S_IMODE(path.stat().st_mode)
    return Config(path, found.data, mode)


def require_writable(config: Config) -> None:
    """Raise `StoreAccessError` where somebody made the file read-only."""
    if config.mode is not None and (not config.mode & _WRITABLE or not os.access(config.path, os.W_OK)):
        raise StoreAccessError(
            "this file is read-only; nothing was changed",
            where=str(config.path),
            hint="make it writable, then try again",
        )


def write(before: Config, text: str, *, private: bool = True) -> tuple[Config, list[Path]]:
    """Put *text* in the place of *before*; return the file as it is then, and the folders that had to be made."""
    require_writable(before)
    target = Path(os.path.realpath(before.path))
    made = _make_folders(target.parent, private=private)
    temporary = target.with_name(f".{target.name}.{int.from_bytes(os.urandom(6))}.tmp")
    data = text.encode("utf-8")
    mode = before.mode if before.mode is not None else (files.FILE_MODE if private else _PUBLIC)
    with files.disk_errors(before.path):
        try:
            files.create(str(temporary), data)
            temporary.chmod(mode)
            _require_same(target, before)
            temporary.replace(target)
        except BaseException:
            files.remove(str(temporary))
            for folder in reversed(made):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise
    files.sync_directory(str(target.parent))
    return Config(before.path, data, mode), made


def _require_same(target: Path, before: Config) -> None:
    if files.read(str(target)).data != before.data:
        raise ChangedMeanwhileError(
            "another program changed this file in this very moment; nothing was changed",
            where=str(before.path),
            hint="try again",
        )


def remove(config: Config, folders: list[Path]) -> None:
    """Remove a file that we made, and those of the *folders* made for it that are empty then."""
    require_writable(config)
    files.remove(str(config.path))
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _make_folders(folder: Path, *, private: bool) -> list[Path]:
    """Make *folder* and the parents it lacks; return them, outermost first."""
    missing: list[Path] = []
    at = folder
    while not at.is_dir() and at != at.parent:
        missing.insert(0, at)
        at = at.parent
    for one in missing:
        with files.disk_errors(one):
            one.mkdir(mode=files.DIRECTORY_MODE if private else 0o755, exist_ok=True)
    return missing
