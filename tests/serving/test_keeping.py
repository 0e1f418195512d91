"""What is kept between requests, and what one request asks: views once for equal answers, questions at most twice."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool

from fastmcp_authz import Authz, Predicate, Request, authorized_tool
from fastmcp_authz.caches import CacheFigures
from fastmcp_authz.serving.tool import AuthorizedTool
from tests.serving.people import ERAS, People, call, calling_as, text_of, tools_of


@authorized_tool(authorization="tool")
def act(a: str = "", hidden: str = "", size: int = 1) -> dict[str, Any]:
    """
    @rbs type output = { a: String, ?secret: String @requires(:admin) }
    #: (?a: String @max(5), ?hidden: String @requires(:admin), ?size: Integer @default(1) @default_for(:size)) -> output
    """
    return {"a": a, "secret": f"{hidden} {size}"}


def protected(**options: Any) -> tuple[FastMCP[Any], Authz]:
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.tool(act)
    return mcp, Authz(mcp, context=People(), **options)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_view_is_made_once_for_all_with_equal_answers(mode: str) -> None:
    mcp, authz = protected()
    assert authz.stats() == CacheFigures(kept=0, bound=6_144, found=0, made=0, dropped=0)
    for flags in (("tool",), ("tool", "admin"), ("tool", "other"), ("admin",), ("tool", "size=3")):
        for _ in range(2):
            await tools_of(mcp, *flags, mode=mode)
            await call(mcp, "act", {"a": "x"}, *flags, mode=mode)
    figures = authz.stats()
    # Two views, and the one list that is nobody's own: that of whoever has no tool, which counts as the tool.
    assert (figures.kept, figures.made, figures.dropped) == (3, 3, 0)
    assert figures.found > 10


async def test_no_more_views_are_kept_than_the_setting_says() -> None:
    mcp, authz = protected(cached_views=1)
    for flags in (("tool",), ("tool", "admin"), ("tool",)):
        assert await tools_of(mcp, *flags) == {"act": {"a", "size"} | ({"hidden"} if "admin" in flags else set())}
    assert authz.stats() == CacheFigures(kept=1, bound=1, found=0, made=3, dropped=2)


async def test_what_is_listed_is_ready_made_and_follows_every_change() -> None:
    mcp, _ = protected()
    listed: list[Tool] = []

    class Keeps(Middleware):
        async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
            listed[:] = await call_next(context)
            return listed

    mcp.add_middleware(Keeps())

    async def tool() -> AuthorizedTool:
        await tools_of(mcp, "tool")
        (found,) = listed
        assert isinstance(found, AuthorizedTool)
        return found

    def sent(of: Tool) -> Any:
        return of.to_mcp_tool(name=of.name, outputSchema=of.output_schema)

    first = await tool()
    assert await tool() is not first, "it has a default of the caller's own"
    for other in (first.model_copy(), copy.deepcopy(first)):
        assert sent(other) is sent(other) is not sent(first)
        assert sent(other).description is None
        other.description = "other"
        assert sent(other).description == "other"
    assert sent(first).description is None
    assert sent(first.model_copy(update={"title": "T"})).title == "T"
    assert first.to_mcp_tool(name="renamed").name == "renamed"
    assert sent(first).name == "act"


@pytest.mark.parametrize("mode", ERAS)
async def test_an_own_default_is_on_nobody_elses_list(mode: str) -> None:
    mcp, _ = protected()
    for own in (None, 3, 4, None):
        flags = ("tool",) if own is None else ("tool", f"size={own}")
        with calling_as(*flags):
            async with Client(mcp, mode=mode) as client:
                (tool,) = await client.list_tools()
        assert tool.input_schema["properties"]["size"]["default"] == (own or 1)


async def test_whoever_writes_into_a_listed_tool_changes_nothing_that_is_checked() -> None:
    mcp, _ = protected()

    class Spoils(Middleware):
        async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
            tools = await call_next(context)
            for tool in tools:
                tool.parameters["properties"]["a"].clear()
                tool.output_schema["properties"].clear()
            return tools

    mcp.add_middleware(Spoils())
    await tools_of(mcp, "tool")
    result = await call(mcp, "act", {"a": "far too long"}, "tool")
    assert "a: is too long: at most 5 characters, 12 were sent" in text_of(result)
    assert (await call(mcp, "act", {"a": "x"}, "tool")).structured_content == {"a": "x"}


async def test_a_server_that_runs_has_no_provider_of_ours_and_starts_again_with_it() -> None:
    mcp, _ = protected()
    before = list(mcp.providers)
    for _ in range(2):
        async with Client(mcp) as client:
            await client.list_tools()
            assert len(mcp.providers) == len(before) - 1
        assert mcp.providers == before


# -- how often a context is asked ---------------------------------------------------------------------------------


class Batched:
    """Answers everything from one query; `queries` says with what it was asked."""

    queries: list[list[str]]

    def __init__(self, _: Request) -> None:
        self.queries = []
        Batched.last = self

    last: Batched

    async def decide(self, predicates: tuple[Predicate, ...]) -> Mapping[Predicate, bool]:
        self.queries.append([predicate.text for predicate in predicates])
        return {predicate: predicate.value != "shut" for predicate in predicates}


def many(mcp: FastMCP[Any], prefix: str, count: int) -> None:
    for number in range(count):

        @mcp.tool(name=f"{prefix}{number}")
        @authorized_tool(gates=[("gate", f"{prefix}{number}" if number % 2 else "shut")])
        def numbered(a: str = "") -> dict[str, Any]:
            """
            @rbs type output = { ?a: String @requires(:a), ?b: String @requires(:common) }
            #: (?a: String @feature(:common)) -> output
            """
            return {"a": a}


@pytest.mark.parametrize("mode", ERAS)
async def test_decide_is_asked_for_all_gates_and_then_for_all_that_is_inside(mode: str) -> None:
    mcp: FastMCP[Any] = FastMCP("outer")
    many(mcp, "o", 6)
    for name, namespace in (("first", None), ("second", "ns")):
        child: FastMCP[Any] = FastMCP(name)
        many(child, name, 4)
        mcp.mount(child, namespace=namespace)
    Authz(mcp, context=Batched)
    async with Client(mcp, mode=mode) as client:
        assert len(await client.list_tools()) == 7
        gates, inside = Batched.last.queries
        assert sorted(gates) == sorted(
            [
                'gate("shut")',
                *(f'gate("{name}")' for name in ("o1", "o3", "o5", "first1", "first3", "second1", "second3")),
            ]
        )
        assert sorted(inside) == ['feature("common")', 'requires("a")', 'requires("common")']
        for name in ("ns_second1", "o1", "o0", "absent"):
            await client.call_tool_mcp(name, {})
            assert [sorted(query) for query in Batched.last.queries] == [sorted(gates), sorted(inside)]


async def test_a_call_asks_for_the_tool_alone() -> None:
    mcp: FastMCP[Any] = FastMCP("alone")
    many(mcp, "o", 4)
    Authz(mcp, context=Batched)
    async with Client(mcp) as client:
        await client.list_tools()  # or the client would, after the call
        await client.call_tool_mcp("o1", {})
        inside = ['feature("common")', 'requires("a")', 'requires("common")']
        assert [sorted(query) for query in Batched.last.queries] == [['gate("o1")'], inside]


@pytest.mark.parametrize("tools", [1, 30])
async def test_each_predicate_is_asked_once_in_a_request_however_many_tools_ask_it(tools: int) -> None:
    asked: list[tuple[str, str]] = []

    class Counting:
        def __init__(self, _: Request) -> None:
            asked.clear()

        def gate(self, value: str) -> bool:
            asked.append(("gate", value))
            return value != "shut"

        async def feature(self, value: str) -> bool:
            asked.append(("feature", value))
            return True

        def requires(self, value: str) -> bool:
            asked.append(("requires", value))
            return False

    mcp: FastMCP[Any] = FastMCP("x")
    many(mcp, "t", 2 * tools)
    Authz(mcp, context=Counting)
    async with Client(mcp) as client:
        await client.list_tools()
    gates = [("gate", "shut"), *(("gate", f"t{number}") for number in range(1, 2 * tools, 2))]
    assert sorted(asked) == sorted([*gates, ("feature", "common"), ("requires", "a"), ("requires", "common")])
