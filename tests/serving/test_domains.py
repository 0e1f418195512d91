"""Domains: which tools are served follows from the path over HTTP, and from `Authz(domain=...)` where there is none."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest
import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth import StaticTokenVerifier
from fastmcp.utilities.tests import ASGIServer, asgi_server
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount

from fastmcp_authz import Authz, ConfigurationError, ContractError, Request, Settings, authorized_tool
from tests.serving.people import ERAS, People, call, tools_of

EVERYWHERE = "not_ours"


def tool(name: str) -> Any:
    def fn(secret: str = "") -> dict[str, Any]:
        """
        @rbs type output = { tool: String, ?secret: String @requires(:admin) }
        #: (?secret: String @requires(:admin)) -> output
        """
        return {"tool": name, "secret": secret}

    return fn


def served(**options: Any) -> tuple[FastMCP[Any], Authz, list[Request]]:
    mcp: FastMCP[Any] = FastMCP("x")
    asked: list[Request] = []
    people = People()

    def build(request: Request) -> Any:
        asked.append(request)
        return people(request)

    authz = Authz(mcp, context=build, **options)
    for name, domains in {
        "everyday": [],
        "operate": ["operator"],
        "recruit": ["recruiting"],
        "shared": ["operator", "recruiting"],
    }.items():
        authz.tool(name, domains=domains)(tool(name))
    mcp.tool(lambda: "", name=EVERYWHERE)
    return mcp, authz, asked


BY_PATH = {
    "": {"everyday"},
    "/operator": {"operate", "shared"},
    "/recruiting": {"recruit", "shared"},
}


@asynccontextmanager
async def in_process(authz: Authz, **options: Any) -> AsyncIterator[ASGIServer]:
    serving: Any = authz  # it has the `http_app` of a server
    async with asgi_server(serving, **options) as running:
        yield running


def under(running: ASGIServer, path: str) -> ASGIServer:
    return replace(running, url=running.url + path)


async def names(client: Client[Any]) -> set[str]:
    return {each.name for each in await client.list_tools()}


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("stateless", [False, True])
async def test_each_path_lists_and_calls_its_own(mode: str, stateless: bool) -> None:
    _, authz, asked = served()
    async with in_process(authz, stateless_http=stateless, json_response=stateless) as running:
        for path, own in [*BY_PATH.items(), *reversed(BY_PATH.items())]:
            async with under(running, path).client(mode=mode) as client:
                assert await names(client) == {*own, EVERYWHERE}
                for name in ("everyday", "operate", "recruit", "shared"):
                    result = await client.call_tool_mcp(name, {})
                    if name in own:
                        assert result.structured_content == {"tool": name}
                    else:
                        unknown = await client.call_tool_mcp("absent", {})
                        assert result.is_error
                        assert result.model_dump_json().replace(name, "absent") == unknown.model_dump_json()
                assert not (await client.call_tool_mcp(EVERYWHERE, {})).is_error
            assert {request.domain for request in asked} == {path.removeprefix("/") or "default"}
            asked.clear()


@asynccontextmanager
async def over_a_socket(app: Any) -> AsyncIterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", ws="none"))
    task = asyncio.create_task(server.serve())
    try:
        while not server.started:  # noqa: ASYNC110 (uvicorn has no event for it)
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await task


@pytest.mark.parametrize("mode", ERAS)
async def test_three_domains_serve_nine_callers_at_once(mode: str) -> None:
    _, authz, _ = served()
    async with over_a_socket(authz.http_app()) as url:

        async def comes(path: str, person: str) -> None:
            transport = StreamableHttpTransport(url + path, headers={"x-person": person})
            async with Client(transport, mode=mode) as client:
                for _ in range(3):
                    listed = {each.name: each for each in await client.list_tools()}
                    assert set(listed) == {*BY_PATH[path], EVERYWHERE}
                    for name in BY_PATH[path]:
                        shown = set(listed[name].input_schema.get("properties", ()))
                        assert shown == ({"secret"} if person == "admin" else set())
                        result = await client.call_tool_mcp(name, {"secret": "s"} if person == "admin" else {})
                        expected = {"tool": name, "secret": "s"} if person == "admin" else {"tool": name}
                        assert result.structured_content == expected

        await asyncio.gather(*(comes(path, person) for path in BY_PATH for person in ("admin", "other", "nobody")))


async def test_a_session_that_goes_to_another_path_is_in_that_domain() -> None:
    """The session is one, and each message says by its path where it goes."""
    _, authz, _ = served()
    async with in_process(authz) as running:

        class Redirected(httpx2.Auth):
            path = ""

            def auth_flow(self, request: httpx2.Request) -> Any:
                request.url = request.url.copy_with(path="/mcp" + self.path)
                yield request

        way = Redirected()
        async with running.client(auth=way, mode="legacy") as client:
            for way.path, own in BY_PATH.items():
                assert await names(client) == {*own, EVERYWHERE}


async def test_a_path_that_is_no_domain_is_not_found() -> None:
    mcp, authz, asked = served()

    @mcp.custom_route("/mcp/health", methods=["GET"])
    async def health(_: HttpRequest) -> Response:
        return PlainTextResponse("fine")

    async with in_process(authz) as running, running.http_client() as client:
        paths = ("/mcp/absent", "/mcp/operator/more", "/mcp/operator2", "/mcpoperator", "/mcp//operator", "/operator")
        for path in paths:
            answer = await client.post(path, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
            assert (path, answer.status_code) == (path, 404)
        assert (await client.get("/mcp/health")).text == "fine"
        assert asked == []
        # A tool that comes later brings its domain with it.
        authz.tool("late", domains=["absent"])(tool("late"))
        async with under(running, "/absent").client() as later:
            assert await names(later) == {"late", EVERYWHERE}
        async with under(running, "/operator/").client() as slashed:
            assert await names(slashed) == {*BY_PATH["/operator"], EVERYWHERE}


async def test_nobody_says_by_a_header_where_a_message_goes() -> None:
    _, authz, asked = served()
    headers = {"fastmcp_authz.domain": "operator", "x-fastmcp-authz-domain": "operator", "x-original-url": "/operator"}
    async with in_process(authz) as running, running.client(headers=headers) as client:
        assert await names(client) == {"everyday", EVERYWHERE}
    assert {request.domain for request in asked} == {"default"}


async def test_authentication_is_that_of_the_servers_own_app() -> None:
    mcp, authz, asked = served()
    mcp.auth = StaticTokenVerifier({"good": {"client_id": "ann"}})
    async with in_process(authz) as running:
        async with running.http_client() as client:
            for path in BY_PATH:
                answer = await client.post(f"/mcp{path}", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
                assert answer.status_code == 401
        assert asked == []
        for path, own in BY_PATH.items():
            async with under(running, path).client(auth="good") as known:
                assert await names(known) == {*own, EVERYWHERE}
    assert {request.access_token.client_id for request in asked if request.access_token} == {"ann"}


async def test_the_app_may_be_part_of_another_one() -> None:
    _, authz, _ = served()
    app = authz.http_app(path="/tools")
    outer = Starlette(routes=[Mount("/api", app)], lifespan=app.lifespan)
    async with outer.router.lifespan_context(outer):
        for path, own in BY_PATH.items():
            inside = ASGIServer(url=f"http://127.0.0.1/api/tools{path}", app=outer, transport_type="http")
            async with inside.client() as client:
                assert await names(client) == {*own, EVERYWHERE}


@pytest.mark.parametrize("mode", ERAS)
async def test_without_a_path_the_server_says_which_domain_it_serves(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listed(**options: Any) -> set[str]:
        mcp, _, _ = served(**options)
        return set(await tools_of(mcp, mode=mode)) - {EVERYWHERE}

    assert await listed() == {"everyday"}
    assert await listed(domain="operator") == {"operate", "shared"}
    assert await listed(settings=Settings(domain="recruiting")) == {"recruit", "shared"}
    assert await listed(default_domain="operator") == {"everyday", "operate", "shared"}
    assert await listed(domain="absent") == set()
    monkeypatch.setenv("FASTMCP_AUTHZ_DOMAIN", "operator")
    assert await listed() == {"operate", "shared"}
    mcp, _, _ = served()
    assert (await call(mcp, "operate", mode=mode)).structured_content == {"tool": "operate"}
    assert (await call(mcp, "everyday", mode=mode)).is_error


async def test_the_servers_own_app_serves_the_domain_that_was_picked() -> None:
    mcp, authz, _ = served(domain="operator")
    async with asgi_server(mcp) as running:
        async with running.client() as client:
            assert await names(client) == {"operate", "shared", EVERYWHERE}
        async with running.http_client() as http:
            assert (await http.post("/mcp/recruiting", json={})).status_code == 404
    async with in_process(authz) as running, running.client() as client:
        assert await names(client) == {"everyday", EVERYWHERE}, "a path without a domain means the default one"


async def test_a_mounted_servers_tools_are_in_their_domains() -> None:
    child, _, _ = served()
    bare: FastMCP[Any] = FastMCP("bare")
    bare.tool(authorized_tool(domains=["operator"])(tool("inner")), name="inner")
    parent: FastMCP[Any] = FastMCP("parent")
    authz = Authz(parent, context=People())
    parent.mount(child, "own")
    parent.mount(bare, "bare")
    async with in_process(authz) as running:
        async with under(running, "/operator").client() as client:
            assert await names(client) == {"own_operate", "own_shared", f"own_{EVERYWHERE}", "bare_inner"}
            assert (await client.call_tool_mcp("bare_inner", {})).structured_content == {"tool": "inner"}
            assert (await client.call_tool_mcp("own_operate", {})).structured_content == {"tool": "operate"}
            assert (await client.call_tool_mcp("own_everyday", {})).is_error
        async with running.client() as client:
            assert await names(client) == {"own_everyday", f"own_{EVERYWHERE}"}
            assert (await client.call_tool_mcp("bare_inner", {})).is_error


async def test_a_client_in_memory_does_not_inherit_the_path_it_is_used_in() -> None:
    other, _, _ = served()
    mcp: FastMCP[Any] = FastMCP("outer")
    authz = Authz(mcp, context=People())

    @authz.tool(domains=["operator"])
    async def look() -> dict[str, Any]:
        """
        @rbs type output = { names: Array[String] }
        """
        async with Client(other) as client:
            return {"names": sorted(await names(client))}

    async with in_process(authz) as running, under(running, "/operator").client() as client:
        assert (await client.call_tool_mcp("look", {})).structured_content == {"names": ["everyday", EVERYWHERE]}


def test_what_cannot_be_a_domain_is_refused() -> None:
    for wrong in ("a/b", "", "..", " x", 5):
        with pytest.raises(ContractError, match=r"domains: .* is no name: letters, digits"):
            authorized_tool(domains=[wrong])(tool("x"))  # type: ignore[list-item]
        with pytest.raises(ConfigurationError, match="domain"):
            Authz(FastMCP("x"), domain=wrong)
    mcp: FastMCP[Any] = FastMCP("x")
    with pytest.raises(ConfigurationError, match="streamable HTTP"):
        Authz(mcp).http_app(transport="sse")
