"""The server as clients meet it: a sub-process over stdio, driven by the SDK's own client and by hand-written lines."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from memory_magic import settings
from memory_magic.assistants import mcp_server
from memory_magic.assistants.mcp_server import Talk, folder_of
from memory_magic.assistants.tools import Caller
from memory_magic.commands_base import Context
from memory_magic.commands_mcp import PRINTERS, ROWS, mcp
from memory_magic.errors import MissingExtraError, UsageError
from memory_magic.store.lock import StoreLock
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PROBE = Path(__file__).with_name("mcp_probe.py")
SERVER = "import sys; from memory_magic.assistants.mcp_server import serve; serve(sys.argv[1], *sys.argv[2:3])"


@pytest.fixture
def repo(git_repo: Callable[..., Path]) -> Path:
    """Give a repository with a workspace of its own."""
    return git_repo("alpha")


@pytest.fixture
def on(root: Path) -> Path:
    """Switch memory on at the root of the test."""
    settings.set_value(root, "enabled", value=True, strict=False)
    return root


def probed(root: Path, folder: Path, mode: str) -> dict[str, Any]:
    """Return what the client of the SDK saw."""
    command = [sys.executable, str(PROBE), sys.executable, str(root), str(folder), mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Deploys" not in done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


class Wire:
    """A client that writes its lines by hand, for what no SDK would send."""

    def __init__(self, root: Path, *folder: Path) -> None:
        """Start the server and shake hands."""
        command = [sys.executable, "-c", SERVER, str(root), *map(str, folder)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._number = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}}
        self.hello = self.ask("initialize", hello)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message: object) -> None:
        """Send one message, or text as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Return the next message of the server."""
        assert self.process.stdout is not None
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def send(self, method: str, params: object) -> int:
        """Send a request and wait for nothing."""
        self._number += 1
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def ask(self, method: str, params: object) -> dict[str, Any]:
        """Return the answer to a request; what comes in between is passed over."""
        number = self.send(method, params)
        while (message := self.read()).get("id") != number:
            pass
        return message

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Return a tool's result."""
        result: dict[str, Any] = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        return result

    def leave(self) -> tuple[int, str]:
        """Close both pipes and return exit status and standard error."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait(timeout=30), said


@pytest.fixture
def wire() -> Iterator[Callable[..., Wire]]:
    """Start servers that are gone after the test."""
    started: list[Wire] = []

    def start(root: Path, *folder: Path) -> Wire:
        started.append(Wire(root, *folder))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            with contextlib.suppress(OSError, AttributeError):
                pipe.close()  # type: ignore[union-attr]


def texts(result: dict[str, Any]) -> str:
    """Return the text of a tool's result."""
    return "".join(part["text"] for part in result["content"])


# -- the whole, by the SDK's own client --------------------------------------------------------------------------------


def test_every_tool_by_the_sdks_client(on: Path, repo: Path) -> None:
    """Tools, hints, every action of remember, addresses, resources and wrong calls, in a workspace that is named."""
    seen = probed(on, repo, "workspace")
    assert "memory_search(query, limit, scope)" in seen["instructions"]
    assert [tool["name"] for tool in seen["tools"]] == ["memory_search", "memory_get", "remember"]
    assert [tool["annotations"]["readOnlyHint"] for tool in seen["tools"]] == [True, True, False]
    assert [tool["annotations"]["destructiveHint"] for tool in seen["tools"]] == [False, False, True]
    assert set(seen["tools"][2]["inputSchema"]["properties"]) == {"action", "note", "replaces", "evidence", "scope"}
    assert "Saved in the workspace's memory" in seen["saved"]["text"]
    assert "Saved in global memory" in seen["everywhere"]["text"]
    assert "Revised in the workspace's memory" in seen["revised"]["text"]
    assert "workspace] Deploys run on Tuesdays" in seen["found"]["text"]
    assert "global] Dark mode" in seen["found"]["text"]
    assert seen["got"]["text"].startswith("Nothing consolidated yet")
    assert "Retired from global memory" in seen["retired"]["text"]
    assert all(seen[name]["error"] for name in ("unknown", "wrong", "long", "foreign"))
    assert seen["wrong"]["text"] == "query must be a text"
    assert seen["resources"] == ["memory://root"]
    assert "memory://root/notes/{id}" in seen["templates"]
    assert seen["read"].startswith("Nothing consolidated yet")
    with Store(on, repo) as store:
        assert [note.text for note in store.list()] == ["Deploys run on Tuesdays"]
        by = [record.fields["by"] for record in store.journal()]
    assert all(one.startswith("probe (remember, call ") for one in by)


def test_workspace_from_the_clients_roots(on: Path, repo: Path) -> None:
    """The first root that is a folder of this computer and has a workspace is looked from."""
    seen = probed(on, repo, "roots")
    assert "Saved in the workspace's memory" in seen["saved"]["text"]


