"""The gate: what every text loses on its way to disk, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import EvidenceError, NoteError
from memory_magic.store import gate

KEY = "sk-" + "proj-" + "Ab1Cd2Ef3Gh4" * 4


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("plain", "plain"),
        ("  a\n   b  \n\n", "a\n   b"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00b\x1b[31mc\x7f", "ab[31mc"),
        ("tab\tstays", "tab\tstays"),
        ("next\u0085line and \u2028 stay", "next\u0085line and \u2028 stay"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("a <private>b</private> c", "a  c"),
        ("a <PRIVATE>b\nc", "a"),
        ("", ""),
    ],
)
def test_a_text_is_cleaned_and_otherwise_kept(raw: str, cleaned: str) -> None:
    """Line ends become newlines, controls and private spans go, blanks at the ends of lines are cut."""
    assert gate.clean(raw).text == cleaned


def test_secrets_are_counted_and_gone() -> None:
    """The kinds are reported with their numbers, the values are not."""
    found = gate.clean(f"first {KEY} and {KEY}")
    assert KEY not in found.text
    assert sum(found.redacted.values()) == 2
    assert KEY not in repr(found)


@given(st.text())
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    """What has passed the gate passes it unchanged."""
    once = gate.clean(text)
    assert gate.clean(once.text).text == once.text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "the note is empty"),
        (" \n\t", "the note is empty"),
        ("<private>all</private>", "private spans and memory blocks are taken out"),
        ("\x00\x07", "private spans and memory blocks are taken out"),
        ("é" * 32_769, "65,538 bytes"),
    ],
)
def test_what_is_no_note_is_refused_with_the_reason(text: str, word: str) -> None:
    """Empty, nothing left, or over 65,536 bytes of UTF-8."""
    with pytest.raises(NoteError, match=word):
        gate.clean_note(text)


def test_a_note_may_be_as_long_as_the_limit() -> None:
    """Exactly 65,536 bytes are accepted."""
    assert len(gate.clean_note("é" * 32_768).text) == 32_768


def test_short_fields_are_one_line() -> None:
    """Authors, labels and file names lose line breaks, controls and secrets."""
    assert gate.clean_line(f" notebook\n a.ipynb\r\n\x1b[2J {KEY} ") == "notebook a.ipynb [2J [REDACTED_SECRET]"


@pytest.mark.parametrize("evidence", [None, "", "  ", "<private>x</private>", "\x00"])
def test_evidence_is_asked_for(evidence: str | None) -> None:
    """A change without a reason, or with one of which nothing is left, is refused with the option's name."""
    with pytest.raises(EvidenceError, match="--evidence"):
        gate.require_evidence(evidence)


def test_evidence_passes_the_gate() -> None:
    """A reason keeps its lines and loses its secrets."""
    assert gate.require_evidence(f"said\nby {KEY}") == "said\nby [REDACTED_SECRET]"
