"""The token estimate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.text.tokens import estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("深色", 2), ("नमस्ते", 5), ("👩🏽‍🔬", 4), ("\ud800", 1)],
)
def test_four_bytes_are_a_token(text: str, tokens: int) -> None:
    """UTF-8 bytes count, not characters, and a started token is a whole one."""
    assert estimate(text) == tokens


@given(st.text(), st.text())
def test_a_longer_text_never_costs_less(first: str, second: str) -> None:
    """Joining two texts costs at least the dearer one and at most both."""
    both = estimate(first + second)
    assert max(estimate(first), estimate(second)) <= both <= estimate(first) + estimate(second)
