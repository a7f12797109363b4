"""`.memory-magic.toml`: a small file by which a folder is a workspace without git, or keeps memory away.

It may hold `id` (a random text that names the workspace: its SHA-256 is the identity), `label` (for people) and
`memory = "off"`. The file belongs to the project, may be committed and shared, and is therefore data of strangers: it
is read with a size limit, its id is a plain word (so that it can pose neither as an address nor as a path), and a file
that cannot be understood is reported and denies a workspace to everything below it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_magic.errors import ScopeError
from memory_magic.store.files import disk_errors, place_new, remove
from memory_magic.store.small_files import read_small
from memory_magic.text.invisible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_NAME = ".memory-magic.toml"
# the file holds three short lines; this leaves room for comments
_LARGEST = 1 << 16
# a label stands in table columns and in journal records
_LABEL_LENGTH = 80
_ID = re.compile(r"[0-9A-Za-z._-]{1,200}")
_PLACE = re.compile(r"\(at (line \d+, column \d+|end of document)\)")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """One `.memory-magic.toml`: *off* asks for no memory here, *trouble* says why it could not be understood."""

    path: Path
    label: str = ""
    id: str = ""
    off: bool = False
    trouble: str = ""

    @property
    def directory(self) -> Path:
        """Return the folder that the file speaks for."""
        return self.path.parent


def home_and_root(directory: Path) -> frozenset[Path]:
    """Return the folders that are never a project: the person's home and the top of the file system."""
    home = os.path.realpath(Path("~").expanduser())
    return frozenset({Path(home), Path(directory.anchor)})


def project_files(directory: Path) -> tuple[ProjectFile, ...]:
    """Return the project files of *directory* and of the folders above it, nearest first."""
    return tuple(_found(directory))


def _found(directory: Path) -> Iterator[ProjectFile]:
    """Read each file that is there; one that cannot be opened counts as there."""
    for folder in (directory, *directory.parents):
        path = folder / FILE_NAME
        try:
            data = read_small(path, _LARGEST)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            # unknown means deny: it may well say `memory = "off"`
            yield ProjectFile(path, off=True, trouble=f"{path} cannot be read")
        else:
            yield _parse(path, data)


def _parse(path: Path, data: bytes) -> ProjectFile:
    """Understand one file."""
    table, fault = parse_toml(data)
    if fault:
        return ProjectFile(path, off=True, trouble=f"{path} {fault}")
    label, identity, memory = table.get("label", ""), table.get("id", ""), table.get("memory", "on")
    file = ProjectFile(path, label=clean_label(label) if isinstance(label, str) else "", off=memory != "on")
    if "id" in table and not (isinstance(identity, str) and _ID.fullmatch(identity)):
        return replace(file, trouble=f'{path}: "id" has to be one word of letters, digits, ".", "_" and "-"')
    if not isinstance(memory, str) or memory not in {"on", "off"}:
        return replace(file, trouble=f'{path}: "memory" has to be "on" or "off"')
    return replace(file, id=str(identity))


def parse_toml(data: bytes) -> tuple[dict[str, object], str]:
    """Return the table and an empty string, or an empty table and what is wrong; the text itself is never quoted."""
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8").removeprefix("\ufeff")), ""
    except UnicodeDecodeError:
        return {}, "is not UTF-8 text"
    except RecursionError:
        return {}, "is nested too deeply"
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        return {}, f"is not valid TOML (at {place[1]})" if place else "is not valid TOML"


def clean_label(text: str, length: int = _LABEL_LENGTH) -> str:
    """Return a text on one line, without control or invisible characters, at most *length* characters long."""
    return " ".join(visible(text).split())[:length].rstrip()


def safe_label(text: str) -> str:
    """Return a label that may stand on disk: cleaned, and free of secrets before it is cut."""
    from memory_magic.text.redact import redact

    return clean_label(redact(clean_label(text, len(text))).text)


def quoted(text: str) -> str:
    """Return a TOML basic string."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    kept = text.encode("utf-8", "replace").decode("utf-8")
    return (
        '"'
        + "".join(escapes.get(char) or (_code(char) if char < " " or char == "\x7f" else char) for char in kept)
        + '"'
    )


def _code(char: str) -> str:
    """Write a control character as TOML does."""
    return f"\\u{ord(char):04x}"


def init(directory: Path, label: str) -> Path:
    """Make *directory* a workspace: write its project file with *label* and a random id of 128 bits.

    An existing file is never overwritten; home and the top of the file system are refused, each with a `ScopeError`.
    """
    shown = safe_label(label)
    if not shown:
        raise ScopeError("A workspace needs a name", hint="say %memory init NAME")
    folder = Path(os.path.realpath(directory))
    if not folder.is_dir():
        raise ScopeError("There is no such folder", where=str(directory))
    if folder in home_and_root(folder):
        raise ScopeError(
            "Your home and the top of the file system cannot be a workspace",
            where=str(folder),
            hint="choose the folder of one project",
        )
    path = folder / FILE_NAME
    text = (
        "# memory-magic: this folder and those below it are one workspace.\n"
        "# Keep the id: it names the workspace, also after a rename and in copies of this folder.\n"
        f'label = {quoted(shown)}\nid = "{os.urandom(16).hex()}"\n'
    )
    _create(path, text.encode("utf-8"))
    return path


def _create(path: Path, data: bytes) -> None:
    """Write a new file as a whole or not at all; it belongs to the project, so the umask decides its rights."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    with disk_errors(path):
        try:
            with temporary.open("xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            done = place_new(str(temporary), str(path))
        finally:
            remove(str(temporary))
    if not done:
        raise ScopeError(
            "This folder has a project file already",
            where=str(path),
            hint='to change it, open it in an editor ("id" names the workspace, "label" is for people)',
        )
