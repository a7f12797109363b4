"""The server starts with one line, says what is wrong in one sentence, and ends without a trace."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from memory_dashboard import server
from memory_dashboard.server import Dashboard, PortError, serve
from memory_magic.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    from pathlib import Path

LINE = re.compile(r"Memory dashboard .*: http://127\.0\.0\.1:(\d+)/\?token=[\w-]{40,}$")
SCRIPT = "import sys; from memory_dashboard.server import serve; serve(sys.argv[1], browser=False)"


def test_serve_prints_one_line_and_opens_a_browser(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line holds the whole address, and the browser gets the same."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(Dashboard, "wait", lambda _: None)
    lines: list[str] = []
    serve(root, ready=lines.append)
    assert len(lines) == 1
    assert LINE.match(lines[0])
    assert opened == [lines[0].partition(": ")[2]]


def test_an_interrupt_ends_it_and_frees_the_port(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is no error, and nothing listens afterwards."""

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Dashboard, "wait", interrupt)
    lines: list[str] = []
    serve(root, browser=False, ready=lines.append)
    found = LINE.match(lines[0])
    assert found is not None
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(found[1]))) != 0
    assert not root.exists()


def test_ctrl_c_in_a_terminal_leaves_no_traceback(root: Path) -> None:
    """A real process gets a real SIGINT: exit status 0, one line on stdout, silence on stderr."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", SCRIPT, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().rstrip("\n")
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert LINE.match(line)
    assert (process.returncode, rest, errors) == (0, "", "")


def test_it_runs_beside_a_loop_that_is_running_already(root: Path) -> None:
    """In a notebook the cell's thread has a loop of its own; the server does not mind."""

    async def cell() -> int:
        """Start a server and stop it again, as a cell would."""
        running = await asyncio.to_thread(Dashboard, root)
        try:
            return running.port
        finally:
            await asyncio.to_thread(running.stop)

    assert asyncio.run(cell()) > 0


def test_a_taken_port_is_one_sentence(root: Path) -> None:
    """The error names the port and the way out; a port that is none says so as well."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortError, match=rf"port {port} is in use by another program\. Choose another with --port"):
            Dashboard(root, port=port)
    with pytest.raises(PortError, match="port 99999 cannot be used"):
        Dashboard(root, port=99999)


def test_a_missing_panel_is_one_sentence_with_the_install_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the command says what to type."""
    monkeypatch.setitem(sys.modules, "panel_material_ui", None)
    with pytest.raises(MissingExtraError, match=r'pip install "memory-magic\[dashboard\]"'):
        serve(root)


def test_what_fails_at_the_start_is_raised_where_it_was_called(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the server's thread reaches the caller."""

    def broken(*_: object) -> Any:
        raise SettingError("no such setting")

    monkeypatch.setattr(server, "_listen", broken)
    with pytest.raises(SettingError):
        Dashboard(root)


def test_stopping_twice_does_nothing(root: Path) -> None:
    """A second stop, and a wait for what has ended, return at once."""
    running = Dashboard(root)
    running.stop()
    running.stop()
    running.wait()


def test_it_listens_on_loopback_only(dashboard: Any) -> None:
    """No other address of this machine answers."""
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((address, dashboard.port)) != 0
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"http://127.0.0.1:{dashboard.port}/")


def test_a_closed_tab_is_no_event_and_other_faults_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the two errors of a lost connection are kept quiet."""
    from tornado.websocket import WebSocketClosedError

    told: list[dict[str, Any]] = []
    loop = asyncio.new_event_loop()
    monkeypatch.setattr(loop, "default_exception_handler", told.append)
    server._quiet(loop, {"exception": WebSocketClosedError()})
    server._quiet(loop, {"exception": ValueError("x")})
    loop.close()
    assert [str(context["exception"]) for context in told] == ["x"]


def test_the_command_prints_one_json_line_and_nothing_else(root: Path) -> None:
    """`dashboard --json` says its address as JSON at the start, flushed through a pipe, and nothing at the end."""
    words = [sys.executable, "-m", "memory_magic", "dashboard", "--json", "--no-browser", "--root", str(root)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert list(said) == ["address"]
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{40,}", said["address"])
    assert (process.returncode, rest, errors) == (0, "", "")


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "memory_magic")
with capture_output() as seen:
    shell.run_line_magic("memory", "dashboard --no-browser")
assert seen.outputs == [], seen.outputs
assert seen.stdout.count("\\n") == 1 and "http://127.0.0.1:" in seen.stdout, seen.stdout
shell.run_line_magic("unload_ext", "memory_magic")
"""


def test_a_notebook_keeps_one_plain_line(root: Path) -> None:
    """`%memory dashboard` displays nothing, none of Panel's JavaScript: the cell holds one printed line."""
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK],
        env=os.environ | {"MEMORY_MAGIC_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
