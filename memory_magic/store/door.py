"""The only door to a MEMORY.md: temp, record, exchange, and a look at what came out (store_rules 0.4, 2).

The temp file is the intent. It is written under a `.part` name and renamed to `.MEMORY.md.<n>.<hash>.new` when it is
whole, so a `.new` file is never torn; `<hash>` is that of the bytes it is meant to put in place. After the exchange
the same name holds what stood there before, and its hash no longer fits. What came out equals the bytes that the
change was built on: done. If it differs it is somebody's save: the difference is journalled first, the change is
applied to the saved bytes, and the exchange is tried again, for at most three seconds; where the change no longer
applies the save is put back, and a `cancel` record says so. The predecessor is kept as `.old` until the next writer
has looked at it once more: an editor may have had it open.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NoReturn

from memory_magic.errors import ChangedMeanwhileError, MemoryMagicError
from memory_magic.store import files
from memory_magic.store.bench import apply_all, document_of, redacted
from memory_magic.store.journal_format import Draft
from memory_magic.store.note import encode
from memory_magic.store.observe import differences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memory_magic.store.bench import Bench, FileState
    from memory_magic.store.note import Document
    from memory_magic.store.operations import Operation
    from memory_magic.store.records import JournalRecord
    from memory_magic.store.replay import Known

PATIENCE: Final = 3.0
HASH_SHOWN: Final = 16
HAND: Final = "an edit of the file"
OLD_SECONDS: Final = 1.0
OLD_MOST: Final = 4
_TICK_NS: Final = 20_000_000  # no clock tick is longer than 10 ms
_BEGIN: Final = ".MEMORY.md."
_TEMP: Final = re.compile(r"\.MEMORY\.md\.(\d+)(?:-(\d+))?\.([0-9a-f]{16})(?:\.(\d+)-[0-9a-f]+)?\.(new|old|part)$")


class LockLostError(Exception):
    """The lock file was replaced under us: let go, take the new one and begin again."""


@dataclass(frozen=True, slots=True)
class Temp:
    """A temp file beside a MEMORY.md: numbers of the records it belongs to, hash that its name promises, state.

    *mtime_ns* of a predecessor is that of its content when it was looked at, or 0 where that was too fresh to trust.
    """

    path: str
    first: int
    last: int
    hash: str
    mtime_ns: int
    state: str

    def is_untouched(self) -> bool:
        """Tell whether nobody wrote to a predecessor after it was looked at."""
        if files.stat_file(self.path).mtime_ns == self.mtime_ns:
            return True
        content = files.read(self.path)
        return content.data is None or content.hash.startswith(self.hash)


def temps(target: str) -> list[Temp]:
    """Return the temp files beside *target*, oldest record first."""
    directory = os.path.dirname(target)  # noqa: PTH120  (strings on the hot path)
    with files.disk_errors(directory):
        try:
            names = os.listdir(directory)  # noqa: PTH208
        except (FileNotFoundError, NotADirectoryError):
            return []
    found = [temp for name in names if name.startswith(_BEGIN) and (temp := _temp(directory, name))]
    return sorted(found, key=lambda temp: (temp.first, temp.path))


@lru_cache(maxsize=64)  # each writer sees the predecessors that the last few have left
def _temp(directory: str, name: str) -> Temp | None:
    match = _TEMP.fullmatch(name)
    if match is None:
        return None
    first, last, digest, mtime, state = match.groups()
    return Temp(f"{directory}{os.sep}{name}", int(first), int(last or first), digest, int(mtime or 0), state)


def write_temp(target: str, numbers: tuple[int, int], data: bytes, data_hash: str) -> tuple[str, files.Signature]:
    """Write *data* beside *target* as the intent of records *numbers*; return its path and signature."""
    part, signature = write_part(target, numbers, data)
    return name_temp(part, data_hash), signature


def write_part(target: str, numbers: tuple[int, int], data: bytes) -> tuple[str, files.Signature]:
    """Write *data* beside *target* under a name that recovery throws away; return its path and signature."""
    directory = os.path.dirname(target)  # noqa: PTH120
    span = str(numbers[0]) if numbers[0] == numbers[1] else f"{numbers[0]}-{numbers[1]}"
    part = f"{directory}{os.sep}.MEMORY.md.{span}.{'0' * HASH_SHOWN}.part"
    return part, files.create(part, data)


def name_temp(part: str, data_hash: str) -> str:
    """Make a whole `.part` file the intent that its hash names; return its path."""
    name = f"{part.rsplit('.', 2)[0]}.{data_hash[:HASH_SHOWN]}.new"
    with files.disk_errors(part):
        os.rename(part, name)  # noqa: PTH104
    return name


def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
    """Put *temporary* at *target*; tell whether something came out (it then stands under *temporary*)."""
    for _ in range(1000):
        if expect_absent and files.place_new(temporary, target):
            files.remove(temporary)
            return False
        try:
            files.exchange(temporary, target)
        except FileNotFoundError:
            expect_absent = True  # an editor between its unlink and its rename, or the file was deleted
        else:
            return True
    raise ChangedMeanwhileError(
        "the memory file comes and goes too fast", where=target, hint="close the program that writes it"
    )


def keep_old(temporary: str, content_hash: str, signature: files.Signature) -> None:
    """Keep what came out, as it was looked at, until a later writer has looked at it once more.

    The name is unique: two predecessors of equal bytes may be two files, each open in an editor.
    """
    stem = temporary.rsplit(".", 2)[0]
    mtime = signature.mtime_ns if time.time_ns() - signature.mtime_ns > _TICK_NS else 0
    with files.disk_errors(temporary):
        os.chmod(temporary, files.FILE_MODE)  # noqa: PTH101  (it may be an editor's file, of its own rights)
        os.replace(  # noqa: PTH105
            temporary, f"{stem}.{content_hash[:HASH_SHOWN]}.{mtime}-{os.urandom(4).hex()}.old"
        )


def settled_old(found: list[Temp]) -> list[Temp]:
    """Return the predecessors that have been kept long enough, and the oldest of too many."""
    old = [temp for temp in found if temp.state == "old"]
    settled = old[:-OLD_MOST]
    now = time.time_ns()
    for temp in old[-OLD_MOST:]:
        if 0 <= now - files.stat_file(temp.path).ctime_ns <= OLD_SECONDS * 1e9:
            break  # those after it are younger still
        settled.append(temp)
    return settled


def looks_torn(state: FileState, content: files.Content) -> bool:
    """Tell whether *content* looks like an editor's half-finished save: empty, or most known notes missing."""
    if not state.known:
        return False
    if not content.data or not _is_utf8(content.data):
        return True
    notes = document_of(state.scope, state.path, content).notes
    return 2 * sum(one not in notes for one in state.known) > len(state.known)


