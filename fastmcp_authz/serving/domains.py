"""Domains over HTTP: one app that answers `/mcp` and `/mcp/operator`, each with tools of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container

from starlette.types import ASGIApp, Receive, Scope, Send

from fastmcp_authz.serving.requests import DOMAIN_IN_SCOPE

Known = Callable[[], Awaitable[Container[str]]]
"""The domains that there are. Asked again where a path names another: tools may come later."""


class DomainPaths:
    """ASGI middleware that sends `/mcp/operator` where `/mcp` goes, and notes `operator` in the scope.

    The path is all that says it: no header, and nothing that was said earlier in a session. What is no domain stays as
    it is, and is answered as FastMCP's app answers any path that it does not have.
    """

    def __init__(self, app: ASGIApp, path: str, default: str, known: Known) -> None:
        """
        Args:
            app: FastMCP's app, or what stands before it.
            path: Where the default domain is.
            default: The name of that.
            known: The domains that there are.
        """
        self._app = app
        self._path = "/" + path.strip("/")
        self._default = default
        self._known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection."""
        if scope["type"] == "http":
            scope = await self._routed(scope)
        await self._app(scope, receive, send)

    async def _routed(self, scope: Scope) -> Scope:
        path, root = scope["path"], scope.get("root_path", "")
        outside = root if path.startswith(root + "/") else ""  # a proxy may have taken it away
        base = outside + self._path.rstrip("/")
        if path.rstrip("/") == base:
            return {**scope, DOMAIN_IN_SCOPE: self._default}
        if not path.startswith(base + "/"):
            return scope
        named = path[len(base) + 1 :].removesuffix("/")
        if not named or "/" in named or named not in await self._known():
            return scope
        inside = outside + self._path
        return {**scope, "path": inside, "raw_path": inside.encode(), DOMAIN_IN_SCOPE: named}
