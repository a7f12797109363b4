"""The two hashes of an append, however they come about."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.store import hashes as hashes_module
from memory_magic.store.hashes import LARGE_BYTES, Hashes, Kept


def sha(data: bytes) -> str:
    """Return the SHA-256 of *data*."""
    return hashlib.sha256(data).hexdigest()


def kept(data: bytes) -> Kept | None:
    """Return what is kept of *data* after it was written by appending its last byte."""
    one = Hashes(data[:-1], len(data) - 1, data[-1:])
    one.result()
    return one.keep(data)


@given(st.binary(max_size=200), st.binary(max_size=50), st.integers(0, 200), st.binary(min_size=1, max_size=200))
def test_both_hashes_are_those_of_the_bytes(data: bytes, chunk: bytes, at: int, other: bytes) -> None:
    """Wherever something is inserted, and whatever is kept, the hashes are those before and after."""
    at = min(at, len(data))
    new = data[:at] + chunk + data[at:]
    for before in (None, kept(other), kept(data) if data else None):
        one = Hashes(data, at, chunk, before)
        assert one.result() == (sha(data), sha(new))
        after = one.keep(new)
        assert after is not None
        assert (after.data, after.hash) == (new, sha(new))
        assert Hashes(new, len(new), b"more", after).result() == (sha(new), sha(new + b"more"))


@pytest.mark.parametrize("at", [0, LARGE_BYTES, LARGE_BYTES + 1])
def test_a_large_file_is_hashed_beside_the_writing(at: int) -> None:
    """The hashes of a file above the limit are the same."""
    data = b"x" * (LARGE_BYTES + 1)
    assert Hashes(data, at, b"chunk").result() == (sha(data), sha(data[:at] + b"chunk" + data[at:]))


def test_what_is_kept_goes_on_any_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are known are not passed over again; a write that came to nothing spoils nothing."""
    first = kept(b"x" * (LARGE_BYTES + 1))
    assert first is not None
    monkeypatch.setattr(Hashes, "_work", None)
    for _ in range(2):
        assert Hashes(first.data, len(first.data), b"y", first).result() == (first.hash, sha(first.data + b"y"))


def test_nothing_large_is_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the size where doctor advises to split a file its bytes are let go; so are those nobody hashed."""
    monkeypatch.setattr(hashes_module, "_KEPT_BYTES", 9)
    assert kept(b"123456789") is not None
    assert kept(b"1234567890") is None
    assert Hashes(b"1", 1, b"2").keep(b"12") is None
