"""The ledger: what was put into which prompt, when, where and from which state of the journal.

`record` enters one injection: the block by its hash (`ledger/blocks/<sha256>.md`, each distinct one once) and one JSON
line (`ledger_lines`) in the month's file. It never raises and never waits for anybody: whatever is in the way becomes
a sentence, which is returned, and kept at the root until somebody is shown it. `Ledger` reads the lines back.

Invariants. The block is in its place, whole, before a line names it. A line is one `O_APPEND` write; only one of more
than 64 kB takes the ledger's lock. Nothing is written through a link. Lines that were torn, damaged or never ours are
counted and passed over. Standard library only: this is the hook's path.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from memory_magic.errors import FileStateError, MemoryMagicError
from memory_magic.prompt.ledger_lines import CITED, INJECTED, KINDS, WRITTEN, Line, View, clean, iso, parse, section_of
from memory_magic.store import files, ledger_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from memory_magic.prompt.ledger_lines import BlockLike

__all__ = ["CITED", "INJECTED", "KINDS", "WRITTEN", "Ledger", "Line", "View", "append", "clean", "iso", "record"]

LONG_BYTES: Final = 65_536

_CHUNK: Final = 1 << 18
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_DAY: Final = 86_400
_PRIVATE: Final = stat.S_IFREG | files.FILE_MODE
_FLAGS: Final = (
    os.O_WRONLY
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe in the place of the file must not hold a prompt up
    | getattr(os, "O_CLOEXEC", 0)
)


def record(  # noqa: PLR0913 -- what an entry tells of is what it is called with
    root: Path | str,
    block: BlockLike,
    *,
    kind: str = INJECTED,
    assistant: str,
    conversation: str | None = None,
    notebook: str | None = None,
    cwd: Path | str,
    scopes: Iterable[str],
    head: Sequence[Any],
    days: int | None = None,
    now: Callable[[], float] = time.time,
) -> str:
    """Enter one injection; return what went wrong in words, empty where nothing did. Never raises.

    *head* is number and chain of the journal's last record (`store.anchors.head`). With *days* the ledger is pruned
    once a day, in a thread of its own: what the prompt waits for is one look at the age of a file.
    """
    try:
        if kind not in KINDS:
            return f"the ledger knows no kind {kind!r}"
        line = {
            "time": iso(now()),
            "kind": kind,
            "assistant": clean(assistant),
            "conversation": None if conversation is None else clean(conversation),
            "notebook": None if notebook is None else clean(notebook),
            "cwd": clean(str(cwd)),
            "scopes": [clean(scope) for scope in scopes],
            "sections": [section_of(section) for section in block.report.sections],
            "block": _store_block(str(root), block.text),
            "head": {"n": int(head[0]), "chain": str(head[1])[:16]},
        }
        append(root, f"{str(line['time'])[:7]}.jsonl", json.dumps(line).encode() + b"\n")
    except Exception as error:  # noqa: BLE001 -- whatever it is, the answer to a prompt must not be lost to it
        return _told(root, error)
    if days is not None:
        _prune_beside(root, days, now)
    return ""


def _store_block(root: str, text: str) -> str | None:
    """Put a block in its place, unless it is there; return its hash. The ledger's folder is looked at first."""
    if not text:
        _make_folders(root)
        return None
    data = text.encode("utf-8", "surrogatepass")
    name = files.sha256(data)
    folder = f"{ledger_files.folder_of(root)}/{ledger_files.BLOCKS}"
    path = f"{folder}/{name}.md"
    _make_folders(root, folder)
    try:
        status = os.lstat(path)
    except OSError:
        status = None
    if status is None or not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
        _write_block(folder, path, data)
    elif abs(time.time() - status.st_mtime) > _DAY / 2:
        os.utime(path)  # retention leaves alone what is younger than a day, so this line will find its block
    return name


def _write_block(folder: str, path: str, data: bytes) -> None:
    temporary = f"{folder}/.{os.path.basename(path)}.{int.from_bytes(os.urandom(6))}.tmp"  # noqa: PTH119
    files.create(temporary, data, sync=False)  # half a file is told by its size and written anew
    try:
        os.replace(temporary, path)  # noqa: PTH105
    except OSError:
        files.remove(temporary)
        raise


def _make_folders(root: str, *folders: str) -> None:
    for folder in (ledger_files.folder_of(root), *folders):
        if not ledger_files.require_folder(folder):
            from pathlib import Path

            files.make_directory(Path(folder))


def append(root: Path | str, name: str, line: bytes) -> None:
    """Append *line* to the monthly file *name* of a ledger whose folder was looked at: one write, whole or an error."""
    path = f"{root}/{ledger_files.FOLDER}/{name}"
    if len(line) <= LONG_BYTES and _write(path, line):
        return
    with ledger_files.locked(ledger_files.folder_of(root), wait=1.0):
        # a long one; or the month was rewritten in this very moment: was the line carried over?
        if len(line) > LONG_BYTES or line not in (files.read(path).data or b""):
            _write(path, line)


def _write(path: str, line: bytes) -> bool:
    """Append to the file itself, never to what a link leads to; tell whether it still has its name."""
    descriptor = os.open(path, _FLAGS, files.FILE_MODE)
    try:
        written = os.write(descriptor, line)
        if written != len(line):
            files.write_all(descriptor, line[written:])
        status = os.fstat(descriptor)
        if status.st_mode != _PRIVATE:
            _mend(descriptor, status.st_mode, path)
        return status.st_nlink > 0
    finally:
        os.close(descriptor)


