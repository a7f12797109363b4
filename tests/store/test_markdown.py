"""The block scanner loses no character and knows where a note begins and ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_magic.store.markdown import NOTE_KINDS, has_conflict, item_text, scan

_PIECES = st.sampled_from(
    [
        *(
            "- one",
            "* star",
            "+ plus",
            "1. first",
            "2) second",
            "10. tenth",
            "-",
            "- ",
            "---",
            "***",
            "- ---",
            "- - nested",
        ),
        *(
            "  child",
            "    deep",
            "\ttab",
            "lazy",
            "> quote",
            "```",
            "```py",
            "~~~",
            "````",
            "# H",
            "## Pinned",
            "## Notes",
            "===",
            "--",
        ),
        *(
            "| a | b |",
            "|---|---|",
            "[x]: http://a",
            "<!--",
            "-->",
            "<!-- c -->",
            "<<<<<<< HEAD",
            "=======",
            ">>>>>>> x",
        ),
        *(
            "",
            " ",
            "\u2028",
            "\x0c",
            "\x1c",
            "é",
            "深色",
            "\ufeff",
            "a\u0301",
            "text `code`",
            "<private>",
            "</private>",
        ),
    ]
)
_ENDS = st.sampled_from(["\n", "\r\n", "\r", ""])
FILES = st.lists(st.tuples(_PIECES, _ENDS), max_size=30).map(lambda parts: "".join(line + end for line, end in parts))


@given(FILES)
@settings(max_examples=400, deadline=None)
def test_blocks_tile_the_text(text: str) -> None:
    """Joined block ranges give every text back, whatever stands in it."""
    blocks = scan(text)
    assert "".join(text[block.start : block.end] for block in blocks) == text
    assert all(block.start < block.end for block in blocks)


@given(st.text())
@settings(deadline=None)
def test_any_text_can_be_scanned(text: str) -> None:
    """No text makes the scanner fail or lose a character."""
    assert "".join(text[block.start : block.end] for block in scan(text)) == text


@given(FILES)
@settings(max_examples=200, deadline=None)
def test_lines_are_counted_as_editors_count_them(text: str) -> None:
    """A block's line number is one more than the line ends before it."""
    for block in scan(text):
        before = text[: block.start].replace("\r\n", "\n").replace("\r", "\n")
        assert block.line == before.count("\n") + 1


def kinds(text: str) -> list[tuple[str, str]]:
    """Return kind and text of each block but blank ones."""
    return [(block.kind, text[block.start : block.end].rstrip("\n")) for block in scan(text) if block.kind != "blank"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n- b\n", [("item", "- a"), ("item", "- b")]),
        ("- a\n  - child\n  more\n- b\n", [("item", "- a\n  - child\n  more"), ("item", "- b")]),
        ("- a\nlazy\n\nparagraph\n", [("item", "- a\nlazy"), ("prose", "paragraph")]),
        ("- a\n\n  second paragraph\n", [("item", "- a\n\n  second paragraph")]),
        ("1. one\n   - deep\n2. two\n", [("item", "1. one\n   - deep"), ("item", "2. two")]),
        ("para\n- item\n", [("prose", "para"), ("item", "- item")]),
        ("para\n2. not a list\n", [("prose", "para\n2. not a list")]),
        ("text\n===\n", [("heading", "text\n===")]),
        ("- ---\n", [("break", "- ---")]),
        ("* ---\n", [("item", "* ---")]),
        ("- ```py\n  x\n\n  y\n  ```\nafter\n", [("item", "- ```py\n  x\n\n  y\n  ```"), ("prose", "after")]),
        ("- ```py\n- b\n", [("item", "- ```py"), ("item", "- b")]),
        ("```\n- not an item\n```\n", [("prose", "```\n- not an item\n```")]),
        ("```a`b\n", [("prose", "```a`b")]),
        ("| a |\n|---|\n| 1 |\n", [("prose", "| a |\n|---|\n| 1 |")]),
        ("> q\nlazy\n\n> r\n", [("prose", "> q\nlazy"), ("prose", "> r")]),
        ("<!-- a\nb -->\n- c\n", [("comment", "<!-- a\nb -->"), ("item", "- c")]),
        ("---\na: 1\n---\n- b\n", [("front", "---\na: 1\n---"), ("item", "- b")]),
        ("---\nno end\n", [("break", "---"), ("prose", "no end")]),
        ("[x]: http://a\n", [("definition", "[x]: http://a")]),
        ("    code\n\n    more\n", [("prose", "    code\n\n    more")]),
        ("- a\u2028b\n", [("item", "- a\u2028b")]),
        ("-not an item\n", [("prose", "-not an item")]),
    ],
)
def test_a_note_ends_where_commonmark_ends_it(text: str, expected: list[tuple[str, str]]) -> None:
    """List items keep their children and lazy lines; other blocks stand alone."""
    assert kinds(text) == expected


def test_conflict_markers_are_no_notes_but_both_sides_are_read() -> None:
    """Between conflict markers the notes of both sides are items, and the marker lines are not."""
    text = "- a\n<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> branch\n"
    assert has_conflict(text)
    assert [line for kind, line in kinds(text) if kind in NOTE_KINDS] == ["- a", "- ours", "- theirs"]
    assert not has_conflict("- a\n=======\n")


@pytest.mark.parametrize(("text", "kind"), [("- a\n```\nopen\n", "fence"), ("- a\n\n<!-- open\n- b\n", "comment")])
def test_what_is_never_closed_is_named(text: str, kind: str) -> None:
    """An open fence or comment reaches to the end of the file and says so."""
    assert [block.open for block in scan(text) if block.open] == [kind]


@pytest.mark.parametrize(
    ("raw", "indent", "expected"),
    [
        ("- a\n", 2, "a"),
        ("- a\n  b\nlazy\n", 2, "a\nb\nlazy"),
        ("-   wide\n    text\n", 4, "wide\ntext"),
        ("1. a\n   - b\n", 3, "a\n- b"),
        ("-\tt\n\tu\n", 4, "t\nu"),
        ("-      code\n", 2, "     code"),
        ("* a\r\n  b\r\n", 2, "a\nb"),
    ],
)
def test_the_text_of_an_item_has_no_marker_and_no_indentation(raw: str, indent: int, expected: str) -> None:
    """Marker and child indentation are taken off; what was indented further stays so."""
    assert scan(raw)[0].indent == indent
    assert item_text(raw, indent) == expected
