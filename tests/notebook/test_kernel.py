"""The magics in a real kernel, driven as a front end drives it: cell ids, no standard input, rich output."""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.manager import start_new_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jupyter_client.blocking.client import BlockingKernelClient


@pytest.fixture
def execute(root: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Start a kernel for a notebook called analysis.ipynb and give a function that runs a cell."""
    monkeypatch.setenv("JPY_SESSION_NAME", "study/analysis.ipynb")
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        yield lambda cell, **metadata: _run(client, cell, metadata)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _run(client: BlockingKernelClient, cell: str, metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Send *cell* as JupyterLab does and return the contents of what comes back on the output channel."""
    content = {"code": cell, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
    message = client.session.msg("execute_request", content, metadata=metadata)
    client.shell_channel.send(message)
    outputs: list[dict[str, Any]] = []
    while True:
        try:
            answer = client.get_iopub_msg(timeout=60)
        except queue.Empty:
            pytest.fail("the kernel does not answer")
        if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
            return outputs
        outputs.append({"type": answer["msg_type"], **answer["content"]})


def _text(outputs: list[dict[str, Any]], stream: str) -> str:
    """Return what was printed to *stream*."""
    return "".join(one["text"] for one in outputs if one["type"] == "stream" and one["name"] == stream)


def test_a_session_in_a_real_kernel(execute: Callable[..., list[dict[str, Any]]], git_repo: Any) -> None:
    """Notes carry notebook, cell and execution; results are rich; a question without standard input names -y."""
    assert "memory-magic is off" in _text(execute("%load_ext memory_magic"), "stdout")
    reply = execute("%remember don't use tabs?\nx = 1", cellId="4f2a")
    (shown,) = [one["data"] for one in reply if one["type"] == "display_data"]
    assert "Remembered in global: don't use tabs?" in shown["text/plain"]
    assert "Remembered in global: don&#x27;t use tabs?" in shown["text/html"]

    found = execute("%memory_search tabs", cellId="77aa")
    (result,) = [one["data"] for one in found if one["type"] == "execute_result"]
    assert "<table" in result["text/html"]
    assert "notebook analysis.ipynb cell 4f2a (execution 2)" in result["text/html"]

    execute("%memory config set enabled on\n%memory config set quick_capture on")
    captured = execute("# a quick one", cellId="c3")
    assert any("Remembered in global: a quick one" in one["data"]["text/plain"] for one in captured if "data" in one)
    listed = execute("print([note['by'] for note in get_ipython().run_line_magic('memory', 'list').data['notes']])")
    assert "notebook analysis.ipynb cell c3 (execution 5)" in _text(listed, "stdout")

    repo = git_repo("alpha")
    refused = execute(f"%cd -q {repo}\n%memory init study")
    assert "-y" in _text(refused, "stderr")
    assert not [one for one in refused if one["type"] == "error"]
    assert not (repo / ".memory-magic.toml").exists()
    wrong = execute("%memory nonsense")
    assert _text(wrong, "stderr").count("\n") == 1
    assert not [one for one in wrong if one["type"] == "error"]
