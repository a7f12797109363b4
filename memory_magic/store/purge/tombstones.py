"""tombstones.md: what was purged and must not come back, without saying what it was (store_rules 1).

    salt: <32 hex>
    - <32 hex> n=412
    - contains: <32 hex> length=23 n=413
    - session: <32 hex> n=414

A line is scrypt of a normalised text with the root's salt (n = 2**12, r = 8, p = 1, 16 bytes), so that whoever owns the
root can test guesses, but slowly: about 140 a second and core. A `contains` line is a keyed HMAC, for it has to be
compared with every stretch of a new text; it is as quickly guessed as it is compared. Purge records hold a second copy.
What counts is the union of both without what a later `unpurge` record takes out.

Format 1, 2026-11: as above.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memory_magic.store import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memory_magic.store.records import JournalRecord

FILE_NAME: Final = "tombstones.md"
TEXT, CONTAINS, SESSION = "text", "contains", "session"
_BYTES: Final = 16
_COST: Final = 2**12
_BLOCK: Final = 8
_SALT: Final = re.compile(r"salt: ([0-9a-f]{32})\s*$", re.MULTILINE)
_LINE: Final = re.compile(
    r"- (?:(contains|session): )?([0-9a-f]{32})(?: length=(\d{1,6}))? n=(\d{1,12})\s*$", re.MULTILINE
)
_IN_RECORD: Final = re.compile(r"(?:(contains|session):)?([0-9a-f]{32})(?::(\d{1,6}))?$")


def normal(text: str) -> str:
    """Return *text* as it is tombstoned: NFC, all whitespace collapsed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@dataclass(frozen=True, slots=True)
class Mark:
    """One tombstone: *kind* is text, contains or session; *length* in characters for contains."""

    digest: str
    kind: str = TEXT
    length: int = 0

    def as_word(self) -> str:
        """Return the mark as a purge record holds it."""
        head = "" if self.kind == TEXT else f"{self.kind}:"
        return f"{head}{self.digest}" + (f":{self.length}" if self.length else "")

    def as_line(self, n: int) -> str:
        """Return the mark as the file holds it."""
        head = "" if self.kind == TEXT else f"{self.kind}: "
        length = f" length={self.length}" if self.length else ""
        return f"- {head}{self.digest}{length} n={n}\n"


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The tombstones of one root: the *salt* and, for each mark, the number of the purge record that made it."""

    salt: str = ""
    marks: dict[Mark, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Tell whether anything is forbidden."""
        return bool(self.marks)

    def forbidding(self, text: str) -> int | None:
        """Return the number of the purge record that forbids *text*, or None; takes 7 ms where there are any."""
        if not self.marks:
            return None
        plain = normal(text)
        if any(mark.kind == TEXT for mark in self.marks):
            n = self.marks.get(text_mark(self.salt, plain))
            if n is not None:
                return n
        return self._containing(plain)

    def _containing(self, plain: str) -> int | None:
        for length in sorted({mark.length for mark in self.marks if mark.kind == CONTAINS}):
            for at in range(len(plain) - length + 1):
                n = self.marks.get(contains_mark(self.salt, plain[at : at + length]))
                if n is not None:
                    return n
        return None

    def forbids_session(self, session: str) -> bool:
        """Tell whether nothing is to be extracted from the session with this id any more."""
        if not any(mark.kind == SESSION for mark in self.marks):
            return False
        return session_mark(self.salt, session) in self.marks

    def with_marks(self, marks: Iterable[Mark], n: int) -> Tombstones:
        """Return the same with more marks of purge record *n*."""
        return Tombstones(self.salt, self.marks | dict.fromkeys(marks, n))

    def without(self, marks: Iterable[Mark]) -> Tombstones:
        """Return the same without some marks."""
        gone = set(marks)
        return Tombstones(self.salt, {mark: n for mark, n in self.marks.items() if mark not in gone})

    def render(self) -> str:
        """Return the text of the file."""
        return f"salt: {self.salt}\n" + "".join(mark.as_line(n) for mark, n in self.marks.items())


def text_mark(salt: str, plain: str) -> Mark:
    """Return the mark of a normalised text; about 7 ms of work, on purpose."""
    key = hashlib.scrypt(
        plain.encode("utf-8", "surrogatepass"), salt=bytes.fromhex(salt), n=_COST, r=_BLOCK, p=1, dklen=_BYTES
    )
    return Mark(key.hex())


def contains_mark(salt: str, stretch: str) -> Mark:
    """Return the mark of a stretch of a normalised text."""
    key = hmac.digest(bytes.fromhex(salt), stretch.encode("utf-8", "surrogatepass"), "sha256")
    return Mark(key[:_BYTES].hex(), CONTAINS, len(stretch))


def session_mark(salt: str, session: str) -> Mark:
    """Return the mark of a session's id."""
    return Mark(text_mark(salt, f"session\0{session.strip()}").digest, SESSION)


def new_salt() -> str:
    """Return a salt for a root that has none."""
    return os.urandom(_BYTES).hex()


def parse(text: str) -> Tombstones:
    """Return what a file's *text* says; lines that are no tombstone are passed over."""
    salt = _SALT.match(text.lstrip("\ufeff"))
    if salt is None:
        return Tombstones()
    marks = {Mark(found[2], found[1] or TEXT, int(found[3] or 0)): int(found[4]) for found in _LINE.finditer(text)}
    return Tombstones(salt[1], marks)


_read: dict[str, tuple[files.Signature, Tombstones]] = {}


def load(root: Path) -> Tombstones:
    """Return the tombstones of a root as its file has them, read again only when the file changed."""
    path = str(root / FILE_NAME)
    signature = files.stat_file(path)
    if signature.size == 0:
        return Tombstones()
    known = _read.get(path)
    if known is None or known[0] != signature or not signature.is_settled(_now()):
        content = files.read(path)
        known = content.signature, parse((content.data or b"").decode("utf-8", "replace"))
        _read[path] = known
    return known[1]


def _now() -> int:
    from memory_magic.store.bench import now_ns

    return now_ns()


def save(root: Path, tombstones: Tombstones) -> None:
    """Write the file by temp and rename, unless it says the same already; call under the lock."""
    path = root / FILE_NAME
    data = tombstones.render().encode()
    if files.read(str(path)).data != data:
        files.replace(path, data)


def in_record(record: JournalRecord) -> tuple[str, list[Mark]]:
    """Return salt and marks that a purge or unpurge record holds."""
    salt, *words = record.fields.get("tombstone", "").split() or [""]
    found = (_IN_RECORD.match(word) for word in words)
    return salt, [Mark(one[2], one[1] or TEXT, int(one[3] or 0)) for one in found if one]


def for_record(salt: str, marks: Iterable[Mark]) -> str:
    """Return the `tombstone` field of a record."""
    return " ".join([salt, *(mark.as_word() for mark in marks)])


def united(there: Tombstones, records: Iterable[JournalRecord]) -> Tombstones:
    """Return the union of a file and of the purge *records* (in order), without what was unpurged later."""
    salt, marks = there.salt, dict(there.marks)
    freed: dict[Mark, int] = {}
    for record in records:
        of_record, named = in_record(record)
        if record.action == "unpurge":
            freed |= dict.fromkeys(named, record.n)
        elif of_record and (not salt or salt == of_record):
            salt = of_record
            marks |= {mark: max(record.n, marks.get(mark, 0)) for mark in named}
    return Tombstones(salt, {mark: n for mark, n in marks.items() if n > freed.get(mark, 0)})