@pytest.mark.parametrize("mode", ["silent", "none"])
def test_without_roots_global_memory_only(on: Path, repo: Path, mode: str) -> None:
    """A client that names no folder, or does not answer, has global memory, and every reply says so."""
    seen = probed(on, repo, mode)
    assert "It is global because there is no workspace here" in seen["saved"]["text"]
    assert "Searched: global notes only" in seen["found"]["text"]


@pytest.mark.parametrize("named", [True, False])
def test_the_protocol_without_a_handshake(on: Path, repo: Path, *, named: bool) -> None:
    """A client of the newer protocol is asked for its folders in the answer to its call, and told of its workspace."""
    client = pytest.importorskip("mcp.client.client", reason="the newer protocol needs version 2 of mcp")
    stdio = pytest.importorskip("mcp.client.stdio")
    types = pytest.importorskip("mcp_types")

    async def roots(_: Any) -> Any:
        """Name the repository."""
        return types.ListRootsResult(roots=[types.Root(uri=repo.as_uri())])

    async def main() -> str:
        """Remember one note."""
        server = stdio.StdioServerParameters(command=sys.executable, args=["-c", SERVER, str(on)], env=dict(os.environ))
        async with client.Client(stdio.stdio_client(server), list_roots_callback=roots if named else None) as one:
            assert one.session.protocol_version == "2026-07-28"
            assert len((await one.list_tools()).tools) == 3
            result = await one.call_tool("remember", {"note": "Dark mode"})
            return str(result.content[0].text)

    assert ("the workspace's memory" if named else "global memory") in anyio.run(main)


# -- faults ------------------------------------------------------------------------------------------------------------


def test_a_client_that_goes_away_in_mid_call(on: Path, repo: Path, wire: Callable[..., Wire]) -> None:
    """Whoever hangs up leaves a server that ends by itself, quietly, and a note that is whole or not there."""
    one = wire(on, repo)
    for number in range(5):
        one.send("tools/call", {"name": "remember", "arguments": {"note": f"note {number}"}})
    status, said = one.leave()
    assert status == 0
    assert said == ""
    with Store(on, repo) as store:
        assert store.verify().ok
        assert {note.text for note in store.list()} <= {f"note {number}" for number in range(5)}


def test_lines_that_are_no_protocol(on: Path, repo: Path, wire: Callable[..., Wire]) -> None:
    """Noise, wrong shapes and a message of a megabyte end nothing, and nothing of them is logged."""
    one = wire(on, repo)
    one.write("this is no JSON, my password is hunter2hunter2")
    one.write('{"jsonrpc": "2.0", "id": 90, "method": "tools/call", "params": {"name": 5}}')
    answer = one.ask("tools/call", {"name": "memory_search", "arguments": ["query"]})
    assert "error" in answer
    assert one.call("memory_search", query="y" * 1_000_000)["isError"]
    assert texts(one.call("memory_search", query="colour")).startswith("No note fits")
    status, said = one.leave()
    assert status == 0
    assert said == ""


def test_two_servers_at_once(on: Path, repo: Path, wire: Callable[..., Wire]) -> None:
    """Two assistants write at the same time: every note is kept, each finds the other's."""
    pair = [wire(on, repo), wire(on, repo)]
    for number in range(10):
        for name, one in zip("ab", pair, strict=True):
            one.send("tools/call", {"name": "remember", "arguments": {"note": f"colour {name} {number}"}})
    for one in pair:
        answers: list[dict[str, Any]] = []
        while len(answers) < 10:
            message = one.read()
            answers += [message] if "result" in message else []
        assert not any(answer["result"].get("isError") for answer in answers)
    assert "colour b 9" in texts(pair[0].call("memory_search", query="colour", limit=20))
    with Store(on, repo) as store:
        assert len(store.list()) == 20
        assert store.verify().ok


def test_a_locked_store_holds_nothing_else_up(on: Path, repo: Path, wire: Callable[..., Wire]) -> None:
    """While another process holds the lock, listing and searching answer; the write is done when it is free."""
    one = wire(on, repo)
    assert not one.call("remember", note="Deploys run on Tuesdays").get("isError")
    with StoreLock(on).hold():
        waiting = one.send("tools/call", {"name": "remember", "arguments": {"note": "second"}})
        begun = time.monotonic()
        assert len(one.ask("tools/list", {})["result"]["tools"]) == 3
        assert time.monotonic() - begun < 5
    while (message := one.read()).get("id") != waiting:
        pass
    assert not message["result"].get("isError"), message


def test_a_broken_index_and_a_missing_root(on: Path, repo: Path, wire: Callable[..., Wire]) -> None:
    """A damaged index is passed over; a root that vanishes while the server runs is made again by the next write."""
    one = wire(on, repo)
    one.call("remember", note="Deploys run on Tuesdays")
    (on / "index.sqlite3").write_bytes(b"no database " * 500)
    assert "Deploys" in texts(one.call("memory_search", query="deploys"))
    gone = on.with_name("gone")
    empty = wire(gone, repo)
    assert "memory-magic on" in empty.hello["result"]["instructions"]
    assert not gone.exists()


