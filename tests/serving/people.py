"""Callers for the tests of serving: who calls is a contextvar in memory, and the header `x-person` over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from mcp_types import CallToolResult

from fastmcp_authz.callers.context import Request

_person: ContextVar[str] = ContextVar("person", default="")

ERAS = ("auto", "legacy")


@contextmanager
def calling_as(*flags: str) -> Iterator[None]:
    """Calls come from somebody who holds `flags`."""
    token = _person.set(" ".join(flags))
    try:
        yield
    finally:
        _person.reset(token)


class PutsIn(Middleware):
    """Lists and runs tools that are on no server, as an author's own middleware may."""

    def __init__(self, *tools: Tool) -> None:
        self._tools = {tool.name: tool for tool in tools}

    async def on_list_tools(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        return [*self._tools.values(), *await call_next(context)]

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        tool = self._tools.get(context.message.name)
        return await call_next(context) if tool is None else await tool.run(context.message.arguments or {})


class User:
    def __init__(self, flags: list[str]) -> None:
        self._flags = flags

    def can(self, flag: str) -> bool:
        return flag in self._flags

    def default_for(self, key: str) -> Any:
        return next((int(f.split("=")[1]) for f in self._flags if f.startswith(f"{key}=")), None)


class Person:
    """A server context. `asked` keeps every question."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.flags = (request.headers.get("x-person") or _person.get()).split()
        self.current_user = User(self.flags)
        self.asked: list[tuple[str, Any]] = []

    def requires(self, flag: str) -> bool:
        self.asked.append(("requires", flag))
        return flag in self.flags

    async def feature(self, flag: str) -> bool:
        self.asked.append(("feature", flag))
        return flag in self.flags


class People:
    """A context builder that keeps the contexts it built."""

    def __init__(self) -> None:
        self.built: list[Person] = []

    def __call__(self, request: Request) -> Person:
        self.built.append(Person(request))
        return self.built[-1]


async def tools_of(server: FastMCP[Any], *flags: str, mode: str = "auto") -> dict[str, set[str]]:
    """The tools that somebody with `flags` is shown, each with its inputs."""
    with calling_as(*flags):
        async with Client(server, mode=mode) as client:
            return {tool.name: set(tool.input_schema.get("properties", {})) for tool in await client.list_tools()}


async def call(
    server: FastMCP[Any], tool: str, arguments: dict[str, Any] | None = None, *flags: str, mode: str = "auto"
) -> CallToolResult:
    """The result that somebody with `flags` gets, as it comes over the wire."""
    with calling_as(*flags):
        async with Client(server, mode=mode) as client:
            result: CallToolResult = await client.call_tool_mcp(tool, arguments or {})
            return result


def text_of(result: CallToolResult) -> str:
    """The text of a result that has just one block of it."""
    (block,) = result.content
    assert block.type == "text"
    return block.text
