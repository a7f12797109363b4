"""`memory://` addresses: from the name of something remembered to its text (DESIGN 6).

    memory://root | global | workspace                the consolidated summary; root joins workspace and global
    memory://HOST/MEMORY.md, …/skills/NAME/SKILL.md   consolidated files; of root the workspace's before the global
    memory://HOST/notes/ID                            one note
    memory://HOST/stage_one/STEM                      what was extracted from one session

An address is decoded once, each segment by itself, so that an encoded slash or dot opens nothing. A file is looked up
in the folders of the scopes that `Place` sees, links included only as long as they stay inside that folder, and it is
only read. Whatever else is asked for is an error that says what exists here; another repository's things are not known.

Texts come out visible and without secrets and private spans, but *not* escaped: whoever shows them to a model puts them
behind the fence, whoever shows them to a person escapes for the terminal or the page.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from memory_magic.errors import FileStateError, NoSuchNoteError, ScopeError, UsageError
from memory_magic.prompt import memory_files
from memory_magic.prompt.place import SUMMARY_FILE, summary_places
from memory_magic.text.report import plain

if TYPE_CHECKING:
    from memory_magic.prompt.place import Place
    from memory_magic.store.records import Note
    from memory_magic.store.store import Store

SCHEME: Final = "memory://"
HOSTS: Final = ("root", "global", "workspace")
LONGEST_FILE: Final = 65_536
"""Bytes of a file that are given: as many as a note may have."""

NOTHING_YET: Final = "Nothing consolidated yet: there is no summary, no MEMORY.md and no skill of past sessions here."
NOTE, FILE, NOTHING = "note", "file", "nothing"
FORMS: Final = (
    "memory://root, memory://root/MEMORY.md, memory://root/skills/NAME/SKILL.md, memory://root/notes/ID, "
    "memory://root/stage_one/STEM (global or workspace in the place of root: only that scope)"
)

_CONSOLIDATED, _STAGE_ONE, _NOTES = "consolidated", "stage_one", "notes"
_DEEPEST: Final = 8
_LONGEST_ADDRESS: Final = 2_000
_NAMED: Final = 12
_LONGEST_NAME: Final = 100


class Found(NamedTuple):
    """What stands at an address.

    *kind*: note, file, or nothing (then *text* is a sentence of ours). *beyond* counts the bytes of a file that *text*
    leaves out; *name* is the file's place below the root.
    """

    address: str
    kind: str
    text: str
    note: Note | None = None
    name: str = ""
    beyond: int = 0


class Folder(NamedTuple):
    """A scope's folder: its *name* (workspace, unscoped, global), its *path*, and the path as it is shown."""

    name: str
    path: str
    shown: str


def is_address(text: str) -> bool:
    """Tell whether *text* is meant as an address."""
    return text[: len(SCHEME)].lower() == SCHEME


def resolve(address: str, place: Place, store: Store) -> Found:
    """Return what stands at *address* as *place* and *store* see it.

    `UsageError` for what is no address, `NoSuchNoteError` for what does not exist, `FileStateError` for a file that
    cannot be shown.
    """
    host, path = split(address)
    if path[:1] == (_NOTES,):
        return _note(address, host, path, store)
    folders = _folders(host, place)
    if path[:1] == (_STAGE_ONE,):
        return _stage_one(address, path, folders, place)
    if not path:
        return _summary(address, folders, place)
    return _consolidated(address, path, folders, place)


def split(address: str) -> tuple[str, tuple[str, ...]]:
    """Return host and decoded segments of an address, or raise `UsageError`."""
    if not is_address(address) or len(address) > _LONGEST_ADDRESS:
        raise UsageError("this is no memory:// address", hint=f"addresses are: {FORMS}")
    rest = address[len(SCHEME) :].removesuffix("/")
    host, *raw = rest.split("/")
    if host.lower() not in HOSTS:
        raise UsageError("an address begins with memory://root, memory://global or memory://workspace",
                         hint=f"addresses are: {FORMS}")  # fmt: skip
    if len(raw) > _DEEPEST or "?" in rest or "#" in rest:
        raise UsageError("this memory:// address has parts that mean nothing here", hint=f"addresses are: {FORMS}")
    return host.lower(), tuple(_decoded(one) for one in raw)


def _decoded(raw: str) -> str:
    try:
        segment = unquote(raw, errors="strict")
    except UnicodeDecodeError:
        segment = ""
    # a leading dot is refused with .. and ., for hidden files are never memory
    if not segment or segment.startswith(".") or not segment.isprintable() or not set("/\\:").isdisjoint(segment):
        raise UsageError("a part of this memory:// address is no name", hint=f"addresses are: {FORMS}")
    return segment


