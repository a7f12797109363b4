"""Texts that nobody has any more are found by digests exactly where they would be found as texts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.store.purge.sealed import SealedNeedles, seal, unseal
from memory_magic.store.purge.search import Needles

KEY = bytes(range(16))
ONE = "7k2m9q4tzcabcdefghjkmnpqrs"
TEXTS = (
    "Deploys run on Fridays at noon",
    "two words",
    "ein Wort",
    "doorcode4821",
    "パスワードは四八二一です",
    "the team café isn't far",
    "if ok:\n    a()\n    b()",
    "tea",
    "a b c",
)


def sealed(needles: Needles) -> SealedNeedles:
    """Return the same needles as a plan keeps them."""
    return SealedNeedles(seal(needles, KEY), KEY, needles.ids)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("words", [False, True])
def test_found_wherever_the_text_would_be(text: str, *, words: bool) -> None:
    """As it is, wrapped, indented, quoted, escaped, as part of a sentence, in UTF-16, and as a whole value."""
    needles = Needles((text,), frozenset({ONE}), words)
    found = sealed(needles)
    wrapped = text.replace(" ", "\n   > ", 1)
    for data in (
        text,
        f"- {wrapped}\n",
        f"before {text} after\n",
        f"before.{text}.after\n",
        f"x{text}y\n",
        json.dumps({"said": f"he said {text}!"}),
        f"<p>{text.replace('c', '&#99;')}</p>",
        f"see {ONE[:10]} there\n{text}\n",
        "nothing of it\n",
    ):
        for coded in (data.encode(), data.encode("utf-16")):
            assert found.lines_in(coded) == needles.lines_in(coded), data
        assert found.is_held_by(data) is needles.is_held_by(data), data
        assert found.holds_text(data) is needles.holds_text(data), data


@given(
    st.lists(st.text("ab -é\n", min_size=1, max_size=14), min_size=1, max_size=4),
    st.text("ab -é\n", max_size=80),
    st.booleans(),
)
def test_sealed_and_open_needles_agree(texts: list[str], data: str, words: bool) -> None:  # noqa: FBT001
    """Whatever the texts and the file, both find the same lines."""
    needles = Needles(tuple(texts), frozenset(), words)
    assert sealed(needles).lines_in(data.encode()) == needles.lines_in(data.encode())
    assert sealed(needles).is_held_by(data) is needles.is_held_by(data)


def test_a_seal_tells_no_text_and_needs_its_key() -> None:
    """A plan holds digests and lengths; with another key nothing is found; what is no seal is an error."""
    words = seal(Needles(TEXTS), KEY)
    assert not any(word in " ".join(words) for text in TEXTS for word in text.split() if len(word) > 4)
    assert not SealedNeedles(words, bytes(16), ()).holds_text(TEXTS[0])
    assert not SealedNeedles((), KEY, ())
    assert len(unseal(words)) == len(TEXTS)
    for wrong in ("x", "word:1:2", "other:1:0:0::00", "word:a:0:0::00"):
        with pytest.raises(ValueError):
            unseal([wrong])
