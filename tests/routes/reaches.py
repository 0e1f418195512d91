"""How a server is reached: in memory, over HTTP, over stdio, through a proxy, or with something done meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import httpx2
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.server.auth import StaticTokenVerifier
from fastmcp.utilities.tests import asgi_server

from fastmcp_authz.serving.authz import Authz
from tests.routes.office import MANAGER, NOBODY, calling_as
from tests.routes.switch import SWITCHED_OFF

Connect = Callable[[str], AbstractAsyncContextManager[Client[Any]]]
"""Given who calls, a connected client."""
Serve = Callable[[], FastMCP[Any]]
Reach = Callable[[Serve, str], AbstractAsyncContextManager[Connect]]
"""Serves what it is given to callers of one protocol era, `Client`'s `mode`."""

STDIO_SERVER = Path(__file__).with_name("stdio_server.py")


@asynccontextmanager
async def in_memory(serve: Serve, era: str) -> AsyncIterator[Connect]:
    yield _connects_to(serve(), era)


@asynccontextmanager
async def over_http(serve: Serve, era: str) -> AsyncIterator[Connect]:
    async with asgi_server(serve()) as running:
        yield lambda caller: running.client(headers={"x-caller": caller}, mode=era)


def in_domain(domain: str, authz: Callable[[], Authz]) -> Reach:
    """Over HTTP, by the path of a domain. What was asked for is left alone."""

    @asynccontextmanager
    async def reach(_: Serve, era: str) -> AsyncIterator[Connect]:
        serving: Any = authz()
        async with asgi_server(serving) as running:
            at = replace(running, url=f"{running.url}{domain}")
            yield lambda caller: at.client(headers={"x-caller": caller}, mode=era)

    return reach


@asynccontextmanager
async def over_stateless_http(serve: Serve, era: str) -> AsyncIterator[Connect]:
    async with asgi_server(serve(), stateless_http=True, json_response=True) as running:
        yield lambda caller: running.client(headers={"x-caller": caller}, mode=era)


class _Turning(httpx2.Auth):
    """Says who calls, with each request; that may turn."""

    caller = ""

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers["x-caller"] = self.caller
        yield request


def in_anothers_session(transport: Literal["http", "sse"]) -> Reach:
    """Who is there when the session begins is not who calls."""

    @asynccontextmanager
    async def reach(serve: Serve, era: str) -> AsyncIterator[Connect]:
        async with asgi_server(serve(), transport=transport) as running:

            @asynccontextmanager
            async def connect(caller: str) -> AsyncIterator[Client[Any]]:
                turning = _Turning()
                turning.caller = MANAGER if caller == NOBODY else NOBODY
                async with running.client(auth=turning, mode=era) as client:
                    await client.list_tools()
                    turning.caller = caller
                    yield client

            yield connect

    return reach


@asynccontextmanager
async def over_http_with_tokens(serve: Serve, era: str) -> AsyncIterator[Connect]:
    """The caller is who the access token says, to FastMCP as well: sessions of the newer era hang on it."""
    server = serve()
    server.auth = StaticTokenVerifier({f"token-{caller}": {"client_id": caller} for caller in (NOBODY, MANAGER)})
    async with asgi_server(server) as running:
        yield lambda caller: running.client(auth=f"token-{caller}", mode=era)


@asynccontextmanager
async def over_sse(serve: Serve, era: str) -> AsyncIterator[Connect]:
    async with asgi_server(serve(), transport="sse") as running:
        yield lambda caller: running.client(headers={"x-caller": caller}, mode=era)


@asynccontextmanager
async def through_a_proxy_over_http(serve: Serve, era: str) -> AsyncIterator[Connect]:
    async with (
        asgi_server(serve()) as backend,
        asgi_server(create_proxy(backend.transport(), name="proxy")) as front,
    ):
        yield lambda caller: front.client(headers={"x-caller": caller}, mode=era)


@asynccontextmanager
async def over_stdio(serve: Serve, era: str) -> AsyncIterator[Connect]:
    """The server of `stdio_server.py`, which finds `serve` by its name, in one process for each caller."""
    passed = {name: value for name, value in os.environ.items() if name == SWITCHED_OFF}
    processes: dict[str, StdioTransport] = {}

    def connect(caller: str) -> Client[Any]:
        if caller not in processes:
            env = {**passed, "ROUTES_CALLER": caller, "ROUTES_SERVE": serve.__name__}
            processes[caller] = StdioTransport(sys.executable, [str(STDIO_SERVER)], env=env, keep_alive=True)
        return Client(processes[caller], mode=era)

    try:
        yield connect
    finally:
        for process in processes.values():
            await process.disconnect()  # type: ignore[no-untyped-call]


def after_the_first_request(change: Callable[[FastMCP[Any]], None]) -> Reach:
    """In memory; `change` is done to the server once it has answered."""

    @asynccontextmanager
    async def reach(serve: Serve, era: str) -> AsyncIterator[Connect]:
        server = serve()
        async with Client(server, mode=era) as client:
            assert await client.list_tools() == []
            change(server)
            yield _connects_to(server, era)

    return reach


@asynccontextmanager
async def not_at_all(serve: Serve, _: str) -> AsyncIterator[Connect]:
    """The server itself."""
    server: Any = serve()

    @asynccontextmanager
    async def connect(caller: str) -> AsyncIterator[Any]:
        with calling_as(caller):
            yield server

    yield connect


def _connects_to(server: FastMCP[Any], era: str) -> Connect:
    @asynccontextmanager
    async def connect(caller: str) -> AsyncIterator[Client[Any]]:
        with calling_as(caller):
            async with Client(server, mode=era) as client:
                yield client

    return connect
