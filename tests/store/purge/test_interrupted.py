"""A purge that ends at any point is finished or dropped by the next holder of the lock, and never half done."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, cast

import pytest

from memory_magic.errors import ChangedMeanwhileError, FileStateError
from memory_magic.store import door
from memory_magic.store.access import Access
from memory_magic.store.ids import note_id
from memory_magic.store.purge import intent, run
from memory_magic.store.purge.plan import Request
from memory_magic.store.purge.search import Needles
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FRIDAYS = "Deploys run on Fridays at noon"
TUESDAYS = "Deploys run on Tuesdays at noon"
OTHER = "The cat is called Mimi"
PURGE = "memory_magic.store.purge."
BEFORE_RECORD = (
    "memory_magic.store.files.create",
    f"{PURGE}run.intent.write",
    "memory_magic.store.journal.Journal.write",
)
AFTER_RECORD = (
    f"{PURGE}recover.carry_out",
    f"{PURGE}recover.stones.save",
    f"{PURGE}recover.notes.take_out",
    f"{PURGE}notes.door.write_temp",
    "memory_magic.store.door.swap",
    "memory_magic.store.door.keep_old",
    f"{PURGE}recover.erase.rewrite",
    f"{PURGE}erase.files.sync_directory",
    f"{PURGE}recover.lines.carry_out",
    f"{PURGE}recover._sweep",
    f"{PURGE}recover._delete_caches",
    f"{PURGE}run.proof.search",
    f"{PURGE}run.intent.drop",
)


class CrashError(BaseException):
    """Stands for a process that ends at this very point."""


def check(store: Store) -> None:
    """Check that the chain is whole, that replay and files agree, and that nothing is pending."""
    assert store.observe() == []
    verdict = store.verify()
    assert verdict.ok, verdict.faults
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == {
        (note.scope, note.id, note.pinned) for note in store.list("all")
    }
    assert not intent.exists(store.root)
    assert [path.name for path in store.root.rglob("*.tmp")] == []


def traces(root: Path) -> list[str]:
    """Return the files that hold the purged texts or their ids."""
    needles = Needles((FRIDAYS, TUESDAYS), frozenset(note_id("global", text) for text in (FRIDAYS, TUESDAYS)))
    return [path.name for path in sorted(root.rglob("*")) if path.is_file() and needles.lines_in(path.read_bytes())]


def filled(root: Path) -> tuple[Store, str]:
    """Return a store that holds a note with a past, and the note's id."""
    store = Store(root)
    first = store.remember(FRIDAYS)
    store.remember(OTHER)
    stage = root / "global" / "stage_one"
    stage.mkdir()
    (stage / "2026-01-01T00-00-00-0123abcd.md").write_text(f'---\nsession: "x"\n---\n\n{FRIDAYS}\nrest\n')
    return store, store.revise(first.id, TUESDAYS, evidence=f"no more: {FRIDAYS}").id


def end(*_: object, **__: object) -> None:
    """End the process."""
    raise CrashError


@pytest.mark.parametrize("point", BEFORE_RECORD)
def test_crash_before_the_record_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    """Without its record a purge never began: all is there, and the plan is dropped."""
    store, one = filled(root)
    store.observe()
    with monkeypatch.context() as broken:
        if point.endswith("create"):  # the lock's holder file is made by the same call
            broken.setattr("memory_magic.store.purge.intent.write", end)
        else:
            broken.setattr(point, end)
        with pytest.raises(CrashError):
            run.purge(Access(store), Request(one=one))
    store.close()
    with Store(root) as again:
        check(again)
        assert {note.text for note in again.list()} == {TUESDAYS, OTHER}
        assert "purge" not in {record.action for record in again.journal()}
        assert not (root / "tombstones.md").exists()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", AFTER_RECORD)
def test_crash_after_the_record_is_finished(
    root: Path, monkeypatch: pytest.MonkeyPatch, point: str, *, after: bool
) -> None:
    """With its record a purge is repeated by the next holder of the lock, from wherever it ended."""
    store, one = filled(root)
    store.observe()
    module, _, name = point.rpartition(".")
    real = _found(module, name)

    def then_end(*args: object, **options: object) -> None:
        real(*args, **options)
        raise CrashError

    begun = []

    def mark_begun(*args: object, **options: object) -> object:
        begun.append(1)
        return write(*args, **options)

    write = _found("memory_magic.store.journal.Journal", "write")
    with monkeypatch.context() as broken:
        broken.setattr("memory_magic.store.journal.Journal.write", mark_begun)
        broken.setattr(point, lambda *a, **o: (then_end if after else end)(*a, **o) if begun else real(*a, **o))
        with pytest.raises(CrashError):
            run.purge(Access(store), Request(one=one))
    store.close()
    with Store(root) as again:
        check(again)
        assert [note.text for note in again.list()] == [OTHER]
        assert traces(root) == []
        assert [record.action for record in again.journal()].count("purge") == 1
        assert (root / "tombstones.md").exists()


