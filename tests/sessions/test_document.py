"""The streaming reader of one JSON document: the same values as a decoder, in bounded memory, in any pieces."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.sessions.document import Cursor, DamagedError, UnfinishedError

if TYPE_CHECKING:
    from collections.abc import Callable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def cursor(text: str | bytes, piece: int = 7) -> Cursor:
    """Give a cursor that reads in very small pieces."""
    return Cursor(io.BytesIO(text if isinstance(text, bytes) else text.encode()), piece)


def walked(at: Cursor) -> Any:
    """Build the value by going down into every object and array."""
    if at.is_at("{"):
        return {key: walked(at) for key in at.members()}
    if at.is_at("["):
        return [walked(at) for _ in at.elements()]
    return json.loads(at.value(1_000_000) or b"")


@given(JSON, st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_going_down_gives_what_a_decoder_gives(value: Any, piece: int, indent: int | None, ascii_only: bool) -> None:  # noqa: FBT001
    """Wherever the pieces end: in a key, an escape, a number, between two marks."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert walked(cursor(text, piece)) == value
    assert json.loads(cursor(text, piece).value(1_000_000) or b"") == value


@given(JSON, JSON, st.integers(1, 9))
def test_what_is_not_taken_is_passed_over(first: Any, second: Any, piece: int) -> None:
    """An owner may leave any value, and still finds the next."""
    at = cursor(json.dumps({"a": first, "b": [first, second], "c": second}), piece)
    found = {}
    for key in at.members():
        if key == "c":
            found[key] = walked(at)
    assert found == {"c": second}


def test_a_value_over_the_limit_is_none_and_what_follows_is_read() -> None:
    """The limit counts bytes of the text; exactly the limit is still taken."""
    at = cursor('["xxxx", [1, 2, 3], "y"]')
    assert [at.value(6) for _ in at.elements()] == [b'"xxxx"', None, b'"y"']


def test_a_byte_order_mark_is_no_damage() -> None:
    """Editors of one system write it."""
    assert walked(cursor(b'\xef\xbb\xbf {"a": 1}', 64)) == {"a": 1}


@pytest.mark.parametrize("text", ["", "  ", "{", '{"a', '{"a"', '{"a":', '{"a":1', '["\\', "[1,", '[["a"', "[1"])
def test_a_text_that_ends_too_early_is_unfinished(text: str) -> None:
    """Its writer may be in the middle of it."""
    for step in (walked, Cursor.pass_over):
        with pytest.raises(UnfinishedError):
            step(cursor(text))


@pytest.mark.parametrize("text", ["{1:2}", '{"a" 1}', '{"a":1 "b"}', "[1 2]", "[,]", '{"a":}', "<html>", '{"\xff":1}'])
def test_a_text_that_is_no_json_is_damaged(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(DamagedError):
        walked(cursor(text.encode("latin-1")))


@pytest.mark.parametrize(
    "make",
    [
        lambda size: b'{"skip": "' + b"x" * size + b'", "a": 1}',
        lambda size: b'{"skip": [' + b'"x",' * (size // 4) + b'0], "a": 1}',
        lambda size: b'{"skip": ' + b"[" * (size // 8) + b"]" * (size // 8) + b', "a": 1}',
        lambda size: b'{"skip": "' + b'\\"' * (size // 2) + b'", "a": 1}',
    ],
    ids=["long string", "many strings", "deep", "escapes"],
)
def test_passing_over_holds_one_piece(make: Callable[[int], bytes]) -> None:
    """A value of 3 MB is passed over in memory of a few pieces, however it is made."""
    text = make(3_000_000)

    class Counted(io.BytesIO):
        """Remembers how much was asked for at a time."""

        largest = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.largest = max(self.largest, size or 0)
            return super().read(size)

    stream = Counted(text)
    at = Cursor(stream, 4096)
    largest = 0
    for key in at.members():
        largest = max(largest, len(at._buffer))
        if key == "a":
            assert at.value(9) == b"1"
    assert stream.largest == 4096
    assert largest < 3 * 4096
