"""A shop's FastAPI routes as gated tools: those that are declared here, and no others.

    fastmcp run examples/openapi/server.py --transport http

Each function is a stub: its name is that of a route, its docstring the contract. The route does the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fastmcp import FastMCP
from fastmcp.server.auth import StaticTokenVerifier

from fastmcp_authz import Authz, Request
from routes import Routes
from shop import app as shop


@dataclass(frozen=True)
class Caller:
    scopes: frozenset[str]

    def requires(self, flag: str) -> bool:
        """Answers `authorization="flag"` and `@requires(:flag)`."""
        return flag in self.scopes


SCOPES = {"seller": ["sell"], "support": ["sell", "support"], "manager": ["sell", "support", "accounts"]}
TOKENS = {f"token-of-{who}": {"client_id": who, "scopes": scopes} for who, scopes in SCOPES.items()}


def caller_of(request: Request) -> Caller | None:
    """Who is asking: whoever has a verified token, with its scopes. None is nobody."""
    return None if request.access_token is None else Caller(frozenset(request.access_token.scopes))


mcp = FastMCP("shop", auth=StaticTokenVerifier(TOKENS))
authz = Authz(
    mcp,
    context=caller_of,
    missing_predicate="deny",
    personas={who: partial(Caller, frozenset(scopes)) for who, scopes in SCOPES.items()},
)
routes = Routes(shop)


@authz.tool(authorization="sell")
@routes.function
def list_orders() -> None:
    """List orders, newest first.

    @rbs import order
    @rbs type output = { result: Array[order] } | error
    #: (
    #:   ?status: status,
    #:   ?customer: String   @requires(:support) @min(1) @desc(The whole name),
    #:   ?limit: Integer     @min(1) @max(50) @default(20)
    #: ) -> output
    """


@authz.tool(authorization="sell")
@routes.function
def get_order() -> None:
    """Look at one order.

    @rbs import order
    @rbs type output = order | error
    #: (order_id: Integer) -> output
    """


@authz.tool(authorization="support")
@routes.function
def refund_order() -> None:
    """Give money back for an order.

    @rbs import order
    @rbs type output = order | error
    #: (
    #:   order_id: Integer,
    #:   cents: Integer            @min(1),
    #:   reason: String            @min(3),
    #:   ?without_return: bool     @requires(:accounts) @desc(The goods need not come back)
    #: ) -> output
    """


if __name__ == "__main__":
    mcp.run(transport="http")
