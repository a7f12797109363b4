"""Notebooks (`.ipynb`, format 4) as sessions.

A cell that begins with `%%ai` is a turn of the person without its first line; its output that carries jupyter-ai's
mark (`jupyter_ai_v3`, before that `jupyter_ai`) is the answer. Every other cell is the person's work, not their word to
an assistant: code, prose and the outputs of code are context, in their place, with the cell's id as reference.

The file is streamed cell by cell, and outputs one by one: what is longer than a limit is passed over and counted, so
that the memory needed does not grow with the pictures and tables in a notebook. Of warnings (stderr) and tracebacks
nothing is kept but the name of the error. A file that ends in the middle gives the cells before that place.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memory_magic.errors import SessionFormatError
from memory_magic.sessions.document import Cursor, DamagedError, UnfinishedError
from memory_magic.sessions.fields import common_host, folder_of, id_of_path, modified, moment, without_colours
from memory_magic.sessions.joining import Conversation
from memory_magic.sessions.jsonl import LINE_LIMIT, MALFORMED, TOO_LONG, UNFINISHED, UNKNOWN
from memory_magic.sessions.records import ASSISTANT, CELL_OUTPUT, CODE, MARKDOWN, USER

if TYPE_CHECKING:
    import os
    from datetime import datetime

    from memory_magic.sessions.records import Session

SOURCE = "notebook"

OUTPUT_LIMIT = 4_000_000  # bytes of one output; a longer one is a picture or a dump
OUTPUT_SHOWN = 4_000  # characters that a cell's outputs have in the context
OUTPUTS_READ = 1_000  # outputs of one cell that are looked at; a progress bar may write many more
METADATA_LIMIT = 1_000_000  # bytes
OLD_FORMAT = "this notebook has a format before 4"

AI_CELL = re.compile(r"\s*%%ai\b[^\n]*(?:\n|\Z)")
_MARKS = ("jupyter_ai_v3", "jupyter_ai")
_ANSWER_TYPES = ("text/markdown", "text/plain", "text/latex", "application/json")
_LOCAL_MODELS = frozenset({"ollama", "ollama_chat", "lm_studio", "gpt4all"})


class _Output(msgspec.Struct):
    """The fields of an output that may hold text."""

    output_type: Any = None
    name: Any = None
    text: Any = None
    data: Any = None
    metadata: Any = None
    ename: Any = None
    evalue: Any = None


class _CellMetadata(msgspec.Struct):
    """The times that a kernel noted, if it was asked to."""

    execution: Any = None


class _Cell:
    """A cell while it is being read: its parts come in any order."""

    def __init__(self, number: int) -> None:
        self.ref = f"cell {number}"
        self.kind: object = None
        self.source = ""
        self.asked: datetime | None = None
        self.answered: datetime | None = None
        self.answers: list[str] = []
        self.hosts: list[str | None] = []
        self.shown: list[str] = []
        self.left = OUTPUT_SHOWN
        self.cut = 0

    def show(self, text: str) -> None:
        """Keep an output's text as long as there is room for it."""
        kept = text[: self.left]
        self.left -= len(kept)
        self.cut += len(text) - len(kept)
        if kept:
            self.shown.append(kept)

    def outputs(self) -> str:
        """Return what the cell printed and gave back, and say how much of it is missing."""
        text = "".join(part if part.endswith("\n") else f"{part}\n" for part in self.shown).removesuffix("\n")
        return f"{text}\n[{self.cut} more characters]" if self.cut else text


def read(path: str | os.PathLike[str]) -> Session:
    """Read one notebook.

    Raises `SessionFormatError` when the file is no JSON, no notebook, or one of a format before 4.
    """
    file = Path(path)
    reading = _Reading()
    try:
        with file.open("rb") as stream:
            reading.document(Cursor(stream))
    except UnfinishedError:
        reading.to.skipped[UNFINISHED] += 1
    except DamagedError:
        reading.to.skipped[MALFORMED] += 1
    except OSError as error:
        raise SessionFormatError(f"the session cannot be read: {error.strerror}", where=str(file)) from error
    if reading.old:
        raise SessionFormatError(
            OLD_FORMAT, where=str(file), hint=f"open and save it in Jupyter, or: jupyter nbconvert --to notebook {file}"
        )
    if not reading.is_notebook:
        raise SessionFormatError("this is no notebook: it has no list of cells", where=str(file))
    return reading.session(file)


