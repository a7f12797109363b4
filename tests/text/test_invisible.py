"""Characters that a reader cannot see: what goes, and what a script or an emoji needs."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.text.invisible import HIDDEN, visible

# letters, joiners, selectors, tags, controls and breaks: whatever can lean on a neighbour
SPICY = (
    "aA1#* \n\r\t\x00\x07\x1b[;m]\\\x9b\x9c\x9dمنी्कශ්❤👩🏽🏴\U000e0067\U000e0062\U000e007f漢᠁ᠠ"
    "\u200b\u200c\u200d\u200f\u2028\u202e\u2066\u00ad\u034f\ufe00\ufe0f\ufeff\U000e0100\U000e0001\u180b\u180e\ud800\udc00\uffff<"
)


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهد",
        "क्‍ष राष्‌ट्र",
        "ශ්‍රී",
        "അവന്‍ പോയി",
        "👨‍👩‍👧‍👦 🏳️‍🌈 👩🏽‍🔬 ❤️‍🔥 🏴‍☠️ 1️⃣ #️⃣",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "葛\U000e0100城",
        "ᠠ᠋ ᠡ᠎ᠠ",
        "tab\there\nand a line",
        "5 ≥ 3 — naïve café",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text: str) -> None:
    """A joiner, selector or tag that changes what is shown is part of the text."""
    assert visible(text) == text


@pytest.mark.parametrize(
    "code",
    # the list of peers' pull requests on invisible text, and the corners of ours
    [
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        *range(0x2060, 0x2065),
        *(0x200B, 0x200E, 0x200F, 0x061C, 0x00AD, 0x034F, 0x180E, 0x115F, 0x1160, 0x3164, 0xFFA0, 0xFEFF),
        *(0x00, 0x07, 0x1B, 0x7F, 0x9F, 0xFFF9, 0xFFFF, 0x1FFFE, 0x10FFFF, 0x1D173, 0xE0001, 0xE0041, 0xE0FFF),
    ],
)
def test_what_hides_or_reorders_text_goes(code: int) -> None:
    """Each invisible or bidirectional control is taken out from between two letters."""
    assert visible(f"a{chr(code)}b") == "ab"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("mem\u200dory", "memory"),
        ("\u200dword\u200c", "word"),
        ("ن\u200c\u200cم", "نم"),
        ("،\u200cم", "،م"),
        ("a\ufe0f", "a"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f"),
        ("😀\U000e0131\U000e0132", "😀"),
        ("ok\U000e0067\U000e007f", "ok"),
        ("🏴\U000e0067\U000e0062", "🏴"),
        ("\ufe0f", ""),
    ],
)
def test_joiners_and_selectors_without_a_reason_go(text: str, seen: str) -> None:
    """Outside of a word or an emoji such a character could only hide something."""
    assert visible(text) == seen


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_every_line_break_becomes_a_newline(line_break: str) -> None:
    """What some reader shows as a new line is one for us, so the line escapes see it."""
    assert visible(f"a{line_break}b") == "a\nb"


def test_terminal_sequences_go_whole() -> None:
    """A coloured traceback leaves its words; a link or title sequence leaves nothing."""
    assert visible("\x1b[0;31mValueError\x1b[0m: \x9b1mno\x1b]0;title\x07 \x1b]8;;u\x1b\\link\x1b]8;;\x1b\\") == (
        "ValueError: no link"
    )


def test_an_unfinished_terminal_sequence_hides_nothing() -> None:
    """Only its control character goes: the rest could be text that somebody wants unseen."""
    assert visible("a\x1b]0;secret plan\nb\x1b[31") == "a]0;secret plan\nb[31"


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    """The result can always be written as UTF-8."""
    assert visible("a\ud800b").encode() == "a\ufffdb".encode()


@given(st.text(alphabet=st.one_of(st.sampled_from(SPICY), st.characters())))
def test_once_is_enough(text: str) -> None:
    """A second pass changes nothing, and what is left can be encoded."""
    once = visible(text)
    assert visible(once) == once
    once.encode()


@given(st.text(alphabet=SPICY))
def test_what_is_left_of_the_hidden_leans_on_something(text: str) -> None:
    """No control is left, and never two hidden characters in a row unless an emoji or a flag holds them."""
    left = visible(text)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", left)
    assert not re.search(rf"[{HIDDEN}]{{2}}", left.replace("\ufe0f\u200d", "\u200d").translate(dict.fromkeys(TAGS)))


TAGS = range(0xE0020, 0xE0080)


def test_the_hidden_set_covers_unicode() -> None:
    """Every format, control, surrogate-free and line-separating character of Unicode is judged, none forgotten.

    Format characters that are shown (Arabic number signs, Kaithi, hieroglyph and shorthand joiners) are the exception.
    """
    hidden = re.compile(rf"[{HIDDEN}]")
    shown = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
    missed = {
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Zl", "Zp"} and not hidden.match(chr(code))
    }
    assert missed - shown == {0x09, 0x0A}
