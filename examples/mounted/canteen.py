"""The canteen's server, which has no `Authz` either."""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP

from fastmcp_authz import authorized_tool

mcp = FastMCP("canteen")


@mcp.tool
@authorized_tool(authorization="employee")
def todays_menu() -> dict[str, Any]:
    """What there is to eat today.

    @rbs type dish = { name: String, price_cents: Integer, ?margin_cents: Integer @requires(:lead) }
    @rbs type output = { dishes: Array[dish] }
    """
    return {"dishes": [{"name": "Lentil soup", "price_cents": 420, "margin_cents": 35}]}
