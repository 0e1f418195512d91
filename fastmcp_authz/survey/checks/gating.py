"""Tools that are everybody's, or by mistake nobody's."""

from __future__ import annotations

from collections.abc import Iterator

from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import TransformedTool

from fastmcp_authz.survey.checks.finding import Found
from fastmcp_authz.survey.checks.looked import Looked


def without_gate(looked: Looked) -> Iterator[Found]:
    """Decorated tools that everybody has, all of them."""
    for subject in looked.guarded:
        declaration, ours = subject.declaration, subject.surveyed.ours
        if declaration is None or ours is None or subject.surveyed.authority is None:
            continue
        if not (declaration.gates or declaration.contract.predicates or _has_auth(ours.shown)):
            yield subject.found(
                "It has no authorization, no gates, and nothing guarded inside: everybody whom the server lets in "
                "has all of it.",
                'Write authorization="..." or gates=[...], or guard what is in it. If it is meant for everybody, '
                "say so behind its `def`: `# authz: ignore[AZ201]`.",
            )


def plain(looked: Looked) -> Iterator[Found]:
    """Tools without a contract on a server that has an `Authz`."""
    if not looked.survey.authorities:
        return
    for subject in looked.subjects:
        if subject.declaration is None and not _has_auth(subject.surveyed.least):
            yield subject.found(
                "It is no `authorized_tool`, so that everybody whom the server lets in is listed it and may call it, "
                "and its results are sent as they are.",
                "Put `@authorized_tool(...)` between `@mcp.tool` and the function, or `auth=gate_check(...)` on "
                "`@mcp.tool`. If it is meant for everybody, say so behind its `def`: `# authz: ignore[AZ202]`.",
            )


def unprotected(looked: Looked) -> Iterator[Found]:
    """Decorated tools on servers where nobody decides."""
    for subject in looked.guarded:
        if subject.surveyed.authority is None:
            yield subject.found(
                "No `Authz` decides for it, so that every call is refused.",
                "Write `Authz(mcp, context=...)` for the server that it is on, or for one that this is mounted on.",
            )


def _has_auth(tool: Tool) -> bool:
    """Whether FastMCP itself asks a check before the tool."""
    while tool.auth is None and isinstance(tool, TransformedTool):
        tool = tool.parent_tool
    return tool.auth is not None
