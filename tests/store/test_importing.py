"""Import: nothing of the notes is lost, nothing is believed that a file says of itself, and conflicts are settled."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_magic.errors import FileStateError, NoteError, ReadOnlyStoreError, ScopeError, UsageError
from memory_magic.store import door, files, placing
from memory_magic.store import journal_format as form
from memory_magic.store.access import Access
from memory_magic.store.archive import Archive
from memory_magic.store.export import encode_line, record_value
from memory_magic.store.import_files import ImportFileError, is_faithful
from memory_magic.store.importing import Imported, import_from
from memory_magic.store.journal import Journal
from memory_magic.store.journal_format import Draft
from memory_magic.store.purge import run as purge_run
from memory_magic.store.purge.plan import Request
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

GitRepo = Callable[..., Path]
Patch = pytest.MonkeyPatch
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
HEX = "ab" * 32
HEAD = encode_line({"format": 1, "kind": "memory-magic"})


class CrashError(BaseException):
    """Stands for a process that ends at this very point."""


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree in every scope."""
    there = {(note.scope, note.id, note.pinned) for note in store.list("all")}
    assert store.verify().ok
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == there


def note(text: str, **more: Any) -> str:
    """Return an export's line for a note."""
    return encode_line({"scope": "global", "text": text, **more})


def texts(store: Store) -> set[str]:
    """Return the texts that stand."""
    return {one.text for one in store.list("all")}


@pytest.fixture
def bring(root: Path, tmp_path: Path) -> Callable[..., tuple[Store, Imported]]:
    """Import lines, written into a file, into the store of the test."""

    def bringer(*lines: str, **options: Any) -> tuple[Store, Imported]:
        source = tmp_path / "in.jsonl"
        source.write_text(HEAD + "".join(lines), encoding="utf-8")
        store = Store(root)
        return store, Archive(store).import_from(source, **options)

    return bringer


Bring = Callable[..., tuple[Store, Imported]]


# -- round trips ----------------------------------------------------------------------------------------------------


@pytest.fixture
def full(root: Path, git_repo: GitRepo) -> Store:
    """Give a store with a past: sections, pins, prose, two scopes, revised, retired, restored, promoted, undone."""
    store = Store(root, git_repo("lab"), by="ana")
    file = store.scopes[0].memory_file
    file.parent.mkdir(parents=True)
    file.write_text(
        "Intro in prose.\n\n# A\n\n## Work\n\n- one\n  - child\n\n```\nif x:\n    y()\n```\n\n    indented\n\n"
        "## Pinned\n\n- pinned\n\n## Home\n\n- two\n\n## Work\n\n- three\n",
        encoding="utf-8",
    )
    store.observe()
    archive = Archive(store)
    store.remember_many(["in the lab", "moves", "goes"], scope="workspace", evidence="of\nseveral lines")
    store.revise("two", "zwei", evidence="x", by="bo")
    store.retire("goes", evidence="x")
    archive.promote("moves", to="global")
    store.pin("zwei")
    store.retire("three", evidence="x")
    archive.restore("three")
    archive.undo(store.journal()[-1].n)
    archive.approve("zwei")
    return store


@pytest.mark.parametrize("history", [False, True])
def test_export_import_export_is_byte_equal(full: Store, tmp_path: Path, *, history: bool) -> None:
    """Into a fresh root goes everything that an export holds: the next export has the same bytes."""
    one, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    Archive(full).export(one, history=history)
    fresh = Store(tmp_path / "fresh", full.cwd)
    told = Archive(fresh).import_from(one, history=history)
    assert (told.refused, told.notices) == ([], [])
    Archive(fresh).export(other, history=history)
    assert other.read_bytes() == one.read_bytes()
    check(fresh)
    assert fresh.observe() == []
    if history:
        assert [record.chain for record in fresh.journal()] == [record.chain for record in full.journal()]
        assert [(note.text, note.n) for note in fresh.list()] == [(note.text, note.n) for note in full.list()]
        assert Archive(fresh).history("two").records[-1].fields == Archive(full).history("two").records[-1].fields
    again = Archive(Store(tmp_path / "fresh", full.cwd)).import_from(one)
    assert (again.added, again.same) == (0, told.added)


