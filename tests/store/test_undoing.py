"""Undo, restore, promote, approve and reject: what comes back, what is refused, and what a crash leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from memory_magic.errors import (
    ChangedMeanwhileError,
    EvidenceError,
    FileStateError,
    NoSuchNoteError,
    NoteError,
    ReadOnlyStoreError,
    ScopeError,
)
from memory_magic.store import door
from memory_magic.store.access import Access
from memory_magic.store.archive import Archive
from memory_magic.store.journal_format import Draft
from memory_magic.store.purge import run as purge_run
from memory_magic.store.purge.plan import Request
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import replay
from memory_magic.store.store import Store
from memory_magic.store.undoing import NoSuchRecordError, UndoError, require_undoable, restore, undo

GitRepo = Callable[..., Path]
Patch = pytest.MonkeyPatch


class CrashError(BaseException):
    """Stands for a process that ends at this very point."""


def check(store: Store) -> None:
    """Check that the chain is whole, and that replay, files and index agree in every scope."""
    there = {(note.scope, note.id, note.pinned) for note in store.list("all")}
    assert store.verify().ok
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == there
    again = Store(store.root, store.cwd, read_only=True)
    assert {(note.scope, note.id, note.pinned, note.n) for note in again.list("all")} == {
        (note.scope, note.id, note.pinned, note.n) for note in store.list("all")
    }


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.scopes[0].memory_file


def text(store: Store) -> str:
    """Return the global memory file's text."""
    return memory(store).read_text(encoding="utf-8")


def last(store: Store) -> JournalRecord:
    """Return the journal's last record."""
    return store.journal()[-1]


@pytest.fixture
def store(root: Path) -> Store:
    """Give a store of three notes, one of them in a section of its own."""
    made = Store(root, by="ana")
    memory(made).parent.mkdir(parents=True)
    memory(made).write_text("# Notes\n\n- one\n- two\n\n## Work\n\n- three\n", encoding="utf-8")
    made.observe()
    return made


# -- every kind of change -------------------------------------------------------------------------------------------

