"""Our own block inside a text that is to be kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.text.own_block import cut

BLOCK = '<native_memory_recall trust="untrusted">\nnotice\n- [abc global] old news\n</native_memory_recall>'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"before\n{BLOCK}\nafter", "before\n\nafter"),
        (BLOCK, ""),
        (f"{BLOCK}\n{BLOCK}\nafter", "\n\nafter"),
        (f"one\n# Memory (personal)\nI am I\n\n{BLOCK}\ntwo", "one\n\ntwo"),
        (f"one\n# Memory Guidance\nhint\n\n{BLOCK.upper()} two", "one\n two"),
        (f"> {BLOCK}", ""),
        (BLOCK[:60] + "\nnever closed", ""),
        ("one\n" + BLOCK.partition("\n- ")[0], "one\n"),
    ],
)
def test_a_block_is_cut_with_all_its_sections(text: str, left: str) -> None:
    """From the first heading or opening tag to the closing tag, or to the end of a block that was cut."""
    assert cut(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "the tag <native_memory_recall> marks the notes",
        "grep for native_memory_recall",
        "# Memory (personal)\nis a heading of mine",
        "</native_memory_recall> is the end",
    ],
)
def test_what_only_speaks_of_it_stays(text: str) -> None:
    """A tag in the middle of a sentence, or a heading without a block, is ordinary text."""
    assert cut(text) == text


@given(st.lists(st.sampled_from([BLOCK, "\n", "# Memory (project)\n", "word", "<native_memory_recall>", " "])))
def test_cutting_is_done_at_once(parts: list[str]) -> None:
    """Cutting twice cuts no more: `cut(cut(t)) == cut(t)`."""
    once = cut("\n".join(parts))
    assert cut(once) == once