BLOCKS = (
    *("- a", "- b\n  - child", "* star", "- c\n\n  second paragraph", "- - nested", "- ` `", "- <b>x</b>", "- a\tb  c"),
    *("A paragraph\nthat wraps.", "> quoted", "| a | b |\n|---|---|", "```\nif x:\n    y()\n```", "    indented"),
    *("# Title", "## Work", "## Pinned", "### Sub", "# Pinned", "## ", "## C #", "- <private>cut</private> kept"),
    *(
        "---",
        "<!-- remark -->",
        "* - x",
        "- ---",
        "- caf\u00e9 caf\u0065\u0301",
        "- bell \u0007",
        "- a\u2028b",
        "1. one",
    ),
)


@given(st.lists(st.sampled_from(BLOCKS), max_size=10), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_any_file_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[str], newline: str
) -> None:
    """Whatever a person has in a memory file: the second export has the bytes of the first."""
    place = tmp_path_factory.mktemp("trip")
    store = Store(place / "one")
    file = store.scopes[0].memory_file
    file.parent.mkdir(parents=True)
    file.write_bytes("\n\n".join([*blocks, ""]).replace("\n", newline).encode())
    for history in (False, True):
        source, target = place / f"{history}1", place / f"{history}2"
        Archive(store).export(source, history=history)
        other = Store(place / f"other {history}")
        Archive(other).import_from(source, history=history)
        check(other)
        Archive(other).export(target, history=history)
        hot = any("\u0007" in block or "private" in block for block in blocks)
        # what the gate takes out of a text typed by hand has another id afterwards, which the journal then says
        assert target.read_bytes() == source.read_bytes() or (history and hot)


def test_ten_thousand_notes_are_one_change(root: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    """One temp, one append to the journal, one exchange, and progress on the way."""
    source = tmp_path / "in.jsonl"
    lines = [note(f"note {n} of many", section=[f"S{n % 7}"], pinned=n % 500 == 0) for n in range(3000)]
    source.write_text(HEAD + "".join(lines), encoding="utf-8")
    store = Store(root)
    seen: dict[str, int] = {"temp": 0, "append": 0, "swap": 0}
    real_temp, real_write, real_swap = door.write_temp, Journal.write, door.swap

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any, **more: Any) -> Any:
            seen[name] += 1
            return real(*words, **more)

        return call

    monkeypatch.setattr(door, "write_temp", counted("temp", real_temp))
    monkeypatch.setattr(Journal, "write", counted("append", real_write))
    monkeypatch.setattr(door, "swap", counted("swap", real_swap))
    steps: list[tuple[int, int]] = []
    told = Archive(store).import_from(source, progress=lambda done, total: steps.append((done, total)))
    assert (told.added, seen) == (3000, {"temp": 1, "append": 1, "swap": 1})
    assert steps[0] == (100, 3000)
    assert steps[-1] == (3000, 3000)
    check(store)


# -- what a record says ---------------------------------------------------------------------------------------------


def test_an_import_says_who_from_where_and_whose_it_was(bring: Bring) -> None:
    """The record's author is whoever imports; the note's first date and author are fields of their own."""
    line = note("one", created="2020-01-02T03:04:05.000001Z", by="bo", section=["A", "B"], pinned=True)
    store, told = bring(line, by="ana")
    (record,) = store.journal()
    assert (record.action, record.fields["by"], record.fields["evidence"]) == ("import", "ana", "import of in.jsonl")
    assert (record.fields["created"], record.fields["author"]) == ("2020-01-02T03:04:05.000001Z", "bo")
    one = store.get("one")
    assert (one.created, one.by, one.pinned) == ("2020-01-02T03:04:05.000001Z", "bo", True)
    assert (told.added, told.scopes) == (1, ["global"])
    store.reindex()
    assert store.get("one") == one


def test_ids_and_dates_are_not_believed(bring: Bring) -> None:
    """The id follows from scope and text; a date that is none is left out."""
    store, _ = bring(note("one", id="0" * 26, created="last week", by="x\ny"))
    one = store.get("one")
    assert one.id != "0" * 26
    assert one.created == store.journal()[0].time
    assert one.by == "x y"


def test_secrets_and_private_spans_are_taken_out(bring: Bring) -> None:
    """An import passes the gate like every write; kinds and counts are reported."""
    store, told = bring(
        note(f"the token is {SECRET}"), note("<private>all of it</private>"), note("a<private>b</private>c")
    )
    assert sum(told.redacted.values()) == 1
    assert told.refused == ["line 3: nothing is left of this note once private spans and memory blocks are taken out"]
    assert SECRET not in "".join(path.read_text() for path in store.root.rglob("*.md"))
    assert "ac" in texts(store)


