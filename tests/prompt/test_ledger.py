"""The ledger: one line and one block for each injection, read back newest first, by nobody who should not see it."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt import ledger
from memory_magic.prompt.block import Block, Report, Section
from memory_magic.prompt.ledger import Ledger, View, record
from memory_magic.prompt.records import Dropped, FileSeen
from memory_magic.store import anchors, ledger_files
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = (412, "9d02" * 4)
HERE = "/home/ana/project"
DECEMBER = 1_796_083_200.0  # 2026-12-01T00:00:00Z
A, B = ("workspace/" + letter * 64 for letter in "ab")
ONE, TWO = "7k2m9q4tzc7k2m9q4tzc7k2m9q", "0b8x1v5ncd0b8x1v5ncd0b8x1v"
# an invented GitHub token, which no scanner of a hosting service should take for a real one
SECRET = base64.b64decode("Z2hwXzE2QzdlNDJGMjkyYzY5MTJFNzcxMGM4MzgzNDdBZTE3OGI0YQ==").decode()


def block_of(
    text: str = "# Memory\n- one\n", entries: tuple[str, ...] = (ONE,), omitted: tuple[str, ...] = ()
) -> Block:
    """Make a block with one section."""
    return Block(text, Report(3, (Section("notes", 32, len(entries), "entries", entries, omitted),)))


def enter(root: Path, text: str = "# Memory\n- one\n", **other: object) -> str:
    """Enter one injection; return what went wrong."""
    values: dict[str, object] = {"assistant": "claude-code", "cwd": HERE, "scopes": ("global",), "head": HEAD}
    given = other.pop("block", None) or block_of(text)
    return record(root, given, **(values | other))  # type: ignore[arg-type]


def months(root: Path) -> dict[str, int]:
    """Return how many lines each monthly file has."""
    return {path.name: path.read_bytes().count(b"\n") for path in sorted((root / "ledger").glob("*.jsonl"))}


def test_a_line_says_all_that_the_contract_lists(root: Path) -> None:
    """Time, kind, who, where, scopes, sections, block and head stand in it, and come back as they were."""
    assert (
        enter(
            root,
            block=block_of("# Memory\n- one\n", (ONE,), (TWO,)),
            conversation="c-1",
            notebook="analysis.ipynb",
            scopes=("global", A),
            now=lambda: DECEMBER + 0.25,
        )
        == ""
    )
    (raw,) = (root / "ledger" / "2026-12.jsonl").read_text().splitlines()
    digest = hashlib.sha256(b"# Memory\n- one\n").hexdigest()
    section = {"name": "notes", "cap": 32, "used": 1, "unit": "entries", "entries": [ONE], "omitted": [TWO]}
    assert json.loads(raw) == {
        "time": "2026-12-01T00:00:00.250000Z",
        "kind": "injected",
        "assistant": "claude-code",
        "conversation": "c-1",
        "notebook": "analysis.ipynb",
        "cwd": HERE,
        "scopes": ["global", A],
        "sections": [section],
        "block": digest,
        "head": {"n": 412, "chain": HEAD[1]},
    }
    (line,) = Ledger(root).lines()
    assert line.as_json() == json.loads(raw)
    assert Ledger(root).block(digest) == "# Memory\n- one\n"


def test_files_are_private_whatever_the_umask(root: Path) -> None:
    """Directories are 0700 and files 0600, also where somebody had opened a month up."""
    before = os.umask(0)
    try:
        enter(root, now=lambda: DECEMBER)
        (root / "ledger" / "2026-12.jsonl").chmod(0o644)
        enter(root, now=lambda: DECEMBER)
    finally:
        os.umask(before)
    modes = {path.relative_to(root).as_posix(): path.stat().st_mode & 0o777 for path in root.rglob("*")}
    assert modes.pop("ledger") == modes.pop("ledger/blocks") == 0o700
    assert set(modes.values()) == {0o600}
    assert root.stat().st_mode & 0o777 == 0o700


def test_a_block_is_stored_once(root: Path) -> None:
    """The same text again writes no file; a half one of the same name is written anew."""
    enter(root)
    (path,) = (root / "ledger" / "blocks").iterdir()
    first = path.stat()
    enter(root)
    assert path.stat().st_ino == first.st_ino
    path.write_bytes(b"# Mem")
    assert Ledger(root).block(path.stem) is None
    enter(root)
    assert Ledger(root).block(path.stem) == "# Memory\n- one\n"
    assert [one.name for one in (root / "ledger" / "blocks").iterdir()] == [path.name]


def test_nothing_handed_out_names_no_block(root: Path) -> None:
    """A citation of memory has no block, and is not what a conversation was told last."""
    enter(root, conversation="c")
    enter(root, "", kind="cited", conversation="c")
    book = Ledger(root)
    assert [(line.kind, line.block is None) for line in book.lines()] == [("cited", True), ("injected", False)]
    last = book.last(conversation="c")
    assert last is not None
    assert last.kind == "injected"


def test_files_and_long_omissions_are_told_briefly(root: Path) -> None:
    """A memory file is noted by hash and size; of very many omitted ids the first stand there, and the count."""
    many = tuple(f"{number:026}" for number in range(1_000))
    seen = (FileSeen("memory.md", "ab" * 32, 120), FileSeen("project", trouble="unreadable"))
    section = Section("notes", 32, 0, "entries", (), many, files=seen, dropped=Dropped(5_000, "notes"))
    enter(root, block=Block("text", Report(1, (section,))))
    (line,) = Ledger(root).lines()
    assert line.sections[0]["files"] == [{"name": "memory.md", "sha256": "ab" * 32, "size": 120}]
    assert (len(line.sections[0]["omitted"]), line.sections[0]["dropped"]) == (256, 5_000)


def test_no_secret_reaches_a_line(root: Path) -> None:
    """Directory, notebook, conversation, names: each text of others is redacted, and still found by its value."""
    section = Section(f"notes {SECRET}", 1, 1, f"entries {SECRET}", (f"file {SECRET}",), (f"gone {SECRET}",))
    place = f"/home/ana/{SECRET}"
    enter(
        root,
        block=Block("text", Report(1, (section,))),
        assistant=f"a {SECRET}",
        conversation=f"c {SECRET}",
        notebook=f"n {SECRET}",
        cwd=place,
        scopes=("global", f"workspace/{SECRET}"),
    )
    for path in root.rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes()
    assert Ledger(root).last(conversation=f"c {SECRET}", view=View.of((), place)) is None  # its workspace is not seen
    assert Ledger(root).last(conversation=f"c {SECRET}") is not None


def test_lines_come_newest_first_and_as_asked(root: Path) -> None:
    """By conversation, by assistant, from a time on, and so many."""
    for number in range(6):
        enter(
            root,
            conversation=f"c{number % 2}",
            assistant=("claude-code", "codex")[number % 3 == 0],
            now=lambda number=number: DECEMBER - 3 * 86_400 + number * 86_400,
        )
    book = Ledger(root)
    assert [line.time[5:10] for line in book.lines()] == ["12-03", "12-02", "12-01", "11-30", "11-29", "11-28"]
    assert [line.time[5:10] for line in book.lines(conversation="c1")] == ["12-03", "12-01", "11-29"]
    assert [line.time[5:10] for line in book.lines(assistant="codex")] == ["12-01", "11-28"]
    assert [line.time[5:10] for line in book.lines(since="2026-11-30")] == ["12-03", "12-02", "12-01", "11-30"]
    assert [line.time[5:10] for line in book.lines(since="2026-12-02T00:00", limit=1)] == ["12-03"]
    assert list(book.lines(limit=0)) == []
    assert book.last(assistant="nobody") is None


def test_a_month_ends_and_the_clock_goes_back(root: Path) -> None:
    """Each line goes to the file of its own month; within a month the later entry is the newer one."""
    for moment in (DECEMBER - 0.000_001, DECEMBER, DECEMBER - 3_600, DECEMBER + 10, DECEMBER + 5):
        enter(root, now=lambda moment=moment: moment)
    assert months(root) == {"2026-11.jsonl": 2, "2026-12.jsonl": 3}
    times = [line.time[5:19] for line in Ledger(root).lines()]
    assert times == ["12-01T00:00:05", "12-01T00:00:10", "12-01T00:00:00", "11-30T23:00:00", "11-30T23:59:59"]


@pytest.mark.parametrize(
    "junk",
    [
        b'{"time": "2026-12-01T00:00:00.000000Z", "kind": "inj',
        b"\xff\xfe\x00nonsense\n",
        b'{"some": "body else"}\n',
        b'["time"]\n',
        b"\n\n",
        b'{"time": 3, "kind": "injected"}\n',
        b"[" * 5_000 + b"\n",
    ],
)
def test_what_is_no_line_is_passed_over_and_counted(root: Path, junk: bytes) -> None:
    """Torn, damaged, binary and foreign lines cost nothing but themselves, wherever they stand."""
    enter(root, conversation="a", now=lambda: DECEMBER)
    with (root / "ledger" / "2026-12.jsonl").open("ab") as file:
        file.write(junk)
    enter(root, conversation="b", now=lambda: DECEMBER)
    book = Ledger(root)
    assert [line.conversation for line in book.lines()] == ["b", "a"]
    assert book.skipped == bool(junk.strip())


def test_a_line_longer_than_64_kilobytes_stays_whole(root: Path) -> None:
    """It takes the lock, and is read back over the border of what is read at once."""
    ids = tuple(f"{number:026}" for number in range(40_000))
    assert enter(root, block=block_of("text", ids), now=lambda: DECEMBER) == ""
    enter(root, conversation="short", now=lambda: DECEMBER)
    assert (root / "ledger" / "2026-12.jsonl").stat().st_size > 1_000_000
    short, long = Ledger(root).lines()
    assert (short.conversation, tuple(long.sections[0]["entries"])) == ("short", ids)


WRITER = """
import sys, types
from memory_magic.prompt.ledger import record
section = types.SimpleNamespace(name="notes", cap=1, used=1, unit="entries", omitted=(),
                                entries=["0" * 26] * (int(sys.argv[2]) % 3 * 1500 + 2))
