"""A handler that changes its caller's rights tells that caller's client, and nobody else's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mcp_types
import pytest
from fastmcp import Client, FastMCP

from fastmcp_authz import Authz, authorized_tool, notify_changed
from tests.serving.people import ERAS, tools_of

GRANTED: set[str] = set()


@authorized_tool
async def grant(flag: str) -> dict[str, Any]:
    """
    @rbs type output = { ok: bool }
    #: (flag: String) -> output
    """
    GRANTED.add(flag)
    await notify_changed()
    return {"ok": True}


@authorized_tool(authorization="comms")
def send_sms() -> dict[str, Any]:
    """@rbs type output = {}"""
    return {}


@pytest.mark.parametrize("mode", ERAS)
async def test_the_client_of_the_call_is_told_and_then_sees_the_new_tools(mode: str) -> None:
    GRANTED.clear()
    mcp: FastMCP[Any] = FastMCP("granting")
    mcp.tool(grant)
    mcp.tool(send_sms)
    Authz(mcp, context=lambda _: SimpleNamespace(requires=lambda flag: flag in GRANTED))
    heard: dict[str, list[str]] = {"caller": [], "other": []}

    def listening(who: str) -> Any:
        async def hear(message: Any) -> None:
            if isinstance(message, mcp_types.ToolListChangedNotification):
                heard[who].append(message.method)

        return hear

    async with (
        Client(mcp, mode=mode, message_handler=listening("caller")) as client,
        Client(mcp, mode=mode, message_handler=listening("other")) as other,
    ):
        assert [tool.name for tool in await client.list_tools()] == ["grant"]
        await client.call_tool("grant", {"flag": "comms"})
        assert [tool.name for tool in await client.list_tools()] == ["grant", "send_sms"]
        await other.list_tools()
    assert heard == {"caller": ["notifications/tools/list_changed"], "other": []}


async def test_outside_of_a_request_there_is_nobody_to_tell() -> None:
    with pytest.raises(RuntimeError, match="none is being served here"):
        await notify_changed()
    assert await tools_of(FastMCP("x")) == {}
