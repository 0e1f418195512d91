"""`fastmcp-authz diff`."""

from __future__ import annotations


async def diff() -> int:
    """Show who gained or lost what between two snapshots."""
    raise NotImplementedError