def test_texts_that_cannot_be_notes_are_counted_with_their_line(bring: Bring) -> None:
    """Empty and over-long texts are refused one by one; the others come."""
    store, told = bring(note(" "), note("x" * 70_000), note("fine"))
    assert [reason.partition(":")[0] for reason in told.refused] == ["line 2", "line 3"]
    assert texts(store) == {"fine"}


# -- conflicts ------------------------------------------------------------------------------------------------------


@pytest.fixture
def changed(root: Path) -> Store:
    """Give a store where `old` was replaced by `new`, `gone` was retired, `both` was replaced by `other`."""
    store = Store(root, by="ana")
    store.remember_many(["old", "gone", "both", "same"])
    store.revise("old", "new", evidence="x")
    store.retire("gone", evidence="x")
    store.revise("both", "other", evidence="x")
    return store


INCOMING = ("old", "gone", "both", "other", "same", "fresh")


@pytest.mark.parametrize(
    ("on_conflict", "expected", "counts"),
    [
        ("skip", {"new", "other", "same", "fresh"}, (1, 2, 3, 0)),
        ("overwrite", {"old", "gone", "both", "other", "same", "fresh"}, (2, 2, 0, 2)),
        ("new", {"old", "new", "gone", "both", "other", "same", "fresh"}, (4, 2, 0, 0)),
    ],
)
def test_conflicts_are_settled_by_lineage(
    changed: Store, tmp_path: Path, on_conflict: str, expected: set[str], counts: tuple[int, ...]
) -> None:
    """A text that was replaced or retired here: left, put back in place of what replaced it, or added beside."""
    source = tmp_path / "in.jsonl"
    source.write_text(HEAD + "".join(note(text) for text in INCOMING), encoding="utf-8")
    told = Archive(changed).import_from(source, on_conflict=on_conflict)
    assert texts(changed) == expected
    assert (told.added, told.same, told.skipped, told.overwritten) == counts
    check(changed)
    again = Archive(changed).import_from(source, on_conflict=on_conflict)
    assert (again.added, again.overwritten) == (0, 0)
    assert texts(changed) == expected


def test_overwriting_is_a_revise_or_a_restore_that_can_be_undone(changed: Store, tmp_path: Path) -> None:
    """The records are those of a person's own changes, with the file as evidence."""
    source = tmp_path / "in.jsonl"
    source.write_text(HEAD + note("old") + note("gone"), encoding="utf-8")
    Archive(changed).import_from(source, on_conflict="overwrite")
    revise, restore = changed.journal()[-2:]
    assert [record.action for record in (revise, restore)] == ["revise", "restore"]
    assert {record.fields["evidence"] for record in (revise, restore)} == {"import of in.jsonl"}
    Archive(changed).undo(restore.n)
    Archive(changed).undo(revise.n)
    assert texts(changed) == {"new", "other", "same"}
    check(changed)


def test_a_pin_is_taken_over_only_when_overwriting(root: Path, bring: Bring) -> None:
    """A note that stands here stays as it is, unless the incoming one is to win."""
    Store(root).remember("one")
    store, _ = bring(note("one", pinned=True))
    assert not store.get("one").pinned
    store, told = bring(note("one", pinned=True), on_conflict="overwrite")
    assert (store.get("one").pinned, told.same) == (True, 1)
    check(store)


def test_tombstoned_texts_stay_out_whatever_the_flag(root: Path, tmp_path: Path) -> None:
    """What was purged here does not come back by an old export; it is counted."""
    source = tmp_path / "in.jsonl"
    source.write_text(HEAD + note("purged") + note("fine"), encoding="utf-8")
    for on_conflict in ("skip", "overwrite", "new"):
        store = Store(root)
        told = import_from(Access(store), source, on_conflict=on_conflict, forbidden=lambda text: text == "purged")
        assert (told.tombstoned, texts(store)) == (1, {"fine"})


