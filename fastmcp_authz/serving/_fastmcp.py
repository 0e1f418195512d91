"""The few private names of FastMCP that we lean on, each because no public one serves.

`tests/serving/test_fastmcp_names.py` holds a canary for each, which fails with a clear word when FastMCP moves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers import Provider
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool
from fastmcp.tools import Tool


def wrapped_provider(provider: Provider) -> Provider | None:
    """The provider inside one that `wrap_transform` made, as a mount with a namespace or with renames is."""
    inner = getattr(provider, "_inner", None)
    return inner if isinstance(inner, Provider) else None


def outer_servers(context: Context) -> Iterator[FastMCP[Any]]:
    """The servers that the current request came through, the nearest first: a mounted one knows nothing of them."""
    outer: Any = context
    seen: list[Context] = [context]  # a handler that enters its own context makes it stand above itself
    while (tokens := getattr(outer, "_tokens", None)) and isinstance(outer := tokens[0].old_value, Context):
        if any(outer is each for each in seen):
            return
        seen.append(outer)
        yield outer.fastmcp


def served_by(tool: Tool) -> FastMCP[Any] | None:
    """The mounted server that a tool of its parent's stands for."""
    server = getattr(tool, "_server", None) if isinstance(tool, FastMCPProviderTool) else None
    return server if isinstance(server, FastMCP) else None


def served_as(tool: Tool) -> str | None:
    """The name that the mounted server has for a tool of its parent's."""
    name = getattr(tool, "_original_name", None)
    return name if isinstance(name, str) else None


def is_proxy(provider: Provider) -> bool:
    """Whether a provider would have to call another server. By name: its module takes long to import."""
    return any(kind.__name__ == "ProxyProvider" for kind in type(provider).__mro__)


def caches_are_public(server: FastMCP[Any]) -> bool:
    """Whether the server was made with `cache_scope="public"`."""
    hints = server._mcp_server.cache_hints
    return any(hint.scope == "public" for hint in hints.values())


def caches_responses(middleware: Middleware) -> bool:
    """Whether this is a `ResponseCachingMiddleware`. By name: its module takes as long to import as all of ours."""
    return any(
        kind.__name__ == "ResponseCachingMiddleware" and kind.__module__.startswith("fastmcp.")
        for kind in type(middleware).__mro__
    )
