"""Producers register tools that are built at run time: once, in their order, before anybody is served."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.utilities.tests import asgi_server

from fastmcp_authz import Authz, AuthzMiddleware, ConfigurationError
from tests.serving.people import ERAS, People, call, tools_of


def report(name: str) -> Any:
    def fn(day: str = "") -> dict[str, Any]:
        """
        @rbs type output = { of: String }
        #: (?day: String @requires(:admin)) -> output
        """
        return {"of": name}

    return fn


@pytest.mark.parametrize("mode", ERAS)
async def test_producers_run_once_in_order_before_the_first_list(mode: str) -> None:
    ran: list[str] = []
    mcp: FastMCP[Any] = FastMCP("x")

    def one(authz: Authz) -> None:
        ran.append("one")
        for name in ("sales", "stock"):
            authz.tool(f"{name}_report", gates=[("requires", name)])(report(name))

    async def other(authz: Authz) -> None:
        await asyncio.sleep(0)
        ran.append("other")
        assert [tool.name for tool in await authz.mcp.list_tools(run_middleware=False)], "those before are there"
        await authz.mcp.list_tools()  # through the middleware, which waits for producers
        authz.tool("staff_report")(report("staff"))

    authz = Authz(mcp, context=People(), producers=[one, other])
    authz.tool("declared")(report("declared"))
    assert ran == []
    for _ in range(2):  # each client starts the server
        assert await tools_of(mcp, "sales", mode=mode) == {
            "sales_report": set(),
            "staff_report": set(),
            "declared": set(),
        }
    assert await tools_of(mcp, "stock", "admin", mode=mode) == {
        "stock_report": {"day"},
        "staff_report": {"day"},
        "declared": {"day"},
    }
    assert (await call(mcp, "sales_report", {}, "sales", mode=mode)).structured_content == {"of": "sales"}
    assert ran == ["one", "other"]


async def test_a_producer_that_fails_fails_the_start() -> None:
    attempts: list[int] = []

    def fails(authz: Authz) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise LookupError("the catalogue is not there")
        authz.tool("late")(report("late"))

    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People(), producers=[fails])
    with pytest.raises(RuntimeError, match="the catalogue is not there"):
        async with Client(mcp):
            pass
    assert await tools_of(mcp) == {"late": set()}, "and runs again at the next start"
    assert await tools_of(mcp) == {"late": set()}
    assert len(attempts) == 2


async def test_what_is_produced_is_checked_like_what_is_declared() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, producers=[lambda authz: authz.tool("asks")(report("asks"))])
    with pytest.raises(RuntimeError) as error:
        async with Client(mcp):
            pass
    assert isinstance(error.value.__cause__, ConfigurationError)
    assert "asks" in str(error.value)


async def test_producers_run_once_though_many_come_at_once() -> None:
    ran: list[int] = []

    async def slow(authz: Authz) -> None:
        await asyncio.sleep(0.01)
        ran.append(1)
        authz.tool("made")(report("made"))

    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People(), producers=[slow])
    lists = await asyncio.gather(*(mcp.list_tools() for _ in range(5)))
    assert [[tool.name for tool in tools] for tools in lists] == [["made"]] * 5
    async with asgi_server(mcp) as running, running.client() as client:
        assert [tool.name for tool in await client.list_tools()] == ["made"]
    assert ran == [1]


def test_what_cannot_be_called_is_no_producer() -> None:
    for wrong in ([5], 5, ["register"]):
        with pytest.raises(ConfigurationError, match="is no list of functions that are called with the Authz"):
            Authz(FastMCP("x"), producers=wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="producers"):
        AuthzMiddleware(producers=[])
