"""Server code that is not ours, and careless: what an attack tried that had not been thought of."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers import FastMCPProvider, LocalProvider, Provider
from fastmcp.server.transforms import ToolTransform, Transform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransformConfig, ToolTransformConfig

from fastmcp_authz import Authz, authorized_tool
from fastmcp_authz.events import Event
from tests.serving.people import ERAS, People, PutsIn, call, calling_as, text_of, tools_of

ran: list[str] = []


@authorized_tool(authorization="admin")
def vault(item: str = "") -> dict[str, Any]:
    """Look into the vault.

    @rbs type output = { item: String }
    #: (?item: String) -> output
    """
    ran.append(item)
    return {"item": "SECRET"}


@pytest.fixture(autouse=True)
def _nothing_ran_yet() -> None:
    ran.clear()


def protected(*middleware: Middleware) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x", middleware=list(middleware))
    mcp.tool(vault)
    Authz(mcp, context=People())
    return mcp


async def assert_absent(mcp: FastMCP[Any], mode: str, *names: str) -> None:
    """For somebody without rights, and for somebody with all of them: a stray runs for nobody."""
    for flags in ((), ("admin",)):
        assert not set(names) & set(await tools_of(mcp, *flags, mode=mode))
        for name in names:
            assert text_of(await call(mcp, name, {}, *flags, mode=mode)) == f"Unknown tool: {name!r}"
    assert not ran


# -- ways past the transforms -------------------------------------------------------------------------------------


class Around(Provider):
    """A provider of the author's, around a mounted server."""

    def __init__(self, server: FastMCP[Any]) -> None:
        super().__init__()
        self._mounted = FastMCPProvider(server)

    async def _list_tools(self) -> Sequence[Tool]:
        return await self._mounted.list_tools()

    async def _get_tool(self, name: str, version: Any = None) -> Tool | None:
        return await self._mounted.get_tool(name, version)


class PutsInLate(Transform):
    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [*tools, Tool.from_function(vault)]

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Tool | None:
        return Tool.from_function(vault) if name == "vault" else await call_next(name, version=version)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_server_that_is_mounted_where_nobody_looks_is_covered_when_it_is_seen(mode: str) -> None:
    child: FastMCP[Any] = FastMCP("child")
    child.tool(vault)
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.add_provider(Around(child))
    Authz(mcp, context=People())
    assert text_of(await call(mcp, "vault", {}, "admin", mode=mode)) in ("Unknown tool: 'vault'", '{"item":"SECRET"}')
    assert await tools_of(mcp, mode=mode) == {}
    assert text_of(await call(mcp, "vault", {}, mode=mode)) == "Unknown tool: 'vault'"
    assert await tools_of(mcp, "admin", mode=mode) == {"vault": {"item"}}
    assert (await call(mcp, "vault", {}, "admin", mode=mode)).structured_content == {"item": "SECRET"}


@pytest.mark.parametrize("mode", ERAS)
async def test_what_a_mounted_server_puts_in_past_us_is_not_there(mode: str) -> None:
    child: FastMCP[Any] = FastMCP("child")
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.mount(child)
    Authz(mcp, context=People())
    child.add_transform(PutsInLate())
    await assert_absent(mcp, mode, "vault")
    child.middleware.append(PutsIn(Tool.from_function(vault, name="other")))
    await assert_absent(mcp, mode, "vault", "other")
    await assert_absent(child, mode, "vault", "other")


@pytest.mark.parametrize("mode", ERAS)
async def test_a_renamed_tool_of_a_mounted_server_that_runs_a_guard_is_still_there(mode: str) -> None:
    child: FastMCP[Any] = FastMCP("child")
    child.tool(lambda: vault(), name="plain")
    mcp: FastMCP[Any] = FastMCP("x", transforms=[ToolTransform({"plain": ToolTransformConfig(name="other")})])
    mcp.mount(child)
    Authz(mcp, context=People())
    assert set(await tools_of(mcp, mode=mode)) == {"other"}
    assert "This is not available here." in text_of(await call(mcp, "other", {}, "admin", mode=mode))
    assert not ran


# -- running without the context of the request -------------------------------------------------------------------


@pytest.mark.parametrize("mode", ERAS)
async def test_a_tool_that_is_run_in_a_thread_or_task_without_the_requests_context_does_not_run(mode: str) -> None:
    mcp = protected()

    @mcp.tool
    async def beneath(way: str) -> str:
        tool = await mcp.local_provider.get_tool("vault")
        assert tool is not None
        loop = asyncio.get_running_loop()
        if way == "thread":
            await loop.run_in_executor(None, lambda: asyncio.run(tool.run({})))
        else:
            await loop.create_task(tool.run({}), context=contextvars.Context())
        return "ran"

    for way in ("thread", "task"):
        result = await call(mcp, "beneath", {"way": way}, "admin", mode=mode)
        assert (result.is_error, text_of(result)) == (True, "This is not available here.")
    assert not ran


