"""`caller_of` and the fixture over it: a real client of a real server, as whoever the test says."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_authz import Authz, AuthzError, AuthzMiddleware, ConfigurationError, gate_check
from fastmcp_authz.events import Event, ToolCalled
from fastmcp_authz.serving.installing import authority_of
from fastmcp_authz.testing import Asked, CallError, FakeContext, RefusedError, UnknownNameError, caller_of
from fastmcp_authz.testing.connecting import Mode
from tests.serving.test_domains import over_a_socket
from tests.testing.notes import from_nowhere, notes

MODES: list[Mode] = ["auto", "legacy"]
READER = ["read"]
ADMIN = ["read", "admin"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_caller_has_the_tools_of_a_fake_context(authz_caller: type[caller_of], mode: Mode) -> None:
    async with authz_caller(notes(), FakeContext(can=READER), mode=mode) as caller:
        assert set(caller.tools) == {"find_notes", "ping"}
        tool = caller.tools["find_notes"]
        assert tool.inputs == {"word", "limit"}
        assert tool.required == {"word"}
        assert tool.outputs == {"notes", "notes.title", "found_by"}
        assert tool.description == "Find notes."
        assert tool.input_schema["properties"]["word"] == {"type": "string"}
        assert tool.output_schema is not None
        assert set(tool.output_schema["properties"]) == {"notes", "found_by"}
        assert caller.tools["ping"].inputs == {"times"}
        assert repr(caller) == "FakeContext(can=['read'])"
    async with authz_caller(notes(), FakeContext(can=ADMIN, feature=["bin"]), mode=mode) as caller:
        assert set(caller.tools) == {"find_notes", "empty_bin", "ping"}
        assert caller.tools["find_notes"].inputs == {"word", "limit", "deleted"}
        assert caller.tools["find_notes"].outputs == {"notes", "notes.title", "notes.author", "found_by"}


@pytest.mark.parametrize("mode", MODES)
async def test_calls_take_the_whole_path_of_a_request(mode: Mode) -> None:
    context = FakeContext(can=READER, defaults={"limit": 2})
    async with caller_of(notes(), context, mode=mode) as caller:
        assert await caller.call("find_notes", word="a") == {"notes": [{"title": "aa"}], "found_by": "FakeContext"}
        assert await caller.call("ping") == {"pong": 1}
        refusal = await caller.refused("find_notes", word="a", deleted=True)
        assert refusal.startswith("find_notes: Unknown parameters: deleted. Nothing was executed.")
        assert await caller.refused("find_notes", word=3) == (
            "find_notes: Invalid arguments. Nothing was executed.\n- word: must be text, a number was sent.\n"
            "Correct these and call again."
        )
        assert await caller.refused("empty_bin") == "Unknown tool: 'empty_bin'"
    assert Asked("feature", "bin", False) in context.asked
    assert Asked("current_user.default_for", "limit", 2) in context.asked


async def test_a_refusal_in_place_of_an_answer_is_a_failure_that_says_so() -> None:
    async with caller_of(notes(), "reader") as caller:
        with pytest.raises(RefusedError) as refused:
            await caller.call("find_notes", word="a", deleted=True)
    assert isinstance(refused.value, AssertionError)
    assert str(refused.value).startswith("reader was refused: find_notes: Unknown parameters: deleted.")
    assert refused.value.text.startswith("find_notes: Unknown parameters: deleted.")


async def test_an_answer_in_place_of_a_refusal_is_a_failure_that_says_so() -> None:
    async with caller_of(notes(), "reader") as caller:
        with pytest.raises(CallError) as failed:
            await caller.refused("find_notes", word="a", limit=1)
        assert str(failed.value) == (
            "find_notes was carried out for reader, and should have been refused. "
            "It was sent: {'notes': [{'title': 'a'}], 'found_by': 'FakeContext'}"
        )


async def test_a_function_that_fails_was_not_refused(caplog: pytest.LogCaptureFixture) -> None:
    async with caller_of(notes(), "reader") as caller:
        for expect in caller.refused, caller.call, caller.withheld:
            with pytest.raises(CallError, match=r"was carried out for reader.* It failed: .*no such index") as failed:
                await expect("find_notes", word="crash")
            assert not isinstance(failed.value, RefusedError)


async def test_a_withheld_result_was_not_refused_either(caplog: pytest.LogCaptureFixture) -> None:
    async with caller_of(notes(), "reader") as caller:
        report = await caller.withheld("find_notes", word="broken")
        assert report == ("found_by: is required", "notes: must be a list, text was returned")
        for expect in caller.refused, caller.call:
            with pytest.raises(CallError, match="Its result was withheld: found_by: is required; notes: must"):
                await expect("find_notes", word="broken")
        with pytest.raises(RefusedError, match="Unknown tool"):
            await caller.withheld("empty_bin")
        with pytest.raises(CallError, match=r"its result should have been withheld\. It was sent:"):
            await caller.withheld("find_notes", word="a")


async def test_a_tool_that_is_not_ours_is_refused_where_it_answers_with_an_error() -> None:
    async with caller_of(notes(), None) as caller:
        assert "Input should be a valid integer" in await caller.refused("ping", times="x")
        with pytest.raises(CallError, match=r"It was sent: \{'pong': 1\}"):
            await caller.refused("ping")


@pytest.mark.parametrize("mode", MODES)
async def test_nothing_that_nobody_has_is_absent(mode: Mode) -> None:
    async with caller_of(notes(), "reader", mode=mode) as caller:
        assert "empty_bin" not in caller.tools
        assert caller.tools.get("empty_bin") is None
        tool = caller.tools["find_notes"]
        assert caller.tools.get("find_notes") is tool
        assert "deleted" not in tool.inputs
        assert "notes.author" not in tool.outputs
        assert ("word" in tool.inputs, "notes.title" in tool.outputs) == (True, True)
        assert "times" in caller.tools["ping"].inputs
        assert repr(caller.tools["empty_bin" if "empty_bin" in caller.tools else "ping"].outputs) == "frozenset()"
        with pytest.raises(UnknownNameError, match="Did you mean empty_bin"):
            assert "empty_bim" not in caller.tools
        with pytest.raises(UnknownNameError, match="Did you mean empty_bin"):
            caller.tools.get("empty_bim")
        with pytest.raises(UnknownNameError, match=r"There is no 'delete', for anybody\. Did you mean deleted"):
            assert "delete" not in tool.inputs
        with pytest.raises(UnknownNameError, match=r"Did you mean notes\.author"):
            assert "notes.autor" not in tool.outputs


async def test_names_that_nobody_has_never_pass() -> None:
    async with caller_of(notes(), "reader") as caller:
        with pytest.raises(UnknownNameError, match=r"^'notes' has no tool 'find_note'\. Did you mean find_notes\?$"):
            caller.tools["find_note"]
        with pytest.raises(UnknownNameError, match="Did you mean empty_bin"):
            await caller.refused("empty_bins")
        with pytest.raises(UnknownNameError, match=r"has no parameter 'delete', for anybody\. Did you mean deleted"):
            await caller.refused("find_notes", word="a", delete=True)
        with pytest.raises(UnknownNameError, match=r"ping has no parameter 'x', for anybody\. There are: times"):
            await caller.refused("ping", x=1)
        with pytest.raises(UnknownNameError, match=r"empty_bin has no parameter 'x', for anybody\. There are none"):
            await caller.refused("empty_bin", x=1)
        with pytest.raises(KeyError, match=r'^empty_bin is hidden from reader: feature\("bin"\) said no\.$'):
            caller.tools["empty_bin"]
        assert "empty_bin" not in caller.tools


async def test_two_callers_of_one_server_are_each_themselves_whoever_came_last() -> None:
    server = notes()
    async with caller_of(server, "admin") as admin, caller_of(server, "reader", mode="legacy") as reader:
        for _ in range(2):
            assert "deleted" in admin.tools["find_notes"].inputs
            assert "deleted" not in reader.tools["find_notes"].inputs
            assert await admin.call("find_notes", word="a", deleted=True, limit=1) != {}
            await reader.refused("find_notes", word="a", deleted=True)
            # And with the client itself, which knows nothing of roles.
            assert {tool.name for tool in await admin.client.list_tools()} >= {"empty_bin"}
            assert {tool.name for tool in await reader.client.list_tools()} == {"find_notes", "ping"}
        both = await asyncio.gather(*(each.call("find_notes", word="a", limit=1) for each in (admin, reader) * 5))
        assert [set(answer["notes"][0]) for answer in both] == [{"title", "author"}, {"title"}] * 5


async def test_a_caller_within_a_callers_call_is_itself() -> None:
    inner = notes()
    outer: FastMCP[Any] = FastMCP("outer")
    authz = Authz(outer, context=from_nowhere)

    @authz.tool
    async def look() -> dict[str, Any]:
        """@rbs type output = { seen: Array[String] }"""
        async with caller_of(inner, FakeContext()) as nobody:
            return {"seen": sorted(nobody.tools)}

    async with caller_of(outer, FakeContext(can=ADMIN)) as caller:
        assert await caller.call("look") == {"seen": ["ping"]}


async def test_nobody_else_is_served_as_a_caller_and_the_server_is_left_as_it_was() -> None:
    built: list[Any] = []
    events: list[Event] = []

    def build(request: Any) -> Any:
        built.append(request)
        return FakeContext()

    server = notes(context=build, on_event=events.append)
    authority = authority_of(server)
    assert authority is not None
    before = authority.context, authority.observe
    async with Client(server) as stranger, caller_of(server, "admin") as admin:
        assert len(admin.tools) == 3
        assert built == []
        assert [tool.name for tool in await stranger.list_tools()] == ["ping"]
        assert len(built) == 1
        async with caller_of(server, "reader"):
            assert [tool.name for tool in await stranger.list_tools()] == ["ping"]
        assert [tool.name for tool in await stranger.list_tools()] == ["ping"]
        await admin.call("empty_bin")
    assert (authority.context, authority.observe) == before
    assert any(isinstance(event, ToolCalled) and event.outcome == "sent" for event in events)


async def test_what_is_started_within_a_callers_call_serves_nobody_as_that_caller() -> None:
    """It inherits the context variables of whoever started it: here, a port that a lifespan opens."""
    served = notes(context=lambda _: FakeContext(can=READER))
    addresses: list[str] = []
    listed_within: list[set[str]] = []

    @asynccontextmanager
    async def lifespan(_: FastMCP[Any]) -> AsyncIterator[None]:
        async with over_a_socket(served.http_app()) as address:
            addresses.append(address)
            listed_within.append({tool.name for tool in await served.list_tools()})
            yield

    outer: FastMCP[Any] = FastMCP("outer", lifespan=lifespan)
    outer.mount(served)
    async with caller_of(outer, FakeContext(can=ADMIN, feature=["bin"])) as caller:
        assert await caller.call("empty_bin") == {"deleted": 3}
        async with Client(addresses[0]) as somebody:
            assert {tool.name for tool in await somebody.list_tools()} == {"find_notes", "ping"}
            assert (await somebody.call_tool_mcp("empty_bin", {})).is_error
        assert listed_within == [{"find_notes", "ping"}]
        assert await caller.call("empty_bin") == {"deleted": 3}


async def test_a_server_that_is_given_back_after_a_failure() -> None:
    server = notes()
    authority = authority_of(server)
    assert authority is not None
    with pytest.raises(ZeroDivisionError):
        async with caller_of(server, "admin"):
            raise ZeroDivisionError
    assert authority.context is from_nowhere

    @asynccontextmanager
    async def broken(server: Any) -> AsyncIterator[None]:
        if server is not None:
            raise ZeroDivisionError
        yield

    failing: FastMCP[Any] = FastMCP("failing", lifespan=broken)
    authority = Authz(failing, context=from_nowhere).authority
    with pytest.raises(Exception, match="connect"):
        async with caller_of(failing, None):
            pass
    assert authority.context is from_nowhere


@pytest.mark.parametrize("mode", MODES)
async def test_mounted_servers_with_an_authz_of_their_own_have_the_same_caller(mode: Mode) -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    Authz(parent, context=from_nowhere)
    parent.mount(notes(), "before")
    late = notes(personas={})
    async with caller_of(parent, FakeContext(can=READER), mode=mode) as caller:
        assert set(caller.tools) == {"before_find_notes", "before_ping"}
        await caller.call("before_find_notes", word="a")
        assert await caller.refused("before_empty_bin") == "Unknown tool: 'before_empty_bin'"
        with pytest.raises(KeyError, match="before_empty_bin is hidden from FakeContext"):
            caller.tools["before_empty_bin"]
        parent.mount(late, "late")
        assert (await caller.call("late_find_notes", word="a"))["found_by"] == "FakeContext"
        await caller.list_tools()
        assert "late_find_notes" in caller.tools
        assert "late_empty_bin" in await caller.refused("late_empty_bin")
    async with caller_of(parent, "admin", mode=mode) as caller:
        # A persona that the mounted server has none of is nobody there.
        assert set(caller.tools) == {"before_find_notes", "before_empty_bin", "before_ping", "late_ping"}


async def test_a_persona_is_made_as_a_context_of_a_request_is() -> None:
    opened: list[str] = []

    @asynccontextmanager
    async def with_a_session() -> AsyncIterator[FakeContext]:
        opened.append("opened")
        yield FakeContext(can=READER)
        opened.append("closed")

    async with caller_of(notes(personas={"reader": with_a_session}), "reader") as caller:
        assert opened == ["opened", "closed"]
        await caller.call("find_notes", word="a")
        assert opened == ["opened", "closed"] * 2


async def test_the_middleware_alone_is_enough_and_a_check_of_fastmcps_asks_the_caller() -> None:
    server: FastMCP[Any] = FastMCP("x", middleware=[AuthzMiddleware(context=from_nowhere)])

    @server.tool(auth=gate_check("feature", "sms"))
    def send() -> int:
        return 1

    async with caller_of(server, FakeContext(feature=["sms"])) as caller:
        assert await caller.call("send") == {"result": 1}
    async with caller_of(server, FakeContext()) as caller:
        assert set(caller.tools) == set()
        assert await caller.refused("send") == "Unknown tool: 'send'"


async def test_a_server_that_production_refuses_is_refused() -> None:
    with pytest.raises(Exception, match="nobody to ask"):
        async with caller_of(notes(context=None), "admin"):
            pass


async def test_a_persona_or_a_predicate_that_is_a_slip_is_told() -> None:
    with pytest.raises(ConfigurationError, match=r"There is no persona 'reeder'\. Did you mean reader\?"):
        async with caller_of(notes(), "reeder"):
            pass
    with pytest.raises(ConfigurationError, match=r"There is no persona 'x'\. There are none: write"):
        async with caller_of(notes(personas={}), "x"):
            pass
    with pytest.raises(ConfigurationError, match=r"no tool of 'notes' asks features\. Did you mean feature\?"):
        async with caller_of(notes(), FakeContext(features=["bin"])):
            pass
    async with caller_of(notes(), FakeContext(tenant=["acme"], requires=READER)) as caller:
        assert "find_notes" in caller.tools


def test_a_test_that_is_not_async_has_the_same(authz_caller: type[caller_of], caplog: pytest.LogCaptureFixture) -> None:
    server = notes()
    with authz_caller(server, "reader") as reader, authz_caller(server, "admin", mode="legacy") as admin:
        assert reader.tools["find_notes"].inputs == {"word", "limit"}
        assert reader.call("find_notes", word="a", limit=1)["notes"] == [{"title": "a"}]
        assert admin.call("find_notes", word="a", limit=1)["notes"] == [{"title": "a", "author": "carol"}]
        assert "deleted" in reader.refused("find_notes", word="a", deleted=True)
        assert len(reader.withheld("find_notes", word="broken")) == 2
        assert repr(reader) == "reader"
        with pytest.raises(RefusedError):
            reader.call("empty_bin")
    authority = authority_of(server)
    assert authority is not None
    assert authority.context is from_nowhere


async def test_a_caller_that_blocks_does_so_within_an_event_loop_too() -> None:
    with caller_of(notes(), "reader") as reader:
        assert set(reader.tools) == {"find_notes", "ping"}


def test_a_loop_of_another_kind_is_told_what_to_do() -> None:
    opening = caller_of(notes(), "reader").__aenter__()
    with pytest.raises(ConfigurationError, match=r"asyncio only.*anyio_backend"):
        opening.send(None)


async def test_a_type_within_itself_and_every_kind_of_shape_has_paths() -> None:
    server: FastMCP[Any] = FastMCP("x")
    authz = Authz(server, context=from_nowhere)

    @authz.tool
    def tree() -> dict[str, Any]:
        """
        @rbs type node = { id: Integer, children: Array[node] }
        @rbs type leaf = { leaf: true, pair: [{ left: Integer }, { right: Integer }] }
        @rbs type output = { root: node, by_name: Hash[String, { rank: Integer }] } | leaf
        """
        return {}

    async with caller_of(server, None) as caller:
        assert caller.tools["tree"].outputs == {
            *("root", "root.id", "root.children", "by_name", "by_name.rank"),
            *("leaf", "pair", "pair.left", "pair.right"),
        } | {path for path in caller.tools["tree"].outputs if path.startswith("root.children.")}
        assert len(caller.tools["tree"].outputs) < 15


async def test_a_tool_without_a_schema_of_its_result_has_no_paths() -> None:
    async with caller_of(notes(mistyped_output="report"), "reader") as caller:
        assert caller.tools["find_notes"].outputs == set()
        assert caller.tools["find_notes"].output_schema is None


async def test_nothing_is_logged_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with caller_of(notes(), "admin") as caller:
            await caller.call("empty_bin")
    assert caplog.messages == []


async def test_a_facade_can_be_refused_and_a_predicate_that_fails_is_a_no(caplog: pytest.LogCaptureFixture) -> None:
    server: FastMCP[Any] = FastMCP("x")
    facets: Any = {"default": {"group_by": "category"}}
    authz = Authz(server, context=from_nowhere, facets=facets, categories={"orders": "Look at orders."})

    @authz.tool(category="orders", gates=[("feature", "orders")])
    def find() -> dict[str, Any]:
        """@rbs type output = {}"""
        return {}

    @authz.tool(category="orders")
    def close(id: str) -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (id: String) -> output
        """
        return {}

    def broken(value: str) -> bool:
        raise LookupError

    async with caller_of(server, FakeContext(feature=broken)) as caller:
        assert set(caller.tools) == {"orders_tools"}
        refusal = await caller.refused("orders_tools", tool_name="find", arguments={})
        assert 'tool_name: must be one of "close"' in refusal
        with pytest.raises(UnknownNameError, match="orders_tools has no parameter 'args'"):
            await caller.refused("orders_tools", tool_name="find", args={})
        with pytest.raises(KeyError, match="find is hidden from FakeContext"):
            caller.tools["find"]


