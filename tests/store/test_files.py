"""The file system as the store uses it: modes, durable writes, settled reads, and the exchange with its substitutes."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import FileStateError, LockTimeoutError, StoreAccessError
from memory_magic.store import files

if TYPE_CHECKING:
    from collections.abc import Callable

Patch = pytest.MonkeyPatch


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make an empty folder."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def failing(number: int) -> Callable[..., object]:
    """Return a system call that fails."""

    def fail(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    return fail


# -- signatures ------------------------------------------------------------------------------------------------


def test_a_signature_tells_states_apart(place: Path) -> None:
    """Another inode, size or time is another signature; none is all zero."""
    path = place / "a"
    assert files.stat_file(str(path)) == files.Signature()
    assert files.stat_file(str(path / "below")) == files.Signature()
    path.write_text("one")
    first = files.stat_file(str(path))
    assert first.size == 3
    path.write_text("three")
    assert files.stat_file(str(path)) != first
    assert files.read(str(path)).signature == files.stat_file(str(path))


def test_a_signature_is_trusted_two_seconds_after_the_change(monkeypatch: Patch) -> None:
    """Within two seconds of its ctime an equal signature proves nothing; where there is no ctime it never does."""
    signature = files.Signature(1, 2, 3, 4, ctime_ns=10_000_000_000)
    assert not signature.is_settled(12_000_000_000)
    assert signature.is_settled(12_000_000_001)
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        assert not signature.is_settled(99_000_000_000)


# -- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "nothing was changed"), (errno.EACCES, "rights"), (errno.EROFS, "reading only"), (errno.EIO, "")],
)
def test_what_the_disk_refuses_is_told_with_the_file(number: int, advice: str) -> None:
    """The system's words, the path, and advice where there is any."""
    error = files.access_error(OSError(number, os.strerror(number)), "/a/b")
    assert (error.what, error.where) == (os.strerror(number), "/a/b")
    assert advice in error.hint
    assert bool(error.hint) is bool(advice)


def test_an_error_without_a_number_keeps_its_words() -> None:
    """Some OSErrors carry a sentence only."""
    assert files.access_error(OSError("not a small file"), "/a").what == "not a small file"


def test_errors_of_ours_pass_unchanged() -> None:
    """A time-out is an OSError already and is not wrapped again."""
    with pytest.raises(LockTimeoutError), files.disk_errors("/a"):
        raise LockTimeoutError("held")


# -- directories and modes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o277])
def test_what_is_made_is_private_whatever_the_umask(place: Path, mask: int) -> None:
    """Each missing directory is 0700 and each file 0600, under a loose umask and under a strict one."""
    before = os.umask(mask)
    try:
        files.make_directory(place / "a" / "b" / "c")
        files.create(str(place / "a" / "file"), b"x")
        files.replace(place / "a" / "other", b"y")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (place / "a").rglob("*")}
    assert modes == {"b": 0o700, "c": 0o700, "file": 0o600, "other": 0o600}


def test_a_directory_that_is_there_keeps_its_mode(place: Path) -> None:
    """Only what we make gets our mode: a person's folder is theirs."""
    place.joinpath("open").mkdir(mode=0o755)
    place.joinpath("open").chmod(0o755)
    files.make_directory(place / "open" / "ours")
    assert stat.S_IMODE((place / "open").stat().st_mode) == 0o755


def test_a_directory_made_by_somebody_meanwhile_is_fine(place: Path, monkeypatch: Patch) -> None:
    """Two writers that begin at once both go on."""
    real = Path.mkdir

    def beaten(self: Path, mode: int = 0o777) -> None:
        real(self, mode)
        real(self, mode)

    monkeypatch.setattr(Path, "mkdir", beaten)
    files.make_directory(place / "a" / "b")
    assert (place / "a" / "b").is_dir()


def test_a_directory_that_cannot_be_made_is_an_error_with_its_name(place: Path) -> None:
    """Below a file there is no directory."""
    (place / "file").write_text("")
    with pytest.raises(StoreAccessError, match="file"):
        files.make_directory(place / "file" / "a")


# -- reading ---------------------------------------------------------------------------------------------------


def test_an_absent_file_has_no_data(place: Path) -> None:
    """Nothing there, or a file in the place of a folder above it: no data, the hash of nothing."""
    (place / "file").write_text("")
    for path in (place / "none", place / "file" / "below"):
        content = files.read(str(path))
        assert (content.data, content.signature) == (None, files.Signature())
        assert content.hash == files.sha256(b"")


def test_only_regular_files_are_read(place: Path) -> None:
    """A directory, a pipe that nobody writes to and a link to itself are errors at once; nothing waits."""
    (place / "directory").mkdir()
    os.mkfifo(place / "pipe")
    (place / "loop").symlink_to("loop")
    for name in ("directory", "pipe"):
        with pytest.raises(FileStateError, match=name):
            files.read(str(place / name))
    with pytest.raises(StoreAccessError, match="loop"):
        files.read(str(place / "loop"))


