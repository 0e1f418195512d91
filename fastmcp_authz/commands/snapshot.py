"""`fastmcp-authz snapshot`."""

from __future__ import annotations


async def snapshot() -> int:
    """Record which predicates guard what, or check that nothing of it has changed."""
    raise NotImplementedError
