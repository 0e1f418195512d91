"""A `tools/call` without what a client does with its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types
from fastmcp import Client


async def unchecked_call(client: Client[Any], name: str, arguments: Mapping[str, Any]) -> mcp_types.CallToolResult:
    """The result as it comes over the wire, not checked against the listed schema."""
    request = mcp_types.CallToolRequest(params=mcp_types.CallToolRequestParams(name=name, arguments=dict(arguments)))
    return await client.session.send_request(request, mcp_types.CallToolResult)
