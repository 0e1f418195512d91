"""The same tools served in other ways: `python -m benchmarks.peers [--quick]`.

- Plain FastMCP, which decides nothing.
- FastMCP's own `AuthMiddleware` with `require_scopes`, which allows or denies whole tools. In memory there is no token,
  so one is handed to FastMCP's own check.
- Ours.
- Our library without anything kept: each request reads the docstrings again and compiles the views for its caller. So
  works who derives a caller's schema when a caller comes, from annotations or models, and so did the Ruby original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

import mcp_types
from fastmcp import Client, FastMCP
from fastmcp.server.auth import AccessToken, AuthContext, require_scopes
from fastmcp.server.middleware import AuthMiddleware, CallNext, Middleware, MiddlewareContext
from fastmcp.tools import FunctionTool, Tool, ToolResult

from benchmarks.catalogue import (
    ARGUMENTS,
    HALF,
    Caller,
    Door,
    listed_by,
    named,
    order_tool,
    plain_server,
    protected_server,
    refuse_unequal,
)
from benchmarks.measuring import turn_by_turn
from benchmarks.table import Report, Table, run
from fastmcp_authz import CallerView, ToolContract

TOKEN: Final = AccessToken(token="in-memory", client_id="somebody", scopes=["orders"])
OURS: Final = "fastmcp_authz"


async def peers(quick: bool) -> Report:
    """All of them turn by turn, with one list and one call."""
    tools, lists, calls = (10, 2, 2) if quick else (140, 25, 300)
    protected = protected_server(tools, Door())
    listed = await listed_by(protected)
    servers = {
        "plain FastMCP": plain_server(listed),
        "`AuthMiddleware` with scopes: allows or denies": plain_server(listed, middleware=[AuthMiddleware(_scoped)]),
        OURS: protected,
        "ours, compiled for each request": _compiling_server(tools),
    }
    name, arguments = named(tools // 2), dict(ARGUMENTS)
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(Client(server)) for server in servers.values()]
        await refuse_unequal(clients, name, arguments)
        listing = await turn_by_turn([client.list_tools for client in clients], lists)
        calling = await turn_by_turn([partial(client.call_tool, name, arguments) for client in clients], calls)
    rows = [
        (
            server,
            *(
                cell
                for turns in (listing, calling)
                for cell in (f"{turns.seconds(n) * 1_000:.2f}", f"{turns.ratio(n, to=0).value:.2f}")
            ),
        )
        for n, server in enumerate(servers)
    ]
    head = (f"{tools} tools", "`tools/list`, ms", "to plain", "`tools/call`, ms", "to plain")
    return Report(tables=[Table("Peers:", head, rows)])


def _scoped(context: AuthContext) -> bool:
    """FastMCP's own check, with the token that an HTTP request would have brought."""
    return bool(require_scopes("orders")(AuthContext(token=TOKEN, component=context.component)))


def _compiling_server(tools: int) -> FastMCP:
    functions = {named(number): order_tool(number) for number in range(tools)}
    docstrings = {name: function.__doc__ or "" for name, function in functions.items()}
    server = FastMCP("compiling", middleware=[_CompiledPerRequest(docstrings)])
    for name, function in functions.items():
        server.add_tool(FunctionTool.from_function(function, name=name))
    return server


class _CompiledPerRequest(Middleware):
    def __init__(self, docstrings: Mapping[str, str]) -> None:
        self._docstrings = docstrings

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        return [await self._seen(tool) for tool in await call_next(context)]

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        message = context.message
        view = await self._view(message.name)
        accepted = view.filter_input(message.arguments or {})
        result = await call_next(context.copy(message=message.model_copy(update={"arguments": accepted})))
        return ToolResult(structured_content=view.filter_output(result.structured_content))

    async def _seen(self, tool: Tool) -> Tool:
        view = await self._view(tool.name)
        shown = {"description": view.description, "parameters": view.input_schema, "output_schema": view.output_schema}
        return tool.model_copy(update=shown)

    async def _view(self, name: str) -> CallerView:
        return await ToolContract.parse(self._docstrings[name], name=name).view_async(Caller(HALF))


if __name__ == "__main__":
    run(peers)