def test_an_export_made_before_a_purge_does_not_bring_the_text_back(full: Store, tmp_path: Path) -> None:
    """The purged text stays out and is counted; the rest of the file comes; tombstones travel with a history."""
    source, later = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    Archive(full).export(source)
    one = full.get("in the lab")
    purge_run.purge(Access(full), Request(one=one.id))
    for on_conflict in ("skip", "overwrite", "new"):
        told = Archive(full).import_from(source, on_conflict=on_conflict)
        assert told.tombstoned == 1
        assert "in the lab" not in texts(full)
    Archive(full).export(later, history=True)
    fresh = Store(tmp_path / "fresh", full.cwd)
    Archive(fresh).import_from(later, history=True)
    assert Archive(fresh).export(history=True)[1] == later.read_text(encoding="utf-8")
    assert Archive(fresh).import_from(source).tombstoned == 1
    check(fresh)


# -- sources --------------------------------------------------------------------------------------------------------


def test_a_codewhale_store_is_imported_as_it_is(root: Path, tmp_path: Path) -> None:
    """Its folder, or the one above it: global and workspace notes, byte for byte; the source is left as it was."""
    source = tmp_path / "codewhale"
    for scope, text in (("global", "\n- one\n\n- two\n"), (f"workspace/{HEX}", "\n- three\n")):
        (source / "memory" / scope).mkdir(parents=True)
        (source / "memory" / scope / "MEMORY.md").write_text(text, encoding="utf-8")
    (source / "memory" / "JOURNAL.md").write_text("\n- **retire** `1796064039` /x/global/MEMORY.md\n", encoding="utf-8")
    (source / "memory" / "workspace" / "not hex").mkdir()
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    for place in (source, source / "memory"):
        store = Store(root)
        told = Archive(store).import_from(place)
        assert {(one.scope, one.text) for one in store.list("all")} == {
            *(("global", "one"), ("global", "two"), (f"workspace/{HEX}", "three")),
        }
        assert "JOURNAL.md was not taken over" in told.notices[0]
    assert (told.added, told.same) == (0, 3)
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before
    check(store)


def test_a_bare_memory_file_is_imported_with_its_sections(root: Path, git_repo: GitRepo, tmp_path: Path) -> None:
    """Pins, headings and prose come along, into the scope that is named; CRLF and a byte order mark do not matter."""
    source = tmp_path / "MEMORY (conflicted copy).md"
    source.write_bytes("\ufeff# T\r\n\r\n- one\r\n\r\nProse.\r\n\r\n## Pinned\r\n\r\n- two\r\n".encode())
    store = Store(root, git_repo("lab"))
    store.remember("one", scope="workspace")
    told = Archive(store).import_from(source, scope="workspace")
    assert (told.added, told.same) == (2, 1)
    assert {one.text: (one.pinned, one.kind) for one in store.list()} == {
        "one": (False, "item"),
        "Prose.": (False, "prose"),
        "two": (True, "item"),
    }
    check(store)


def test_another_root_of_ours_can_be_imported(full: Store, tmp_path: Path) -> None:
    """Its folder is read like any store; labels come along; itself is refused."""
    other = Store(tmp_path / "other")
    told = Archive(other).import_from(full.root)
    assert texts(other) == texts(full)
    assert told.added == len(full.list("all"))
    assert full.workspace is not None
    assert "lab" in (other.root / full.workspace.id / "scope.toml").read_text()
    with pytest.raises(UsageError, match="very store"):
        Archive(full).import_from(full.root)


# -- wrong files ----------------------------------------------------------------------------------------------------

