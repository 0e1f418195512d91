"""The one set of tools that every door serves, and the two callers who come through it.

Whatever a caller may lack is named `covert...` or holds the word SECRET, so that a leak shows in any text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool

from fastmcp_authz.callers.context import Request
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool

NOBODY, MANAGER = "nobody-special", "manager"
MARKS = ("covert", "secret")
"""In each name and text that is not for everyone; in lower case."""

Shown = dict[str, tuple[set[str], set[str]]]
"""Tools by name: the property names of the input schema, and those of the output schema at any depth."""

TO_NOBODY: Shown = {
    "find": ({"query"}, {"kind", "echo"}),
    "report": (set(), {"edition"}),
}
TO_MANAGER: Shown = {
    "find": ({"query", "covert_key"}, {"kind", "echo", "covert_note", "covert_path"}),
    "report": (set(), {"edition", "covert_total"}),
    "covert_vault": ({"item"}, {"covert_item"}),
}
BARE: Shown = {
    "find": ({"query"}, set()),
    "report": (set(), set()),
    "covert_vault": ({"item"}, set()),
}
"""On a server that nothing protects: names and what is for everyone, and nothing runs."""

ran: list[str] = []
"""The functions that ran in this process."""


def find(query: str = "", covert_key: str = "") -> dict[str, Any]:
    """Find people.

    Args:
        query: What to look for.
        covert_key: The SECRET key.

    @rbs type page = { kind: "page", echo: String, ?covert_note: String @requires(:manager) @desc(A SECRET note) }
    @rbs type covert_file = { kind: "covert_file", covert_path: String @desc(A SECRET path) }
    @rbs type output = page | covert_file @requires(:manager)

    #: (?query: String, ?covert_key: String @requires(:manager)) -> output
    """
    ran.append("find")
    if query == "file":
        return {"kind": "covert_file", "covert_path": "/SECRET"}
    return {"kind": "page", "echo": query, "covert_note": f"SECRET {covert_key}"}


def covert_vault(item: str = "") -> dict[str, Any]:
    """Find what lies in the vault.

    @rbs type output = { covert_item: String @desc(The SECRET item) }
    #: (?item: String) -> output
    """
    ran.append("covert_vault")
    return {"covert_item": f"SECRET {item}"}


def report() -> dict[str, Any]:
    """Find the report.

    @rbs type output = { edition: Integer }
    """
    ran.append("report")
    return {"edition": 1}


def covert_report() -> dict[str, Any]:
    """Find the SECRET report.

    @rbs type output = { edition: Integer, covert_total: Integer }
    """
    ran.append("covert_report")
    return {"edition": 2, "covert_total": 3}


def tools() -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    """Fresh guards, each with its registration: the report has an older version for everyone, a newer one that is
    hidden."""
    hidden = authorized_tool(gates=[("requires", "manager")])
    return [
        (authorized_tool(find), {}),
        (hidden(covert_vault), {}),
        (authorized_tool(report), {"name": "report", "version": "1"}),
        (hidden(covert_report), {"name": "report", "version": "2"}),
    ]


def tool_objects() -> list[Tool]:
    return [Tool.from_function(guard, **options) for guard, options in tools()]


def register(server: FastMCP[Any]) -> None:
    for guard, options in tools():
        server.tool(guard, **options)


_caller: ContextVar[str | None] = ContextVar("caller", default=None)


@contextmanager
def calling_as(caller: str) -> Iterator[None]:
    """Calls in this process come from `caller`."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


class Rights:
    """The server context: a caller holds the flag of that name."""

    def __init__(self, caller: str | None) -> None:
        self.caller = caller

    def requires(self, flag: str) -> bool:
        return self.caller == flag


def rights(request: Request) -> Rights:
    """Who calls: a token or a header over HTTP, a contextvar in memory, the environment over stdio."""
    if request.access_token is not None:
        return Rights(request.access_token.client_id)
    return Rights(request.headers.get("x-caller") or _caller.get() or os.environ.get("ROUTES_CALLER"))


def everyone_is_manager(_: Request) -> Rights:
    return Rights(MANAGER)


def nobody_is(_: Request) -> None:
    return None


def bare(name: str = "bare") -> FastMCP[Any]:
    """A server with the tools that nothing protects."""
    server: FastMCP[Any] = FastMCP(name)
    register(server)
    return server


def protected(name: str = "protected", **options: Any) -> FastMCP[Any]:
    """A server that `Authz` protects, without tools as yet."""
    server: FastMCP[Any] = FastMCP(name, **options)
    Authz(server, context=rights)
    return server
