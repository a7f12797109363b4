"""Lines of other files (extracted sessions, consolidated memory) that hold a purged text; the ledger: `ledger`.

Each such line becomes `[purged]`, a value of front matter becomes the same as JSON, so that every file keeps its form.
A file name that was made from the text loses that part. What goes is named by keyed digests of lines, so that a purge
that was interrupted is finished without the text, and a second pass finds nothing.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from memory_magic.store import files
from memory_magic.store.purge import ledger, places
from memory_magic.store.purge.erase import mark_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from memory_magic.store.purge.search import Needles

PURGED: Final = ledger.PURGED
TEMP_END: Final = ".0.tmp"
"""How the temp file of a line that goes ends: only a holder of the lock writes it, so the next one may remove it."""

_KEY: Final = re.compile(rb"([a-z_]+): ")
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_SLUG_LINE: Final = re.compile(rb"slug: [^\r\n]*")
_SLUG: Final = re.compile(r"(.+-[0-9a-f]{8,64})-(.+)\.md")


def marks_in(path: Path, needles: Needles, key: bytes) -> list[str]:
    """Return the digests of the lines of a file that hold a needle; of the ledger, as `ledger` tells."""
    if ledger.owns(path):
        return ledger.marks_in(path, needles, key)
    data = files.read(str(path)).data or b""
    if not needles.may_stand_in(data):
        return []
    lines = _LINE.findall(data)
    wanted = {
        number for first, last in needles.spans_in(data.decode("utf-8", "replace")) for number in range(first, last + 1)
    }
    return [mark_of(key, lines[number - 1].strip()) for number in sorted(wanted) if number <= len(lines)]


def erase_lines(path: Path, marks: Collection[str], key: bytes) -> bytes | None:
    """Return a file's bytes with the marked lines purged, or None where it has none."""
    data = files.read(str(path)).data or b""
    lines = _LINE.findall(data)
    front = _front_matter(lines)
    new: list[bytes] = []
    changed = False
    for number, line in enumerate(lines):
        if not line.strip() or mark_of(key, line.strip()) not in marks:
            new.append(line)
            continue
        changed = True
        replaced = _replaced(line, in_front=number < front)
        if not (new and new[-1].strip() == replaced.strip() == PURGED.encode()):
            new.append(replaced)
    return b"".join(new) if changed else None


def _front_matter(lines: list[bytes]) -> int:
    """Return how many lines the front matter takes."""
    if not lines or lines[0].strip() != b"---":
        return 0
    return next((at for at, line in enumerate(lines[1:], start=1) if line.strip() == b"---"), 0)


def _replaced(line: bytes, *, in_front: bool) -> bytes:
    ending = line[len(line.rstrip(b"\r\n")) :]
    if in_front and (key := _KEY.match(line)):
        value = b"null" if key[1] == b"slug" else json.dumps(PURGED).encode()
        return key[0] + value + ending
    return PURGED.encode() + ending


def name_without_text(path: Path, needles: Needles) -> Path | None:
    """Return what a stage-one file should be called whose name was made from a purged text, or None."""
    found = _SLUG.fullmatch(path.name)
    if found is None:
        return None
    words = " ".join(re.findall(r"\w+", found[2].casefold()))
    for text in needles.long:
        said = " ".join(re.findall(r"\w+", text.casefold()))
        # a slug is cut: it may hold the beginning only
        if said and (said in words or (len(words) >= 16 and said.startswith(words))):  # noqa: PLR2004
            return path.with_name(f"{found[1]}.md")
    return None


def _put(path: Path, data: bytes) -> None:
    """Put *data* at *path* by temp and rename; the next holder of the lock knows the temp file for a purge's."""
    temporary = path.with_name(f".{path.name}{TEMP_END}")
    files.create(str(temporary), data)
    with files.disk_errors(path):
        temporary.replace(path)
    files.sync_directory(str(path.parent))


RENAME: Final = "rename:"


def carry_out(root: Path, marks: Collection[str], names: Collection[str], key: bytes) -> None:
    """Erase the marked lines in every file of the places that lose lines; remove or rename the files in *names*."""
    if not marks and not names:
        return
    for found in list(places.walk(root)):
        name = mark_of(key, found.relative.encode("utf-8", "surrogateescape"))
        if name in names:
            files.remove(str(found.path))
            continue
        if marks and found.place.kind == places.LINES and (new := erase_lines(found.path, marks, key)) is not None:
            _put(found.path, new)
        if RENAME + name in names and (short := _SLUG.fullmatch(found.path.name)):
            _rename(found.path, found.path.with_name(f"{short[1]}.md"))


def _rename(path: Path, to: Path) -> None:
    """Give a stage-one file a name without the words that were made from the text, in its front matter too."""
    lines = _LINE.findall(files.read(str(path)).data or b"")
    front = _front_matter(lines)
    new = [_SLUG_LINE.sub(b"slug: null", line) if at < front else line for at, line in enumerate(lines)]
    _put(to, b"".join(new))
    files.remove(str(path))
