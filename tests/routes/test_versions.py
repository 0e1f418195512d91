"""Versions that are asked for by number."""

from __future__ import annotations

import pytest
from fastmcp import Client

from tests.routes import servers
from tests.routes.doors import ERAS
from tests.routes.office import MANAGER, NOBODY, calling_as
from tests.routes.sessions import Answer, answered


@pytest.mark.parametrize("era", ERAS)
async def test_a_hidden_number_is_one_that_never_was(era: str) -> None:
    server = servers.direct()

    async def report(caller: str, version: str) -> Answer:
        with calling_as(caller):
            async with Client(server, mode=era) as client:
                return answered(await client.call_tool_mcp("report", {}, meta={"fastmcp": {"version": version}}))

    assert (await report(MANAGER, "2")).data == {"edition": 2, "covert_total": 3}
    assert (await report(NOBODY, "1")).data == {"edition": 1}
    hidden, absent = await report(NOBODY, "2"), await report(NOBODY, "9")
    assert hidden.is_error
    assert hidden.received == absent.received
