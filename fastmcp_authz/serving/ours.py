"""Tools of ours as they come from below the transform: what is registered, and what others have made of it."""

from __future__ import annotations

import logging
from typing import NamedTuple

from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.types import NotSet

from fastmcp_authz.serving.declaration import Declaration, declaration_of
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.strays import beneath
from fastmcp_authz.serving.tool import AuthorizedTool, Binding

logger = logging.getLogger("fastmcp_authz")


class Ours(NamedTuple):
    """A tool of ours as it comes from below."""

    shown: Tool
    """What is listed below: the registered tool, or what a ToolTransform made of it."""
    registered: FunctionTool
    declaration: Declaration
    elsewhere: Jurisdiction | None = None
    """Who decides for it, where that is not the transform's."""

    def swapped(self, tool: Tool) -> Tool:
        """`tool` in place of the registered one, renamed as below."""
        return tool if self.shown is self.registered else _rebuilt(self.shown, tool)


def ours_of(tool: Tool | None) -> Ours | Tool | None:
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
        return Ours(tool, bound.registered.model_copy(update=said), bound.declaration, bound.jurisdiction)
    if not isinstance(below, FunctionTool):
        return tool
    declaration = declaration_of(below.fn)
    if declaration is not None:
        return Ours(tool, below, declaration)
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
