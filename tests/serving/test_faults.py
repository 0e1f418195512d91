"""Whatever goes wrong ends in a no, and its text never reaches a client (SPEC sections 4 and 6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.middleware.error_handling import ErrorHandlingMiddleware
from mcp import MCPError

from fastmcp_authz.callers.context import Request
from fastmcp_authz.serving import cards
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from fastmcp_authz.serving.middleware import AuthzMiddleware
from tests.serving.people import ERAS, People, call, calling_as, text_of, tools_of


@authorized_tool
def plain(a: str = "") -> dict[str, Any]:
    """
    @rbs type output = { ok: bool }
    #: (?a: String @requires(:admin)) -> output
    """
    return {"ok": True}


def server(context: Any, **options: Any) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x", **options)
    Authz(mcp, context=context)
    mcp.tool(plain)
    return mcp


def broken_builder(_: Any) -> Any:
    raise ValueError("secret")


@pytest.mark.parametrize("mode", ERAS)
async def test_a_builder_that_fails_refuses_the_request_and_shows_nothing(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    added: FastMCP[Any] = FastMCP("x")
    added.tool(plain)
    added.add_middleware(AuthzMiddleware(context=broken_builder))
    for mcp in (server(broken_builder), added):
        caplog.clear()
        with pytest.raises(MCPError) as caught:
            await tools_of(mcp, mode=mode)
        assert str(caught.value) == "Internal server error"
        assert len([r for r in caplog.records if r.name == "fastmcp_authz"]) == 1
        result = await call(mcp, "plain", mode=mode)
        assert result.is_error
        assert text_of(result) == "The server cannot answer at the moment. Nothing was executed."


async def test_a_builder_that_fails_hides_the_tools_where_no_middleware_ran() -> None:
    mcp = server(broken_builder)
    assert await mcp.list_tools(run_middleware=False) == []
    tool = await mcp.get_tool("plain")
    assert tool is not None
    assert (await tool.run({})).is_error


async def test_a_builder_that_fails_in_a_mounted_server_hides_that_servers_tools_alone() -> None:
    child = server(broken_builder)
    parent: FastMCP[Any] = FastMCP("parent")
    parent.tool(plain)
    parent.mount(child, "ns")
    Authz(parent, context=People())
    for mode in ERAS:
        assert await tools_of(parent, mode=mode) == {"plain": set()}
        assert (await call(parent, "ns_plain", mode=mode)).is_error


@pytest.mark.parametrize("mode", ERAS)
async def test_foreign_exceptions_on_the_way_never_reach_a_client(mode: str) -> None:
    class Fails(Middleware):
        async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
            raise ValueError("secret")

        async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
            raise ValueError("secret")

    mcp = server(People(), middleware=[Fails()])
    with pytest.raises(MCPError) as caught:
        await tools_of(mcp, mode=mode)
    assert str(caught.value) == "Internal server error"
    result = await call(mcp, "plain", mode=mode)
    assert result.is_error
    assert text_of(result) == "Error calling tool 'plain'"


@pytest.mark.parametrize("mode", ERAS)
async def test_what_others_mean_for_clients_keeps_its_meaning(mode: str) -> None:
    class Says(Middleware):
        async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
            if context.message.arguments == {"a": "mcp"}:
                raise MCPError(code=-32000, message="of the protocol")
            raise ToolError("for the client")

    mcp = server(People(), middleware=[Says()])
    assert text_of(await call(mcp, "plain", mode=mode)) == "for the client"
    with pytest.raises(MCPError, match="of the protocol"):
        await call(mcp, "plain", {"a": "mcp"}, mode=mode)


@pytest.mark.parametrize("mode", ERAS)
async def test_refusals_survive_error_handling_middleware(mode: str) -> None:
    mcp = server(People())
    mcp.middleware.insert(0, ErrorHandlingMiddleware())
    result = await call(mcp, "plain", {"a": "x"}, mode=mode)
    assert result.is_error
    assert text_of(result).startswith("plain: Unknown parameters: a.")


@pytest.mark.parametrize("mode", ERAS)
async def test_a_predicate_that_fails_hangs_or_answers_junk_breaks_no_list(mode: str) -> None:
    async def hangs(_: str) -> bool:
        await asyncio.Event().wait()
        return True

    def fails(_: str) -> bool:
        raise ValueError("secret")

    for requires in (hangs, fails, lambda _: "junk"):
        context = SimpleNamespace(requires=requires)
        mcp: FastMCP[Any] = FastMCP("x")
        Authz(mcp, context=lambda _, c=context: c, predicate_timeout=0.01)  # type: ignore[misc]
        mcp.tool(plain)
        assert await tools_of(mcp, mode=mode) == {"plain": set()}
        assert (await call(mcp, "plain", mode=mode)).structured_content == {"ok": True}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_builder_that_hangs_refuses_the_request_in_time(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    mcp: FastMCP[Any] = FastMCP("hanging")
    mcp.tool(plain)
    closed: list[str] = []

    @asynccontextmanager
    async def build(request: Request) -> AsyncIterator[Any]:
        try:
            await asyncio.sleep(3600)
            yield None
        finally:
            closed.append(str(request.domain))

    Authz(mcp, context=build, predicate_timeout=0.05)
    result = await call(mcp, "plain", mode=mode)
    assert text_of(result) == "The server cannot answer at the moment. Nothing was executed."
    assert closed == ["default"]
    assert "TimeoutError" in caplog.text


@pytest.mark.parametrize("mode", ERAS)
async def test_a_builder_that_comes_back_to_the_server_is_refused(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    mcp: FastMCP[Any] = FastMCP("coming back")
    mcp.tool(plain)
    came_back: list[str] = []

    async def build(request: Request) -> Any:
        async with Client(mcp, mode=mode) as client:
            came_back.append(text_of(await client.call_tool_mcp("plain", {})))
        return SimpleNamespace(requires=lambda flag: True)

    Authz(mcp, context=build)
    assert (await call(mcp, "plain", mode=mode)).structured_content == {"ok": True}
    assert set(came_back) == {"The server cannot answer at the moment. Nothing was executed."}
    assert "The context builder calls the server that it builds a context for." in caplog.text


async def test_a_predicate_that_comes_back_to_the_server_is_a_no(caplog: pytest.LogCaptureFixture) -> None:
    mcp: FastMCP[Any] = FastMCP("x")

    async def requires(_: str) -> bool:
        return bool(await mcp.list_tools())

    Authz(mcp, context=lambda _: SimpleNamespace(requires=requires), predicate_timeout=0.05)
    mcp.tool(plain)
    assert await tools_of(mcp) == {"plain": set()}


@pytest.mark.parametrize("mode", ERAS)
async def test_one_broken_tool_does_not_take_the_others_down(
    mode: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mcp = server(People())

    @mcp.tool
    @authorized_tool
    def broken() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        return {"ok": True}

    def card(kept: Any, declaration: Any, *args: Any) -> Any:
        if str(declaration) == "broken":
            raise ValueError("secret")
        return cards.card(kept, declaration, *args)

    monkeypatch.setattr("fastmcp_authz.serving.transform.card", card)
    assert await tools_of(mcp, mode=mode) == {"plain": set()}
    assert text_of(await call(mcp, "broken", mode=mode)) == "Unknown tool: 'broken'"
    assert "broken is hidden" in caplog.text


async def test_a_client_that_goes_away_has_its_context_closed() -> None:
    events: list[str] = []
    started = asyncio.Event()

    class Session:
        async def __aenter__(self) -> None:
            events.append("open")

        async def __aexit__(self, *_: Any) -> None:
            events.append("closed")

    mcp: FastMCP[Any] = FastMCP("x")

    @Authz(mcp, context=lambda _: Session()).tool
    async def slow() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        started.set()
        await asyncio.Event().wait()
        return {}

    async def impatient() -> None:
        async with Client(mcp) as client:
            await client.list_tools()
            events.clear()
            await client.call_tool("slow", {})

    task = asyncio.create_task(impatient())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert events == ["open", "closed"]


async def test_a_tool_whose_output_is_gone_is_not_there_and_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "fastmcp_authz")
    mcp: FastMCP[Any] = FastMCP("x")

    @Authz(mcp, context=People()).tool
    def fn() -> dict[str, Any]:
        """
        @rbs type a = { a: Integer }
        @rbs type b = { b: Integer }
        @rbs type output = a @requires(:admin) | b @requires(:admin)
        """
        return {"a": 1}

    assert await tools_of(mcp) == {}
    assert "fn is not shown" in caplog.text
    assert text_of(await call(mcp, "fn")) == "Unknown tool: 'fn'"
    assert (await call(mcp, "fn", {}, "admin")).structured_content == {"a": 1}
    assert await mcp.get_tool("fn") is not None  # no request: never hidden
    with calling_as("admin"):
        assert len(await mcp.list_tools()) == 1
