"""The recruiting example as tests reach it: over HTTP or stdio, with FastMCP's client or the official one."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.client.transports import ClientTransport, StdioTransport, StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import RSAKeyPair
from fastmcp.utilities.mcp_server_config.v1.sources.filesystem import FileSystemSource
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool

SERVER = Path(__file__).parents[1] / "examples" / "recruiting" / "server.py"
KEYS = RSAKeyPair.generate()

MODERN, LEGACY = "auto", "legacy"


@dataclass(frozen=True)
class Connection:
    """What the two clients have in common."""

    protocol_version: str | None
    _list: Callable[[], Awaitable[list[Tool]]]
    call: Callable[[str, dict[str, Any]], Awaitable[CallToolResult]]

    async def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in await self._list()}


@dataclass(frozen=True)
class ClientKind:
    """A client, and the protocol era that it is told to speak."""

    package: str
    mode: str

    def __str__(self) -> str:
        return f"{self.package}-{'modern' if self.mode == MODERN else 'legacy'}"

    @asynccontextmanager
    async def over_http(self, url: str, token: str) -> AsyncIterator[Connection]:
        headers = {"Authorization": f"Bearer {token}"}
        if self.package == "fastmcp":
            async with fastmcp_client(StreamableHttpTransport(url, headers=headers), self.mode) as connection:
                yield connection
        else:
            async with (
                httpx2.AsyncClient(headers=headers, timeout=30) as http,
                mcp_client(streamable_http_client(url, http_client=http), self.mode) as connection,
            ):
                yield connection

    @asynccontextmanager
    async def over_stdio(self, environment: dict[str, str], log: Path) -> AsyncIterator[Connection]:
        command, arguments = sys.executable, ["-m", "fastmcp.cli", "run", str(SERVER), "--no-banner"]
        if self.package == "fastmcp":
            transport = StdioTransport(command, arguments, env=environment, keep_alive=False, log_file=log)
            async with fastmcp_client(transport, self.mode) as connection:
                yield connection
        else:
            parameters = StdioServerParameters(command=command, args=arguments, env=environment)
            async with mcp_client(parameters, self.mode) as connection:
                yield connection


CLIENTS = [ClientKind(package, mode) for package in ("fastmcp", "mcp") for mode in (MODERN, LEGACY)]


@asynccontextmanager
async def fastmcp_client(transport: ClientTransport, mode: str) -> AsyncIterator[Connection]:
    async with Client(transport, mode=mode) as client:
        yield Connection(client.protocol_version, client.list_tools, client.call_tool_mcp)


@asynccontextmanager
async def mcp_client(server: Any, mode: str) -> AsyncIterator[Connection]:
    async with mcp.Client(server, mode=mode) as client:

        async def list_tools() -> list[Tool]:
            return list((await client.list_tools()).tools)

        yield Connection(client.protocol_version, list_tools, client.call_tool)


@asynccontextmanager
async def served_over_http(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The example with a database of its own, loaded as `fastmcp run` loads it; its URL."""
    monkeypatch.setenv("RECRUITING_PUBLIC_KEY", KEYS.public_key)
    monkeypatch.setenv("RECRUITING_DATABASE", str(folder / "recruiting.db"))
    monkeypatch.syspath_prepend(SERVER.parent)
    server = await FileSystemSource(path=str(SERVER)).load_server()
    async with listening(server) as url:
        yield url


@asynccontextmanager
async def listening(server: FastMCP) -> AsyncIterator[str]:
    """A server behind a real socket, shut down in good order: whatever it left open would fail the run."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        web = uvicorn.Server(uvicorn.Config(server.http_app(), ws="none", log_level="warning"))
        running = asyncio.create_task(web.serve(sockets=[free]))
        try:
            yield f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
        finally:
            web.should_exit = True
            await running


def token_of(person: str) -> str:
    return KEYS.create_token(subject=person, issuer="https://sign-in.recruiting.example", audience="recruiting")


def text(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")
