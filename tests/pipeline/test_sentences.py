"""From a turn to sentences: prose in, code and data out, in any script."""

from __future__ import annotations

import time

import pytest

from memory_magic.pipeline.sentences import paragraphs, split, word_count


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One is here. Two is there! Is three?", ["One is here.", "Two is there!", "Is three?"]),
        ("Use e.g. ruff 0.14 and vs. flake8.", ["Use e.g. ruff 0.14 and vs. flake8."]),
        ("Dr. Ana said 3.5 is fine. Done.", ["Dr. Ana said 3.5 is fine.", "Done."]),
        ("Look at fix.txt. Then stop.", ["Look at fix.txt.", "Then stop."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("我决定用 polars。我们明天开始！好吗？", ["我决定用 polars。", "我们明天开始！", "好吗？"]),
        ("मैंने तय किया है। हम कल करेंगे।", ["मैंने तय किया है।", "हम कल करेंगे।"]),
        ("日本語で答えて。テストを書いて。", ["日本語で答えて。", "テストを書いて。"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("**Always** use __tabs__.", ["Always use tabs."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    """Abbreviations, numbers and file names end no sentence; marks of other scripts do."""
    assert split(text) == sentences


def test_soft_wraps_are_joined_and_list_items_stand_alone() -> None:
    """A line break inside a paragraph is a space; each item of a list is its own paragraph."""
    text = "We deploy\non Tuesdays.\n\n- [x] first item\n- second\n  goes on\n3) third one"
    assert paragraphs(text) == [["We deploy on Tuesdays."], ["first item"], ["second goes on"], ["third one"]]


@pytest.mark.parametrize(
    "text",
    [
        "```python\nWe decided to use tabs.\n```",
        "~~~\nWe decided to use tabs.\n```\nStill code here.\n~~~",
        "    We decided to use tabs.",
        "> We decided to use tabs.",
        "| We decided | tabs |",
        "# We decided to use tabs",
        "$ git commit -m decided",
        "%timeit decided()",
        "<div>We decided to use tabs.</div>",
        '{"result": [{"id": "m1", "text": "decided"}]}',
        "x = {a: b[0] for a, b in c.items()}",
        "12345 67890.",
        "",
    ],
)
def test_what_is_no_prose_is_left_out(text: str) -> None:
    """Code, tables, quotes, headings, commands, markup and data are nobody's statement."""
    assert paragraphs(text) == []


def test_a_sentence_never_holds_a_line_break_or_a_hidden_character() -> None:
    """Line separators of Unicode, escapes of a terminal and bidi controls are gone."""
    text = "Always use\u2028tabs\x1b[31m \u202eand\x00 spaces."
    assert paragraphs(text) == [["Always use tabs and spaces."]]


def test_a_dump_is_no_sentence() -> None:
    """A text of thousands of words without a full stop is passed over."""
    assert paragraphs("word " * 200) == []
    assert paragraphs("Short one. " * 3000) == []


@pytest.mark.parametrize("unit", ["**a ", "(", "`", "a. ", "。", "<x", "- ", "\n", "__a__", "e.g. "])
def test_time_is_linear_in_hostile_texts(unit: str) -> None:
    """300 kB of any mark are read in a moment, where a quadratic pattern would take minutes."""
    began = time.perf_counter()
    paragraphs(unit * (300_000 // len(unit)))
    assert time.perf_counter() - began < 10


@pytest.mark.parametrize(("text", "words"), [("one two", 2), ("", 0), ("我喜欢深色模式", 4), ("use 深色 mode", 4)])
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    """Where a script has no spaces, two characters count as a word."""
    assert word_count(text) == words
