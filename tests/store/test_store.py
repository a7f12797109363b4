"""One suite for the store, run over several file systems and failures: each promise holds in every place."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_magic.errors import (
    AmbiguousNoteError,
    EvidenceError,
    FileStateError,
    NoSuchNoteError,
    NoteError,
    ReadOnlyStoreError,
    ScopeError,
    StoreAccessError,
)
from memory_magic.store import files
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

Place = Callable[[], Store]
KINDS = (
    "disk",
    "memory file system",
    "no exchange",
    "no hard links",
    "index in memory",
    "index elsewhere",
    "symlinked file",
)


@pytest.fixture(params=KINDS)
def place(
    request: pytest.FixtureRequest, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    """Make stores over one root in a place of each kind."""
    made: list[Store] = []
    home = root
    if request.param == "memory file system":
        home = _in_memory()
    if request.param in {"no exchange", "no hard links"}:
        monkeypatch.setattr(files, "_exchange_call", lambda: None)
    if request.param == "no hard links":
        monkeypatch.setattr(os, "link", _no_link)
    if request.param.startswith("index"):
        elsewhere = str(tmp_path / "elsewhere" / "index.sqlite3")
        monkeypatch.setenv("MEMORY_MAGIC_INDEX_PATH", ":memory:" if "memory" in request.param else elsewhere)
    if request.param == "symlinked file":
        _link_file(home, tmp_path / "dotfiles")

    def make() -> Store:
        made.append(Store(home))
        return made[-1]

    yield make
    for store in made:
        store.close()
    if home != root:
        shutil.rmtree(home.parent)


def _in_memory() -> Path:
    shared = Path("/dev/shm")  # noqa: S108  (a memory file system, not a guessable name)
    if not shared.is_dir():
        pytest.skip("this machine has no memory file system at /dev/shm")
    return Path(tempfile.mkdtemp(dir=shared)) / "root"


def _link_file(home: Path, dotfiles: Path) -> None:
    for directory in (home, home / "global", dotfiles):
        directory.mkdir(mode=0o700)
    (dotfiles / "memory.md").write_text("", encoding="utf-8")
    (home / "global" / "MEMORY.md").symlink_to(dotfiles / "memory.md")


def _no_link(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def texts(store: Store) -> list[str]:
    """Return the texts of all notes in their order."""
    return [note.text for note in store.list()]


def replayed(store: Store) -> set[tuple[str, str, bool]]:
    """Return what the journal says: scope, id, pinned."""
    state = replay(store.journal())
    return {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()}


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree."""
    assert store.verify().ok
    assert replayed(store) == {(note.scope, note.id, note.pinned) for note in store.list()}


def test_a_note_is_kept_in_markdown_and_found_again(place: Place) -> None:
    """What is remembered stands in the file as a list item, and another store object reads it."""
    written = place().remember("Deploys run on Tuesdays")
    assert (written.status, written.line, written.n) == ("saved", 1, 1)
    store = place()
    assert (store.root / "global" / "MEMORY.md").read_text(encoding="utf-8") == "- Deploys run on Tuesdays\n"
    assert store.get(written.id).text == "Deploys run on Tuesdays"
    assert store.get(written.id[:6]).by == "python"
    check(store)


def test_a_text_that_is_there_already_is_a_stated_no_op(place: Place) -> None:
    """Remembering again changes neither file nor journal and says so; pinning it pins the one that is there."""
    store = place()
    first = store.remember("a  note")
    again = store.remember("a note")
    assert (again.status, again.id, again.line) == ("duplicate", first.id, 1)
    assert len(store.journal()) == 1
    assert store.remember("a note", pin=True).status == "pinned"
    assert [note.pinned for note in store.list()] == [True]
    check(store)


def test_several_notes_are_written_at_once(place: Place) -> None:
    """A batch is one append: each note has its own record and line, duplicates within it are one."""
    store = place()
    written = store.remember_many(["one", "two\nlines", "one", "three"])
    assert [one.status for one in written] == ["saved"] * 4
    assert [one.line for one in written] == [1, 2, 1, 4]
    assert texts(store) == ["three", "two\nlines", "one"]
    assert [note.line for note in store.list()] == [4, 2, 1]
    check(store)