for number in range(200):
    block = types.SimpleNamespace(text=f"block {number}", report=types.SimpleNamespace(sections=[section]))
    problem = record(sys.argv[1], block, assistant="w" + sys.argv[2], conversation=str(number), cwd="/x",
                     scopes=["global"], head=(1, "0" * 16))
    assert not problem, problem
"""


def test_eight_processes_append_at_once(root: Path) -> None:
    """1,600 lines, some near and some above 64 kB: each is there once, whole, in the order of its writer."""
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(root), str(number)]) for number in range(8)]
    assert [one.wait() for one in running] == [0] * 8
    book = Ledger(root)
    found: dict[str, list[int]] = {}
    for line in book.lines():
        found.setdefault(line.assistant, []).append(int(line.conversation or ""))
    assert book.skipped == 0
    assert found == {f"w{number}": list(range(199, -1, -1)) for number in range(8)}
    assert len(list((root / "ledger" / "blocks").iterdir())) == 200


KILLED = """
import os, sys
from memory_magic.prompt import ledger
from memory_magic.prompt.block import Block, Report
ledger.append = lambda *_: os.kill(os.getpid(), 9)
ledger.record(sys.argv[1], Block("a block", Report(1, ())), assistant="a", cwd="/x", scopes=[], head=(0, ""))
"""


def test_a_kill_between_block_and_line_leaves_a_block_that_nobody_names(root: Path) -> None:
    """The ledger reads as before; the block is whole, and used by the next one who is told the same."""
    assert subprocess.run([sys.executable, "-c", KILLED, str(root)], check=False).returncode == -9
    assert list(Ledger(root).lines()) == []
    (path,) = (root / "ledger" / "blocks").iterdir()
    assert Ledger(root).block(path.stem) == "a block"
    assert enter(root, "a block") == ""
    assert [line.block for line in Ledger(root).lines()] == [path.stem]


# -- what is in the way ---------------------------------------------------------------------------------------------


def _file_in_its_place(root: Path) -> None:
    root.mkdir()
    (root / "ledger").write_text("mine")


def _link_outside(root: Path) -> None:
    root.mkdir()
    (root.parent / "outside").mkdir()
    (root / "ledger").symlink_to(root.parent / "outside")


def _link_of_the_month(root: Path) -> None:
    (root / "ledger").mkdir(parents=True)
    (root.parent / "outside").write_text("mine\n")
    (root / "ledger" / "2026-12.jsonl").symlink_to(root.parent / "outside")


def _directory_for_the_month(root: Path) -> None:
    (root / "ledger" / "2026-12.jsonl").mkdir(parents=True)


def _pipe_for_the_month(root: Path) -> None:
    (root / "ledger").mkdir(parents=True)
    os.mkfifo(root / "ledger" / "2026-12.jsonl")


def _link_of_the_blocks(root: Path) -> None:
    (root / "ledger").mkdir(parents=True)
    (root.parent / "outside").mkdir()
    (root / "ledger" / "blocks").symlink_to(root.parent / "outside")


@pytest.mark.parametrize(
    "plant",
    [
        _file_in_its_place,
        _link_outside,
        _link_of_the_month,
        _directory_for_the_month,
        _pipe_for_the_month,
        _link_of_the_blocks,
    ],
)
def test_what_is_in_the_way_becomes_a_sentence(root: Path, plant: Callable[[Path], None]) -> None:
    """Nothing is raised, nothing written through a link; the sentence is shown once, and over when an entry comes."""
    plant(root)
    told = enter(root, now=lambda: DECEMBER)
    assert told.startswith("the ledger missed an entry: ")
    outside = root.parent / "outside"
    assert not outside.exists() or (
        outside.read_text() == "mine\n" if outside.is_file() else not list(outside.iterdir())
    )
    book = Ledger(root)
    assert (list(book.lines()), book.problem) == ([], told)
    assert (book.take_problem(), book.take_problem(), book.problem) == (told, "", told)
    enter(root, now=lambda: DECEMBER)  # the same again is no news
    assert book.take_problem() == ""


def test_a_problem_is_over_with_the_next_entry(root: Path) -> None:
    """Who asks later is told of no fault that is past."""
    _directory_for_the_month(root)
    assert enter(root, now=lambda: DECEMBER)
    (root / "ledger" / "2026-12.jsonl").rmdir()
    assert enter(root, now=lambda: DECEMBER) == ""
    os.utime(root / ledger_files.PROBLEM, (1, 1))
    assert (Ledger(root).problem, Ledger(root).take_problem()) == ("", "")
    assert not (root / ledger_files.PROBLEM).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_becomes_a_sentence(root: Path) -> None:
    """An unwritable folder, and an unwritable root, where nothing can even be kept."""
    (root / "ledger").mkdir(parents=True, mode=0o500)
    assert "Permission denied" in enter(root)
    (root / "ledger").rmdir()
    root.chmod(0o500)
    assert "Permission denied" in enter(root)
    root.chmod(0o700)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("call", ["write", "replace", "open"])
def test_a_disk_that_refuses_becomes_a_sentence(
    root: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    """Full, without rights, read-only, at each step; and once it gives way the ledger goes on."""

    def full(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    enter(root, "another block")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        told = enter(root, "yet another block")
    assert os.strerror(number) in told
    assert not [path for path in (root / "ledger" / "blocks").iterdir() if path.suffix == ".tmp"]
    assert enter(root, "yet another block") == ""
    assert len(list(Ledger(root).lines())) == 2


def test_half_a_line_on_a_full_disk_costs_that_line_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next entry is glued to the torn one, and read all the same."""
    real = os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) < 200:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[: len(data) - 100])

    enter(root, conversation="1")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        told = enter(root, conversation="2")
    assert "No space left" in told
    enter(root, conversation="3")
    book = Ledger(root)
    assert [line.conversation for line in book.lines()] == ["3", "1"]
    assert book.skipped == 1


