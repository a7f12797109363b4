"""Where something was typed: the words that a journal record keeps under *by*.

`notebook analysis.ipynb cell 4f2a (execution 12)` in Jupyter and VS Code, `ipython (execution 12)` in a terminal. The
notebook's name comes from Jupyter's `JPY_SESSION_NAME` or VS Code's `__vsc_ipynb_file__`; the cell's id from the
message that asked for the execution, where the front end sends one. What cannot be told is left out, never guessed:
many kernels know neither name nor cell.

Everything here comes from outside, so it is cut and cleaned; the store redacts it once more.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from IPython.core.interactiveshell import InteractiveShell

_LONGEST = 200
_CELL = 64
_NOT_IN_A_CELL_ID = re.compile(r"[^A-Za-z0-9_.-]")


def provenance(
    shell: InteractiveShell, environ: Mapping[str, str] = os.environ, *, execution: int | None = None
) -> str:
    """Return who writes, in one line; *execution* is the count of a cell that has run already."""
    name = notebook_name(shell, environ)
    cell = cell_id(shell)
    if name or cell or hasattr(shell, "kernel"):
        place = " ".join(["notebook", *([name] if name else []), *(["cell", cell] if cell else [])])
    else:
        place = "ipython"
    return f"{place} (execution {execution or execution_count(shell)})"


def execution_count(shell: InteractiveShell) -> int:
    """Return the number of the running cell.

    The shell's own counter is one ahead during a cell since IPython 9; the result that is being filled is right always.
    """
    result = getattr(shell.displayhook, "exec_result", None)
    return getattr(result, "execution_count", None) or shell.execution_count


def notebook_name(shell: InteractiveShell, environ: Mapping[str, str] = os.environ) -> str:
    """Return the notebook's file name without its folder, or an empty string."""
    path = environ.get("JPY_SESSION_NAME") or shell.user_ns.get("__vsc_ipynb_file__") or ""
    if not isinstance(path, str):
        return ""
    name = re.split(r"[/\\]", path)[-1]
    return "".join(char if char.isprintable() else " " for char in name).strip()[:_LONGEST]


def cell_id(shell: InteractiveShell) -> str:
    """Return the id of the running cell as the front end sent it, or an empty string."""
    metadata = _parent(shell).get("metadata")
    value = metadata.get("cellId") if isinstance(metadata, dict) else None
    if not isinstance(value, str):
        return ""
    # VS Code sends a whole address; its fragment names the cell
    return _NOT_IN_A_CELL_ID.sub("", value.rpartition("#")[2])[:_CELL]


def _parent(shell: InteractiveShell) -> dict[str, Any]:
    """Return the message that asked for this execution; empty outside of a kernel."""
    read = getattr(shell, "get_parent", None)
    if read is None:
        return {}
    try:
        parent = read()
    except (LookupError, AttributeError):
        # a kernel that has not been asked for anything yet
        return {}
    return parent if isinstance(parent, dict) else {}
