"""What FastMCP says about the request that is being served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import copy_context
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.server.dependencies import get_access_token, get_context, get_http_headers, get_server

from fastmcp_authz.callers.context import Request


def current_context() -> Context | None:
    """The FastMCP context that is current, if a server is at work here."""
    try:
        return get_context()
    except RuntimeError:
        return None


def current_server() -> FastMCP[Any] | None:
    """The server that is at work here, if one is. A background task's worker has one, and not always a context."""
    try:
        return get_server()
    except RuntimeError:
        return None


def request_key() -> object | None:
    """An object that is the current wire request's alone, in both protocol eras; `None` where there is no request.

    It is FastMCP's session object: a new one for each request, the same one in nested calls and mounted servers.
    """
    return key_of(current_context())


def key_of(context: Context | None) -> object | None:
    """The same for the request of a FastMCP context that is current."""
    wire = context.request_context if context is not None else None
    return wire.session if wire is not None else None


def is_of_a_session() -> bool:
    """Whether the current request was sent over a session without HTTP: in memory, or over stdio.

    That of a client in memory is, wherever the client is used. A background task is no such request.
    """
    context = current_context()
    wire = context.request_context if context is not None and not context.is_background_task else None
    return wire is not None and wire.request is None


DOMAIN_IN_SCOPE = "fastmcp_authz.domain"
"""Where an ASGI scope says which domain its path names."""


def current_request(domain: str) -> Request:
    """What a context builder is given. In a background task: the token and headers of whoever submitted it.

    `domain` is the one that is served where the path of the request names none.
    """
    context = current_context()
    made_in = copy_context()
    return Request.looked_up_when_read(
        # A copy, since a context runs one thing at a time.
        lambda name: made_in.copy().run(_LOOKED_UP[name]),
        transport=context.transport if context is not None else None,
        domain=_served_domain(context, domain),
    )


def lenient_by_server() -> bool:
    """Whether the server that is at work reads `"10"` as `10`: FastMCP's own `strict_input_validation`."""
    server = current_server()
    return server is not None and not server.strict_input_validation


def _served_domain(context: Context | None, otherwise: str) -> str | None:
    """The domain in question; `None` in a background task, which was admitted when it was submitted."""
    if context is None:
        return otherwise if current_server() is None else None
    if context.is_background_task:
        return None
    # Not `get_http_request()`: a client in memory would inherit the path of the request that it is used in.
    wire = context.request_context
    http = wire.request if wire is not None else None
    named = http.scope.get(DOMAIN_IN_SCOPE) if http is not None else None
    return named if isinstance(named, str) else otherwise


def _session_id() -> str | None:
    context = current_context()
    try:
        return context.session_id if context is not None else None
    except RuntimeError:  # a call through the Python interface
        return None


_LOOKED_UP: Mapping[str, Callable[[], Any]] = {
    "access_token": get_access_token,
    "headers": get_http_headers,
    "session_id": _session_id,
}
