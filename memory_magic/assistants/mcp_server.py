"""`memory-magic mcp [--workspace DIR]`: the three tools and memory:// resources over stdio, for every MCP client.

The server is one conversation: one process, one client. `Talk` is what it does, in plain values; `mcp_server_v1` and
`mcp_server_v2` translate to the official SDK, whose versions 1.30 and 2.x share no interface, and hand a `Link` in: who
the client is, and how to ask for its folders ("roots").

Which workspace: `--workspace`, else the first of the client's roots that belongs to one, else its first folder, else
global memory only, which every reply says. The folder that the server was started in means nothing: clients start it
anywhere. Roots are asked for once, and again when the client says that they changed.

Invariants: what reads or writes the store runs in a thread, so that a store that somebody holds does not stop the
connection; a call is finished or not begun when the client goes away; nothing but the protocol goes to standard output,
and no text of a client into a log. The switch is read for each request, and the client is told when the list of tools
changed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from memory_magic.assistants.addresses import HOSTS, SCHEME, summaries
from memory_magic.assistants.tools import Caller, Reply, Tools
from memory_magic.assistants.tools_desk import Desk
from memory_magic.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from memory_magic.assistants.tools import Tool

NAME: Final = "memory-magic"
ROOTS_SECONDS: Final = 2.0
"""How long a client may take to name its folders; one that does not answer has none."""

WATCH_SECONDS: Final = 2.0
Given = TypeVar("Given")
_OLDEST: Final = (1, 30)
_TOO_NEW: Final = (3,)
_NO_ROOTS: Final = "the assistant names no folder; `memory-magic mcp --workspace DIR` names one"
_FOREIGN_ROOTS: Final = "the assistant named no folder of this computer; `memory-magic mcp --workspace DIR` names one"


class Resource(NamedTuple):
    """A resource, or with braces in its *address* a template of such."""

    address: str
    name: str
    description: str


class Link(Protocol):
    """The connection as one request sees it."""

    @property
    def caller(self) -> Caller:
        """Who asks."""

    @property
    def has_roots(self) -> bool:
        """Whether the client says that it has folders to name."""

    async def roots(self) -> Sequence[str]:
        """Return the addresses of the client's folders; may raise what tells the client to ask again with them."""


TEMPLATES: Final = (
    Resource(f"{SCHEME}root/notes/{{id}}", "note", "One note, by its id"),
    Resource(f"{SCHEME}root/stage_one/{{stem}}", "stage one", "What was extracted from one session"),
    Resource(f"{SCHEME}root/skills/{{name}}/SKILL.md", "skill", "A procedure that worked"),
)


