"""`fastmcp-authz scaffold`."""

from __future__ import annotations


async def scaffold() -> int:
    """Propose annotations for tools that have none."""
    raise NotImplementedError
