"""`mcp_server.Talk` on version 2 of the official MCP SDK.

Two eras of the protocol come through the same handlers. A client of the older one is asked for its folders by a request
of ours; one of 2026-07-28 or later is answered "first tell me your folders" and calls again with them (it is told
nothing when the list of tools changes: it asks when it wants to know).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from memory_magic.assistants.mcp_server import NAME, ROOTS_SECONDS, own_version
from memory_magic.assistants.tools import Caller

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from memory_magic.assistants.mcp_server import Talk
    from memory_magic.assistants.tools import Tool

    Context = ServerRequestContext[Any, Any]

_ROOTS = "roots"


class RootsNeededError(Exception):
    """The client has to call again and name its folders."""


class _Link:
    """One request; *params* may carry the folders that were asked for, None where the client cannot be asked."""

    def __init__(self, context: Context, params: Any = None) -> None:
        self._context = context
        self._params = params

    @property
    def caller(self) -> Caller:
        known = self._context.session.client_params
        number = self._context.request_id
        return Caller(known.client_info.name if known else "", "" if number is None else str(number))

    @property
    def has_roots(self) -> bool:
        capabilities = self._context.session.client_capabilities
        has = capabilities is not None and capabilities.roots is not None
        return has and (not self._is_modern or isinstance(self._params, types.InputResponseRequestParams))

    @property
    def _is_modern(self) -> bool:
        return self._context.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def roots(self) -> list[str]:
        if self._is_modern:
            told = (self._params.input_responses or {}).get(_ROOTS)
            if told is None:
                raise RootsNeededError
            return _uris(told)
        try:
            request = types.ListRootsRequest()
            return _uris(
                await self._context.session.send_request(
                    request, types.ListRootsResult, request_read_timeout_seconds=ROOTS_SECONDS
                )
            )
        except MCPError:  # a time-out too: a client that does not answer names no folder
            return []


def _uris(told: Any) -> list[str]:
    return [str(root.uri) for root in told.roots] if isinstance(told, types.ListRootsResult) else []


async def run(talk: Talk) -> None:
    """Serve the client on standard input and output until it goes away."""
    serving = _Serving(talk)
    server = serving.server()
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        group.start_soon(talk.watch, serving.tell)
        await server.run(incoming, outgoing, options)
        group.cancel_scope.cancel()


class _Serving:
    """The handlers of one connection."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._last: Context | None = None

    def server(self) -> Server[Any]:
        """Return the SDK's server with our handlers."""
        server: Server[Any] = Server(
            NAME,
            version=own_version(),
            instructions=self._talk.tools.instructions(),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )
        # as an argument of Server it would warn of its own deprecation
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._roots_changed
        )
        return server

    async def tell(self) -> None:
        """Tell the client that the list of tools changed."""
        last = self._last
        if last is not None and last.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            with contextlib.suppress(MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await last.session.send_tool_list_changed()

    async def _list_tools(self, context: Context, _: Any) -> types.ListToolsResult:
        self._last = context
        tools = await self._talk.offered(_Link(context))
        return types.ListToolsResult(tools=[_tool(one) for one in tools])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        try:
            reply = await self._talk.call(_Link(context, params), params.name, params.arguments)
        except RootsNeededError:
            return _ask()
        return types.CallToolResult(content=[types.TextContent(text=reply.text)], is_error=reply.is_error)

    async def _list_resources(self, context: Context, _: Any) -> types.ListResourcesResult:
        found = await self._talk.resources(_Link(context))
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=one.address, name=one.name, description=one.description, mime_type="text/markdown")
                for one in found
            ]
        )

    async def _list_templates(self, context: Context, _: Any) -> types.ListResourceTemplatesResult:
        found = await self._talk.templates(_Link(context))
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=one.address, name=one.name, description=one.description, mime_type="text/markdown"
                )
                for one in found
            ]
        )

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        try:
            reply = await self._talk.read(_Link(context, params), str(params.uri))
        except RootsNeededError:
            return _ask()
        if reply.is_error:
            raise MCPError(types.INVALID_PARAMS, reply.text)
        content = types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=reply.text)
        return types.ReadResourceResult(contents=[content])

    async def _roots_changed(self, _: Context, __: Any) -> None:
        self._talk.roots_changed()


def _ask() -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})


def _tool(one: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=one.title,
        read_only_hint=one.read_only,
        destructive_hint=not one.read_only,
        idempotent_hint=one.read_only,
        open_world_hint=False,
    )
    return types.Tool(
        name=one.name,
        title=one.title,
        description=one.description,
        input_schema=dict(one.schema),
        annotations=hints,
    )
