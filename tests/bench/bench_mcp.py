"""What a search over MCP costs: its round trip beside that of an empty tool of the same SDK, and the search itself.

Both servers are sub-processes over stdio, asked in turns by the SDK's own client; the search itself is `Store.search`
of the same store, query and limit, in this process. Compared is the fastest quarter's upper bound, on the clock:
a round trip is two processes, and what neighbours on a shared machine take is in no side of the ratio.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from memory_magic import settings
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_benchmark.fixture import BenchmarkFixture

NOTES, ROUNDS, WARM = 1_000, 208, 104  # every query was asked once before: a server lives for long
REACH = 1.5
WORDS = ("deploy", "colour", "pandas", "polars", "release", "review", "branch", "editor")
EMPTY = """
import sys
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
server = Server("empty")
@server.tool()
def empty(query: str) -> str:
    return ""
server.run(transport="stdio")
"""
OURS = "import sys; from memory_magic.assistants.mcp_server import serve; serve(sys.argv[1], sys.argv[2])"

pytestmark = [pytest.mark.bench, pytest.mark.timeout(600)]


def _server(*words: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-c", *words], env=dict(os.environ))


async def _times(root: Path, repo: Path, store: Store) -> tuple[list[float], list[float], list[float]]:
    """Return the seconds of empty calls, of searches over MCP, and of searches in this process."""
    empty: list[float] = []
    searched: list[float] = []
    itself: list[float] = []
    async with (
        stdio_client(_server(EMPTY)) as (read_one, write_one),
        ClientSession(read_one, write_one) as nothing,
        stdio_client(_server(OURS, str(root), str(repo))) as (read_two, write_two),
        ClientSession(read_two, write_two) as memory,
    ):
        await nothing.initialize()
        await memory.initialize()
        for number in range(WARM + ROUNDS):
            query = f"{WORDS[number % len(WORDS)]} {number % 13}"
            begun = time.perf_counter()
            await nothing.call_tool("empty", {"query": query})
            between = time.perf_counter()
            result: Any = await memory.call_tool("memory_search", {"query": query})
            ended = time.perf_counter()
            store.search(query, limit=8)
            done = time.perf_counter()
            assert "native_memory_recall" in result.content[0].text
            if number >= WARM:
                empty.append(between - begun)
                searched.append(ended - between)
                itself.append(done - ended)
    return empty, searched, itself


def test_a_search_over_mcp(benchmark: BenchmarkFixture, root: Path, git_repo: Callable[..., Path]) -> None:
    """The round trip of memory_search is at most 1.5 x that of an empty tool, plus the search itself."""
    repo = git_repo("alpha")
    settings.set_value(root, "enabled", value=True, strict=False)
    with Store(root, repo) as store:
        texts = [f"{WORDS[one % len(WORDS)]} number {one} belongs to {one % 13}" for one in range(NOTES)]
        store.remember_many(texts, scope="workspace")
        time.sleep(2.1)  # files that changed a moment ago are read again at every look: not what is measured
        empty, searched, itself = benchmark.pedantic(  # type: ignore[no-untyped-call]
            anyio.run, (_times, root, repo, store), rounds=1
        )
    quarters = [statistics.quantiles(times, n=4)[0] * 1e3 for times in (empty, searched, itself)]
    allowed = REACH * quarters[0] + quarters[2]
    shown = "empty tool {:.2f} ms, memory_search {:.2f} ms, the search itself {:.2f} ms".format(*quarters)
    print(f"\n{shown}: allowed {allowed:.2f} ms")
    assert quarters[1] <= allowed
