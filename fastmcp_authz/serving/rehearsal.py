"""What other transforms make of the least view, tried before anybody asks.

A `ToolTransform` that names an argument which only some callers see fails for all others, and takes their whole list
with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastmcp import FastMCP
from fastmcp.server.providers import AggregateProvider, FastMCPProvider, Provider
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools import Tool

from fastmcp_authz.errors import ConfigurationError
from fastmcp_authz.serving._fastmcp import is_proxy, wrapped_provider
from fastmcp_authz.serving.transform import AuthzTransform


async def refuse_impossible_transforms(provider: Provider) -> None:
    """Lists what lies in memory as somebody would see it who may see nothing that is guarded.

    Args:
        provider: A server, with what is mounted on it.

    Raises:
        ConfigurationError: A `ToolTransform` cannot be applied to that.
    """
    await rehearsed(provider)


async def rehearsed(provider: Provider) -> Sequence[Tool]:
    """What a provider lists to such a one; empty where that cannot be known.

    Raises:
        ConfigurationError: A `ToolTransform` cannot be applied to it.
    """
    tools = await _before_transforms(provider)
    for transform in provider.transforms:
        if isinstance(transform, ToolTransform):
            try:
                tools = await transform.list_tools(tools)
            except ValueError as error:
                name = getattr(provider, "name", type(provider).__name__)
                raise ConfigurationError(
                    f"{name!r} has a ToolTransform that cannot be applied to what everybody may see of its tools: "
                    f"{error}. Whoever may not see that argument could list no tool at all: leave it out of the "
                    "ToolTransform, and name it in the annotation as callers should know it."
                ) from None
        else:
            try:
                if isinstance(transform, AuthzTransform):
                    tools = transform.least(tools)
                else:
                    tools = await transform.list_tools(tools)
            except Exception:
                return []  # it needs a request, or a tool is broken: nothing can be known of what stands above
    return tools


async def _before_transforms(provider: Provider) -> Sequence[Tool]:
    """The tools of a provider, but for a proxy, which would have to call another server."""
    inner = wrapped_provider(provider)
    if inner is not None:
        return await rehearsed(inner)
    if isinstance(provider, FastMCPProvider):
        return await rehearsed(provider.server)
    if isinstance(provider, FastMCP | AggregateProvider):
        return [tool for each in provider.providers for tool in await rehearsed(each)]
    if is_proxy(provider):
        return []
    try:
        return await provider._list_tools()
    except Exception:  # of the author's own making: it may need a request
        return []
