"""The tools, the callers and the servers that the benchmarks share.

Each tool asks eight predicates, four in its input and four in its output: there are 256 answer vectors, and each of
them is another view of every tool. Every tool has a text of its own, so that nothing is cheap because two are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import mcp_types
from fastmcp import Client, FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.tools import FunctionTool

from fastmcp_authz import Authz, Settings, authorized_tool

FLAGS: Final = ("search", "admin", "regions", "sorting", "billing", "support", "labels", "carriers")
HALF: Final = 0b01010101
"""The answer vector of somebody who sees one half of what is guarded."""
ARGUMENTS: Final[Mapping[str, Any]] = {"customer": "4711", "status": "paid"}
EVERYTHING: Final = {"margin": 3.25, "notes": "Rang twice", "labels": ["gift", "fragile"], "carrier": "bike"}
"""The guarded fields of an order."""
SEEN_BY_HALF: Final = {name: EVERYTHING[name] for name in ("margin", "labels")}


class Caller:
    """A server context whose answers are the bits of a number."""

    def __init__(self, answers: int, name: str = "somebody") -> None:
        self.answers = answers
        self.audit_id = name

    def requires(self, flag: str) -> bool:
        return flag == "orders" or self.feature(flag)

    def feature(self, flag: str) -> bool:
        return bool(self.answers >> FLAGS.index(flag) & 1)


class Door:
    """Who comes in next. In memory no token or header tells callers apart, so it is said here."""

    def __init__(self, answers: int = HALF) -> None:
        self.answers = answers
        self.name = "somebody"

    def context(self, _request: object) -> Caller:
        """Builds a new context for each request, as a real server does."""
        return Caller(self.answers, self.name)


def order_tool(number: int, more: Mapping[str, Any] = EVERYTHING) -> Callable[..., dict[str, Any]]:
    """The function of tool `number`. Its orders have the fields `more` beside the open ones."""

    def find_orders(
        customer: str,
        status: str = "open",
        page: int = 1,
        query: str | None = None,
        include_deleted: bool = False,
        region: str | None = None,
        sort: str = "date",
    ) -> dict[str, Any]:
        """Find the orders of a customer in shop NUMBER.

        @rbs type order = {
          id: Integer,
          status: "open" | "paid" | "sent",
          total: Float               @desc(In the currency of shop NUMBER),
          ?margin: Float             @requires(:billing),
          ?notes: String             @requires(:support),
          ?labels: Array[String]     @feature(:labels),
          ?carrier: String           @feature(:carriers)
        }
        @rbs type output = { orders: Array[order], page: Integer }

        #: (
        #:   customer: String           @min(1) @max(80) @desc(The customer's number in shop NUMBER),
        #:   ?status: "open" | "paid" | "sent"   @default(open),
        #:   ?page: Integer             @min(1) @default(1),
        #:   ?query: String?            @feature(:search) @max(200) @desc(Words to look for),
        #:   ?include_deleted: bool     @requires(:admin),
        #:   ?region: String?           @feature(:regions) @max(40),
        #:   ?sort: "date" | "total"    @feature(:sorting) @default(date)
        #: ) -> output
        """
        order = {"id": 7, "status": status, "total": 12.5, **more}
        return {"orders": [order, order, order], "page": page}

    find_orders.__doc__ = (find_orders.__doc__ or "").replace("NUMBER", str(number))
    return find_orders


def named(number: int) -> str:
    """The name of tool `number`."""
    return f"find_orders_{number}"


def protected_server(tools: int, door: Door, settings: Settings | None = None) -> FastMCP:
    """A server with that many decorated tools."""
    server = FastMCP("protected")
    Authz(server, context=door.context, settings=settings)
    declared = authorized_tool(authorization="orders", settings=settings)
    for number in range(tools):
        server.tool(name=named(number))(declared(order_tool(number)))
    return server


async def listed_by(server: FastMCP) -> list[mcp_types.Tool]:
    """What a client is listed."""
    client: Client[Any] = Client(server)
    async with client:
        return await client.list_tools()


def plain_server(listed: Sequence[mcp_types.Tool], *, middleware: Sequence[Middleware] = ()) -> FastMCP:
    """Plain FastMCP with the very tools that a protected server lists for `HALF`.

    Their functions return what that caller gets from the protected server: a plain one has nothing to prune.
    """
    server = FastMCP("plain", middleware=middleware)
    for number, tool in enumerate(listed):
        server.add_tool(as_listed(order_tool(number, SEEN_BY_HALF), tool))
    return server


def as_listed(function: Callable[..., Any], tool: mcp_types.Tool) -> FunctionTool:
    """A plain tool that is listed as `tool` is."""
    plain = FunctionTool.from_function(function, name=tool.name, description=tool.description)
    return plain.model_copy(update={"parameters": tool.input_schema, "output_schema": tool.output_schema})


async def refuse_unequal(clients: Sequence[Client[Any]], name: str, arguments: Mapping[str, Any]) -> None:
    """Sees to it that a comparison is fair.

    Raises:
        AssertionError: The servers do not list the same, or do not answer a call with the same.
    """
    lists = [[tool.model_dump(exclude={"meta"}) for tool in await client.list_tools()] for client in clients]
    assert all(each == lists[0] for each in lists), "they list other tools or schemas"
    answers = [await client.call_tool_mcp(name, dict(arguments)) for client in clients]
    assert all(each.content == answers[0].content for each in answers), "they answer otherwise"
    assert all(each.structured_content == answers[0].structured_content for each in answers), "they answer otherwise"
    assert not answers[0].is_error, answers[0].content
