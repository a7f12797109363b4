"""What an editor changed, as records: exact, linked only where there is no doubt, and without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.store.ids import normalise, note_id
from memory_magic.store.note import Document
from memory_magic.store.observe import differences
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import Known, replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memory_magic.store.journal_format import Draft

_LETTERS = st.sampled_from("abcdefgh")
_FILES = st.lists(st.tuples(_LETTERS, st.booleans()), max_size=8, unique_by=lambda pair: pair[0])


def document(*lines: str) -> Document:
    """Return a global document."""
    return Document("global", "".join(f"{line}\n" for line in lines))


def known(before: Document) -> dict[str, Known]:
    """Return what the journal knows when it agrees with a document."""
    return {one.id: Known(one.id, one.text, one.pinned, 1, "then", "ana") for one in before.notes.values()}


def seen(before: Document, after: Document) -> list[Draft]:
    """Return the drafts between two documents."""
    return differences(known(before), list(before.notes), after, lambda text: text)


def told(drafts: list[Draft]) -> list[tuple[str | None, str | None]]:
    """Return before and after of each draft."""
    return [(draft.fields.get("before"), draft.fields.get("after")) for draft in drafts]


def items(letters: str) -> Document:
    """Return a document with one item for each letter."""
    return document(*(f"- {letter}" for letter in letters))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("abc", "abc", []),
        ("abc", "cba", []),
        ("abc", "axc", [("b", "x")]),
        ("abc", "xyc", [("a", None), ("b", None), (None, "x"), (None, "y")]),
        ("abc", "axyc", [("b", None), (None, "x"), (None, "y")]),
        ("abcd", "axcy", [("b", "x"), ("d", "y")]),
        ("abc", "ac", [("b", None)]),
        ("ac", "abc", [(None, "b")]),
        ("abc", "acx", [("b", None), (None, "x")]),
        ("ab", "xy", [("a", None), ("b", None), (None, "x"), (None, "y")]),
        ("a", "x", [("a", "x")]),
        ("", "ab", [(None, "a"), (None, "b")]),
        ("ab", "", [("a", None), ("b", None)]),
        ("abcde", "bacxe", [("d", "x")]),
    ],
)
def test_old_and_new_are_linked_only_where_one_stands_for_one(
    before: str, after: str, expected: list[tuple[str | None, str | None]]
) -> None:
    """A hunk of exactly one note against one is a revision; everything else is removed and added, moves are nothing."""
    assert told(seen(items(before), items(after))) == expected


def test_a_link_names_the_new_note() -> None:
    """The record of a linked change has the old id on its left and the new one on its right."""
    (draft,) = seen(items("abc"), items("axc"))
    assert draft.fields["id"] == note_id("global", "b")
    assert draft.fields["new_id"] == note_id("global", "x")


def test_white_space_that_collapses_is_no_change() -> None:
    """Indenting or wrapping a note by hand makes no record."""
    assert seen(document("- a b", "- c"), document("-   a  b", "- c")) == []


def test_pins_by_hand_are_records_of_their_own() -> None:
    """A note moved under Pinned, or out of it, says so; both ways are told apart."""
    plain, pinned = document("- a", "- b"), document("- b", "", "## Pinned", "", "- a")
    assert [draft.fields for draft in seen(plain, pinned)] == [
        {"scope": "global", "id": note_id("global", "a"), "pinned": "yes"}
    ]
    assert [draft.fields["pinned"] for draft in seen(pinned, plain)] == ["no"]


def test_details_of_a_new_note_are_kept() -> None:
    """Section, kind and pin of what was added are in the record."""
    after = document("## Tools", "", "- item", "", "prose", "", "## Pinned", "", "- kept")
    fields = [draft.fields for draft in seen(document(), after)]
    assert [(one["after"], one.get("section"), one.get("kind"), one.get("pinned")) for one in fields] == [
        ("item", "Tools", None, None),
        ("prose", "Tools", "prose", None),
        ("kept", "Pinned", None, "yes"),
    ]


def test_texts_pass_redaction_and_an_unknown_text_is_said_to_be_so() -> None:
    """What goes into the journal is redacted; where the index never had the text of a note the record says that."""
    before, after = items("a"), items("ax")
    drafts = differences(known(before), list(before.notes), after, str.upper)
    assert told(drafts) == [(None, "X")]
    nameless = {"z" * 26: Known("z" * 26, "", pinned=False, n=1, created="", by="")}
    assert told(differences(nameless, list(nameless), document(), str)) == [("(text not known)", None)]


def records_of(drafts: list[Draft], n: int) -> list[JournalRecord]:
    """Return drafts as records, numbered from *n*."""
    return [JournalRecord(n + at, draft.action, "now", draft.fields, None, "", "") for at, draft in enumerate(drafts)]


def pins(notes: Mapping[str, Known]) -> dict[str, bool]:
    """Return ids and whether they are pinned."""
    return {one.id: one.pinned for one in notes.values()}


def arranged(pairs: list[tuple[str, bool]]) -> Document:
    """Return a document with plain and pinned items."""
    plain = [f"- {letter}" for letter, pinned in pairs if not pinned]
    pinned = [f"- {letter}" for letter, is_pinned in pairs if is_pinned]
    return document(*plain, "", "## Pinned", "", *pinned)


@given(_FILES, _FILES)
def test_replaying_the_difference_gives_the_new_file(
    one: list[tuple[str, bool]], other: list[tuple[str, bool]]
) -> None:
    """From any file to any other: the state that the records lead to is the new file's, and a second look is silent."""
    before, after = arranged(one), arranged(other)
    first = records_of(differences({}, [], before, str), 1)
    second = records_of(seen(before, after), 1 + len(first))
    state = replay([*first, *second]).get("global", {})
    assert pins(state) == {note.id: note.pinned for note in after.notes.values()}
    assert all(note_id("global", normalise(note.text)) == note.id for note in state.values())
    assert differences(state, list(after.notes), after, str) == []


@given(_FILES, _FILES)
def test_every_change_is_exactly_one_record(one: list[tuple[str, bool]], other: list[tuple[str, bool]]) -> None:
    """No note that went or came is told twice or left out."""
    before, after = arranged(one), arranged(other)
    drafts = seen(before, after)
    gone = [draft.fields["id"] for draft in drafts if "before" in draft.fields]
    come = [draft.fields.get("new_id", draft.fields["id"]) for draft in drafts if "after" in draft.fields]
    moved = [draft.fields["id"] for draft in drafts if not {"before", "after"} & set(draft.fields)]
    both = set(before.notes) & set(after.notes)
    assert sorted(gone) == sorted(set(before.notes) - set(after.notes))
    assert sorted(come) == sorted(set(after.notes) - set(before.notes))
    assert sorted(moved) == sorted(one for one in both if before.notes[one].pinned != after.notes[one].pinned)


def test_one_edit_in_a_long_file_is_found_where_it_is() -> None:
    """Equal ends are left out of the comparison: one changed line among thousands is one link."""
    lines = [f"- note {number}" for number in range(3000)]
    changed = [*lines[:1500], "- another", *lines[1501:]]
    assert told(seen(document(*lines), document(*changed))) == [("note 1500", "another")]
