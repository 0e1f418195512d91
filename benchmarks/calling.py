"""A `tools/call` with a small result: `python -m benchmarks.calling [--quick]`.

Once as a client sees it, who checks the result against the listed schema and makes an object of it, and once without
that. It is the same work whoever serves, and so brings the ratio nearer to one.
"""

from __future__ import annotations

from functools import partial

from fastmcp import Client

from benchmarks.catalogue import ARGUMENTS, Door, listed_by, named, plain_server, protected_server, refuse_unequal
from benchmarks.measuring import turn_by_turn
from benchmarks.table import Report, compared, run
from benchmarks.wire import unchecked_call

BAR = 1.08


async def calling(quick: bool) -> Report:
    """A call to one tool of 140, with an answer of three orders of which each loses two fields on the way."""
    tools, rounds = (10, 3) if quick else (140, 1_000)
    protected = protected_server(tools, Door())
    plain = plain_server(await listed_by(protected))
    name, arguments = named(tools // 2), dict(ARGUMENTS)
    async with Client(plain) as theirs, Client(protected) as ours:
        await refuse_unequal([theirs, ours], name, arguments)
        checked = await turn_by_turn([partial(each.call_tool, name, arguments) for each in (theirs, ours)], rounds)
        bare = await turn_by_turn([partial(unchecked_call, each, name, arguments) for each in (theirs, ours)], rounds)
    return Report(
        [
            compared("`tools/call`, small result", checked, BAR),
            compared("the same without what the client does with a result", bare),
        ]
    )


if __name__ == "__main__":
    run(calling)
