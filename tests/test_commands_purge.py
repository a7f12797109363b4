"""The commands purge and unpurge list first, ask, destroy, and say honestly what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memory_magic import commands
from memory_magic.commands_base import Context
from memory_magic.commands_purge import PRINTERS, ROWS
from memory_magic.errors import MemoryMagicError, UsageError
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memory_magic.commands_base import Outcome

COMMANDS = {row.name: row for row in ROWS}
FRIDAYS = "Deploys run on Fridays at noon"


class Asked:
    """Answers a question and keeps it."""

    def __init__(self, *, answer: bool) -> None:
        self.answer = answer
        self.question = ""

    def __call__(self, question: str) -> bool:
        self.question = question
        return self.answer


@pytest.fixture
def store(root: Path) -> Iterator[Store]:
    """Give a store that holds two notes."""
    with Store(root) as store:
        store.remember_many([FRIDAYS, "The cat is called Mimi"])
        yield store


def say(root: Path, *words: str, ask: Asked | None = None) -> tuple[Outcome, str]:
    """Run a command; return its outcome and what a person reads."""
    context = Context(root, ask=ask)
    try:
        outcome, _ = commands.run_words(COMMANDS[words[0]], words[1:], context)
    finally:
        context.close()
    return outcome, PRINTERS[outcome.kind](outcome, 100, "memory-magic")


def test_purge_lists_everything_and_asks(store: Store) -> None:
    """The question shows the note, its place and the tombstone; a no changes nothing."""
    asked = Asked(answer=False)
    with pytest.raises(MemoryMagicError, match="you said no"):
        say(store.root, "purge", FRIDAYS, ask=asked)
    for word in (FRIDAYS, "line 1", "1 tombstone", "140 a second", "2 fields of 1 journal record"):
        assert word in asked.question
    assert len(store.list()) == 2
    assert "purge" not in {record.action for record in store.journal()}


def test_without_anybody_to_ask_nothing_is_done(store: Store) -> None:
    """With no standard input the command refuses and names -y."""
    with pytest.raises(MemoryMagicError) as caught:
        say(store.root, "purge", FRIDAYS)
    assert "-y" in str(caught.value)
    assert len(store.list()) == 2


def test_purge_answers_without_the_text(store: Store) -> None:
    """The reply counts, names what it cannot reach, and does not repeat what is gone."""
    outcome, text = say(store.root, "purge", FRIDAYS, "-y")
    assert outcome.status == 0
    assert outcome.data["n"] == 3
    assert outcome.data["left"] == []
    assert "None of" in text
    assert "history of IPython" in text
    assert "Fridays" not in text
    assert "Fridays" not in str(outcome.data)


def test_what_is_left_makes_status_one(store: Store) -> None:
    """A live note that quotes, and a file of one's own that holds it, are named with line; the status is 1."""
    quoting = store.remember(f"Ana says: {FRIDAYS}")
    (store.root / "memory.md").write_text(f"{FRIDAYS}\n")
    one = store.get(FRIDAYS).id
    outcome, text = say(store.root, "purge", one[:10], "-y")
    assert outcome.status == 1
    assert [note["id"] for note in outcome.data["quoting"]] == [quoting.id]
    assert f"MEMORY.md:{outcome.data['quoting'][0]['line']}" in text
    assert "memory.md:1" in text
    assert "--quoting" in text


def test_yes_changes_none_of_it(store: Store) -> None:
    """With -y a note that only quotes stays just the same."""
    store.remember(f"Ana says: {FRIDAYS}")
    say(store.root, "purge", FRIDAYS, "-y")
    assert {note.text for note in store.list()} == {"The cat is called Mimi", f"Ana says: {FRIDAYS}"}


def test_notebook_is_named(store: Store) -> None:
    """The cell that brought the text is told, for it may hold it still."""
    store.remember("The lab code is with Ana", by="notebook lab.ipynb cell 4f2a (execution 12)")
    outcome, text = say(store.root, "purge", "The lab code is with Ana", "--yes")
    assert outcome.data["notebooks"] == ["notebook lab.ipynb cell 4f2a (execution 12)"]
    assert "lab.ipynb cell 4f2a" in text


def test_nothing_to_purge(store: Store) -> None:
    """A session that nothing came from leaves a tombstone for itself only; an unknown note is an error."""
    with pytest.raises(LookupError):
        say(store.root, "purge", "zzzzzzzzzz", "-y")
    outcome, _ = say(store.root, "purge", "--session", "no-such-session", "-y")
    assert outcome.data["notes"] == []
    assert outcome.status == 0


@pytest.mark.parametrize(
    "words",
    [
        ("purge",),
        ("purge", "--text", "tea"),
        ("purge", FRIDAYS, "--text", FRIDAYS),
        ("purge", FRIDAYS, "--session", "x"),
        ("purge", "--text", FRIDAYS, "--session", "x"),
        ("purge", "--text", FRIDAYS, "--scope", "global"),
        ("purge", "--scope", "all"),
        ("purge", "--session", "x", "--forbid"),
        ("purge", "--text", "   "),
    ],
)
def test_slips_are_told_before_anything_is_done(store: Store, words: tuple[str, ...]) -> None:
    """Words that do not fit together, or mean too much, are refused."""
    with pytest.raises(UsageError):
        say(store.root, *words, "-y")
    assert len(store.list()) == 2


def test_scope_alone_purges_the_scope(store: Store) -> None:
    """--scope without anything else takes the whole scope."""
    outcome, _ = say(store.root, "purge", "--scope", "global", "--no-tombstone", "-y")
    assert outcome.status == 0
    assert len(outcome.data["notes"]) == 2
    assert store.list() == []
    assert store.verify().ok


def test_forbid_says_what_it_costs(store: Store) -> None:
    """The question of --forbid tells the price."""
    asked = Asked(answer=True)
    say(store.root, "purge", "--text", FRIDAYS, "--forbid", ask=asked)
    assert "--forbid: every new text is compared" in asked.question


def test_unpurge(store: Store) -> None:
    """An unpurge lets a text in again and brings nothing back."""
    say(store.root, "purge", FRIDAYS, "-y")
    outcome, text = say(store.root, "unpurge", FRIDAYS, "--evidence", "it is public now")
    assert outcome.data == {"n": 4, "tombstones": 1}
    assert "Nothing was brought back" in text
    assert store.remember(FRIDAYS).status == "saved"
