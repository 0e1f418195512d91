"""The few private names of FastMCP that we lean on, each because no public one serves.

`tests/serving/test_fastmcp_names.py` holds a canary for each, which fails with a clear word when FastMCP moves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers import Provider


def wrapped_provider(provider: Provider) -> Provider | None:
    """The provider inside one that `wrap_transform` made, as a mount with a namespace or with renames is."""
    inner = getattr(provider, "_inner", None)
    return inner if isinstance(inner, Provider) else None


def outer_servers(context: Context) -> Iterator[FastMCP[Any]]:
    """The servers that the current request came through, the nearest first: a mounted one knows nothing of them."""
    outer: Any = context
    while (tokens := getattr(outer, "_tokens", None)) and isinstance(outer := tokens[-1].old_value, Context):
        yield outer.fastmcp


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
