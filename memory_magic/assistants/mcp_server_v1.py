"""`mcp_server.Talk` on version 1.30 of the official MCP SDK.

Handlers are entered as they are, without the SDK's decorators: those check arguments against the schema first, and say
what does not fit in the words of a validator, the value included.
"""

from __future__ import annotations

import contextlib
import importlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio

from memory_magic.assistants.mcp_server import NAME, ROOTS_SECONDS, own_version
from memory_magic.assistants.tools import Caller

if TYPE_CHECKING:
    from memory_magic.assistants.mcp_server import Talk
    from memory_magic.assistants.tools import Tool

# by name: type checks see the version that is installed, and that is the other one
types: Any = importlib.import_module("mcp.types")
lowlevel: Any = importlib.import_module("mcp.server.lowlevel")
stdio: Any = importlib.import_module("mcp.server.stdio")
exceptions: Any = importlib.import_module("mcp.shared.exceptions")


class _Link:
    """One request of the older protocol."""

    def __init__(self, context: Any) -> None:
        self._context = context

    @property
    def caller(self) -> Caller:
        known = self._context.session.client_params
        return Caller(known.clientInfo.name if known else "", str(self._context.request_id))

    @property
    def has_roots(self) -> bool:
        known = self._context.session.client_params
        return known is not None and known.capabilities.roots is not None

    async def roots(self) -> list[str]:
        request = types.ServerRequest(types.ListRootsRequest())
        try:
            told = await self._context.session.send_request(
                request, types.ListRootsResult, request_read_timeout_seconds=timedelta(seconds=ROOTS_SECONDS)
            )
        except exceptions.McpError:  # a time-out too: a client that does not answer names no folder
            return []
        return [str(root.uri) for root in told.roots]


async def run(talk: Talk) -> None:
    """Serve the client on standard input and output until it goes away."""
    serving = _Serving(talk)
    server = serving.server
    options = server.create_initialization_options(lowlevel.NotificationOptions(tools_changed=True))
    async with stdio.stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        group.start_soon(talk.watch, serving.tell)
        await server.run(incoming, outgoing, options)
        group.cancel_scope.cancel()


class _Serving:
    """The handlers of one connection."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._session: Any = None
        self.server = lowlevel.Server(NAME, version=own_version(), instructions=talk.tools.instructions())
        self.server.request_handlers |= {
            types.ListToolsRequest: self._list_tools,
            types.CallToolRequest: self._call_tool,
            types.ListResourcesRequest: self._list_resources,
            types.ListResourceTemplatesRequest: self._list_templates,
            types.ReadResourceRequest: self._read_resource,
        }
        self.server.notification_handlers[types.RootsListChangedNotification] = self._roots_changed

    async def tell(self) -> None:
        """Tell the client that the list of tools changed."""
        if self._session is not None:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._session.send_tool_list_changed()

    def _link(self) -> _Link:
        context = self.server.request_context
        self._session = context.session
        return _Link(context)

    async def _list_tools(self, _: Any) -> Any:
        tools = await self._talk.offered(self._link())
        return types.ServerResult(types.ListToolsResult(tools=[_tool(one) for one in tools]))

    async def _call_tool(self, request: Any) -> Any:
        params = request.params
        reply = await self._talk.call(self._link(), params.name, params.arguments)
        content = [types.TextContent(type="text", text=reply.text)]
        return types.ServerResult(types.CallToolResult(content=content, isError=reply.is_error))

    async def _list_resources(self, _: Any) -> Any:
        found = await self._talk.resources(self._link())
        listed = [
            types.Resource(uri=one.address, name=one.name, description=one.description, mimeType="text/markdown")
            for one in found
        ]
        return types.ServerResult(types.ListResourcesResult(resources=listed))

    async def _list_templates(self, _: Any) -> Any:
        found = await self._talk.templates(self._link())
        listed = [
            types.ResourceTemplate(
                uriTemplate=one.address, name=one.name, description=one.description, mimeType="text/markdown"
            )
            for one in found
        ]
        return types.ServerResult(types.ListResourceTemplatesResult(resourceTemplates=listed))

    async def _read_resource(self, request: Any) -> Any:
        uri = request.params.uri
        reply = await self._talk.read(self._link(), str(uri))
        if reply.is_error:
            raise exceptions.McpError(types.ErrorData(code=types.INVALID_PARAMS, message=reply.text))
        content = types.TextResourceContents(uri=uri, mimeType="text/markdown", text=reply.text)
        return types.ServerResult(types.ReadResourceResult(contents=[content]))

    async def _roots_changed(self, _: Any) -> None:
        self._talk.roots_changed()


def _tool(one: Tool) -> Any:
    hints = types.ToolAnnotations(
        title=one.title,
        readOnlyHint=one.read_only,
        destructiveHint=not one.read_only,
        idempotentHint=one.read_only,
        openWorldHint=False,
    )
    return types.Tool(
        name=one.name,
        title=one.title,
        description=one.description,
        inputSchema=dict(one.schema),
        annotations=hints,
    )
