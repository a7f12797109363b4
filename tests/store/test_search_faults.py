"""What goes wrong around a search, on the whole store: it always answers, with what the files say, and never raises."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

from memory_magic import cli
from memory_magic.errors import MemoryMagicError
from memory_magic.store import index as index_module
from memory_magic.store import markdown
from memory_magic.store.index import Index
from memory_magic.store.lock import StoreLock
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Patch = pytest.MonkeyPatch
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - another disk than the root's, only looked for
NOTES = (
    *(
        "Deploys run on gen-itgc 20.04",
        "我习惯使用四空格缩进",
        "नमस्ते दुनिया",
        "กาแฟดำ",
        "كتاب جديد على الطاولة",
        "새 서버는 서울에 있다",
    ),
    *(
        "サーバーは東京にある",
        "don't panic",
        "Café à Łódź",
        "😀",
        "NEAR the river AND OR NOT",
        "C++ and C# in Downloads/x",
    ),
)
HARD = (
    *('"', "'", "*", "NEAR(", "NEAR(a b, 3)", "AND", "a OR", "NOT", 'a "b', "deploys*", "terms:deploys", "^deploys"),
    *("{a b}:c", "-deploys", "?!,;.", "…", "to be or not", "the", "\x00", "dep\x00loys", "\ud800", "deploys\udfff"),
    *(
        "deploys " * 1_300,
        "x" * 10_000,
        "缩" * 10_000,
        "(" * 10_000,
        "a " * 5_000,
        "'; DROP TABLE notes; --",
        "\U0010ffff",
    ),
)


def memory(root: Path) -> Path:
    """Return the global memory file."""
    return root / "global" / "MEMORY.md"


def found(store: Store, query: str, scope: str | None = None) -> list[str]:
    """Return the texts that a search finds, best first."""
    return [hit.note.text for hit in store.search(query, scope=scope).hits]


@pytest.fixture
def filled(root: Path) -> Path:
    """Give a root with the notes, closed and level."""
    with Store(root) as store:
        store.remember_many([*NOTES, *(f"filler note {number} of many" for number in range(200))])
    return root


@pytest.fixture
def unusable(monkeypatch: Patch, tmp_path: Path) -> None:
    """Let the index lie where no file can be made."""
    (tmp_path / "in the way").write_text("a file")
    monkeypatch.setenv("MEMORY_MAGIC_INDEX_PATH", str(tmp_path / "in the way" / "index.sqlite3"))


@pytest.fixture
def locked_out(filled: Path) -> Iterator[None]:
    """Let somebody hold the store's lock: nothing can be brought level."""
    with StoreLock(filled).hold():
        yield


def told_once(output: str, sentence: str) -> bool:
    """Tell whether an output says a sentence exactly once, however it is wrapped."""
    return " ".join(output.split()).count(" ".join(sentence.split())) == 1


# -- queries ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", HARD, ids=lambda query: ascii(query)[:20])
def test_no_query_raises_with_the_index_or_without(filled: Path, query: str) -> None:
    """Operators, quotes, punctuation, ten thousand characters, NUL and lone surrogates are words or nothing."""
    with Store(filled) as store:
        hits = store.search(query).hits
        assert store.search(query).fallback is None
    for path in filled.glob("index.sqlite3*"):
        path.unlink()
    with Store(filled, read_only=True) as store:
        assert [hit.note.text for hit in store.search(query).hits] == [hit.note.text for hit in hits]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        *(("NEAR(", "NEAR the river AND OR NOT"), ("AND OR NOT", "NEAR the river AND OR NOT")),
        *(('"deploys', NOTES[0]), ("deploys*", NOTES[0]), ("GEN-ITGC", NOTES[0]), ("itgc", NOTES[0])),
        *(("20.04", NOTES[0]), ("缩进", NOTES[1]), ("缩", NOTES[1]), ("नमस्ते", NOTES[2]), ("กาแฟ", NOTES[3])),
        *(("كتاب", NOTES[4]), ("الطاولة", NOTES[4]), ("서버", NOTES[5]), ("東京", NOTES[6]), ("サーバー", NOTES[6])),
        *(("don't", NOTES[7]), ("cafe", NOTES[8]), ("Cafe\u0301", NOTES[8]), ("lodz", NOTES[8]), ("😀", NOTES[9])),
        *(("c++", NOTES[11]), ("C#", NOTES[11]), ("Downloads/x", NOTES[11]), ("deploys\x00zzz", NOTES[0])),
    ],
)
def test_a_word_of_any_kind_brings_its_note_first(filled: Path, query: str, text: str) -> None:
    """What a person types finds the note that holds it, in each script and spelling."""
    with Store(filled) as store:
        assert found(store, query)[:1] == [text]