def _is_utf8(data: bytes) -> bool:
    """Tell whether *data* ends with a whole character; a save cut in its midst does not."""
    try:
        data[-4:].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason != "unexpected end of data"
    return True


class Passage:
    """One change on its way through the door. *state* is the file in agreement with the journal before the change."""

    def __init__(self, bench: Bench, state: FileState, operation: Operation, records: Sequence[JournalRecord]) -> None:
        self.bench = bench
        self.state = state
        self.operation = operation
        self.records = records
        self.numbers = (records[0].n, records[-1].n) if records else (bench.tail.n, bench.tail.n)
        self.deadline = time.monotonic() + PATIENCE
        self.merged = False
        self._left_over: list[tuple[str, files.Content]] = []
        self._before: dict[str, Known] = {}

    def run(self, temporary: str, data: bytes, before_hash: str | None = None) -> bytes:
        """Bring the temp file with *data* in place and return the bytes that stand there at the end.

        *before_hash* is the hash of the bytes that the change was built on, where the caller has it already. After an
        editor's save was merged (*merged*) the state has taken in the change's records and the editor's.
        """
        expected, expected_hash = self.state.content.data, before_hash
        while True:
            if not self.bench.lock.is_ours():
                raise LockLostError
            if not swap(temporary, self.state.path, expect_absent=expected is None):
                break
            out = files.read(temporary)
            if out.data == expected:
                keep_old(temporary, expected_hash or out.hash, out.signature)
                break
            saved = files.read_settled(temporary, lambda content: looks_torn(self.state, content))
            self._left_over.append((temporary, saved))
            expected, expected_hash = data, None
            temporary, data = self._rebuild(saved, temporary, data)
        self._finish()
        return data

    def _rebuild(self, saved: files.Content, temporary: str, live: bytes) -> tuple[str, bytes]:
        """Apply the change to what an editor saved, journal what the editor changed, and return the next temp file."""
        state = self.state
        if not self.merged:
            self.merged, self._before = True, dict(state.known)
            state.apply(self.records)
            state.moved_to(state.content, state.read_as(state.path, files.Content(live, saved.signature)))
        document = state.read_as(state.path, saved)
        try:
            if time.monotonic() > self.deadline:
                raise ChangedMeanwhileError("an editor keeps saving the memory file", where=state.path)
            document.require_writable()
            result = document if self.operation.is_done(document) else self.operation.apply(document)
        except MemoryMagicError as error:
            self._cancel([saved, *self._put_back(temporary, live, saved.data or b"")], error)
        # compared with our change in it, the save differs by what the editor did, and by nothing else
        records = self._observe(state.known, state.order, result)
        state.apply(records)
        apply_all(self._before, state.scope.id, records)
        data = encode(result.text)
        state.moved_to(files.Content(data, files.Signature()), result)
        return write_temp(state.path, self.numbers, data, files.sha256(data))[0], data

    def _observe(self, known: dict[str, Known], order: Sequence[str], document: Document) -> list[JournalRecord]:
        found = differences(known, order, document, redacted)
        return self.bench.record([Draft(draft.action, draft.fields | {"by": HAND}) for draft in found])

    def _put_back(self, temporary: str, live: bytes, saved: bytes) -> list[files.Content]:
        """Exchange until what comes out is what we put there last: the newest save stays; return those that came out.

        What we had put there is kept for one more look: an editor may have it open.
        """
        ours, later = live, []
        while swap(temporary, self.state.path, expect_absent=False):
            out = files.read(temporary)
            if (out.data or b"") == ours:
                keep_old(temporary, out.hash, out.signature)
                break
            later.append(out)
            ours, saved = saved, out.data or b""
        return later

    def _cancel(self, saves: Sequence[files.Content], error: MemoryMagicError) -> NoReturn:
        """Take the change back in the journal, and let the editor's *saves*, the newest last, be what is known."""
        state = self.state
        self.bench.record(
            [
                Draft("cancel", {"scope": state.scope.id, "id": record.id or "", "cancels": str(record.n)})
                for record in self.records
            ]
        )
        state.know(self._before)
        self._take_in(saves)
        self._finish()
        raise ChangedMeanwhileError(
            f"the note was changed in an editor meanwhile, so nothing was done ({error.what})",
            where=state.path,
            hint="look at the file and try again",
        ) from error

    def _take_in(self, saves: Sequence[files.Content], change: Callable[[Document], Document] | None = None) -> None:
        """Journal each save after the other: the next one may be of a buffer that was read before it.

        Of one that looks half-written only what came is journalled: what went is seen in the file that stands there.
        """
        state = self.state
        for at, saved in enumerate(saves):
            document = state.read_as(state.path, saved)
            torn = bool(at) and looks_torn(state, saved)
            if document.is_text:
                document = document if change is None else change(document)
                known = {one: note for one, note in state.known.items() if one in document.notes or not torn}
                order = [one for one in document.notes if one in known]
                order += [one for one in known if one not in document.notes]
                state.apply(self._observe(known, order, document))
            if not torn:
                state.moved_to(saved, document)

    def _finish(self) -> None:
        for path, content in self._left_over:
            if files.stat_file(path) != files.Signature():
                keep_old(path, content.hash, content.signature)
        files.sync_directory(os.path.dirname(self.state.path))  # noqa: PTH120
