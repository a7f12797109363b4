"""Markup is made from escaped text only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_dashboard.markup import DIFF_WORDS, clip, element, join, visible, word_diff


def test_text_is_escaped_in_content_and_attributes(hostile_text: str) -> None:
    """Neither content nor an attribute lets a tag or a quote through."""
    made = element("p", hostile_text, title=hostile_text).html
    assert "<img" not in made
    assert "<script" not in made
    assert made.count('"') == 2


def test_markup_passes_unchanged_inside_markup() -> None:
    """What `element` made is not escaped a second time, strings beside it are."""
    assert element("p", element("b", "x"), "<").html == "<p><b>x</b>&lt;</p>"
    assert join("a", element("b", "c")).html == "a<b>c</b>"


@pytest.mark.parametrize(
    ("tag", "attributes"),
    [
        ("script", {}),
        ("img", {}),
        ("p", {"onclick": "x"}),
        ("p", {"style": "x"}),
        ("a", {"href": "javascript:alert(1)"}),
        ("a", {"href": "https://example.org"}),
        ("a", {"href": "//example.org"}),
    ],
)
def test_unknown_tags_attributes_and_addresses_are_refused(tag: str, attributes: dict[str, str]) -> None:
    """Tags, attributes and links that are not on the list raise instead of being written."""
    with pytest.raises(ValueError, match="no markup"):
        element(tag, "x", **attributes)


def test_class_is_written_without_its_underscore() -> None:
    """Python's reserved word has a way to be said."""
    assert element("p", "x", class_="soft").html == '<p class="soft">x</p>'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a‹U+202E›b"),
        ("a\x1b[31mb", "a‹U+001B›[31mb"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("\ud800", "‹U+D800›"),
        ("tag\U000e0041", "tag‹U+E0041›"),
        ("line\r\nline\ttab", "line\nline\ttab"),
        ("क्‍ष می‌خواهم", "क्‍ष می‌خواهم"),
        ("👩‍🔬 ❤️", "👩‍🔬 ❤️"),
        (
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        ),
    ],
)
def test_hidden_characters_are_spelled_out_and_needed_ones_stay(text: str, shown: str) -> None:
    """A reader sees what would hide; joiners of scripts and emoji keep working."""
    assert visible(text) == shown


@given(st.text(max_size=300), st.integers(2, 60))
def test_clip_gives_one_line_of_bounded_length(text: str, length: int) -> None:
    """A cell never holds a line break, and never more than was asked for but for spelled-out characters."""
    clipped = clip(text, length)
    assert "\n" not in clipped
    assert len(clipped) <= length * len("‹U+E0041›")


def test_clip_marks_what_it_left_out() -> None:
    """A text that was cut ends in an ellipsis, a short one does not."""
    assert clip("x" * 10_000, 20) == "x" * 19 + "…"
    assert clip("two\nlines", 20) == "two lines"
    assert clip("a" + " " * 400 + "b", 20).endswith("…")


def test_word_diff_marks_words_and_single_chinese_signs() -> None:
    """Only what differs is marked, in scripts with and without spaces, and it is escaped."""
    gone, come = word_diff("Deploys run on <Fridays>", "Deploys run on <Tuesdays>")
    assert gone.html == "Deploys run on <del>&lt;Fridays&gt;</del>"
    assert come.html == "Deploys run on <ins>&lt;Tuesdays&gt;</ins>"
    assert word_diff("端口5433", "端口5432")[1].html == "端口<ins>5432</ins>"
    assert word_diff("深色", "浅色")[0].html == "<del>深</del>色"


def test_word_diff_of_very_long_texts_marks_the_whole() -> None:
    """Beyond the limit a comparison would hang the page, so both sides are marked whole."""
    gone, come = word_diff("a " * (DIFF_WORDS + 1), "b")
    assert gone.html.startswith("<del>a a")
    assert come.html == "<ins>b</ins>"