BAD = {
    "no JSON": "{not json}\n",
    "no JSON object": "[1]\n",
    "neither scope nor note": '{"x":1}\n',
    "text has to be": '{"scope":"global","text":1}\n',
    "kind has to be": note("x", kind="table"),
    "pinned has to be": note("x", pinned="yes"),
    "section has to be": note("x", section="A"),
    "no scope": note("x", scope="../../etc"),
    "one workspace's id": note("x", scope="all"),
    "aliases has to be": encode_line({"scope": "global", "label": "", "aliases": [1]}),
    "n has to be": encode_line({"n": "1", "action": "remember"}),
    "fields has to be": encode_line({"n": 1, "action": "remember", "fields": {"a": 1}}),
    "no record": encode_line({"n": 1, "action": "remember", "time": "now", "fields": {}}),
    "no tombstones": encode_line({"tombstones": ["a\nb"]}),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_faulty_line_is_named_and_nothing_is_taken(root: Path, bring: Bring, fault: str) -> None:
    """All of a file is read before anything of it is kept."""
    with pytest.raises(ImportFileError, match=rf"{fault}.*in\.jsonl:3"):
        bring(note("fine"), BAD[fault])
    assert not (root / "global").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"kind":"other"}\n', "no export of memory-magic"),
        (b'{"format":2,"kind":"memory-magic"}\n', "Update memory-magic"),
        (b"<!doctype html><html></html>", "web page"),
        (b'{"format":1,"kind":"memory-magic"}\n{"text":"\xff"}\n', "no JSON"),
        (b'{"format":1,"kind":"memory-magic"}\n' + b"[" * 100_000 + b"\n", "no JSON"),
    ],
)
def test_what_is_no_export_is_told(root: Path, tmp_path: Path, data: bytes, message: str) -> None:
    """The error says what it is and what to do."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(data)
    with pytest.raises(ImportFileError, match=message):
        Archive(Store(root)).import_from(source)


def test_wrong_use_is_told(root: Path, tmp_path: Path, bring: Bring) -> None:
    """A missing file, a folder without a store, a binary, an unknown flag and a scope that the file decides."""
    archive = Archive(Store(root))
    with pytest.raises(ImportFileError, match="no such file"):
        archive.import_from(tmp_path / "none.jsonl")
    with pytest.raises(ImportFileError, match="holds no store"):
        archive.import_from(tmp_path)
    (tmp_path / "x.md").write_bytes(b"- a\0b\n")
    with pytest.raises(FileStateError, match="NUL"):
        archive.import_from(tmp_path / "x.md")
    with pytest.raises(UsageError, match="skip, overwrite, new"):
        bring(note("x"), on_conflict="merge")
    with pytest.raises(UsageError, match="Leave out --scope"):
        bring(encode_line({"scope": "global", "label": ""}), note("x"), scope="global")
    with pytest.raises(ScopeError):
        bring(note("x"), scope="workspace")
    with pytest.raises(ReadOnlyStoreError):
        Archive(Store(root, read_only=True)).import_from(tmp_path / "in.jsonl")


def test_a_hostile_text_stays_one_note(bring: Bring) -> None:
    """Headings, fences, comments, records and pins inside a text add no structure to file or journal."""
    evil = "\n## Pinned\n\n- pinned by force\n\n```\n\n<!--\n- **purge** `2026-11-30T18:35:00.123456Z`\n  - n: 1"
    store, _ = bring(note(f"evil{evil}", kind="prose"), note(f"worse{evil}", section=["A\n## Pinned"]), note("after"))
    assert len(store.list()) == 3
    assert not any(one.pinned for one in store.list())
    check(store)


# -- crashes and editors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "point", ["door.os.rename", "bench.Bench.write", "door.swap", "door.keep_old", "bench.Bench.tell"]
)
def test_a_crash_in_an_import_is_settled_by_the_next_holder(
    changed: Store, tmp_path: Path, monkeypatch: Patch, point: str
) -> None:
    """All of a scope's notes come or none; with one look at the file for the whole batch."""
    import importlib

    source = tmp_path / "in.jsonl"
    lines = [note(f"note {n}", section=["Work"], kind="prose" if n % 3 == 0 else "item") for n in range(300)]
    source.write_text(HEAD + note("old") + note("gone") + "".join(lines), encoding="utf-8")
    module, _, name = point.partition(".")
    owner, _, method = name.rpartition(".")
    holder: object = importlib.import_module(f"memory_magic.store.{module}")
    holder = getattr(holder, owner) if owner else holder

    def crash(*_: object, **__: object) -> None:
        raise CrashError

    before = texts(changed)
    with monkeypatch.context() as patch:
        patch.setattr(holder, method, crash)
        with pytest.raises(CrashError):
            Archive(changed).import_from(source, on_conflict="overwrite")
    changed.close()
    after = Store(changed.root)
    recorded = any(record.action == "import" for record in after.journal())
    after.observe()
    wanted = {"old", "gone", "other", "same", *(f"note {n}" for n in range(300))}
    assert texts(after) == (wanted if recorded else before)
    check(after)
    if recorded:
        assert after.get("note 0").kind == "prose"
        assert after.get("note 7").section[-1:] == ("Work",)


