"""Who calls, for handlers and for FastMCP's own checks: `current_caller`, `Caller`, `gate_check`."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.dependencies import Depends
from fastmcp.exceptions import McpError
from fastmcp.server.auth import AuthContext, StaticTokenVerifier, require_scopes
from fastmcp.server.middleware import AuthMiddleware
from fastmcp.utilities.tests import asgi_server

from fastmcp_authz import Authz, AuthzError, Caller, authorized_tool, current_caller, gate_check
from tests.serving.people import ERAS, People, call, calling_as, tools_of

OUTPUT = """
    @rbs type row = { name: String, ?cost: Float @requires(:billing), tags: Hash[String, { on: bool }] }
    @rbs type output = { rows: Array[row], kind: "a" } | { kind: "b", why: String, ?more: untyped } @requires(:admin)
"""


def told_of(caller: Caller) -> dict[str, Any]:
    paths = ("rows", "rows.name", "rows.cost", "rows.tags.x.on", "rows.tags.x.off", "why", "more.x.y", "kind", "absent")
    return {
        "context": caller.context.flags,
        "name": caller.name,
        "domain": caller.domain,
        "can": caller.can("admin"),
        "has": caller.has("requires", "billing"),
        "inputs": sorted(caller.inputs),
        "shows": [path for path in paths if caller.shows(path)],
    }


def server(*, is_async: bool) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People())

    def look(caller: Caller = Depends(current_caller), extra: str = "") -> dict[str, Any]:
        SEEN.append(told_of(caller))
        assert told_of(current_caller()) == told_of(caller)
        return {"rows": [], "kind": "a"}

    async def look_async(caller: Caller = Depends(current_caller), extra: str = "") -> dict[str, Any]:
        SEEN.append(told_of(caller))
        assert await caller.can_async("admin") == caller.can("admin")
        assert await caller.has_async("feature", "sms") == ("sms" in caller.context.flags)
        return await asyncio.create_task(in_a_task(caller))

    async def in_a_task(caller: Caller) -> dict[str, Any]:
        assert told_of(current_caller()) == told_of(caller)
        return {"rows": [], "kind": "a"}

    fn = look_async if is_async else look
    fn.__doc__ = f"{OUTPUT}\n    #: (?extra: String @requires(:admin)) -> output"
    authz.tool("look")(fn)
    return mcp


SEEN: list[dict[str, Any]] = []


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_handler_knows_who_calls_and_what_is_theirs(mode: str, is_async: bool) -> None:
    mcp = server(is_async=is_async)
    SEEN.clear()
    for flags in ((), ("billing",), ("admin", "billing")):
        result = await call(mcp, "look", {}, *flags, mode=mode)
        assert result.structured_content == {"rows": [], "kind": "a"}
    nobody, billing, admin = SEEN
    assert nobody == {
        "context": [],
        "name": None,
        "domain": "default",
        "can": False,
        "has": False,
        "inputs": [],
        "shows": ["rows", "rows.name", "rows.tags.x.on", "kind"],
    }
    assert billing == {
        **nobody,
        "context": ["billing"],
        "has": True,
        "shows": ["rows", "rows.name", "rows.cost", "rows.tags.x.on", "kind"],
    }
    assert admin == {
        **billing,
        "context": ["admin", "billing"],
        "can": True,
        "inputs": ["extra"],
        "shows": ["rows", "rows.name", "rows.cost", "rows.tags.x.on", "why", "more.x.y", "kind"],
    }


async def test_outside_of_a_decorated_tool_nobody_is_calling() -> None:
    with pytest.raises(AuthzError, match="where no decorated tool is running"):
        current_caller()
    mcp = server(is_async=True)

    @mcp.tool
    def plain() -> str:
        with pytest.raises(AuthzError):
            current_caller()
        return "nobody"

    authz_tool = authorized_tool()

    @mcp.tool
    @authz_tool
    async def outer() -> dict[str, Any]:
        """
        @rbs type output = { inner: untyped }
        """
        return {"inner": (await mcp.call_tool("plain")).structured_content}

    assert (await call(mcp, "outer")).structured_content == {"inner": {"result": "nobody"}}


async def test_a_reference_in_the_output_is_followed() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People())
    found: list[bool] = []

    @authz.tool
    def tree() -> dict[str, Any]:
        """
        @rbs type node = {
          value: Integer, ?kids: Array[node], ?cost: Float @requires(:billing), pair: [String, { x: bool }]
        }
        @rbs type output = { left: node, right: node }
        """
        caller = current_caller()
        paths = ("left.kids.kids.value", "right.kids.cost", "left.pair.x", "left.kids.kids.absent")
        found[:] = [caller.shows(path) for path in paths]
        return {}

    await call(mcp, "tree", {})
    assert found == [True, False, True, False]
    await call(mcp, "tree", {}, "billing")
    assert found == [True, True, True, False]


def guarded_server(context: Any = None) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=context or People())

    @mcp.prompt(auth=gate_check("requires", "writer"))
    def draft() -> str:
        return "text"

    @mcp.resource("data://secret", auth=gate_check("feature", "reader"))
    def secret() -> str:
        return "data"

    @mcp.tool(auth=gate_check("requires", "tool"))
    def plain() -> str:
        return "plain"

    return mcp


@pytest.mark.parametrize("mode", ERAS)
async def test_a_check_of_fastmcps_asks_our_predicates(mode: str) -> None:
    mcp = guarded_server()
    for flags, prompts, resources, tools in (
        ((), [], [], []),
        (("writer",), ["draft"], [], []),
        (("reader",), [], ["secret"], []),
        (("tool", "writer"), ["draft"], [], ["plain"]),
    ):
        with calling_as(*flags):
            async with Client(mcp, mode=mode) as client:
                assert [prompt.name for prompt in await client.list_prompts()] == prompts
                assert [resource.name for resource in await client.list_resources()] == resources
                assert [tool.name for tool in await client.list_tools()] == tools
                if prompts:
                    assert (await client.get_prompt("draft")).messages
                else:
                    with pytest.raises(McpError):
                        await client.get_prompt("draft")
                if not resources:
                    with pytest.raises(McpError):
                        await client.read_resource("data://secret")
                assert (await client.call_tool_mcp("plain", {})).is_error == (not tools)


async def test_a_check_that_nobody_answers_is_a_no(caplog: pytest.LogCaptureFixture) -> None:
    unprotected: FastMCP[Any] = FastMCP("x")
    unprotected.tool(lambda: "", name="plain", auth=gate_check("requires", "tool"))
    async with Client(unprotected) as client:
        assert await client.list_tools() == []
    assert 'requires("tool") is a no: there is no Authz on the way to what it guards.' in caplog.text

    def broken(_: object) -> Any:
        raise RuntimeError("SECRET")

    mcp = guarded_server(broken)
    async with Client(mcp) as client:
        assert await client.list_prompts() == []
        with pytest.raises(McpError) as error:
            await client.get_prompt("draft")
        assert "SECRET" not in str(error.value)

    class Raises:
        def requires(self, _: str) -> bool:
            raise RuntimeError("SECRET")

    async with Client(guarded_server(lambda _: Raises())) as client:
        assert await client.list_prompts() == []


async def test_the_check_takes_part_in_no_request_but_its_own() -> None:
    check = gate_check("requires", "x")
    context: Any = SimpleNamespace(token=None, component=None)
    assert await check(AuthContext(token=None, component=context)) is False


@pytest.mark.parametrize("mode", ERAS)
async def test_fastmcps_own_gates_stand_beside_ours(mode: str) -> None:
    mcp: FastMCP[Any] = FastMCP("x", middleware=[AuthMiddleware(auth=require_scopes("use"))])
    mcp.auth = StaticTokenVerifier(
        {
            "none": {"client_id": "none", "scopes": []},
            "use": {"client_id": "use", "scopes": ["use"]},
            "both": {"client_id": "both", "scopes": ["use", "more"]},
        }
    )
    authz = Authz(mcp, context=People())

    @authz.tool(gates=[("requires", "ours")], auth=require_scopes("more"))
    def act() -> dict[str, Any]:
        """
        @rbs type output = { done: bool }
        """
        return {"done": True}

    async with asgi_server(mcp) as running:
        for token, person, there in (
            ("none", "ours", False),
            ("use", "ours", False),
            ("both", "", False),
            ("both", "ours", True),
        ):
            async with running.client(auth=token, headers={"x-person": person}, mode=mode) as client:
                assert [tool.name for tool in await client.list_tools()] == (["act"] if there else [])
                assert (await client.call_tool_mcp("act", {})).is_error != there


async def test_no_argument_of_a_client_stands_in_for_the_caller() -> None:
    mcp = server(is_async=False)
    assert await tools_of(mcp, "admin") == {"look": {"extra"}}
    assert (await call(mcp, "look", {"caller": {"can": True}}, "admin")).is_error
