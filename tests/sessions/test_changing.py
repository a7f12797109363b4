"""Files that change while they are read, or were left half-written: every reader, every real file."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from memory_magic import sessions
from memory_magic.errors import SessionFormatError
from memory_magic.sessions import claude_code
from memory_magic.sessions.document import Cursor, DamagedError
from memory_magic.sessions.jsonl import Lines

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
FILES = sorted(path for path in DATA.rglob("*") if path.suffix in (".jsonl", ".chat", ".ipynb"))
FILES += sorted((DATA / "mito").rglob("*.json"))


@pytest.mark.parametrize("original", FILES, ids=lambda path: path.name[-30:])
def test_half_a_file_gives_the_turns_up_to_there(tmp_path: Path, original: Path) -> None:
    """Wherever its writer stands: no turn is made up, none is out of order, and the rest comes when it is written."""
    raw = original.read_bytes()
    whole = [(turn.role, turn.text) for turn in sessions.read(original).turns]
    path = tmp_path / original.name
    for part in range(1, 24):
        path.write_bytes(raw[: len(raw) * part // 24])
        try:
            session = sessions.read(path)
        except SessionFormatError:
            continue
        turns = [(turn.role, turn.text) for turn in session.turns]
        assert turns == whole[: len(turns)]
    path.write_bytes(raw)
    assert [(turn.role, turn.text) for turn in sessions.read(path).turns] == whole


@pytest.mark.parametrize("original", FILES, ids=lambda path: path.name[-30:])
def test_reading_changes_nothing(tmp_path: Path, original: Path) -> None:
    """Neither the bytes nor the time of another program's file."""
    path = tmp_path / original.name
    path.write_bytes(original.read_bytes())
    path.chmod(0o400)
    before = path.stat()
    sessions.read(path)
    after = path.stat()
    assert (before.st_mtime_ns, before.st_size, before.st_mode) == (after.st_mtime_ns, after.st_size, after.st_mode)
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == [original.name]


def test_a_file_that_is_cut_under_the_reader_ends_there(tmp_path: Path) -> None:
    """No crash, no endless loop: what was not read yet is not there."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "' + "x" * 1000 + '"}\n' * 1, encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8") * 5_000, encoding="utf-8")
    seen = 0
    for number, _ in Lines(path, msgspec.json.Decoder(Any)):
        seen = number
        if number == 1:
            path.write_bytes(b"")
    assert 1 <= seen < 5_000


def test_a_document_that_is_cut_under_the_reader_is_unfinished(tmp_path: Path) -> None:
    """The same for a file that is one value."""
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps({"cells": ["x" * 100] * 1_000}), encoding="utf-8")
    seen: list[bytes | None] = []

    def read(cursor: Cursor) -> None:
        """Take every element; cut the file after the fourth."""
        for _ in cursor.members():
            for number in cursor.elements():
                seen.append(cursor.value(1_000))
                if number == 3:
                    path.write_bytes(b"")

    with path.open("rb", buffering=0) as stream, pytest.raises(DamagedError):
        read(Cursor(io.BufferedReader(stream), 1024))
    assert 3 < len(seen) < 1_000


def test_a_file_that_is_replaced_under_the_reader_is_read_as_it_was(tmp_path: Path) -> None:
    """Programs that write beside and rename leave the old file to whoever holds it."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n' * 50_000, encoding="utf-8")
    seen = 0
    for number, _ in Lines(path, msgspec.json.Decoder(Any)):
        seen = number
        if number == 1:
            other = tmp_path / "y"
            other.write_text("{}\n", encoding="utf-8")
            other.replace(path)
    assert seen == 50_000


def said(number: int) -> str:
    """Return the line of a turn that goes on from the one before it."""
    parent = f"u{number - 1}" if number else None
    ids = {"uuid": f"u{number}", "parentUuid": parent, "sessionId": "s"}
    return json.dumps({"type": "user", **ids, "message": {"content": f"turn {number}"}})


def test_a_file_that_grows_is_read_again_and_again(tmp_path: Path) -> None:
    """At every moment a prefix of the conversation comes back, though lines arrive in pieces."""
    lines = [said(number) for number in range(200)]
    path = tmp_path / "x.jsonl"
    path.write_text(lines[0] + "\n", encoding="utf-8")

    def grow() -> None:
        """Write the rest in halves of lines."""
        with path.open("a", encoding="utf-8") as file:
            for line in lines[1:]:
                for piece in (line[:40], line[40:] + "\n"):
                    file.write(piece)
                    file.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    running = True
    while running:
        running = writer.is_alive()
        turns = [turn.text for turn in claude_code.read(path).turns]
        assert turns == [f"turn {n}" for n in range(len(turns))]
    writer.join()
    assert len(turns) == 200


@pytest.mark.parametrize("original", FILES, ids=lambda path: path.name[-30:])
def test_a_file_that_goes_away_is_said(tmp_path: Path, original: Path) -> None:
    """Each reader says so in one sentence when its file was deleted after it had been listed."""
    source = sessions.read(original).source
    with pytest.raises(SessionFormatError, match="cannot be read"):
        sessions.read_as(source, tmp_path / original.name)
