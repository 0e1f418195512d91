"""What a ToolTransform above a tool has made of its inputs."""

from __future__ import annotations

from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import TransformedTool

from fastmcp_authz.contracts.outline import Part


def listed_as(tool: Tool | None, part: Part) -> str | None:
    """The name under which a tool that is listed has an input; `None` where a ToolTransform hides it from everybody.

    What is inside an input keeps its name, and so does everything of a tool that is not listed.
    """
    return part.name if tool is None or len(part.steps) > 1 else _name(tool, part.name)


def _name(tool: Tool, name: str) -> str | None:
    if not isinstance(tool, TransformedTool):
        return name
    below = _name(tool.parent_tool, name)
    change = None if below is None else tool.transform_args.get(below)
    if change is None:
        return below
    if change.hide is True:
        return None
    return change.name if isinstance(change.name, str) else below
