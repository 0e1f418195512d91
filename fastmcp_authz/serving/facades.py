"""Facades: in a faceted domain one tool stands for a whole category, for those of its tools that the caller has."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.tasks import TaskConfig
from fastmcp.utilities.versions import version_sort_key
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json

from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import CallerUnavailableError
from fastmcp_authz.contracts import refusals
from fastmcp_authz.serving.audit import CallRecord, Denials, note_called, noting
from fastmcp_authz.serving.facets import UNCATEGORIZED, Facet, Facets
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.requests import request_key
from fastmcp_authz.serving.results import cannot_answer, refusal, unknown_tool
from fastmcp_authz.serving.strays import declared_behind
from fastmcp_authz.settings import Settings

logger = logging.getLogger("fastmcp_authz")

SCHEMAS = "tool-input-schemas"
"""Where a facade's `_meta` has the input schemas of its tools."""
_TOOL, _ARGUMENTS = "tool_name", "arguments"


class Faceted(NamedTuple):
    """A server with faceted domains."""

    server: FastMCP[Any]
    jurisdiction: Jurisdiction
    facets: Facets

    def __deepcopy__(self, memo: dict[int, Any]) -> Faceted:
        return self  # a copy of a facade stands for what the facade stands for

    def listed(self, tools: Sequence[Tool], domain: str | None, noted: Denials) -> Sequence[Tool]:
        """A list with facades in place of what they stand for; itself in a domain that is not faceted.

        Args:
            tools: What the caller is listed one by one.
            domain: The domain that is served.
            noted: What was noted when they were listed.
        """
        facet = self.facets.of(domain)
        if facet is None:
            return tools
        groups = _grouped(tools, facet, noted)
        taken = {tool.name for tool in tools}
        listed: list[Tool] = []
        for tool in tools:
            group = _group(tool, facet, noted)
            if group is None:
                listed.append(tool)
            elif isinstance(group, str) and group in groups:
                members = groups.pop(group)
                if facet.facade(group) in taken:
                    logger.error("%r is a tool, so that no facade can have the name.", facet.facade(group))
                else:
                    listed.append(self._facade(group, members, facet, noted))
        return listed

    async def members(self, group: str, facet: Facet, caller: Caller) -> tuple[list[Tool], Denials]:
        """The tools of a group that the caller has in this request, by the names that they are called by."""
        key = (self.jurisdiction, group)
        if key not in caller.made:
            with noting() as noted:
                tools = await self.server.list_tools(run_middleware=False)
            caller.made[key] = _grouped(tools, facet, noted).get(group, []), noted
        found: tuple[list[Tool], Denials] = caller.made[key]
        return found

    async def named(self, name: str) -> Facade | None:
        """The facade of that name, for a caller who has a tool behind it."""
        async with self.jurisdiction.scope(request_key()) as scope:
            if scope is None:
                return None
            try:
                caller = await scope.caller()
            except CallerUnavailableError:
                return None
            facet = self.facets.of(caller.domain)
            group = None if facet is None else facet.group(name)
            if facet is None or group is None:
                return None
            members, noted = await self.members(group, facet, caller)
            return self._facade(group, members, facet, noted) if members else None

    def _facade(self, group: str, members: Sequence[Tool], facet: Facet, noted: Denials) -> Facade:
        told = [found.category_summary for tool in members if (found := declared_behind(tool, noted)) is not None]
        lines = (f"- {tool.name}{_first_line(tool.description)}" for tool in members)
        schemas = {SCHEMAS: {tool.name: tool.parameters for tool in members}}
        return Facade(
            name=facet.facade(group),
            description="\n".join([self.facets.summary(group, told), "", *lines]),
            parameters=_envelope([tool.name for tool in members]),
            meta=schemas if facet.schema_strategy == "vendor_extension" else None,
            task_config=TaskConfig(mode="forbidden"),
            faceted=self,
        )


