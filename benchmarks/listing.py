"""A warm `tools/list`, as a client sees it: `python -m benchmarks.listing [--quick]`."""

from __future__ import annotations

from fastmcp import Client

from benchmarks.catalogue import ARGUMENTS, Door, listed_by, named, plain_server, protected_server, refuse_unequal
from benchmarks.measuring import turn_by_turn
from benchmarks.table import Report, Row, compared, run

BAR = 1.00


async def listing(quick: bool) -> Report:
    """Both servers list the same tools with the same schemas; only the decorated ones are decided about."""
    sizes = {10: 3, 20: 3} if quick else {140: 200, 1_000: 40}
    return Report([await _row(tools, rounds) for tools, rounds in sizes.items()])


async def _row(tools: int, rounds: int) -> Row:
    protected = protected_server(tools, Door())
    plain = plain_server(await listed_by(protected))
    async with Client(plain) as theirs, Client(protected) as ours:
        await refuse_unequal([theirs, ours], named(0), ARGUMENTS)
        turns = await turn_by_turn([theirs.list_tools, ours.list_tools], rounds)
    return compared(f"`tools/list`, {tools:,} tools, warm", turns, BAR)


if __name__ == "__main__":
    run(listing)
