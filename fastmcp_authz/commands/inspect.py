"""`fastmcp-authz inspect`."""

from __future__ import annotations


async def inspect() -> int:
    """Start the server and the MCP Inspector as a persona."""
    raise NotImplementedError
