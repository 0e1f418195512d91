"""Results of every kind through a real server: sent without what is hidden, or withheld; never a crash or a leak.

What a client gets is read off its stream, message by message, so that notifications and fields that `Client` does not
show are looked at too.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Annotated, Any, Literal, TypedDict

import mcp_types
import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import FastMCPTransport
from fastmcp.client.transports.base import TransportOptions
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult
from fastmcp.utilities.tests import asgi_client
from mcp import MCPError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, computed_field, field_serializer, model_serializer

from fastmcp_authz.callers.context import Request
from fastmcp_authz.serving.authz import Authz
from tests.serving.people import ERAS, People, Person, calling_as, text_of

WITHHELD = "fn: The call was carried out, but its result cannot be shown to you. Do not repeat it."
OPEN = "@rbs type output = { v: untyped, ?secret: untyped @requires(:admin) }"
ROWS = """
@rbs type row = { id: Integer, ?secret: untyped @requires(:admin) }
@rbs type output = { rows: Array[row] }
"""
PERSON = "@rbs type output = { id: Integer, ?ssn: untyped @requires(:admin) }"


class Tapped(FastMCPTransport):
    """FastMCP's in-memory transport, with a record of all that comes from the server."""

    def __init__(self, server: FastMCP[Any]) -> None:
        super().__init__(server)
        self.heard: list[Any] = []

    @asynccontextmanager
    async def connect_session(self, **options: Any) -> AsyncIterator[Any]:
        given = options.pop("transport_options", None) or TransportOptions()

        def session(read_stream: Any, **others: Any) -> Any:
            return given.session_class(read_stream=_Tap(read_stream, self.heard), **others)

        tapped: Any = dataclasses.replace(given, session_class=session)
        async with super().connect_session(transport_options=tapped, **options) as connected:
            yield connected

    @property
    def text(self) -> str:
        return "\n".join(each.message.model_dump_json(by_alias=True) for each in self.heard)


class _Tap:
    def __init__(self, stream: Any, heard: list[Any]) -> None:
        self._stream = stream
        self._heard = heard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> _Tap:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __aiter__(self) -> _Tap:
        return self

    async def __anext__(self) -> Any:
        self._heard.append(await self._stream.__anext__())
        return self._heard[-1]


def serving(function: Callable[..., Any], docstring: str, *, content: Any = "pruned", **options: Any) -> FastMCP[Any]:
    """A server with one tool, `fn`."""
    server: FastMCP[Any] = FastMCP("x")
    function.__doc__ = docstring
    Authz(server, context=People(), **options).tool("fn", content=content)(function)
    return server


def returning(make: Callable[[], Any], docstring: str, **options: Any) -> FastMCP[Any]:
    """A server whose `fn` returns what `make` makes."""

    def fn() -> Any:
        return make()

    return serving(fn, docstring, **options)


async def answer(
    server: FastMCP[Any], mode: str, arguments: dict[str, Any] | None = None, *flags: str
) -> tuple[mcp_types.CallToolResult, str]:
    """What a call of `fn` results in, and all that the client has been sent until then."""
    transport = Tapped(server)
    with calling_as(*flags):
        async with Client(transport, mode=mode) as client:
            result = await client.call_tool_mcp("fn", arguments or {})
            return result, transport.text


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the operator reads in the log of the library."""
    return [f"{each.levelname} {each.getMessage()}" for each in caplog.records if each.name == "fastmcp_authz"]


class Colour(enum.Enum):
    RED = "red"


class Typed(TypedDict):
    a: int


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any = None


class Account(BaseModel):
    number: str = Field(serialization_alias="no")

    @computed_field(alias="last")  # type: ignore[prop-decorator]
    @property
    def last_digit(self) -> str:
        return self.number[-1]


class Whole(BaseModel):
    """A model that writes itself, and cannot."""

    @model_serializer
    def _write(self) -> dict[str, Any]:
        raise RuntimeError("SECRET")


class Partly(BaseModel):
    """A model one field of which cannot be written."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    id: int = 1
    secret: Any = "SECRET"

    @field_serializer("secret")
    def _write(self, _: Any) -> Any:
        raise RuntimeError("SECRET")


def cycle() -> Any:
    loop: dict[str, Any] = {"a": "SECRET"}
    loop["again"] = loop
    return loop


def nested(levels: int, end: Any = 1) -> Any:
    for _ in range(levels):
        end = [end]
    return end