def _found(module: str, name: str) -> Callable[..., object]:
    """Return what stands under a dotted name."""
    from importlib import import_module

    parts = module.split(".")
    for at in range(len(parts), 0, -1):
        try:
            place: object = import_module(".".join(parts[:at]))
        except ModuleNotFoundError:
            continue
        for part in parts[at:]:
            place = getattr(place, part)
        found = getattr(place, name)
        assert callable(found)
        return cast("Callable[..., object]", found)
    raise AssertionError(module)


def test_plan_that_cannot_be_read_is_a_finding(root: Path) -> None:
    """A torn plan stops nothing: doctor names it, and a new purge replaces it."""
    store, one = filled(root)
    (root / ".purge.json").write_text('{"format": 1, "n":')
    store.remember("goes on")
    assert [finding.kind for finding in store.findings() if finding.kind != "rights"] == ["purge"]
    assert run.purge(Access(store), Request(one=one)).is_clean
    assert not (root / ".purge.json").exists()


@pytest.mark.parametrize(
    "change",
    [{"format": 2}, {"n": "3"}, {"ids": []}, {"lines": [1]}, {"key": "x"}, {"live": {"a": 1}}, {"needles": ["x"]}],
)
def test_every_damage_of_a_plan_is_told(root: Path, change: dict[str, object]) -> None:
    """A plan of another shape is unreadable, never an exception of Python's."""
    root.mkdir()
    whole = intent.Intent(1, "00", {}, {}, [], "", "", [], [], [], [])
    intent.write(root, whole)
    assert intent.read(root) == whole
    values = json.loads((root / ".purge.json").read_text()) | change
    (root / ".purge.json").write_text(json.dumps(values))
    with pytest.raises(intent.UnreadableIntentError):
        intent.read(root)


