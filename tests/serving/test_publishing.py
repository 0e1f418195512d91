"""A caller's `$defs` reach the wire, though FastMCP inlines references (SPEC section 2, "`$defs`")."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext

from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from fastmcp_authz.serving.middleware import AuthzMiddleware
from tests.serving.people import ERAS, People, calling_as


@authorized_tool
def shapes(first: dict[str, Any], second: dict[str, Any], size: int = 1) -> dict[str, Any]:
    """
    @rbs type point = { x: Integer, y: Integer, ?secret: String @requires(:admin) }
    @rbs type output = { from: point, to: point }
    #: (first: point, second: point, ?size: Integer @default_for(:size)) -> output
    """
    return {"from": first, "to": second}


def protected(**options: Any) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People(), **options)
    mcp.tool(shapes)
    return mcp


async def listed(mcp: FastMCP[Any], mode: str, *flags: str) -> dict[str, tuple[Any, Any]]:
    with calling_as(*flags):
        async with Client(mcp, mode=mode) as client:
            return {tool.name: (tool.input_schema, tool.output_schema) for tool in await client.list_tools()}


@pytest.mark.parametrize("mode", ERAS)
async def test_references_reach_the_wire_each_callers_own(mode: str) -> None:
    for flags in ((), ("admin",), ("size=3",)):
        ((given, result),) = (await listed(protected(), mode, *flags)).values()
        for schema in (given, result):
            assert set(schema["$defs"]) == {"point"}
            assert ("secret" in schema["$defs"]["point"]["properties"]) == ("admin" in flags)
        assert given["properties"]["first"] == {"$ref": "#/$defs/point"}
        assert given["properties"]["size"].get("default") == (3 if "size=3" in flags else None)


@pytest.mark.parametrize("mode", ERAS)
async def test_references_of_mounted_tools_reach_the_wire_too(mode: str) -> None:
    own = protected()
    covered: FastMCP[Any] = FastMCP("covered")
    covered.tool(shapes)
    parent: FastMCP[Any] = FastMCP("parent")
    Authz(parent, context=People())
    parent.mount(own, "own")
    parent.mount(covered, "covered")
    schemas = await listed(parent, mode)
    assert set(schemas) == {"own_shapes", "covered_shapes"}
    for given, result in schemas.values():
        assert "$defs" in given
        assert "$defs" in result


@pytest.mark.parametrize("mode", ERAS)
async def test_middleware_alone_keeps_references_from_the_second_message_on(mode: str) -> None:
    added: FastMCP[Any] = FastMCP("added")
    added.add_middleware(AuthzMiddleware(context=People()))  # inside the dereferencing
    given: FastMCP[Any] = FastMCP("given", middleware=[AuthzMiddleware(context=People())])
    for mcp in (added, given):
        mcp.tool(shapes)
        ((schema, _),) = (await listed(mcp, mode)).values()
        assert "$defs" in schema


@pytest.mark.parametrize("mode", ERAS)
async def test_refs_inline_leaves_fastmcps_way(mode: str) -> None:
    ((given, result),) = (await listed(protected(refs="inline"), mode)).values()
    assert "$defs" not in given
    assert "$ref" not in str(result)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_schema_that_somebody_changed_stays_as_they_left_it(mode: str) -> None:
    class Adds(Middleware):
        async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
            return [
                tool.model_copy(update={"parameters": {**tool.parameters, "x-added": True}})
                for tool in await call_next(context)
            ]

    mcp = protected()
    mcp.add_middleware(Adds())
    ((given, result),) = (await listed(mcp, mode)).values()
    assert given["x-added"] is True
    assert "$defs" in result


async def test_kept_views_are_not_changed_by_who_gets_them() -> None:
    mcp = protected()
    await listed(mcp, "auto")
    (tool,) = await mcp.list_tools(run_middleware=False)
    view = (await mcp.get_tool("shapes")).binding.declaration.contract.view(None)  # type: ignore[union-attr]
    assert tool.parameters == view.input_schema
    assert tool.parameters is not view.input_schema
