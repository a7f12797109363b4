"""The journal without what was purged: commitments in place of values, so that the chain still holds (store_rules 1).

A record that loses a field loses its salt too: the fields that stay keep the salts of their own, the others their
commitment. An id that goes becomes `purged-<n>-<k>`, the same in every record, so that history still links. The purge
record lists every erasure (`12:before,id 15:after`); verify demands it. Records of CodeWhale and lines that belong to
no record have no chain: where they hold the text they go whole.

The journal is read in stretches that begin at a header line; a stretch whose bytes cannot hold a text or an id is
neither parsed nor changed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_magic.store import files
from memory_magic.store import journal_format as form
from memory_magic.store.records import GLOBAL
from memory_magic.store.replay import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memory_magic.store.purge.search import Needles
    from memory_magic.store.records import JournalRecord

PREFIX: Final = "purged-"
FREE: Final = frozenset({"before", "after", "section", "session", "author", "evidence", "by"})
"""Fields that hold what somebody wrote; the others are ours."""

_READ_BYTES: Final = 1 << 20
_START: Final = b"\n- **"


def pieces(path: str) -> Iterator[bytes]:
    """Stream the journal in stretches, each from one header line to the next; what stands before the first is one."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    with files.disk_errors(path):
        try:
            buffer = b""
            while block := os.read(descriptor, _READ_BYTES):
                buffer += block
                cut = buffer.rfind(_START) + 1
                yield from _split(buffer[:cut])
                buffer = buffer[cut:]
            yield from _split(buffer)
        finally:
            os.close(descriptor)


