"""The first `tools/list` of a new answer vector: `python -m benchmarks.first_listing [--quick]`.

Nobody with these answers was there before, so that each tool gets a view that is not kept yet. The second list of the
same vector is the warm one; it comes right after the first, and shows as much.
"""

from __future__ import annotations

import random
import statistics

from fastmcp import Client

from benchmarks.catalogue import FLAGS, Door, protected_server
from benchmarks.measuring import Middle, seconds, settled_heap
from benchmarks.table import Report, Row, run

BAR = 60


async def first_listing(quick: bool) -> Report:
    """Vectors in an order that has nothing to do with how much they show."""
    tools, count = (10, 4) if quick else (140, 97)
    vectors = random.Random(0).sample(range(2 ** len(FLAGS)), count)
    door = Door(vectors[0])
    first: list[float] = []
    warm: list[float] = []
    async with Client(protected_server(tools, door)) as client:
        await client.list_tools()
        with settled_heap():
            for door.answers in vectors[1:]:
                first.append(await seconds(client.list_tools) / tools)
                warm.append(await seconds(client.list_tools) / tools)
    above = Middle.of([a - b for a, b in zip(first, warm, strict=True)], scale=1e6)
    row = Row(
        f"first `tools/list` of a new answer vector, {tools} tools",
        f"warm: {statistics.median(warm) * 1e6:.0f} µs a tool",
        f"{statistics.median(first) * 1e6:.0f} µs a tool",
        f"{above} µs more",
        f"<= {BAR} µs more",
        above.value <= BAR,
    )
    return Report([row])


if __name__ == "__main__":
    run(first_listing)
