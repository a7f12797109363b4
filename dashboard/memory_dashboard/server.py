"""The dashboard's server: one process, one loop in a thread of its own, on 127.0.0.1 only.

The thread is what lets `serve` be called from a terminal and from a notebook cell (whose own loop is running) alike:
the caller's thread only waits, and Ctrl-C or *interrupt* ends the wait. The store is opened in the server's thread
and used nowhere else. Panel is imported here and not before, so that a command line without the extra can say what is
missing.
"""

from __future__ import annotations

import asyncio
import errno
import importlib
import json
import logging
import socket
import threading
import webbrowser
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from memory_magic.errors import MemoryMagicError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ADDRESS = "127.0.0.1"
INSTALL_LINE = 'pip install "memory-magic[dashboard]"'


class PortError(MemoryMagicError, OSError):
    """The port that was asked for cannot be had."""


def serve(
    root: str | Path | None,
    *,
    cwd: str | Path | None = None,
    port: int = 0,
    browser: bool = True,
    ready: Callable[[str], object] | None = None,
    as_json: bool = False,
) -> None:
    """Show the store at *root* in a browser until interrupted.

    *port* 0 takes any free one; *ready* (else standard output, at once) gets one line with the address, token included:
    a sentence, or with *as_json* an object of the one key `address`. Raises MissingExtraError without Panel and
    PortError when the port is taken.
    """
    running = Dashboard(root, cwd=cwd, port=port)
    try:
        said = f"Memory dashboard (read-only, Ctrl-C ends it): {running.url}"
        (ready or partial(print, flush=True))(json.dumps({"address": running.url}) if as_json else said)
        if browser:
            webbrowser.open(running.url)
        running.wait()
    except KeyboardInterrupt:
        pass  # the agreed way to end it
    finally:
        running.stop()


class Dashboard:
    """A running server; *url* holds the token. Made running, ended by `stop`."""

    def __init__(self, root: str | Path | None, *, cwd: str | Path | None = None, port: int = 0) -> None:
        _demand_panel()
        self.port = _free_port(port)
        self.url = ""
        self._root, self._cwd = root, cwd
        self._end: Callable[[], None] = _nothing
        started: Future[str] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="memory-dashboard", daemon=True)
        self._thread.start()
        self.url = started.result()

    def wait(self) -> None:
        """Return when the server has ended."""
        self._thread.join()

    def stop(self) -> None:
        """End the server and wait for it; a second call does nothing."""
        self._end()
        self._thread.join()

    def _run(self, started: Future[str]) -> None:
        """Run the server's loop; the result of *started* is its address or why there is none."""
        from tornado.ioloop import IOLoop

        asyncio.set_event_loop(asyncio.new_event_loop())
        asyncio.get_event_loop().set_exception_handler(_quiet)
        loop = IOLoop.current()
        try:
            server, source, url = _listen(self._root, self._cwd, self.port, loop)
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that waits for it
            started.set_exception(error)
            loop.close(all_fds=True)
            return
        self._end = partial(loop.add_callback, loop.stop)
        started.set_result(url)
        try:
            loop.start()
        finally:
            self._end = _nothing
            server.stop(wait=False)
            source.close()
            loop.close(all_fds=True)


def _listen(root: str | Path | None, cwd: str | Path | None, port: int, loop: Any) -> tuple[Any, Any, str]:
    """Start listening; the parts that need Panel come in here."""
    import panel as pn
    from bokeh.settings import settings

    from memory_dashboard import app, gate
    from memory_dashboard.data import Source
    from memory_magic.store.store import Store

    # A tab that is closed in mid message is no event that a terminal should hear of.
    logging.getLogger("bokeh.server.views.ws").setLevel(logging.ERROR)
    # Scripts and fonts come from this server whatever the environment says.
    settings.resources = "server"
    source = Source(lambda: Store(root, cwd, read_only=True), why_off=partial(_why_off, root, cwd))
    guard = gate.Gate(port)
    # `pn.extension` would put all of Panel's JavaScript into the cell of a notebook, and so into its file.
    importlib.import_module("panel.models.tabulator")
    server = pn.io.server.get_server(
        {"/": lambda: app.build(source)},
        port=port,
        address=ADDRESS,
        websocket_origin=sorted(guard.hosts),
        loop=loop,
        location=False,
        title="Memory",
    )
    gate.install(server._tornado, guard)  # noqa: SLF001 - Bokeh offers no other way to its application
    server.start()
    return server, source, f"http://{ADDRESS}:{port}/?token={guard.token}"


def _why_off(root: str | Path | None, cwd: str | Path | None) -> str:
    """Return why no note reaches a prompt here, or nothing while memory is on; `status` says the same."""
    from memory_magic import commands_switch as switch
    from memory_magic.commands_base import Context

    context = Context(root, cwd=cwd)
    try:
        now = switch.state(context, context.settings(), switch.off_files(cwd))
    finally:
        context.close()
    return "" if now.on else now.said


def _demand_panel() -> None:
    """Say how to install what is missing, before anything is started."""
    try:
        import panel as pn  # noqa: F401
        import panel_material_ui  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"the dashboard needs {error.name or 'Panel'}, which is not installed", hint=f"run: {INSTALL_LINE}"
        ) from error


def _free_port(port: int) -> int:
    """Return *port* if it can be bound, or any free one for 0."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except (OSError, OverflowError) as error:
            taken = getattr(error, "errno", None) == errno.EADDRINUSE
            what = f"port {port} is in use by another program" if taken else f"port {port} cannot be used: {error}"
            raise PortError(what, hint="choose another with --port, or leave --port out for any free one") from error
        return int(probe.getsockname()[1])


def _quiet(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say nothing about a tab that was closed while a message was on its way to it."""
    from tornado.iostream import StreamClosedError
    from tornado.websocket import WebSocketClosedError

    if not isinstance(context.get("exception"), (StreamClosedError, WebSocketClosedError)):
        loop.default_exception_handler(context)


def _nothing() -> None:
    """Do nothing: there is no loop to end."""
