"""Streaming reader of one large JSON document, for files that are a single value (`.ipynb`, `.chat`, Mito's `.json`).

A `Cursor` walks through the text once, piece by piece, and never holds more than a piece and the value that is asked
for. Its owner goes down into objects (`members`) and arrays (`elements`), takes the values that it wants as bytes
(`value`, with a limit: what is longer is passed over and comes back as None) and leaves the rest, which is passed over.
So a notebook with 200 MB of outputs costs no more memory than its longest wanted cell.

Values that are passed over are followed only as far as strings and brackets go; those that are taken are checked when
their bytes are decoded. Where the text stops being JSON `DamagedError` is raised, where it just ends `UnfinishedError`:
everything before that place has been given out already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

PIECE = 1 << 18  # bytes read at a time
KEY_LIMIT = 65_536  # bytes: no program of ours has a longer key
_BOM = b"\xef\xbb\xbf"

# possessive, so that a string that goes on in the next piece costs one look and no backtracking; an object or array
# with no other inside it is one token
_REST = rb'[^"\\]*+(?:\\[\s\S][^"\\]*+)*+'
_STRING = rb'"' + _REST + rb'"'
_FLAT = rb'[\[{][^"\[\]{}]*+(?:' + _STRING + rb'[^"\[\]{}]*+)*+[\]}]'
_TOKEN = re.compile(_FLAT + rb"|" + _STRING + rb'|[\[\]{}"]')
_STRING_REST = re.compile(_REST)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb"[-+.0-9A-Za-z]*+")
_OPEN = frozenset(b"[{")
_CLOSE = frozenset(b"]}")
_QUOTE = ord('"')

Name = TypeVar("Name", str, int)


class DamagedError(Exception):
    """The text is no JSON at this place."""


class UnfinishedError(DamagedError):
    """The text ends in the middle of a value: its writer has not finished it, or lost the rest."""


class _Kept:
    """The bytes of a value that somebody wants, as long as they are not too many."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def result(self) -> bytes | None:
        return None if self._left < 0 else b"".join(self._parts)


class Cursor:
    """A place in a JSON text that is being read."""

    def __init__(self, file: BinaryIO, piece: int = PIECE) -> None:
        """Start at the beginning of an open binary file."""
        self._file = file
        self._piece = piece
        self._buffer = b""
        self._at = 0
        self._passed = 0  # values taken or passed over, so that an owner who took none is noticed
        self._more()
        if self._buffer.startswith(_BOM):
            self._at = len(_BOM)

    def peek(self) -> int:
        """Return the next byte that is no white space."""
        while True:
            found = _SPACE.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                raise UnfinishedError

    def members(self) -> Iterator[str]:
        """Yield the keys of the object that begins here; each time the cursor stands before the key's value."""
        self._take(ord("{"))
        if self._ends(ord("}")):
            return
        while True:
            if self.peek() != _QUOTE:
                raise DamagedError
            key = self._text(self.value(KEY_LIMIT))
            self._take(ord(":"))
            yield from self._one(key)
            if self._ends(ord("}")):
                return
            self._take(ord(","))

    def elements(self) -> Iterator[int]:
        """Yield the numbers of the array's elements; each time the cursor stands before the element."""
        self._take(ord("["))
        if self._ends(ord("]")):
            return
        number = 0
        while True:
            yield from self._one(number)
            if self._ends(ord("]")):
                return
            self._take(ord(","))
            number += 1

    def value(self, limit: int) -> bytes | None:
        """Take the value that begins here as bytes; None if it has more than *limit*."""
        first = self.peek()
        kept = _Kept(limit)
        if first in _OPEN:
            self._container(kept)
        elif first == _QUOTE:
            self._move(1, kept)
            self._string_rest(kept)
        else:
            self._scalar(kept)
        self._passed += 1
        return kept.result()

    def pass_over(self) -> None:
        """Go behind the value that begins here."""
        self.value(0)

    def is_at(self, bracket: str) -> bool:
        """Tell whether an object ({) or an array ([) begins here."""
        return self.peek() == ord(bracket)

    def _one(self, name: Name) -> Iterator[Name]:
        """Yield a key or number, then pass over its value if the owner did not."""
        passed = self._passed
        yield name
        if self._passed == passed:
            self.pass_over()

    @staticmethod
    def _text(raw: bytes | None) -> str:
        """Return a key."""
        try:
            return msgspec.json.decode(raw or b"", type=str)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise DamagedError from error

    def _container(self, kept: _Kept) -> None:
        """Go behind an object or array."""
        depth = 0
        while True:
            for found in _TOKEN.finditer(self._buffer, self._at):
                mark = self._buffer[found.start()]
                single = found.end() - found.start() == 1
                if mark in _OPEN:
                    depth += single
                elif mark in _CLOSE:
                    depth -= 1
                elif single:  # a string that goes on in the next piece
                    self._move(found.end() - self._at, kept)
                    self._string_rest(kept)
                    break
                if not depth:
                    self._move(found.end() - self._at, kept)
                    return
            else:
                self._move(len(self._buffer) - self._at, kept)
                if not self._more():
                    raise UnfinishedError

    def _string_rest(self, kept: _Kept) -> None:
        """Go behind a string of which the opening quote has been taken."""
        while True:
            found = _STRING_REST.match(self._buffer, self._at)
            self._move((found.end() if found else self._at) - self._at, kept)
            if self._at < len(self._buffer) and self._buffer[self._at] == _QUOTE:
                self._move(1, kept)
                return
            if not self._more():  # what is left is nothing, or a backslash whose partner is still to come
                raise UnfinishedError

    def _scalar(self, kept: _Kept) -> None:
        """Go behind a number, true, false or null."""
        taken = 0
        while True:
            found = _SCALAR.match(self._buffer, self._at)
            length = (found.end() - found.start()) if found else 0
            self._move(length, kept)
            taken += length
            if self._at < len(self._buffer) or not self._more():
                break
        if not taken:
            raise DamagedError

    def _move(self, length: int, kept: _Kept) -> None:
        """Go on, keeping what is passed if it is wanted."""
        kept.add(self._buffer[self._at : self._at + length])
        self._at += length

    def _take(self, mark: int) -> None:
        """Go behind a mark that must be here."""
        if self.peek() != mark:
            raise DamagedError
        self._at += 1

    def _ends(self, mark: int) -> bool:
        """Go behind a closing mark if it is here."""
        if self.peek() != mark:
            return False
        self._at += 1
        self._passed += 1
        return True

    def _more(self) -> bool:
        """Read another piece behind what is left of this one; False at the end of the file."""
        piece = self._file.read(self._piece)
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0
        return bool(piece)