def test_revise_and_retire_take_an_id_or_the_exact_text(place: Place) -> None:
    """Both ways name the same note; the old id leads to the new one; the journal has both texts and the evidence."""
    store = place()
    old = store.remember("Deploys run on Fridays")
    new = store.revise("Deploys run on  Fridays", "Deploys run on Tuesdays", evidence="said in the stand-up")
    assert (new.old_id, new.n) == (old.id, 2)
    assert store.get(old.id[:8]).id == new.id
    record = store.journal()[-1]
    assert (record.action, record.fields["before"], record.fields["after"]) == (
        "revise",
        "Deploys run on Fridays",
        "Deploys run on Tuesdays",
    )
    assert record.fields["evidence"] == "said in the stand-up"
    assert store.retire(new.id[:10], evidence="no more deploys").n == 3
    assert texts(store) == []
    check(store)


def test_going_round_ends_where_a_person_expects(place: Place) -> None:
    """A -> B -> A leaves A; A's id is A, and B's id leads to it."""
    store = place()
    a = store.remember("A note")
    b = store.revise(a.id, "B note", evidence="x")
    assert store.revise(b.id, "A note", evidence="y").id == a.id
    assert store.get(a.id).text == store.get(b.id).text == "A note"
    check(store)


def test_pinned_notes_come_first_and_go_back_to_their_section(place: Place) -> None:
    """Pin moves under Pinned, unpin to the section the note came from."""
    store = place()
    path = store.root / "global" / "MEMORY.md"
    store.remember("first")
    path.write_text("## Tools\n\n- hammer\n\n## Other\n\n- first\n", encoding="utf-8")
    store.pin("hammer")
    assert texts(store)[0] == "hammer"
    assert path.read_text(encoding="utf-8") == "## Pinned\n\n- hammer\n\n## Tools\n\n## Other\n\n- first\n"
    store.unpin("hammer")
    assert "## Tools\n\n- hammer\n" in path.read_text(encoding="utf-8")
    check(store)


def test_an_edit_by_hand_is_journalled(place: Place) -> None:
    """Added, changed, removed and moved lines become observe records; the file wins and stays byte for byte."""
    store = place()
    store.remember_many(["keep", "change me", "drop me"])
    path = store.root / "global" / "MEMORY.md"
    text = "# Mine\r\n\r\n- keep\r\n- changed\r\n\r\n## Pinned\r\n- added\r\n"
    path.write_bytes(text.encode())
    assert {note.text for note in store.list()} == {"keep", "changed", "added"}
    assert path.read_bytes() == text.encode()
    check(store)
    actions = [record.action for record in store.journal()]
    assert actions[:3] == ["remember"] * 3
    assert set(actions[3:]) == {"observe"}


def test_one_changed_line_is_linked_to_the_old_note(place: Place) -> None:
    """Where one note stands in the place of one, the journal links them and the old id still leads on."""
    store = place()
    old = store.remember("Deploys run on Fridays")
    path = store.root / "global" / "MEMORY.md"
    path.write_text("- Deploys run on Mondays\n", encoding="utf-8")
    assert store.get(old.id).text == "Deploys run on Mondays"
    check(store)


def test_the_index_can_be_deleted_at_any_time(place: Place) -> None:
    """Without its index a store says the same, with the same numbers, dates and authors."""
    store = place()
    store.remember("one", by="ana")
    store.remember("two", pin=True)
    before = store.list()
    store.close()
    for name in ("index.sqlite3", "index.sqlite3-wal", "index.sqlite3-shm"):
        (store.root / name).unlink(missing_ok=True)
    assert place().list() == before
    assert place().reindex() == 2
    assert place().list() == before


