"""Changes: what each says to the journal, what it does to a file, and that it can be done again from its record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import FileStateError, NoSuchNoteError
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.journal_format import Draft
from memory_magic.store.note import Document
from memory_magic.store.operations import Append, Operation, Pin, Retire, Revise, from_record
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import replay

FILE = "# Title\n\n- a\n- b\n- a\n\n## Tools\n\n- c\n\n## Pinned\n\n- p\n"


def document(text: str = FILE) -> Document:
    """Return a global document."""
    return Document("global", text, "MEMORY.md")


def one(text: str) -> str:
    """Return the id of a global note."""
    return note_id("global", normalise(text))


def record(draft: Draft, n: int = 1) -> JournalRecord:
    """Return a draft as a record."""
    return JournalRecord(n, draft.action, "2026-11-30T18:35:00.000000Z", draft.fields, None, "", "")


def fields(operation: Operation, before: Document | None = None) -> dict[str, str]:
    """Return the fields of an operation's only record."""
    (draft,) = operation.drafts(before or document())
    return draft.fields


OPERATIONS: list[Operation] = [
    Append("global", ("new",), {}),
    Append("global", ("new", "two\nlines", "a"), {}),
    Append("global", ("new",), {}, pinned=True),
    Revise("global", one("b"), "changed", {}),
    Revise("global", one("a"), "changed", {}),
    Revise("global", one("p"), "changed", {}),
    Revise("global", one("b"), "c", {}),
    Revise("global", one("p"), "c", {}),
    Revise("global", one("c"), "p", {}),
    Retire("global", one("a"), {}),
    Retire("global", one("p"), {}),
    Pin("global", one("a"), True, {}),  # noqa: FBT003
    Pin("global", one("p"), False, {}, ("Title", "Tools")),  # noqa: FBT003
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_does_what_it_says(operation: Operation) -> None:
    """Added ids stand, taken ids are gone, it is done afterwards, and doing it again changes nothing or is refused."""
    before = document()
    after = operation.apply(before)
    assert set(after.notes) == (set(before.notes) - operation.taken) | operation.added
    assert operation.is_done(after)
    if isinstance(operation, Append):
        assert operation.apply(after).text == after.text


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_journal_says_what_the_file_shows(operation: Operation) -> None:
    """Replaying an operation's records on what was known gives the ids and pins of the changed file."""
    before = document()
    first = [
        record(Draft("observe", {"scope": "global", "id": note.id, "after": note.text} | pinned(note.pinned)), at + 1)
        for at, note in enumerate(before.notes.values())
    ]
    later = [record(draft, len(first) + 1 + at) for at, draft in enumerate(operation.drafts(before))]
    state = replay([*first, *later])["global"]
    after = operation.apply(before)
    assert {note.id: note.pinned for note in state.values()} == {note.id: note.pinned for note in after.notes.values()}


def pinned(value: bool) -> dict[str, str]:  # noqa: FBT001
    """Return the field that says so."""
    return {"pinned": "yes"} if value else {}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_can_be_done_again_from_its_records(operation: Operation) -> None:
    """After a crash the records alone lead to the same file."""
    before = document()
    expected = operation.apply(before)
    again = before
    for draft in operation.drafts(before):
        rebuilt = from_record(record(draft))
        assert rebuilt is not None
        again = again if rebuilt.is_done(again) else rebuilt.apply(again)
    assert again.text == expected.text


@pytest.mark.parametrize("action", ["observe", "cancel", "init", "promote", "purge", "approve"])
def test_what_is_no_change_of_a_file_is_not_done_again(action: str) -> None:
    """Notes of what happened, and what has a way of its own, lead to no operation."""
    assert from_record(record(Draft(action, {"scope": "global", "id": one("a")}))) is None


@pytest.mark.parametrize("action", ["restore", "import"])
def test_what_brings_a_note_in_is_an_append(action: str) -> None:
    """Restored and imported notes are appended, pinned where the record says so."""
    draft = Draft(action, {"scope": "global", "id": one("x"), "after": "x", "pinned": "yes"})
    assert from_record(record(draft)) == Append("global", ("x",), {}, pinned=True)


@pytest.mark.parametrize(
    "operation",
    [
        Revise("global", one("gone"), "x", {}),
        Retire("global", one("gone"), {}),
        Pin("global", one("gone"), True, {}),  # noqa: FBT003
    ],
)
def test_a_note_that_is_gone_is_told(operation: Operation) -> None:
    """Neither the change nor its record is made, and the error names the file."""
    for work in (operation.apply, operation.drafts):
        with pytest.raises(NoSuchNoteError, match=r"MEMORY\.md"):
            work(document())
    assert operation.is_done(document()) is isinstance(operation, Retire)


def test_records_say_who_and_why_and_leave_out_what_is_empty() -> None:
    """Author and evidence are fields; an empty one makes no line."""
    assert fields(Append("global", ("x",), {"by": "ana", "evidence": ""})) == {
        "scope": "global",
        "id": one("x"),
        "after": "x",
        "by": "ana",
    }


def test_copies_and_merges_are_written_down() -> None:
    """How many copies went, and that two notes became one, stand in the record."""
    assert fields(Retire("global", one("a"), {}))["copies"] == "2"
    assert fields(Revise("global", one("a"), "x", {}))["copies"] == "2"
    assert "copies" not in fields(Retire("global", one("b"), {}))
    merged = fields(Revise("global", one("p"), "b", {}))
    assert (merged["merged"], merged["pinned"]) == ("yes", "yes")
    assert "pinned" not in fields(Revise("global", one("c"), "b", {}))
    assert "merged" not in fields(Revise("global", one("b"), "b", {}))


def test_a_pin_remembers_the_section_and_an_unpin_names_it() -> None:
    """The way back is in the record."""
    assert fields(Pin("global", one("c"), True, {}))["section"] == "Title / Tools"  # noqa: FBT003
    assert fields(Pin("global", one("p"), False, {}, ("Tools",)))["section"] == "Tools"  # noqa: FBT003


def test_revising_to_the_same_text_is_done_before_it_begins() -> None:
    """A text that differs in white space only has the same id: nothing is taken."""
    operation = Revise("global", one("b"), " b ", {})
    assert operation.taken == frozenset()
    assert operation.is_done(document())


def test_texts_that_are_there_are_left_out() -> None:
    """Of a batch only what is missing stays; with nothing missing there is no operation."""
    operation = Append("global", ("a", "new"), {"by": "x"})
    left = operation.without(document().notes)
    assert left == Append("global", ("new",), {"by": "x"})
    assert operation.without({*document().notes, one("new")}) is None
    assert Append("global", ("x", "x\ny"), {}).height == 3


def test_nothing_is_appended_where_nothing_may_be() -> None:
    """An open fence refuses; a text that stands already asks for no place."""
    before = document("- a\n\n```\nopen\n")
    with pytest.raises(FileStateError):
        Append("global", ("x",), {}).apply(before)
    assert Append("global", ("a",), {}).apply(before) is before


@given(st.lists(st.sampled_from(["x", "two\nlines", "深色", "---", "# h", "a"]), min_size=1, max_size=5, unique=True))
def test_the_bytes_of_a_plain_append_are_those_of_the_careful_one(texts: list[str]) -> None:
    """Writing a batch's chunk at the place, without reading the file, gives what appending note by note gives."""
    for text in ("", "- old\n", "# T\n", FILE, "## Pinned\n- p\n", "- a\r\n"):
        before = document(text)
        operation = Append("global", tuple(texts), {}).without(before.notes)
        if operation is None:
            continue
        place = before.place
        data = before.text.encode()
        chunk = operation.chunk(place.prefix, place.newline)
        assert (data[: place.offset] + chunk + data[place.offset :]).decode() == operation.apply(before).text