class Facade(Tool):
    """One tool for a group. What it shows is one caller's; who runs it is decided for afresh."""

    faceted: Annotated[SkipJsonSchema[Any], Field(exclude=True, repr=False)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Finds the tool that is meant among those that the caller has now, and calls it as if called by its name.

        That call is the server's own, with every middleware: whatever stands in the way of the tool stands there.
        """
        faceted: Faceted = self.faceted
        async with faceted.jurisdiction.scope(request_key()) as scope:
            if scope is None:
                return unknown_tool(self.name)
            try:
                caller = await scope.caller()
            except CallerUnavailableError:
                return cannot_answer()
            note_called()
            record = CallRecord(caller, self.name, set())
            facet = faceted.facets.of(caller.domain)
            group = None if facet is None else facet.group(self.name)
            members = [] if facet is None or group is None else (await faceted.members(group, facet, caller))[0]
            if not members:
                record.outcome = "unknown_tool"
                record.tell()
                return unknown_tool(self.name)
            try:
                meant, inner = _opened(self.name, arguments, [tool.name for tool in members], caller.settings)
            except _RefusedError as refused:
                record.outcome = "unknown_keys" if refused.unknown else "invalid_arguments"
                record.keys = refused.unknown
                record.tell()
                return refusal(str(refused))
            return await faceted.server.call_tool(meant, inner)


class _RefusedError(Exception):
    """An envelope that cannot be opened, with what the caller is told."""

    def __init__(self, text: str, unknown: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.unknown = unknown


_LEFT_OUT = object()


def _group(tool: Tool, facet: Facet, noted: Denials) -> object:
    """The group of a tool, `None` for one that stands by itself, `_LEFT_OUT` where it should have a category."""
    declaration = declared_behind(tool, noted)
    if declaration is None:
        return None
    if declaration.category is None and facet.uncategorized == "error":
        return _LEFT_OUT
    return declaration.category or UNCATEGORIZED


def _grouped(tools: Sequence[Tool], facet: Facet, noted: Denials) -> dict[str, list[Tool]]:
    """The tools of each group, of several versions the highest, which is the one that is called."""
    groups: dict[str, dict[str, Tool]] = {}
    for tool in tools:
        group = _group(tool, facet, noted)
        if group is _LEFT_OUT:
            logger.error("%s has no category, which its domain asks for: it is left out.", tool.name)
        elif isinstance(group, str):
            members = groups.setdefault(group, {})
            members[tool.name] = max(tool, members.get(tool.name, tool), key=version_sort_key)
    return {group: list(members.values()) for group, members in groups.items()}


def _envelope(names: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            _TOOL: {"type": "string", "enum": names, "description": "The tool to call."},
            _ARGUMENTS: {"type": "object", "description": "The parameters of that tool, by name."},
        },
        "required": [_TOOL, _ARGUMENTS],
        "additionalProperties": False,
    }


def _opened(
    facade: str, given: Mapping[str, Any], names: Sequence[str], settings: Settings
) -> tuple[str, dict[str, Any]]:
    """The tool that is meant, and its arguments.

    Raises:
        _RefusedError: They cannot be told.
    """
    beside = [key for key in given if key not in (_TOOL, _ARGUMENTS) and key not in settings.ignored_input_keys]
    if beside and settings.reject_unknown_input_keys:
        raise _RefusedError(refusals.beside_arguments(facade, beside), tuple(sorted(beside)))
    problems = list(_problems(given, names))
    if problems:
        raise _RefusedError(refusals.invalid_values(facade, problems))
    return given[_TOOL], _object(given[_ARGUMENTS]) or {}


def _problems(given: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    if given.get(_TOOL) not in names:
        offered = ", ".join(f'"{name}"' for name in names)
        yield f"{_TOOL}: must be one of {offered}." if _TOOL in given else f"{_TOOL}: is required, one of {offered}."
    if _ARGUMENTS not in given:
        yield f"{_ARGUMENTS}: is required: an object, with the parameters of the tool."
    elif _object(given[_ARGUMENTS]) is None:
        yield f"{_ARGUMENTS}: must be an object, with the parameters of the tool."


def _object(given: Any) -> dict[str, Any] | None:
    """Arguments as they are, or as the JSON text that they were sent as."""
    if isinstance(given, str):
        try:
            given = from_json(given)
        except ValueError:
            return None
    return given if isinstance(given, dict) else None


def _first_line(description: str | None) -> str:
    lines = (description or "").strip().splitlines()
    return f" — {lines[0].strip()}" if lines else ""
