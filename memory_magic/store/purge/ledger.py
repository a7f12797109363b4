"""The ledger forgets: stored blocks lose each item that holds a purged text or id, their lines what names it.

A block (`ledger/blocks/<sha256>.md`) moves to its new hash, for the old one would let anybody test guesses, and each
line that names it follows and is marked `"purged": true`. An item of a block goes whole, with its hanging lines, when
its head names a purged id: what stands there is escaped, so that the text need not be found in it. In a line (a JSON
object) only the values that hold a text or id go; time, kind, block and journal head stay, the head being what a
truncated journal is found by. A line that is no JSON goes whole.

What goes is named by keyed digests (of a value, an item, a line), so that a purge that was interrupted is finished
without the text; a second pass finds nothing. Months are rewritten by `ledger_files.rewrite`: no line is lost that a
prompt appends meanwhile. Purge of a whole scope empties every line that names it and takes blocks that only those name.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files, ledger_files
from memory_magic.store.purge.erase import mark_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from memory_magic.store.purge.search import Needles

PURGED: Final = "[purged]"
GONE: Final = "purged"
"""What stands in the place of an id or a hash."""

_OURS: Final = frozenset({"time", "kind", "unit", "name", "block", "chain", "sha256"})  # no one's text stands there
_KEPT: Final = ("time", "kind", "assistant", "head")
_ID: Final = re.compile(r"[0-9a-hjkmnp-tv-z]{10,26}|(?:workspace|unscoped)/.+")
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_ITEM: Final = re.compile(rb"- \[[0-9a-hjkmnp-tv-z]{10,26} [a-z]+\] ")
_HASH: Final = re.compile(r"[0-9a-f]{64}")


def owns(path: Path) -> bool:
    """Tell whether *path* is a monthly file or a stored block, of whatever root."""
    return path.parent.name == ledger_files.FOLDER or _is_block(path)


def _is_block(path: Path) -> bool:
    return path.parent.name == ledger_files.BLOCKS and path.parent.parent.name == ledger_files.FOLDER


def marks_in(path: Path, needles: Needles, key: bytes) -> list[str]:
    """Return the digests of all that holds a needle in a monthly file or a stored block."""
    data = files.read(str(path)).data or b""
    if not needles.may_stand_in(data):
        return []
    marks = _marks_in_block if _is_block(path) else _marks_in_lines
    return list(dict.fromkeys(marks(data, needles, key)))


# -- stored blocks --------------------------------------------------------------------------------------------------


def _segments(data: bytes) -> list[list[bytes]]:
    """Return a block as its items, each with its hanging lines, and single lines."""
    found: list[list[bytes]] = []
    in_item = False
    for line in _LINE.findall(data):
        hangs = in_item and (line.startswith(b"  ") or not line.strip())
        in_item = hangs or _ITEM.match(line) is not None
        if hangs:
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _marks_in_block(data: bytes, needles: Needles, key: bytes) -> Iterator[str]:
    text = data.decode("utf-8", "replace")
    hit = {number for first, last in needles.spans_in(text) for number in range(first, last + 1)}
    number = 1
    for segment in _segments(data):
        following = number + len(segment)
        if not hit.isdisjoint(range(number, following)) and (whole := b"".join(segment).strip()):
            yield mark_of(key, whole)
        number = following


def _erased_block(data: bytes, marks: Collection[str], key: bytes) -> bytes:
    new: list[bytes] = []
    for segment in _segments(data):
        whole = b"".join(segment)
        if not whole.strip() or mark_of(key, whole.strip()) not in marks:
            new.append(whole)
        elif not (new and new[-1].strip() == PURGED.encode()):
            new.append(PURGED.encode() + whole[len(whole.rstrip(b"\r\n")) :])
    return b"".join(new)


# -- lines ----------------------------------------------------------------------------------------------------------


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _with_values(value: Any, change: Callable[[str], str]) -> Any:
    """Return a JSON value with *change* made to each text in it, but for those that are ours."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_with_values(one, change) for one in value]
    if isinstance(value, dict):
        return {key: one if key in _OURS else _with_values(one, change) for key, one in value.items()}
    return value


def _marks_in_lines(data: bytes, needles: Needles, key: bytes) -> Iterator[str]:
    replaced: dict[str, str] = {}  # the same ids stand in line after line

    def look(value: str) -> str:
        if value not in replaced:
            replaced[value] = _in_place_of(value) if needles.is_held_by(value) else value
        return replaced[value]

    for line in ledger_files.pieces(data):
        if not line.strip() or not needles.may_stand_in(line):
            continue
        found = _object(line)
        rest = _rendered(_with_values(found, look)) if found is not None else line
        if needles.lines_in(rest):
            yield mark_of(key, line.strip())
    for value, new in replaced.items():
        if new != value:
            yield mark_of(key, value.encode("utf-8", "surrogatepass"))


def _in_place_of(value: str) -> str:
    return GONE if _ID.fullmatch(value) else PURGED


def _rendered(value: Any, ending: bytes = b"") -> bytes:
    return json.dumps(value).encode() + ending


