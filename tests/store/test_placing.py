"""Many notes into a file at once: sections, pins and kinds come out as they went in, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_magic.errors import FileStateError, NoteError
from memory_magic.store.note import Document
from memory_magic.store.placing import Item, fitted, placed

BLOCKS = (
    *("- a", "- b\n  - child", "* star", "1. one", "- c\n\n  second paragraph", "- `code`", "- 深色模式"),
    *(
        "A paragraph\nthat wraps.",
        "> quoted",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "```\nif x:\n    y()\n```",
        "    indented",
    ),
    *(
        "# Title",
        "## Work",
        "## Pinned",
        "### Sub",
        "# Pinned",
        "### Pinned",
        "###### Deep",
        "## ",
        "## C #",
        "## Work ##",
    ),
    *("Setext\n======", "Setext two\n---", "---", "<!-- remark -->", "[link]: https://example.org", "* - x", "- ---"),
)


def items_of(document: Document) -> list[Item]:
    """Return the notes as an export orders them: pinned first, then the others, each in file order."""
    notes = sorted(document.notes.values(), key=lambda note: not note.pinned)
    return [Item(note.text, note.pinned, note.section, note.kind) for note in notes]


def described(document: Document) -> list[tuple[str, bool, str]]:
    """Return what must never change, in export order."""
    return [(item.text, item.pinned, item.kind) for item in items_of(document)]


@st.composite
def files_of_notes(draw: st.DrawFn) -> str:
    """Make a memory file: blocks numbered so that no two notes are the same, one blank line between two."""
    chosen = draw(st.lists(st.sampled_from(BLOCKS), max_size=14))
    blocks = [
        f"{block} {at}" if block[:2] in {"- ", "* ", "1.", "> ", "A "} else block for at, block in enumerate(chosen)
    ]
    return "".join(f"{block}\n\n" for block in blocks)


@given(files_of_notes())
@settings(max_examples=300)
@example("## Pinned\n\n- p\n\n# A\n\n- x\n\n## Pinned\n\n- q\n")
@example("- bare\n\n# Pinned\n\n- not pinned, though the title says so\n")
def test_a_whole_file_is_written_so_that_it_reads_back(text: str) -> None:
    """Into an empty file go all notes in their order, each with its path of headings, its pin and its kind."""
    before = Document("global", text)
    items = items_of(before)
    after = placed(Document("global", ""), items)
    assert items_of(after) == items
    assert items_of(placed(Document("global", ""), items_of(after))) == items


@given(files_of_notes(), files_of_notes())
@settings(max_examples=300)
def test_a_file_with_notes_keeps_every_one_of_them(text: str, more: str) -> None:
    """Whatever is added, each old note keeps text, pin and kind, and every new one is there."""
    before = Document("global", text)
    items = items_of(Document("global", more.replace("- ", "- new ").replace("* ", "* new ")))
    try:
        after = placed(before, items)
    except (FileStateError, NoteError):
        return
    wanted = {item.id_in("global"): item for item in items}
    for one, note in before.notes.items():
        now = after.notes[one]
        assert (now.text, now.kind) == (note.text, note.kind)
        assert now.pinned == (note.pinned or (one in wanted and wanted[one].pinned))
    assert set(after.notes) == {*before.notes, *wanted}
    assert all(
        after.notes[one].pinned for one, item in wanted.items() if item.pinned and after.notes[one].kind == "item"
    )


def test_a_note_joins_the_section_that_is_there() -> None:
    """What comes to a section stands below its last note; a section that is not there is made at the end."""
    document = Document("global", "## Work\n\n- one\n\n## Home\n\n- two\n")
    after = placed(document, [Item("three", section=("Work",)), Item("four", section=("Garden",)), Item("five")])
    assert after.text == "## Work\n\n- one\n- three\n\n## Home\n\n- two\n- five\n\n## Garden\n\n- four\n"


def test_pinned_notes_go_under_pinned() -> None:
    """A Pinned section is made where there is none, and joined where there is one."""
    first = placed(Document("global", "# T\n\n- one\n"), [Item("two", pinned=True), Item("three", pinned=True)])
    assert first.text == "# T\n\n## Pinned\n\n- two\n- three\n\n## Notes\n\n- one\n"
    second = placed(first, [Item("four", pinned=True)])
    assert "- three\n- four\n\n## Notes" in second.text


def test_a_note_that_is_there_is_only_pinned() -> None:
    """The same text is the same note: it is not added again, but pinned where it should be."""
    document = Document("global", "- one\n- two\n")
    after = placed(document, [Item("two", pinned=True), Item("one")])
    assert described(after) == [("two", True, "item"), ("one", False, "item")]
    assert placed(document, [Item("one")]) is document


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_files_own_line_ending_is_kept(ending: str) -> None:
    """New notes, headings and blank lines end as the file's lines do; a byte order mark stays in front."""
    text = f"\ufeff- one{ending}"
    after = placed(Document("global", text), [Item("a\nb", section=("S",)), Item("p\nq", kind="prose", section=("S",))])
    assert after.text.startswith(text)
    assert after.text.replace("\r\n", "\n").count("\n") == after.text.count(ending)


def test_prose_that_would_become_something_else_is_written_as_an_item() -> None:
    """A heading, an open fence or a comment cannot come in as prose: no text can add structure to a file."""
    for text in ("# not a heading", "```\nopen", "<!-- open", "- an item", "---"):
        assert fitted(Item(text, kind="prose")).kind == "item"
    after = placed(Document("global", "- one\n"), [Item("# forged", kind="prose"), Item("```\nopen", kind="prose")])
    assert [note.kind for note in after.notes.values()] == ["item", "item", "item"]


def test_an_indented_block_after_a_list_stays_a_block_of_its_own() -> None:
    """Without a mark between them the list item above would take it in."""
    after = placed(
        Document("global", ""), [Item("one", section=("S",)), Item("    code", kind="prose", section=("S",))]
    )
    assert described(after) == [("one", False, "item"), ("    code", False, "prose")]


def test_a_title_that_no_heading_can_show_is_left_out() -> None:
    """The note still comes, under the titles that can be shown."""
    after = placed(Document("global", ""), [Item("one", section=("Work", "C #", "two\nlines"))])
    assert [note.section for note in after.notes.values()] == [("Work",)]


def test_a_file_that_cannot_take_notes_is_left_alone() -> None:
    """Conflict markers and open fences refuse, as for a single note."""
    conflict = "<<<<<<< a\n- one\n=======\n- two\n>>>>>>> b\n"
    with pytest.raises(FileStateError, match="conflict"):
        placed(Document("global", conflict), [Item("new")])
    with pytest.raises((FileStateError, NoteError)):
        placed(Document("global", "- one\n\n```\nopen\n"), [Item("new", section=("S",))])
