"""The IPython history reader: what was typed, and a live database that never notices."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import ipython_history, live_copy

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
FILES = sorted((DATA / "ipython").glob("*.sqlite"))
SCHEMA = """
    CREATE TABLE sessions (session integer primary key autoincrement, start timestamp, end timestamp,
                           num_cmds integer, remark text);
    CREATE TABLE history (session integer, line integer, source text, source_raw text, PRIMARY KEY (session, line));
    CREATE TABLE output_history (session integer, line integer, output text, PRIMARY KEY (session, line));
"""
START, END = "2026-11-30 18:00:00.000000+00:00", "2026-11-30 19:00:00.000000+00:00"


def expected(path: Path) -> Any:
    """Return what a reader must find in one file."""
    return json.loads((DATA / "expected" / f"{path.name}.json").read_text(encoding="utf-8"))


def make(path: Path, *cells: object, outputs: dict[int, object] | None = None, end: str | None = END) -> Path:
    """Write a history of one session."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.execute("INSERT INTO sessions VALUES (1, ?, ?, 0, '')", (START, end))
        for line, cell in enumerate(cells, start=1):
            connection.execute("INSERT INTO history VALUES (1, ?, 'transformed', ?)", (line, cell))
        for line, output in (outputs or {}).items():
            connection.execute("INSERT INTO output_history VALUES (1, ?, ?)", (line, output))
    return path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_real_file_gives_exactly_its_turns_and_cells(path: Path) -> None:
    """What was typed is read, nothing that an input transformer put in; outputs only where they were stored."""
    wanted, session = expected(path), ipython_history.read(path)
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == wanted["turns"]
    assert (session.calls, session.cwd, session.source, session.skipped) == ((), None, "ipython", {})
    everything = repr(session.turns) + repr(session.context)
    assert [text for text in wanted["must_not_appear"] if text in everything] == []
    notes = [(note.kind, note.ref, note.text) for note in session.context]
    for cell in wanted["cells"]:
        ref = f"cell {cell['session']}/{cell['line']}"
        if not cell["source_raw"].startswith("%%ai"):
            assert ("code", ref, cell["source_raw"]) in notes
        if cell["output"] is not None:
            assert ("cell_output", ref, cell["output"]) in notes


def test_both_files_are_there() -> None:
    """No real file is passed over unseen."""
    assert len(FILES) == 2


def test_stored_outputs_of_questions_are_answers(tmp_path: Path) -> None:
    """Unless only the name of an object was stored."""
    path = make(
        tmp_path / "h.sqlite",
        "%%ai m -f text\nwhy?",
        "%%ai m\nhow?",
        "%%ai m",
        "x",
        outputs={1: "because\x1b[0m", 2: "<IPython.core.display.Markdown object>", 4: "y" * 5000},
    )
    session = ipython_history.read(path)
    assert [(turn.role, turn.text) for turn in session.turns] == [
        ("user", "why?"),
        ("assistant", "because"),
        ("user", "how?"),
    ]
    assert session.context[-1].text.endswith("y\n[1000 more characters]")
    assert session.interactive is True


def test_updated_is_the_end_of_the_last_session_with_cells(tmp_path: Path) -> None:
    """While a session runs, and where nothing was typed, it is the file's own time."""
    path = make(tmp_path / "h.sqlite", "x")
    session = ipython_history.read(path)
    assert session.started == datetime(2026, 11, 30, 18, tzinfo=UTC)
    assert session.updated == datetime(2026, 11, 30, 19, tzinfo=UTC)
    for other in (make(tmp_path / "running.sqlite", "x", end=None), make(tmp_path / "empty.sqlite")):
        os.utime(other, (1_796_000_000, 1_796_000_000))
        assert ipython_history.read(other).updated == datetime.fromtimestamp(1_796_000_000, UTC)


