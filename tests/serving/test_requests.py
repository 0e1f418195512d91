"""A request's token, headers and session are looked up when somebody reads them, and are those of that request."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.server import dependencies
from fastmcp.utilities.tests import ASGIServer

from fastmcp_authz import Authz, Request

ERAS = ["auto", "legacy"]


def server_that_keeps(kept: list[Request]) -> FastMCP[Any]:
    """A server whose builder reads nothing of a request."""
    mcp: FastMCP[Any] = FastMCP("keeping")
    authz = Authz(mcp, context=kept.append)

    @authz.tool
    def ping() -> dict[str, Any]:
        """@rbs type output = { pong: bool }"""
        return {"pong": True}

    return mcp


def looked_up(request: Request) -> set[str]:
    """The fields of a request that are filled by now."""
    filled: set[str] = set()
    for each in dataclasses.fields(Request):
        slot: Any = vars(Request)[each.name]
        try:
            slot.__get__(request)
        except AttributeError:
            continue
        filled.add(each.name)
    return filled


@pytest.mark.parametrize("mode", ERAS)
async def test_whoever_reads_them_and_when_they_say_who_asked(mode: Any) -> None:
    kept: list[Request] = []
    app = server_that_keeps(kept).http_app()
    asked: list[str] = []
    async with app.router.lifespan_context(app):
        for name in "ann", "bob":
            serving = ASGIServer(url="http://127.0.0.1/mcp", app=app, transport_type="http")
            async with serving.client(headers={"x-name": name}, mode=mode) as client:
                await client.call_tool("ping", {})
            asked += [name] * (len(kept) - len(asked))
    assert not any("headers" in looked_up(each) for each in kept)
    assert {"ann", "bob"} == set(asked)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda each: each.headers["x-name"], kept * 3)) == asked * 3


@pytest.mark.parametrize("mode", ERAS)
async def test_what_nobody_reads_is_not_looked_up(mode: Any) -> None:
    kept: list[Request] = []
    async with Client(server_that_keeps(kept), mode=mode) as client:
        await client.call_tool("ping", {})
    request = kept[-1]
    assert "session_id" not in looked_up(request)
    assert "headers" not in looked_up(request)
    session = request.session_id
    assert session
    assert request.session_id == session
    assert "session_id" in looked_up(request)


async def test_it_is_a_request_like_any_other() -> None:
    kept: list[Request] = []
    async with Client(server_that_keeps(kept)) as client:
        await client.call_tool("ping", {})
    request = kept[-1]
    assert isinstance(request, Request)
    changed = dataclasses.replace(request, domain="operator")
    assert (changed.domain, changed.session_id, changed.headers) == ("operator", request.session_id, {})
    alike = copy.copy(request)
    assert (alike, pickle.loads(pickle.dumps(request))) == (request, request)
    assert request == Request(session_id=request.session_id)
    assert repr(request) == repr(Request(session_id=request.session_id, headers={}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.domain = "operator"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="tenant"):
        _ = request.tenant  # type: ignore[attr-defined]


def test_fastmcp_looks_a_request_up_where_it_is_asked_for() -> None:
    """What the looking up rests on: context variables alone."""
    assert dependencies.get_http_headers() == {}
    assert dependencies.get_access_token() is None