def summaries(place: Place, host: str = "root") -> list[Folder]:
    """Return the folders of *host* that hold a consolidated summary."""
    return [one for one in _folders(host, place) if os.path.isfile(f"{one.path}/{SUMMARY_FILE}")]  # noqa: PTH113


def _folders(host: str, place: Place) -> list[Folder]:
    """Return the scopes' folders that *host* means, in the order in which they are looked at."""
    ending = f"/{SUMMARY_FILE}"
    every = [
        Folder(one.name, one.path.removesuffix(ending), one.shown.removesuffix(ending)) for one in summary_places(place)
    ]
    if host == "workspace" and not any(one.name == "workspace" for one in every):
        raise ScopeError("there is no workspace here", hint="memory://global is there")
    return [one for one in every if host in ("root", one.name)]


# -- what stands there -------------------------------------------------------------------------------------------------


def _note(address: str, host: str, path: tuple[str, ...], store: Store) -> Found:
    from memory_magic.store.ids import read_prefix

    if len(path) != 2 or not read_prefix(path[1]):  # noqa: PLR2004
        raise UsageError("notes are found by their id", hint="for example memory://root/notes/7k2m9q4tzc")
    note = store.get(path[1], scope=None if host == "root" else host)
    return Found(address, NOTE, note.text, note)


def _stage_one(address: str, path: tuple[str, ...], folders: list[Folder], place: Place) -> Found:
    if len(path) == 2:  # noqa: PLR2004
        found = _file(address, f"{_STAGE_ONE}/{path[1].removesuffix('.md')}.md", folders, place)
        if found is not None:
            return found
    stems = _names(folders, _STAGE_ONE)
    there = f"there are: {', '.join(stems)}" if stems else "nothing was extracted from sessions here yet"
    raise NoSuchNoteError("there is no such stage-one output here", hint=there)


def _summary(address: str, folders: list[Folder], place: Place) -> Found:
    found = [_file(address, SUMMARY_FILE, [one], place) for one in folders]
    texts = [one for one in found if one is not None and one.text.strip()]
    if not texts:
        return Found(address, NOTHING, NOTHING_YET)
    return Found(
        address,
        FILE,
        "\n\n".join(one.text.strip() for one in texts),
        name=", ".join(one.name for one in texts),
        beyond=sum(one.beyond for one in texts),
    )


def _consolidated(address: str, path: tuple[str, ...], folders: list[Folder], place: Place) -> Found:
    found = _file(address, f"{_CONSOLIDATED}/{'/'.join(path)}", folders, place)
    if found is not None:
        return found
    names = _names(folders, _CONSOLIDATED)
    skills = [f"skills/{name}/SKILL.md" for name in _names(folders, f"{_CONSOLIDATED}/skills")]
    there = [*(name for name in names if name != "skills"), *skills]
    if not there:
        return Found(address, NOTHING, NOTHING_YET)
    raise NoSuchNoteError(
        "there is no such file among the consolidated ones here", hint=f"there are: {', '.join(there)}"
    )


def _file(address: str, name: str, folders: list[Folder], place: Place) -> Found | None:
    """Return the file *name* of the first folder that has it."""
    for folder in folders:
        if not _is_inside(folder.path, str(place.root)):
            continue  # a folder that is a link out of the store is no memory; doctor names it
        head = memory_files.read_head(f"{folder.path}/{name}", LONGEST_FILE, inside=folder.path)
        if head.trouble:
            trouble = head.trouble.replace("the project", "its scope")
            raise FileStateError(f"it cannot be shown: {trouble}", where=f"{folder.shown}/{name}")
        if not head.sha256:
            continue
        text, beyond = _within(memory_files.clean(head))
        return Found(address, FILE, text, name=f"{folder.shown}/{name}", beyond=beyond)
    return None


def _within(cleaned: memory_files.Clean) -> tuple[str, int]:
    text, lost = memory_files.cut_bytes(cleaned.text, LONGEST_FILE)
    return text, lost + cleaned.beyond


def _is_inside(path: str, root: str) -> bool:
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(root), ""))  # noqa: PTH118 -- text to text


def _names(folders: list[Folder], below: str) -> list[str]:
    """Return what a folder holds, newest names first, as far as an error can name it."""
    found = []
    for folder in folders:
        try:
            names = os.listdir(f"{folder.path}/{below}")  # noqa: PTH208 -- names are all that is needed
        except OSError:
            continue
        found += [name for name in names if not name.startswith(".")]
    shown = sorted({" ".join(plain(name).split())[:_LONGEST_NAME] for name in found}, reverse=True)
    if below == _STAGE_ONE:
        shown = [name.removesuffix(".md") for name in shown]
    return shown if len(shown) <= _NAMED else [*shown[:_NAMED], f"and {len(shown) - _NAMED:,} more"]