@pytest.mark.parametrize("mode", ERAS)
async def test_an_admitted_handler_runs_guarded_coroutines_side_by_side_also_under_mcp_run(
    tmp_path: Path, mode: str
) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        """
import asyncio
from fastmcp import FastMCP
from fastmcp_authz import Authz, authorized_tool

@authorized_tool
async def one(n: int = 0) -> dict:
    '''
    @rbs type output = { n: Integer }
    #: (?n: Integer) -> output
    '''
    return {"n": n}

@authorized_tool
async def both() -> dict:
    '''@rbs type output = { all: Array[untyped] }'''
    async with asyncio.TaskGroup() as group:
        task = group.create_task(one(3))
    found = await asyncio.gather(one(1), asyncio.wait_for(one(2), 5))
    return {"all": [*found, task.result()]}

mcp = FastMCP("x")
mcp.tool(one)
mcp.tool(both)
Authz(mcp, context=lambda request: None)
if __name__ == "__main__":
    mcp.run(show_banner=False)
"""
    )
    async with Client(StdioTransport(sys.executable, [str(server)]), mode=mode) as client:
        result = await client.call_tool("both", {})
    assert result.structured_content == {"all": [{"n": 1}, {"n": 2}, {"n": 3}]}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_handler_may_enter_its_own_context_again(mode: str) -> None:
    mcp = protected()

    @mcp.tool
    async def again(ctx: Context) -> int:
        async with ctx:
            return len(await ctx.fastmcp.list_tools())

    for flags, count in (((), 1), (("admin",), 2)):
        result = await call(mcp, "again", {}, *flags, mode=mode)
        assert result.structured_content == {"result": count}


# -- what is kept, and what is written into -----------------------------------------------------------------------


class KeepsLists(Middleware):
    """A cache as many a server has one."""

    def __init__(self) -> None:
        self._kept: Sequence[Tool] | None = None

    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        if self._kept is None:
            self._kept = await call_next(context)
        return self._kept


@pytest.mark.parametrize("mode", ERAS)
async def test_a_list_that_a_middleware_keeps_is_nobody_elses(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    mcp = protected(KeepsLists())
    mcp.tool(lambda: "", name="plain")
    assert set(await tools_of(mcp, "admin", mode=mode)) == {"vault", "plain"}
    assert set(await tools_of(mcp, mode=mode)) == {"plain"}
    assert "vault is left out: it was not listed for this request" in caplog.text


class WritesInto(Middleware):
    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        tools = await call_next(context)
        for tool in tools:
            if "secret" in tool.parameters["properties"]:
                tool.tags.add("SECRET")
                tool.meta["note"] = "SECRET"
                tool.annotations.title = "SECRET"
                tool.output_schema["title"] = "SECRET"
        return tools


@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_written_into_a_listed_tool_stays_with_those_who_see_the_same(mode: str) -> None:
    mcp: FastMCP[Any] = FastMCP("x", middleware=[WritesInto()])

    @mcp.tool(tags={"tag"}, meta={"key": 1}, annotations={"title": "Title"})
    @authorized_tool
    def open_one(secret: str = "") -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (?secret: String @requires(:admin)) -> output
        """
        return {}

    Authz(mcp, context=People())

    for flags, there in ((("admin",), True), ((), False), (("admin",), True)):
        with calling_as(*flags):
            async with Client(mcp, mode=mode) as client:
                (tool,) = await client.list_tools()
        assert ("SECRET" in tool.model_dump_json()) == there


# -- set-ups that fail for those who may see less, and hooks that fail ------------------------------------------------


class OwnProvider(Provider):
    def __init__(self, *tools: Tool) -> None:
        super().__init__()
        self._tools = tools

    async def _list_tools(self) -> Sequence[Tool]:
        return self._tools


class Broken(OwnProvider):
    async def _list_tools(self) -> Sequence[Tool]:
        raise ValueError("it needs a request")


@authorized_tool
def find(q: str, admin: bool = False) -> dict[str, Any]:
    """
    @rbs type output = {}
    #: (q: String, ?admin: bool @requires(:admin)) -> output
    """
    return {}


async def test_a_transform_that_names_a_gated_argument_is_refused_over_every_kind_of_provider() -> None:
    argument = {"admin": ArgTransformConfig(name="other")}
    for provider in (OwnProvider(Tool.from_function(find)), LocalProvider()):
        if isinstance(provider, LocalProvider):
            provider.add_tool(Tool.from_function(find))
        mcp: FastMCP[Any] = FastMCP("x", transforms=[ToolTransform({"find": ToolTransformConfig(arguments=argument)})])
        mcp.add_provider(provider)
        mcp.add_provider(Broken())
        Authz(mcp, context=People())
        with pytest.raises(RuntimeError, match="'x' has a ToolTransform that cannot be applied"):
            await tools_of(mcp)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("failure", [ValueError, asyncio.CancelledError])
async def test_a_hook_that_fails_stops_nothing(mode: str, failure: type[BaseException]) -> None:
    def hook(_: Event) -> None:
        raise failure

    mcp: FastMCP[Any] = FastMCP("x")
    mcp.tool(vault)
    Authz(mcp, context=People(), on_event=hook)
    assert await tools_of(mcp, "admin", mode=mode) == {"vault": {"item"}}
    assert text_of(await call(mcp, "vault", {}, mode=mode)) == "Unknown tool: 'vault'"
    assert (await call(mcp, "vault", {}, "admin", mode=mode)).structured_content == {"item": "SECRET"}
