"""Use the magics as a person would, in whatever IPython runs this file, and print what came of it as JSON.

Started by test_ipython_versions.py in an environment of its own, so it imports nothing of the tests. It asserts
nothing: the test reads what is printed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import sys
from typing import Any

import IPython
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell


def run(shell: InteractiveShell, cell: str) -> dict[str, Any]:
    """Run a cell as a front end does and return what it printed and whether it failed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        result = shell.run_cell(cell, store_history=True)
    return {"ok": result.success, "out": out.getvalue(), "err": err.getvalue()}


def complete(shell: InteractiveShell, text: str) -> list[str]:
    """Return what Tab offers at the end of *text*."""
    with provisionalcompleter():
        return [found.text for found in shell.Completer.completions(text, len(text))]


def in_process() -> dict[str, Any]:
    """Use a shell in this process."""
    shell: InteractiveShell = InteractiveShell.instance()
    before = set(sys.modules)
    said: dict[str, Any] = {"load": run(shell, "%load_ext memory_magic")}
    new = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
    said["modules"] = sorted(new)
    shell.user_ns["x"] = "EXPANDED"
    said["remember"] = run(shell, '%remember don\'t use "tabs" $HOME {x}')
    said["question"] = run(shell, "%remember Is it Tuesday?")
    said["cell"] = run(shell, "%%remember --pin\nfirst line\n  second {x}\n")
    said["search"] = run(shell, "%memory_search tabs?")
    said["assigned"] = run(shell, "found = %memory_search tuesday?")
    said["found"] = shell.user_ns["found"].data["hits"]
    said["view"] = run(shell, "%%memory_view\na prompt")
    said["html"] = shell.user_ns["found"]._repr_html_()
    said["wrong"] = run(shell, "%memory rember")
    said["help"] = run(shell, "%memory?")
    said["switch"] = run(shell, "%memory config set enabled on\n%memory config set quick_capture on")
    said["captured"] = run(shell, "# a quick one")
    said["count"] = shell.execution_count - 1
    said["left_alone"] = [
        run(shell, cell) for cell in ("# %% cell", "## head", "#text", "# type: ignore", "y = 1  # no")
    ]
    said["notes"] = [(note["text"], note["by"]) for note in shell.run_line_magic("memory", "list").data["notes"]]
    note = shell.run_line_magic("memory", "list").data["notes"][0]["id"]
    said["complete"] = {
        "command": complete(shell, "%memory sea"),
        "scope": complete(shell, "%remember --scope wor"),
        "id": complete(shell, f"%memory get {note[:4]}"),
        "python": complete(shell, "prin"),
    }
    said["id"] = note
    said["unload"] = run(shell, "%unload_ext memory_magic")
    said["gone"] = "memory" not in shell.magics_manager.magics["line"]
    return said


def in_kernel() -> dict[str, Any]:
    """Use a real kernel, with a cell's id and without standard input."""
    from jupyter_client.manager import start_new_kernel

    os.environ["JPY_SESSION_NAME"] = "study/analysis.ipynb"
    manager, client = start_new_kernel(kernel_name="python3")

    def ask(cell: str) -> list[dict[str, Any]]:
        content = {"code": cell, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
        message = client.session.msg("execute_request", content, metadata={"cellId": "4f2a"})
        client.shell_channel.send(message)
        outputs: list[dict[str, Any]] = []
        while True:
            try:
                answer = client.get_iopub_msg(timeout=60)
            except queue.Empty:
                return [{"type": "silence"}]
            if answer["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                if answer["content"].get("execution_state") == "idle":
                    return outputs
                outputs.append({"type": answer["msg_type"], **answer["content"]})

    try:
        return {
            "load": ask("%load_ext memory_magic"),
            "remember": ask("%remember from a kernel"),
            "list": ask("%memory list"),
            "refused": ask(f"%cd -q {sys.argv[1]}\n%memory init study"),
        }
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    told = {"version": IPython.__version__, "shell": in_process(), "kernel": in_kernel()}
    sys.stdout.write("\n" + json.dumps(told))
