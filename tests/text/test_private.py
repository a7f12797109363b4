"""Private spans: which text they hide, that nothing of it comes back, and that offsets stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.text import private

CUTS = {
    "no tag": ("plain", "plain"),
    "one span": ("帮我处理 <private>密码123</private>", "帮我处理 "),
    "two spans": ("a <private>b</private> c <private>d</private> e", "a  c  e"),
    "any case": ("a <PRIVATE>b</Private> c", "a  c"),
    "several lines": ("a\n<private>\nb\n\nc\n</private>\nd", "a\n\nd"),
    "attributes": ('a <private reason="x">b</private> c', "a  c"),
    "nested": ("a <private>b <private>c</private> d</private> e", "a  e"),
    "never closed": ("a <private>b\n\nc", "a "),
    "nested, one left open": ("a <private>b <private>c</private> d", "a "),
    "adjacent": ("a<private>b</private><private>c</private>d", "ad"),
    "stray closing tag": ("a </private> b", "a </private> b"),
    "another tag": ("a <privateer>b</privateer> <private-note>c", "a <privateer>b</privateer> <private-note>c"),
    "not a tag": ("a < private> b <private", "a < private> b <private"),
    "brought together": ("a <pri<private>x</private>vate>b</private> c", "a  c"),
    "brought together twice": ("a <p<private></private>ri<private>x</private>vate>b</private> c", "a  c"),
    "brought together, left open": ("a <pri<private>x</private>vate>b c", "a "),
    "empty": ("<private></private>", ""),
}


@pytest.mark.parametrize(("text", "left"), CUTS.values(), ids=CUTS)
def test_cut_takes_out_what_is_tagged(text: str, left: str) -> None:
    """What stands between the tags goes with them: any case, nested, over lines, to the end when never closed."""
    assert private.cut(text) == left


def test_spans_are_outermost_and_merged() -> None:
    """Spans are half-open, include their tags, and neither nest nor touch."""
    text = "a<private>b<private>c</private></private><private>d</private>e<private>f"
    assert private.spans(text) == [(1, 61), (62, 72)]
    assert private.spans("<pri<private>x</private>vate>b</private> c") == [(0, 40)]
    assert private.spans("plain <b>text</b>") == []


def test_mask_keeps_offsets_and_line_breaks() -> None:
    """The masked text has the same length, and blank space, LF and CR in place of what is private."""
    assert private.mask("a<private>b\r\nc</private>d") == "a" + " " * 10 + "\r\n" + " " * 11 + "d"
    assert private.mask("plain") == "plain"


TEXTS = st.text() | st.lists(
    st.sampled_from(["<private>", "</private>", "<PRIVATE id=1>", "<pri", "vate>", "</pri", "a", "\n", "é", "<", ">"]),
    max_size=20,
).map("".join)


@given(TEXTS)
def test_cutting_twice_changes_nothing(text: str) -> None:
    """After a cut no opening tag is left, however the pieces come together."""
    once = private.cut(text)
    assert private.cut(once) == once
    assert private.spans(once) == []


@given(TEXTS)
def test_spans_cut_and_mask_agree(text: str) -> None:
    """Cut, mask and spans speak of the same characters; spans are in order and apart."""
    found = private.spans(text)
    edges = [edge for span in found for edge in span]
    assert edges == sorted(set(edges))
    outside = [char for at, char in enumerate(text) if not any(low <= at < high for low, high in found)]
    masked = private.mask(text)
    assert private.cut(text) == "".join(outside)
    assert len(masked) == len(text)
    assert all(new in {char, " "} for char, new in zip(text, masked, strict=True))
    assert private.spans(masked) == []


def test_nothing_made_to_hide_comes_back() -> None:
    """A text made so that each cut brings together the next tag is hidden from the first tag that is left."""
    text = "a" + "<pri" * 50 + "<private>x</private>" + "vate>secret</private>" * 50
    assert "secret" not in private.cut(text)
    assert private.cut(text).startswith("a")


@pytest.mark.parametrize(
    "piece", ["<private>", "<private", "</private>", "<private>a</private>", "<", "<pri<private>x</private>"]
)
def test_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    """Eight times the text takes at most twenty times as long, where a quadratic search would take sixty-four."""

    def seconds(text: str) -> float:
        times = []
        for _ in range(3):
            start = time.process_time()
            private.spans(text)
            times.append(time.process_time() - start)
        return min(times)

    short = piece * (20_000 // len(piece))
    ratios = (seconds(short * 8) / max(seconds(short), 1e-3) for _ in range(3))
    assert any(ratio <= 20 for ratio in ratios)