def test_a_save_during_an_import_is_kept(changed: Store, tmp_path: Path, monkeypatch: Patch) -> None:
    """An editor that saves between looking and exchange loses nothing, and the import arrives."""
    source = tmp_path / "in.jsonl"
    source.write_text(HEAD + note("one", section=["S"]) + note("gone"), encoding="utf-8")
    file = changed.scopes[0].memory_file
    real, left = door.swap, [1]

    def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
        if left[0]:
            left[0] -= 1
            file.write_text(file.read_text() + "- by hand\n", encoding="utf-8")
        return real(temporary, target, expect_absent=expect_absent)

    monkeypatch.setattr(door, "swap", swap)
    Archive(changed).import_from(source, on_conflict="overwrite")
    assert texts(changed) == {"new", "other", "same", "by hand", "one", "gone"}
    check(changed)


# -- history --------------------------------------------------------------------------------------------------------


def test_a_history_goes_into_an_empty_root_only(full: Store, tmp_path: Path) -> None:
    """A store with a journal, with tombstones or with notes of its own refuses, and is left as it is."""
    source = tmp_path / "in.jsonl"
    Archive(full).export(source, history=True)
    with pytest.raises(UsageError, match="empty store"):
        Archive(full).import_from(source, history=True)
    for name, text in (("tombstones.md", "salt: 00\n"), ("global/MEMORY.md", "- mine\n"), ("JOURNAL.md", "- **x\n")):
        root = tmp_path / name.replace("/", "_")
        (root / "global").mkdir(parents=True)
        (root / name).write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="empty store"):
            Archive(Store(root)).import_from(source, history=True)
        assert (root / name).read_text() == text


def test_without_the_flag_a_history_is_left_out_and_said(full: Store, tmp_path: Path) -> None:
    """Notes only, and the reply says what would take the journal over; a file without one has none to take."""
    source = tmp_path / "in.jsonl"
    Archive(full).export(source, history=True)
    other = Store(tmp_path / "other")
    told = Archive(other).import_from(source)
    assert any("--history" in notice for notice in told.notices)
    assert {record.action for record in other.journal()} == {"import"}
    Archive(full).export(source)
    with pytest.raises(ImportFileError, match="holds no history"):
        Archive(Store(tmp_path / "third")).import_from(source, history=True)


