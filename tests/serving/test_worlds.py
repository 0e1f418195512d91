"""Each caller has a world of their own, decided once per request (SPEC sections 1 and 4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.utilities.tests import asgi_client, asgi_server

from fastmcp_authz.callers.context import Request
from fastmcp_authz.serving.authz import Authz
from fastmcp_authz.serving.decorator import authorized_tool
from fastmcp_authz.serving.middleware import AuthzMiddleware
from tests.serving.people import ERAS, People, Person, call, calling_as, text_of, tools_of


def add_tools(mcp: FastMCP[Any]) -> None:
    @mcp.tool
    @authorized_tool(authorization="comms", gates=[("feature", "sms")])
    def send(body: str, force: bool = False) -> dict[str, Any]:
        """Send it.

        @rbs type output = { sent: bool, ?cost: Integer @requires(:billing) }
        #: (body: String, ?force: bool @requires(:admin)) -> output
        """
        return {"sent": True, "cost": 5, "forced": force}

    @mcp.tool
    @authorized_tool
    def find(query: str, archived: bool = False) -> dict[str, Any]:
        """Find it.

        @rbs type output = { found: Array[String] }
        #: (query: String, ?archived: bool @requires(:admin)) -> output
        """
        return {"found": [query, str(archived)]}

    @mcp.tool
    def plain(x: int) -> int:
        """Not ours."""
        return x


def server(people: People | None = None, **options: Any) -> FastMCP[Any]:
    mcp: FastMCP[Any] = FastMCP("x")
    Authz(mcp, context=people or People(), **options)
    add_tools(mcp)
    return mcp


@pytest.mark.parametrize("mode", ERAS)
async def test_three_callers_see_three_worlds(mode: str) -> None:
    mcp = server()
    assert await tools_of(mcp, mode=mode) == {"find": {"query"}, "plain": {"x"}}
    some = {"find": {"query"}, "plain": {"x"}, "send": {"body"}}
    assert await tools_of(mcp, "comms", "sms", mode=mode) == some
    everything = {"find": {"query", "archived"}, "plain": {"x"}, "send": {"body", "force"}}
    assert await tools_of(mcp, "comms", "sms", "admin", mode=mode) == everything
    assert await tools_of(mcp, "comms", mode=mode) == {"find": {"query"}, "plain": {"x"}}


@pytest.mark.parametrize("mode", ERAS)
async def test_hidden_and_unknown_answer_alike(mode: str) -> None:
    mcp = server()
    hidden = await call(mcp, "send", {"body": "x"}, "comms", mode=mode)
    unknown = await call(mcp, "nope", {"body": "x"}, "comms", mode=mode)
    assert hidden.is_error
    assert hidden.model_dump_json().replace("send", "nope") == unknown.model_dump_json()
    hidden = await call(mcp, "find", {"query": "x", "archived": True}, mode=mode)
    unknown = await call(mcp, "find", {"query": "x", "archivee": True}, mode=mode)
    assert hidden.is_error
    assert hidden.model_dump_json().replace("archived", "archivee") == unknown.model_dump_json()


@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_sent_is_what_the_caller_may_see(mode: str) -> None:
    mcp = server()
    result = await call(mcp, "send", {"body": "x"}, "comms", "sms", mode=mode)
    assert result.structured_content == {"sent": True}
    assert text_of(result) == '{"sent":true}'
    result = await call(mcp, "send", {"body": "x"}, "comms", "sms", "billing", mode=mode)
    assert result.structured_content == {"sent": True, "cost": 5}


async def test_tools_that_are_not_ours_are_as_ever() -> None:
    result = await call(server(), "plain", {"x": "3"})
    assert result.structured_content == {"result": 3}


async def test_middleware_alone_does_the_same() -> None:
    added: FastMCP[Any] = FastMCP("added")
    added.add_middleware(AuthzMiddleware(context=People()))
    for mcp in (FastMCP[Any]("given", middleware=[AuthzMiddleware(context=People())]), added):
        add_tools(mcp)
        assert await tools_of(mcp) == {"find": {"query"}, "plain": {"x"}}
        everything = {"find": {"query", "archived"}, "plain": {"x"}, "send": {"body", "force"}}
        assert await tools_of(mcp, "comms", "sms", "admin") == everything
        assert (await call(mcp, "send", {"body": "x"}, "comms", "sms")).structured_content == {"sent": True}
        assert text_of(await call(mcp, "send", {"body": "x"})) == "Unknown tool: 'send'"


@pytest.mark.parametrize("mode", ERAS)
async def test_a_request_builds_one_context_and_asks_each_question_once(mode: str) -> None:
    people = People()
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=people)
    for number in range(30):

        @authz.tool(f"tool_{number}", gates=[("feature", "sms")])
        def fn(a: str = "", b: str = "") -> dict[str, Any]:
            """
            @rbs type output = { ok: bool, ?more: String @feature(:more) }
            #: (?a: String @requires(:admin), ?b: String @requires(:admin)) -> output
            """
            return {"ok": True}

    assert len(await tools_of(mcp, "sms", mode=mode)) == 30
    assert [person.asked for person in people.built] == [
        [("feature", "sms"), ("requires", "admin"), ("feature", "more")]
    ]
    people.built.clear()
    with calling_as("sms"):
        async with Client(mcp, mode=mode) as client:
            await client.list_tools()
            people.built.clear()
            await client.call_tool("tool_7", {})
    assert [person.asked for person in people.built] == [
        [("feature", "sms"), ("requires", "admin"), ("feature", "more")]
    ]


async def test_what_is_inside_a_tool_that_its_gates_refuse_is_not_asked() -> None:
    people = People()
    mcp = server(people)
    await tools_of(mcp, "comms")
    await call(mcp, "send", {"body": "x"}, "comms")
    assert all(("requires", "billing") not in person.asked for person in people.built)


async def test_nested_calls_belong_to_the_request_they_are_nested_in() -> None:
    people = People()
    mcp = server(people)

    @mcp.tool
    @authorized_tool
    async def both() -> dict[str, Any]:
        """@rbs type output = { found: Array[String] }"""
        results = [
            await mcp.call_tool("find", {"query": "a"}),
            await mcp.call_tool("find", {"query": "b"}, run_middleware=False),
            await (await mcp.get_tool("find")).run({"query": "c"}),  # type: ignore[union-attr]
        ]
        return {"found": [text for r in results if r.structured_content for text in r.structured_content["found"]]}

    with calling_as():
        async with Client(mcp) as client:
            await client.list_tools()
            people.built.clear()
            result = await client.call_tool_mcp("both", {})
    assert result.structured_content == {"found": ["a", "False", "b", "False", "c", "False"]}
    assert len(people.built) == 1


@pytest.mark.parametrize("mode", ERAS)
async def test_contexts_of_every_shape_are_closed_when_the_request_ends(mode: str) -> None:
    events: list[str] = []

    @asynccontextmanager
    async def later(request: Request) -> AsyncIterator[Person]:
        # Scopes of cancellation insist on being left in the task that entered them.
        async with asyncio.timeout(60):
            events.append("open")
            yield Person(request)
            events.append("close")

    @contextmanager
    def sync(request: Request) -> Iterator[Person]:
        events.append("open")
        yield Person(request)
        events.append("close")

    async def function(request: Request) -> Person:
        events.extend(["open", "close"])
        return Person(request)

    for builder in (later, sync, function):
        mcp: FastMCP[Any] = FastMCP("x")
        Authz(mcp, context=builder)
        add_tools(mcp)
        assert "send" in await tools_of(mcp, "comms", "sms", mode=mode)
        assert not (await call(mcp, "send", {"body": "x"}, "comms", "sms", mode=mode)).is_error
        assert events == ["open", "close"] * (len(events) // 2)
        assert events
        events.clear()


async def test_the_python_interface_decides_too() -> None:
    people = People()
    mcp = server(people)
    with calling_as("comms", "sms"):
        assert {tool.name for tool in await mcp.list_tools()} == {"send", "find", "plain"}
        assert (await mcp.call_tool("send", {"body": "x"})).structured_content == {"sent": True}
        tool = await mcp.get_tool("send")
        assert tool is not None
        assert (await tool.run({"body": "x"})).structured_content == {"sent": True}
    with calling_as():
        assert {tool.name for tool in await mcp.list_tools()} == {"find", "plain"}
        assert (await tool.run({"body": "x"})).is_error


async def test_without_a_request_the_least_view_is_shown_and_nothing_is_hidden() -> None:
    mcp = server()
    tool = await mcp.get_tool("send")
    assert tool is not None
    assert set(tool.parameters["properties"]) == {"body"}
    assert await mcp.get_tool("nope") is None


async def test_an_empty_world_is_an_empty_list() -> None:
    mcp: FastMCP[Any] = FastMCP("x")

    @Authz(mcp, context=lambda _: None).tool(authorization="a")
    def fn() -> dict[str, Any]:
        """@rbs type output = { ok: bool }"""
        return {}

    assert await tools_of(mcp) == {}


async def test_a_callers_own_defaults_are_shown_and_filled_in_on_a_copy(caplog: pytest.LogCaptureFixture) -> None:
    mcp: FastMCP[Any] = FastMCP("x")

    @Authz(mcp, context=People()).tool
    def page(size: int = 1) -> dict[str, Any]:
        """
        @rbs type output = { size: Integer }
        #: (?size: Integer @max(100) @default(10) @default_for(:size)) -> output
        """
        return {"size": size}

    async def shown_and_used(*flags: str) -> tuple[Any, Any]:
        with calling_as(*flags):
            async with Client(mcp) as client:
                (tool,) = await client.list_tools()
                result = await client.call_tool("page", {})
        return tool.input_schema["properties"]["size"]["default"], result.structured_content

    assert await shown_and_used("size=25") == (25, {"size": 25})
    assert await shown_and_used() == (10, {"size": 10})
    assert not caplog.records
    assert await shown_and_used("size=2500") == (10, {"size": 10})
    assert "size" in caplog.text


async def test_a_description_may_be_made_for_the_caller(caplog: pytest.LogCaptureFixture) -> None:
    mcp: FastMCP[Any] = FastMCP("x")
    authz = Authz(mcp, context=People(), predicate_timeout=0.01)

    async def describe(context: Person) -> str:
        return f"For {' '.join(context.flags)}."

    async def hang(_: Person) -> str:
        await asyncio.Event().wait()
        return ""

    def fail(_: Person) -> str:
        raise ValueError("secret")

    for name, description in (
        ("text", "A text."),
        ("made", describe),
        ("fails", fail),
        ("hangs", hang),
        ("wrong", lambda _: 3),
    ):

        @authz.tool(name, description=description)
        def fn() -> dict[str, Any]:
            """The prose.

            @rbs type output = { ok: bool }
            """
            return {}

    @mcp.tool(description="Given to mcp.tool.")
    @authorized_tool
    def given() -> dict[str, Any]:
        """The prose.

        @rbs type output = { ok: bool }
        """
        return {}

    caplog.set_level(logging.ERROR, "fastmcp_authz")
    with calling_as("ada"):
        async with Client(mcp) as client:
            shown = {tool.name: tool.description for tool in await client.list_tools()}
    assert shown == {
        "text": "A text.",
        "made": "For ada.",
        "fails": "The prose.",
        "hangs": "The prose.",
        "wrong": "The prose.",
        "given": "Given to mcp.tool.",
    }
    assert len(caplog.records) == 3


async def test_over_http_the_request_says_where_it_comes_from() -> None:
    people = People()
    mcp = server(people)
    for mode in ERAS:
        headers = {"x-person": "comms sms", "authorization": "Bearer x"}
        async with asgi_client(mcp, headers=headers, mode=mode) as client:
            assert {tool.name for tool in await client.list_tools()} == {"send", "find", "plain"}
            result = await client.call_tool("send", {"body": "x"})
        assert result.structured_content == {"sent": True}
        request = people.built[-1].request
        assert request.transport == "streamable-http"
        assert request.headers["x-person"] == "comms sms"
        assert "authorization" not in request.headers
        assert request.session_id


async def test_callers_at_the_same_time_keep_their_worlds() -> None:
    mcp = server()
    async with asgi_server(mcp) as running:

        async def world(flags: str) -> tuple[int, Any]:
            async with Client(running.transport(headers={"x-person": flags})) as client:
                (send,) = [t for t in await client.list_tools() if t.name == "send"]
                result = await client.call_tool_mcp("send", {"body": "x"})
                return len(send.input_schema["properties"]), result.structured_content

        flags = ["comms sms", "comms sms admin", "comms sms billing", "comms sms admin billing"] * 5
        worlds = await asyncio.gather(*(world(each) for each in flags))
    for each, (inputs, content) in zip(flags, worlds, strict=True):
        assert inputs == (2 if "admin" in each else 1)
        assert ("cost" in content) == ("billing" in each)


async def test_tools_of_another_domain_are_not_there() -> None:
    for domain, expected in (("default", {"everyday"}), ("operator", {"special", "shared"})):
        mcp: FastMCP[Any] = FastMCP("x")
        authz = Authz(mcp, context=People(), domain=domain)
        for name, domains in (("everyday", []), ("special", ["operator"]), ("shared", ["operator", "other"])):

            @authz.tool(name, domains=domains)
            def fn() -> dict[str, Any]:
                """@rbs type output = { ok: bool }"""
                return {"ok": True}

        assert set(await tools_of(mcp)) == expected
        assert (await call(mcp, "special")).is_error == (domain == "default")
