"""Slips that a person makes at the command line or in a cell: each is said, and none changes what was not meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic import Store, commands
from memory_magic.cli import main
from memory_magic.commands_base import Context, Outcome, StoppedError
from memory_magic.errors import MemoryMagicError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Outcome]


@pytest.fixture
def run(root: Path) -> Run:
    """Run a command as the command line would, without printing."""

    def runner(name: str, *words: str, **options: Any) -> Outcome:
        context = Context(**options)
        try:
            return commands.run_words(commands.find(name), words, context)[0]
        finally:
            context.close()

    return runner


def test_words_of_the_reason_never_enter_the_note(run: Run, root: Path) -> None:
    """A reason without quotes is refused instead of ending up in the note; quotes, and a note after it, are fine."""
    run("remember", "Sales are in GBP")
    with pytest.raises(UsageError, match="quotes"):
        run("revise", "Sales are in GBP", "Sales", "are in EUR", "--evidence", "because", "the", "boss", "said")
    assert [note.text for note in Store(root).list()] == ["Sales are in GBP"]
    run("revise", "Sales are in GBP", "--evidence", "finance mail", "Sales", "are", "in", "EUR")
    run("revise", "Sales are in EUR", "Sales are in CHF", "--evidence=finance mail")
    assert [note.text for note in Store(root).list()] == ["Sales are in CHF"]


@pytest.mark.parametrize("name", ["bin.bin", "notes.md"])
def test_what_is_no_text_is_not_imported(run: Run, root: Path, tmp_path: Path, name: str) -> None:
    """A file that is no UTF-8, with or without NUL, is refused with the line; nothing of it is taken."""
    (tmp_path / name).write_bytes(b"- fine\n- \xff\xfe\x81\n")
    with pytest.raises(MemoryMagicError, match=rf"no UTF-8.*{name}:2"):
        run("import", str(tmp_path / name))
    assert Store(root).list() == []


def test_a_broken_export_is_no_markdown(run: Run, root: Path, tmp_path: Path) -> None:
    """A .jsonl file that is none of ours does not become a note."""
    (tmp_path / "bad.jsonl").write_text("not json\n", encoding="utf-8")
    with pytest.raises(MemoryMagicError, match="no export"):
        run("import", str(tmp_path / "bad.jsonl"))
    assert Store(root).list() == []


def test_control_c_at_a_question_stops_without_a_traceback(run: Run, root: Path) -> None:
    """Whoever presses Ctrl-C at a question is told that nothing was done; the exit status is the shell's 130."""

    def pressed(question: str) -> bool:
        raise KeyboardInterrupt

    run("remember", "one note")
    with pytest.raises(StoppedError, match="nothing was done") as stopped:
        run("purge", "one note", ask=pressed)
    assert stopped.value.exit_status == 130
    assert len(Store(root).list()) == 1


def test_a_question_that_was_shown_is_not_said_twice(run: Run) -> None:
    """Where the input has ended the error is short; where nothing was shown it holds the question."""

    def ended(question: str) -> bool:
        raise EOFError

    def no_input(question: str) -> bool:
        raise RuntimeError

    run("remember", "one note")
    with pytest.raises(MemoryMagicError, match="nobody answered") as short:
        run("purge", "one note", ask=ended)
    assert "one note" not in str(short.value)
    with pytest.raises(MemoryMagicError, match="one note") as whole:
        run("purge", "one note", ask=no_input)
    assert "?." not in str(whole.value)


def test_an_option_before_the_command_needs_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    """`memory-magic --root` says what is missing, on one line."""
    assert main(["--root"]) == 2
    assert capsys.readouterr().err == "memory-magic: --root needs a value after it\n"