def _mend(descriptor: int, mode: int, path: str) -> None:
    """Make the file private, or raise where it is none."""
    if not stat.S_ISREG(mode):
        raise FileStateError("this is no regular file", where=path, hint="move it away; the ledger makes its own")
    os.fchmod(descriptor, files.FILE_MODE)


def _told(root: Path | str, error: Exception) -> str:
    """Return a fault in words, and keep it for whoever looks next."""
    from memory_magic.text.report import error_text

    text = f"the ledger missed an entry: {error_text(error)}"
    try:
        ledger_files.keep_problem(root, text)
    except Exception:  # noqa: BLE001 -- the words are returned all the same
        return text
    return text


def _prune_beside(root: Path | str, days: int, now: Callable[[], float]) -> None:
    try:
        mark = os.stat(f"{root}/{ledger_files.FOLDER}/{ledger_files.LOCK}").st_mtime  # noqa: PTH116
    except OSError:
        mark = 0.0
    if abs(now() - mark) < _DAY:
        return
    import threading

    from memory_magic.prompt.ledger_retention import prune_quietly

    try:
        threading.Thread(target=prune_quietly, args=(root, days, now), name="ledger-retention").start()
    except RuntimeError:
        return  # the interpreter ends: the next one prunes


# -- reading ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Ledger:
    """The ledger of one root, for reading. *skipped* counts the lines that the last look could not read."""

    root: Path | str
    skipped: int = field(default=0, init=False)

    def lines(
        self,
        since: str | None = None,
        conversation: str | None = None,
        assistant: str | None = None,
        limit: int | None = None,
        view: View | None = None,
    ) -> Iterator[Line]:
        """Stream the lines, newest first: by month, within a month by their place. *view* hides what is not for here.

        *since*: a time as lines write it, or the beginning of one.
        """
        self.skipped = 0
        wanted = {
            key: clean(value)
            for key, value in (("conversation", conversation), ("assistant", assistant))
            if value is not None
        }
        marks = [json.dumps(value).encode() for value in wanted.values()]
        count = 0
        for path in ledger_files.months(self.root):
            if since is not None and os.path.basename(path)[:7] < since[:7]:  # noqa: PTH119
                return
            for raw in _backwards(path):
                if limit is not None and count >= limit:
                    return
                line = self._parsed(raw, marks)
                if line is not None and _fits(line, wanted, since) and (view is None or view.shows(line)):
                    count += 1
                    yield line

    def _parsed(self, raw: bytes, marks: Sequence[bytes]) -> Line | None:
        whole = raw.endswith(b"}\n")
        if whole and not all(mark in raw for mark in marks):
            return None  # another conversation: not worth a parse
        line = parse(raw)
        if line is None and raw.strip():
            self.skipped += 1
        return line

    def last(
        self, assistant: str | None = None, conversation: str | None = None, view: View | None = None
    ) -> Line | None:
        """Return the newest line of an assistant or conversation that handed out a block.

        None as well where a purge rewrote that block: nobody was ever told what stands there now.
        """
        found = self.lines(assistant=assistant, conversation=conversation, view=view)
        newest = next((line for line in found if line.kind != CITED and (line.block or line.purged)), None)
        return None if newest is None or newest.purged else newest

    def block(self, sha256: str | None) -> str | None:
        """Return a stored block; None where it is gone, or no longer what its name says."""
        if sha256 is None or not _HASH.fullmatch(sha256):
            return None
        try:
            data = files.read(f"{ledger_files.folder_of(self.root)}/{ledger_files.BLOCKS}/{sha256}.md").data
        except MemoryMagicError:
            return None
        if data is None or files.sha256(data) != sha256:
            return None
        return data.decode("utf-8", "surrogatepass")

    def difference(self, old_hash: str | None, new_text: str) -> str | None:
        """Return what changed from a stored block to *new_text* as lines with + and -; None: that block is gone."""
        old = self.block(old_hash) if old_hash else ""
        if old is None:
            return None
        import difflib

        changed = difflib.unified_diff(old.split("\n"), new_text.split("\n"), lineterm="", n=0)
        return "\n".join(line for line in list(changed)[2:] if not line.startswith("@@"))

    @property
    def problem(self) -> str:
        """Return what is wrong with the ledger, in words; empty when its newest entry came through."""
        return ledger_files.problem(self.root)

    def take_problem(self) -> str:
        """Return the problem once: empty for whoever asks after the first."""
        return ledger_files.take_problem(self.root)


def _fits(line: Line, wanted: dict[str, str], since: str | None) -> bool:
    return all(getattr(line, key) == value for key, value in wanted.items()) and (since is None or line.time >= since)


def _backwards(path: str) -> Iterator[bytes]:
    """Stream the lines of a monthly file from its end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return  # deleted since, or without rights: `doctor` tells of those
    try:
        at = os.fstat(descriptor).st_size
        rest = b""
        while at > 0:
            size = min(_CHUNK, at)
            at -= size
            rest = os.pread(descriptor, size, at) + rest
            cut = rest.find(b"\n") + 1 if at > 0 else 0
            if at > 0 and not cut:
                continue  # a line longer than what was read
            yield from reversed(list(ledger_files.pieces(rest[cut:])))
            rest = rest[:cut]
    finally:
        os.close(descriptor)