class Talk:
    """What the server does for its one client."""

    def __init__(self, root: str | Path | None = None, workspace: str | Path | None = None) -> None:
        self.desk = Desk(root)
        self.tools = Tools(self.desk)
        self._told: tuple[str, ...] | None = None
        self._is_placed = self._by_person = workspace is not None
        if workspace is not None:
            self.desk.move(Path(workspace).expanduser())

    async def offered(self, link: Link) -> tuple[Tool, ...]:
        """Return the tools that the client may call now."""
        await self._place(link)
        offered = await _in_thread(self.tools.offered)
        self._told = tuple(tool.name for tool in offered)
        return offered

    async def call(self, link: Link, name: str, arguments: Mapping[str, Any] | None) -> Reply:
        """Run one tool."""
        await self._place(link)
        return await _in_thread(lambda: self.tools.call(name, arguments, link.caller))

    async def read(self, link: Link, address: str) -> Reply:
        """Return what stands at a memory:// address."""
        await self._place(link)
        return await _in_thread(lambda: self.tools.read(address, link.caller))

    async def resources(self, link: Link) -> tuple[Resource, ...]:
        """Return what there is to read besides notes."""
        await self._place(link)
        return await _in_thread(self._resources)

    async def templates(self, link: Link) -> tuple[Resource, ...]:
        """Return the forms of addresses."""
        await self._place(link)
        return TEMPLATES if await _in_thread(self._reads) else ()

    def roots_changed(self) -> None:
        """Ask for the folders again at the next request; a folder that was named by a person stays."""
        self._is_placed = self._by_person

    async def watch(self, tell: Callable[[], Awaitable[None]]) -> None:
        """Tell the client whenever the tools are no longer those that it was told; runs until it is cancelled."""
        import anyio

        while True:
            await anyio.sleep(WATCH_SECONDS)
            if self._told is None:
                continue
            with contextlib.suppress(Exception):  # a store in trouble is told of by the next call
                now = tuple(tool.name for tool in await _in_thread(self.tools.offered))
                if now != self._told:
                    self._told = now
                    await tell()

    def close(self) -> None:
        """Close the store."""
        self.desk.close()

    def _reads(self) -> bool:
        seen = self.desk.look()
        return not seen.off and not seen.unread

    def _resources(self) -> tuple[Resource, ...]:
        seen = self.desk.look()
        if seen.off or seen.unread:
            return ()
        found = [Resource(f"{SCHEME}root", "memory", "The summary of past sessions, workspace before global")]
        named = {one.name for one in summaries(seen.place)}
        found += [
            Resource(f"{SCHEME}{host}", f"memory ({host})", f"The summary of {host} memory")
            for host in HOSTS[1:]
            if host in named
        ]
        return tuple(found)

    async def _place(self, link: Link) -> None:
        """Look from the client's folder, unless a person named one."""
        if self._is_placed:
            return
        if not link.has_roots:
            self.desk.move(None, _NO_ROOTS)
            return
        folders = [folder for uri in await link.roots() if (folder := folder_of(uri)) is not None]
        await _in_thread(lambda: self._move(folders))
        self._is_placed = True

    def _move(self, folders: Sequence[Path]) -> None:
        """Look from the first of *folders* that belongs to a workspace, else from the first."""
        for folder in folders:
            self.desk.move(folder)
            if self.desk.look().store.workspace is not None:
                return
        self.desk.move(folders[0] if folders else None, _FOREIGN_ROOTS)


def folder_of(uri: str) -> Path | None:
    """Return the folder that a file:// address means on this computer, or None."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="strict")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not path.startswith("/") or "\0" in path:
        return None
    try:
        return folder if (folder := Path(path)).is_dir() else None
    except OSError:
        return None


async def _in_thread(work: Callable[[], Given]) -> Given:
    import anyio.to_thread

    return await anyio.to_thread.run_sync(work)


def own_version() -> str:
    """Return our version as clients are told it; empty where this runs out of a source tree that nobody installed."""
    try:
        return importlib.metadata.version(NAME)
    except importlib.metadata.PackageNotFoundError:
        return ""


def version() -> tuple[int, ...]:
    """Return the version of the SDK that is installed, or raise `MissingExtraError` with the command that helps."""
    hint = "install it: pip install 'memory-magic[mcp]'"
    try:
        text = importlib.metadata.version("mcp")
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingExtraError(
            "the package mcp is not installed, which serves memory to assistants", hint=hint
        ) from error
    found = tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
    if found < _OLDEST or found >= _TOO_NEW:
        raise MissingExtraError(
            f"mcp {text} is not a version that this works with (1.30 up to, not including, 3)", hint=hint
        )
    return found


def serve(root: str | Path | None = None, workspace: str | Path | None = None) -> None:
    """Serve one client on standard input and output until it goes away."""
    found = version()
    import anyio

    if found[0] == 1:
        from memory_magic.assistants.mcp_server_v1 import run
    else:
        from memory_magic.assistants.mcp_server_v2 import run
    _keep_quiet()
    talk = Talk(root, workspace)
    gc.freeze()  # the SDK's modules stay to the end: no collection has to look at them again
    try:
        anyio.run(run, talk)
    except* (BrokenPipeError, ConnectionResetError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client went away while something was said to it
    finally:
        talk.close()


def _keep_quiet() -> None:
    """Let the SDK log nothing: its messages carry what the client sent, and clients keep our standard error."""
    for name in ("mcp", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate = False
