"""`fastmcp-authz config`."""

from __future__ import annotations


async def config() -> int:
    """Print the configuration that a client needs to use the server as a persona."""
    raise NotImplementedError
