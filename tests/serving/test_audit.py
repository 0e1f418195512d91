"""What the operator is told of each decision: names, predicates and paths, and never a value."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from fastmcp_authz import Authz, ToolContract, authorized_tool
from fastmcp_authz.callers.context import Request
from fastmcp_authz.callers.scope import _identity
from fastmcp_authz.events import Event, PredicateFailed, ToolCalled, ToolsListed
from fastmcp_authz.serving.audit import emit
from tests.serving.people import ERAS, People, Person, call, tools_of


@authorized_tool
def rows(limit: int = 1, verbose: bool = False) -> dict[str, Any]:
    """
    @rbs type row = { id: String, ?ssn: String @requires(:hr) }
    @rbs type output = { rows: Array[row], ?total: Integer @feature(:totals) }
    #: (?limit: Integer @max(5), ?verbose: bool @requires(:hr)) -> output
    """
    if limit == 3:
        raise ToolError("SECRET")
    if limit == 4:
        return {"rows": "SECRET"}
    return {"rows": [{"id": "1", "ssn": "SECRET", "extra": "SECRET"}] * limit, "total": 1}


@authorized_tool(authorization="comms", gates=[("feature", "sms")])
def send_sms() -> dict[str, Any]:
    """@rbs type output = {}"""
    return {}


class Named(Person):
    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.audit_id = "u1"


def server(context: Any = Named, **options: Any) -> tuple[FastMCP[Any], list[Event]]:
    mcp: FastMCP[Any] = FastMCP("audited")
    mcp.tool(rows)
    mcp.tool(send_sms)
    heard: list[Event] = []
    Authz(mcp, context=context, on_event=heard.append, **options)
    return mcp, heard


@pytest.mark.parametrize("mode", ERAS)
async def test_a_list_tells_what_was_shown_and_which_predicates_hid_the_rest(mode: str) -> None:
    mcp, heard = server()
    await tools_of(mcp, "comms", mode=mode)
    (event,) = heard
    assert isinstance(event, ToolsListed)
    assert (event.caller, event.tools, event.hidden) == ("u1", ("rows",), {"send_sms": ('feature("sms")',)})
    assert event.seconds > 0
    assert str(event) == 'listed rows to u1, not send_sms (feature("sms") said no)'
    heard.clear()
    await tools_of(mcp, "comms", "sms", mode=mode)
    assert [str(event) for event in heard] == ["listed rows, send_sms to u1"]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("rows", {}, {"outcome": "sent", "pruned": ("total", "rows[].ssn", "rows[].extra")}),
        ("rows", {"limit": 4}, {"outcome": "withheld", "report": ("rows: must be a list, text was returned",)}),
        ("rows", {"limit": 3}, {"outcome": "error"}),
        ("rows", {"verbose": True}, {"outcome": "unknown_keys", "keys": ("verbose",)}),
        ("rows", {"limit": 9}, {"outcome": "invalid_arguments", "keys": ("limit",)}),
        (
            "send_sms",
            {},
            {"outcome": "unknown_tool", "denied": ('current_user.can("comms")', 'feature("sms")')},
        ),
    ],
)
async def test_a_call_tells_what_became_of_it(
    mode: str, tool: str, arguments: dict[str, Any], expected: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    mcp, heard = server()
    with caplog.at_level(logging.INFO, "fastmcp_authz.audit"):
        await call(mcp, tool, arguments, mode=mode)
    (event,) = [each for each in heard if isinstance(each, ToolCalled)]
    assert (event.caller, event.tool) == ("u1", tool)
    found = {name: getattr(event, name) for name in ("outcome", "denied", "keys", "pruned", "report")}
    assert {name: value for name, value in found.items() if value} == expected
    assert event.seconds > 0
    (record,) = [each for each in caplog.records if getattr(each, "event", None) is event]
    assert (record.name, record.levelname, record.getMessage()) == ("fastmcp_authz.audit", "INFO", str(event))
    assert "SECRET" not in "".join(
        each.getMessage() for each in caplog.records if each.name.startswith("fastmcp_authz")
    )
    assert "SECRET" not in repr(heard)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_is_denied_below_a_namespace_is_told_by_the_name_that_was_called(mode: str) -> None:
    parent: FastMCP[Any] = FastMCP("parent")
    covered: FastMCP[Any] = FastMCP("covered")
    covered.tool(send_sms)
    covered.tool(rows)
    parent.mount(covered, namespace="ns")
    heard: list[Event] = []
    Authz(parent, context=Named, on_event=heard.append)
    await call(parent, "ns_send_sms", mode=mode)
    await call(parent, "ns_absent", mode=mode)
    calls = [event for event in heard if isinstance(event, ToolCalled)]
    assert [(event.tool, event.outcome) for event in calls] == [("ns_send_sms", "unknown_tool")]
    assert calls[0].denied == ('current_user.can("comms")', 'feature("sms")')


async def test_arguments_that_the_hints_refuse_are_told_by_name() -> None:
    @authorized_tool
    def fn(kind: Literal["a"]) -> dict[str, Any]:
        """
        @rbs type output = {}
        #: (kind: String @max(1)) -> output
        """
        return {}

    mcp: FastMCP[Any] = FastMCP("hints")
    mcp.tool(fn)
    heard: list[Event] = []
    Authz(mcp, context=Named, on_event=heard.append)
    await call(mcp, "fn", {"kind": "b"})
    (event,) = [each for each in heard if isinstance(each, ToolCalled)]
    assert (event.outcome, event.keys) == ("invalid_arguments", ("kind",))


def test_an_event_reads_as_a_line() -> None:
    told = ToolCalled("u1", "rows", "sent", pruned=("rows[].ssn",), seconds=0.0021)
    assert str(told) == "called rows by u1: sent, without rows[].ssn (2.1 ms)"
    denied = ToolCalled(None, "sms", "unknown_tool", ('feature("sms")',), seconds=0.001)
    assert str(denied) == 'called sms by nobody known: unknown_tool, feature("sms") said no (1.0 ms)'


async def test_a_path_that_is_left_out_is_a_warning_once(caplog: pytest.LogCaptureFixture) -> None:
    @authorized_tool
    def fn(more: bool = False) -> dict[str, Any]:
        """
        @rbs type output = { id: Integer, ?ssn: String @requires(:hr) }
        #: (?more: bool) -> output
        """
        return {"id": 1, "ssn": "SECRET", **({"extra": "SECRET"} if more else {})}

    mcp: FastMCP[Any] = FastMCP("warned")
    mcp.tool(fn)
    Authz(mcp, context=People())
    for arguments in ({}, {}, {"more": True}, {"more": True}):
        await call(mcp, "fn", arguments)
    await call(mcp, "fn", {}, "hr")
    left_out = "fn returned what its caller may not see or nobody declared, and it was left out:"
    told = [record.getMessage() for record in caplog.records if record.name == "fastmcp_authz.audit"]
    assert told == [f"{left_out} ssn.", f"{left_out} extra."]


def test_paths_name_fields_and_no_data() -> None:
    docstring = """
    #: () -> output
    @rbs type person = { id: Integer, ?ssn: String @requires(:hr) }
    @rbs type output = {
      people: Hash[String, person], ?pairs: [person, person], ?any: untyped, ?kinds: Hash["a", Integer]
    }
    """
    ada = {"id": 1, "ssn": "SECRET", "left": 2, "not a name": 3, 5: 4}
    value = {"people": {"ada@x.org": ada, "bob": ada}, "pairs": (ada, ada), "any": ada, "kinds": {"a": 1, "b": 2}}
    pruned = ToolContract.parse(docstring).view(None).prune(value)
    assert pruned.left_out == (
        *("people.*.ssn", "people.*.left", "people.*.*", "people.*.5"),
        *("pairs[].ssn", "pairs[].left", "pairs[].*", "pairs[].5", "kinds.b"),
    )


def test_paths_are_looked_for_within_bounds() -> None:
    docstring = "#: () -> output\n@rbs type output = { rows: Array[{ id: Integer }] }"
    rows = [{"id": n, **{f"k{n}_{i}": 0 for i in range(30)}} for n in range(1_000)]
    pruned = ToolContract.parse(docstring).view(None).prune({"rows": rows})
    assert len(pruned.left_out) == 20


@pytest.mark.parametrize(
    ("answer", "reason"),
    [("yes", "answered a str"), (LookupError("SECRET"), "LookupError"), (None, "answered a NoneType")],
)
async def test_a_predicate_that_fails_is_told(answer: Any, reason: str) -> None:
    class Failing(Named):
        async def feature(self, flag: str) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    mcp, heard = server(Failing)
    await tools_of(mcp)
    failed = [event for event in heard if isinstance(event, PredicateFailed)]
    assert failed[0] == PredicateFailed("u1", 'feature("sms")', reason)
    assert "SECRET" not in repr(heard)


async def test_a_hook_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: Event) -> None:
        raise LookupError

    mcp: FastMCP[Any] = FastMCP("audited")
    mcp.tool(rows)
    Authz(mcp, context=Named, on_event=broken)
    assert (await call(mcp, "rows")).structured_content == {"rows": [{"id": "1"}]}
    assert "on_event failed." in caplog.messages


async def test_another_servers_tools_are_nobodys_business() -> None:
    mcp: FastMCP[Any] = FastMCP("bare")

    @mcp.tool
    def plain() -> str:
        return "x"

    heard: list[Event] = []
    Authz(mcp, on_event=heard.append)
    await tools_of(mcp)
    await call(mcp, "plain")
    await call(mcp, "nothing")
    assert heard == []


class Recording(NonRecordingSpan):
    def __init__(self) -> None:
        super().__init__(SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(1)))
        self.events: list[tuple[str, Any]] = []

    def is_recording(self) -> bool:
        return True

    def add_event(self, name: str, attributes: Any = None, timestamp: int | None = None) -> None:
        self.events.append((name, attributes))


def test_events_are_on_the_span_of_the_request() -> None:
    span = Recording()
    with use_span(span):
        emit(ToolCalled("u1", "rows", "unknown_tool", ('requires("hr")',), seconds=0.5))
        emit(ToolsListed(None, ("rows",), {"sms": ("a", "b")}, 0.25))
    assert span.events == [
        (
            "authz.ToolCalled",
            {
                "authz.caller": "u1",
                "authz.tool": "rows",
                "authz.outcome": "unknown_tool",
                "authz.denied": ['requires("hr")'],
                "authz.seconds": 0.5,
            },
        ),
        ("authz.ToolsListed", {"authz.tools": ["rows"], "authz.hidden": ["sms: a, b"], "authz.seconds": 0.25}),
    ]


@pytest.mark.parametrize(
    ("context", "token", "name"),
    [
        ({"audit_id": "a"}, {"subject": "s"}, "a"),
        ({}, {"subject": "s", "claims": {"sub": "c"}, "client_id": "app"}, "s"),
        ({}, {"subject": None, "claims": {"sub": "c"}, "client_id": "app"}, "c"),
        ({}, {"client_id": "app"}, "app"),
        ({"audit_id": object()}, None, None),
        ({}, None, None),
    ],
)
def test_who_it_was(context: dict[str, Any], token: dict[str, Any] | None, name: str | None) -> None:
    request = Request(access_token=None if token is None else SimpleNamespace(**token))
    assert _identity(SimpleNamespace(**context), request) == name


def test_a_context_that_does_not_know_its_own_name_is_nobody_known(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        @property
        def audit_id(self) -> str:
            raise LookupError

    assert _identity(Broken(), Request()) is None
    assert "audit_id" in caplog.text
