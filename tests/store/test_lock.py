"""The lock: one holder at a time, known by name, and noticed when its file is taken away."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock, Timeout

from memory_magic.errors import LockTimeoutError, StoreAccessError
from memory_magic.store import lock as lock_module
from memory_magic.store.lock import StoreLock
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def place(root: Path) -> Path:
    """Make the root."""
    root.mkdir(mode=0o700)
    return root


def test_the_holder_is_written_down_and_the_lock_file_stays(place: Path) -> None:
    """Process, host and start stand beside the lock; both files are private; nothing is deleted afterwards."""
    lock = StoreLock(place)
    assert not lock.is_ours()
    with lock.hold():
        assert lock.is_ours()
        assert (place / ".lock.holder").read_text().startswith(f"pid {os.getpid()} on ")
    assert not lock.is_ours()
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {
        ".lock": 0o600,
        ".lock.holder": 0o600,
    }


def test_a_second_holder_waits_for_the_first(place: Path) -> None:
    """Two threads with locks of their own never hold at once."""
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(20):
            with StoreLock(place).hold():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == ([0], [1])


def test_no_patience_means_not_at_all(place: Path) -> None:
    """With a time-out of nothing a held lock is an error at once, also where its holder left no name."""
    with StoreLock(place).hold():
        (place / ".lock.holder").unlink()
        with pytest.raises(LockTimeoutError, match="an unknown process"), StoreLock(place).hold(0):
            pass


def test_a_lock_file_that_is_deleted_or_replaced_is_no_longer_ours(place: Path) -> None:
    """Somebody else could hold the new file: the holder has to notice."""
    for make_anew in (False, True):
        lock = StoreLock(place)
        with lock.hold():
            (place / ".lock").rename(place / f".lock.{make_anew}")
            if make_anew:
                (place / ".lock").touch()
            assert not lock.is_ours()


def test_what_was_locked_while_its_file_went_is_let_go(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that guards nothing is released and the present file is locked instead."""
    real, looks = StoreLock._is_current, iter([False, False])
    monkeypatch.setattr(StoreLock, "_is_current", lambda self, lock: next(looks, True) and real(self, lock))
    with StoreLock(place).hold(5):
        pass
    assert next(looks, "both looks were made") == "both looks were made"


