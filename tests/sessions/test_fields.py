"""Values of foreign records: whatever comes, something usable or nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.sessions import fields

if TYPE_CHECKING:
    from pathlib import Path

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(ANYTHING)
def test_nothing_raises(value: Any) -> None:
    """Every helper takes every value that JSON can hold."""
    for time in (fields.moment(value), fields.epoch(value)):
        assert time is None or time.tzinfo is UTC
    assert isinstance(fields.output_text(value), str)
    assert isinstance(fields.part_texts(value), str)
    assert all(isinstance(text, str) for text in fields.texts(value))
    fields.decoded(value)
    fields.provider_host(value)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, ""),
        ("a", "a"),
        ([{"text": "a"}, {"text": "b"}], "a\nb"),
        ({"content": [{"text": "a"}], "success": True}, "a"),
        ({"rows": 2}, '{"rows":2}'),
        ([1, 2], "[1,2]"),
    ],
)
def test_outputs_become_text(output: object, text: str) -> None:
    """A string as it is, parts joined, anything else as JSON."""
    assert fields.output_text(output) == text


def test_a_part_that_is_no_text_is_only_named() -> None:
    """A picture's bytes are no answer."""
    parts = ["a", {"text": "b"}, {"type": "image", "data": "AAAA"}, {"data": "BBBB"}, 5]
    assert fields.part_texts(parts) == "a\nb\n[image]\n[part]\n5"


def test_escape_sequences_go() -> None:
    """Colours, titles and cursor movements."""
    assert fields.without_colours("\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2Kline\x1bM") == "red line"
    assert fields.without_colours("plain [31m") == "plain [31m"


@pytest.mark.parametrize(
    ("hosts", "host"),
    [([], None), (["a", "a"], "a"), (["a", "b"], None), (["a", None], None), (["a", "localhost"], "localhost")],
)
def test_many_hosts_give_one_only_if_they_agree(hosts: list[str | None], host: str | None) -> None:
    """One answer from this machine keeps the session here."""
    assert fields.common_host(hosts) == host


def test_times_at_the_edge_are_none() -> None:
    """Before and after what a calendar holds, and what is no number."""
    assert fields.epoch(0) == datetime(1970, 1, 1, tzinfo=UTC)
    for odd in (float("nan"), float("inf"), 1e20, True, "0"):
        assert fields.epoch(odd) is None
    assert fields.moment("0001-01-01T00:00:00+14:00") is None


def test_a_path_has_one_id_however_it_is_written(tmp_path: Path) -> None:
    """The id says the file's name and hides where it lies."""
    path = tmp_path / "a" / "n.ipynb"
    path.parent.mkdir()
    (tmp_path / "link").symlink_to(path.parent)
    first = fields.id_of_path(path)
    assert first == fields.id_of_path(tmp_path / "link" / ".." / "a" / "n.ipynb")
    assert first.startswith("n-")
    assert len(first) == len("n-") + 16
    assert fields.folder_of(tmp_path / "link" / "n.ipynb") == str(tmp_path / "link")


def test_a_file_that_has_gone_has_no_time(tmp_path: Path) -> None:
    """It may be deleted between reading and asking."""
    assert fields.modified(tmp_path / "nowhere") is None
