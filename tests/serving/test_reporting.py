"""`Authz.report`: what a caller's tools weigh, without a request."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools.tool_transform import ToolTransformConfig

from fastmcp_authz import Authz, Request, authorized_tool
from tests.serving.people import People, Person, calling_as


def find(text: str = "", near: Any = None, size: int = 1) -> dict[str, Any]:
    """Find it.

    @rbs type output = { found: String }
    #: (
    #:   ?text: String,
    #:   ?near: String | Integer @requires(:admin),
    #:   ?size: Integer @default(1) @default_for(:size)
    #: ) -> output
    """
    return {"found": text}


def person(*flags: str) -> Person:
    with calling_as(*flags):
        return Person(Request())


def served() -> tuple[FastMCP[Any], Authz]:
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People())
    authz.tool("find")(find)
    authz.tool("guarded", gates=[("requires", "admin")])(find)
    authz.tool("elsewhere", domains=["other"])(find)
    mcp.tool(lambda: "", name="plain")
    return mcp, authz


@pytest.mark.parametrize("flags", [(), ("admin",), ("admin", "size=7")])
async def test_it_measures_what_a_client_would_be_listed(flags: tuple[str, ...]) -> None:
    mcp, authz = served()
    report = await authz.report(person(*flags))
    with calling_as(*flags):
        async with Client(mcp) as client:
            listed = {tool.name: tool for tool in await client.list_tools()}
    assert [tool.name for tool in report.tools] == list(listed)
    for tool in report.tools:
        assert tool.size == len(listed[tool.name].model_dump_json(by_alias=True, exclude_none=True).encode())
        assert tool.tokens == -(-tool.size // 4)
    counts = {tool.name: (tool.input.optional, tool.input.unions) for tool in report.tools}
    seen = (3, 1) if flags else (2, 0)
    assert counts == {"find": seen, "plain": (0, 0)} | ({"guarded": seen} if flags else {})
    assert report.size == sum(tool.size for tool in report.tools)
    assert report.tokens == sum(tool.tokens for tool in report.tools)


async def test_it_takes_a_domain_and_follows_mounts_and_renames() -> None:
    mcp, authz = served()
    assert [tool.name for tool in (await authz.report(person(), domain="other")).tools] == ["elsewhere", "plain"]
    child: FastMCP[Any] = FastMCP("child")
    child.tool(authorized_tool(gates=[("requires", "admin")])(find), name="inner")
    own, _ = served()
    mcp.mount(child, "ns")
    mcp.mount(own, "own")
    mcp.add_transform(ToolTransform({"find": ToolTransformConfig(name="seek")}))
    assert [tool.name for tool in (await authz.report(person())).tools] == ["seek", "plain", "own_plain"]
    names = [tool.name for tool in (await authz.report(person("admin"))).tools]
    assert names == ["seek", "guarded", "plain", "ns_inner", "own_plain"]


async def test_it_says_what_is_more_than_a_provider_takes() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People())
    deep = "{ a: " * 12 + "String" + " }" * 12

    def nested(value: Any) -> dict[str, Any]:
        return {"ok": True}

    nested.__doc__ = f"@rbs type output = {{ ok: bool }}\n\n#: (value: {deep}) -> output"
    authz.tool("nested")(nested)
    for number in range(24):
        authz.tool(f"find_{number}")(find)
    report = await authz.report(person("admin"))
    assert [tool.beyond for tool in report.tools if tool.beyond] == [("openai: 13 levels of objects, at most 10",)]
    assert report.beyond == (
        "anthropic: 72 optional parameters, at most 24",
        "anthropic: 24 unions, at most 16",
        "anthropic: 25 strict tools, at most 20",
    )
    rows = str(report).splitlines()
    assert rows[0].split() == ["tool", "bytes", "tokens", "optional", "unions"]
    assert rows[1].split()[0] == "nested"
    assert rows[2] == "  openai: 13 levels of objects, at most 10"
    assert rows[3].split() == ["find_0", str(report.tools[1].size), str(report.tools[1].tokens), "3", "1"]
    assert rows[-4].split() == ["all", f"{report.size:,}", f"{report.tokens:,}"]
    assert rows[-3:] == [f"  {line}" for line in report.beyond]


async def test_a_report_runs_the_producers_and_hides_what_breaks() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People(), producers=[lambda made: made.tool("made")(find)])
    assert [tool.name for tool in (await authz.report(person())).tools] == ["made"]
    assert [tool.name for tool in (await authz.report(None)).tools] == ["made"], "nobody has what everybody has"


async def test_what_is_disabled_weighs_nothing() -> None:
    mcp, authz = served()
    mcp.disable(names={"find", "plain"})
    report = await authz.report(person("admin"))
    with calling_as("admin"):
        async with Client(mcp) as client:
            listed = [tool.name for tool in await client.list_tools()]
    assert [tool.name for tool in report.tools] == listed == ["guarded"]