def test_strange_arguments_never_raise(root: Path) -> None:
    """An unknown kind, a head of nonsense, a name that is no text: a sentence or an entry, never an exception."""
    assert "no kind" in enter(root, kind="seen")
    assert "missed an entry" in enter(root, head=("x", "y"))
    assert "missed an entry" in enter(root, head=())
    assert enter(root, cwd="/home/\udcff", conversation="c" * 100_000) == ""
    (line,) = Ledger(root).lines(conversation="c" * 100_000)
    assert len(line.conversation or "") == 1_000


# -- who sees what --------------------------------------------------------------------------------------------------


def test_a_repository_sees_nothing_of_another(root: Path) -> None:
    """From B no line that names A, and of directories without a workspace only its own."""
    enter(root, conversation="in a", cwd="/a", scopes=("global", A))
    enter(root, conversation="in b", cwd="/b", scopes=("global", B))
    enter(root, conversation="in none", cwd="/home/ana/secret-plan", scopes=("global",))
    enter(root, conversation="both", cwd="/b", scopes=("global", A, B))
    book = Ledger(root)
    view = View.of(("global", B), "/b")
    assert [line.conversation for line in book.lines(view=view)] == ["in b"]
    assert book.last(conversation="in a", view=view) is None
    assert [line.conversation for line in book.lines(view=View.of(("global",), "/home/ana/secret-plan"))] == ["in none"]
    assert len(list(book.lines())) == 4


