"""Quick capture: which cells are a note, and when one is taken."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell

import memory_magic
from memory_magic import settings
from memory_magic.notebook.quick_capture import captured

if TYPE_CHECKING:
    from collections.abc import Iterator

TAKEN = {
    "# Deploys run on Tuesdays": "Deploys run on Tuesdays",
    "\n\n#  two spaces  \n": "two spaces",
    "#\ttab": "tab",
    "# +1 for a dark theme": "+1 for a dark theme",
    "# -5 degrees is cold": "-5 degrees is cold",
    "# 图表默认使用深色主题": "图表默认使用深色主题",
    "# noqable things": "noqable things",
    "# the type: is int": "the type: is int",
    "# a # b": "a # b",
}
LEFT = [
    "#text",
    "## heading",
    "#! /bin/sh",
    "#!text",
    "# ",
    "#",
    "",
    "x = 1",
    "# note\nx = 1",
    "# one\n# two",
    "x = 1  # note",
    "# %%",
    "# %% [markdown]",
    "# +",
    '# + tags=["a"]',
    "# -",
    "# - end",
    "# ---",
    "# type: ignore",
    "# type:ignore",
    "# noqa",
    "# noqa: E501",
    "# NOQA",
    "# fmt: off",
    "# mypy: ignore-errors",
    "# ruff: noqa",
    "# -*- coding: utf-8 -*-",
    "# coding: latin-1",
    "# coding=utf-8",
    "# vim: set fileencoding=utf-8 :",
    "%remember x",
    "%%remember\n# x",
    "'''\n# x\n'''",
]


@pytest.mark.parametrize(("cell", "text"), TAKEN.items())
def test_one_line_of_text_is_a_note(cell: str, text: str) -> None:
    """A cell that holds nothing but one line `# text` asks to remember the text."""
    assert captured(cell) == text


@pytest.mark.parametrize("cell", LEFT)
def test_everything_else_is_left_alone(cell: str) -> None:
    """Headings, shebangs, code, several lines, cell markers, pragmas and coding lines are no notes."""
    assert captured(cell) is None


@pytest.fixture
def shell(root: Path) -> Iterator[InteractiveShell]:
    """Give a shell with the extension loaded."""
    one: InteractiveShell = InteractiveShell.instance()
    memory_magic.load_ipython_extension(one)
    yield one
    memory_magic.unload_ipython_extension(one)


def notes(root: Path) -> str:
    """Return the file of the global notes, empty when there is none."""
    path = root / "global" / "MEMORY.md"
    return path.read_text("utf-8") if path.exists() else ""


@pytest.mark.parametrize("switches", [(), ("enabled",), ("quick_capture",)])
def test_off_unless_both_switches_are_on(shell: InteractiveShell, root: Path, switches: tuple[str, ...]) -> None:
    """Without `enabled` and `quick_capture` a comment is a comment, and nothing is made on disk."""
    for name in switches:
        settings.set_value(root, name, "on")
    assert shell.run_cell("# Deploys run on Tuesdays").success
    assert notes(root) == ""


def test_switched_on_it_remembers_globally_and_says_so(
    shell: InteractiveShell, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With both switches on the text is saved globally, as typed, and the reply says so; no reload is needed."""
    settings.set_value(root, "enabled", "on")
    settings.set_value(root, "quick_capture", "on")
    shell.run_cell('# don\'t use "tabs" {x}?')
    assert 'Remembered in global: don\'t use "tabs" {x}?' in capsys.readouterr().out
    assert notes(root) == '- don\'t use "tabs" {x}?\n'
    shell.run_cell("# -s is an option\n")
    shell.run_cell("# %% a marker")
    shell.run_cell("x = 1  # not this")
    assert notes(root).count("\n") == 2
    shell.run_cell("# in the journal", store_history=True)
    by = shell.run_line_magic("memory", "list").data["notes"][0]["by"]
    assert by == f"ipython (execution {shell.execution_count - 1})"
    settings.set_value(root, "quick_capture", "off")
    shell.run_cell("# not any more")
    assert "not any more" not in notes(root)


def test_a_confidential_project_captures_nothing(shell: InteractiveShell, root: Path) -> None:
    """`memory = "off"` above the present directory: a cell is no note by itself there, whatever the settings say."""
    settings.set_value(root, "enabled", "on")
    settings.set_value(root, "quick_capture", "on")
    project = Path.cwd() / ".memory-magic.toml"
    project.write_text('memory = "off"\n')
    assert shell.run_cell("# a note").success
    assert not (root / "global").exists()
    project.unlink()
    assert shell.run_cell("# a note").success
    assert (root / "global" / "MEMORY.md").read_text() == "- a note\n"


def test_trouble_is_one_line(shell: InteractiveShell, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A store that cannot be written does not break the cell."""
    settings.set_value(root, "enabled", "on")
    settings.set_value(root, "quick_capture", "on")
    (root / "config.toml").write_text("[memories]\nquick_capture = 7\n")
    assert shell.run_cell("# a note").success
    captured_text = capsys.readouterr()
    assert captured_text.err.count("\n") == 1
    assert "quick_capture" in captured_text.err
