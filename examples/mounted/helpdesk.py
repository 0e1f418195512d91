"""The help desk's server. It has no `Authz`: whoever mounts it decides, and alone it serves nobody."""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP

from fastmcp_authz import authorized_tool

mcp = FastMCP("helpdesk")

TICKETS = [{"id": 1, "title": "No light in 1.04", "reporter": "bob", "cost": 40}]


@mcp.tool
@authorized_tool(authorization="employee")
def list_tickets(reporter: str | None = None) -> dict[str, Any]:
    """List the tickets that are open.

    @rbs type ticket = {
      id: Integer,
      title: String,
      ?reporter: String   @requires(:lead),
      ?cost: Integer      @requires(:lead)
    }
    @rbs type output = { tickets: Array[ticket] }
    #: (?reporter: String @requires(:lead) @desc(Only theirs)) -> output
    """
    return {"tickets": [ticket for ticket in TICKETS if reporter in (None, ticket["reporter"])]}


@mcp.tool
@authorized_tool(authorization="lead")
def close_ticket(id: int) -> dict[str, Any]:
    """Close a ticket.

    @rbs type output = { open: Integer }
    #: (id: Integer @min(1)) -> output
    """
    return {"open": len([ticket for ticket in TICKETS if ticket["id"] != id])}
