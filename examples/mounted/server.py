"""Several servers under one: a company's, with those of its help desk, its canteen and its payroll office.

    fastmcp run examples/mounted/server.py --transport http

The one `Authz` here decides for all that is mounted, but for payroll, which brings its own: the nearest decides.
"""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP
from fastmcp.server.auth import StaticTokenVerifier

import canteen
import helpdesk
import payroll
from fastmcp_authz import Authz
from staff import PERSONAS, TOKENS, employee_of

mcp = FastMCP("company", auth=StaticTokenVerifier(TOKENS))
authz = Authz(mcp, context=employee_of, missing_predicate="deny", personas=PERSONAS)

mcp.mount(helpdesk.mcp, namespace="helpdesk")
mcp.mount(canteen.mcp, namespace="canteen")
mcp.mount(payroll.mcp, namespace="payroll")


@authz.tool(authorization="employee")
def find_colleague(name: str) -> dict[str, Any]:
    """Find somebody who works here.

    @rbs type colleague = { name: String, room: String, ?mobile: String @requires(:lead) }
    @rbs type output = { found: Array[colleague] }
    #: (name: String @min(2)) -> output
    """
    everybody = [
        {"name": "Ann Archer", "room": "2.11", "mobile": "020 7946 0111"},
        {"name": "Bob Butler", "room": "1.04", "mobile": "020 7946 0112"},
    ]
    return {"found": [each for each in everybody if name.lower() in each["name"].lower()]}


if __name__ == "__main__":
    mcp.run(transport="http")