def test_plan_holds_no_text(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies on disk during a purge names numbers and ids only."""
    store, one = filled(root)
    with monkeypatch.context() as broken:
        broken.setattr(f"{PURGE}recover.carry_out", end)
        with pytest.raises(CrashError):
            run.purge(Access(store), Request(one=one))
    text = (root / ".purge.json").read_text()
    assert not any(word in text for word in ("Deploys", "Fridays", "Tuesdays"))


def test_conflict_markers_refuse_before_anything_is_done(root: Path) -> None:
    """A file that cannot be written stops the purge before its record."""
    store, one = filled(root)
    memory = root / "global" / "MEMORY.md"
    memory.write_text(f"{memory.read_text()}<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n")
    with pytest.raises(FileStateError):
        run.purge(Access(store), Request(one=one))
    assert "purge" not in {record.action for record in store.journal()}
    assert not intent.exists(root)


def test_an_editor_saves_during_the_purge(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an editor saved meanwhile is kept, but for the purged note."""
    store, one = filled(root)
    store.observe()
    memory = root / "global" / "MEMORY.md"
    swap = door.swap
    saved: list[int] = []

    def save_first(temporary: str, target: str, *, expect_absent: bool) -> bool:
        if not saved:
            saved.append(1)
            memory.write_text(f"{memory.read_text()}- typed meanwhile\n")
        return swap(temporary, target, expect_absent=expect_absent)

    with monkeypatch.context() as patched:
        patched.setattr(door, "swap", save_first)
        done = run.purge(Access(store), Request(one=one))
    assert done.is_clean
    assert {note.text for note in store.list()} == {OTHER, "typed meanwhile"}
    assert traces(root) == []
    check(store)


def test_an_editor_that_keeps_saving_leaves_the_purge_to_the_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file cannot be had the purge says so, nothing is cancelled, and the next command finishes it."""
    store, one = filled(root)
    store.observe()
    memory = root / "global" / "MEMORY.md"
    swap, count = door.swap, [0]

    def save_each_time(temporary: str, target: str, *, expect_absent: bool) -> bool:
        count[0] += 1
        if count[0] < 4:
            memory.write_text(f"{memory.read_text()}- typed {count[0]}\n")
        return swap(temporary, target, expect_absent=expect_absent)

    with monkeypatch.context() as patched:
        patched.setattr(door, "swap", save_each_time)
        patched.setattr(door, "PATIENCE", -1.0)
        with pytest.raises(ChangedMeanwhileError, match="not finished"):
            run.purge(Access(store), Request(one=one))
    assert "cancel" not in {record.action for record in store.journal()}
    store.observe()
    assert traces(root) == []
    assert OTHER in {note.text for note in store.list()}
    check(store)


@pytest.mark.parametrize("what", ["purge", "remember"])
def test_saves_on_top_of_one_another_are_each_told(root: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """Who gives up puts saves back; each of them is in the journal, though the next one is of an older buffer."""
    store, one = filled(root)
    store.observe()
    memory = root / "global" / "MEMORY.md"
    before, swap, count = memory.read_text(), door.swap, [0]

    def save_each_time(temporary: str, target: str, *, expect_absent: bool) -> bool:
        count[0] += 1
        if count[0] < 4:
            memory.write_text(f"{before}- typed {count[0]}\n")
        return swap(temporary, target, expect_absent=expect_absent)

    with monkeypatch.context() as patched:
        patched.setattr(door, "swap", save_each_time)
        patched.setattr(door, "PATIENCE", -1.0)
        change: dict[str, Callable[[], object]]
        change = {"purge": lambda: run.purge(Access(store), Request(one=one)), "remember": lambda: store.remember("x")}
        with pytest.raises(ChangedMeanwhileError):
            change[what]()
    assert memory.read_text() == f"{before}- typed 3\n"
    memory.write_text(f"{before}- typed 4\n")
    store.observe()
    told = {record.fields[name] for record in store.journal() for name in ("before", "after") if name in record.fields}
    assert {f"typed {number}" for number in range(1, 5)} <= told
    assert "typed 4" in {note.text for note in store.list()}
    if what == "purge":
        assert traces(root) == []
    check(store)


def test_an_editor_that_writes_into_the_predecessor_of_a_purge(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save into the file that was exchanged, a moment after it was looked at, is taken in before that goes."""
    store, one = filled(root)
    store.observe()
    memory = root / "global" / "MEMORY.md"
    with memory.open("r+", encoding="utf-8") as editor:
        text = editor.read()
        keep_old = door.keep_old

        def save_then(*words: Any) -> None:
            keep_old(*words)
            editor.write("- typed late\n")
            editor.flush()

        monkeypatch.setattr(door, "keep_old", save_then)
        assert run.purge(Access(store), Request(one=one)).is_clean
    assert TUESDAYS in text
    assert {note.text for note in store.list()} == {OTHER, "typed late"}
    check(store)


def test_a_stale_editor_brings_the_text_back(root: Path) -> None:
    """A purged text that an editor saves again stays in the file, out of index and journal, and doctor says so."""
    store, one = filled(root)
    memory = root / "global" / "MEMORY.md"
    stale = memory.read_bytes()
    run.purge(Access(store), Request(one=one))
    memory.write_bytes(stale)
    assert {note.text for note in store.list()} == {OTHER}
    assert store.observe() == []
    assert TUESDAYS not in (root / "JOURNAL.md").read_text()
    (finding,) = [finding for finding in store.findings() if finding.kind == "purge"]
    assert finding.where.endswith("MEMORY.md:1")
    assert TUESDAYS not in f"{finding.text}{finding.mend}"
    store.remember("written beside it")
    assert memory.read_bytes() == stale + b"- written beside it\n"
    store.reindex()
    assert {note.text for note in store.list()} == {OTHER, "written beside it"}
    with Store(root, read_only=True) as reader:
        assert {note.text for note in reader.list()} == {OTHER, "written beside it"}
    done = run.purge(Access(store), Request(text=TUESDAYS))
    assert done.is_clean
    assert TUESDAYS not in memory.read_text()
    check(store)


_WORK = """
import sys
from memory_magic.store.access import Access
from memory_magic.store.purge import run
from memory_magic.store.purge.plan import Request
from memory_magic.store.store import Store
store = Store(sys.argv[1])
print("ready", flush=True)
run.purge(Access(store), Request(one=sys.argv[2]))
"""


@pytest.mark.timeout(120)
def test_killed_at_random(tmp_path: Path) -> None:
    """Kill -9 at a random moment leaves all of it, or, after the next command, nothing (`test_kills`: at each step)."""
    rng = random.Random(20261130)  # noqa: S311  (moments, not secrets)
    for number in range(8):
        root = tmp_path / f"root{number}"
        store, one = filled(root)
        store.close()
        process = subprocess.Popen([sys.executable, "-c", _WORK, str(root), one], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.random() * 0.15)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with Store(root) as again:
            # an append may have been cut in the middle: verify says so until the next one takes its place
            again.remember("life goes on")
            check(again)
            purged = "purge" in {record.action for record in again.journal()}
            kept = {OTHER, "life goes on"}
            assert {note.text for note in again.list()} == (kept if purged else kept | {TUESDAYS})
            assert (traces(root) == []) is purged