@pytest.mark.parametrize("point", ["door.write_temp", "door.swap", "importing.files.replace"])
@pytest.mark.parametrize("nth", [1, 2])
def test_an_interrupted_history_can_be_imported_again(
    full: Store, tmp_path: Path, monkeypatch: Patch, point: str, nth: int
) -> None:
    """The journal comes last, so whatever an import left behind is taken for its own by the next attempt."""
    import importlib

    source = tmp_path / "in.jsonl"
    (full.root / "tombstones.md").write_text(f"salt: {'0' * 32}\n", encoding="utf-8")
    Archive(full).export(source, history=True)
    module, _, name = point.partition(".")
    owner, _, method = name.rpartition(".")
    holder: object = importlib.import_module(f"memory_magic.store.{module}")
    holder = getattr(holder, owner) if owner else holder
    real, calls = getattr(holder, method), [0]

    def crash(*words: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == nth:
            raise CrashError
        return real(*words, **more)

    with monkeypatch.context() as patch:
        patch.setattr(holder, method, crash)
        with pytest.raises(CrashError):
            Archive(Store(tmp_path / "fresh", full.cwd)).import_from(source, history=True)
    fresh = Store(tmp_path / "fresh", full.cwd)
    Archive(fresh).import_from(source, history=True)
    check(fresh)
    assert Archive(fresh).export(history=True)[1] == source.read_text(encoding="utf-8")


def test_codewhales_records_come_along_with_a_history(root: Path, tmp_path: Path) -> None:
    """Records without a chain are written back in their own form, their path reduced to the scope."""
    store = Store(root)
    root.mkdir(mode=0o700)
    home = f"/home/a/.codewhale/memory/workspace/{HEX}/MEMORY.md"
    foreign = f"\n- **revise** `1796064039` {home}\n  - before: a\n  - after: b\n  - evidence: c\n"
    (root / "JOURNAL.md").write_text(foreign, encoding="utf-8")
    store.remember("one")
    source, target = tmp_path / "1", tmp_path / "2"
    Archive(store).export(source, history=True)
    fresh = Store(tmp_path / "fresh")
    Archive(fresh).import_from(source, history=True)
    assert [(one.n, one.action, one.fields) for one in fresh.journal()] == [
        (one.n, one.action, one.fields) for one in store.journal()
    ]
    Archive(fresh).export(target, history=True)
    assert target.read_bytes() == source.read_bytes()
    assert "/home/a" not in source.read_text()


def test_a_history_that_does_not_hold_together_is_said(full: Store, tmp_path: Path) -> None:
    """A changed record is taken over as it is and named: verify would say the same of the original."""
    source = tmp_path / "in.jsonl"
    Archive(full).export(source, history=True)
    source.write_text(source.read_text().replace('"by":"bo"', '"by":"eve"'), encoding="utf-8")
    told = Archive(Store(tmp_path / "fresh", full.cwd)).import_from(source, history=True)
    assert any("was changed after it was written" in notice for notice in told.notices)


def test_a_record_that_would_forge_another_is_refused() -> None:
    """Only what reads back as exactly itself is written into a journal."""
    good = form.finish(Draft("remember", {"scope": "global", "after": "x"}), 1, "2026-11-30T18:35:00.0Z", form.GENESIS)
    assert is_faithful(good)

    def with_fields(**fields: str) -> JournalRecord:
        return JournalRecord(1, "remember", good.time, good.fields | fields, good.salt, good.prev, good.chain)

    assert not is_faithful(with_fields(scope="global\n- **purge** `x`"))
    assert not is_faithful(with_fields(**{"by\n  - x": "y"}))
    assert not is_faithful(with_fields(by="trailing  "))
    assert not is_faithful(JournalRecord(0, "revise", "2026-11-30T18:35:00Z", {"scope": "global\nx"}, None, "", ""))
    assert not is_faithful(JournalRecord(0, "revise", "nonsense", {"scope": "global"}, None, "", ""))
    assert json.loads(encode_line(record_value(good)))["fields"] == good.fields


def test_what_cannot_be_written_as_a_note_is_left_out_of_a_history_and_said(
    full: Store, tmp_path: Path, monkeypatch: Patch
) -> None:
    """One text that no list item can hold does not stop the rest."""
    source = tmp_path / "in.jsonl"
    Archive(full).export(source, history=True)
    real = placing.fitted

    def fitted(item: placing.Item) -> placing.Item:
        if item.text == "zwei":
            raise NoteError("cannot be written")
        return real(item)

    monkeypatch.setattr("memory_magic.store.importing.fitted", fitted)
    fresh = Store(tmp_path / "fresh", full.cwd)
    told = Archive(fresh).import_from(source, history=True)
    assert len(told.refused) == 1
    assert any("journalled as changes" in notice for notice in told.notices)
    check(fresh)
    monkeypatch.undo()
    plain = Store(tmp_path / "plain", full.cwd)
    monkeypatch.setattr("memory_magic.store.importing.fitted", fitted)
    assert len(Archive(plain).import_from(source).refused) == 1


def test_the_store_is_not_touched_where_the_disk_refuses(bring: Bring, root: Path, monkeypatch: Patch) -> None:
    """A full disk leaves no half import."""
    Store(root).remember("one")
    before = {path: path.read_bytes() for path in root.rglob("*.md")}

    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("memory_magic.store.journal.files.write_all", full_disk)
        with pytest.raises(OSError, match="No space"):
            bring(note("two"))
    assert {path: path.read_bytes() for path in root.rglob("*.md")} == before
    shutil.rmtree(root / "global")
    assert files.read(str(root / "global" / "MEMORY.md")).data is None


def test_a_codewhale_scope_comes_back_byte_for_byte(root: Path, git_repo: GitRepo, tmp_path: Path) -> None:
    """A scope that nobody has given a scope.toml goes out and in like any other, with and without history."""
    cwd = git_repo("lab")
    named = Store(tmp_path / "named", cwd).workspace
    assert named is not None
    (root / named.id).mkdir(parents=True)
    (root / named.id / "MEMORY.md").write_text("\n- Deploys on Fridays\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for history in (False, True):
        for place in (cwd, elsewhere):
            target = tmp_path / f"{history}-{place.name}"
            (root / named.id / "scope.toml").unlink(missing_ok=True)
            Archive(Store(root, place)).export(source := tmp_path / "in.jsonl", history=history)
            fresh = Store(target, place)
            Archive(fresh).import_from(source, history=history)
            assert Archive(fresh).export(history=history)[1] == source.read_text(encoding="utf-8"), (history, place)