async def stream() -> AsyncIterator[str]:
    yield "SECRET"


def endless() -> Iterator[str]:
    while True:
        yield "SECRET"


def failing() -> Iterator[str]:
    yield "SECRET"
    raise RuntimeError("SECRET")


SENT: list[tuple[Callable[[], Any], Any]] = [
    (lambda: Account(number="17"), {"no": "17", "last": "7"}),
    (lambda: Pair(1, Pair(2)), {"a": 1, "b": {"a": 2, "b": None}}),
    (lambda: Typed(a=1), {"a": 1}),
    (lambda: Colour.RED, "red"),
    (lambda: dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "2026-01-02T03:04:00Z"),
    (lambda: dt.date(2026, 1, 2), "2026-01-02"),
    (lambda: Decimal("1.50"), "1.50"),
    (lambda: uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (lambda: {3}, [3]),
    (lambda: (1, (2,)), [1, [2]]),
    (lambda: b"text", "text"),
    (lambda: (n for n in (1, 2)), [1, 2]),
    (lambda: None, None),
    (lambda: 2**53 + 1, 9007199254740993),
    (lambda: -(2**64), -18446744073709551616),
    (lambda: {1: "a", None: "b", Colour.RED: "c"}, {"1": "a", "None": "b", "red": "c"}),
    (lambda: nested(150), nested(150)),
]
WITHOUT_JSON_FORM: list[Callable[[], Any]] = [
    lambda: float("nan"),
    lambda: float("-inf"),
    lambda: "\ud800",
    lambda: b"\xff",
    lambda: {object(): "SECRET"},
    lambda: Pair("SECRET", object()),
    lambda: nested(500, "SECRET"),
    lambda: nested(20_000, "SECRET"),
    cycle,
    stream,
    failing,
    Whole,
    Partly,
    object,
]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(("make", "expected"), SENT)
async def test_what_has_a_json_form_is_sent_in_it_and_nothing_else_is(
    mode: str, make: Callable[[], Any], expected: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = returning(lambda: {"v": make(), "secret": "SECRET", "undeclared": "SECRET"}, OPEN)
    result, heard = await answer(server, mode)
    assert not result.is_error
    assert result.structured_content == {"v": expected}
    assert text_of(result) == json.dumps({"v": expected}, separators=(",", ":"))
    assert "SECRET" not in heard
    assert told(caplog) == []


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("make", WITHOUT_JSON_FORM)
@pytest.mark.parametrize("within", [lambda part: {"v": part}, lambda part: {"v": [{"a": part}]}])
async def test_what_has_none_is_withheld_and_the_operator_is_told(
    mode: str, make: Callable[[], Any], within: Callable[[Any], Any], caplog: pytest.LogCaptureFixture
) -> None:
    result, heard = await answer(returning(lambda: within(make()), OPEN), mode)
    assert result.is_error
    assert (text_of(result), result.structured_content) == (WITHHELD, None)
    (record,) = told(caplog)
    assert record.startswith("ERROR fn: a result was withheld: ")
    assert "SECRET" not in heard + record


@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_hidden_may_be_of_any_kind_and_not_a_byte_differs(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def bytes_sent(hidden: Callable[[], Any]) -> str:
        row = {"id": 1, "secret": hidden(), "undeclared": hidden(), 5: hidden()}
        result, heard = await answer(returning(lambda: {"rows": [row], "secret": hidden()}, ROWS), mode)
        assert result.structured_content == {"rows": [{"id": 1}]}
        return heard

    expected = await bytes_sent(lambda: 0)
    for hidden in (*(make for make, _ in SENT), *WITHOUT_JSON_FORM, endless):
        assert await bytes_sent(hidden) == expected
    assert told(caplog) == []


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    "make",
    [
        lambda: {"rows": ({"id": n, "secret": "SECRET"} for n in (1, 2))},
        lambda: {"rows": (Partly(id=n) for n in (1, 2))},
    ],
)
async def test_generators_of_rows_are_read_to_their_end(mode: str, make: Callable[[], Any]) -> None:
    async def fn() -> Any:
        return make()

    for server in (returning(make, ROWS), serving(fn, ROWS)):
        result, heard = await answer(server, mode)
        assert result.structured_content == {"rows": [{"id": 1}, {"id": 2}]}
        assert "SECRET" not in heard


@pytest.mark.parametrize("mode", ERAS)
async def test_a_function_that_yields_returns_a_list_and_a_list_is_no_record(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    def generator() -> Iterator[Any]:
        yield {"id": 1, "ssn": "SECRET"}

    async def stream_of_rows() -> AsyncIterator[Any]:
        yield {"id": 1, "ssn": "SECRET"}

    async def returns_a_stream() -> Any:
        return stream_of_rows()

    for function in (generator, stream_of_rows, returns_a_stream):
        result, heard = await answer(serving(function, PERSON), mode)
        assert (result.is_error, text_of(result)) == (True, WITHHELD)
        assert "SECRET" not in heard + caplog.text
    assert len(told(caplog)) == 3


@pytest.mark.parametrize("mode", ERAS)
async def test_a_hundred_thousand_rows_are_sent(mode: str) -> None:
    server = returning(lambda: {"rows": [{"id": n, "secret": "SECRET"} for n in range(100_000)]}, ROWS)
    result, heard = await answer(server, mode)
    assert result.structured_content == {"rows": [{"id": n} for n in range(100_000)]}
    assert "SECRET" not in heard


@pytest.mark.parametrize("mode", ERAS)
async def test_over_http_a_client_can_read_what_is_sent(mode: str) -> None:
    server = returning(lambda: {"v": [make() for make, _ in SENT], "secret": "SECRET"}, OPEN)
    async with asgi_client(server, mode=mode) as client:
        result = await client.call_tool_mcp("fn", {})
    assert result.structured_content == {"v": [expected for _, expected in SENT]}


# -- results of FastMCP's own making ----------------------------------------------------------------------------------

WORDS = mcp_types.TextContent(type="text", text="own words")
IMAGE = mcp_types.ImageContent(type="image", data="AAAA", mime_type="image/png")
AUDIO = mcp_types.AudioContent(type="audio", data="AAAA", mime_type="audio/wav")
FILE = mcp_types.EmbeddedResource(
    type="resource", resource=mcp_types.TextResourceContents(uri="file:///a", text="a file")
)
LINK = mcp_types.ResourceLink(type="resource_link", uri="https://example.org/a", name="a")
BLOCKS: list[Any] = [WORDS, IMAGE, AUDIO, FILE, LINK]
ADA = {"id": 1, "ssn": "SECRET"}
PRUNED = [mcp_types.TextContent(type="text", text='{"id":1}')]
DROPPED = (
    "WARNING fn returned content that nothing prunes, so it was dropped: audio, image, resource, resource_link. "
    'Say content="passthrough" to send it.'
)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("content", ["pruned", "passthrough"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: ToolResult(content=BLOCKS, structured_content=ADA, meta={"m": "SECRET"}),
        lambda: mcp_types.CallToolResult(content=BLOCKS, structured_content=ADA, _meta={"m": "SECRET"}),
        lambda: (BLOCKS, ADA),
    ],
)
async def test_blocks_are_dropped_or_passed_and_meta_never_is(
    mode: str, content: str, make: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    result, heard = await answer(returning(make, PERSON, content=content), mode)
    assert not result.is_error
    assert result.structured_content == {"id": 1}
    assert result.content == (PRUNED if content == "pruned" else BLOCKS)
    assert set(result.meta or {}) <= {"io.modelcontextprotocol/serverInfo"}  # the server's, of every result
    assert told(caplog) == ([DROPPED] if content == "pruned" else [])
    assert "SECRET" not in heard


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("content", ["pruned", "passthrough"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: ToolResult(content="SECRET"),
        lambda: ToolResult(content=ADA),
        lambda: ToolResult(content=[IMAGE]),
        lambda: [mcp_types.TextContent(type="text", text="SECRET")],
        lambda: IMAGE,
    ],
)
async def test_content_without_data_fits_no_record(
    mode: str, content: str, make: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    result, heard = await answer(returning(make, PERSON, content=content), mode)
    assert (result.is_error, text_of(result), result.structured_content) == (True, WITHHELD, None)
    assert len(told(caplog)) == 1
    assert "SECRET" not in heard + caplog.text


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("content", ["pruned", "passthrough"])
@pytest.mark.parametrize(
    ("make", "text", "data"),
    [
        (lambda: ToolResult(content=[WORDS], is_error=True), "own words", None),
        (lambda: ToolResult(content=[WORDS], structured_content=ADA, is_error=True), "own words", {"id": 1}),
        (lambda: ToolResult(content=[WORDS], structured_content={"x": "SECRET"}, is_error=True), "own words", None),
        (lambda: ToolResult(structured_content=ADA, meta={"m": "SECRET"}, is_error=True), '{"id":1}', {"id": 1}),
        (lambda: ToolResult(structured_content={"x": "SECRET"}, is_error=True), WITHHELD, None),
        (lambda: ToolResult(content='["SECRET"]', is_error=True), WITHHELD, None),
    ],
)
async def test_an_error_keeps_its_words_and_its_data_is_pruned(
    mode: str, content: str, make: Callable[[], Any], text: str, data: Any
) -> None:
    result, heard = await answer(returning(make, PERSON, content=content), mode)
    assert result.is_error
    assert (text_of(result), _data_of(heard)) == (text, data)
    assert "SECRET" not in heard


def _data_of(heard: str) -> Any:
    """The structured content as it was sent."""
    return json.loads(heard.splitlines()[-1])["result"].get("structuredContent")


@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_raised_is_fastmcps_business_also_by_its_own_classes(mode: str) -> None:
    def raises() -> Any:
        raise ToolError("for the client")

    result, _ = await answer(returning(raises, PERSON), mode)
    assert (result.is_error, text_of(result)) == (True, "for the client")

    def cannot_be_made() -> Any:
        return ToolResult(structured_content={"id": 1, "ssn": object()})  # FastMCP writes it as JSON at once

    result, _ = await answer(returning(cannot_be_made, PERSON), mode)
    assert result.is_error
    assert text_of(result) != WITHHELD


@pytest.mark.parametrize("mode", ERAS)
async def test_a_question_to_the_client_passes_and_the_answer_to_it_is_pruned(mode: str) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    form = mcp_types.ElicitRequestFormParams(message="Who?", requested_schema=schema)

    def fn(ctx: Context) -> Any:
        if ctx.input_responses is None:
            requests: Any = {"who": mcp_types.ElicitRequest(params=form)}
            return mcp_types.InputRequiredResult(input_requests=requests, request_state="SECRET")
        who: Any = ctx.input_responses["who"]
        return {"id": len(who.content["name"]), "ssn": "SECRET", "state": ctx.request_state}

    async def answers(message: str, *_: Any) -> dict[str, Any]:
        return {"name": message}

    transport = Tapped(serving(fn, PERSON))
    async with Client(transport, mode=mode, elicitation_handler=answers) as client:
        if mode == "legacy":
            with pytest.raises(MCPError, match=re.escape("Use ctx.elicit()")):
                await client.call_tool_mcp("fn", {})
        else:
            result = await client.call_tool_mcp("fn", {})
            assert (result.structured_content, result.content) == ({"id": 4}, [_text('{"id":4}')])
    assert "SECRET" not in transport.text


def _text(text: str) -> mcp_types.TextContent:
    return mcp_types.TextContent(type="text", text=text)


# -- what is wrong with a result --------------------------------------------------------------------------------------

TYPES = """
@rbs type output = { n: Integer, ?at: Time, ?r: { a: Integer, ?b: untyped @requires(:admin) },
                     ?either: Integer | (String @requires(:admin)), ?secret: untyped @requires(:admin) }
"""


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("value", "sent", "record"),
    [
        ({"n": "text"}, {"n": "text"}, "n: must be a whole number, text was returned."),
        ({"n": Decimal(1)}, {"n": "1"}, "n: must be a whole number, text was returned."),
        (
            {"n": 1, "r": {"a": "x", "b": "SECRET"}},
            {"n": 1, "r": {"a": "x"}},
            "r.a: must be a whole number, text was returned.",
        ),
        ({}, {}, "n: is required."),
    ],
)
async def test_a_mistyped_result_is_withheld_or_sent_and_reported(
    mode: str, value: dict[str, Any], sent: Any, record: str, caplog: pytest.LogCaptureFixture
) -> None:
    value = {**value, "secret": "SECRET"}
    result, heard = await answer(returning(lambda: value, TYPES), mode)
    assert (result.is_error, text_of(result)) == (True, WITHHELD)
    assert told(caplog) == [f"ERROR fn: a result was withheld: {record}"]
    caplog.clear()

    transport = Tapped(returning(lambda: value, TYPES, mistyped_output="report"))
    async with Client(transport, mode=mode) as client:
        (tool,) = await client.list_tools()
        assert tool.output_schema is None, "clients would hold results to it"
        await client.call_tool_mcp("fn", {})
    results = [message["result"] for message in map(json.loads, transport.text.splitlines()) if "result" in message]
    (answered,) = [each for each in results if "structuredContent" in each]
    assert answered["structuredContent"] == json.loads(answered["content"][0]["text"]) == sent
    assert told(caplog) == [f"WARNING fn: sent a result that breaks its declared type: {record}"]
    assert "SECRET" not in heard + transport.text


@pytest.mark.parametrize("mode", ERAS)
async def test_a_time_without_a_zone_is_no_time(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    value = {"n": 1, "at": dt.datetime(2026, 1, 2)}
    result, _ = await answer(returning(lambda: value, TYPES), mode)
    assert (result.is_error, text_of(result)) == (True, WITHHELD)
    assert told(caplog) == ["ERROR fn: a result was withheld: at: must be a valid date-time."]
    result, _ = await answer(returning(lambda: value, TYPES, mistyped_output="report"), mode)
    assert result.structured_content == {"n": 1, "at": "2026-01-02T00:00:00"}


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    "value",
    [None, [1], {"n": {"a": "SECRET"}}, {"n": 1, "either": "SECRET"}, {"n": float("nan")}, {"n": 1, "r": "SECRET"}],
)
async def test_reporting_still_withholds_what_may_be_hidden(
    mode: str, value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    result, heard = await answer(returning(lambda: value, TYPES, mistyped_output="report"), mode)
    assert (result.is_error, text_of(result)) == (True, WITHHELD)
    (record,) = [each for each in told(caplog) if each.startswith("ERROR fn: a result was withheld: ")]
    assert "SECRET" not in heard + record


@pytest.mark.parametrize("mode", ERAS)
async def test_an_output_that_vanishes_for_a_caller_takes_the_tool_with_it(mode: str) -> None:
    docstring = """
    @rbs type a = { a: Integer }
    @rbs type b = { b: Integer, secret: String }
    @rbs type output = a @requires(:admin) | b @requires(:admin)
    """
    server = returning(lambda: {"b": 1, "secret": "SECRET"}, docstring)
    server.tool(name="other")(lambda: 1)
    for flags, tools, expected in (
        ((), {"other"}, "Unknown tool: 'fn'"),
        (("admin",), {"fn", "other"}, '{"b":1,"secret":"SECRET"}'),
    ):
        with calling_as(*flags):
            async with Client(server, mode=mode) as client:
                assert {tool.name for tool in await client.list_tools()} == tools
                assert text_of(await client.call_tool_mcp("fn", {})) == expected


# -- arguments --------------------------------------------------------------------------------------------------------


def _never(_: str) -> str:
    raise ValueError("PYDANTIC")


class Narrow(BaseModel):
    when: Literal["now", "PYDANTIC"]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        ({"kind": "SECRET"}, ["kind"]),
        ({"n": 1}, ["n"]),
        ({"colour": "SECRET"}, ["colour"]),
        ({"day": "SECRET"}, ["day"]),
        ({"model": {"when": "SECRET"}}, ["model"]),
        ({"checked": "SECRET", "kind": "SECRET", "n": 1}, ["checked", "kind", "n"]),
    ],
)
async def test_hints_narrower_than_the_annotation_refuse_in_our_words(
    mode: str, arguments: dict[str, Any], refused: list[str]
) -> None:
    ran: list[Any] = []

    def fn(
        kind: Literal["a", "PYDANTIC"] = "a",
        n: Annotated[int, Field(ge=10)] = 10,
        colour: Colour = Colour.RED,
        day: dt.date = dt.date(2026, 1, 2),
        model: Narrow | None = None,
        checked: Annotated[str, AfterValidator(_never)] = "",
    ) -> Any:
        ran.append(kind)

    docstring = f"""
    #: (?kind: String, ?n: Integer, ?colour: String, ?day: String, ?model: {{ when: String }}, ?checked: String)
    #: -> output
    {PERSON}
    """
    result, heard = await answer(serving(fn, docstring), mode, arguments)
    lines = "".join(f"- {name}: is not accepted by the tool.\n" for name in refused)
    assert text_of(result) == (f"fn: Invalid arguments. Nothing was executed.\n{lines}Correct these and call again.")
    assert result.is_error
    assert not ran
    assert not [word for word in ("SECRET", "PYDANTIC", "pydantic") if word in heard.splitlines()[-1]]


def echo(to: dict[str, Any], a: str = "", b: str = "", hidden: str = "python", n: int = 5) -> Any:
    return {"v": [to, a, b, hidden, n]}


ECHO = """
#: (to: { street: String, ?zip: String, ?hidden: String @requires(:admin) }, ?a: String, ?b: String @depends_on(:a),
#:  ?hidden: String @requires(:admin) @default(declared), ?n: Integer @default(7)) -> output
@rbs type output = { v: untyped }
"""
TO = {"street": "s"}


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("options", "arguments", "received"),
    [
        ({}, {"to": TO}, [TO, "", "", "python", 7]),
        ({}, {"to": TO, "a": "x", "b": "y", "n": 1}, [TO, "x", "y", "python", 1]),
        ({}, {"to": {**TO, "other": 1, "hidden": "x"}}, [TO, "", "", "python", 7]),
        ({"reject_unknown_input_keys": False}, {"to": TO, "other": 1, "hidden": "x"}, [TO, "", "", "python", 7]),
        (
            {"ignored_input_keys": {"_client", "a"}},
            {"to": TO, "_client": {"v": 1}, "a": "x", "b": ""},
            [TO, "x", "", "python", 7],
        ),
        ({"ignored_input_keys": {"hidden"}}, {"to": TO, "hidden": "x"}, [TO, "", "", "python", 7]),
    ],
)
async def test_what_is_dropped_and_filled_on_the_way_to_the_function(
    mode: str, options: dict[str, Any], arguments: dict[str, Any], received: Any
) -> None:
    result, _ = await answer(serving(echo, ECHO, **options), mode, arguments)
    assert result.structured_content == {"v": received}


@pytest.mark.parametrize("mode", ERAS)
async def test_what_an_admin_sends_arrives_whatever_the_settings(mode: str) -> None:
    arguments = {"to": {**TO, "hidden": "x"}, "hidden": "y"}
    for options in ({}, {"nested_unknown_keys": "reject"}, {"ignored_input_keys": {"hidden"}}):
        result, _ = await answer(serving(echo, ECHO, **options), mode, arguments, "admin")
        assert result.structured_content == {"v": [{**TO, "hidden": "x"}, "", "", "y", 7]}
    result, _ = await answer(serving(echo, ECHO), mode, {"to": TO}, "admin")
    assert result.structured_content == {"v": [TO, "", "", "declared", 7]}


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("options", "arguments", "line"),
    [
        ({}, {"to": TO, "a": "x"}, "b: is required when a is given."),
        ({"nested_unknown_keys": "reject"}, {"to": {**TO, "other": 1}}, "to.other: is not accepted here."),
        ({"nested_unknown_keys": "reject"}, {"to": {**TO, "hidden": "x"}}, "to.hidden: is not accepted here."),
    ],
)
async def test_what_is_refused_is_named_by_path(
    mode: str, options: dict[str, Any], arguments: dict[str, Any], line: str
) -> None:
    result, _ = await answer(serving(echo, ECHO, **options), mode, arguments)
    assert text_of(result) == (f"fn: Invalid arguments. Nothing was executed.\n- {line}\nCorrect these and call again.")


@pytest.mark.parametrize("mode", ERAS)
async def test_other_keys_than_the_ignored_are_refused(mode: str) -> None:
    server = serving(echo, ECHO, ignored_input_keys={"_client"})
    result, _ = await answer(server, mode, {"to": TO, "_client": 1, "hidden": "x"})
    assert text_of(result).startswith(
        "fn: Unknown parameters: hidden. Nothing was executed. Accepted parameters: a, b, n, to. "
    )


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("nonsense", ["25", 2500, 2.5, True, [1], {"a": 1}, object(), float("nan"), cycle()])
async def test_a_default_for_that_answers_nonsense_leaves_the_declared_default(
    mode: str, nonsense: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Odd(Person):
        def __init__(self, request: Request) -> None:
            super().__init__(request)
            self.current_user.default_for = lambda key: nonsense  # type: ignore[method-assign]

    server: FastMCP[Any] = FastMCP("x")

    @Authz(server, context=Odd).tool
    def fn(size: int = 1) -> dict[str, Any]:
        """
        #: (?size: Integer @max(100) @default(10) @default_for(:size)) -> output
        @rbs type output = { size: Integer }
        """
        return {"size": size}

    async with Client(server, mode=mode) as client:
        (tool,) = await client.list_tools()
        assert tool.input_schema["properties"]["size"]["default"] == 10
        caplog.clear()
        assert (await client.call_tool_mcp("fn", {})).structured_content == {"size": 10}
    assert set(told(caplog)) == {"WARNING fn: default_for answered what its field does not take: size."}