@pytest.mark.parametrize("claimed", [0, 2, 5, 9, 10, 100])
def test_a_file_that_grows_or_shrinks_while_it_is_read_is_read_to_its_end(place: Path, claimed: int) -> None:
    """Whatever size the file had a moment ago, what is there now is what is returned."""
    path = place / "a"
    path.write_bytes(b"0123456789")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert files._read_all(descriptor, claimed) == b"0123456789"
    finally:
        os.close(descriptor)


class Looks:
    """A file that reads differently at each look, and a clock that moves with the waiting."""

    def __init__(self, path: Path, looks: list[bytes], monkeypatch: Patch) -> None:
        self.path, self.looks, self.waited = path, looks, 0.0
        path.write_bytes(looks.pop(0))
        monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=lambda: self.waited, sleep=self.sleep))

    def sleep(self, seconds: float) -> None:
        """Wait, and let the editor go on writing."""
        self.waited += seconds
        if self.looks:
            self.path.write_bytes(self.looks.pop(0))


@pytest.mark.parametrize(
    ("looks", "expected", "waited"),
    [
        ([b"whole"], b"whole", 0.0),
        ([b"", b"whole"], b"whole", 0.1),
        ([b"", b"", b"whole"], b"whole", 0.15),
        ([b""], b"", 0.1),
        ([b"", b"wh", b"whole"], b"whole", 0.15),
    ],
)
def test_a_half_written_file_is_read_until_it_rests(
    place: Path, monkeypatch: Patch, looks: list[bytes], expected: bytes, waited: float
) -> None:
    """What looks wrong has to agree three times, what looks right twice; a file that keeps still costs no wait."""
    file = Looks(place / "a", looks, monkeypatch)
    content = files.read_settled(
        str(file.path), lambda content: content.data != b"whole" and len(content.data or b"") < 3
    )
    assert content.data == expected
    assert file.waited == pytest.approx(waited)


def test_a_file_that_never_rests_is_waited_for_one_second(place: Path, monkeypatch: Patch) -> None:
    """An editor that keeps writing does not hold anybody up for longer."""
    file = Looks(place / "a", [b"%d" % number for number in range(100)], monkeypatch)
    files.read_settled(str(file.path), lambda _: True)
    assert 1.0 <= file.waited < 1.1


# -- writing ---------------------------------------------------------------------------------------------------


def test_a_write_that_stops_early_is_continued(place: Path, monkeypatch: Patch) -> None:
    """A signal or a nearly full disk may cut a write short; every byte arrives all the same."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:3])))
    files.create(str(place / "a"), b"0123456789")
    assert (place / "a").read_bytes() == b"0123456789"


@pytest.mark.parametrize("call", ["write", "fsync", "fchmod"])
def test_a_file_that_cannot_be_written_whole_is_not_left_behind(place: Path, monkeypatch: Patch, call: str) -> None:
    """Half a file is worse than none, and the error names it."""
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(errno.ENOSPC))
        with pytest.raises(StoreAccessError, match=r"No space left.*half"):
            files.create(str(place / "half"), b"x")
    assert list(place.iterdir()) == []


def test_a_replaced_file_is_old_or_new_and_never_half(place: Path, monkeypatch: Patch) -> None:
    """Where the new content cannot be written the old one stays."""
    path = place / "a"
    files.replace(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing(errno.EIO))
        with pytest.raises(StoreAccessError):
            files.replace(path, b"new")
    assert {file.name: file.read_bytes() for file in place.iterdir()} == {"a": b"old"}
    files.replace(path, b"new")
    assert {file.name: file.read_bytes() for file in place.iterdir()} == {"a": b"new"}


def test_a_directory_that_cannot_be_synced_is_no_error_but_a_failing_disk_is(place: Path, monkeypatch: Patch) -> None:
    """Some mounts know no fsync of a directory."""
    for number in (errno.EINVAL, errno.ENOTSUP):
        monkeypatch.setattr(os, "fsync", failing(number))
        files.sync_directory(str(place))
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(StoreAccessError):
        files.sync_directory(str(place))


def test_removing_what_is_gone_is_no_error(place: Path) -> None:
    """Somebody else may have been quicker; a directory in the place is an error."""
    files.remove(str(place / "none"))
    with pytest.raises(StoreAccessError):
        files.remove(str(place))


# -- the exchange and its substitutes --------------------------------------------------------------------------


@pytest.fixture(params=["exchange", "hard link", "copy"])
def door_kind(request: pytest.FixtureRequest, monkeypatch: Patch) -> str:
    """Give each way in which two files can change places."""
    kind = str(request.param)
    if kind == "exchange" and files._exchange_call() is None:
        pytest.skip("this system has no exchange")
    if kind != "exchange":
        monkeypatch.setattr(files, "_exchange_call", lambda: None)
    if kind == "copy":
        monkeypatch.setattr(os, "link", failing(errno.EPERM))
    return kind


def pair(place: Path) -> tuple[Path, Path]:
    """Make a temp and a target."""
    one, other = place / "temp", place / "target"
    one.write_bytes(b"new")
    other.write_bytes(b"old")
    return one, other


def test_two_files_change_places(place: Path, door_kind: str) -> None:
    """Whatever the system offers, the new bytes are in place, the old ones under the temp's name, nothing besides."""
    one, other = pair(place)
    (place / "temp.kept").write_bytes(b"left by a crash")
    if door_kind == "exchange":
        (place / "temp.kept").unlink()
    files.exchange(str(one), str(other))
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {"temp": b"old", "target": b"new"}


