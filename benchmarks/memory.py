"""What the views of many callers take: `python -m benchmarks.memory [--quick]`.

Resident memory of a process of its own, as an operator sees it, after a garbage collection. `tracemalloc` would miss
the validators, which are not Python's objects, and would take twice as long.

10,000 requests of 1,000 tools each would take a quarter of an hour. A list makes and uses the views of all tools for
one vector and leaves nothing of the caller's own behind: so each of the 64 vectors lists everything once, when its
first caller comes, and each of the 10,000 callers, with a name of their own, makes one call. The calls go to all the
tools in turn, under all the vectors, so that many views are not only listed but get their validators as well. There
are as many different views as there can be, 64,000, and the cache has its default bound.

The plain server does the same work, and has the very tools that the protected one lists for one of the vectors.
"""

from __future__ import annotations

import asyncio
import gc
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import mcp_types
from fastmcp import Client, FastMCP

from benchmarks.catalogue import ARGUMENTS, HALF, Door, listed_by, named, plain_server, protected_server
from benchmarks.table import Report, Row, run
from benchmarks.wire import unchecked_call
from fastmcp_authz import Settings

BAR = 200


@dataclass(frozen=True, slots=True)
class Load:
    """How much is done."""

    tools: int
    vectors: int
    callers: int


async def memory(quick: bool) -> Report:
    """Three processes, one after the other: so many views that the size of one can be told, plain, protected."""
    load = Load(20, 4, 20) if quick else Load(1_000, 64, 10_000)
    few = Load(20, 4, 0) if quick else Load(140, 64, 0)
    listed = [tool.model_dump_json() for tool in await listed_by(protected_server(load.tools, Door()))]
    kilobytes = _elsewhere(few, None, 1_000_000) * 1_000 / (few.tools * (few.vectors - 1))
    plain, ours = _elsewhere(load, listed, None), _elsewhere(load, None, None)
    return Report(
        [
            Row("memory of a view that was listed", "none", f"{kilobytes:.1f} kB", ""),
            Row(
                f"memory after {load.callers:,} callers, {load.vectors} vectors, {load.tools:,} tools",
                f"{plain:.0f} MB",
                f"{ours:.0f} MB",
                f"{ours - plain:.0f} MB more",
                f"<= {BAR} MB more",
                ours - plain <= BAR,
            ),
        ]
    )


def _elsewhere(load: Load, listed: list[str] | None, cached_views: int | None) -> float:
    """`_megabytes` of a fresh process, which has imported all and done nothing."""
    processes_of = get_context("forkserver")
    processes_of.set_forkserver_preload(["benchmarks.catalogue"])
    with ProcessPoolExecutor(1, mp_context=processes_of) as processes:
        return processes.submit(_megabytes, load, listed, cached_views).result()


def _megabytes(load: Load, listed: list[str] | None, cached_views: int | None) -> float:
    """The memory that a server takes in the end.

    Args:
        load: What is done.
        listed: The tools of a plain server; `None` for the protected one.
        cached_views: Keeps that many, and counts from when the first vector has been listed. The default where `None`.
    """
    settings = Settings(cached_views=cached_views) if cached_views else None
    door = Door()
    if listed is None:
        server = protected_server(load.tools, door, settings)
    else:
        server = plain_server([mcp_types.Tool.model_validate_json(text) for text in listed])
    return asyncio.run(_grown(server, door, load, from_first=cached_views is not None))


async def _grown(server: FastMCP, door: Door, load: Load, *, from_first: bool) -> float:
    before = 0.0
    async with Client(server) as client:
        for number in range(max(load.vectors, load.callers)):
            # Around one half, so that what is listed first is what the plain server lists.
            door.answers, door.name = HALF ^ number % load.vectors, f"caller {number}"
            if number < load.vectors:
                await client.list_tools()
            if number < load.callers:
                await unchecked_call(client, named(number % load.tools), ARGUMENTS)
            if number == 0 and from_first:
                before = _resident()
        return _resident() - before


def _resident() -> float:
    """Megabytes that this process holds, as Linux tells it."""
    gc.collect()
    [kilobytes] = re.findall(r"^VmRSS:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(kilobytes) * 1_024 / 1e6


if __name__ == "__main__":
    run(memory)
