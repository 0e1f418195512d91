"""A tool function is never run for a caller whom the library has not admitted (SPEC section 6)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import Tool

from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from tests.serving.people import ERAS, People, PutsIn, call, calling_as, text_of, tools_of

ran: list[str] = []


@authorized_tool
def victim(who: str = "") -> dict[str, Any]:
    """
    @rbs type output = { ok: bool, ?secret: String @requires(:admin) }
    #: (?who: String @requires(:admin)) -> output
    """
    ran.append(who)
    return {"ok": True, "secret": "x"}


@pytest.fixture(autouse=True)
def _nothing_ran_yet() -> None:
    ran.clear()


def bare() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("bare")
    mcp.tool(victim)
    return mcp


@pytest.mark.parametrize("mode", ERAS)
async def test_a_server_without_authz_shows_the_least_and_runs_nothing(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    mcp = bare()
    assert await tools_of(mcp, "admin", mode=mode) == {"victim": set()}
    result = await call(mcp, "victim", {}, "admin", mode=mode)
    assert result.is_error
    assert "This is not available here." in text_of(result)
    assert not ran
    assert "Install Authz" in caplog.text


async def test_an_admitted_handler_cannot_go_through_an_unprotected_server() -> None:
    other = bare()
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People())

    @authz.tool
    async def through(how: str) -> dict[str, Any]:
        """
        @rbs type output = { refused: String }
        #: (how: String) -> output
        """
        try:
            if how == "python":
                await other.call_tool("victim", {})
            elif how == "python without middleware":
                await other.call_tool("victim", {}, run_middleware=False)
            else:
                async with Client(other) as client:
                    await client.call_tool("victim", {})
        except ToolError as error:
            return {"refused": str(error)}
        except Exception as error:
            return {"refused": f"{type(error).__name__} {error}"}
        return {"refused": ""}

    for how in ("python", "python without middleware", "client"):
        result = await call(mcp, "through", {"how": how}, "admin")
        assert "This is not available here." in str(result.structured_content)
    assert not ran


async def test_for_the_handler_that_was_admitted_a_guarded_function_is_a_plain_one() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People())

    @authz.tool
    async def outer() -> dict[str, Any]:
        """@rbs type output = { secret: String }"""
        return victim("plain call")

    @authz.tool
    def outer_in_a_thread() -> dict[str, Any]:
        """@rbs type output = { secret: String }"""
        return victim("plain call in a thread")

    @authz.tool
    def outer_later() -> Any:
        """@rbs type output = { secret: String }"""

        async def later() -> dict[str, Any]:
            return victim("plain call later")

        return later()

    for name in ("outer", "outer_in_a_thread", "outer_later"):
        assert (await call(mcp, name)).structured_content == {"secret": "x"}
    assert ran == ["plain call", "plain call in a thread", "plain call later"]


async def test_an_unguarded_handler_of_a_protected_server_is_not_admitted_for_others() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People())

    @mcp.tool
    def outer() -> dict[str, Any]:
        return victim("no")

    assert (await call(mcp, "outer", {}, "admin")).is_error
    assert not ran


async def test_a_decorator_between_hides_the_tool_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    def noisy(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        return wrapper

    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People())
    mcp.tool(noisy(victim))
    assert await tools_of(mcp, "admin") == {}
    assert text_of(await call(mcp, "victim", {}, "admin")) == "Unknown tool: 'victim'"
    assert not ran
    assert "Put it below @authorized_tool" in caplog.text
    mcp.add_tool(Tool.from_function(functools.partial(victim), name="part"))
    assert (await call(mcp, "part", {}, "admin")).is_error
    assert not ran


async def test_ways_that_no_transform_sees_are_refused() -> None:
    mcp: FastMCP[Any] = FastMCP("x", middleware=[PutsIn(Tool.from_function(victim))])
    Authz(mcp, context=People())

    @mcp.tool
    async def beneath() -> str:
        tool = await mcp.local_provider.get_tool("hidden")
        assert tool is not None
        await tool.run({})
        return "ran"

    mcp.tool(victim, name="hidden")
    assert (await call(mcp, "victim", {}, "admin")).is_error
    assert (await call(mcp, "beneath", {}, "admin")).is_error
    assert not ran


async def test_the_inner_function_of_a_view_runs_for_nobody() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People())
    mcp.tool(victim)
    tool: Any = await mcp.get_tool("victim")
    with calling_as("admin"), pytest.raises(Exception, match="not available here"):
        await tool.binding.runner.run({})
    assert not ran
