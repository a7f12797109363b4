"""The bench: what a holder of the lock works with, and how journal, file and index are brought up in this order."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import StoreAccessError
from memory_magic.store import bench as bench_module
from memory_magic.store import files
from memory_magic.store.bench import Bench, FileState, document_of, resolved, rows_of, still_ours
from memory_magic.store.index import Index
from memory_magic.store.journal import Journal
from memory_magic.store.journal_format import Draft
from memory_magic.store.lock import StoreLock
from memory_magic.store.note import Document
from memory_magic.store.records import Scope
from memory_magic.store.replay import Known
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

Patch = pytest.MonkeyPatch
KEY = "sk-" + "proj-" + "Ab1Cd2Ef3Gh4" * 4


@pytest.fixture
def bench(root: Path) -> Bench:
    """Return a bench over an empty root."""
    root.mkdir(mode=0o700)
    return Bench(Index(root / "index.sqlite3"), Journal(root / "JOURNAL.md"), StoreLock(root))


def draft(text: str) -> Draft:
    """Return a draft."""
    return Draft("remember", {"scope": "global", "id": text * 26, "after": text})


def test_records_are_numbered_written_and_only_then_told(bench: Bench) -> None:
    """The journal has them first; the index takes them in with the next thing it is told, in one transaction."""
    first = bench.record([draft("a"), draft("b")])
    second = bench.record([draft("c")])
    assert [record.n for record in [*first, *second]] == [1, 2, 3]
    assert bench.record([]) == []
    assert bench.tail == bench.journal.tail()
    assert bench.index.cursor().n == 0
    bench.tell(lambda _: None)
    assert bench.index.cursor().n == 3
    assert bench.index.offset_of(2) == first[1].offset
    assert bench.pending == []
    assert list(bench.journal.records())[1].fields["after"] == "b"


def test_an_index_that_fails_is_deleted_and_the_reply_says_so(bench: Bench, monkeypatch: Patch) -> None:
    """The change is in journal and file: the index is thrown away, not the change."""
    bench.record([draft("a")])

    def fail(_: Index) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    bench.tell(fail)
    assert bench.notices == [
        "the change is kept; the index could not follow (database or disk is full) and is built anew"
    ]
    assert bench.index.cursor().n == 0
    assert bench.pending == []
    with monkeypatch.context() as patch:
        patch.setattr(files, "remove", refuse)
        bench.tell(fail)
    assert len(bench.notices) == 2


def refuse(*_: object) -> None:
    """Refuse like a disk."""
    raise StoreAccessError("Read-only file system")


def test_a_fault_that_is_not_the_indexes_is_not_hidden(bench: Bench) -> None:
    """Only SQLite's errors are lived with."""

    def fail(_: Index) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bench.tell(fail)


def state(text: str, known: dict[str, Known] | None = None) -> tuple[FileState, list[str]]:
    """Return a state of a file, and a list that tells when its known notes are loaded."""
    loads: list[str] = []

    def load() -> dict[str, Known]:
        loads.append("load")
        return known or {}

    scope = Scope("global", Path("/nowhere"))
    return FileState(scope, "/nowhere/MEMORY.md", files.Content(text.encode(), files.Signature()), load), loads


def test_nothing_is_loaded_or_parsed_before_it_is_asked_for(monkeypatch: Patch) -> None:
    """An append needs neither the known notes nor the document."""
    parsed: list[int] = []

    def parse(scope: Scope, path: str, content: files.Content) -> Document:
        parsed.append(1)
        return document_of(scope, path, content)

    monkeypatch.setattr(bench_module, "document_of", parse)
    one, loads = state("- a\n- b\n")
    assert (loads, parsed) == ([], [])
    assert len(one.document.notes) == 2
    assert one.known == {}
    assert (one.known, list(one.lines.values()), loads, parsed) == ({}, [1, 2], ["load"], [1])


def test_known_notes_come_in_the_order_of_the_file() -> None:
    """Those that the file lacks come last, whatever the journal's order."""
    document = Document("global", "- a\n- b\n- c\n")
    ids = {note.text: note.id for note in document.notes.values()}
    known = {one: Known(one, "", False, 1, "", "") for one in ("gone", ids["c"], ids["a"])}  # noqa: FBT003
    one, _ = state("- a\n- b\n- c\n", known)
    assert one.order == [ids["a"], ids["c"], "gone"]
    del known["gone"]
    assert one.order == [ids["a"], ids["c"]]