def test_first_sight_of_a_file_is_journalled_once(place: Place) -> None:
    """A file that was there before us becomes observe records, lower lines newer; a second look adds nothing."""
    store = place()
    path = store.root / "global" / "MEMORY.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n- older\n\n- newer\n", encoding="utf-8")
    assert texts(store) == ["newer", "older"]
    assert [record.fields["by"] for record in store.journal()] == ["first sight of the file"] * 2
    assert store.observe() == []
    check(store)


def test_prefixes_and_texts_that_fit_several_notes_are_refused(place: Place) -> None:
    """We do not guess: the error names what was found."""
    store = place()
    one = store.remember("Prefer plan 11272438")
    other = store.remember("Prefer plan 28403127")
    assert one.id[:10] == other.id[:10]
    with pytest.raises(AmbiguousNoteError, match="2 notes fit"):
        store.retire(one.id[:10], evidence="x")
    assert len(store.short_id(one.id)) == 11
    assert store.retire(one.id[:11], evidence="x").id == one.id
    assert texts(store) == ["Prefer plan 28403127"]
    check(store)


@pytest.mark.parametrize("target", ["zzzzzzzzzz", "no such text", "../../etc/passwd", "a\0b"])
def test_an_unknown_note_is_an_error_that_says_so(place: Place, target: str) -> None:
    """Nothing is changed, and the message says what was looked for."""
    store = place()
    store.remember("one")
    with pytest.raises(NoSuchNoteError, match="found no note"):
        store.revise(target, "two", evidence="x")
    assert texts(store) == ["one"]


def test_a_change_needs_evidence(place: Place) -> None:
    """Revise and retire without a reason are refused."""
    store = place()
    store.remember("one")
    for evidence in ("", "  ", "<private>x</private>"):
        with pytest.raises(EvidenceError):
            store.revise("one", "two", evidence=evidence)
        with pytest.raises(EvidenceError):
            store.retire("one", evidence=evidence)


@pytest.mark.parametrize("text", ["", "  \n ", "<private>all of it</private>", "x" * 65_537])
def test_what_cannot_be_a_note_is_refused(place: Place, text: str) -> None:
    """Empty and over-long texts are errors, and make no file."""
    store = place()
    with pytest.raises(NoteError):
        store.remember(text)
    assert store.list() == []


@pytest.mark.parametrize(
    "text", ["---", "- ---", "#", "a\u2028b", "```\ncode\n```", "1. x", "> q", "*", "deep\n    er"]
)
def test_odd_texts_are_kept_as_they_are(place: Place, text: str) -> None:
    """What Markdown would take for something else is still one note that reads back."""
    store = place()
    store.remember("before")
    written = store.remember(text)
    store.remember("after")
    assert texts(store) == ["after", text, "before"]
    assert store.get(written.id).text == text
    store.retire(written.id, evidence="x")
    assert texts(store) == ["after", "before"]
    check(store)


def test_private_spans_and_secrets_never_reach_the_disk(place: Place) -> None:
    """Text, evidence and author pass the gate; kinds are counted, values are gone from every file."""
    store = place()
    key = "sk-" + "proj-" + "Ab1Cd2Ef3Gh4" * 4
    written = store.remember(f"the key is {key} <private>my diary</private> ok", by=f"me {key}", evidence=f"saw {key}")
    assert sum(written.redacted.values()) == 1
    store.revise(written.id, f"again {key}", evidence=f"why {key}", by=key)
    store.retire(f"again {key}", evidence=f"{key} was leaked")
    store.close()
    kept = b"".join(path.read_bytes() for path in store.root.rglob("*") if path.is_file())
    assert key.encode() not in kept
    assert b"diary" not in kept
    assert b"[REDACTED_SECRET]" in kept


def test_everything_is_private_whatever_the_umask(place: Place) -> None:
    """Directories are 0700 and files 0600, SQLite's sidecars and the lock included."""
    store = place()
    before = os.umask(0o000)
    try:
        store.remember("one")
        store.remember("two")
        modes = {
            path.name: stat.S_IMODE(path.lstat().st_mode)
            for path in [store.root, *store.root.rglob("*")]
            if not path.is_symlink()
        }
    finally:
        os.umask(before)
    assert {name: mode for name, mode in modes.items() if mode not in {0o600, 0o700}} == {}


