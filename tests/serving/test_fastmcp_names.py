"""Canaries: each fact about FastMCP that we lean on and that is no promise of its own."""

from __future__ import annotations

from typing import Any

from fastmcp import Client, Context, FastMCP
from fastmcp.server import create_proxy
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.providers import FastMCPProvider

from fastmcp_authz.serving._fastmcp import (
    caches_are_public,
    caches_responses,
    is_proxy,
    outer_servers,
    served_as,
    served_by,
    wrapped_provider,
)
from fastmcp_authz.serving.requests import request_key
from tests.serving.people import ERAS


def test_a_wrapped_provider_still_shows_what_it_wraps() -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    child: FastMCP[Any] = FastMCP("child")
    parent.mount(child, "namespace", tool_names={"a": "b"})
    provider: Any = wrapped_provider(parent.providers[-1])
    while provider is not None and not isinstance(provider, FastMCPProvider):
        provider = wrapped_provider(provider)
    assert provider is not None, "FastMCP has renamed `_WrappedProvider._inner`: mounts with a namespace go uncovered"
    assert provider.server is child


async def test_a_mounted_servers_tool_still_shows_its_server() -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    child: FastMCP[Any] = FastMCP("child")
    child.tool(lambda: None, name="inner")
    parent.mount(child)
    (tool,) = await parent.list_tools()
    assert served_by(tool) is child, "FastMCP has renamed `FastMCPProviderTool._server`: some mounts go uncovered"
    assert served_by(await child.get_tool("inner") or tool) is None


async def test_a_mounted_servers_tool_still_shows_its_own_name() -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    child: FastMCP[Any] = FastMCP("child")
    child.tool(lambda: None, name="inner")
    parent.mount(child, "namespace")
    (tool,) = await parent.list_tools()
    assert tool.name == "namespace_inner"
    assert served_as(tool) == "inner", "FastMCP has renamed `FastMCPProviderTool._original_name`: facades miss tools"
    assert served_as(await child.get_tool("inner") or tool) is None


def test_a_proxy_is_still_known_by_its_name() -> None:
    proxy = create_proxy(FastMCP("behind"))
    assert any(map(is_proxy, proxy.providers)), "FastMCP has renamed ProxyProvider: set-up would call other servers"
    assert not any(map(is_proxy, FastMCP("x").providers))


def test_a_public_cache_scope_is_still_seen() -> None:
    message = "FastMCP has moved `_mcp_server.cache_hints`: cache_scope='public' goes unnoticed"
    assert caches_are_public(FastMCP("x", cache_ttl=1, cache_scope="public")), message
    assert not caches_are_public(FastMCP("x", cache_ttl=1, cache_scope="private"))
    assert not caches_are_public(FastMCP("x"))


def test_response_caching_is_still_known_by_its_name() -> None:
    class Own(ResponseCachingMiddleware): ...

    message = "FastMCP has renamed ResponseCachingMiddleware: it goes unnoticed"
    assert caches_responses(ResponseCachingMiddleware()), message
    assert caches_responses(Own())
    assert not caches_responses(Middleware())


async def test_each_request_still_has_a_session_object_of_its_own_that_nested_calls_share() -> None:
    child: FastMCP[Any] = FastMCP("child")
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.mount(child, "child")
    keys: list[object] = []

    @child.tool
    def inner() -> None:
        keys.append(request_key())

    @mcp.tool
    async def outer(ctx: Context) -> None:
        keys.append(request_key())
        await ctx.fastmcp.call_tool("child_inner", {})

    for mode in ERAS:
        async with Client(mcp, mode=mode) as client:
            for _ in range(2):
                await client.call_tool("outer", {})
    assert None not in keys
    assert keys[0::2] == keys[1::2]
    assert len({id(key) for key in keys}) == 4
    assert request_key() is None


async def test_the_servers_that_a_request_came_through_are_still_found() -> None:
    inner: FastMCP[Any] = FastMCP("inner")
    middle: FastMCP[Any] = FastMCP("middle")
    outer: FastMCP[Any] = FastMCP("outer")
    found: list[str] = []

    @inner.tool
    def look(ctx: Context) -> None:
        found.extend(server.name for server in outer_servers(ctx))

    middle.mount(inner)
    outer.mount(middle, "ns")
    async with Client(outer) as client:
        await client.call_tool("ns_look", {})
    assert next(name for name in found if name != "inner") == "middle"
    assert "outer" in found, "FastMCP has moved `Context._tokens`: a cache above a mounted server goes unnoticed"
