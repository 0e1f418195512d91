"""Versions, search, renames and marks see the caller's world (SPEC section 6)."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Sequence
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.providers import LocalProvider
from fastmcp.server.transforms import ToolTransform, Transform
from fastmcp.server.transforms.search import RegexSearchTransform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransformConfig, ToolTransformConfig
from fastmcp.utilities.tests import asgi_client

from fastmcp_authz.caches import CacheFigures, LeastRecent, Same
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.declaration import declaration_of
from fastmcp_authz.serving.decorator import authorized_tool
from tests.serving.people import ERAS, People, PutsIn, call, calling_as, text_of, tools_of


@authorized_tool
def plain(a: str = "", hidden: str = "") -> dict[str, Any]:
    """Plainly said.

    @rbs type output = { a: String, ?secret: String @requires(:admin) }
    #: (?a: String, ?hidden: String @requires(:admin) @desc(covert words)) -> output
    """
    return {"a": a, "secret": hidden}


@authorized_tool(gates=[("requires", "admin")])
def gated() -> dict[str, Any]:
    """Gated words.

    @rbs type output = { version: Integer }
    """
    return {"version": 2}


@authorized_tool
def ungated() -> dict[str, Any]:
    """@rbs type output = { version: Integer }"""
    return {"version": 1}


def protected() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People())
    return mcp


@pytest.mark.parametrize("mode", ERAS)
async def test_a_hidden_version_falls_back_to_the_highest_that_is_visible(mode: str) -> None:
    mcp = protected()
    mcp.tool(ungated, name="versioned", version="1")
    mcp.tool(gated, name="versioned", version="2")
    for flags, version in (((), 1), (("admin",), 2)):
        assert set(await tools_of(mcp, *flags, mode=mode)) == {"versioned"}
        result = await call(mcp, "versioned", {}, *flags, mode=mode)
        assert result.structured_content == {"version": version}
    with calling_as():
        async with Client(mcp, mode=mode) as client:
            hidden = await client.call_tool_mcp("versioned", {}, meta={"fastmcp": {"version": "2"}})
    assert text_of(hidden) == "Unknown tool: 'versioned'"


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("before", [True, False])
async def test_a_tool_transform_renames_before_or_after(before: bool, mode: str) -> None:
    config = ToolTransformConfig(name="renamed", arguments={"a": ArgTransformConfig(name="b")})
    renaming = ToolTransform({"plain": config, "gated": ToolTransformConfig(name="regated")})
    mcp: FastMCP[Any] = FastMCP("x", transforms=[renaming] if before else [])
    Authz(mcp, context=People())
    if not before:
        mcp.add_transform(renaming)
    mcp.tool(plain)
    mcp.tool(gated)
    assert await tools_of(mcp, mode=mode) == {"renamed": {"b"}}
    result = await call(mcp, "renamed", {"b": "x"}, mode=mode)
    assert result.structured_content == {"a": "x"}
    assert (await call(mcp, "renamed", {"hidden": "x"}, mode=mode)).is_error
    assert text_of(await call(mcp, "regated", mode=mode)) == "Unknown tool: 'regated'"
    assert (await call(mcp, "regated", {}, "admin", mode=mode)).structured_content == {"version": 2}
    assert await tools_of(mcp, "admin", mode=mode) == {"renamed": {"b", "hidden"}, "regated": set()}
    result = await call(mcp, "renamed", {"b": "x", "hidden": "y"}, "admin", mode=mode)
    assert result.structured_content == {"a": "x", "secret": "y"}


async def test_what_a_tool_transform_inherited_is_the_callers_own() -> None:
    renaming = ToolTransform(
        {"fn": ToolTransformConfig(name="renamed"), "said": ToolTransformConfig(description="So.")}
    )
    mcp: FastMCP[Any] = FastMCP("x", transforms=[renaming])
    authz = Authz(mcp, context=People())
    for name in ("fn", "said"):

        @authz.tool(name, description=lambda person: f"For {person.flags[0]}.")
        def fn() -> dict[str, Any]:
            """
            @rbs type output = { ok: bool }
            """
            return {"ok": True}

    with calling_as("ada"):
        async with Client(mcp) as client:
            shown = {tool.name: tool.description for tool in await client.list_tools()}
    assert shown == {"renamed": "For ada.", "said": "So."}


@pytest.mark.parametrize("before", [True, False])
async def test_search_finds_and_calls_what_the_caller_may_see(before: bool) -> None:
    mcp: FastMCP[Any] = FastMCP("x", transforms=[RegexSearchTransform()] if before else [])
    Authz(mcp, context=People())
    if not before:
        mcp.add_transform(RegexSearchTransform())
    mcp.tool(plain)
    mcp.tool(gated)
    assert set(await tools_of(mcp)) == {"search_tools", "call_tool"}
    for words in ("Gated", "covert", "hidden"):
        assert "gated" not in (await call(mcp, "search_tools", {"pattern": words})).model_dump_json()
        assert "hidden" not in (await call(mcp, "search_tools", {"pattern": words})).model_dump_json()
    assert "gated" in (await call(mcp, "search_tools", {"pattern": "Gated"}, "admin")).model_dump_json()
    arguments: dict[str, Any] = {"name": "plain", "arguments": {"a": "x"}}
    result = await call(mcp, "call_tool", arguments)
    assert "secret" not in result.model_dump_json()
    assert "x" in result.model_dump_json()
    assert (await call(mcp, "call_tool", {"name": "gated", "arguments": {}})).is_error


async def test_visibility_marks_and_changed_registrations_are_followed() -> None:
    mcp = protected()
    mcp.tool(plain, title="One")
    mcp.tool(ungated, tags={"off"})
    mcp.disable(tags={"off"})
    assert set(await tools_of(mcp)) == {"plain"}
    assert (await call(mcp, "ungated")).is_error
    mcp.local_provider.remove_tool("plain")
    mcp.tool(plain, title="Two", auth=lambda _: True)
    (tool,) = await mcp.list_tools()
    assert tool.title == "Two"
    assert tool.auth is not None


async def test_what_was_made_for_a_view_is_kept_and_bounded() -> None:
    mcp = protected()
    mcp.tool(plain)
    (first,) = await mcp.list_tools()
    (second,) = await mcp.list_tools()
    assert first is second
    with calling_as("admin"):
        (third,) = await mcp.list_tools()
    assert third is not first


async def test_a_copy_that_says_the_same_is_the_same_tool() -> None:
    mcp = protected()
    registered = Tool.from_function(plain)
    mcp.add_tool(registered)
    found = declaration_of(plain)
    assert found is not None
    (first,) = await mcp.list_tools()
    mcp.local_provider.remove_tool("plain")
    mcp.add_tool(registered.model_copy())
    assert (await mcp.list_tools())[0] is first
    mcp.local_provider.remove_tool("plain")
    mcp.add_tool(registered.model_copy(update={"auth": lambda _: True}))
    assert (await mcp.list_tools())[0].auth is not None
    mcp.local_provider.remove_tool("plain")
    mcp.add_tool(registered.model_copy(update={"description": "Other words."}))
    (changed,) = await mcp.list_tools()
    assert changed.description == "Other words."


def test_a_bounded_cache_forgets_what_was_not_used() -> None:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number

    cache: LeastRecent[int] = LeastRecent(2)
    for number in (1, 2, 1, 3, 1, 2):
        assert cache.get(number, lambda n=number: make(n)) == number  # type: ignore[misc]
    assert made == [1, 2, 3, 2]
    assert len(cache) == 2


def test_what_is_heavy_counts_as_much() -> None:
    cache: LeastRecent[int] = LeastRecent(4)
    for number in (1, 2):
        cache.keep(number, number)
    cache.keep(3, 3, weight=3)
    assert [cache.find(number) for number in (1, 2, 3)] == [None, 2, 3]
    cache.keep(3, 4, weight=2)  # in place of what was there
    cache.keep(5, 5)
    assert [cache.find(number) for number in (2, 3, 5)] == [2, 4, 5]
    cache.keep(6, 6, weight=5)  # would take all the room, and more
    assert [cache.find(number) for number in (2, 3, 5, 6)] == [2, 4, 5, None]
    assert cache.figures() == CacheFigures(kept=4, bound=4, found=12, made=13, dropped=1)


def test_a_key_means_one_object_and_keeps_it() -> None:
    class Thing:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    one, other = Thing(), Thing()
    assert Same(one) == Same(one)
    assert Same(one) != Same(other)
    assert hash(Same(one)) == hash(Same(one))
    key, reference = Same(one), weakref.ref(one)
    del one
    gc.collect()
    assert reference() is not None
    del key
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("mode", ERAS)
async def test_a_name_whose_every_version_is_hidden_is_unknown(mode: str) -> None:
    mcp = protected()
    for version in ("1", "2", "3"):
        mcp.tool(gated, name="versioned", version=version)
    assert text_of(await call(mcp, "versioned", {}, mode=mode)) == "Unknown tool: 'versioned'"
    mcp.tool(ungated, name="versioned", version="0.1")
    assert (await call(mcp, "versioned", {}, mode=mode)).structured_content == {"version": 1}


class Forbidding(Transform):
    """Another transform that lets nobody use a tool."""

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        return [tool.model_copy(update={"auth": lambda _: False}) for tool in tools]

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Tool | None:
        tool = await call_next(name, version=version)
        return None if tool is None else tool.model_copy(update={"auth": lambda _: False})


@pytest.mark.parametrize("renamed", [False, True])
async def test_what_another_transform_forbids_stays_forbidden(renamed: bool) -> None:
    """As FastMCP has it without us: 4.1.0 asks an `auth` that a transform added for lists alone, later ones always."""
    name = "second" if renamed else "first"
    answers: list[tuple[list[str], bool, str]] = []
    for protecting in (False, True):
        mcp: FastMCP[Any] = FastMCP("two")

        def first() -> dict[str, Any]:
            """@rbs type output = { ok: bool }"""
            return {"ok": True}

        mcp.tool(authorized_tool(first) if protecting else first)
        if renamed:
            mcp.add_transform(ToolTransform({"first": ToolTransformConfig(name="second")}))
        mcp.add_transform(Forbidding())
        if protecting:
            Authz(mcp, context=People())
        async with asgi_client(mcp) as client:
            listed = [tool.name for tool in await client.list_tools()]
            result = await client.call_tool_mcp(name, {})
        answers.append((listed, result.is_error, text_of(result)))
    assert answers[0] == answers[1]
    assert answers[1][0] == []


@pytest.mark.parametrize("mode", ERAS)
async def test_a_tool_that_is_listed_past_the_transform_is_not_listed(mode: str) -> None:
    @authorized_tool(authorization="admin")
    def secret_tool(x: int = 0) -> dict[str, Any]:
        """Secret description.

        @rbs type output = { ok: bool }
        #: (?x: Integer) -> output
        """
        return {"ok": True}

    injected = Tool.from_function(secret_tool)
    partial = Tool.from_function(functools.partial(secret_tool, 1), name="partial")
    mcp: FastMCP[Any] = FastMCP("past", middleware=[PutsIn(injected, partial)])
    Authz(mcp, context=People())
    for flags in ((), ("admin",)):
        assert await tools_of(mcp, *flags, mode=mode) == {}
        result = await call(mcp, "secret_tool", {}, *flags, mode=mode)
        assert result.is_error
        assert result.structured_content is None


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("elsewhere", [False, True])
async def test_what_is_registered_once_more_is_decided_for_once_more(elsewhere: bool, mode: str) -> None:
    @authorized_tool(authorization="admin")
    def secret_tool(x: int = 0) -> dict[str, Any]:
        """Secret description.

        @rbs type output = { ok: bool, ?pay: Integer @requires(:boss) }
        #: (?x: Integer) -> output
        """
        return {"ok": True, "pay": 5}

    mcp: FastMCP[Any] = FastMCP("first")
    Authz(mcp, context=People())
    mcp.tool(secret_tool)
    looked_up = await mcp.get_tool("secret_tool")
    assert looked_up is not None
    if elsewhere:
        mcp = FastMCP("second")
        Authz(mcp, context=lambda _: None)
    mcp.add_tool(Tool.from_tool(looked_up, name="again"))
    mcp.add_tool(looked_up.model_copy(update={"name": "copy"}))
    for name in ("again", "copy"):
        assert name not in await tools_of(mcp, "boss", mode=mode)
        assert text_of(await call(mcp, name, {}, "boss", mode=mode)) == f"Unknown tool: {name!r}"
        assert name in await tools_of(mcp, "admin", mode=mode)
        assert (await call(mcp, name, {}, "admin", mode=mode)).structured_content == {"ok": True}
        assert (await call(mcp, name, {}, "admin", "boss", mode=mode)).structured_content == {"ok": True, "pay": 5}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_partial_of_a_guard_is_on_no_server(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    @authorized_tool(authorization="admin")
    def secret_tool(x: int = 0) -> dict[str, Any]:
        """
        @rbs type output = { ok: bool }
        #: (?x: Integer) -> output
        """
        return {"ok": True}

    child: FastMCP[Any] = FastMCP("child")
    child.add_tool(Tool.from_function(functools.partial(secret_tool, 1), name="partial"))
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.mount(child)
    Authz(mcp, context=People())
    assert await tools_of(mcp, "admin", mode=mode) == {}
    assert text_of(await call(mcp, "partial", {}, "admin", mode=mode)) == "Unknown tool: 'partial'"
    assert "a partial stands between" in caplog.text


def hidden_one() -> Tool:
    @authorized_tool(authorization="admin")
    def x() -> dict[str, Any]:
        """@rbs type output = { hidden: Integer }"""
        return {"hidden": 1}

    return Tool.from_function(x)


def visible_one(**options: Any) -> Tool:
    @authorized_tool
    def x() -> dict[str, Any]:
        """@rbs type output = { visible: Integer }"""
        return {"visible": 1}

    return Tool.from_function(x, **options)


def beside_a_mounted_one(plain: bool, namespace: str | None) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("parent")
    hidden = hidden_one()
    mcp.add_tool(hidden.model_copy(update={"name": "ns_x"}) if namespace else hidden)
    child: FastMCP[Any] = FastMCP("child")
    child.add_tool(Tool.from_function(lambda: {"visible": 1}, name="x") if plain else visible_one())
    mcp.mount(child, namespace=namespace)
    return mcp


def beside_another_providers() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.add_tool(hidden_one())
    provider = LocalProvider()
    provider.add_tool(visible_one())
    mcp.add_provider(provider)
    return mcp


def beside_another_version() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.add_tool(hidden_one().model_copy(update={"version": "1.0"}))
    mcp.add_tool(visible_one(version="1"))
    return mcp


def renamed_onto_it() -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x", transforms=[ToolTransform({"old": ToolTransformConfig(name="x")})])
    mcp.add_tool(hidden_one().model_copy(update={"name": "old"}))
    mcp.add_tool(visible_one())
    return mcp


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: beside_a_mounted_one(plain=False, namespace=None), "x"),
        (lambda: beside_a_mounted_one(plain=True, namespace=None), "x"),
        (lambda: beside_a_mounted_one(plain=False, namespace="ns"), "ns_x"),
        (beside_another_providers, "x"),
        (beside_another_version, "x"),
        (renamed_onto_it, "x"),
    ],
)
async def test_a_hidden_tool_stands_in_no_visible_ones_way(build: Any, name: str, mode: str) -> None:
    mcp = build()
    Authz(mcp, context=People())
    assert await tools_of(mcp, mode=mode) == {name: set()}
    assert (await call(mcp, name, {}, mode=mode)).structured_content == {"visible": 1}
    assert await tools_of(mcp, "admin", mode=mode) == {name: set()}
    assert not (await call(mcp, name, {}, "admin", mode=mode)).is_error
