"""Background tasks: a worker has a server and no request (SPEC section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import AuthorizationError
from fastmcp.server.dependencies import set_worker_server_resolver
from fastmcp.tools import Tool

from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from tests.serving.people import People, calling_as


@authorized_tool
def helper() -> dict[str, Any]:
    """@rbs type output = { ok: bool }"""
    return {"ok": True}


@authorized_tool(gates=[("requires", "job")])
async def job(n: int) -> dict[str, Any]:
    """
    @rbs type output = { n: Integer, ?secret: String @requires(:admin) }
    #: (n: Integer) -> output
    """
    return {"n": n, "secret": "x", **helper()}


workers: list[FastMCP[Any]] = []


@contextmanager
def in_a_worker_of(server: FastMCP[Any]) -> Iterator[None]:
    workers.append(server)
    set_worker_server_resolver(lambda: workers[-1] if workers else None)
    try:
        yield
    finally:
        workers.pop()


async def component(server: FastMCP[Any]) -> Tool:
    """What a worker registers at start-up: the tool as it is without a request."""
    tool = await server.get_tool("job")
    assert tool is not None
    return tool


async def test_a_worker_decides_for_who_submitted_and_prunes() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=People())
    mcp.tool(job)
    tool = await component(mcp)
    with in_a_worker_of(mcp):
        with calling_as("job"):
            assert (await tool.run({"n": "1"})).structured_content == {"n": 1}
            assert (await tool.run({"m": 1})).is_error
        with calling_as():
            assert (await tool.run({"n": 1})).is_error


async def test_a_worker_runs_what_was_submitted_in_any_domain() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    people = People()
    Authz(mcp, context=people, domain="other")
    mcp.tool(job)
    tool = await component(mcp)
    with calling_as("job"):
        assert (await tool.run({"n": 1})).is_error, "in plain Python the domain that was picked is served"
        with in_a_worker_of(mcp):
            assert (await tool.run({"n": 1})).structured_content == {"n": 1}
    assert [person.request.domain for person in people.built] == ["other", None]


async def test_a_worker_of_a_server_without_authz_runs_nothing() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    mcp.tool(job)
    tool = await component(mcp)
    with in_a_worker_of(mcp), calling_as("job"):
        with pytest.raises(AuthorizationError, match="This is not available here"):
            await tool.run({"n": 1})
        with pytest.raises(AuthorizationError):
            helper()


async def test_a_worker_that_an_admitted_task_has_started_is_another_one() -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    other: FastMCP[Any] = FastMCP("other")
    authz = Authz(mcp, context=People())

    @authz.tool
    async def outer() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        with in_a_worker_of(other), pytest.raises(AuthorizationError):
            helper()
        return helper()

    tool = await mcp.get_tool("outer")
    assert tool is not None
    with in_a_worker_of(mcp):
        assert (await tool.run({})).is_error is False


async def test_a_mounted_server_is_covered_before_tasks_are_registered() -> None:
    child: FastMCP[Any] = FastMCP("child")
    child.tool(job)
    parent: FastMCP[Any] = FastMCP("parent")
    Authz(parent, context=People())
    parent.mount(child)
    assert list(await parent.get_tasks()) == []
    tool = await component(child)
    with in_a_worker_of(child), calling_as("job"):
        assert (await tool.run({"n": 1})).structured_content == {"n": 1}
