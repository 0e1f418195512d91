"""Set-ups that cannot be safe are refused: at start, or at the first request if they are made later."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server.middleware.caching import ResponseCachingMiddleware
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.server.providers import LocalProvider
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransformConfig, ToolTransformConfig
from mcp import MCPError

from fastmcp_authz.errors import ConfigurationError
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from fastmcp_authz.serving.middleware import AuthzMiddleware
from tests.serving.people import ERAS, People, PutsIn, call, calling_as, text_of, tools_of


@authorized_tool
def plain() -> dict[str, Any]:
    """@rbs type output = { ok: bool }"""
    return {"ok": True}


@authorized_tool(authorization="comms")
def gated() -> dict[str, Any]:
    """@rbs type output = { ok: bool }"""
    return {"ok": True}


def server(**options: Any) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x", **options)
    mcp.tool(plain)
    return mcp


def test_response_caching_is_refused_on_the_server_and_on_what_is_mounted() -> None:
    with pytest.raises(ConfigurationError, match="ResponseCachingMiddleware"):
        Authz(server(middleware=[ResponseCachingMiddleware()]), context=People())
    parent = server()
    parent.mount(server(middleware=[ResponseCachingMiddleware()]), "ns")
    with pytest.raises(ConfigurationError, match="ResponseCachingMiddleware"):
        Authz(parent, context=People())


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("outermost", [True, False])
async def test_response_caching_that_comes_later_has_every_request_refused(
    outermost: bool, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    mcp = server()
    Authz(mcp, context=People())
    async with Client(mcp, mode=mode) as client:
        assert len(await client.list_tools()) == 1
        mcp.middleware.insert(0 if outermost else len(mcp.middleware), ResponseCachingMiddleware())
        for _ in range(2):
            with pytest.raises(MCPError, match="Internal server error"):
                await client.list_tools()
            result = await client.call_tool_mcp("plain", {})
            assert result.is_error
            assert text_of(result) == "The server cannot answer at the moment. Nothing was executed."
        with pytest.raises(MCPError, match="Internal server error"):
            await client.list_resources()
    assert len([r for r in caplog.records if "Every request is refused" in r.getMessage()]) == 1
    mcp.middleware[:] = [m for m in mcp.middleware if not isinstance(m, ResponseCachingMiddleware)]
    assert (await call(mcp, "plain", mode=mode)).structured_content == {"ok": True}


def test_public_caches_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="cache_scope"):
        Authz(server(cache_ttl=60, cache_scope="public"), context=People())
    Authz(server(cache_ttl=60, cache_scope="private"), context=People())


async def test_two_of_them_on_one_server_are_refused() -> None:
    mcp = server()
    Authz(mcp, context=People())
    with pytest.raises(ConfigurationError, match="two Authz"):
        Authz(mcp, context=People())
    mcp.add_middleware(AuthzMiddleware(context=People()))
    async with Client(mcp) as client:
        assert (await client.call_tool_mcp("plain", {})).is_error


async def test_tools_that_ask_and_nobody_to_ask_do_not_start() -> None:
    for ask in (True, False):
        mcp = server()
        Authz(mcp)
        if ask:
            mcp.tool(gated)
            with pytest.raises(Exception, match="nobody to ask"):
                await tools_of(mcp)
        else:
            assert await tools_of(mcp) == {"plain": set()}
    child = FastMCP[Any]("child")
    child.tool(gated)
    parent = server()
    Authz(parent)
    parent.mount(child, "ns")
    with pytest.raises(Exception, match="nobody to ask"):
        await tools_of(parent)
    Authz(child, context=People())
    assert await tools_of(parent, "comms") == {"plain": set(), "ns_gated": set()}


async def test_middleware_alone_refuses_the_first_request_where_nobody_can_be_asked() -> None:
    mcp = server(middleware=[AuthzMiddleware()])
    assert (await call(mcp, "plain")).structured_content == {"ok": True}
    mcp = server(middleware=[AuthzMiddleware()])
    mcp.tool(gated)
    with pytest.raises(Exception, match="Internal server error"):
        await tools_of(mcp)


async def test_a_provider_that_fails_while_it_is_looked_through_says_nothing_to_clients() -> None:
    class Broken(LocalProvider):
        async def _list_tools(self) -> list[Tool]:
            raise ValueError("secret")

    mcp = server(middleware=[AuthzMiddleware()], providers=[Broken()])
    for mode in ERAS:
        with pytest.raises(MCPError) as caught:
            await tools_of(mcp, mode=mode)
        assert "secret" not in str(caught.value)


def test_wrong_options_name_the_right_ones() -> None:
    with pytest.raises(ConfigurationError, match="missing_predicate"):
        Authz(server(), missing_predicates="deny")
    with pytest.raises(ConfigurationError, match="allow"):
        AuthzMiddleware(missing_predicate="sometimes")


def test_options_win_over_settings_and_settings_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTMCP_AUTHZ_MISSING_PREDICATE", "deny")
    monkeypatch.setenv("FASTMCP_AUTHZ_PREDICATE_TIMEOUT", "7")
    preset = Authz(server()).settings
    assert (preset.missing_predicate, preset.predicate_timeout) == ("deny", 7)
    own = Authz(server(), settings=preset.model_copy(update={"predicate_timeout": 3.0}), missing_predicate="error")
    assert (own.settings.missing_predicate, own.settings.predicate_timeout) == ("error", 3)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("MISING_PREDICATE", "deny", "names no setting. Did you mean FASTMCP_AUTHZ_MISSING_PREDICATE?"),
        ("SHARED_TYPE_PATHS", "/x", "FASTMCP_AUTHZ_SHARED_TYPE_PATHS cannot be read: lists are written as JSON"),
        ("CACHED_VIEWS", "many", "FASTMCP_AUTHZ_CACHED_VIEWS: Input should be a valid integer"),
        ("MISSING_PREDICATE", "no", "FASTMCP_AUTHZ_MISSING_PREDICATE: Input should be 'allow', 'deny' or 'error'"),
    ],
)
def test_an_environment_that_presets_nonsense_is_refused(
    variable: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"FASTMCP_AUTHZ_{variable}", value)
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        Authz(server())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_opt_in_makes_optional_is_none_where_it_is_left_out(mode: str) -> None:
    mcp = FastMCP("opt-in")

    @mcp.tool
    @authorized_tool
    def fn(a: str | None, b: str | None = "python", *, c: str | None) -> dict[str, Any]:
        """
        #: (a: String?, b: String?, c: String? @nullable()) -> output
        @rbs type output = { got: Array[String?] }
        """
        return {"got": [a, b, c]}

    Authz(mcp, nullable_inputs="opt-in", lenient_inputs=False)
    async with Client(mcp, mode=mode) as client:
        (tool,) = await client.list_tools()
        assert "required" not in tool.input_schema
        assert (await client.call_tool("fn", {})).structured_content == {"got": [None, "python", None]}
        assert (await client.call_tool("fn", {"a": "x", "c": None})).structured_content == {
            "got": ["x", "python", None]
        }
        assert "a: must be text, null was sent." in text_of(await client.call_tool_mcp("fn", {"a": None}))


def test_a_context_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match="context= is called with each request, and this object cannot be called"
    ):
        Authz(FastMCP("wrong"), context=object())  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("namespace", [None, "ns"])
async def test_response_caching_on_the_way_to_a_mounted_server_is_refused(namespace: str | None, mode: str) -> None:
    child = server()
    Authz(child, context=People())
    parent: FastMCP[Any] = FastMCP("bare", middleware=[ResponseCachingMiddleware()])
    parent.mount(child, namespace)
    name = "plain" if namespace is None else "ns_plain"
    async with Client(parent, mode=mode) as client:
        assert await client.list_tools() == []
        result = await client.call_tool_mcp(name, {})
        assert result.is_error
        assert result.structured_content is None
    assert (await call(child, "plain", mode=mode)).structured_content == {"ok": True}


@authorized_tool
def find(q: str, admin: bool = False) -> dict[str, Any]:
    """
    @rbs type output = { ok: bool }
    #: (q: String, ?admin: bool @requires(:boss)) -> output
    """
    return {"ok": True}


def naming(argument: str) -> ToolTransform:
    return ToolTransform({"find": ToolTransformConfig(arguments={argument: ArgTransformConfig(name="other")})})


@pytest.mark.parametrize("namespace", [None, "ns"])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize(("argument", "starts"), [("q", True), ("admin", False)])
async def test_a_transform_above_a_mount_may_name_what_everybody_sees_alone(
    argument: str, starts: bool, before: bool, namespace: str | None
) -> None:
    child: FastMCP[Any] = FastMCP("child")
    child.tool(find)
    mcp: FastMCP[Any] = FastMCP("parent")
    mcp.mount(child, namespace=namespace)
    name = "ns_find" if namespace else "find"
    transform = ToolTransform({name: ToolTransformConfig(arguments={argument: ArgTransformConfig(name="other")})})
    if before:
        mcp.add_transform(transform)
    Authz(mcp, context=People())
    if not before:
        mcp.add_transform(transform)
    if starts:
        assert await tools_of(mcp) == {name: {"other"}}
        assert await tools_of(mcp, "boss") == {name: {"other", "admin"}}
    else:
        with pytest.raises(RuntimeError, match="'parent' has a ToolTransform that cannot be applied"):
            await tools_of(mcp)


async def test_transforms_that_cannot_be_applied_are_refused_at_start_and_when_they_come_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    early: FastMCP[Any] = FastMCP("early")
    early.tool(find)
    Authz(early, context=People())
    early.add_transform(naming("admin"))
    with pytest.raises(RuntimeError, match="'early' has a ToolTransform that cannot be applied"):
        await tools_of(early)

    late: FastMCP[Any] = FastMCP("late")
    late.tool(find)
    Authz(late, context=People())
    async with Client(late) as client:
        assert [tool.name for tool in await client.list_tools()] == ["find"]
        late.add_transform(naming("admin"))
        for flags in ((), ("boss",)):
            with calling_as(*flags), pytest.raises(MCPError, match="Internal server error"):
                await client.list_tools()
        assert text_of(await client.call_tool_mcp("find", {"q": "x"})) == (
            "The server cannot answer at the moment. Nothing was executed."
        )
    assert "Unknown arguments in transform_args: admin" in caplog.text


async def test_a_tool_that_a_middleware_puts_in_answers_as_one_that_is_not_there() -> None:
    injected = Tool.from_function(gated, name="tidy")
    mcp: FastMCP[Any] = FastMCP("x", middleware=[PutsIn(injected)])
    Authz(mcp, context=People())
    for mode in ERAS:
        for flags in ((), ("comms",)):
            answers = [text_of(await call(mcp, name, {}, *flags, mode=mode)) for name in ("tidy", "tidx")]
            assert answers == ["Unknown tool: 'tidy'", "Unknown tool: 'tidx'"]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_tool_that_goes_about_to_run_a_guarded_one_by_hand_is_still_there(mode: str) -> None:
    mcp: FastMCP[Any] = FastMCP("by hand")
    mcp.tool(gated)

    @mcp.tool
    async def plain_one() -> str:
        tool = await mcp.local_provider.get_tool("gated")
        assert tool is not None
        return str(await tool.run({}))

    Authz(mcp, context=People())
    result = await call(mcp, "plain_one", mode=mode)
    assert (result.is_error, text_of(result)) == (True, "This is not available here.")


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("fn", [gated, functools.partial(gated)])
def test_an_injected_tool_of_ours_is_refused_since_it_could_never_run(inner: bool, fn: Any) -> None:
    injecting: FastMCP[Any] = FastMCP("x", middleware=[ToolInjectionMiddleware([Tool.from_function(fn, name="tidy")])])
    outer: FastMCP[Any] = FastMCP("outer")
    outer.mount(injecting)
    with pytest.raises(ConfigurationError, match="'x' has ToolInjectionMiddleware, which injects 'tidy' past Authz"):
        Authz(outer if inner else injecting, context=People())


@pytest.mark.parametrize("inner", [False, True])
async def test_a_gated_tool_with_a_page_of_fastmcps_making_is_refused(inner: bool) -> None:
    server: FastMCP[Any] = FastMCP("x")
    server.tool(gated, meta={"ui": {"resourceUri": "ui://prefab/renderer.html"}})
    outer: FastMCP[Any] = FastMCP("outer")
    outer.mount(server)
    protected = outer if inner else server
    Authz(protected, context=People())
    with pytest.raises(RuntimeError, match="'gated' has app=, and not everybody has the tool"):
        await tools_of(protected)


async def test_a_page_for_a_tool_that_everybody_has_and_one_of_the_authors_own_are_fine() -> None:
    server: FastMCP[Any] = FastMCP("x")
    server.tool(find, meta={"ui": {"resourceUri": "ui://prefab/renderer.html"}})
    server.tool(gated, meta={"ui": {"resourceUri": "ui://my/page.html"}})
    Authz(server, context=People())
    assert "find" in await tools_of(server)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"persona": {}}, "Settings are wrong. persona= is no option: did you mean personas=?"),
        (
            {"mising_predicate": "deny"},
            "Settings are wrong. mising_predicate= is no option: did you mean missing_predicate=?",
        ),
        (
            {"missing_predicate": "no"},
            "Settings are wrong. missing_predicate: Input should be 'allow', 'deny' or 'error'.",
        ),
        ({"personas": {"boss": object()}}, "'boss' has a value of type object: write personas="),
    ],
)
def test_an_option_that_is_none_is_told_with_the_one_that_is_near(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as wrong:
        Authz(FastMCP("x"), context=lambda request: None, **options)
    assert said in str(wrong.value)


def test_an_option_that_is_near_to_none_is_told_with_all() -> None:
    with pytest.raises(
        ConfigurationError, match=r"zzz= is no option: there are context, .*, dialect, .*known_predicates\.$"
    ):
        Authz(FastMCP("x"), context=lambda request: None, zzz=1)
