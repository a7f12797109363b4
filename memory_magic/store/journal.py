"""JOURNAL.md: append-only, one write and one fsync for a batch of records (store_rules 1, 2, 4, 5).

Only a holder of the store's lock appends. Opening reads the last 64 kB: the last whole record there gives number,
chain and time to go on from. A tail that has the form of our record but is not whole (a crash in mid write) is cut by
the next writer; any other line that we do not know stays where it is and is reported. Readers stream: memory does not
grow with the file. No clock decides an order; a record's time is never before its predecessor's unless the clock went
back by an hour or more, which the record then says.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memory_magic.errors import FileStateError, StoreAccessError
from memory_magic.store import anchors, files
from memory_magic.store import journal_format as form
from memory_magic.store.records import JournalRecord, Verification
from memory_magic.store.replay import cancels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

TAIL_BYTES: Final = 65_536
_READ_BYTES: Final = 1 << 20
_SHORT_BYTES: Final = 4096
_MOST_DIGITS: Final = 19
_START: Final = b"- **"
_CLOCK_SLACK: Final = dt.timedelta(hours=1)
_TIME_FORMAT: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_TIME_LENGTH: Final = len("2026-11-30T18:35:00.123456")


def utc_now() -> dt.datetime:
    """Return the present moment with its zone."""
    return dt.datetime.now(tz=dt.UTC)


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of the journal: last whole record (n = 0 and the genesis chain for none), its *end*, the file's *size*.

    *torn* tells that what follows *end* is the beginning of a record of ours that was never finished.
    """

    n: int = 0
    chain: str = form.GENESIS
    time: str = ""
    offset: int = 0
    end: int = 0
    size: int = 0
    torn: bool = False


