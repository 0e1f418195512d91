"""The token without which a guarded function does not run inside a server (SPEC section 6)."""

from __future__ import annotations

import inspect
import logging
from contextvars import ContextVar
from typing import Any, NamedTuple

from fastmcp import Context, FastMCP
from fastmcp.exceptions import AuthorizationError

from fastmcp_authz.serving.requests import current_context, current_server

logger = logging.getLogger("fastmcp_authz")


ADAPTERS = "fastmcp_authz.serving.running"
"""The module whose functions call the admitted one."""
_LOOPS = ("asyncio.events", "asyncio.base_events", "asyncio.runners", "anyio._backends.", "uvloop")
"""Where the frames of a task end."""


class NotAdmittedError(AuthorizationError):
    """A guarded function was about to run for somebody whom nobody admitted. Names nothing: it may reach a client."""

    def __init__(self) -> None:
        super().__init__("This is not available here.")


class _Admission(NamedTuple):
    context: Context | None
    """The FastMCP context of the admitted run; `None` in a background task that has none."""
    server: FastMCP[Any] | None
    """Its server: what tells one worker from another that it has started."""


# Kept in the library, not in user modules: FileSystemProvider imports those a second time, under other names.
_admission: ContextVar[_Admission | None] = ContextVar("fastmcp_authz_admission", default=None)


class admitted:
    """Lets guarded functions run in what is called from here, under the current FastMCP context alone."""

    def __enter__(self) -> None:
        self._token = _admission.set(_Admission(current_context(), current_server()))

    def __exit__(self, *_: object) -> None:
        _admission.reset(self._token)


def require_admission(name: str) -> None:
    """Passes plain Python calls outside a server, and those of the very handler that was admitted.

    "Some handler is running" would not do: an admitted handler that calls another, unprotected server, through its
    Python interface or an in-memory client, would run whatever is guarded there. Each such call has a context of its
    own, which is not the admitted one. A tool object that the handler takes from somewhere and runs has not: that
    FastMCP stands between the handler and the function is to be seen on the stack alone.

    A thread or a task that was started without the context of the request looks like plain Python, unless FastMCP
    stands between it and the function.

    Raises:
        NotAdmittedError: A server calls the function, and the library has not admitted the caller.
    """
    context, server = current_context(), current_server()
    if context is None and server is None and not _by_fastmcp():
        return
    admission = _admission.get()
    if admission is not None and admission.context is context and admission.server is server and not _by_fastmcp():
        return
    logger.error(
        "%s was about to run for a caller that nobody admitted, and did not. Install Authz on the server that serves "
        "it, or on one that it is mounted on: Authz(mcp, context=...).",
        name,
    )
    raise NotAdmittedError


def _by_fastmcp() -> bool:
    """Whether FastMCP called what is running, on this side of the function that was admitted, in this task.

    Below a task stands the event loop, and below that whoever runs it: `mcp.run()`, say, which calls nothing of this.
    """
    frame = inspect.currentframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == ADAPTERS or module.startswith(_LOOPS):
            return False
        if module.startswith("fastmcp."):
            return True
        frame = frame.f_back
    return False
