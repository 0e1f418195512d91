"""FastMCP's transport in memory, whose requests are sent in a role."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp.client.transports import FastMCPTransport
from mcp import ClientSession

from fastmcp_authz.serving.installing import Server
from fastmcp_authz.testing.standing_in import Role, playing


class RoleTransport(FastMCPTransport):
    """Connects to a server as somebody.

    A server runs each request in the context variables of whoever sent it. So it is at sending that the role is put on,
    whoever it is that sends: a test may use the client itself, with another caller open beside this one.
    """

    def __init__(self, server: Server, role: Role) -> None:
        super().__init__(server)
        self._role = role

    @asynccontextmanager
    async def connect_session(self, **options: Any) -> AsyncGenerator[ClientSession, None]:
        """As that of FastMCP."""
        async with super().connect_session(**options) as session:
            send = session.send_request

            async def send_in_role(*args: Any, **kwargs: Any) -> Any:
                with playing(self._role):
                    return await send(*args, **kwargs)

            session.send_request = send_in_role  # type: ignore[method-assign]
            yield session