def _split(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        following = data.find(_START, start)
        end = len(data) if following < 0 else following + 1
        yield data[start:end]
        start = end


def parsed(piece: bytes) -> JournalRecord | None:
    """Return the record that a stretch begins with, or None."""
    return form.parse(piece.decode("utf-8", "replace"))


def sides(record: JournalRecord) -> list[tuple[str, str]]:
    """Return the fields of the notes that a record tells of: which id goes with which text."""
    if record.new_id is not None:
        return [("id", "before"), ("new_id", "after")]
    return [("id", "before"), ("id", "after")]


@dataclass(slots=True)
class Finds:
    """What was found to go: names of fields by record number, *ids* that go, *loose*: stretches without a chain."""

    fields: dict[int, set[str]] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    loose: list[bytes] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


class Survey:
    """Looks through a journal for what holds the needles; notes that stay live (*kept*) lose no text of theirs."""

    def __init__(self, path: str, needles: Needles, kept: frozenset[str], scopes: frozenset[str] = frozenset()) -> None:
        """Look for *needles*, and for all that was ever noted in *scopes*."""
        self._path = path
        self._needles = needles
        self._kept = kept
        self._scopes = scopes
        self.found = Finds(ids=set(needles.ids))

    def run(self) -> Finds:
        """Return all that goes; repeated while ids come to light that earlier stretches may name."""
        known = -1
        while known != len(self.found.ids):
            known = len(self.found.ids)
            needles = replace(self._needles, ids=frozenset(self.found.ids))
            self.found.loose.clear()
            for piece in pieces(self._path):
                if self._scopes or needles.may_stand_in(piece):
                    self._look(piece, needles)
        return self.found

    def _look(self, piece: bytes, needles: Needles) -> None:
        record = parsed(piece)
        if record is None or not record.n:
            if needles.lines_in(piece):
                self.found.loose.append(piece)
            return
        names = self._names(record, needles)
        if names:
            self.found.fields.setdefault(record.n, set()).update(names)
        rest = piece[len(form.render(record).encode("utf-8", "replace")) :] if not names else b""
        if rest.strip() and needles.lines_in(rest):
            self.found.loose.append(piece)

    def _names(self, record: JournalRecord, needles: Needles) -> set[str]:
        fields = record.fields
        whole = fields.get("scope") in self._scopes
        names = {
            name
            for name in FREE & fields.keys()
            if name not in {"before", "after"} and (whole or needles.is_held_by(fields[name]))
        }
        names |= {name for name in ("scope", "to") if fields.get(name) in self._scopes and fields[name] != GLOBAL}
        for id_field, text_field in sides(record):
            one, text = fields.get(id_field, ""), fields.get(text_field)
            if one in self._kept or one.startswith(PREFIX):
                continue
            if (whole and id_field == "id") or one in self.found.ids or (text is not None and needles.is_held_by(text)):
                names |= self._both(record, id_field, text_field)
        return names

    def _both(self, record: JournalRecord, id_field: str, text_field: str) -> set[str]:
        one, names = record.fields.get(id_field, ""), set()
        if one:
            self.found.ids.add(one)
            names.add(id_field)
        if text_field in record.fields:
            names.add(text_field)
            self.found.texts.setdefault(one, record.fields[text_field])
        return names


def as_list(fields: Mapping[int, set[str]]) -> str:
    """Return the erasures as the purge record lists them."""
    return " ".join(f"{n}:{','.join(form.ordered(names))}" for n, names in sorted(fields.items()))


def from_list(text: str) -> dict[int, frozenset[str]]:
    """Return the erasures that a list names; what is no erasure is passed over."""
    found = {}
    for word in text.split():
        n, _, names = word.partition(":")
        if names and number_of(n):
            found[number_of(n)] = frozenset(names.split(","))
    return found


def aliases(n: int, ids: Sequence[str]) -> dict[str, str]:
    """Return what purge record *n* puts in the place of each id."""
    return {one: f"{PREFIX}{n}-{k}" for k, one in enumerate(ids, start=1)}


def erased(record: JournalRecord, names: frozenset[str], names_of_ids: Mapping[str, str]) -> JournalRecord:
    """Return *record* with commitments in place of the fields *names*; what is gone already stays gone."""
    fields, digests = dict(record.fields), dict(record.erased)
    salts = dict(record.salts)
    if record.salt is not None:
        salts = {name: form.field_salt(record.salt, name) for name in fields}
    for name in names & fields.keys():
        if name in digests:
            continue
        value = fields.pop(name)
        digests[name] = form.commitment(salts.pop(name, ""), value)
        if name in {"id", "new_id"}:
            fields[name] = names_of_ids.get(value, f"{PREFIX}0-0")
    if digests == record.erased:
        return record
    kept = {name: salts[name] for name in form.ordered(salts)}
    return replace(record, fields=fields, salt=None, salts=kept, erased=digests)


def mark_of(key: bytes, data: bytes) -> str:
    """Return what the plan holds of a stretch or line without a number: a keyed digest."""
    return hmac.new(key, data, hashlib.sha256).hexdigest()[:32]


def rewrite(
    path: str, fields: Mapping[int, frozenset[str]], names_of_ids: Mapping[str, str], is_loose: Callable[[bytes], bool]
) -> bool:
    """Write the journal anew without the erased fields and the loose stretches; tell whether anything changed.

    By temp and rename: the journal is whole at each moment. *path* has its links followed.
    """
    target = Path(path)
    temporary = f"{target.parent}{os.sep}.{target.name}.{os.getpid()}.tmp"
    changed = False
    with files.disk_errors(path):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, files.FILE_MODE)
        try:
            os.fchmod(descriptor, files.FILE_MODE)
            buffer: list[bytes] = []
            size = 0
            for piece in pieces(path):
                new = _without(piece, fields, names_of_ids, is_loose)
                changed = changed or new is not piece
                buffer.append(new)
                size += len(new)
                if size > _READ_BYTES:
                    files.write_all(descriptor, b"".join(buffer))
                    buffer, size = [], 0
            files.write_all(descriptor, b"".join(buffer))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    if not changed:
        files.remove(temporary)
        return False
    with files.disk_errors(path):
        os.replace(temporary, path)  # noqa: PTH105
    files.sync_directory(str(target.parent))
    return True


_NUMBER: Final = b"\n  - n: "


def _without(
    piece: bytes,
    fields: Mapping[int, frozenset[str]],
    names_of_ids: Mapping[str, str],
    is_loose: Callable[[bytes], bool],
) -> bytes:
    """Return a stretch as it reads after the purge; the very same object where nothing changes."""
    at = piece.rfind(_NUMBER)
    number = piece[at + len(_NUMBER) :].partition(b",")[0] if at >= 0 else b""
    listed = fields.get(number_of(number.decode("ascii", "replace")))
    loose = is_loose(piece)
    if listed is None and not loose:
        return piece
    record = parsed(piece)
    if record is None or not record.n:
        return b"" if loose else piece
    new = erased(record, listed or frozenset(), names_of_ids)
    return piece if new is record and not loose else form.render(new).encode("utf-8", "replace")