def test_an_absent_file_is_an_empty_document() -> None:
    """No data and no notes are the same here."""
    scope = Scope("global", Path("/nowhere"))
    assert document_of(scope, "x", files.Content(None, files.Signature())).text == ""


def test_secrets_typed_by_hand_do_not_reach_the_index() -> None:
    """The row has the id of the file's text and the redacted text; a file without secrets is looked at once."""
    hot = Document("global", f"- key {KEY}\n- plain\n")
    rows = rows_of(hot, {})
    assert [row.text for row in rows] == ["key [REDACTED_SECRET]", "plain"]
    assert [row.id for row in rows] == list(hot.notes)
    assert [row.n for row in rows] == [0, 0]


def test_a_linked_file_is_worked_on_where_it_really_is(tmp_path: Path) -> None:
    """The link is followed, over several links and through folders; a file that is not there yet has its own name."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "real.md").write_text("")
    (tmp_path / "one").symlink_to("a/real.md")
    (tmp_path / "two").symlink_to("one")
    assert resolved(tmp_path / "two") == str((tmp_path / "a" / "real.md").resolve())
    assert resolved(tmp_path / "none") == str(tmp_path.resolve() / "none")


def test_a_path_that_becomes_a_link_is_followed_from_then_on(tmp_path: Path) -> None:
    """What was a plain path once is looked at again where its folder, or the file, is replaced by a link."""
    path = tmp_path.resolve() / "folder" / "notes.md"
    path.parent.mkdir()
    path.write_text("")
    assert [resolved(path) for _ in range(2)] == [str(path)] * 2
    path.rename(path.parent / "real.md")
    path.symlink_to("real.md")
    assert resolved(path) == str(path.parent / "real.md")
    path.unlink()
    assert resolved(path) == str(path)
    path.parent.rename(tmp_path / "kept")
    (tmp_path / "other").mkdir()
    path.parent.symlink_to("other")
    assert resolved(path) == str(tmp_path.resolve() / "other" / "notes.md")
    path.parent.unlink()
    assert resolved(path) == str(path)


def _longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize("touch", [_longer, _replaced, Path.unlink])
def test_what_somebody_touched_since_is_not_taken_for_ours(tmp_path: Path, touch: Callable[[Path], object]) -> None:
    """Only the very file that we put there, unchanged, gets its signature into the index."""
    path = tmp_path / "a"
    written = files.create(str(path), b"ours")
    path.rename(tmp_path / "b")
    assert still_ours(str(tmp_path / "b"), written).size == 4
    touch(tmp_path / "b")
    assert still_ours(str(tmp_path / "b"), written) == files.Signature()


@pytest.mark.parametrize("action", ["append", "change"])
def test_a_disk_that_is_full_for_the_record_takes_the_intent_back(root: Path, monkeypatch: Patch, action: str) -> None:
    """The temp file was written, the record was not: journal and file are as before, and no temp is left."""
    store = Store(root)
    store.remember_many(["one", "two"])
    journal = root / "JOURNAL.md"
    before = {path: path.read_bytes() for path in (journal, root / "global" / "MEMORY.md")}
    real = os.fsync

    def fsync(descriptor: int) -> None:
        if os.fstat(descriptor).st_ino == journal.stat().st_ino:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises(StoreAccessError, match="No space left"):
            store.remember("three") if action == "append" else store.retire("two", evidence="x")
    assert {path: path.read_bytes() for path in before} == before
    assert not list((root / "global").glob("*.new"))
    assert store.remember("three").n == 3
    assert store.verify().ok


def test_a_journal_is_not_touched_for_nothing(bench: Bench) -> None:
    """No drafts, no file."""
    assert bench.journal.append([]) == []
    assert not bench.journal.path.exists()


def test_a_reply_tells_what_an_edit_took_out(root: Path) -> None:
    """The next write says how many notes an editor's save dropped, and which record has them."""
    store = Store(root)
    store.remember_many(["one", "two", "three", "four", "five"])
    path = root / "global" / "MEMORY.md"
    path.write_text("- one\n- two\n- three\n- four\n", encoding="utf-8")
    assert store.remember("six").notices == (f"an edit of {path} took out 1 note: see journal record 6",)
    path.write_text("- one\n- two\n- six\n", encoding="utf-8")
    assert store.remember("seven").notices == (f"an edit of {path} took out 2 notes: see journal record 8",)
    assert store.remember("eight").notices == ()