def test_off_lists_nothing_and_a_switch_is_told(root: Path, repo: Path, wire: Callable[..., Wire]) -> None:
    """While memory is off there is no tool and no resource, and a client is told when they come."""
    one = wire(root, repo)
    assert "memory-magic on" in one.hello["result"]["instructions"]
    assert one.ask("tools/list", {})["result"]["tools"] == []
    assert one.ask("resources/list", {})["result"]["resources"] == []
    assert one.ask("resources/templates/list", {})["result"]["resourceTemplates"] == []
    assert "memory-magic on" in texts(one.call("remember", note="x"))
    assert "error" in one.ask("resources/read", {"uri": "memory://root"})
    settings.set_value(root, "enabled", value=True, strict=False)
    assert one.read()["method"] == "notifications/tools/list_changed"
    assert len(one.ask("tools/list", {})["result"]["tools"]) == 3


# -- in this process ---------------------------------------------------------------------------------------------------


class Asked:
    """A link that counts how often it was asked for its folders."""

    has_roots = True

    def __init__(self, *uris: str) -> None:
        """Name these folders."""
        self.uris = uris
        self.asked = 0
        self.caller = Caller("link", "1")

    async def roots(self) -> Sequence[str]:
        """Return the folders."""
        self.asked += 1
        return self.uris


def test_roots_are_asked_for_once_and_when_they_changed(on: Path, repo: Path, git_repo: Callable[..., Path]) -> None:
    """The first root with a workspace counts; a change is noticed; a folder that a person named stays."""
    plain = git_repo("plain", origin=None)
    link = Asked(plain.as_uri(), repo.as_uri())
    talk = Talk(on)

    async def main() -> None:
        """Ask, change the folders, ask again."""
        await talk.offered(link)
        await talk.offered(link)
        assert (link.asked, talk.desk.folder) == (1, repo)
        link.uris = (plain.as_uri(),)
        talk.roots_changed()
        await talk.call(link, "memory_search", {"query": "x"})
        assert (link.asked, talk.desk.folder) == (2, plain)
        link.uris = ("https://example.org/",)
        talk.roots_changed()
        await talk.resources(link)
        assert talk.desk.folder is None

    anyio.run(main)
    named = Talk(on, repo)
    named.roots_changed()
    anyio.run(named.offered, link)
    assert (link.asked, named.desk.folder) == (3, repo)


def test_which_addresses_are_folders_here(repo: Path, home: Path) -> None:
    """Only a file:// address of a folder of this computer is taken; encoded characters are decoded once."""
    spaced = home / "a b"
    spaced.mkdir()
    assert folder_of(repo.as_uri()) == repo
    assert folder_of(spaced.as_uri()) == spaced
    assert folder_of(f"file://localhost{repo}") == repo
    for uri in ("https://example.org/", f"file://elsewhere{repo}", "file:///no/such", "file:///%00", "file:///%ff", "x",
                "file://[", "file:relative"):  # fmt: skip
        assert folder_of(uri) is None


def test_summaries_are_listed_as_resources(on: Path, repo: Path) -> None:
    """Each scope that has a summary is a resource of its own beside the joined one."""
    folder = on / "global" / "consolidated"
    folder.mkdir(parents=True)
    (folder / "memory_summary.md").write_text("of everything")
    talk = Talk(on, repo)
    found = anyio.run(talk.resources, Asked())
    assert [one.address for one in found] == ["memory://root", "memory://global"]
    assert "of everything" in anyio.run(talk.read, Asked(), "memory://root").text
    talk.close()


@pytest.mark.parametrize("version", [None, "1.29.4", "3.0.0"])
def test_a_missing_or_other_sdk_is_one_line(version: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the SDK, or with a version that nobody tried, the error names the command that helps."""

    def installed(name: str) -> str:
        if version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(importlib.metadata, "version", installed)
    with pytest.raises(MissingExtraError) as told:
        mcp_server.serve()
    assert "pip install 'memory-magic[mcp]'" in str(told.value)


def test_the_command(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """The row serves the context's root, prints nothing, and is refused in a notebook."""
    served = []
    monkeypatch.setattr(mcp_server, "serve", lambda *words: served.append(words))
    (row,) = ROWS
    args = row.parser("memory-magic mcp").parse_args(["--workspace", "there"])
    outcome = mcp(Context(root), args)
    assert served == [(root, "there")]
    assert PRINTERS[outcome.kind](outcome, None, "memory-magic") == ""
    with pytest.raises(UsageError):
        mcp(Context(root, prog="%memory"), args)


def test_no_heavy_import_for_the_command() -> None:
    """The table of commands loads no SDK: only serving does."""
    code = "import sys, memory_magic.commands_mcp; print([n for n in ('mcp', 'anyio', 'pydantic') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
