"""What holds the doors, taken out, to see that the matrix notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fastmcp.server.dependencies import transform_context_annotations
from fastmcp.tools import FunctionTool, Tool, ToolResult

from fastmcp_authz.serving import guard
from fastmcp_authz.serving.tool import AuthorizedTool
from fastmcp_authz.serving.transform import AuthzTransform

SWITCHED_OFF = "ROUTES_SWITCHED_OFF"
"""Set in the environment, it takes enforcement out of the server in a process of its own, too."""


def switch_off(patch: pytest.MonkeyPatch) -> None:
    """Whoever runs an `AuthorizedTool` runs the author's function as it is: nobody decides, checks or prunes."""

    async def run(self: AuthorizedTool, arguments: dict[str, Any]) -> ToolResult:
        registered: FunctionTool = self.binding.registered
        original = transform_context_annotations(self.binding.declaration.original)
        return await registered.model_copy(update={"fn": original}).run(arguments)

    patch.setattr(AuthorizedTool, "run", run)
    patch.setenv(SWITCHED_OFF, "1")


def unguard(patch: pytest.MonkeyPatch) -> None:
    """A guarded function runs for whoever calls it, and nothing stands before it."""

    async def list_tools(self: AuthzTransform, tools: Sequence[Tool]) -> Sequence[Tool]:
        return tools

    async def get_tool(self: AuthzTransform, name: str, call_next: Any, *, version: Any = None) -> Tool | None:
        found: Tool | None = await call_next(name, version=version)
        return found

    patch.setattr(AuthzTransform, "list_tools", list_tools)
    patch.setattr(AuthzTransform, "get_tool", get_tool)
    patch.setattr(guard, "require_admission", lambda _: None)
