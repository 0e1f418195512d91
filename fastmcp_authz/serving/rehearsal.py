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


async def rehearsed(provider: Provider, unknown: list[str] | None = None) -> Sequence[Tool]:
    """What a provider lists to such a one; empty where that cannot be known.

    Args:
        provider: A server, with what is mounted on it, or anything else that has tools.
        unknown: Is told what stands in the way where it cannot be known, but for proxies.

    Raises:
        ConfigurationError: A `ToolTransform` cannot be applied to it.
    """
    tools = await _before_transforms(provider, unknown)
    for transform in provider.transforms:
        if isinstance(transform, ToolTransform):
            try:
                tools = await transform.list_tools(tools)
            except ValueError as error:
                raise ConfigurationError(
                    f"{_named(provider)} has a ToolTransform that cannot be applied to what everybody may see of its "
                    f"tools: {error}. Whoever may not see that argument could list no tool at all: leave it out of the "
                    "ToolTransform, and name it in the annotation as callers should know it."
                ) from None
        else:
            try:
                if isinstance(transform, AuthzTransform):
                    tools = transform.least(tools)
                else:
                    tools = await transform.list_tools(tools)
            except Exception as error:  # it needs a request, or a tool is broken
                if unknown is not None:
                    unknown.append(f"{type(transform).__name__} of {_named(provider)} raised {type(error).__name__}")
                return []  # nothing can be known of what stands above
    return tools


def _named(provider: Provider) -> str:
    return repr(getattr(provider, "name", type(provider).__name__))


async def _before_transforms(provider: Provider, unknown: list[str] | None) -> Sequence[Tool]:
    """The tools of a provider, but for a proxy, which would have to call another server."""
    inner = wrapped_provider(provider)
    if inner is not None:
        return await rehearsed(inner, unknown)
    if isinstance(provider, FastMCPProvider):
        return await rehearsed(provider.server, unknown)
    if isinstance(provider, FastMCP | AggregateProvider):
        return [tool for each in provider.providers for tool in await rehearsed(each, unknown)]
    if is_proxy(provider):
        return []
    try:
        return await provider._list_tools()
    except Exception as error:  # of the author's own making: it may need a request
        if unknown is not None:
            unknown.append(f"{type(provider).__name__} raised {type(error).__name__}")
        return []