def test_what_fails_without_async_is_told_at_the_line_of_the_test() -> None:
    with caller_of(notes(), "reader") as caller:
        for fails in (
            lambda: caller.refused("find_notes", word="a"),
            lambda: caller.call("empty_bin"),
            lambda: caller.withheld("find_note"),
        ):
            with pytest.raises(AuthzError) as failed:
                fails()
            assert not [each for each in failed.traceback if "anyio" in str(each.path)]


async def test_a_refusal_for_what_a_test_has_left_out_is_none_that_it_means() -> None:
    async with caller_of(notes(), FakeContext(can=READER)) as reader:
        with pytest.raises(CallError, match=r"find_notes was refused to .* only since word is required: send what is"):
            await reader.refused("find_notes")
        assert "Unknown parameters: deleted" in await reader.refused("find_notes", deleted=True)
        assert "limit: must be a whole number" in await reader.refused("find_notes", limit="x")
        assert await reader.refused("empty_bin") == "Unknown tool: 'empty_bin'"

    server: FastMCP[Any] = FastMCP("plain")

    @server.tool
    def echo(word: str) -> str:
        return word

    async with caller_of(server, None) as nobody:
        with pytest.raises(CallError, match="only since word is required"):
            await nobody.refused("echo")
        assert await nobody.refused("echo", word=3)
