"""What the library adds to tools/list and tools/call: `python benchmarks/overhead.py [--quick]`.

Two servers with 140 tools of the same schemas, one of plain FastMCP and one of decorated tools, each behind an
in-memory client. Their requests are interleaved, so that whatever else the machine does falls on both alike; what is
printed last, the ratio of the medians, is the figure to compare.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.tools import FunctionTool

from fastmcp_authz import Authz, Request, authorized_tool

TOOLS = 140


class Caller:
    """Somebody who sees about one half of what is gated."""

    def __init__(self, request: Request) -> None:
        self.transport = request.transport

    def requires(self, flag: str) -> bool:
        return flag != "admin"

    def feature(self, flag: str) -> bool:
        return flag == "search"


def find_orders(
    customer: str, status: str = "open", page: int = 1, query: str | None = None, include_deleted: bool = False
) -> dict[str, Any]:
    """Find the orders of a customer.

    @rbs type order = { id: Integer, status: "open" | "paid" | "sent", total: Float, ?margin: Float @requires(:admin) }
    @rbs type output = { orders: Array[order], page: Integer }

    #: (
    #:   customer: String           @min(1) @max(80) @desc(The customer's number),
    #:   ?status: "open" | "paid" | "sent"   @default(open),
    #:   ?page: Integer             @min(1) @default(1),
    #:   ?query: String?            @feature(:search) @max(200),
    #:   ?include_deleted: bool     @requires(:admin)
    #: ) -> output
    """
    order = {"id": 7, "status": status, "total": 12.5}
    return {"orders": [order] * 20, "page": page}


def protected_server() -> FastMCP:
    server = FastMCP("protected")
    Authz(server, context=Caller)
    for number in range(TOOLS):
        server.tool(name=f"find_orders_{number}")(authorized_tool(authorization="orders")(find_orders))
    return server


async def plain_server(like: FastMCP) -> FastMCP:
    """Plain FastMCP with the very schemas that the protected server lists."""
    server = FastMCP("plain")
    async with Client(like) as client:
        listed = await client.list_tools()
    for tool in listed:
        plain = FunctionTool.from_function(find_orders, name=tool.name, description=tool.description)
        schemas = {"parameters": tool.input_schema, "output_schema": tool.output_schema}
        server.add_tool(plain.model_copy(update=schemas))
    return server


async def measure(
    plain: Callable[[], Awaitable[object]], protected: Callable[[], Awaitable[object]], rounds: int
) -> tuple[float, float]:
    """The median seconds of each, taken turn by turn after a few that do not count."""
    taken: tuple[list[float], list[float]] = ([], [])
    for turn in range(-3, rounds):
        for request, times in zip((plain, protected), taken, strict=True):
            start = time.perf_counter()
            await request()
            if turn >= 0:
                times.append(time.perf_counter() - start)
    return statistics.median(taken[0]), statistics.median(taken[1])


async def main(rounds: int) -> None:
    protected = protected_server()
    plain = await plain_server(like=protected)
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(Client(protected))
        theirs = await stack.enter_async_context(Client(plain))
        same = [t.model_dump(exclude={"meta"}) for t in await ours.list_tools()]
        assert same == [t.model_dump(exclude={"meta"}) for t in await theirs.list_tools()], "the two list other schemas"

        arguments = {"customer": "4711", "status": "paid"}
        gc.collect()
        gc.freeze()
        print(f"{TOOLS} tools, in memory, medians of {rounds}   plain ms   with contracts ms   ratio")
        for what, request in (
            ("tools/list", lambda client: client.list_tools),
            ("tools/call", lambda client: lambda: client.call_tool(f"find_orders_{TOOLS // 2}", arguments)),
        ):
            before, after = await measure(request(theirs), request(ours), rounds)
            print(f"{what:<38} {before * 1000:>10.3f} {after * 1000:>19.3f} {after / before:>7.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few rounds, to see that it runs")
    asyncio.run(main(rounds=5 if parser.parse_args().quick else 300))
