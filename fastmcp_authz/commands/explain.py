"""`fastmcp-authz explain`."""

from __future__ import annotations


async def explain() -> int:
    """Say why something is there for a persona, or why not."""
    raise NotImplementedError