# -- the index file --------------------------------------------------------------------------------------------


def _change(*statements: str) -> Callable[[Path], None]:
    def work(path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement)
        connection.close()

    return work


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database" * 5_000)


def _overwritten(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + os.urandom(len(data) - 4096))


DAMAGE: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "empty": lambda path: os.truncate(path, 0),
    "truncated": lambda path: os.truncate(path, 700),
    "cut in the middle": lambda path: os.truncate(path, path.stat().st_size // 2 // 4096 * 4096),
    "garbage": _garbage,
    "garbage after the first page": _overwritten,
    "no FTS data": _change("DROP TABLE search_data"),
    "no FTS index": _change("DROP TABLE search_idx"),
    "no FTS sizes": _change("DROP TABLE search_docsize"),
    "no FTS configuration": _change("DROP TABLE search_config"),
    "no FTS at all": _change("DROP TABLE search"),
    "no notes": _change("DROP TABLE notes"),
    "no blocks": _change("DROP TABLE search_blocks"),
    "no SQL index": _change("DROP INDEX notes_by_id", "DROP INDEX notes_pinned", "DROP INDEX notes_by_line"),
    "older": _change("PRAGMA user_version = 1"),
    "newer": _change("PRAGMA user_version = 99"),
}


@pytest.mark.parametrize("opened", [False, True], ids=["before", "while open"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_index_is_built_anew_by_the_search_itself(
    filled: Path, damage: Callable[[Path], None], *, opened: bool
) -> None:
    """The first search after the damage answers, and by the second the index is whole again, without a word."""
    store = Store(filled)
    if opened:
        assert found(store, "deploys") == [NOTES[0]]
    index = filled / "index.sqlite3"
    if not opened:
        store.close()
        for end in ("-wal", "-shm"):
            (filled / f"index.sqlite3{end}").unlink(missing_ok=True)
    damage(index)
    assert found(store, "deploys") == [NOTES[0]]
    assert found(store, "缩进") == [NOTES[1]]
    for text in NOTES:
        result = store.search(text)
        assert result.hits[0].note.text == text
    store.close()
    with Store(filled) as again:
        result = again.search("C++ panic river")
        assert (len(result.hits), result.fallback) == (3, None)
        assert again.verify().ok
    with sqlite3.connect(index) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("PRAGMA user_version").fetchone()[0] == index_module.SCHEMA


def test_a_damaged_index_of_a_read_only_store_costs_the_index_only(filled: Path) -> None:
    """Who may not write reads the files, says so, and leaves the damage for others to mend."""
    for end in ("-wal", "-shm"):
        (filled / f"index.sqlite3{end}").unlink(missing_ok=True)
    DAMAGE["no FTS data"](filled / "index.sqlite3")
    with Store(filled, read_only=True) as store:
        result = store.search("deploys")
        assert [hit.note.text for hit in result.hits] == [NOTES[0]]
        assert result.fallback


def test_an_index_held_under_an_exclusive_lock_is_done_without(filled: Path, monkeypatch: Patch) -> None:
    """Beyond the time-out the files are read, the answer says so, and the database is not taken for damaged."""
    monkeypatch.setattr(index_module, "BUSY_SECONDS", 0.1)
    inode = (filled / "index.sqlite3").stat().st_ino
    blocker = sqlite3.connect(filled / "index.sqlite3", isolation_level=None)
    blocker.execute("PRAGMA locking_mode = EXCLUSIVE")
    blocker.execute("BEGIN EXCLUSIVE")
    blocker.execute("INSERT OR REPLACE INTO meta VALUES ('held', '1')")
    try:
        with Store(filled) as store:
            result = store.search("deploys")
        assert [hit.note.text for hit in result.hits] == [NOTES[0]]
        assert "locked" in (result.fallback or "")
        with Store(filled, read_only=True) as store:
            result = store.search("deploys")
        assert [hit.note.text for hit in result.hits] == [NOTES[0]]
    finally:
        blocker.execute("ROLLBACK")
        blocker.close()
    assert (filled / "index.sqlite3").stat().st_ino == inode
    with Store(filled) as store:
        assert store.search("deploys").fallback is None


def test_a_busy_database_is_waited_for(filled: Path) -> None:
    """One that is free again within the time-out costs no word."""
    code = (
        "import sqlite3, sys, time\n"
        "held = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "held.execute('PRAGMA locking_mode = EXCLUSIVE'); held.execute('BEGIN EXCLUSIVE')\n"
        "held.execute(\"INSERT OR REPLACE INTO meta VALUES ('held', '1')\")\n"
        "print('held', flush=True); time.sleep(0.7); held.execute('ROLLBACK'); held.close()\n"
    )
    command = [sys.executable, "-c", code, str(filled / "index.sqlite3")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as blocker:
        assert blocker.stdout is not None
        assert blocker.stdout.readline() == "held\n"
        with Store(filled) as store:
            result = store.search("deploys")
            assert ([hit.note.text for hit in result.hits], result.fallback) == ([NOTES[0]], None)


def test_an_index_of_another_store_put_in_its_place_is_not_believed(filled: Path, tmp_path: Path) -> None:
    """A replaced database is opened anew, and what it says of other files is dropped."""
    with Store(tmp_path / "other") as other:
        other.remember("Deploys are somebody else's")
    with Store(filled) as store:
        assert found(store, "deploys") == [NOTES[0]]
        shutil.copy(tmp_path / "other" / "index.sqlite3", tmp_path / "copy")
        (tmp_path / "copy").replace(filled / "index.sqlite3")
        for end in ("-wal", "-shm"):
            (filled / f"index.sqlite3{end}").unlink(missing_ok=True)
        assert found(store, "deploys") == [NOTES[0]]
        assert found(store, "somebody") == []


def test_a_full_disk_costs_the_index_only(filled: Path) -> None:
    """Where SQLite finds no room an edit is still found, now and by the next store."""
    lines = [f"- edited by hand {number} {'x' * 200}" for number in range(300)]
    with Store(filled) as store:
        connection = store._indexes.writing().connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        memory(filled).write_text(memory(filled).read_text() + "\n".join(lines) + "\n")
        for number in (0, 299):
            assert found(store, f"edited {number}")[0].startswith(f"edited by hand {number} ")
    with Store(filled) as store:
        assert found(store, "edited 299")[0].startswith("edited by hand 299 ")
        assert store.search("edited 299").fallback is None


@pytest.mark.parametrize("place", [":memory:", SHARED_MEMORY])
def test_the_index_may_lie_elsewhere(filled: Path, monkeypatch: Patch, place: str) -> None:
    """On another disk or in memory it finds the same, and the root holds none."""
    for path in filled.glob("index.sqlite3*"):
        path.unlink()
    if place != ":memory:" and not os.access(place, os.W_OK):
        pytest.skip(f"no {place} here")
    with tempfile.TemporaryDirectory(dir=None if place == ":memory:" else place) as folder:
        setting = place if place == ":memory:" else f"{folder}/index.sqlite3"
        monkeypatch.setenv("MEMORY_MAGIC_INDEX_PATH", setting)
        with Store(filled) as store:
            for text in NOTES:
                result = store.search(text)
                assert (result.hits[0].note.text, result.fallback) == (text, None)
            store.remember("one more")
            memory(filled).write_text(memory(filled).read_text() + "- and by hand\n")
            assert found(store, "one more")[0] == "one more"
            assert found(store, "by hand")[0] == "and by hand"
        assert not list(filled.glob("index.sqlite3*"))
        assert bool(list(Path(folder).iterdir())) == (place != ":memory:")


def test_a_root_that_may_not_be_written_is_searched_without_a_trace(filled: Path, monkeypatch: Patch) -> None:
    """A read-only store finds the same and makes no file, with an index or without."""
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    for _ in range(2):
        before = {path: path.stat().st_mtime_ns for path in [filled, *filled.rglob("*")]}
        with Store(filled, read_only=True) as store:
            for text in NOTES:
                assert found(store, text)[0] == text
        assert {path: path.stat().st_mtime_ns for path in [filled, *filled.rglob("*")]} == before
        for path in filled.glob("index.sqlite3*"):
            path.unlink()


# -- the reply -------------------------------------------------------------------------------------------------


def test_the_command_line_says_once_that_the_index_is_not_used(
    filled: Path, unusable: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason stands once below the hits, and as one field of the JSON."""
    assert cli.main(["search", "deploys"]) == 0
    output = capsys.readouterr().out
    assert "gen-itgc" in output
    assert told_once(output, "cannot be used")
    assert cli.main(["search", "--json", "deploys"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert "cannot be used" in json.dumps(data)
    assert json.dumps(data).count("cannot be used") == 1


def test_the_magic_says_once_that_the_index_is_not_used(
    filled: Path, unusable: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a notebook, too, the reason stands once, as text and as HTML."""
    shell: InteractiveShell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "memory_magic")
    try:
        capsys.readouterr()
        result = shell.run_line_magic("memory_search", "deploys")
        assert shell.display_formatter is not None
        forms = shell.display_formatter.format(result)[0]
    finally:
        shell.run_line_magic("unload_ext", "memory_magic")
    assert told_once(forms["text/plain"], "cannot be used")
    assert told_once(forms["text/html"], "cannot be used")
    assert "cannot be used" not in capsys.readouterr().out


def test_a_search_while_the_lock_is_held_is_told_once(
    filled: Path, locked_out: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """An edit that nobody can journal yet is found in the file, and the reply says why."""
    memory(filled).write_text(memory(filled).read_text() + "- typed by hand just now\n")
    assert cli.main(["search", "typed"]) == 0
    output = capsys.readouterr().out
    assert "typed by hand just now" in output
    assert told_once(output, "the files were read")


def test_explain_shows_terms_tier_and_score(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person sees how the query was read, and for each hit what it holds, its tier and its score."""
    assert cli.main(["search", "--explain", "Deploys gen-itgc zzzz"]) == 0
    output = capsys.readouterr().out
    assert "deploy" in output
    assert "gen-itgc" in output
    assert "some words" in output
    with Store(filled) as store:
        assert f"{store.search('Deploys gen-itgc zzzz').hits[0].score:.2f}" in output


# -- files, crashes, races -------------------------------------------------------------------------------------


def test_an_edit_of_equal_size_and_time_is_found_at_once(filled: Path) -> None:
    """Size and modification time put back hide nothing."""
    with Store(filled) as store:
        assert found(store, "river") == [NOTES[10]]
        status = memory(filled).stat()
        memory(filled).write_text(memory(filled).read_text().replace("river", "ocean"))
        os.utime(memory(filled), ns=(status.st_atime_ns, status.st_mtime_ns))
        assert memory(filled).stat().st_size == status.st_size
        assert found(store, "ocean") == [NOTES[10].replace("river", "ocean")]
        assert found(store, "river") == []


@pytest.mark.parametrize("point", ["Index.insert", "Index.add_records", "Index.put_source"])
def test_a_crash_between_file_and_index_loses_no_note(filled: Path, point: str) -> None:
    """Killed before the index followed, the next store finds the note, once."""
    code = (
        "import os, signal, sys\nfrom memory_magic.store.index import Index\n"
        "from memory_magic.store.store import Store\n"
        f"store = Store(sys.argv[1]); store.search('warm')\n"
        f"{point} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.remember('written in the last moment')\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(filled)], check=False).returncode == -signal.SIGKILL
    with Store(filled) as store:
        result = store.search("the last moment")
        assert [hit.note.text for hit in result.hits] == ["written in the last moment"]
        assert result.fallback is None
        assert store.verify().ok


READER = """
import sys, time
from memory_magic.store.store import Store
store, until, count = Store(sys.argv[1]), time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < until:
    hits = store.search("anchor").hits
    if not hits or hits[0].note.text != "the anchor stays where it is":
        print("empty", [hit.note.text for hit in hits])
        break
    count += 1
print(count)
"""


@pytest.mark.parametrize(("readers", "seconds"), [(3, 2.0), pytest.param(8, 20.0, marks=pytest.mark.slow)])
def test_readers_beside_a_writer_always_find_what_is_there(filled: Path, readers: int, seconds: float) -> None:
    """No answer is empty, nobody deletes the index, and every write is found at the end."""
    with Store(filled) as store:
        store.remember("the anchor stays where it is", pin=True)
        inode = (filled / "index.sqlite3").stat().st_ino
        command = [sys.executable, "-c", READER, str(filled), str(seconds)]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(readers)]
        written, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            store.remember(f"write number {written} of a busy hour")
            written += 1
            if written % 10 == 0:
                store.retire(f"write number {written - 5} of a busy hour", evidence="x")
        outputs = [process.communicate(timeout=60)[0].split() for process in running]
    assert all(len(output) == 1 and int(output[0]) > 0 for output in outputs), outputs
    assert (filled / "index.sqlite3").stat().st_ino == inode
    with Store(filled) as store:
        assert found(store, f"write number {written - 1}")[0] == f"write number {written - 1} of a busy hour"
        assert store.verify().ok


def test_one_changed_line_among_ten_thousand_writes_few_rows(root: Path) -> None:
    """Following an edit of one line costs SQLite at most four rows, and two more."""
    memory(root).parent.mkdir(parents=True)
    memory(root).write_text("".join(f"- note {number} about subject {number % 97}\n" for number in range(10_000)))
    with Store(root) as store:
        store.search("warm")
        memory(root).write_text(memory(root).read_text().replace("- note 5000 about", "- a changed line about"))
        connection = store._indexes.writing().connection
        before = connection.total_changes
        assert found(store, "changed line") == ["a changed line about subject 53"]
        assert connection.total_changes - before <= 4 * 1 + 2


# -- the rebuild -----------------------------------------------------------------------------------------------


def test_a_rebuild_parses_each_file_once(filled: Path, monkeypatch: Patch) -> None:
    """A file that holds just what the journal knows is taken in while the journal is followed."""
    scanned: list[int] = []

    def scan(text: str) -> list[markdown.Block]:
        scanned.append(len(text))
        return markdown.scan(text)

    monkeypatch.setattr("memory_magic.store.note.scan", scan)
    with Store(filled) as store:
        before = store.list()
        assert store.reindex() == len(NOTES) + 200
        assert len(scanned) == 1
        assert store.list() == before


def test_a_rebuild_beside_an_edit_that_nobody_saw_journals_it(filled: Path) -> None:
    """Index gone and file changed: the edit gets its record, the other notes keep their numbers."""
    with Store(filled) as store:
        kept = {note.id: note.n for note in store.list()}
        last = store.status().journal_records
    for path in filled.glob("index.sqlite3*"):
        path.unlink()
    memory(filled).write_text(memory(filled).read_text() + "- typed meanwhile\n")
    with Store(filled) as store:
        assert found(store, "typed meanwhile") == ["typed meanwhile"]
        assert store.status().journal_records == last + 1
        assert {note.id: note.n for note in store.list() if note.text != "typed meanwhile"} == kept
        assert store.verify().ok


def test_a_large_rebuild_leaves_the_schema_as_it_was(root: Path) -> None:
    """The SQL indexes left out while 5,000 notes come in are all there afterwards, and the answers are the same."""
    memory(root).parent.mkdir(parents=True)
    memory(root).write_text(
        "# Memory\n\n" + "".join(f"- note {number} in group {number % 7}\n" for number in range(5_000))
    )
    sql = "SELECT type, name, sql FROM sqlite_master ORDER BY name"
    with Store(root) as store:
        store.observe()
        assert (root / "JOURNAL.md").stat().st_size > 1 << 20
        schema = store._indexes.writing().connection.execute(sql).fetchall()
        before = store.search("note 4321 group").hits
        assert store.reindex() == 5_000
        assert store._indexes.writing().connection.execute(sql).fetchall() == schema
        assert store.search("note 4321 group").hits == before


def test_a_secret_among_thousands_of_notes_never_reaches_the_index(root: Path) -> None:
    """Typed by hand in the middle of a long file it stays in the file alone, wherever the portions are cut."""
    secret = base64.b64decode("QUtJQVFZTFBNTjVISDNYWUVGUUE=").decode()
    memory(root).parent.mkdir(parents=True)
    for place in (0, 999, 1_000, 2_499):
        lines = [f"note {number} of the file" for number in range(2_500)]
        lines[place] = f"the key of the bucket is {secret}"
        memory(root).write_text("".join(f"- {line}\n" for line in lines))
        with Store(root) as store:
            assert found(store, "bucket")[0].startswith("the key of the bucket is ")
            assert secret not in found(store, "bucket")[0]
            assert not any(secret in text for text in found(store, secret))
    assert secret.encode() not in b"".join(path.read_bytes() for path in root.glob("index.sqlite3*"))


# -- scopes ----------------------------------------------------------------------------------------------------


def test_another_workspace_is_out_of_sight(root: Path, git_repo: Callable[..., Path]) -> None:
    """Its notes are found by `all` only; its ids are answered just like ids that nobody ever gave."""
    with Store(root, cwd=git_repo("one")) as one:
        secret = one.remember("the vault code is blue", scope="workspace")
    with Store(root, cwd=git_repo("two")) as two:
        two.remember("nothing to see", scope="workspace")
        assert found(two, "vault code blue") == []
        assert found(two, "vault", scope="global") == []
        assert found(two, "vault", scope="workspace") == []
        assert found(two, "vault", scope="all") == ["the vault code is blue"]
        told = []
        for target in (secret.id, "z" * 26):
            with pytest.raises(MemoryMagicError) as error:
                two.get(target)
            told.append(str(error.value).replace(target, "ID"))
        assert told[0] == told[1]


# -- any text --------------------------------------------------------------------------------------------------

SCRIPTS = (
    *("abcXYZ019_", "äéøłß", "абвгд", "αβγδ", "אבגד", "ابتث", "कखगि्", "தமிழ்", "กขคา่", "ມລາວ", "မြန်", "ខ្មែរ"),
    *("中文字典", "ひらがなカナ", "한국어글", "😀🎉🇫🇷", "İıſﬁ", "ᚠᚢ", "-_./'@+#", "e\u0301"),
)
chunk = st.one_of([st.text(alphabet=letters, min_size=1, max_size=8) for letters in SCRIPTS])
sentence = st.lists(chunk, min_size=1, max_size=6).map(" ".join)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(sentence, min_size=1, max_size=5), query=st.text(max_size=60))
def test_every_note_is_found_by_each_of_its_words(root: Path, texts: list[str], query: str) -> None:
    """Whatever people write, in whichever script: each of its words brings the note back, and no query raises."""
    shutil.rmtree(root, ignore_errors=True)
    with Store(root) as store:
        for text in texts:
            try:
                store.remember(text)
            except MemoryMagicError:
                continue  # what cannot be a note need not be found
        for note in store.list():
            for word in note.text.split():
                assert note.text in found_many(store, word), word
        store.search(query)


def found_many(store: Store, query: str) -> list[str]:
    """Return the texts of all hits."""
    return [hit.note.text for hit in store.search(query, limit=100).hits]


def test_index_class_is_the_one_that_the_crash_tests_patch() -> None:
    """The names that the crash tests replace in another process exist."""
    assert all(hasattr(Index, name) for name in ("insert", "add_records", "put_source"))
