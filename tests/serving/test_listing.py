"""Lists that are kept as a whole: for equal answers the same, for others another, and every request asks afresh."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp_types import Tool

from fastmcp_authz import Authz, Request, authorized_tool
from fastmcp_authz.events import Event, ToolsListed
from tests.serving.people import ERAS

ASKED: list[str] = []


class Person:
    def __init__(self, *flags: str) -> None:
        self._flags = flags

    def requires(self, flag: str) -> bool:
        ASKED.append(flag)
        return flag in self._flags

    def size(self, _: object) -> bool:
        return True


@authorized_tool(gates=[("requires", "a")])
def first(x: int = 0, y: int = 0) -> dict[str, Any]:
    """
    @rbs type shape = { n: Integer, ?inner: shape }
    @rbs type output = { a: shape, b: shape, ?c: String @requires(:c) }
    #: (?x: Integer, ?y: Integer @requires(:b)) -> output
    """
    return {"a": {"n": x}, "b": {"n": y}, "c": ""}


@authorized_tool()
def second(x: int = 0) -> dict[str, Any]:
    """
    @rbs type output = { a: Integer }
    #: (?x: Integer @requires(:b)) -> output
    """
    return {"a": x}


def open_to_all() -> str:
    """Not ours."""
    return ""


def protected(**options: Any) -> tuple[FastMCP[Any], Authz, list[Event]]:
    mcp: FastMCP[Any] = FastMCP("x")
    told: list[Event] = []
    for each in (first, open_to_all, second):
        mcp.tool(each)
    return mcp, Authz(mcp, context=_build, on_event=told.append, **options), told


def _build(_: Request) -> Person:
    return Person(*NOW)


NOW: tuple[str, ...] = ()


async def listed(mcp: FastMCP[Any], *flags: str, mode: str = "auto") -> list[Tool]:
    global NOW
    NOW = flags
    ASKED.clear()
    async with Client(mcp, mode=mode) as client:
        tools: list[Tool] = await client.list_tools()
    return tools


@pytest.mark.parametrize("mode", ERAS)
async def test_a_kept_list_is_what_a_new_one_would_be_and_is_told_of_in_the_same_way(mode: str) -> None:
    mcp, authz, told = protected()
    people = [("a",), ("a", "b"), (), ("a", "c"), ("a", "b", "c"), ("b",)]
    for flags in people * 3:
        fresh, _, said = protected()
        assert await listed(mcp, *flags, mode=mode) == await listed(fresh, *flags, mode=mode)
        asked = set(ASKED)
        assert asked == ({"a", "b", "c"} if "a" in flags else {"a", "b"}), "each request asks, kept or not"
        last, first_of_all = told[-1], said[-1]
        assert isinstance(last, ToolsListed)
        assert isinstance(first_of_all, ToolsListed)
        assert replace(last, seconds=0) == replace(first_of_all, seconds=0)
    # The first list only shows which tools there are; from the second on they are kept.
    assert authz.stats().dropped == 0
    made = authz.stats().made
    await listed(mcp, "a", "b", mode=mode)
    assert authz.stats().made == made


async def test_a_tool_that_comes_later_is_on_the_next_list() -> None:
    mcp, _, _ = protected()
    for _ in range(3):
        assert [tool.name for tool in await listed(mcp, "a")] == ["first", "open_to_all", "second"]
    mcp.tool(second, name="third")
    for _ in range(3):
        assert [tool.name for tool in await listed(mcp, "b")] == ["open_to_all", "second", "third"]
    mcp.local_provider.remove_tool("second")
    for _ in range(3):
        assert [tool.name for tool in await listed(mcp, "a")] == ["first", "open_to_all", "third"]


async def test_what_fails_once_is_not_kept(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    mcp, authz, _ = protected()
    await listed(mcp, "a")
    with monkeypatch.context() as broken:
        broken.setattr("fastmcp_authz.serving.transform.card", lambda *_: 1 / 0)
        with caplog.at_level(logging.CRITICAL):
            assert [tool.name for tool in await listed(mcp, "a", "b")] == ["open_to_all"]
    assert [tool.name for tool in await listed(mcp, "a", "b")] == ["first", "open_to_all", "second"]
    assert authz.stats().kept


async def test_what_is_the_callers_own_is_made_for_each() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=_build)
    seen: list[tuple[str, ...]] = []

    def describe(context: Any) -> str:
        seen.append(NOW)
        return f"For {NOW}"

    @mcp.tool
    @authorized_tool(description=describe)
    def third() -> dict[str, Any]:
        """
        @rbs type output = { a: Integer }
        #: () -> output
        """
        return {"a": 1}

    for name in ("ann", "ben", "ann", "eve"):
        (tool,) = await listed(mcp, name)
        assert tool.description == f"For {(name,)}"
    assert seen == [("ann",), ("ben",), ("ann",), ("eve",)]


async def test_references_stand_in_a_kept_list_as_in_a_new_one() -> None:
    mcp, _, _ = protected(refs="defs")
    texts = [[tool.model_dump_json() for tool in await listed(mcp, "a", "c")] for _ in range(4)]
    assert texts[0] == texts[1] == texts[2] == texts[3]
    assert '"$ref":"#/$defs/shape"' in texts[0][0]


async def test_whoever_takes_from_a_list_takes_from_that_one_alone() -> None:
    mcp, _, _ = protected()

    class Takes(Middleware):
        async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
            tools = await call_next(context)
            del tools[0]
            return tools

    for _ in range(3):
        await listed(mcp, "a")
    mcp.add_middleware(Takes())
    for _ in range(3):
        assert [tool.name for tool in await listed(mcp, "a")] == ["open_to_all", "second"]


async def test_a_list_too_long_for_the_bound_is_made_each_time() -> None:
    mcp, authz, _ = protected(cached_views=1)
    for flags in [("a",), ("b",)] * 3:
        names = [tool.name for tool in await listed(mcp, *flags)]
        assert names == (["first"] if "a" in flags else []) + ["open_to_all", "second"]
    assert authz.stats().kept == 1


@pytest.mark.parametrize("mode", ERAS)
async def test_no_answers_of_others_are_taken_for_ones_own(mode: str) -> None:
    """Vectors of equal length, with the same number of yes answers, in every order."""
    mcp, _, _ = protected()
    expected = {
        ("a", "b"): {"first": {"x", "y"}, "second": {"x"}},
        ("a", "c"): {"first": {"x"}, "second": set()},
        ("b", "c"): {"second": {"x"}},
    }
    for _ in range(3):
        for flags, tools in expected.items():
            found = {
                tool.name: set(tool.input_schema.get("properties", ())) for tool in await listed(mcp, *flags, mode=mode)
            }
            assert found.pop("open_to_all") == set()
            assert found == tools
