"""`fastmcp-authz page`."""

from __future__ import annotations


async def page() -> int:
    """Write one self-contained page that shows what each persona sees."""
    raise NotImplementedError