class Journal:
    """The journal of one root. *clock* gives the present moment."""

    def __init__(self, path: Path, clock: Callable[[], dt.datetime] = utc_now) -> None:
        self.path = path
        self._clock = clock
        self._seen: tuple[Tail, bytes] | None = None  # the end as we left it: its bytes from the line before it on

    def tail(self) -> Tail:
        """Return the end of the journal; read the last 64 kB, and more only where one record is longer.

        Where it ends in the very record that we wrote last, just that is read, and nothing is parsed.
        """
        with self._open() as descriptor:
            if descriptor is None:
                return Tail()
            size = os.fstat(descriptor).st_size
            if self._seen is not None and self._seen[0].size == size:
                tail, ending = self._seen
                if os.pread(descriptor, len(ending), size - len(ending)) == ending:
                    return tail
            window = TAIL_BYTES
            while True:
                start = max(0, size - window)
                data = os.pread(descriptor, size - start, start)
                found = _last_record(data, start)
                if found is not None or start == 0:
                    return self._tail_from(found, data, start, size)
                window *= 4

    def _tail_from(self, record: JournalRecord | None, data: bytes, start: int, size: int) -> Tail:
        if record is None:
            heading = form.HEADING.encode()
            begins = len(heading) if data.startswith(heading) else 0
            # behind the heading, or CodeWhale's records, our first one may have been left unfinished
            at = max(data.rfind(b"\n" + _START) + 1, begins)
            return Tail(size=size, end=at, torn=start == 0 and _is_torn(data[at:]))
        end = record.offset + record.length
        torn = _is_torn(data[end - start :] if end >= start else data)
        return Tail(record.n, record.chain, record.time, record.offset, end, size, torn)

    def without_torn(self, tail: Tail) -> Tail:
        """Cut a record that a kill left unfinished after *tail*, and return what stands then; call under the lock.

        Nobody was told that it is kept, and its temp file is taken for one without a record.
        """
        if not tail.torn or not tail.end:
            return tail  # at the very beginning it may be a file of somebody else
        with files.disk_errors(self.path):
            descriptor = os.open(self.path, os.O_RDWR)
            try:
                os.ftruncate(descriptor, tail.end)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return Tail(tail.n, tail.chain, tail.time, tail.offset, tail.end, tail.end)

    def append(self, drafts: Sequence[form.Draft]) -> list[JournalRecord]:
        """Append *drafts* as records in one durable write and return them; on an error the file is as before."""
        if not drafts:
            return []
        tail = self.tail()
        return self.write(self.number(drafts, tail), tail)

    def number(self, drafts: Sequence[form.Draft], tail: Tail) -> list[JournalRecord]:
        """Return *drafts* as the records that would follow *tail*."""
        records = []
        n, previous, last = tail.n, tail.chain, tail.time
        for draft in drafts:
            time, notice = self._time_after(last)
            stamped = form.Draft(draft.action, {**draft.fields, "clock": notice}) if notice else draft
            record = form.finish(stamped, n + 1, time, previous)
            records.append(record)
            n, previous, last = record.n, record.chain, record.time
        return records

    def _time_after(self, last: str) -> tuple[str, str]:
        now = self._clock()
        written = f"{now.isoformat(timespec='microseconds')[:_TIME_LENGTH]}Z"
        if last <= written:  # times of one format are ordered like their texts
            return written, ""
        try:
            back = dt.datetime.strptime(last, _TIME_FORMAT).replace(tzinfo=dt.UTC) - now
        except ValueError:
            return written, ""  # edited by somebody; verify tells
        if back <= dt.timedelta(0):
            return written, ""
        if back < _CLOCK_SLACK:
            return last, ""
        return written, f"went back {back.total_seconds() / 3600:.0f} h"

    def write(self, records: Sequence[JournalRecord], tail: Tail) -> list[JournalRecord]:
        """Write numbered *records* after *tail*, cutting a torn record there; return them with their places."""
        texts = [form.render(record).encode("utf-8", "replace") for record in records]
        with files.disk_errors(self.path):
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, files.FILE_MODE)
            try:
                if tail.size == 0:
                    os.fchmod(descriptor, files.FILE_MODE)
                at = self._write_at_end(descriptor, b"".join(texts), tail)
            finally:
                os.close(descriptor)
        placed = []
        for record, text in zip(records, texts, strict=True):
            placed.append(form.placed(record, at, len(text)))
            at += len(text)
        last = placed[-1]
        self._seen = Tail(last.n, last.chain, last.time, last.offset, at, at), b"\n" + texts[-1]
        return placed

    def _write_at_end(self, descriptor: int, text: bytes, tail: Tail) -> int:
        """Write and sync *text*, or leave the file as it was; return where it begins."""
        size = os.fstat(descriptor).st_size
        if tail.torn:
            os.ftruncate(descriptor, tail.end)
            size = tail.end
        lead = form.HEADING.encode() if size == 0 else b"\n" * (os.pread(descriptor, 1, size - 1) != b"\n")
        os.lseek(descriptor, size, os.SEEK_SET)
        try:
            files.write_all(descriptor, lead + text)
            os.fsync(descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
        return size + len(lead)

    def records(self, start: int = 0) -> Iterator[JournalRecord]:
        """Stream the whole records from byte *start* on, foreign ones included."""
        for _, _, record in self._pieces(start):
            if record is not None:
                yield record

    def _pieces(self, start: int) -> Iterator[tuple[int, bytes, JournalRecord | None]]:
        """Stream (offset, bytes, record or None) of every stretch that begins at a header line."""
        with self._open() as descriptor:
            if descriptor is None:
                return
            buffer, at = b"", start
            while block := os.pread(descriptor, _READ_BYTES, at + len(buffer)):
                buffer += block
                cut = buffer.rfind(b"\n" + _START) + 1
                yield from _split(buffer[:cut], at)
                buffer, at = buffer[cut:], at + cut
            yield from _split(buffer, at)

    def cancelled(self) -> frozenset[int]:
        """Return the numbers of the records that a later one cancels; a search of bytes, where a parse takes 50 x."""
        return frozenset(cancels(record) for at in self._headers(b"cancel") for record in self.read([(at, 0)]))

    def _headers(self, action: bytes) -> Iterator[int]:
        """Stream where the records of one kind begin."""
        needle = b"\n" + _START + action + b"** "
        with self._open() as descriptor:
            if descriptor is None:
                return
            at, before = 0, b"\n"  # the first line begins like any other
            while block := os.pread(descriptor, _READ_BYTES, at):
                data = before + block
                found = data.find(needle)
                while found >= 0:
                    yield at - len(before) + found + 1
                    found = data.find(needle, found + 1)
                before = data[-len(needle) + 1 :]
                at += len(block)

    def read(self, places: Iterable[tuple[int, int]]) -> Iterator[JournalRecord]:
        """Stream the records that stand whole at *places* (offset, length; 0: not known), reading nothing else."""
        with self._open() as descriptor:
            if descriptor is None:
                return
            for at, length in places:
                window = length or _SHORT_BYTES
                while len(piece := os.pread(descriptor, window, at)) == window and not length and not _is_whole(piece):
                    window *= 8
                following = -1 if length else piece.find(b"\n" + _START)
                piece = piece if following < 0 else piece[: following + 1]
                record = form.parse(piece.decode("utf-8", "replace"), at, len(piece))
                if record is not None:
                    yield record

    @contextlib.contextmanager
    def _open(self) -> Iterator[int | None]:
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            raise files.access_error(error, self.path) from error
        try:
            with files.disk_errors(self.path):
                yield descriptor
        finally:
            os.close(descriptor)

    def require_writable(self) -> bool:
        """Tell whether there is a journal; raise where it cannot be appended to, before anything else is changed."""
        try:
            mode = os.stat(self.path).st_mode  # noqa: PTH116  (on the hot path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise files.access_error(error, self.path) from error
        if not stat.S_ISREG(mode):
            raise FileStateError("the journal is no file, so nothing can be changed", where=str(self.path))
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise StoreAccessError(
                "the journal cannot be written, so nothing can be changed", where=str(self.path), hint="mend its rights"
            )
        return True

    def verify(self, anchor: tuple[int, str] | None = None) -> Verification:
        """Check every record against the chain; *anchor* is a number and chain that it is known to have reached.

        What the ledger beside the journal knows of it counts as well.
        """
        return _Verifier(anchors.Anchors(anchor, anchors.in_ledger(self.path.parent))).run(self._pieces(0))


def _split(data: bytes, at: int) -> Iterator[tuple[int, bytes, JournalRecord | None]]:
    start = 0
    while start < len(data):
        following = data.find(b"\n" + _START, start)
        end = len(data) if following < 0 else following + 1
        piece = data[start:end]
        yield at + start, piece, form.parse(piece.decode("utf-8", "replace"), at + start, end - start)
        start = end


def _is_whole(piece: bytes) -> bool:
    """Tell whether another record follows the one that *piece* begins with."""
    return b"\n" + _START in piece


def _is_torn(rest: bytes) -> bool:
    """Tell whether *rest* is the beginning of a record of ours, be it one character of its header."""
    first = rest.lstrip(b"\r\n").split(b"\n", 1)[0]
    if not first:
        return False
    begins = form.is_our_header(first.decode("utf-8", "replace")) or _START.startswith(first)
    return begins and not any(record for _, _, record in _split(rest, 0))


def _last_record(data: bytes, at: int) -> JournalRecord | None:
    """Return the last whole record of ours in *data*, searched from its end."""
    end = len(data)
    while end > 0:
        start = data.rfind(b"\n" + _START, 0, end)
        begin = start + 1
        if data.startswith(_START, begin) and (start >= 0 or at == 0):
            piece = data[begin:end]
            record = form.parse(piece.decode("utf-8", "replace"), at + begin, _whole_length(piece))
            if record is not None and record.n:
                return record
        end = begin  # the line end before the next header is still of this record
    return None


def _whole_length(piece: bytes) -> int:
    """Return the length of a record up to its chain line and one empty line after it."""
    line = piece.rfind(b"\n  - n: ")
    end = piece.find(b"\n", line + 1)
    if end < 0:
        return len(piece)
    return end + 1 + (piece[end + 1 : end + 2] == b"\n") + 2 * (piece[end + 1 : end + 3] == b"\r\n")


class _Verifier:
    """One pass over the journal, keeping only the chains seen, not the records."""

    def __init__(self, known: anchors.Anchors) -> None:
        self.known = known
        self.faults: list[str] = []
        self.tampered = False
        self.chains: dict[str, str] = {form.GENESIS[: form.PREV_SHOWN]: form.GENESIS}
        self.head, self.n, self.line = form.GENESIS, 0, 1
        self.greatest = 0
        self.erased: dict[tuple[int, str], bool] = {}

    def run(self, pieces: Iterator[tuple[int, bytes, JournalRecord | None]]) -> Verification:
        for _, piece, record in pieces:
            if record is None:
                self._junk(piece)
            elif record.n:
                self._check(record)
                self._trailing(piece)
            self.line += piece.count(b"\n")
        self.faults += self.known.faults(self.greatest)
        for (n, name), listed in self.erased.items():
            if not listed:
                self._changed(f"record {n}: its {name} was erased, and no later purge says so")
        return Verification(not self.faults, self.n, self.head, tuple(self.faults), self.tampered)

    def _changed(self, fault: str) -> None:
        """Note a fault that breaks the chain; a fork, a lost end or a foreign line leaves it whole."""
        self.faults.append(fault)
        self.tampered = True

    def _junk(self, piece: bytes) -> None:
        text = piece.decode("utf-8", "replace")
        if text.strip() and text.strip() != form.HEADING.strip():
            self.faults.append(f"line {self.line}: this is no whole record")

    def _trailing(self, piece: bytes) -> None:
        end = _whole_length(piece)
        if piece[end:].strip():
            self.faults.append(f"line {self.line + piece[:end].count(10)}: text that belongs to no record")

    def _check(self, record: JournalRecord) -> None:
        previous = self.chains.get(record.prev)
        if previous is None:
            self._changed(f"record {record.n}: the record before it is missing or was changed")
        else:
            if previous != self.head:
                self.faults.append(
                    f"record {record.n}: forks from an earlier record (two machines, or a merge by version control)"
                )
            if form.chain_value(previous, record) != record.chain:
                self._changed(f"record {record.n}: was changed after it was written")
            elif previous == self.head and record.n != self.n + 1:
                self._changed(f"record {record.n}: its number should be {self.n + 1}")
        self.chains[record.chain[: form.PREV_SHOWN]] = record.chain
        self.head, self.n = record.chain, record.n
        self.greatest = max(self.greatest, record.n)
        self._note_erasures(record)
        self.known.meet(record.n, record.chain)

    def _note_erasures(self, record: JournalRecord) -> None:
        for name in record.erased:
            self.erased[record.n, name] = False
        for listed in record.fields.get("erases", "").split() if record.action == "purge" else ():
            n, _, names = listed.partition(":")
            for name in names.split(","):
                if (key := (int(n) if n.isdecimal() and len(n) < _MOST_DIGITS else 0, name)) in self.erased:
                    self.erased[key] = True
