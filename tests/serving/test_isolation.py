"""Many callers with many different rights at once, over HTTP: each gets what a server of their own would give them.

`ISOLATION_REQUESTS=20000 pytest tests/serving/test_isolation.py` is the long run.
"""

from __future__ import annotations

import asyncio
import gc
import os
import tracemalloc
from random import Random
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.utilities.tests import asgi_server

from fastmcp_authz import Authz, Request, authorized_tool
from tests.serving.people import Person, calling_as

REQUESTS = int(os.environ.get("ISOLATION_REQUESTS", "600"))
LONG = REQUESTS >= 10_000
"""Whether memory is watched too, which takes long."""
CALLERS = 200 if LONG else 50
FLAGS = ("a", "b", "c", "d", "e", "f")
VECTORS = [tuple(flag for i, flag in enumerate(FLAGS) if number >> i & 1) for number in range(1, 51)]
"""Fifty different sets of rights."""


@authorized_tool
def look(word: str, deep: bool = False, limit: int = 3) -> dict[str, Any]:
    """
    @rbs type row = { id: Integer, ?pay: Integer @requires(:b), ?boss: String @feature(:c) }
    @rbs type output = { rows: Array[row], ?word: String @requires(:d) } | { none: true, ?why: String @requires(:e) }
    #: (word: String, ?deep: bool @requires(:a), ?limit: Integer @requires(:f) @default(3)) -> output
    """
    if word == "nothing":
        return {"none": True, "why": "closed"}
    return {"rows": [{"id": n, "pay": n * 7, "boss": f"boss of {word}"} for n in range(limit)], "word": word}


@authorized_tool(authorization="a", gates=[("feature", "e")])
def change(word: str) -> dict[str, Any]:
    """
    @rbs type output = { word: String, ?by: String @requires(:f) }
    #: (word: String) -> output
    """
    return {"word": word, "by": "somebody"}


class Building:
    """Builds contexts, and counts them."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self, request: Request) -> Person:
        self.built += 1
        return Person(request)


def server() -> tuple[FastMCP[Any], Building, Authz]:
    mcp: FastMCP[Any] = FastMCP("shared")
    mcp.tool(look)
    mcp.tool(change)
    building = Building()
    return mcp, building, Authz(mcp, context=building)


REQUESTED: list[tuple[str, dict[str, Any]]] = [
    ("list", {}),
    ("look", {"word": "x"}),
    ("look", {"word": "nothing"}),
    ("look", {"word": "x", "deep": True}),
    ("look", {"word": "x", "limit": 2}),
    ("look", {"word": 5}),
    ("change", {"word": "y"}),
    ("absent", {}),
]


async def answer(client: Client[Any], what: str, arguments: dict[str, Any]) -> str:
    """Every byte of an answer."""
    if what == "list":
        return str([tool.model_dump_json(by_alias=True) for tool in await client.list_tools()])
    result = await client.call_tool_mcp(what, arguments)
    return result.model_dump_json(by_alias=True, exclude={"meta"})


async def answers_alone(vector: tuple[str, ...], mode: str) -> list[str]:
    """What a fresh server gives to somebody with these rights."""
    mcp, _, _ = server()
    with calling_as(*vector):
        async with Client(mcp, mode=mode) as client:
            return [await answer(client, what, arguments) for what, arguments in REQUESTED]


class Counting(Middleware):
    """Counts the requests that somebody has to be known for."""

    def __init__(self) -> None:
        self.requests = 0

    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        self.requests += 1
        return await call_next(context)

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        self.requests += 1
        return await call_next(context)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_of_many_callers_gets_what_a_server_of_their_own_would_give(mode: str) -> None:
    expected = {vector: await answers_alone(vector, mode) for vector in VECTORS}
    assert len({str(answers) for answers in expected.values()}) == len(VECTORS), "no two of them are alike"
    mcp, building, authz = server()
    counting = Counting()
    mcp.add_middleware(counting)
    used: list[int] = []

    async with asgi_server(mcp) as running:

        async def comes(number: int, requests: int) -> None:
            random = Random(number)
            vector = VECTORS[number % len(VECTORS)]
            async with running.client(headers={"x-person": " ".join(vector)}, mode=mode) as client:
                for _ in range(requests):
                    which = random.randrange(len(REQUESTED))
                    assert await answer(client, *REQUESTED[which]) == expected[vector][which]

        async def everybody(requests: int) -> None:
            await asyncio.gather(*(comes(number, requests // CALLERS) for number in range(CALLERS)))
            gc.collect()
            used.append(tracemalloc.get_traced_memory()[0])

        if LONG:
            tracemalloc.start()
        try:
            for requests in (REQUESTS // 4, REQUESTS // 4, REQUESTS // 2):
                await everybody(requests)
        finally:
            tracemalloc.stop()

    assert building.built == counting.requests >= REQUESTS
    grown = (used[2] - used[1]) / (REQUESTS // 2 / 1_000)
    if LONG:
        print(f"{mode}: {counting.requests} requests, {grown / 1_000:.1f} kB more a thousand")  # noqa: T201
    assert grown < 100_000
    figures = authz.stats()
    assert figures.made == figures.kept <= 4 * len(VECTORS), "each view is made once, and each list of two"
    assert figures.dropped == 0 < figures.found