def test_a_read_only_store_writes_nothing(place: Place) -> None:
    """Reading through `read_only` leaves every file as it is, and a write is a friendly error."""
    writable = place()
    writable.remember("one")
    (writable.root / "global" / "MEMORY.md").write_text("- one\n- by hand\n", encoding="utf-8")
    writable.close()
    before = {path: path.stat().st_mtime_ns for path in writable.root.rglob("*") if "sqlite3-" not in path.name}
    store = Store(writable.root, read_only=True)
    assert texts(store) == ["by hand", "one"]
    assert store.get("by hand").line == 2
    with pytest.raises(ReadOnlyStoreError):
        store.remember("two")
    store.close()
    assert {path: path.stat().st_mtime_ns for path in writable.root.rglob("*") if "sqlite3-" not in path.name} == before


def test_reading_a_store_that_is_not_there_makes_no_file(root: Path) -> None:
    """Listing, searching and status on nothing answer with nothing and leave nothing."""
    store = Store(root)
    assert store.list() == []
    assert store.search("x").hits == ()
    assert store.status().journal_records == 0
    assert store.verify().ok
    assert store.findings() == []
    assert not root.exists()


def test_status_counts_and_verify_is_remembered(place: Place) -> None:
    """Status tells notes, records and head without reading the journal; the last verify is kept in the index."""
    store = place()
    store.remember("one")
    assert store.status().verified is None
    verdict = store.verify()
    status = store.status()
    assert (status.journal_records, status.journal_head) == (1, verdict.head)
    assert [scope.notes for scope in status.scopes] == [1]
    assert status.index_fresh
    if store.root.joinpath("index.sqlite3").exists():
        assert status.verified is not None
        assert (status.verified["n"], status.verified["ok"]) == (1, True)


def test_two_repositories_do_not_see_each_other(place: Place, git_repo: Callable[..., Path]) -> None:
    """A note of one workspace is unknown in the other: not listed, not found, and its id answers as an unknown one."""
    root = place().root
    a, b = Store(root, cwd=git_repo("a")), Store(root, cwd=git_repo("b"))
    secret = a.remember("only in a", scope="workspace")
    b.remember("only in b", scope="workspace")
    a.remember("for all")
    assert {note.text for note in b.list()} == {"only in b", "for all"}
    assert b.search("only").hits[0].note.text == "only in b"
    for target in (secret.id, "only in a"):
        with pytest.raises(NoSuchNoteError) as error:
            b.get(target)
        assert secret.scope not in str(error.value)
    assert {note.text for note in b.list("all")} == {"only in a", "only in b", "for all"}
    check_all(a)


def check_all(store: Store) -> None:
    """Check chain and replay over every scope on disk."""
    assert store.verify().ok
    assert replayed(store) == {(note.scope, note.id, note.pinned) for note in store.list("all")}


@pytest.mark.parametrize(
    "name", ["../x", "%2e%2e%2f", "/etc", "workspace/../global", "workspace/ABC", "a\0b", "all", ""]
)
def test_a_scope_name_from_outside_cannot_lead_out(place: Place, name: str) -> None:
    """Only global, workspace and workspace ids are scopes to write to."""
    store = place()
    if not name:
        assert store.remember("x", scope=name).scope == "global"
        return
    with pytest.raises(ScopeError):
        store.remember("x", scope=name)


def test_a_directory_in_the_place_of_the_file_is_told(place: Place) -> None:
    """The other scope still works, the write says what is wrong, doctor lists it."""
    store = place()
    path = store.root / "global" / "MEMORY.md"
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    with pytest.raises((FileStateError, StoreAccessError)):
        store.remember("x")
    assert store.list() == []
    assert [finding.where for finding in store.findings() if finding.kind == "file"] == [str(path)]
