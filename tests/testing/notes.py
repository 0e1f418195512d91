"""A small server for the tests of what tests of servers use."""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP

from fastmcp_authz import Authz, Request, current_caller
from fastmcp_authz.testing import FakeContext


def notes(**options: Any) -> FastMCP[Any]:
    """Notes: some are found by whoever reads, some parts are an admin's, and one tool needs a feature too."""
    mcp: FastMCP[Any] = FastMCP("notes")
    given: dict[str, Any] = {"context": from_nowhere, "personas": PERSONAS, **options}
    authz = Authz(mcp, **given)

    @authz.tool(authorization="read")
    def find_notes(word: str, deleted: bool = False, limit: int = 10) -> dict[str, Any]:
        """Find notes.

        @rbs type note = { title: String, ?author: String @requires(:admin) }
        @rbs type output = { notes: Array[note], found_by: String }
        #: (word: String, ?deleted: bool @requires(:admin), ?limit: Integer @default_for(:limit)) -> output
        """
        if word == "crash":
            raise RuntimeError("no such index")
        if word == "broken":
            return {"notes": "none"}
        return {
            "notes": [{"title": word * limit, "author": "carol"}],
            "found_by": type(current_caller().context).__name__,
        }

    @authz.tool(authorization="read", gates=[("feature", "bin")])
    def empty_bin() -> dict[str, Any]:
        """@rbs type output = { deleted: Integer }"""
        return {"deleted": 3}

    @mcp.tool
    def ping(times: int = 1) -> dict[str, int]:
        """Answers."""
        return {"pong": 1 // times}

    return mcp


def from_nowhere(request: Request) -> Any:
    """The author's builder, which can do nothing without the request of a real client."""
    raise LookupError("there is no such person")


PERSONAS = {
    "reader": lambda: FakeContext(can=["read"]),
    "admin": lambda: FakeContext(can=["read", "admin"], feature=["bin"]),
}