def test_times_without_zone_are_local_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython writes the start of a session without a zone, its end with one; what is no time is none."""
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert ipython_history._local("2026-11-30 20:00:00.5") == datetime(2026, 11, 30, 12, 0, 0, 500000, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [ipython_history._local(odd) for odd in (None, 5, "soon", b"x")] == [None] * 4


def test_odd_values_are_counted(tmp_path: Path) -> None:
    """A cell without text, a number, bytes that are no text, a cell of 33 MB."""
    path = make(tmp_path / "h.sqlite", None, b"\xff\xfe", "x" * 33_000_000, "ok", outputs={4: b"\x00"})
    session = ipython_history.read(path)
    assert [note.text for note in session.context] == ["ok"]
    assert session.skipped == {"malformed": 2, "too long": 1}


WRITER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
count, until = 0, time.monotonic() + float(sys.argv[2])
print("ready", flush=True)
while time.monotonic() < until:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO history VALUES (2, ?, 'x', 'x')", (count,))
    connection.execute("COMMIT")
    count += 1
print(count)
"""


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_writer_that_never_waits_is_never_disturbed(tmp_path: Path, mode: str) -> None:
    """Its transactions all succeed while the history is read again and again."""
    path = make(tmp_path / "h.sqlite", *["y"] * 200)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode={mode}")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "1.5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    read = 0
    while writer.poll() is None:
        try:
            assert len(ipython_history.read(path).context) >= 200
        except SessionFormatError:  # a copy of a moment in which it was half written: said, and tried another time
            continue
        read += 1
    out, err = writer.communicate()
    assert (writer.returncode, err) == (0, "")
    assert int(out) > 0
    assert read > 0


def test_an_open_transaction_is_not_waited_for(tmp_path: Path) -> None:
    """Whoever holds the database, what was committed before is read at once."""
    path = make(tmp_path / "h.sqlite", "x")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("INSERT INTO history VALUES (2, 1, 'y', 'y')")
        began = time.monotonic()
        assert [note.text for note in ipython_history.read(path).context] == ["x"]
        assert time.monotonic() - began < 4
        connection.execute("COMMIT")
    assert [note.text for note in ipython_history.read(path).context] == ["x", "y"]


def test_our_own_process_keeps_its_locks(tmp_path: Path) -> None:
    """Reading the history of the kernel that we run in must not take IPython's lock away from it."""
    path = make(tmp_path / "h.sqlite", "x")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO history VALUES (2, 1, 'y', 'y')")
        ipython_history.read(path)
        code = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
        other = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        connection.execute("COMMIT")
    assert "database is locked" in other.stderr


def test_nothing_is_written_beside_the_history(tmp_path: Path) -> None:
    """Neither bytes nor times nor files of the folder change; the copy has no name even while it is read."""
    path = make(tmp_path / "h.sqlite", "x")
    before = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    with live_copy.opened(path) as connection:
        copy = Path(connection.execute("PRAGMA database_list").fetchone()[2])
        assert not copy.exists()
        assert not copy.parent.exists()
        assert connection.execute("SELECT source_raw FROM history").fetchall() == [("x",)]
    after = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    assert before == after


@pytest.mark.parametrize("content", [b"", b"text", b"SQLite format 3\x00" + b"\x00" * 2000])
def test_a_file_that_is_no_history_is_refused(tmp_path: Path, content: bytes) -> None:
    """An empty file, a text, a database that is damaged."""
    path = tmp_path / "x.sqlite"
    path.write_bytes(content)
    with pytest.raises(SessionFormatError, match=r"no IPython history.*x\.sqlite"):
        ipython_history.read(path)


def test_another_database_is_refused(tmp_path: Path) -> None:
    """A database without the tables of a history."""
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE history (id integer)")
    with pytest.raises(SessionFormatError, match="no IPython history"):
        ipython_history.read(path)


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    """Nobody gets a traceback for a history that was deleted meanwhile, nor for a folder."""
    for path in (tmp_path / "nowhere.sqlite", tmp_path):
        with pytest.raises(SessionFormatError, match="cannot be read"):
            ipython_history.read(path)


@settings(max_examples=15)
@given(st.data())
def test_whatever_happens_to_the_bytes_a_session_or_our_error_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut or overwritten: no other exception."""
    raw = bytearray(FILES[1].read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 300))] = data.draw(st.binary(max_size=20))
        raw = raw or bytearray(b" ")
    path = tmp_path_factory.getbasetemp() / "damaged.sqlite"
    path.write_bytes(raw)
    try:
        session = ipython_history.read(path)
    except SessionFormatError:
        return
    assert session.calls == ()
