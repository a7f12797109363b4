"""Where something was typed: notebook, cell, execution, as far as each front end tells."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from memory_magic.notebook.context import cell_id, execution_count, notebook_name, provenance


def shell(**attributes: Any) -> Any:
    """Make a stand-in for a shell: only the attributes that a front end would give it."""
    given = {"user_ns": {}, "execution_count": 12, "displayhook": SimpleNamespace(exec_result=None)}
    return SimpleNamespace(**{**given, **attributes})


def parent(cell: object) -> Any:
    """Make the message that asked for an execution, with a cell's id."""
    return lambda: {"metadata": {"cellId": cell}}


def test_jupyter_with_cell_id() -> None:
    """JupyterLab sends the notebook's path and the cell's id."""
    one = shell(kernel=object(), get_parent=parent("4f2a"))
    assert provenance(one, {"JPY_SESSION_NAME": "study/analysis.ipynb"}) == (
        "notebook analysis.ipynb cell 4f2a (execution 12)"
    )


def test_vs_code() -> None:
    """VS Code puts the path into the namespace, and a whole address as the cell's id."""
    one = shell(
        kernel=object(),
        user_ns={"__vsc_ipynb_file__": r"c:\Users\ana\analysis.ipynb"},
        get_parent=parent("vscode-notebook-cell:/home/ana/secret-folder/analysis.ipynb#W0sZmlsZQ=="),
    )
    assert provenance(one, {}) == "notebook analysis.ipynb cell W0sZmlsZQ (execution 12)"


def test_what_is_not_known_is_left_out() -> None:
    """A kernel that knows neither name nor cell is a notebook; without a kernel it is IPython in a terminal."""
    assert provenance(shell(kernel=object()), {}) == "notebook (execution 12)"
    assert provenance(shell(), {}) == "ipython (execution 12)"
    assert provenance(shell(), {"JPY_SESSION_NAME": "a.ipynb"}) == "notebook a.ipynb (execution 12)"


def test_execution_of_the_running_cell() -> None:
    """The result that is being filled goes before the shell's counter, which is one ahead since IPython 9."""
    running = SimpleNamespace(exec_result=SimpleNamespace(execution_count=11))
    assert execution_count(shell(displayhook=running)) == 11
    assert execution_count(shell(displayhook=SimpleNamespace())) == 12
    assert provenance(shell(), {}, execution=7) == "ipython (execution 7)"


@pytest.mark.parametrize("name", ["a\nby: somebody else", "x" * 5000, "\x1b[31mred.ipynb", 7, None])
def test_names_cannot_forge_a_record(name: object) -> None:
    """Control characters, endless names and values that are no text do not reach the journal."""
    found = notebook_name(shell(user_ns={"__vsc_ipynb_file__": name}), {})
    assert found.isprintable()
    assert len(found) <= 200


@pytest.mark.parametrize("cell", [7, None, "", "a b\nc", "x" * 1000])
def test_cell_ids_are_cleaned(cell: object) -> None:
    """A cell's id is letters, digits, dots, dashes and underscores, of a bounded length."""
    found = cell_id(shell(get_parent=parent(cell)))
    assert len(found) <= 64
    assert not set(found) & set(" \n")


def test_kernels_without_a_message() -> None:
    """A kernel that was asked for nothing yet, or answers oddly, gives no cell."""

    def nothing() -> Any:
        raise LookupError("no parent")

    assert cell_id(shell(get_parent=nothing)) == ""
    assert cell_id(shell(get_parent=lambda: None)) == ""
    assert cell_id(shell(get_parent=lambda: {"metadata": None})) == ""
