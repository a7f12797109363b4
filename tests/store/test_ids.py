"""Ids: stable for one text however it is typed, different for different notes, and forgiving to look up."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import NoSuchNoteError
from memory_magic.store.ids import LENGTH, SHORTEST_PREFIX, normalise, note_id, read_prefix, shown_length
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_WORDS = st.lists(st.text(st.characters(categories=("L", "N", "P", "S", "M")), min_size=1), min_size=1, max_size=6)
_BLANKS = st.text(" \t\n\r\u00a0\u2003\u2028\x0b\x0c", min_size=1, max_size=4)


def identity(text: str, scope: str = "global") -> str:
    """Return the id of a text as typed."""
    return note_id(scope, normalise(text))


def test_an_id_is_the_beginning_of_a_hash_in_crockfords_letters() -> None:
    """130 bits of SHA-256 over scope directory, newline and normalised text, computed here in another way."""
    digest = hashlib.sha256(b"workspace/ab\nDeploys run on Tuesdays").digest()
    bits = "".join(f"{byte:08b}" for byte in digest)[:130]
    expected = "".join(ALPHABET[int(bits[at : at + 5], 2)] for at in range(0, 130, 5))
    assert identity("Deploys  run on\nTuesdays", "workspace/ab") == expected
    assert len(expected) == LENGTH


@given(_WORDS, st.data())
def test_white_space_and_composition_change_no_id(words: list[str], data: st.DataObject) -> None:
    """Composed or decomposed, on one line or several, indented or not: one text has one id."""
    blanks = [data.draw(_BLANKS) for _ in range(len(words) + 1)]
    spread = blanks[0] + "".join(word + blank for word, blank in zip(words, blanks[1:], strict=True))
    plain = " ".join(words)
    if "```" in plain or "~~~" in plain:
        return
    expected = identity(plain)
    for form in ("NFC", "NFD"):
        assert identity(unicodedata.normalize(form, spread)) == expected


@given(st.lists(st.sampled_from(["```", "~~~~", "    a", "b  c", " ", "", "```py", "é", "\t"]), max_size=10))
def test_normalising_twice_is_normalising_once(lines: list[str]) -> None:
    """Whatever fences stand in a text, its normal form is its own normal form."""
    once = normalise("\n".join(lines))
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("```\nif a:\n    b()\n```", "```\nif a:\nb()\n```", False),
        ("```\na\n\nb\n```", "```\na\nb\n```", False),
        ("```\na   \n```", "```\na\n```", True),
        ("see\n```\na\n```\nand  more", "see\n```\na\n```\nand more", True),
        ("```\na\n```\nb\n  c", "```\na\n```\nb c", True),
        ("~~~\na\n```\n  b\n~~~", "~~~\na\n```\nb\n~~~", False),
        ("````\n```\n  a\n````", "````\n```\na\n````", False),
        ("```\nnever  closed", "```\nnever closed", False),
        ("a ``` b\n  c", "a ``` b c", True),
        ("```\r\na\r\n```", "```\na\n```", True),
    ],
)
def test_indentation_counts_inside_fences_only(one: str, other: str, *, same: bool) -> None:
    """Code keeps its lines and their indentation, prose does not, and a fence ends where Markdown ends it."""
    assert (identity(one) == identity(other)) is same


def test_the_same_text_in_two_scopes_is_two_notes() -> None:
    """The scope's directory takes part in the id."""
    assert identity("a") != identity("a", f"workspace/{'0' * 64}")


@pytest.mark.parametrize(
    ("typed", "prefix"),
    [
        ("01abcd", "01abcd"),
        ("OIabcd", "01abcd"),
        ("oLABCD", "01abcd"),
        ("  q9hqz836tb\n", "q9hqz836tb"),
        ("0" * LENGTH, "0" * LENGTH),
        ("0" * (LENGTH + 1), None),
        ("01abc", None),
        ("", None),
        ("abcduv", None),
        ("ab-cdef", None),
        ("ab cdef", None),
        ("abcdé1", None),
        ("\u0661bcdef", None),
    ],
)
def test_what_is_typed_is_read_with_the_aliases_of_the_alphabet(typed: str, prefix: str | None) -> None:
    """i, l and o stand for 1, 1 and 0 in any case; u, five characters or other signs are no id."""
    assert read_prefix(typed) == prefix


def test_a_note_is_found_by_an_id_copied_by_hand(root: Path) -> None:
    """An id read aloud with l for 1 and o for 0 in capitals leads to the note; five characters lead nowhere."""
    store = Store(root)
    notes = [store.remember(f"note {number}").id for number in range(30)]
    one = next(one for one in notes if "0" in one[:10] and "1" in one[:10])
    spoken = one[:10].replace("1", "l").replace("0", "o").upper()
    assert store.get(spoken).id == one
    assert store.get(one[:SHORTEST_PREFIX]).id == one
    with pytest.raises(NoSuchNoteError):
        store.get(one[: SHORTEST_PREFIX - 1])


def test_ids_are_shown_as_long_as_they_are_told_apart() -> None:
    """Ten characters, more where two share them, and never more than there are."""
    one, other = "a" * 10 + "b" * 16, "a" * 12 + "b" * 14
    assert shown_length([one]) == shown_length([one, one]) == 10
    assert shown_length([one, other]) == 11
    assert shown_length([one, one[:-1] + "c"]) == LENGTH