class _Eraser:
    """What a purge makes of a monthly file; each text is digested once."""

    def __init__(self, marks: Collection[str], key: bytes, moved: dict[str, str], scopes: Collection[str]) -> None:
        self._marks = marks
        self._key = key
        self._moved = moved
        self._scopes = frozenset(scopes)
        self._known: dict[str, str] = {}

    def change(self, data: bytes) -> bytes:
        """Return *data* with every line as it reads after the purge."""
        return b"".join(map(self._line, ledger_files.pieces(data)))

    def _line(self, line: bytes) -> bytes:
        ending = line[len(line.rstrip(b"\r\n")) :]
        found = _object(line) if line.strip() else None
        if line.strip() and self._marks and mark_of(self._key, line.strip()) in self._marks:
            return _rendered(_outline(found or {}), ending)
        if found is None:
            return line
        new = self._erased(found, with_files=b'"sha256"' in line)
        return line if new == found else _rendered(new | {"purged": True}, ending)

    def _erased(self, found: dict[str, Any], *, with_files: bool) -> dict[str, Any]:
        if self._scopes and not self._scopes.isdisjoint(_scopes_of(found)):
            return _outline(found) | {"scopes": [GONE]}
        new: dict[str, Any] = _with_values(found, self._value) if self._marks else dict(found)
        moved = self._moved.get(str(found.get("block")))
        if moved is not None:
            # the hash of a file that the block came from lets one test guesses, too
            new = _without_hashes(new) if with_files else new
            new["block"] = moved
        return new

    def _value(self, value: str) -> str:
        if value not in self._known:
            gone = mark_of(self._key, value.encode("utf-8", "surrogatepass")) in self._marks
            self._known[value] = _in_place_of(value) if gone else value
        return self._known[value]


def _outline(found: dict[str, Any]) -> dict[str, Any]:
    """Return what stays of a line of which nothing else may stay; a line of ours reads as one."""
    kept = {key: found[key] for key in _KEPT if key in found}
    if "time" not in kept:
        return {"purged": True}
    empty = {"conversation": None, "notebook": None, "cwd": "", "scopes": [GONE], "sections": [], "block": None}
    return kept | empty | {"purged": True}


def _without_hashes(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_hashes(one) for one in value]
    if isinstance(value, dict):
        return {key: GONE if key == "sha256" else _without_hashes(one) for key, one in value.items()}
    return value


# -- a whole scope --------------------------------------------------------------------------------------------------


def _scopes_of(found: dict[str, Any]) -> list[str]:
    scopes = found.get("scopes")
    return [one for one in scopes if isinstance(one, str)] if isinstance(scopes, list) else []


def lines_of_scope(data: bytes, scope: str) -> list[int]:
    """Return the lines, from 1, of a monthly file that name *scope*."""
    word = json.dumps(scope).encode()
    found = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if word in line and any(scope in _scopes_of(_object(piece) or {}) for piece in ledger_files.pieces(line)):
            found.append(number)
    return found


def blocks_of_scope(root: Path, scope: str) -> frozenset[str]:
    """Return the hashes of the blocks that only lines of *scope* name."""
    inside: set[str] = set()
    outside: set[str] = set()
    for path in ledger_files.months(root):
        for line in ledger_files.pieces(files.read(path).data or b""):
            found = _object(line) or {}
            block = found.get("block")
            if isinstance(block, str) and _HASH.fullmatch(block):
                (inside if scope in _scopes_of(found) else outside).add(block)
    return frozenset(inside - outside)


# -- carrying out ---------------------------------------------------------------------------------------------------


def carry_out(root: Path, marks: Collection[str], scopes: Collection[str], key: bytes) -> None:
    """Erase from blocks and lines what *marks* name, and all that lines of *scopes* say; done steps are found done."""
    if not marks and not scopes:
        return
    moved: dict[str, str] = {}
    for path in map(Path, ledger_files.blocks(root)):
        if ledger_files.BLOCK.fullmatch(path.name) and marks and (now := _move(path, marks, key)):
            moved[path.stem] = now
    eraser = _Eraser(marks, key, moved, scopes)
    unfinished: MemoryMagicError | None = None
    for month in sorted((root / ledger_files.FOLDER).glob("*.jsonl")):
        if not month.is_file():
            continue
        try:
            ledger_files.rewrite(str(month), eraser.change)
        except MemoryMagicError as error:
            unfinished = unfinished or error  # the other months are erased all the same
    if unfinished is not None:
        raise unfinished
    for old, now in moved.items():
        if old != now:
            files.remove(f"{root}/{ledger_files.FOLDER}/{ledger_files.BLOCKS}/{old}.md")


def _move(path: Path, marks: Collection[str], key: bytes) -> str:
    """Write what stays of a block under its new hash beside it; return that hash, empty where nothing goes."""
    data = files.read(str(path)).data or b""
    new = _erased_block(data, marks, key)
    if new == data:
        return ""
    now = files.sha256(new)
    temporary = path.with_name(f".{now}.md{ledger_files.TEMP_END}")
    files.create(str(temporary), new)
    with files.disk_errors(path):
        temporary.replace(path.with_name(f"{now}.md"))
    return now
