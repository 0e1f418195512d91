"""Swaps each registered tool of ours for the caller's view of it, in lists and look-ups."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.transforms import GetToolNext, VersionSpec
from fastmcp.server.transforms.visibility import is_enabled
from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.types import NotSet
from fastmcp.utilities.versions import version_sort_key

from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import CallerUnavailableError, Scope
from fastmcp_authz.serving.audit import note_handed_out, note_seen
from fastmcp_authz.serving.cards import card, personal
from fastmcp_authz.serving.declaration import Declaration, declaration_of
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.permitting import KeptView, decide_for_all, permission
from fastmcp_authz.serving.publishing import publish
from fastmcp_authz.serving.requests import current_context
from fastmcp_authz.serving.strays import DecidesForCallers, beneath
from fastmcp_authz.serving.tool import AuthorizedTool, Binding

logger = logging.getLogger("fastmcp_authz")


@dataclass(frozen=True, slots=True)
class _Ours:
    """A tool of ours as it comes from below."""

    shown: Tool
    """What is listed below: the registered tool, or what a ToolTransform made of it."""
    registered: FunctionTool
    declaration: Declaration
    elsewhere: Jurisdiction | None = None
    """Who decides for it, where that is not the transform's."""

    def swapped(self, tool: Tool) -> Tool:
        """`tool` in place of the registered one, renamed as below."""
        return _rebuilt(self.shown, tool)