class _Reading:
    """The state of one pass over a notebook."""

    def __init__(self) -> None:
        self.to = Conversation()
        self.is_notebook = False
        self.old = False
        self._local_only = False
        self._hosts: list[str | None] = []
        self._output_decoder = msgspec.json.Decoder(_Output)
        self._metadata_decoder = msgspec.json.Decoder(_CellMetadata)

    def document(self, cursor: Cursor) -> None:
        """Read the whole file."""
        for key in cursor.members():
            if key == "cells" and cursor.is_at("["):
                self.is_notebook = True
                for number in cursor.elements():
                    self._cell(cursor, number)
            elif key == "worksheets":
                self.old = True
            elif key == "metadata":
                self._metadata(self._decode(cursor, METADATA_LIMIT))

    def _decode(self, cursor: Cursor, limit: int) -> object:
        """Take one value; None, counted, when it is too long or no JSON."""
        raw = cursor.value(limit)
        if raw is None:
            self.to.skipped[TOO_LONG] += 1
            return None
        try:
            return msgspec.json.decode(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            self.to.skipped[MALFORMED] += 1
            return None

    def _metadata(self, metadata: object) -> None:
        """Take what the notebook says about itself."""
        ours = metadata.get("memory_magic") if isinstance(metadata, dict) else None
        self._local_only = isinstance(ours, dict) and ours.get("local_only") is True

    def _cell(self, cursor: Cursor, number: int) -> None:
        """Read one cell and put it into the conversation; one without a type was not read to its end."""
        if not cursor.is_at("{"):
            self.to.skipped[MALFORMED] += 1
            return
        cell = _Cell(number)
        for key in cursor.members():
            if key == "source":
                cell.source = _lines(self._decode(cursor, LINE_LIMIT))
            elif key in ("cell_type", "id"):
                value = self._decode(cursor, METADATA_LIMIT)
                if key == "cell_type":
                    cell.kind = value
                elif isinstance(value, str) and value:
                    cell.ref = f"cell {value}"
            elif key == "metadata":
                self._times(cell, cursor)
            elif key == "outputs" and cursor.is_at("["):
                self._outputs(cell, cursor)
        self._put(cell)

    def _times(self, cell: _Cell, cursor: Cursor) -> None:
        """Take when a cell was run and when it was done."""
        raw = cursor.value(METADATA_LIMIT)
        try:
            execution = self._metadata_decoder.decode(raw or b"{}").execution
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            self.to.skipped[MALFORMED] += 1
            return
        times = execution if isinstance(execution, dict) else {}
        cell.asked = moment(times.get("iopub.execute_input")) or moment(times.get("iopub.status.busy"))
        cell.answered = moment(times.get("shell.execute_reply")) or cell.asked

    def _outputs(self, cell: _Cell, cursor: Cursor) -> None:
        """Take the text of a cell's outputs."""
        for number in cursor.elements():
            if number >= OUTPUTS_READ:
                self.to.skipped["outputs beyond the limit"] += 1
                continue
            raw = cursor.value(OUTPUT_LIMIT)
            if raw is None:
                self.to.skipped[TOO_LONG] += 1
                continue
            try:
                self._output(cell, self._output_decoder.decode(raw))
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                self.to.skipped[MALFORMED] += 1

    @staticmethod
    def _output(cell: _Cell, output: _Output) -> None:
        """Sort one output into answer, text to show, or nothing."""
        data = output.data if isinstance(output.data, dict) else {}
        mark = _mark(output.metadata)
        if mark is not None:
            answer = next((_lines(data[kind]) for kind in _ANSWER_TYPES if kind in data), "")
            cell.answers.append(answer)
            cell.hosts.append(_host(mark))
        elif output.output_type == "stream":
            if output.name != "stderr":
                cell.show(without_colours(_lines(output.text)))
        elif output.output_type == "error":
            cell.show(without_colours(f"{output.ename}: {output.evalue}"))
        else:
            cell.show(without_colours(_lines(data.get("text/plain"))))

    def _put(self, cell: _Cell) -> None:
        """Add a cell that is complete."""
        if cell.kind == "code" and (first := AI_CELL.match(cell.source)):
            self.to.say(USER, cell.source[first.end() :].strip("\n"), cell.ref, cell.asked)
            for answer in cell.answers:
                self.to.say(ASSISTANT, answer, cell.ref, cell.answered)
            self._hosts += cell.hosts
            self.to.note(CELL_OUTPUT, cell.outputs(), cell.ref)
        elif cell.kind == "code":
            self.to.note(CODE, cell.source, cell.ref)
            self.to.note(CELL_OUTPUT, cell.outputs(), cell.ref)
        elif cell.kind in ("markdown", "raw", "heading"):
            self.to.note(MARKDOWN, cell.source, cell.ref)
        else:
            self.to.skipped[UNKNOWN] += 1

    def session(self, file: Path) -> Session:
        """Return what was read; a notebook lies in the folder that it works in."""
        return self.to.session(
            file,
            id=id_of_path(file),
            source=SOURCE,
            cwd=folder_of(file),
            touched=modified(file),
            origin_host=common_host(self._hosts),
            local_only=self._local_only,
        )


def _lines(value: object) -> str:
    """Return a text that may be stored as a list of lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return "" if value is None else msgspec.json.encode(value).decode()


def _mark(metadata: object) -> dict[str, object] | None:
    """Return jupyter-ai's mark of an output: it stands beside the whole output or beside one form of it."""
    if not isinstance(metadata, dict):
        return None
    for place in (metadata, *(inner for inner in metadata.values() if isinstance(inner, dict))):
        for name in _MARKS:
            if name in place:
                mark = place[name]
                return mark if isinstance(mark, dict) else {}
    return None


def _host(mark: dict[str, object]) -> str | None:
    """Return the host of the model that answered: known only of models that run on this machine."""
    provider = mark.get("provider_id")
    model = mark.get("model_id")
    name = provider if isinstance(provider, str) else model.split("/")[0] if isinstance(model, str) else ""
    return "localhost" if name.lower() in _LOCAL_MODELS else None