def test_a_new_file_is_placed_only_where_nothing_stands(place: Path, door_kind: str) -> None:
    """Somebody's file of that name is never written over."""
    one, other = pair(place)
    assert not files.place_new(str(one), str(other))
    assert other.read_bytes() == b"old"
    assert files.place_new(str(one), str(place / "fresh"))
    assert (place / "fresh").read_bytes() == b"new"


def test_a_target_that_is_gone_is_told_apart(place: Path) -> None:
    """The exchange says that there is nothing to exchange with, so that the caller can place the file instead."""
    one, other = pair(place)
    other.unlink()
    if files._exchange_call() is not None:
        with pytest.raises(FileNotFoundError):
            files.exchange(str(one), str(other))
    assert one.read_bytes() == b"new"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EXDEV, errno.EPERM])
def test_a_system_that_refuses_the_call_gets_the_substitute(place: Path, monkeypatch: Patch, number: int) -> None:
    """An old kernel, NFS or FAT answer that they cannot; the files change places all the same."""
    one, other = pair(place)
    monkeypatch.setattr(files, "_exchange_call", lambda: lambda *_: -1)
    monkeypatch.setattr(ctypes, "get_errno", lambda: number)
    files.exchange(str(one), str(other))
    assert (one.read_bytes(), other.read_bytes()) == (b"old", b"new")


def test_a_disk_that_fails_during_the_exchange_is_an_error(place: Path, monkeypatch: Patch) -> None:
    """A full or failing disk is no reason to try the substitute."""
    one, other = pair(place)
    monkeypatch.setattr(files, "_exchange_call", lambda: lambda *_: -1)
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EIO)
    with pytest.raises(StoreAccessError, match="target"):
        files.exchange(str(one), str(other))
    assert (one.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_placing_on_a_failing_disk_is_an_error(place: Path, monkeypatch: Patch) -> None:
    """Only 'no hard links here' leads to the copy."""
    one, _ = pair(place)
    monkeypatch.setattr(os, "link", failing(errno.EIO))
    with pytest.raises(StoreAccessError):
        files.place_new(str(one), str(place / "fresh"))


def test_a_reader_on_windows_is_waited_for(place: Path, monkeypatch: Patch) -> None:
    """There a file that somebody has open cannot be replaced for a moment; elsewhere the refusal is final."""
    one, other = pair(place)
    real, tries = os.replace, iter([PermissionError, PermissionError, None])
    waited: list[float] = []

    def replace(source: str, target: str) -> None:
        if error := next(tries):
            raise error(errno.EACCES, "in use")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=time.monotonic, sleep=waited.append))
    with pytest.raises(PermissionError):
        files._replace_patiently(str(one), str(other))
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        files._replace_patiently(str(one), str(other))
    assert other.read_bytes() == b"new"
    assert len(waited) == 1


class Library:
    """Stands for the system's C library."""

    def __init__(self, *calls: str) -> None:
        self.made: list[tuple[object, ...]] = []
        for name in calls:
            setattr(self, name, self.call)

    def call(self, *arguments: object) -> int:
        """Note the call."""
        self.made.append(arguments)
        return 0


@pytest.mark.parametrize(
    ("platform", "name", "expected"),
    [("darwin", "renamex_np", (b"a", b"b", 2)), ("linux", "renameat2", (-100, b"a", -100, b"b", 2))],
)
def test_the_exchange_is_called_as_each_system_wants_it(
    monkeypatch: Patch, platform: str, name: str, expected: tuple[object, ...]
) -> None:
    """Linux swaps by `renameat2`, macOS by `renamex_np`, both with their flag for a swap."""
    library = Library(name)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: library)
    monkeypatch.setattr(sys, "platform", platform)
    call = files._exchange_call.__wrapped__()
    assert call is not None
    assert call(b"a", b"b") == 0
    assert library.made == [expected]


def test_a_system_without_the_call_has_none(monkeypatch: Patch) -> None:
    """A C library that does not know it, or none at all."""
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Library())
    assert files._exchange_call.__wrapped__() is None
    monkeypatch.setattr(ctypes, "CDLL", failing(errno.ENOENT))
    assert files._exchange_call.__wrapped__() is None


def test_whether_files_can_be_exchanged_is_tried_out(place: Path, monkeypatch: Patch) -> None:
    """The answer comes from two real files, which are gone afterwards; a folder that cannot be written says no."""
    assert files.has_exchange(place) is (files._exchange_call() is not None)
    assert not files.has_exchange(place / "none")
    monkeypatch.setattr(files, "_exchange_call", lambda: lambda *_: -1)
    assert not files.has_exchange(place)
    monkeypatch.setattr(files, "_exchange_call", lambda: None)
    assert not files.has_exchange(place)
    assert list(place.iterdir()) == []
