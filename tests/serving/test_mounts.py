"""A server mounted under a protected one is protected too; the nearest Authz decides (SPEC sections 4 and 6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import NotFoundError
from fastmcp.server.providers import AggregateProvider

from fastmcp_authz.callers.context import Request
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from fastmcp_authz.serving.middleware import AuthzMiddleware
from tests.serving.people import ERAS, People, Person, call, calling_as, text_of, tools_of


@authorized_tool(gates=[("requires", "tool")])
def act(a: str = "", hidden: str = "") -> dict[str, Any]:
    """
    @rbs type output = { a: String, ?secret: String @requires(:admin) }
    #: (?a: String, ?hidden: String @requires(:admin)) -> output
    """
    return {"a": a, "secret": hidden}


def child(name: str = "child") -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP(name)
    mcp.tool(act)
    return mcp


def mounted_in_every_way() -> list[tuple[str, FastMCP[Any], People]]:
    """Parents that protect one child, each with the child's tool's name there."""
    ways: list[tuple[str, FastMCP[Any], People]] = []
    for before in (True, False):
        for options, name in (
            ({}, "act"),
            ({"namespace": "ns"}, "ns_act"),
            ({"tool_names": {"act": "renamed"}}, "renamed"),
            ({"namespace": "ns", "tool_names": {"act": "renamed"}}, "ns_renamed"),
        ):
            parent: FastMCP[Any] = FastMCP("parent")
            people = People()
            if before:
                parent.mount(child(), **options)
            Authz(parent, context=people)
            if not before:
                parent.mount(child(), **options)
            ways.append((name, parent, people))
    deep: FastMCP[Any] = FastMCP("deep")
    middle: FastMCP[Any] = FastMCP("middle")
    aggregate = AggregateProvider()
    aggregate.add_provider(child(), namespace="a")
    middle.mount(child(), "c")
    middle.add_provider(aggregate)
    people = People()
    Authz(deep, context=people)
    deep.mount(middle, "m")
    return [*ways, ("m_c_act", deep, people), ("m_a_act", deep, people)]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_mounted_server_is_protected_however_it_is_mounted(mode: str) -> None:
    for name, parent, people in mounted_in_every_way():
        assert await tools_of(parent, mode=mode) == {}
        hidden = await call(parent, name, {}, mode=mode)
        assert text_of(hidden) == f"Unknown tool: {name!r}"
        assert (await tools_of(parent, "tool", mode=mode))[name] == {"a"}
        result = await call(parent, name, {"a": "x"}, "tool", mode=mode)
        assert result.structured_content == {"a": "x"}
        refused = await call(parent, name, {"hidden": "x"}, "tool", mode=mode)
        assert refused.is_error
        if "renamed" in name:  # FastMCP's own refusal of what a ToolTransform does not know
            unknown = await call(parent, name, {"unknown": "x"}, "tool", mode=mode)
            assert text_of(refused).replace("hidden", "unknown") == text_of(unknown)
        else:
            assert text_of(refused).startswith("act: Unknown parameters: hidden.")
        assert (await tools_of(parent, "tool", "admin", mode=mode))[name] == {"a", "hidden"}
        result = await call(parent, name, {"hidden": "x"}, "tool", "admin", mode=mode)
        assert result.structured_content == {"a": "", "secret": "x"}
        people.built.clear()
        with calling_as("tool"):
            async with Client(parent, mode=mode) as client:
                await client.list_tools()
                people.built.clear()
                await client.call_tool(name, {})
        assert len(people.built) == 1


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("alone", [True, False])
async def test_a_server_that_is_mounted_while_the_parent_serves_is_protected_too(alone: bool, mode: str) -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    if alone:
        parent.add_middleware(AuthzMiddleware(context=People()))
    else:
        Authz(parent, context=People())
    with calling_as("tool"):
        async with Client(parent, mode=mode) as client:
            assert await client.list_tools() == []
            parent.mount(child(), "ns")
            result = await client.call_tool_mcp("ns_act", {"a": "x"})
            assert result.structured_content == {"a": "x"}
            (tool,) = await client.list_tools()
            assert set(tool.input_schema["properties"]) == {"a"}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_mounted_server_that_is_served_by_itself_runs_nothing(mode: str) -> None:
    mounted = child()
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(mounted)
    Authz(parent, context=People())
    everything = ("tool", "admin")
    assert await tools_of(parent, *everything, mode=mode) == {"act": {"a", "hidden"}}
    assert await tools_of(mounted, *everything, mode=mode) == {}
    assert text_of(await call(mounted, "act", {}, *everything, mode=mode)) == "Unknown tool: 'act'"


async def test_the_handler_of_a_protected_parent_cannot_serve_the_child_by_itself() -> None:
    mounted = child()
    parent: FastMCP[Any] = FastMCP("parent")
    authz = Authz(parent, context=People())
    parent.mount(mounted)

    @authz.tool
    async def through() -> dict[str, Any]:
        """@rbs type output = { texts: Array[String] }"""
        async with Client(mounted) as client:
            result = await client.call_tool_mcp("act", {})
            return {"texts": [text_of(result), str(len(await client.list_tools()))]}

    result = await call(parent, "through", {}, "tool", "admin")
    assert result.structured_content == {"texts": ["Unknown tool: 'act'", "0"]}


async def test_a_mounted_server_in_the_python_interface_is_decided_for_by_the_one_there_is() -> None:
    mounted = child()
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(mounted, "ns")
    Authz(parent, context=People())
    with calling_as("tool"):
        assert (await mounted.call_tool("act", {"a": "x"})).structured_content == {"a": "x"}
        assert (await parent.call_tool("ns_act", {"a": "x"})).structured_content == {"a": "x"}
    with calling_as():
        assert [tool.name for tool in await mounted.list_tools()] == []
    second: FastMCP[Any] = FastMCP("second")
    second.mount(mounted)
    Authz(second, context=People())
    with calling_as("tool"):  # two could decide, and nothing says which
        assert [tool.name for tool in await mounted.list_tools()] == []
        assert await tools_of(second, "tool") == {"act": {"a"}}


def another(request: Request) -> Person:
    """A builder for which everybody holds everything."""
    person = Person(request)
    person.flags = ["tool", "admin"]
    return person


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("order", ["child first", "parent first", "child after covering", "middleware alone"])
async def test_the_nearest_authz_decides(order: str, mode: str) -> None:
    mounted = child("mounted")
    parent: FastMCP[Any] = FastMCP("parent")
    parent.tool(act)
    if order == "child first":
        Authz(mounted, context=another)
        parent.mount(mounted, "ns")
        Authz(parent, context=People())
    elif order == "parent first":
        Authz(parent, context=People())
        Authz(mounted, context=another)
        parent.mount(mounted, "ns")
    elif order == "child after covering":
        parent.mount(mounted, "ns")
        Authz(parent, context=People())
        Authz(mounted, context=another)
    else:
        mounted.add_middleware(AuthzMiddleware(context=another))
        parent.mount(mounted, "ns")
        Authz(parent, context=People())
    result = await call(parent, "ns_act", {"hidden": "x"}, mode=mode)
    assert result.structured_content == {"a": "", "secret": "x"}
    assert await tools_of(parent, mode=mode) == {"ns_act": {"a", "hidden"}}
    assert await tools_of(parent, "tool", mode=mode) == {"act": {"a"}, "ns_act": {"a", "hidden"}}
    assert text_of(await call(parent, "act", {}, mode=mode)) == "Unknown tool: 'act'"
    assert await tools_of(mounted, mode=mode) == {"act": {"a", "hidden"}}


async def test_each_authz_builds_one_context_in_a_request() -> None:
    outer, inner = People(), People()
    mounted = child()
    parent: FastMCP[Any] = FastMCP("parent")
    parent.tool(act)
    parent.mount(mounted, "ns")
    Authz(parent, context=outer)
    Authz(mounted, context=inner)
    with calling_as("tool"):
        for mode in ERAS:
            async with Client(parent, mode=mode) as client:
                outer.built.clear()
                inner.built.clear()
                await client.list_tools()
                assert (len(outer.built), len(inner.built)) == (1, 1)
                await client.call_tool("ns_act", {})
                assert len(inner.built) == 2
                assert len(outer.built) == 2


async def test_what_is_mounted_on_a_server_with_its_own_authz_is_decided_for_by_that() -> None:
    grandchild = child("grandchild")
    middle: FastMCP[Any] = FastMCP("middle")
    middle.mount(grandchild, "g")
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(middle, "m")
    Authz(parent, context=lambda _: None)
    Authz(middle, context=People())
    assert await tools_of(parent, "tool") == {"m_g_act": {"a"}}
    assert (await call(parent, "m_g_act", {"a": "x"}, "tool")).structured_content == {"a": "x"}


@pytest.mark.parametrize("mode", ERAS)
async def test_contexts_of_mounted_servers_are_left_in_the_task_that_entered_them(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    tasks: list[asyncio.Task[Any] | None] = []

    @asynccontextmanager
    async def build(request: Request) -> AsyncIterator[Person]:
        async with asyncio.timeout(60):
            tasks.append(asyncio.current_task())
            yield Person(request)
            tasks.append(asyncio.current_task())

    mounted = child()
    Authz(mounted, context=build)
    parent: FastMCP[Any] = FastMCP("parent")
    parent.mount(mounted, "ns")
    Authz(parent, context=build)
    assert (await call(parent, "ns_act", {"a": "x"}, "tool", mode=mode)).structured_content == {"a": "x"}
    assert len(tasks) >= 4
    assert all(tasks.count(task) % 2 == 0 for task in tasks)
    assert not caplog.records


@pytest.mark.parametrize("mode", ERAS)
async def test_who_decides_is_the_server_that_was_gone_through_last_even_if_it_was_gone_through_before(
    mode: str,
) -> None:
    child: FastMCP[Any] = FastMCP("child")

    @child.tool
    @authorized_tool(authorization="admin")
    def secret_tool() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        return {"ok": True}

    class Yes:
        def requires(self, _: str) -> bool:
            return True

    class Anybody(Yes):
        def __init__(self) -> None:
            self.current_user = self

        def can(self, _: str) -> bool:
            return True

    strict: FastMCP[Any] = FastMCP("strict")
    loose: FastMCP[Any] = FastMCP("loose")
    Authz(strict, context=People())
    Authz(loose, context=lambda _: Anybody())
    strict.mount(child)
    loose.mount(child)

    @loose.tool
    async def inner(back: bool) -> str:
        server = strict if back else loose
        try:
            return str((await server.call_tool("secret_tool", {})).structured_content)
        except NotFoundError as error:
            return str(error)

    @strict.tool
    async def start(back: bool) -> str:
        found = await loose.call_tool("inner", {"back": back})
        return str((found.structured_content or {})["result"])

    assert text_of(await call(strict, "start", {"back": True}, mode=mode)) == "Unknown tool: 'secret_tool'"
    assert text_of(await call(strict, "start", {"back": False}, mode=mode)) == "{'ok': True}"
