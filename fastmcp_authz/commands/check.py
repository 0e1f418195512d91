"""`fastmcp-authz check`."""

from __future__ import annotations


async def check() -> int:
    """Look for what is declared and cannot be meant."""
    raise NotImplementedError
