"""Tools of ours that are listed or called by a way that no transform is on: to callers they are not there."""

from __future__ import annotations

import functools
import logging
from collections.abc import Container, Iterable, Sequence
from typing import Any

import mcp_types
from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.transforms import Transform
from fastmcp.tools import FunctionTool, Tool, ToolResult
from fastmcp.tools.tool_transform import TransformedTool

from fastmcp_authz.serving._fastmcp import served_as, served_by
from fastmcp_authz.serving.admission import NotAdmittedError
from fastmcp_authz.serving.audit import Denials, note_declared, noted_so_far
from fastmcp_authz.serving.declaration import Declaration, carried
from fastmcp_authz.serving.tool import AuthorizedTool, Binding

logger = logging.getLogger("fastmcp_authz")


class DecidesForCallers(Transform):
    """What makes a server's tools those of each caller; see `AuthzTransform`."""


class StrayError(NotFoundError):
    """A stray tool was called, which is not there."""


def is_stray(tool: Tool) -> bool:
    """Whether a tool is one of ours as it was registered. Such a one cannot run, and says so to the operator."""
    found = _registered(tool)
    if not isinstance(found, FunctionTool) or beneath(found.fn) is None:
        return False
    logger.error("%s is hidden from everybody: it is listed past Authz. Register it on a protected server.", tool.name)
    return True


def is_kept(tool: Tool, handed_out: Container[int]) -> bool:
    """Whether a tool was listed for somebody else, or before: whoever lists it now may not see it, or not so."""
    found = _registered(tool)
    if not isinstance(found, AuthorizedTool) or id(found.binding) in handed_out:
        return False
    logger.error("%s is left out: it was not listed for this request, but kept from another. Keep no lists.", tool.name)
    return True


def is_ours(tool: Tool) -> bool:
    """Whether a tool runs a guarded function, as it was registered or as somebody looked it up."""
    found = _registered(tool)
    return isinstance(found, AuthorizedTool) or (isinstance(found, FunctionTool) and beneath(found.fn) is not None)


def _registered(tool: Tool) -> Tool:
    while isinstance(tool, TransformedTool):
        tool = tool.parent_tool
    return tool


def beneath(fn: Any) -> Declaration | None:
    """The declaration that a function carries, or one that it is a `functools.partial` of."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return carried(fn)


def declared_behind(tool: Tool, noted: Denials) -> Declaration | None:
    """The declaration of a listed tool of ours, be it one of a mounted server that has no `Authz` of its own."""
    found = _registered(tool)
    if isinstance(found, AuthorizedTool):
        bound: Binding = found.binding
        return bound.declaration
    known = noted.declared.get((served_by(found), served_as(found) or ""))
    return known if isinstance(known, Declaration) else None


async def names_stray(server: FastMCP[Any], name: str) -> bool:
    """Whether a tool that was called by this name, and not admitted, is a stray itself.

    If not, a tool that is there went about to run another one: a function that is none of ours, here or on a mounted
    server. Of a kind of tool that FastMCP does not have nobody can say.
    """
    found = await server.get_tool(name)
    if found is None or is_stray(found):
        return True
    if served_by(_registered(found)) is not None:
        return bool(uncovered([found]))
    return not isinstance(_registered(found), FunctionTool | AuthorizedTool)


def uncovered(tools: Iterable[Tool]) -> set[FastMCP[Any]]:
    """The mounted servers that tools have come from, renamed or not, and nobody decides for."""
    mounted = {server for tool in tools if (server := served_by(_registered(tool))) is not None}
    return {each for each in mounted if not any(isinstance(made, DecidesForCallers) for made in each.transforms)}


class HidesStrays(Middleware):
    """Stands outermost on a mounted server that has no `Authz` of its own."""

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Lists what is no stray, and notes for the servers above what is ours."""
        listed = [tool for tool in await call_next(context) if not is_stray(tool)]
        here, noted = context.fastmcp_context, noted_so_far()
        if here is not None and noted is not None:
            for tool in listed:
                declaration = declared_behind(tool, noted)
                if declaration is not None:
                    note_declared(here.fastmcp, tool.name, declaration)
        return listed

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Calls what is no stray."""
        try:
            return await call_next(context)
        except NotAdmittedError:
            name, here = context.message.name, context.fastmcp_context
            if here is not None and await names_stray(here.fastmcp, name):
                raise StrayError(f"Unknown tool: {name!r}") from None
            raise
