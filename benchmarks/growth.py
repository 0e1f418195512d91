"""What grows with tools, callers and vectors: `python -m benchmarks.growth [--quick]`.

Each server below is brought to its size first; then all are timed turn by turn, so that the ratio of the largest to the
smallest is not one of two different minutes. The list should take the same time for each tool, and both list and call
the same time whoever came before.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from fastmcp import Client

from benchmarks.catalogue import ARGUMENTS, HALF, Door, listed_by, named, plain_server, protected_server
from benchmarks.measuring import Turns, turn_by_turn
from benchmarks.table import Report, Row, Table, run
from benchmarks.wire import unchecked_call

TOLERANCE = 1.10
"""What two medians of the same work may well differ by."""


async def growth(quick: bool) -> Report:
    """Lists at several sizes; lists and calls after several numbers of callers and of vectors."""
    rounds = 2 if quick else 30
    in_tools = await _in_tools((5, 10) if quick else (100, 300, 1_000), rounds)
    tools = 10 if quick else 40
    callers = await _after("callers", (1, 10) if quick else (1, 1_000, 10_000), tools, rounds, _callers)
    vectors = await _after("vectors", (1, 4) if quick else (1, 16, 64, 256), tools, rounds, _vectors)
    return Report(
        [each for rows, _ in (in_tools, callers, vectors) for each in rows],
        [table for _, table in (in_tools, callers, vectors)],
    )


async def _in_tools(sizes: Sequence[int], rounds: int) -> tuple[list[Row], Table]:
    async with AsyncExitStack() as stack:
        works: list[Callable[[], Awaitable[object]]] = []
        for size in sizes:
            protected = protected_server(size, Door())
            for server in (plain_server(await listed_by(protected)), protected):
                client = await stack.enter_async_context(Client(server))
                works.append(client.list_tools)
        turns = await turn_by_turn(works, rounds)
    plain, ours = range(0, len(works), 2), range(1, len(works), 2)
    last, growth_of = len(sizes) - 1, sizes[-1] / sizes[0]
    theirs = turns.ratio(plain[last], to=plain[0]).value / growth_of
    own = turns.ratio(ours[last], to=ours[0]).value / growth_of
    row = Row(
        f"`tools/list`, time a tool: {sizes[-1]:,} tools to {sizes[0]:,}",
        f"x {theirs:.2f}",
        f"x {own:.2f}",
        f"{own / theirs:.2f}",
        f"<= {TOLERANCE:.2f}: grows as plain FastMCP does",
        own / theirs <= TOLERANCE,
    )
    table = [
        (server, *(f"{turns.seconds(which[n]) / size * 1e6:.1f}" for n, size in enumerate(sizes)))
        for server, which in (("plain FastMCP", plain), ("ours", ours))
    ]
    return [row], Table("`tools/list`, µs a tool:", ("tools", *(f"{size:,}" for size in sizes)), table)


Bring = Callable[[Client[Any], Door, int], Awaitable[None]]


async def _after(what: str, counts: Sequence[int], tools: int, rounds: int, bring: Bring) -> tuple[list[Row], Table]:
    """Times servers that differ in who was there before."""
    async with AsyncExitStack() as stack:
        clients = []
        for count in counts:
            door = Door()
            client = await stack.enter_async_context(Client(protected_server(tools, door)))
            await bring(client, door, count)
            door.answers, door.name = HALF, "the last one"
            clients.append(client)
        lists = await turn_by_turn([client.list_tools for client in clients], rounds)
        call = [partial(unchecked_call, client, named(tools // 2), ARGUMENTS) for client in clients]
        calls = await turn_by_turn(call, rounds * 10)
    requests = (("`tools/list`", lists), ("`tools/call`", calls))
    rows = [_flat(f"{request} after {counts[-1]:,} {what}, to 1", turns) for request, turns in requests]
    table = [(request, *(f"{turns.seconds(n) * 1_000:.2f}" for n in range(len(counts)))) for request, turns in requests]
    head = (f"{what} seen", *(f"{count:,}" for count in counts))
    return rows, Table(f"{tools} tools, ms after so many {what}:", head, table)


def _flat(what: str, turns: Turns) -> Row:
    last = len(turns.taken) - 1
    ratio = turns.ratio(last, to=0)
    before, after = (f"{turns.seconds(which) * 1_000:.2f} ms" for which in (0, last))
    return Row(what, "", f"{before}, then {after}", str(ratio), f"<= {TOLERANCE:.2f}: flat", ratio.value <= TOLERANCE)


async def _callers(client: Client[Any], door: Door, count: int) -> None:
    """That many people make one call each, under a few vectors."""
    for number in range(count):
        door.answers, door.name = HALF ^ number % 4, f"caller {number}"
        await unchecked_call(client, named(number % 10), ARGUMENTS)


async def _vectors(client: Client[Any], door: Door, count: int) -> None:
    """That many vectors list everything once."""
    for number in range(count):
        door.answers = HALF ^ number
        await client.list_tools()


if __name__ == "__main__":
    run(growth)
