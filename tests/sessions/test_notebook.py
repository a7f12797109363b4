"""The notebook reader: `%%ai` cells as turns, everything else as context, in bounded memory."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import SessionFormatError
from memory_magic.sessions import notebook

if TYPE_CHECKING:
    from memory_magic.sessions.records import Session

DATA = Path(__file__).resolve().parent.parent / "data" / "sessions"
FILE = DATA / "notebooks" / "ai_magic.ipynb"
EXPECTED: Any = json.loads((DATA / "expected" / "ai_magic.ipynb.json").read_text(encoding="utf-8"))


def code(source: str, *outputs: object, **more: object) -> dict[str, object]:
    """Return a code cell."""
    return {"cell_type": "code", "id": "c1", "metadata": {}, "outputs": list(outputs), "source": source, **more}


def answer(data: dict[str, object], **metadata: object) -> dict[str, object]:
    """Return the output of an answer."""
    return {"output_type": "execute_result", "data": data, "metadata": metadata}


def stream(text: object, name: str = "stdout") -> dict[str, object]:
    """Return what a cell printed."""
    return {"output_type": "stream", "name": name, "text": text}


def read(folder: Path, *cells: object, **metadata: object) -> Session:
    """Write a notebook and read it."""
    path = folder / "nb.ipynb"
    whole = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    return notebook.read(path)


def context(session: Session) -> list[tuple[str, str]]:
    """Return kind and text of what is no turn."""
    return [(note.kind, note.text) for note in session.context]


def test_the_real_file_gives_exactly_its_turns() -> None:
    """One question and one answer, no call, nothing of the warnings."""
    session = notebook.read(FILE)
    assert [{"role": turn.role, "text": turn.text} for turn in session.turns] == EXPECTED["turns"]
    assert session.calls == ()
    assert session.skipped == {}
    everything = "".join([*(turn.text for turn in session.turns), *(note.text for note in session.context)])
    assert [text for text in EXPECTED["must_not_appear"] if text in everything] == []
    assert session.updated == datetime(2026, 11, 30, 18, 51, 29, 647384, tzinfo=UTC)
    assert session.cwd == str(FILE.parent)


def test_the_real_file_gives_its_other_cells_as_context() -> None:
    """Code, prose, results, prints and errors of every cell, under the id of the cell."""
    session = notebook.read(FILE)
    notes = [(note.ref, note.text) for note in session.context]
    for cell in EXPECTED["cells"]:
        ref = f"cell {cell['id']}"
        if not cell["source"].startswith("%%ai"):
            assert (ref, cell["source"]) in notes
            shown = "\n".join(text for found, text in notes if found == ref)
            assert [
                cell[part] for part in ("stdout", "result", "error") if cell.get(part, "").strip() not in shown
            ] == []
    assert "\x1b" not in repr(session.context)
    assert {turn.ref for turn in session.turns} == {"cell 26a02fc4"}


@pytest.mark.parametrize(
    ("data", "metadata", "said"),
    [
        ({"text/markdown": ["a\n", "b"]}, {"text/markdown": {"jupyter_ai_v3": {"model_id": "m"}}}, "a\nb"),
        ({"text/markdown": "a"}, {"text/markdown": {"jupyter_ai": {"provider_id": "p"}}}, "a"),
        ({"text/plain": "p", "text/markdown": "a"}, {"jupyter_ai": {"provider_id": "p"}}, "a"),
        ({"application/json": {"x": [1]}}, {"application/json": {"jupyter_ai": {}}}, '{"x":[1]}'),
        ({"text/html": "AI generated code inserted below"}, {"text/html": {"jupyter_ai": {}}}, None),
        ({"text/markdown": "a"}, {}, None),
    ],
)
def test_only_marked_outputs_are_answers(
    tmp_path: Path, data: dict[str, object], metadata: dict[str, object], said: str | None
) -> None:
    """Both marks of jupyter-ai, beside the output or beside one form of it."""
    session = read(tmp_path, code("%%ai openai/gpt-4o -f x\nwhy?\n", answer(data, **metadata)))
    assert [turn.text for turn in session.turns] == ["why?", *([said] if said else [])]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("%%ai m\nwhy?", ["why?"]),
        ("\n%%ai\nwhy?\nhow?", ["why?\nhow?"]),
        ("%%ai m", []),
        ("%%aid m\nwhy?", []),
        ("# %%ai m\nwhy?", []),
        ("%ai list", []),
    ],
)
def test_only_the_cell_magic_asks(tmp_path: Path, source: str, said: list[str]) -> None:
    """A line magic, a comment and another magic do not."""
    assert [turn.text for turn in read(tmp_path, code(source)).turns] == said


def test_an_output_keeps_its_place_and_its_limit(tmp_path: Path) -> None:
    """Long prints are cut, and the text says by how much; warnings are left out."""
    session = read(
        tmp_path,
        code("f()", stream(["a\n", "b\n"]), stream("warn", "stderr"), stream("x" * 5000)),
        {"cell_type": "markdown", "metadata": {}, "source": ["# so\n", "it is"]},
    )
    shown = context(session)[1][1]
    assert shown.startswith("a\nb\nxxx")
    assert shown.endswith("x\n[1004 more characters]")
    assert [kind for kind, _ in context(session)] == ["code", "cell_output", "markdown"]
    assert session.context[2].ref == "cell 1"


def test_errors_keep_their_name_and_lose_their_colours(tmp_path: Path) -> None:
    """No traceback, no escape sequence."""
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "\x1b[31mno\x1b[0m", "traceback": ["\x1b[31mTB"]}
    assert context(read(tmp_path, code("f()", failed)))[1] == ("cell_output", "ValueError: no")


def test_updated_is_the_files_time_where_turns_have_none(tmp_path: Path) -> None:
    """A kernel notes times only when it is asked to."""
    session = read(tmp_path, code("%%ai m\nwhy?"))
    changed = datetime.fromtimestamp((tmp_path / "nb.ipynb").stat().st_mtime, UTC)
    assert session.updated is not None
    assert abs((session.updated - changed).total_seconds()) < 0.001
    assert session.interactive is True


def test_a_notebook_may_ask_to_stay_here(tmp_path: Path) -> None:
    """`memory_magic.local_only` in its metadata, and nothing else that looks like yes."""
    assert read(tmp_path, memory_magic={"local_only": True}).local_only is True
    for value in ("true", 1, None):
        assert read(tmp_path, memory_magic={"local_only": value}).local_only is False
    assert read(tmp_path, memory_magic="local_only").local_only is False


@pytest.mark.parametrize(
    ("model", "host"), [("ollama/qwen", "localhost"), ("openai/gpt-4o", None), ("huggingface_hub:x", None)]
)
def test_only_models_of_this_machine_tell_their_host(tmp_path: Path, model: str, host: str | None) -> None:
    """The name of a provider may stand for any server that speaks its protocol."""
    mark = {"text/markdown": {"jupyter_ai_v3": {"model_id": model}}}
    assert read(tmp_path, code("%%ai m\nq", answer({"text/markdown": "a"}, **mark))).origin_host == host


def test_two_notebooks_of_one_name_are_two_sessions(tmp_path: Path) -> None:
    """A notebook has no id of its own: its place is its identity, however the path is written."""
    (tmp_path / "a").mkdir()
    first, second = read(tmp_path), read(tmp_path / "a")
    assert first.id != second.id
    assert notebook.read(tmp_path / "a" / ".." / "nb.ipynb").id == first.id


def test_odd_cells_do_not_stop_the_reader(tmp_path: Path) -> None:
    """Every field may be missing or of another type."""
    odd = [5, {}, {"cell_type": "code"}, {"cell_type": "hologram"}, code("x", "y", {}, {"data": 5, "metadata": [1]})]
    session = read(tmp_path, *odd, {"cell_type": "code", "metadata": 5, "source": 7, "outputs": {}, "id": 3})
    assert context(session) == [("code", "x"), ("code", "7")]
    assert session.skipped == {"malformed": 3, "unknown": 2}


def test_no_cells_is_a_session_without_turns(tmp_path: Path) -> None:
    """A new notebook is no damage."""
    session = read(tmp_path)
    assert (session.turns, session.context, session.skipped) == ((), (), {})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no notebook"),
        (b"<html>", "no notebook"),
        (b"{}", "no notebook"),
        (b"[]", "no notebook"),
        (b'{"cells": 5}', "no notebook"),
        (b'{"messages": [], "users": {}}', "no notebook"),
        (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "format before 4"),
    ],
)
def test_a_file_that_is_no_notebook_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    """The error says what the file is not."""
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(SessionFormatError, match=rf"{says}.*x\.ipynb"):
        notebook.read(path)


def test_a_missing_file_is_our_error(tmp_path: Path) -> None:
    """Nobody gets a traceback for a notebook that was deleted meanwhile."""
    with pytest.raises(SessionFormatError, match="cannot be read"):
        notebook.read(tmp_path / "nowhere.ipynb")


def test_half_a_notebook_gives_half_its_cells() -> None:
    """A file that is being written, or was cut, is read up to there."""
    whole = notebook.read(FILE)
    raw = FILE.read_bytes()
    path = Path("half.ipynb")
    path.write_bytes(raw[: raw.index(b"1/0")])
    half = notebook.read(path)
    assert half.turns == whole.turns
    assert half.skipped == {"unfinished": 1}
    assert [note.text for note in half.context] == [note.text for note in whole.context[: len(half.context)]]


@pytest.mark.parametrize("many", [False, True], ids=["pictures", "prints"])
def test_huge_outputs_need_little_memory(tmp_path: Path, *, many: bool) -> None:
    """Pictures (200 MB) and endless prints (60 MB) are passed over, counted, and the cells around them are read."""
    path = tmp_path / "big.ipynb"
    picture = b'{"output_type": "display_data", "metadata": {}, "data": {"image/png": "%s"}}' % (b"A" * 5_000_000)
    line = json.dumps(stream("y" * 4000)).encode()
    outputs = [b",".join([line] * 3_000)] * 5 if many else [picture] * 40
    with path.open("wb") as file:
        file.write(b'{"cells": [' + json.dumps(code("before")).encode() + b',{"cell_type": "code", "outputs": [')
        for number, output in enumerate(outputs):
            file.write(b"," * bool(number) + output)
        file.write(b'], "source": "plot()"},' + json.dumps(code("after")).encode() + b"]}")
    tracemalloc.start()
    try:
        session = notebook.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [note.text for note in session.context if note.kind == "code"] == ["before", "plot()", "after"]
    assert session.skipped == ({"outputs beyond the limit": 14_000} if many else {"too long": 40})
    assert peak < 12_000_000


@given(st.data())
def test_whatever_happens_to_the_bytes_a_session_or_our_error_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Cut, overwritten or mixed up: no other exception, and never more turns than there were."""
    raw = bytearray(FILE.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 300))] = data.draw(st.binary(max_size=20))
        raw = raw or bytearray(b" ")
    path = tmp_path_factory.getbasetemp() / "damaged.ipynb"
    path.write_bytes(raw)
    try:
        session = notebook.read(path)
    except SessionFormatError:
        return
    assert len(session.turns) <= 2