CHANGES: dict[str, Callable[[Store], object]] = {
    "remember": lambda store: store.remember("four"),
    "remember pinned": lambda store: store.remember("four", pin=True),
    "revise": lambda store: store.revise("two", "2", evidence="x"),
    "retire": lambda store: store.retire("three", evidence="x"),
    "pin": lambda store: store.pin("two"),
    "merge": lambda store: store.revise("two", "one", evidence="x"),
    "edit adds": lambda store: memory(store).write_text(text(store) + "- by hand\n", encoding="utf-8"),
    "edit removes": lambda store: memory(store).write_text(text(store).replace("- two\n", ""), encoding="utf-8"),
    "edit changes": lambda store: memory(store).write_text(text(store).replace("- two", "- TWO"), encoding="utf-8"),
    "edit pins": lambda store: memory(store).write_text(text(store).replace("## Work", "## Pinned"), encoding="utf-8"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_undo_brings_the_notes_back_and_redo_changes_them_again(store: Store, name: str) -> None:
    """After undo there are the same notes, pinned as before; undo of the undo is the change; and so on."""
    archive = Archive(store)
    before = {(note.text, note.pinned) for note in store.list()}
    CHANGES[name](store)
    store.observe()
    after = {(note.text, note.pinned) for note in store.list()}
    assert before != after
    n = last(store).n
    for expected in (before, after, before):
        archive.undo(n)
        assert {(note.text, note.pinned) for note in store.list()} == expected
        assert last(store).fields["undoes"] == str(n)
        n = last(store).n
        check(store)


def test_what_comes_back_keeps_its_section_age_and_author(store: Store) -> None:
    """A retired note returns below the last note of its section, with the date and author of its first record."""
    first = store.get("three")
    store.retire("three", evidence="x", by="bo")
    Archive(store).undo(last(store).n, by="bo", evidence="a slip")
    again = store.get("three")
    assert text(store) == "# Notes\n\n- one\n- two\n\n## Work\n\n- three\n"
    assert (again.created, again.by, again.section) == (first.created, first.by, ("Notes", "Work"))
    assert (last(store).fields["by"], last(store).fields["evidence"]) == ("bo", "a slip")


def test_what_was_pinned_comes_back_pinned(store: Store) -> None:
    """Undo of a retired pinned note puts it under Pinned again."""
    store.pin("two")
    store.retire("two", evidence="x")
    Archive(store).undo(last(store).n)
    assert store.get("two").pinned
    check(store)


def test_undo_of_a_merge_brings_the_old_one_back_and_keeps_the_other(store: Store) -> None:
    """Both notes stand, and a pin that only the merge gave is taken off again."""
    store.pin("two")
    store.revise("two", "one", evidence="the same")
    merge = last(store)
    assert (merge.fields["merged"], store.get("one").pinned) == ("yes", True)
    Archive(store).undo(merge.n)
    assert {note.text: note.pinned for note in store.list()} == {"one": False, "two": True, "three": False}
    check(store)


def test_two_hundred_changes_of_one_observation_are_undone_one_by_one(store: Store) -> None:
    """Each change of an edit has a record of its own; taking back one leaves the others."""
    memory(store).write_text("".join(f"- line {n}\n" for n in range(200)), encoding="utf-8")
    records = store.observe()
    added = [record for record in records if "after" in record.fields and "before" not in record.fields]
    assert len(records) >= 200
    archive = Archive(store)
    for record in added[:3]:
        archive.undo(record.n)
    assert len(store.list()) == 200 - 3
    removed = next(record for record in records if record.fields.get("before") == "one")
    archive.undo(removed.n)
    assert store.get("one").text == "one"
    check(store)


def test_undo_of_prose_brings_prose_back(root: Path) -> None:
    """A paragraph returns as a paragraph, an indented block with its indentation."""
    store = Store(root)
    memory(store).parent.mkdir(parents=True)
    whole = "A paragraph\nof two lines.\n\n- item\n\n## Code\n\nfirst\n\n    x = 1\n    y = 2\n"
    memory(store).write_text(whole, encoding="utf-8")
    store.observe()
    for note in [note for note in store.list() if note.kind == "prose"]:
        store.retire(note.id, evidence="x")
        Archive(store).undo(last(store).n)
        assert (store.get(note.id).kind, store.get(note.id).text) == ("prose", note.text)
        check(store)


def test_the_files_own_bullet_and_line_ending_are_used(root: Path) -> None:
    """What comes back is written like the rest of the file."""
    store = Store(root)
    memory(store).parent.mkdir(parents=True)
    memory(store).write_bytes(b"- one\r\n- two\r\n")
    store.observe()
    store.retire("one", evidence="x")
    Archive(store).undo(last(store).n)
    assert memory(store).read_bytes() == b"- two\r\n- one\r\n"


# -- refusals -------------------------------------------------------------------------------------------------------


def test_undo_is_refused_after_a_later_change_and_names_it(store: Store) -> None:
    """The newest record that changed the note is named; once that is undone, undo goes on."""
    archive = Archive(store)
    store.revise("two", "2", evidence="x")
    revised = last(store).n
    store.pin("2")
    with pytest.raises(UndoError, match=rf"record {last(store).n} \(pin\) changed the note later"):
        archive.undo(revised)
    archive.undo(last(store).n)
    archive.undo(revised)
    assert store.get("two").text == "two"
    with pytest.raises(UndoError, match=f"was taken back already, by record {last(store).n}"):
        archive.undo(revised)
    check(store)


def test_an_edit_of_this_very_moment_is_a_later_change(store: Store) -> None:
    """Undo looks at the file first: what an editor changed a moment ago is not overwritten."""
    store.revise("two", "2", evidence="x")
    n = last(store).n
    memory(store).write_text(text(store).replace("- 2\n", "- 2, edited\n"), encoding="utf-8")
    with pytest.raises(UndoError, match=r"\(observe\) changed the note later"):
        Archive(store).undo(n)
    assert "- 2, edited" in text(store)


def test_an_approval_is_no_later_change(store: Store) -> None:
    """Approving a note does not stand in the way of taking it back."""
    store.remember("four")
    n = last(store).n
    Archive(store).approve("four")
    Archive(store).undo(n)
    assert "four" not in text(store)


@pytest.mark.parametrize("action", ["init", "clear", "consolidate", "purge", "unpurge", "cancel"])
def test_what_is_no_change_of_a_note_is_not_undone(store: Store, action: str) -> None:
    """The error says what the record is."""
    with store._writer.hold() as bench:
        bench.record([Draft(action, {"scope": "global", "cancels": "1" if action == "cancel" else ""})])
    n = last(store).n
    with pytest.raises(UndoError, match=f"record {n}"):
        Archive(store).undo(n)
    assert last(store).n == n


def test_a_cancelled_record_is_not_undone(store: Store) -> None:
    """It changed nothing, so there is nothing to take back."""
    with store._writer.hold() as bench:
        one = bench.record([Draft("remember", {"scope": "global", "id": "a" * 26, "after": "never"})])[0]
        bench.record([Draft("cancel", {"scope": "global", "id": "a" * 26, "cancels": str(one.n)})])
    with pytest.raises(UndoError, match="was cancelled"):
        Archive(store).undo(one.n)


@pytest.mark.parametrize("n", [0, 99, 10**12])
def test_a_record_that_is_not_there_is_not_undone(store: Store, n: int) -> None:
    """The error says so, whatever the number."""
    with pytest.raises(NoSuchRecordError, match=f"no record {n}"):
        Archive(store).undo(n)


def test_a_record_of_another_workspace_answers_like_none(root: Path, git_repo: GitRepo) -> None:
    """From B, a change in A can only be undone when all scopes are named."""
    a, b = Store(root, git_repo("a")), Store(root, git_repo("b"))
    a.remember("in A", scope="workspace")
    with pytest.raises(NoSuchRecordError, match="no record 1 of a scope that is seen here"):
        Archive(b).undo(1)
    assert Archive(b).undo(1, scope="all").n == 2
    assert a.list() == []


def test_a_number_that_two_machines_used_is_refused(store: Store) -> None:
    """A merge by version control leaves two records of one number: we do not guess."""
    journal = store.root / "JOURNAL.md"
    data = journal.read_bytes()
    store.remember("here")
    ours = journal.read_bytes()
    journal.write_bytes(data)
    store.remember("there")
    journal.write_bytes(ours + journal.read_bytes()[len(data) :])
    with pytest.raises(UndoError, match="two machines"):
        Archive(Store(store.root)).undo(4)


def test_text_that_was_purged_or_never_known_does_not_come_back(store: Store) -> None:
    """A field that was erased, a text that the journal does not hold, and one that must not return are refused."""
    bare = JournalRecord(5, "retire", "t", {"scope": "global", "id": "purged-9-1"}, None, "", "", {}, {"before": "ab"})
    with pytest.raises(UndoError, match="purged"):
        require_undoable(bare, [bare])
    store.retire("two", evidence="x")
    n = last(store).n
    access = Access(store)
    with pytest.raises(UndoError, match="must not come back"):
        undo(access, n, forbidden=lambda text: text == "two")
    with pytest.raises(UndoError, match="must not come back"):
        restore(access, "two", forbidden=lambda text: text == "two")
    with store._writer.hold() as bench:
        (record,) = bench.record([Draft("observe", {"scope": "global", "id": "b" * 26, "before": "(text not known)"})])
    with pytest.raises(UndoError, match="does not hold the text"):
        undo(access, record.n)
    with pytest.raises(UndoError, match="does not hold the text"):
        restore(access, "b" * 26)


def test_a_purge_is_not_undone_and_what_it_took_does_not_come_back(store: Store) -> None:
    """Undo of the purge itself, of what it purged, and restore are refused; a note that only was near it is not."""
    one = store.remember("the door code is in the drawer")
    store.retire(one.id, evidence="moved")
    retired = last(store).n
    purge_run.purge(Access(store), Request(text="door code is in"))
    archive = Archive(store)
    with pytest.raises(UndoError, match="is a purge, which cannot be undone"):
        archive.undo(last(store).n)
    for n in (one.n, retired):
        with pytest.raises(UndoError, match="purged"):
            archive.undo(n)
    with pytest.raises(NoSuchNoteError):
        archive.restore(one.id)
    with pytest.raises(NoSuchNoteError):
        archive.history(one.id)
    erased = archive.history(store.journal()[retired - 1].fields["id"])
    assert [(record.action, sorted(record.erased)) for record in erased.records] == [
        ("remember", ["after", "id"]),
        ("retire", ["before", "id"]),
    ]
    check(store)


def test_a_read_only_store_undoes_nothing(store: Store) -> None:
    """Every change is refused before anything is looked at."""
    archive = Archive(Store(store.root, read_only=True))
    before = text(store)
    changes: list[Callable[[], object]] = [
        lambda: archive.undo(1),
        lambda: archive.restore("one"),
        lambda: archive.promote("one", to="global"),
        lambda: archive.approve("one"),
        lambda: archive.reject("one", evidence="x"),
    ]
    for change in changes:
        with pytest.raises(ReadOnlyStoreError):
            change()
    assert text(store) == before


def test_a_file_that_cannot_be_written_refuses_undo(store: Store) -> None:
    """Conflict markers stand in the way of an undo like of any write; nothing is journalled."""
    store.retire("two", evidence="x")
    n = last(store).n
    memory(store).write_text(text(store) + "<<<<<<< a\n- x\n=======\n- y\n>>>>>>> b\n", encoding="utf-8")
    with pytest.raises(FileStateError, match="conflict"):
        Archive(store).undo(n)
    assert all("undoes" not in record.fields for record in store.journal())


# -- restore --------------------------------------------------------------------------------------------------------


def test_restore_brings_a_retired_note_back(store: Store) -> None:
    """By id, by the beginning of one, by its text; one that stands already is a stated no-op."""
    one = store.get("three")
    archive = Archive(store)
    for target in (one.id, one.id[:8], "three"):
        store.retire("three", evidence="x")
        written = archive.restore(target)
        assert (written.id, written.status) == (one.id, "saved")
        assert last(store).action == "restore"
        assert store.get("three").section == ("Notes", "Work")
        check(store)
    assert archive.restore("three").status == "duplicate"


def test_restore_of_a_replaced_note_that_was_retired_brings_the_last_version(store: Store) -> None:
    """An old id leads to what replaced it, and that is what comes back."""
    old = store.get("two").id
    store.revise("two", "2", evidence="x")
    store.retire("2", evidence="x")
    Archive(store).restore(old)
    assert store.get(old).text == "2"
    check(store)


def test_restore_of_a_note_that_was_replaced_is_a_no_op(store: Store) -> None:
    """Where the successor stands there is nothing to bring back."""
    old = store.get("two").id
    store.revise("two", "2", evidence="x")
    assert Archive(store).restore(old).status == "duplicate"
    assert "- two" not in text(store)


def test_restore_of_nobody_is_an_error(store: Store) -> None:
    """What never was cannot come back."""
    with pytest.raises(NoSuchNoteError, match="past or present"):
        Archive(store).restore("never written")


# -- promote --------------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(root: Path, git_repo: GitRepo) -> Store:
    """Give a store with a note in global and two in a workspace."""
    made = Store(root, git_repo("lab"), by="ana")
    made.remember("global one")
    made.remember_many(["here", "stays"], scope="workspace")
    return made


def places(store: Store) -> dict[str, str]:
    """Return texts and the kind of their scope."""
    return {note.text: note.scope.partition("/")[0] for note in store.list()}


def test_promote_moves_a_note_and_its_old_id_leads_to_it(pair: Store) -> None:
    """One record names both ids and both scopes; date, author and pin come along; the reply names the new place."""
    pair.pin("here")
    old = pair.get("here")
    written = Archive(pair).promote("here", to="global", evidence="for every project", by="bo")
    record = last(pair)
    assert (record.action, record.id, record.new_id) == ("promote", old.id, written.id)
    assert (record.scope, record.fields["to"]) == (old.scope, "global")
    assert (written.scope, written.old_id, written.path) == ("global", old.id, str(memory(pair)))
    new = pair.get(old.id)
    assert (new.id, new.scope, new.pinned, new.created, new.by) == (written.id, "global", True, old.created, "ana")
    assert places(pair) == {"here": "global", "global one": "global", "stays": "workspace"}
    check(pair)
    pair.reindex()
    check(pair)


def test_promote_is_undone_by_moving_back(pair: Store) -> None:
    """Undo is the same move the other way, and undo of that moves again."""
    archive = Archive(pair)
    old = pair.get("here").id
    archive.promote("here", to="global")
    archive.undo(last(pair).n)
    assert places(pair)["here"] == "workspace"
    assert pair.get("here").id == old
    check(pair)
    archive.undo(last(pair).n)
    assert places(pair)["here"] == "global"
    check(pair)


def test_promote_is_not_undone_after_a_later_change(pair: Store) -> None:
    """A note that was changed in its new place stays there, and both files are as they were."""
    Archive(pair).promote("here", to="global")
    n = last(pair).n
    pair.revise("here", "there", evidence="x")
    before = text(pair)
    with pytest.raises(UndoError, match=r"\(revise\) changed the note later"):
        Archive(pair).undo(n)
    assert (text(pair), last(pair).action) == (before, "revise")


def test_promote_to_where_the_text_stands_already_makes_them_one(pair: Store) -> None:
    """The note leaves its scope, the other stays (pinned if either was); undo brings it back and keeps the other."""
    pair.remember("here")
    pair.pin("here", scope="workspace")
    source = pair.get("here", scope="workspace")
    Archive(pair).promote("here", to="global", scope="workspace")
    assert (last(pair).fields["merged"], pair.get("here").pinned) == ("yes", True)
    check(pair)
    Archive(pair).undo(last(pair).n)
    assert {note.scope.partition("/")[0] for note in pair.list() if note.text == "here"} == {"global", "workspace"}
    assert pair.get(source.id).pinned
    check(pair)


def test_promote_of_prose_and_of_secrets(pair: Store) -> None:
    """A paragraph moves as a paragraph; a secret typed by hand is taken out on its way into the other file."""
    assert pair.workspace is not None
    file = pair.workspace.memory_file
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    file.write_text(f"{file.read_text()}\nA paragraph.\n\n- the token is {secret}\n", encoding="utf-8")
    pair.observe()
    archive = Archive(pair)
    archive.promote("A paragraph.", to="global")
    archive.promote(next(note.id for note in pair.list() if "token" in note.text), to="global")
    assert pair.get("A paragraph.").kind == "prose"
    assert secret not in text(pair) + (pair.root / "JOURNAL.md").read_text()
    assert "[REDACTED_SECRET]" in text(pair)
    check(pair)


def test_promote_needs_another_scope(pair: Store, root: Path, tmp_path: Path) -> None:
    """The same scope, a workspace where there is none and a scope that does not exist are refused."""
    with pytest.raises(ScopeError, match="already"):
        Archive(pair).promote("global one", to="global")
    outside = Store(root, tmp_path)
    with pytest.raises(ScopeError, match="no workspace here"):
        Archive(outside).promote("global one", to="workspace")
    with pytest.raises(ScopeError):
        Archive(pair).promote("global one", to="all")
    assert "promote" not in [record.action for record in pair.journal()]


_STEPS = (
    "door.os.rename",
    "bench.Bench.write",
    "door.swap",
    "door.keep_old",
    "files.sync_directory",
    "bench.Bench.tell",
    "promoting.rows_of",
)
_ONCE = ("bench.Bench.write", 2)  # there is one record only


@pytest.mark.parametrize(("point", "nth"), [(step, n) for step in _STEPS for n in (1, 2) if (step, n) != _ONCE])
@pytest.mark.parametrize("first", ["global", "workspace", "both"])
def test_a_crash_in_a_move_leaves_the_note_in_one_place(
    pair: Store, monkeypatch: Patch, point: str, nth: int, first: str
) -> None:
    """Whichever file the next command looks at first: the note is never lost, and in the end stands in one scope."""
    import importlib

    module, _, name = point.partition(".")
    owner, _, method = name.rpartition(".")
    holder: object = importlib.import_module(f"memory_magic.store.{module}")
    holder = getattr(holder, owner) if owner else holder
    real, calls = getattr(holder, method), [0]

    def crash(*words: object, **more: object) -> object:
        calls[0] += 1
        if calls[0] == nth:
            raise CrashError
        return real(*words, **more)

    pair.observe()
    with monkeypatch.context() as patch:
        patch.setattr(holder, method, crash)
        with pytest.raises(CrashError):
            Archive(pair).promote("here", to="global")
    pair.close()
    recorded = any(record.action == "promote" for record in Store(pair.root, pair.cwd, read_only=True).journal())
    seen = {note.text for note in Store(pair.root, pair.cwd, read_only=True).list()}
    assert "here" in seen  # a reader without the lock sees it, in whatever state
    after = Store(pair.root, pair.cwd)
    if first != "both":
        after.remember("next", scope=first)
        assert "here" in {note.text for note in Store(pair.root, pair.cwd, read_only=True).list()}
    after.observe()
    assert [note.scope.partition("/")[0] for note in after.list() if note.text == "here"] == [
        "global" if recorded else "workspace"
    ]
    check(after)
    assert after.observe() == []
    for scope in after.scopes:
        assert [temp.state for temp in door.temps(str(scope.memory_file)) if temp.state != "old"] == []


def test_a_move_to_a_place_that_is_none_leaves_the_note(pair: Store, monkeypatch: Patch) -> None:
    """A journal that names a scope outside the root bricks nothing: the note stays where it is."""
    real = Draft

    def draft(action: str, fields: dict[str, str]) -> Draft:
        return real(action, fields | ({"to": "../elsewhere"} if action == "promote" else {}))

    with monkeypatch.context() as patch:
        patch.setattr("memory_magic.store.promoting.Draft", draft)
        patch.setattr(door, "swap", lambda *_, **__: (_ for _ in ()).throw(CrashError))
        with pytest.raises(CrashError):
            Archive(pair).promote("here", to="global")
    after = Store(pair.root, pair.cwd)
    after.observe()
    assert places(after)["here"] == "workspace"
    assert after.remember("next").status == "saved"
    assert not (pair.root.parent / "elsewhere").exists()


def _interfere(monkeypatch: Patch, file: Path, save: Callable[[], object], times: int = 1) -> None:
    """Let an editor *save* right before the exchange of *file*, *times* times."""
    real, left = door.swap, [times]

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        if left[0] and Path(target) == file:
            left[0] -= 1
            save()
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)


@pytest.mark.parametrize("side", ["global", "workspace"])
def test_an_editor_that_saves_during_a_move_loses_nothing(pair: Store, monkeypatch: Patch, side: str) -> None:
    """A save of either file between looking and exchange is kept, and so is the move."""
    scope = next(one for one in pair.scopes if one.id.startswith(side))
    file = scope.memory_file
    _interfere(monkeypatch, file, lambda: file.write_text(file.read_text() + "- by hand\n", encoding="utf-8"))
    Archive(pair).promote("here", to="global")
    assert places(pair) == {"here": "global", "global one": "global", "stays": "workspace", "by hand": side}
    check(pair)


@pytest.mark.parametrize("side", ["global", "workspace"])
def test_an_editor_that_never_rests_stops_a_move(pair: Store, monkeypatch: Patch, side: str) -> None:
    """The move is cancelled, the error says so, the note stands at least once, and journal and files agree."""
    scope = next(one for one in pair.scopes if one.id.startswith(side))
    file = scope.memory_file
    monkeypatch.setattr(door, "PATIENCE", 0.1)
    _interfere(monkeypatch, file, lambda: file.write_text(file.read_text() + "- x\n", encoding="utf-8"), times=300)
    with pytest.raises(ChangedMeanwhileError):
        Archive(pair).promote("here", to="global")
    monkeypatch.undo()
    after = Store(pair.root, pair.cwd)
    after.observe()
    assert "here" in places(after)
    assert "cancel" in [record.action for record in after.journal()]
    check(after)


def test_a_lock_file_that_is_replaced_during_a_move_does_it_once(pair: Store, monkeypatch: Patch) -> None:
    """The mover lets go, takes the new lock, finds its move done by recovery, and reports it."""
    real = door.write_temp
    deleted: list[bool] = []

    def delete(*words: object) -> object:
        if not deleted:
            deleted.append(True)
            (pair.root / ".lock").unlink()
        return real(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(door, "write_temp", delete)
    written = Archive(pair).promote("here", to="global")
    assert pair.get(written.id).scope == "global"
    assert [record.action for record in pair.journal()].count("promote") == 1
    check(pair)


# -- review ---------------------------------------------------------------------------------------------------------


def test_approve_is_a_record_and_changes_no_file(store: Store) -> None:
    """Approval is of one text: journalled once, it can be withdrawn and given again, and does not outlive a change."""
    archive = Archive(store)
    one = store.get("two")
    before = text(store)
    written = archive.approve("two", evidence="read it", by="bo")
    assert (written.status, last(store).action, last(store).fields["by"]) == ("saved", "approve", "bo")
    assert archive.is_approved(one.id)
    assert archive.approve("two").status == "duplicate"
    n = last(store).n
    archive.undo(n)
    assert not archive.is_approved(one.id)
    archive.undo(last(store).n)
    assert archive.is_approved(one.id)
    assert text(store) == before
    with pytest.raises(UndoError, match="taken back already"):
        archive.undo(n + 1)
    new = store.revise("two", "2", evidence="x")
    assert not archive.is_approved(new.id)
    check(store)


def test_reject_takes_the_note_out_and_undo_brings_it_back(store: Store) -> None:
    """A rejection needs a reason and has a name of its own in the journal."""
    archive = Archive(store)
    with pytest.raises(EvidenceError):
        archive.reject("two", evidence=" ")
    archive.reject("two", evidence="an instruction in disguise")
    assert (last(store).action, last(store).fields["before"]) == ("reject", "two")
    assert "- two" not in text(store)
    check(store)
    archive.undo(last(store).n)
    assert "- two" in text(store)
    check(store)


# -- any sequence ---------------------------------------------------------------------------------------------------


class Undoing(RuleBasedStateMachine):
    """Changes, edits and undos in any order: what undo does is what a replay without the change would give."""

    factory: Callable[[], Path]

    @initialize()
    def start(self) -> None:
        """Open a fresh store."""
        self.store = Store(self.factory())
        self.archive = Archive(self.store)

    def texts(self) -> list[str]:
        """Return the texts that stand."""
        return sorted(note.text for note in self.store.list())

    @rule(text=st.sampled_from(["a", "b", "c\nd", "e"]), pin=st.booleans())
    def remember(self, text: str, *, pin: bool) -> None:
        """Remember one."""
        self.store.remember(text, pin=pin)

    @rule(data=st.data(), text=st.sampled_from(["a", "b", "f"]))
    def revise(self, data: st.DataObject, text: str) -> None:
        """Revise one, perhaps into one that exists."""
        if texts := self.texts():
            self.store.revise(data.draw(st.sampled_from(texts)), text, evidence="x")

    @rule(data=st.data(), action=st.sampled_from(["retire", "pin", "unpin", "reject", "approve"]))
    def change(self, data: st.DataObject, action: str) -> None:
        """Do something else with one."""
        if not (texts := self.texts()):
            return
        target = data.draw(st.sampled_from(texts))
        if action == "pin" and self.store.get(target).kind == "prose":
            # an edit took the bullet away: what is left is a paragraph, and only items can be pinned
            with pytest.raises(NoteError, match="prose"):
                self.store.pin(target)
        elif action in {"retire", "reject"}:
            getattr(self.store if action == "retire" else self.archive, action)(target, evidence="x")
        else:
            getattr(self.archive if action == "approve" else self.store, action)(target)

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        """Take a line out by hand, or add one."""
        file = memory(self.store)
        lines = file.read_text().split("\n") if file.exists() else [""]
        if data.draw(st.booleans()) and len(lines) > 1:
            del lines[data.draw(st.integers(0, len(lines) - 1))]
        else:
            lines.append(f"- by hand {len(lines)}\n")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines))

    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        """Undo any record, perhaps an undo; a refusal changes nothing."""
        self.store.observe()
        records = self.store.journal()
        if not records:
            return
        n = data.draw(st.integers(1, len(records)))
        before = self.texts()
        try:
            self.archive.undo(n)
        except (UndoError, NoteError):
            assert self.texts() == before
            assert len(self.store.journal()) == len(records)
        else:
            assert last(self.store).fields["undoes"] == str(n)

    @invariant()
    def agrees(self) -> None:
        """Chain, replay and files agree."""
        if hasattr(self, "store"):
            self.store.observe()
            check(self.store)


def test_any_sequence_of_changes_and_undos(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever the order, each undo is one record, a refusal is none, and journal and files agree after every step."""
    machine = type("Machine", (Undoing,), {"factory": staticmethod(lambda: tmp_path_factory.mktemp("undo") / "root")})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25, stateful_step_count=14, suppress_health_check=list(HealthCheck), deadline=None
        ),
    )
