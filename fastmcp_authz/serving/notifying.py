"""`notify_changed`: a handler that changed its caller's rights says so to the caller's client."""

from __future__ import annotations

from mcp_types import ToolListChangedNotification

from fastmcp_authz.serving.requests import current_context, request_key


async def notify_changed() -> None:
    """Tells the client of the request at hand that its list of tools has changed (MCP, `tools/list_changed`).

    For the function of a tool that has just granted its caller something, or taken it away. This very call goes on
    with the rights that it was admitted with; the client's next request is decided for afresh.

    Raises:
        RuntimeError: No client's request is being served here.
    """
    context = current_context()
    if context is None or request_key() is None:
        raise RuntimeError("notify_changed() tells the client of a request, and none is being served here.")
    await context.send_notification(ToolListChangedNotification())
