"""The payroll office's server. It keeps its own register of who may do what, and no role in the company counts here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from fastmcp import FastMCP

from fastmcp_authz import Authz, Request
from staff import name_of


@dataclass(frozen=True)
class Clerk:
    powers: frozenset[str]

    def requires(self, flag: str) -> bool:
        """Answers `authorization="flag"` and `@requires(:flag)`."""
        return flag in self.powers


REGISTER = {
    "kim": Clerk(frozenset({"look_up_pay"})),
    "pat": Clerk(frozenset({"look_up_pay", "pay_out"})),
}


def clerk_of(request: Request) -> Clerk | None:
    return REGISTER.get(name_of(request))


mcp = FastMCP("payroll")
authz = Authz(
    mcp,
    context=clerk_of,
    missing_predicate="deny",
    personas={name: partial(REGISTER.__getitem__, name) for name in REGISTER},
)


@authz.tool(authorization="look_up_pay")
def look_up_pay(employee: str) -> dict[str, Any]:
    """Look up what somebody earns.

    @rbs type output = { employee: String, salary: Integer, ?account: String @requires(:pay_out) }
    #: (employee: String @min(1)) -> output
    """
    return {"employee": employee, "salary": 41000, "account": "GB33 BUKB 2020 1555 5555 55"}
