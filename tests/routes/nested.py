"""Servers on which a tool lists and calls the other tools from inside, by one of FastMCP's Python interfaces."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import FastMCPError, NotFoundError
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.versions import dedupe_with_versions

from fastmcp_authz.serving.decorator import authorized_tool
from tests.routes.office import bare, protected
from tests.routes.servers import Serve, Server, direct
from tests.routes.sessions import Answer, Nested, Session

Json = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """How a handler gets at a server's tools."""

    listed: Callable[[FastMCP[Any]], Awaitable[Sequence[Tool]]]
    called: Callable[[FastMCP[Any], str, Json], Awaitable[Any]]
    """Answers a `ToolResult` or a `CallToolResult`."""


async def _listed(server: FastMCP[Any]) -> Sequence[Tool]:
    return await server.list_tools()


async def _listed_without_middleware(server: FastMCP[Any]) -> Sequence[Tool]:
    return await server.list_tools(run_middleware=False)


async def _registered(server: FastMCP[Any]) -> Sequence[Tool]:
    return [tool for tool in await server.local_provider.list_tools() if tool.name not in Nested.needs]


async def _called(server: FastMCP[Any], tool: str, arguments: Json) -> Any:
    return await server.call_tool(tool, arguments)


async def _called_without_middleware(server: FastMCP[Any], tool: str, arguments: Json) -> Any:
    return await server.call_tool(tool, arguments, run_middleware=False)


async def _looked_up_and_run(server: FastMCP[Any], tool: str, arguments: Json) -> Any:
    return await _run(await server.get_tool(tool), tool, arguments)


async def _listed_and_run(server: FastMCP[Any], tool: str, arguments: Json) -> Any:
    listed = dedupe_with_versions(await server.list_tools(), lambda each: each.name)
    return await _run(next((each for each in listed if each.name == tool), None), tool, arguments)


async def _registered_and_run(server: FastMCP[Any], tool: str, arguments: Json) -> Any:
    return await _run(await server.local_provider.get_tool(tool), tool, arguments)


async def _asked_by_a_client(server: FastMCP[Any], tool: str, arguments: Json) -> Any:
    async with Client(server) as client:
        return await client.call_tool_mcp(tool, arguments)


async def _run(tool: Tool | None, name: str, arguments: Json) -> Any:
    if tool is None:
        return ToolResult(content=f"Unknown tool: {name!r}", is_error=True)
    return await tool.run(arguments)


_kept: WeakKeyDictionary[FastMCP[Any], dict[str, Tool]] = WeakKeyDictionary()


async def _kept_and_run(server: FastMCP[Any], tool: str, arguments: Json) -> Any:
    """Runs the object that was listed for whoever came first and could see the tool."""
    kept = _kept.setdefault(server, {})
    listed = await server.list_tools()
    for each in listed:
        kept.setdefault(each.key, each)
    own = [each.key for each in dedupe_with_versions(listed, lambda each: each.name) if each.name == tool]
    others = [key for key, each in kept.items() if each.name == tool]
    return await _run(next((kept[key] for key in own + others), None), tool, arguments)


CALL_TOOL = Way(_listed, _called)
CALL_TOOL_WITHOUT_MIDDLEWARE = Way(_listed_without_middleware, _called_without_middleware)
GET_TOOL_AND_RUN = Way(_listed_without_middleware, _looked_up_and_run)
LIST_AND_RUN = Way(_listed, _listed_and_run)
KEPT = Way(_listed, _kept_and_run)
LOCAL_PROVIDER = Way(_registered, _registered_and_run)
CLIENT = Way(_listed, _asked_by_a_client)


def add_gateway(server: FastMCP[Any], way: Way, *, to: FastMCP[Any] | None = None, admitted: bool = False) -> None:
    """Adds the tools `listed` and `through`, which get at the tools of `to`, or of the server itself, that way.

    Args:
        admitted: Whether they are `authorized_tool`s themselves, admitted for everyone.
    """

    async def listed(ctx: Context) -> Json:
        """
        @rbs type output = { tools: Array[untyped] }
        #: () -> output
        """
        tools = dedupe_with_versions(await way.listed(to or ctx.fastmcp), lambda each: each.name)
        return {
            "tools": [each.to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True) for each in tools]
        }

    async def through(tool: str, arguments: dict[str, Any], ctx: Context) -> Json:
        """
        @rbs type output = { is_error: bool, text: String, data: untyped }
        #: (tool: String, arguments: Hash[String, untyped]) -> output
        """
        try:
            result = await way.called(to or ctx.fastmcp, tool, arguments)
        except (FastMCPError, NotFoundError) as error:
            return {"is_error": True, "text": str(error), "data": None}
        text = "".join(block.text for block in result.content if block.type == "text")
        return {"is_error": result.is_error, "text": text, "data": result.structured_content}

    for tool in (listed, through):
        server.tool(authorized_tool(tool) if admitted else tool, description="A gateway.")


def nesting(way: Way, serve: Serve = direct, *, admitted: bool = False) -> Serve:
    """The gateway is on the server itself."""

    def made() -> Server:
        server = serve()
        add_gateway(server, way, admitted=admitted)
        return server

    return made


def nesting_in_a_child(way: Way) -> Serve:
    """It is on a child of a protected parent, and so are the tools."""

    def serve() -> Server:
        child = bare("child")
        add_gateway(child, way)
        server = protected()
        server.mount(child)
        return server

    return serve


def elsewhere(way: Way) -> Serve:
    """It is admitted on a protected server, and reaches one that nothing protects."""

    def serve() -> Server:
        server = protected()
        add_gateway(server, way, to=bare("elsewhere"), admitted=True)
        return server

    return serve


def in_python(way: Way) -> type[Session]:
    """No client and no request: a program calls the server that it has made."""

    class InPython(Session):
        server: Server

        def __init__(self, server: Any, *options: Any) -> None:
            super().__init__(server, *options)
            self.server = server

        async def listing(self) -> list[Json]:
            listed = as_json(await way.listed(self.server))
            self.received.append(json.dumps(listed))
            return listed

        async def reach(self, tool: str, arguments: Json) -> Answer:
            try:
                result = await way.called(self.server, tool, arguments)
            except (FastMCPError, NotFoundError) as error:
                return Answer(True, None, str(error))
            received = json.dumps([result.to_mcp_result()], default=vars)
            self.received.append(received)
            return Answer(result.is_error, result.structured_content, received)

    return InPython


def as_json(tools: Sequence[Tool]) -> list[Json]:
    """The tools as the wire would have them."""
    newest = dedupe_with_versions(tools, lambda each: each.name)
    return [each.to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True) for each in newest]