def test_a_difference_names_the_lines(root: Path) -> None:
    """Lines that went and lines that came; none where nothing changed, None where the block is gone."""
    enter(root, "a\nb\nc")
    book = Ledger(root)
    (line,) = book.lines()
    assert book.difference(line.block, "a\nB\nc\nd") == "-b\n+B\n+d"
    assert book.difference(line.block, "a\nb\nc") == ""
    assert book.difference("0" * 64, "x") is None
    assert book.difference(None, "x") == "-\n+x"
    assert book.block("../../../etc/passwd") is None


# -- the journal's anchor -------------------------------------------------------------------------------------------


def _told_of(store: Store) -> None:
    enter(store.root, head=anchors.head(store.root))


def test_a_truncated_journal_is_found_by_the_ledger(root: Path) -> None:
    """With the index gone, and whether or not the journal went on since, verify says what is missing."""
    store = Store(root)
    store.remember("one")
    kept = (root / "JOURNAL.md").read_bytes()
    store.remember("two")
    _told_of(store)
    assert store.verify().ok
    store.close()
    (root / "JOURNAL.md").write_bytes(kept)
    for path in root.glob("index.sqlite3*"):
        path.unlink()
    fault = "the journal ends before record 2, known from the ledger: its end is missing"
    with Store(root, read_only=True) as look:
        assert look.verify().faults == (fault,)
    with Store(root) as again:
        again.remember("three")
        again.remember("four")
        (found,) = again.verify().faults
        assert found == "record 2: the ledger knows another one of this number, so the journal was cut off before it"
        assert any(finding.text == found for finding in again.findings())