class AuthzTransform(DecidesForCallers):
    """The caller's world, for everything in FastMCP that looks tools up: versions, search, code mode, mounts."""

    def __init__(self, server: FastMCP[Any], jurisdiction: Jurisdiction) -> None:
        self._server = server
        self.jurisdiction = jurisdiction
        self.retired = False
        """Whether another transform has taken over, since the server now has an `Authz` of its own."""

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """The tools that exist for the caller, each as the caller sees it; tools that are not ours pass."""
        if self.retired:
            return tools
        found = [_ours(tool) for tool in tools]
        ours = [each for each in found if isinstance(each, _Ours)]
        seen: Sequence[Tool | None]
        if current_context() is None:
            seen = [self._least(each) for each in ours]
        else:
            seen = await self._seen_here(ours)
        own = iter(seen)
        shown = [next(own) if isinstance(each, _Ours) else each for each in found]
        return [tool for tool in shown if tool is not None]

    async def get_tool(self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None) -> Tool | None:
        """The tool of that name as the caller sees it; `None` where it does not exist for the caller."""
        if self.retired:
            return await call_next(name, version=version)
        if current_context() is None:
            ours = _ours(await call_next(name, version=version))
            return self._least(ours) if isinstance(ours, _Ours) else ours
        # Around the look-up: mounted servers are looked into without their middleware, and the nearest decides there.
        async with self.jurisdiction.scope():
            ours = _ours(await call_next(name, version=version))
            passed: set[str | None] = set()
            while isinstance(ours, _Ours):
                (seen,) = await self._seen_here([ours], by_name=True)
                if seen is not None:
                    return seen
                highest = ours.shown.version
                if version is not None or highest is None or highest in passed:
                    return await self._another(name, version)
                # A version that is hidden from the caller gives way to the highest one below it, as in lists. FastMCP
                # does so itself from 4.2 on.
                passed.add(highest)
                ours = _ours(await call_next(name, version=VersionSpec(lt=highest)))
            return ours if ours is not None or not passed else await self._another(name, version)

    async def _another(self, name: str, version: VersionSpec | None) -> Tool | None:
        """What the caller is listed under a name of which all that FastMCP finds by itself is hidden from the caller.

        That may be a tool of another provider: FastMCP picks one before anybody is asked.
        """
        tools = await self._server._list_tools()
        for transform in self._server.transforms[: self._server.transforms.index(self)]:
            tools = await transform.list_tools(tools)
        named = [each for each in tools if each.name == name and (version is None or version.matches(each.version))]
        for each in sorted(named, key=version_sort_key, reverse=True):
            ours = _ours(each)
            seen = (await self._seen_here([ours], by_name=True))[0] if isinstance(ours, _Ours) else ours
            if seen is not None and is_enabled(seen):
                return seen
        return None

    def least(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """What somebody is shown who may see nothing that is guarded; every tool that is not ours."""
        found = (_ours(tool) for tool in tools)
        return [self._least(each) if isinstance(each, _Ours) else each for each in found if each is not None]

    def _least(self, ours: _Ours) -> Tool:
        """What is served where there is no request, as at start-up: the least view, never hidden and never an error.

        A tool that is missing then could not run as a background task. Whoever runs it is decided for all the same.
        """
        least = KeptView(ours.declaration.contract.view_of(frozenset()))
        jurisdiction = ours.elsewhere or self.jurisdiction
        return ours.swapped(card(least, ours.declaration, jurisdiction, ours.registered).tool)

    async def _seen_here(self, tools: Sequence[_Ours], *, by_name: bool = False) -> list[Tool | None]:
        """The tools as those see them who ask in this request, `None` for each that does not exist for them.

        `by_name` is set where one tool was asked for.
        """
        seen: dict[int, Tool | None] = {}
        for jurisdiction in dict.fromkeys(each.elsewhere or self.jurisdiction for each in tools):
            theirs = [each for each in tools if (each.elsewhere or self.jurisdiction) is jurisdiction]
            async with jurisdiction.scope() as scope:
                made = await self._seen_in(scope, theirs, by_name=by_name)
            seen.update(zip(map(id, theirs), made, strict=True))
        return [seen[id(each)] for each in tools]

    async def _seen_in(self, scope: Scope | None, tools: Sequence[_Ours], *, by_name: bool) -> list[Tool | None]:
        if scope is None:
            return [None] * len(tools)
        try:
            caller = await scope.caller()
        except CallerUnavailableError:
            return [None] * len(tools)
        if len(tools) > 1:
            await decide_for_all([each.declaration for each in tools], caller)
        return [await self._seen(each, caller, by_name=by_name) for each in tools]

    async def _seen(self, ours: _Ours, caller: Caller, *, by_name: bool) -> Tool | None:
        """One tool as the caller sees it. Whatever goes wrong with it hides it, and leaves the others alone."""
        try:
            kept, denied = await permission(ours.declaration, caller)
            note_seen(ours.shown.name, caller, denied if kept is None else None, by_name=by_name)
            if kept is None:
                return None
            shared = card(kept, ours.declaration, ours.elsewhere or self.jurisdiction, ours.registered)
            note_handed_out(shared.tool.binding)
            own = await personal(shared, kept.view, caller)
            if own.references and caller.settings.refs == "defs":
                publish(own)
            return ours.swapped(own.tool)
        except Exception:
            logger.error("%s is hidden: making its view failed.", ours.declaration, exc_info=True)
            return None


def _ours(tool: Tool | None) -> _Ours | Tool | None:
    """The tool as one of ours; itself where it is not; `None` where it only bears a copy of a declaration.

    Somebody may have registered once more what was looked up for a caller, or for nobody: it is decided for again.
    """
    below = tool
    while isinstance(below, TransformedTool):
        below = below.parent_tool
    if tool is None or below is None:
        return None
    if isinstance(below, AuthorizedTool):
        bound: Binding = below.binding
        said = {name: getattr(below, name) for name in Tool.model_fields if name not in _MADE_AGAIN}
        return _Ours(tool, bound.registered.model_copy(update=said), bound.declaration, bound.jurisdiction)
    if not isinstance(below, FunctionTool):
        return tool
    declaration = declaration_of(below.fn)
    if declaration is not None:
        return _Ours(tool, below, declaration)
    copied = beneath(below.fn)
    if copied is None:
        return tool
    logger.error(
        "%s is hidden from everybody: a decorator or a partial stands between @mcp.tool and @authorized_tool, where "
        "nothing can protect it. Put it below @authorized_tool, nearest the function.",
        copied,
    )
    return None


_MADE_AGAIN = frozenset({"parameters", "output_schema", "description", "return_type", "serializer"})
"""Fields of a transformed tool that follow from what it is made over."""


def _rebuilt(shown: Tool, ours: Tool) -> Tool:
    """What a ToolTransform made, made again over our tool: what it made closes over the registered one.

    What it says of parameters still fits: it could only name those that everyone has. What it inherited is now ours.
    """
    if not isinstance(shown, TransformedTool):
        return ours
    parent, before = _rebuilt(shown.parent_tool, ours), shown.parent_tool
    made = TransformedTool.from_tool(
        parent,
        name=shown.name,
        version=shown.version,
        title=shown.title,
        description=NotSet if shown.description == before.description else shown.description,
        tags=shown.tags,
        annotations=shown.annotations,
        output_schema=NotSet if shown.output_schema == before.output_schema else shown.output_schema,
        meta=shown.meta,
        transform_args=shown.transform_args,
        transform_fn=None if shown.fn is shown.forwarding_fn else shown.fn,
    )
    # What a transform says beside that, `auth` above all, is on its copy alone.
    said = {name: getattr(shown, name) for name in Tool.model_fields if name not in _MADE_AGAIN}
    return made.model_copy(update={name: value for name, value in said.items() if value != getattr(before, name)})
