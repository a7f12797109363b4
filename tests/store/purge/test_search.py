"""A text is found however it is wrapped, indented, encoded or escaped, and short ones are no part of other words."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.store.purge.search import SHORT, Needles, fold

TEXT = 'Zoë\'s «café» runs & closes "early" on Fridays'
ID = "7k2m9q4tzc0b8x1v5ncd7k2m9q"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        unicodedata.normalize("NFD", TEXT).encode(),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-be"),
        json.dumps({"a": TEXT}).encode(),
        json.dumps({"a": TEXT}, ensure_ascii=False).encode(),
        TEXT.replace("&", "&amp;").replace('"', "&quot;").encode(),
        TEXT.encode("ascii", "xmlcharrefreplace").replace(b" & ", b" &amp; "),
        f"- {TEXT.replace(' ', chr(10) + '  ')}".encode(),
        f"> * {TEXT.replace(' runs', chr(13) + chr(10) + '> runs')}".encode(),
        f"        {TEXT}".encode(),
    ],
)
def test_every_spelling_is_found(data: bytes) -> None:
    """The text is found in the bytes, at its first line."""
    assert Needles((TEXT,)).lines_in(b"first\n" + data if not data.startswith(b"\xff") and b"\0" not in data else data)


@pytest.mark.parametrize("data", [b"Zoe's cafe runs", b"", b"\0\0\0", TEXT[:-1].encode(), TEXT.upper().encode()])
def test_other_texts_are_not(data: bytes) -> None:
    """What is not the text is not found."""
    assert Needles((TEXT,)).lines_in(data) == []


def test_ids_are_found_whole_and_as_shown() -> None:
    """An id is found in full and by the ten characters that people see."""
    needles = Needles((), frozenset({ID}))
    assert needles.lines_in(f"a\nsee {ID[:10]} and {ID}\n".encode()) == [2]
    assert needles.lines_in(f"see {ID[:9]}".encode()) == []


@pytest.mark.parametrize(
    ("text", "words", "value", "held"),
    [
        ("tea", False, "tea", True),
        ("tea", False, "- tea", True),
        ("tea", False, "the team", False),
        ("tea", False, "tea for two", False),
        ("tea", True, "tea for two", True),
        ("tea", True, "the team", False),
        ("茶", True, "我喝茶。", True),
        ("PIN 48", True, "her PIN 48!", True),
        ("PIN 48", True, "her PIN 4821", False),
    ],
)
def test_short_texts(text: str, value: str, *, words: bool, held: bool) -> None:
    """A short text counts as a whole value, or as a word where that was asked for."""
    assert Needles((text,), words=words).is_held_by(value) is held


def test_many_texts_are_found_as_one_would_be() -> None:
    """With many texts the way of looking changes, not the answer."""
    texts = tuple(f"service number {n} is deployed on a {day}" for n in range(40) for day in ("Monday", "Friday"))
    needles = Needles(texts)
    assert needles.is_held_by("we know: service number 7 is deployed on a Friday, always")
    assert not needles.is_held_by("service number 7 is deployed on a Sunday")
    assert needles.lines_in(b"x\nservice number 39\n  is deployed on a Monday\n") == [2]


@given(st.text(min_size=SHORT, max_size=60), st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_found_in_a_line_of_its_own(text: str, before: str, after: str) -> None:
    """Whatever stands in the lines around it, a text is found; the quick look at bytes never hides it."""
    if len(fold(text)) < SHORT or any("\ud800" <= char <= "\udfff" for char in before + text + after):
        return
    before, after = before.replace("\n", " "), after.replace("\n", " ")
    assert Needles((text,)).lines_in(f"{before}\n{text}\n{after}".encode())
