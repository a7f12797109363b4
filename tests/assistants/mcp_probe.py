"""A client of the official SDK, whichever version this Python has, and what it saw of our server as one line of JSON.

    python mcp_probe.py SERVER_PYTHON ROOT FOLDER MODE        MODE: workspace, roots, silent or none

Run by `test_mcp_server.py` and `test_mcp_versions.py`. The server is a real sub-process over stdio. The client says
`--workspace FOLDER`, names FOLDER as its root, does not answer when it is asked for roots, or has none.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio

PROGRAM = "import sys; from memory_magic.commands_mcp import mcp; from memory_magic.commands_base import Context; from argparse import Namespace; mcp(Context(sys.argv[1]), Namespace(workspace=sys.argv[2] if len(sys.argv) > 2 else None))"  # noqa: E501
client: Any = importlib.import_module("mcp.client.stdio")
sessions: Any = importlib.import_module("mcp.client.session")
types: Any = importlib.import_module("mcp.types")


def told(result: Any) -> dict[str, Any]:
    """Return a tool's answer as plain values, under the names of either version."""
    failed = getattr(result, "isError", None)
    text = "".join(part.text for part in result.content)
    return {"text": text, "error": bool(result.is_error if failed is None else failed)}


def roots(folder: str, mode: str) -> Any:
    """Return the callback that names the client's folders, or None."""

    async def name(_: Any) -> Any:
        """Answer, or do not."""
        if mode == "silent":
            await anyio.sleep(60)
        uris = ["file:///nowhere/at/all", Path(folder).as_uri()]
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in uris])

    return name if mode in {"roots", "silent"} else None


async def walk(session: Any) -> dict[str, Any]:
    """Use everything once."""
    seen: dict[str, Any] = {}
    begun = await session.initialize()
    seen["instructions"] = begun.instructions
    tools = (await session.list_tools()).tools
    seen["tools"] = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]
    call = session.call_tool
    seen["saved"] = told(await call("remember", {"note": "Deploys run on Fridays"}))
    seen["everywhere"] = told(await call("remember", {"note": "Dark mode", "scope": "global"}))
    change = {"replaces": "Deploys run on Fridays", "note": "Deploys run on Tuesdays", "evidence": "stand-up"}
    seen["revised"] = told(await call("remember", {"action": "revise", **change}))
    seen["found"] = told(await call("memory_search", {"query": "deploys dark"}))
    seen["got"] = told(await call("memory_get", {"id": "memory://root"}))
    seen["retired"] = told(
        await call("remember", {"action": "retire", "replaces": "Dark mode", "evidence": "no longer"})
    )
    seen["unknown"] = told(await call("forget", {}))
    seen["wrong"] = told(await call("memory_search", {"query": 5, "limit": "x"}))
    seen["long"] = told(await call("remember", {"note": "x" * 1_000_000}))
    seen["foreign"] = told(await call("memory_get", {"id": "0123456789"}))
    seen["resources"] = [str(one.uri) for one in (await session.list_resources()).resources]
    templates = await session.list_resource_templates()
    listed = getattr(templates, "resourceTemplates", None) or templates.resource_templates
    seen["templates"] = [getattr(one, "uriTemplate", None) or one.uri_template for one in listed]
    address: Any = "memory://root"
    contents = (await session.read_resource(address)).contents
    seen["read"] = contents[0].text
    return seen


async def main() -> None:
    """Start the server, use it, print what was seen."""
    python, root, folder, mode = sys.argv[1:5]
    place = [folder] if mode == "workspace" else []
    server = client.StdioServerParameters(command=python, args=["-c", PROGRAM, root, *place], env=dict(os.environ))
    info = types.Implementation(name="probe", version="1")
    async with (
        client.stdio_client(server) as (incoming, outgoing),
        sessions.ClientSession(
            incoming, outgoing, list_roots_callback=roots(folder, mode), client_info=info
        ) as session,
    ):
        seen = await walk(session)
    seen["version"] = importlib.metadata.version("mcp")
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    anyio.run(main)