def test_a_lock_file_that_keeps_being_replaced_ends_the_patience(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is bounded by time, not by luck."""
    monkeypatch.setattr(StoreLock, "_is_current", lambda *_: False)
    with pytest.raises(LockTimeoutError), StoreLock(place).hold(0.05):
        pass


def test_a_root_that_is_not_there_is_a_friendly_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system says about the lock file is told with its name."""
    root.mkdir()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with pytest.raises(StoreAccessError, match=r"Permission denied.*\.lock"), StoreLock(root).hold():
        pass


def test_a_free_lock_is_taken_without_filelock_and_is_the_same_lock(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the second time on `filelock` is not asked for a free lock, and it finds it held and let go as ever."""
    lock, other = StoreLock(place), FileLock(place / ".lock")
    with lock.hold():
        pass
    with monkeypatch.context() as patch:
        patch.setattr(lock, "_acquired", None)
        with lock.hold():
            assert lock.is_ours()
            with pytest.raises(Timeout):
                other.acquire(timeout=0)
    with other.acquire(timeout=0), pytest.raises(LockTimeoutError), lock.hold(0):
        pass
    with lock.hold(0):
        pass


def test_a_lock_that_filelock_holds_is_waited_for(place: Path) -> None:
    """One that is not free is waited for as before, be it taken by an older version of us."""
    lock, taken, let_go = StoreLock(place), threading.Event(), threading.Event()

    def hold() -> None:
        with FileLock(place / ".lock"):
            taken.set()
            time.sleep(0.1)
            let_go.set()

    with lock.hold():
        pass
    other = threading.Thread(target=hold)
    other.start()
    assert taken.wait(10)
    with lock.hold(10):
        assert let_go.is_set()
        assert lock.is_ours()
    other.join()


def test_a_lock_file_that_is_gone_is_made_anew(place: Path) -> None:
    """The file is made by `filelock`, with its rights, also when it was there before."""
    lock = StoreLock(place)
    for _ in range(2):
        with lock.hold():
            assert lock.is_ours()
            assert stat.S_IMODE((place / ".lock").stat().st_mode) == 0o600
        (place / ".lock").unlink()


def test_where_a_second_flock_is_granted_filelock_goes_on_to_serve(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system whose flock keeps nobody out is left to `filelock` each time."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    lock = StoreLock(place)
    for _ in range(3):
        with lock.hold():
            assert isinstance(lock._held, FileLock)


_FORKING = """
import os, pathlib, sys, time
from memory_magic.store.lock import StoreLock
lock = StoreLock(pathlib.Path(sys.argv[1]))
with lock.hold():
    pass
with lock.hold():
    child = os.fork()
    if child:
        print(child, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_does_not_keep_the_lock_of_its_killed_parent(place: Path) -> None:
    """The lock is free when its holder is killed, though a child of it lives on."""
    holder = subprocess.Popen([sys.executable, "-c", _FORKING, str(place)], stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        try:
            with pytest.raises(LockTimeoutError), StoreLock(place).hold(0):
                pass
            holder.kill()
            holder.wait()
            with StoreLock(place).hold(10):
                os.kill(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)


class NoFlock(FileLock):
    """Stands for a mount that knows no locks."""

    def acquire(self, *_: object, **__: object) -> object:  # type: ignore[override]
        """Answer as such a mount does."""
        warnings.warn("no flock here: a soft lock is used", stacklevel=2)
        raise NotImplementedError


def test_where_the_file_system_knows_no_locks_a_file_stands_for_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The soft lock serves, its warning stays silent, and it is gone when it is let go."""
    monkeypatch.setattr(lock_module, "FileLock", NoFlock)
    store = Store(root)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.remember("one")
        store.remember("two")
    assert [note.text for note in store.list()] == ["two", "one"]
    lock = StoreLock(root)
    with lock.hold():
        assert lock.is_ours()
        assert stat.S_IMODE((root / ".lock.soft").stat().st_mode) & 0o077 == 0
    assert not (root / ".lock.soft").exists()


def test_two_threads_share_one_store(root: Path) -> None:
    """Writes and reads of several threads on one object lose nothing and raise nothing."""
    store = Store(root)
    store.remember("zero")
    faults: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(12):
                written = store.remember(f"{name} {number}")
                assert store.get(written.id).id == written.id
                assert len(store.list()) >= number
                store.short_id(written.id)
                store.status()
                store.search(name)
                if number % 4 == 0:
                    store.retire(written.id, evidence="x")
        except BaseException as fault:  # noqa: BLE001  (a thread's fault is looked at by the test)
            faults.append(fault)

    run_beside([lambda: work("ana"), lambda: work("bob"), lambda: work("eve")])
    assert faults == []
    assert len(store.list()) == 1 + 3 * 9
    assert len({record.n for record in store.journal()}) == 1 + 3 * 15
    assert store.verify().ok


def test_two_stores_write_two_scopes_of_one_root_in_turn(root: Path, git_repo: Callable[..., Path]) -> None:
    """Two objects, each in its own repository, alternate: the journal is one chain and each sees its own notes."""
    one, other = Store(root, cwd=git_repo("one")), Store(root, cwd=git_repo("two"))
    for number in range(6):
        one.remember(f"one {number}", scope="workspace")
        other.remember(f"two {number}", scope="workspace")
        (one if number % 2 else other).remember(f"all {number}")
    one.revise("all 0", "everybody 0", evidence="x")
    other.retire("all 1", evidence="x")
    assert [note.text for note in one.list("workspace")] == [f"one {number}" for number in range(5, -1, -1)]
    assert [note.text for note in other.list("workspace")] == [f"two {number}" for number in range(5, -1, -1)]
    assert one.list("global") == other.list("global")
    assert [record.n for record in one.journal()] == list(range(1, 21))
    assert one.verify().ok
    assert {note.text for note in one.list()} & {note.text for note in other.list("workspace")} == set()


def run_beside(works: list[Callable[[], None]]) -> None:
    """Run each of *works* in a thread of its own."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