def test_index_and_ledger_say_it_in_one_sentence(root: Path) -> None:
    """Where both know the record that is missing, one sentence names both; without a journal it is said, too."""
    store = Store(root)
    store.remember("one")
    store.verify()
    _told_of(store)
    (root / "JOURNAL.md").unlink()
    assert store.verify().faults == (
        "the journal ends before record 1, known from the index and the ledger: its end is missing",
    )


def test_a_purge_leaves_the_anchors(root: Path) -> None:
    """The chain does not change where text goes, so verify stays clean."""
    from memory_magic.store.access import Access
    from memory_magic.store.purge import run
    from memory_magic.store.purge.plan import Request

    store = Store(root)
    one = store.remember("Deploys run on Fridays").id
    _told_of(store)
    run.purge(Access(store), Request(one=one))
    assert store.verify().faults == ()
    assert list(anchors.in_ledger(root)) == [1]


def test_many_foreign_heads_are_counted(root: Path) -> None:
    """Three are named, the rest is counted; damaged lines anchor nothing."""
    store = Store(root)
    for number in range(6):
        store.remember(f"note {number}")
    for number in range(1, 6):
        enter(root, head=(number, f"{number:016x}"))
    with next((root / "ledger").glob("*.jsonl")).open("a") as file:
        file.write('{"time": "2026", "head": {"n": 99, "chain": "12')
    faults = store.verify().faults
    assert len(faults) == 4
    assert faults[-1] == "the ledger knows 2 further records that the journal does not have"


def test_the_hooks_path_loads_the_standard_library_only() -> None:
    """Importing the ledger brings no third-party package, and nothing heavy of the standard library."""
    script = (
        "import sys; before = set(sys.modules); import memory_magic.prompt.ledger;"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"asyncio", "difflib", "email", "http", "logging", "threading", "filelock", "sqlite3"}
    assert heavy.isdisjoint(loaded)
    roots = {name.partition(".")[0] for name in loaded}
    assert roots - set(sys.stdlib_module_names) <= {"memory_magic"}


def test_kinds_are_those_of_the_contract() -> None:
    """injected, written, cited."""
    assert ledger.KINDS == ("injected", "written", "cited")
