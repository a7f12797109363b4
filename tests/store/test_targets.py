"""Naming a note: by id, by the beginning of one, by an id that was replaced, or by its exact text."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import AmbiguousNoteError, NoSuchNoteError, UsageError
from memory_magic.store.index import Index
from memory_magic.store.store import Store
from memory_magic.store.targets import quoted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Patch = pytest.MonkeyPatch
KEY = "sk-" + "proj-" + "Ab1Cd2Ef3Gh4" * 4


@pytest.fixture(params=["index", "no index", "broken index"])
def opened(request: pytest.FixtureRequest, root: Path, monkeypatch: Patch) -> Callable[[], Store]:
    """Open stores that look ids up in the index, in file and journal, or begin with an index that fails."""

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    if request.param == "broken index":
        monkeypatch.setattr(Index, "find", fail)
        monkeypatch.setattr(Index, "successor", fail)

    def open_one() -> Store:
        store = Store(root, read_only=request.param == "no index")
        if request.param == "no index":
            for path in root.glob("index.sqlite3*"):
                path.unlink()
        return store

    return open_one


def test_an_id_of_the_past_leads_to_what_stands_now(root: Path, opened: Callable[[], Store]) -> None:
    """Over several revisions and an edit by hand; of a retired note it leads nowhere."""
    store = Store(root)
    first = store.remember("version 1").id
    second = store.revise(first, "version 2", evidence="x").id
    third = store.revise(second, "version 3", evidence="x").id
    store.pin(third)
    gone = store.remember("gone").id
    store.retire(gone, evidence="x")
    path = root / "global" / "MEMORY.md"
    path.write_text(path.read_text(encoding="utf-8").replace("version 3", "version 4"), encoding="utf-8")
    store.observe()
    store.close()
    found = opened()
    for one in (first, second, third, first[:6], first[:10].upper()):
        assert found.get(one).text == "version 4"
    with pytest.raises(NoSuchNoteError):
        found.get(gone)


def test_going_round_in_the_journal_ends(root: Path, opened: Callable[[], Store]) -> None:
    """A -> B -> A -> C -> retire: each old id answers that there is none; a live id is itself."""
    store = Store(root)
    a = store.remember("A note").id
    b = store.revise(a, "B note", evidence="x").id
    store.revise(b, "A note", evidence="x")
    c = store.revise(a, "C note", evidence="x").id
    store.close()
    assert [opened().get(one).text for one in (a, b, c)] == ["C note"] * 3
    Store(root).retire(c, evidence="x")
    for one in (a, b, c):
        with pytest.raises(NoSuchNoteError):
            opened().get(one)
    Store(root).remember("A note")
    assert opened().get(b).text == "A note"


def test_a_text_names_its_note_however_it_is_spaced(root: Path, opened: Callable[[], Store]) -> None:
    """White space collapses, composition does not matter, case does."""
    with Store(root) as store:
        store.remember("Cafe\u0301  opens at  nine")
    assert opened().get(" Caf\u00e9 opens\nat nine ").line == 1
    with pytest.raises(NoSuchNoteError):
        opened().get("caf\u00e9 opens at nine")


def test_a_word_that_could_be_an_id_may_be_a_text(root: Path, opened: Callable[[], Store]) -> None:
    """Where no id begins like it the exact text counts."""
    with Store(root) as store:
        store.remember("deploys")
        store.remember("deadbeef")
    assert opened().get("deadbeef").text == "deadbeef"
    assert opened().get("deploys").text == "deploys"
    with pytest.raises(NoSuchNoteError, match="id or text 'defaced'"):
        opened().get("defaced")


def test_a_secret_typed_by_hand_can_be_named_by_what_is_shown(root: Path) -> None:
    """The id is of the file's text, people see it redacted: both texts lead to the note."""
    path = root / "global" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"- the key is {KEY}\n", encoding="utf-8")
    store = Store(root)
    (note,) = store.list()
    assert note.text == "the key is [REDACTED_SECRET]"
    assert store.get(f"the key is {KEY}").id == note.id
    with pytest.raises(NoSuchNoteError) as error:
        store.get(f"no key is {KEY}")
    assert KEY not in str(error.value)
    assert store.retire(note.id, evidence="leaked").status == "saved"
    assert path.read_text(encoding="utf-8").strip() == ""


def test_one_text_in_two_scopes_is_asked_about(root: Path, git_repo: Callable[..., Path]) -> None:
    """Both places are named; with the scope there is no doubt."""
    store = Store(root, cwd=git_repo("a"))
    everywhere = store.remember("same")
    here = store.remember("same", scope="workspace")
    with pytest.raises(AmbiguousNoteError, match=r"2 notes fit 'same'.*line 1") as error:
        store.retire("same", evidence="x")
    assert "global" in str(error.value)
    assert store.get("same", scope="workspace").id == here.id
    assert store.retire("same", evidence="x", scope="global").id == everywhere.id
    assert store.get("same").id == here.id


def test_a_change_wants_a_live_note(root: Path) -> None:
    """Reading follows a replaced id, changing does not: the person saw another text."""
    store = Store(root)
    old = store.remember("old").id
    new = store.revise(old, "new", evidence="x").id
    assert store.get(old).id == new
    for change in (store.pin, store.unpin):
        with pytest.raises(NoSuchNoteError):
            change(old)
    with pytest.raises(NoSuchNoteError):
        store.retire(old, evidence="x")
    with pytest.raises(NoSuchNoteError):
        store.revise("old", "newer", evidence="x")


@pytest.mark.parametrize("target", ["", "  ", "\n"])
def test_nothing_names_nothing(root: Path, target: str) -> None:
    """An empty target is wrong usage, not an unknown note."""
    with pytest.raises(UsageError, match="say which note"):
        Store(root).get(target)


def test_an_unknown_note_is_told_with_the_scopes_that_were_looked_at(root: Path, git_repo: Callable[..., Path]) -> None:
    """Global alone outside of a repository, both inside."""
    with pytest.raises(NoSuchNoteError, match=r"in global(\.|$)"):
        Store(root).get("a text that is nowhere")
    with pytest.raises(NoSuchNoteError, match="in global and the workspace"):
        Store(root, cwd=git_repo("a")).get("a text that is nowhere")


def test_an_id_of_another_repository_answers_like_an_unknown_one(root: Path, git_repo: Callable[..., Path]) -> None:
    """Neither a live nor a replaced id of a scope that is not seen leads anywhere, nor does the error tell of it."""
    other = Store(root, cwd=git_repo("other"))
    old = other.remember("old secret plan", scope="workspace").id
    new = other.revise(old, "new secret plan", evidence="x").id
    store = Store(root, cwd=git_repo("mine"))
    errors = []
    for one in (old, new, "z" * 26):
        with pytest.raises(NoSuchNoteError) as error:
            store.get(one)
        errors.append(str(error.value).replace(one, "ID"))
    assert len(set(errors)) == 1


def test_what_a_person_typed_is_quoted_short_and_clean() -> None:
    """One line, at most 60 characters, no secret, no control character."""
    assert quoted("a\n b\x1b[2J") == "'a b[2J'"
    assert quoted("x" * 80) == f"'{'x' * 60}…'"
    assert KEY not in quoted(f"key {KEY}")
