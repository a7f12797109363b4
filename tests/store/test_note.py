"""Notes in a file: ids, sections, append place, and edits that leave every other character alone."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memory_magic.errors import FileStateError, MemoryMagicError, NoteError
from memory_magic.store import gate
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.note import Document, decode, encode, render
from memory_magic.store.operations import Append, Operation, Pin, Retire, Revise

_LINE = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs", "Cc"]), max_size=20)
_ODD = st.sampled_from(
    ["---", "- ---", "* * *", "# h", "```", "> q", "1. x", "[x]: y", "    code", "a", "|a|", "<!--", "=="]
)
TEXTS = st.lists(st.one_of(_LINE, _ODD, st.just("")), min_size=1, max_size=5).map("\n".join)


def document(text: str) -> Document:
    """Return a global document."""
    return Document("global", text, "MEMORY.md")


def cleaned(text: str) -> str:
    """Return *text* as the gate lets it through, or skip the example."""
    try:
        return gate.clean_note(text).text
    except NoteError:
        assume(condition=False)
        raise


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_rendered_note_reads_back_as_the_same_text(raw: str) -> None:
    """Rendering and reading give the text and its id again, or rendering refuses."""
    text = cleaned(raw)
    try:
        rendered = render(text)
    except NoteError:
        return
    (note,) = document(rendered).notes.values()
    assert note.text == text
    assert note.id == note_id("global", normalise(text))


@given(TEXTS, st.lists(st.one_of(_LINE, _ODD), max_size=12), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=300, deadline=None)
def test_an_append_adds_one_note_and_keeps_every_byte(raw: str, lines: list[str], newline: str) -> None:
    """Taking the appended bytes out gives the file back; the notes are those before and the new one."""
    before = document(newline.join(lines))
    text = cleaned(raw)
    operation = Append("global", (text,), {})
    try:
        after = operation.apply(before)
    except MemoryMagicError:
        return
    if operation.is_done(before):
        assert after.text == before.text
        return
    offset = before.character_offset(before.place.offset)
    added = len(after.text) - len(before.text)
    assert after.text[:offset] + after.text[offset + added :] == before.text
    assert set(after.notes) == set(before.notes) | operation.added
    assert after.notes[operation.ids[0]].block.line == before.place.line


@given(st.lists(st.one_of(_LINE, _ODD), max_size=14), st.data())
@settings(max_examples=400, deadline=None)
def test_an_edit_touches_only_its_note(lines: list[str], data: st.DataObject) -> None:
    """Retire, revise, pin and unpin leave the other notes as they are, or refuse; an append place stays exact."""
    before = document("\n".join(lines))
    assume(before.notes)
    note = data.draw(st.sampled_from(list(before.notes.values())))
    operations: list[Operation] = [
        Retire("global", note.id, {}),
        Revise("global", note.id, "a new text", {}),
        Pin("global", note.id, not note.pinned, {}, note.section),
    ]
    operation = data.draw(st.sampled_from(operations))
    try:
        after = operation.apply(before)
    except MemoryMagicError:
        return
    others = set(before.notes) - operation.taken - operation.added - {note.id}
    assert {one: after.notes[one].text for one in others} == {one: before.notes[one].text for one in others}
    assert set(after.notes) == (set(before.notes) - operation.taken) | operation.added
    assert operation.is_done(after)


def test_a_byte_that_is_no_utf8_survives_an_edit() -> None:
    """A stray byte stays in the file, is shown as a replacement character, and other notes can be changed."""
    data = b"- caf\xe9\n- other\n"
    before = document(decode(data))
    assert [note.text for note in before.notes.values()] == ["caf\ufffd", "other"]
    after = Append("global", ("new",), {}).apply(before)
    assert encode(after.text) == b"- caf\xe9\n- other\n- new\n"
    assert any("no UTF-8 at line 1" in sentence for sentence in before.damage)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "- new\n"),
        ("- a\n", "- a\n- new\n"),
        ("- a", "- a\n- new\n"),
        ("- a\r\n", "- a\r\n- new\r\n"),
        ("- a\r", "- a\r- new\r"),
        ("\ufeff", "\ufeff- new\n"),
        ("# Title\n", "# Title\n\n- new\n"),
        ("paragraph", "paragraph\n\n- new\n"),
        ("---\na: b\n---\n", "---\na: b\n---\n\n- new\n"),
        ("- a\n\n## Pinned\n\n- p\n", "- a\n- new\n\n## Pinned\n\n- p\n"),
        ("## Pinned\n- p\n", "## Pinned\n- p\n\n## Notes\n\n- new\n"),
        ("## Pinned\n- p\n\n## Tools\n\n- t\n", "## Pinned\n- p\n\n## Tools\n\n- t\n- new\n"),
        ("## Pinned\n- p\n### deeper\n- q\n", "## Pinned\n- p\n### deeper\n- q\n\n## Notes\n\n- new\n"),
        ("- a\n\n\n", "- a\n- new\n\n\n"),
    ],
)
def test_a_note_goes_to_the_end_of_the_last_section_that_is_not_pinned(text: str, expected: str) -> None:
    """The append place follows store_rules 3, and nothing is pinned by accident."""
    after = Append("global", ("new",), {}).apply(document(text))
    assert after.text == expected
    assert not after.notes[note_id("global", "new")].pinned


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("- a\n```\nopen\n", "code fence"),
        ("- a\n\n<!-- open\n", "comment"),
        ("- a <private> rest\nmore", "private"),
        ("<<<<<<< a\n- x\n=======\n- y\n>>>>>>> b\n", "conflict"),
    ],
)
def test_nothing_is_appended_inside_what_is_open(text: str, word: str) -> None:
    """An open fence, comment, private span or conflict refuses the append and is named."""
    with pytest.raises(FileStateError, match=word):
        Append("global", ("new",), {}).apply(document(text))


def test_a_private_span_is_no_note() -> None:
    """What stands between private tags is neither text nor id of a note; an unclosed one hides the rest."""
    notes = document("- a <private>x</private> b\n- c\n\n<private>\n- d\n").notes.values()
    assert [" ".join(note.text.split()) for note in notes] == ["a b", "c"]


def test_pinning_creates_the_section_and_pins_nothing_else() -> None:
    """The Pinned section is made before the first list; what stood there without a heading gets one."""
    before = document("# My memory\n\nAn introduction.\n\n- a\n- b\n- c\n")
    one = note_id("global", "b")
    after = before.pinned(before.notes[one])
    assert after.text == "# My memory\n\nAn introduction.\n\n## Pinned\n\n- b\n\n## Notes\n\n- a\n- c\n"
    assert [note.text for note in after.notes.values() if note.pinned] == ["b"]


def test_unpinning_goes_back_to_the_section_that_it_came_from() -> None:
    """A note returns to its section while that exists, else to the append place."""
    before = document("## Pinned\n\n- p\n\n## Tools\n\n- t\n\n## Other\n\n- o\n")
    note = before.notes[note_id("global", "p")]
    assert before.unpinned(note, ("Tools",)).text == "## Pinned\n\n## Tools\n\n- t\n- p\n\n## Other\n\n- o\n"
    assert before.unpinned(note, ("Gone",)).text.endswith("- o\n- p\n")


def test_prose_can_be_revised_and_retired_but_not_pinned() -> None:
    """A paragraph is a note of its own kind."""
    before = document("A paragraph\nof two lines.\n\n- item\n")
    prose = next(note for note in before.notes.values() if note.kind == "prose")
    assert before.replaced(prose, "Another.").text == "Another.\n\n- item\n"
    assert before.removed(prose).text == "- item\n"
    with pytest.raises(NoteError, match="prose"):
        before.pinned(prose)


def test_copies_of_a_text_are_one_note() -> None:
    """Retire takes all copies out; revise rewrites the first and takes the others out."""
    before = document("- a\n- b\n- a\n\n## Tools\n- a\n")
    one = note_id("global", "a")
    assert len(before.notes) == 2
    assert before.removed(before.notes[one]).text == "- b\n\n## Tools\n"
    assert before.replaced(before.notes[one], "c").text == "- c\n- b\n\n## Tools\n"


def test_revising_into_a_text_that_stands_merges_the_two() -> None:
    """The old note goes, the existing one stays, pinned if either was."""
    before = document("## Pinned\n\n- p\n\n## Notes\n\n- q\n")
    after = before.replaced(before.notes[note_id("global", "p")], "q")
    assert [(note.text, note.pinned) for note in after.notes.values()] == [("q", True)]


def test_taking_a_fence_out_does_not_join_its_neighbours() -> None:
    """Where a removal would join two paragraphs, a blank line is left in its place."""
    before = document("one\n```\nx\n```\ntwo\n")
    fence = next(note for note in before.notes.values() if note.text.startswith("```"))
    assert before.removed(fence).text == "one\n\ntwo\n"


def test_an_item_keeps_its_own_bullet_when_it_is_revised() -> None:
    """A star or number stays as the person wrote it."""
    text = "* star\n1. number\n"
    before = document(text)
    after = before.replaced(before.notes[note_id("global", "star")], "two\nlines")
    assert after.text == "* two\n  lines\n1. number\n"


def test_whitespace_in_prose_is_no_difference_but_in_code_it_is() -> None:
    """Ids collapse white space outside fenced blocks only."""
    assert note_id("global", normalise("a  b\nc")) == note_id("global", normalise("a b c"))
    one, other = ("```\nif ok:\n    a()\n    b()\n```", "```\nif ok:\n    a()\nb()\n```")
    assert normalise(one) != normalise(other)
    assert normalise("e\u0301") == normalise("é")
