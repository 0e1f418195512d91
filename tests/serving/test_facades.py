"""Facades: one tool for a category, which holds what the caller has of it now and calls it as if by name."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import mcp_types
import pytest
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools.tool_transform import ToolTransformConfig

from fastmcp_authz import Authz, ConfigurationError, ContractError, authorized_tool
from fastmcp_authz.events import Event, ToolCalled, ToolsListed
from tests.serving.people import ERAS, People, call, calling_as, text_of

ADMIN: Any = {"admin": {"group_by": "category"}}


def find_orders(status: str = "open", force: bool = False) -> dict[str, Any]:
    """Find orders.

    Not on the first line.

    @rbs type output = { found: String }
    #: (?status: String, ?force: bool @requires(:boss)) -> output
    """
    return {"found": f"{status} {force}"}


def cancel_order(number: int, why: dict[str, Any] | None = None) -> dict[str, Any]:
    """
    @rbs type output = { cancelled: Integer }
    #: (number: Integer, ?why: { note: String }) -> output
    """
    return {"cancelled": number, "why": why}


def pay(invoice: str) -> dict[str, Any]:
    """Settle a bill.

    @rbs type output = { paid: String }
    #: (invoice: String) -> output
    """
    return {"paid": invoice}


def shop(facets: Any = None, **options: Any) -> tuple[FastMCP[Any], Authz, list[Event]]:
    mcp: FastMCP[Any] = FastMCP("shop")
    told: list[Event] = []
    authz = Authz(
        mcp,
        context=People(),
        domain="admin",
        facets=ADMIN if facets is None else facets,
        on_event=told.append,
        **options,
    )
    orders: Any = {"domains": ["admin", "flat"], "category": "orders"}
    authz.tool("find_orders", **orders)(find_orders)
    authz.tool("cancel_order", authorization="cancel", category_summary="SECRET orders.", **orders)(cancel_order)
    authz.tool("pay", domains=["admin"], category="bills", authorization="bills", category_summary="Bills.")(pay)
    mcp.tool(lambda: "", name="not_ours")
    return mcp, authz, told


async def listed(mcp: FastMCP[Any], *flags: str, mode: str = "auto") -> dict[str, mcp_types.Tool]:
    with calling_as(*flags):
        async with Client(mcp, mode=mode) as client:
            return {tool.name: tool for tool in await client.list_tools()}


def schemas(tool: mcp_types.Tool) -> Any:
    return (tool.meta or {})["tool-input-schemas"]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_faceted_domain_lists_what_the_caller_has_of_each_category(mode: str) -> None:
    mcp, _, _ = shop()
    everything = await listed(mcp, "cancel", "bills", "boss", mode=mode)
    assert list(everything) == ["orders_tools", "bills_tools", "not_ours"]
    assert everything["orders_tools"].description == "SECRET orders.\n\n- find_orders — Find orders.\n- cancel_order"
    assert everything["bills_tools"].description == "Bills.\n\n- pay — Settle a bill."
    assert everything["orders_tools"].input_schema == {
        "type": "object",
        "properties": {
            "tool_name": {
                "type": "string",
                "enum": ["find_orders", "cancel_order"],
                "description": "The tool to call.",
            },
            "arguments": {"type": "object", "description": "The parameters of that tool, by name."},
        },
        "required": ["tool_name", "arguments"],
        "additionalProperties": False,
    }
    little = await listed(mcp, mode=mode)
    assert list(little) == ["orders_tools", "not_ours"]
    assert little["orders_tools"].description == "Tools for orders.\n\n- find_orders — Find orders."
    for name in ("cancel", "pay", "SECRET", "force"):
        assert name not in little["orders_tools"].model_dump_json()


@pytest.mark.parametrize("mode", ERAS)
async def test_the_schemas_in_meta_are_those_that_a_flat_list_shows(mode: str) -> None:
    for flags in ((), ("boss",), ("cancel",), ("cancel", "boss", "bills")):
        faceted = await listed(shop()[0], *flags, mode=mode)
        flat = await listed(shop(facets={})[0], *flags, mode=mode)
        facades = [tool for name, tool in faceted.items() if name.endswith("_tools")]
        inside = {name: schema for tool in facades for name, schema in schemas(tool).items()}
        assert inside == {name: tool.input_schema for name, tool in flat.items() if name != "not_ours"}
        lazy = await listed(shop({"admin": {"schema_strategy": "lazy"}})[0], *flags, mode=mode)
        assert {name: tool.input_schema for name, tool in lazy.items()} == {
            name: tool.input_schema for name, tool in faceted.items()
        }
        assert all(tool.meta is None or "tool-input-schemas" not in tool.meta for tool in lazy.values())


async def test_other_domains_list_as_ever() -> None:
    mcp, authz, _ = shop({"other": {}})
    assert list(await listed(mcp)) == ["find_orders", "not_ours"]
    assert authz.settings.domain == "admin"


async def test_what_a_category_is_about_is_said_by_the_server_first() -> None:
    mcp, _, _ = shop(categories={"orders": "Look at orders.", "bills": "Pay."})
    tools = await listed(mcp, "cancel", "bills")
    told = [tool.description or "" for name, tool in tools.items() if name.endswith("_tools")]
    assert [description.splitlines()[0] for description in told] == ["Look at orders.", "Pay."]


ENVELOPES: list[tuple[dict[str, Any], str]] = [
    ({}, 'tool_name: is required, one of "find_orders".\n- arguments: is required: an object, with the parameters'),
    ({"tool_name": "find_orders"}, "arguments: is required: an object"),
    ({"tool_name": "cancel_order", "arguments": {}}, 'tool_name: must be one of "find_orders".'),
    ({"tool_name": 5, "arguments": {}}, 'tool_name: must be one of "find_orders".'),
    ({"tool_name": ["find_orders"], "arguments": {}}, 'tool_name: must be one of "find_orders".'),
    ({"tool_name": "find_orders", "arguments": [1]}, "arguments: must be an object"),
    ({"tool_name": "find_orders", "arguments": None}, "arguments: must be an object"),
    ({"tool_name": "find_orders", "arguments": "[1]"}, "arguments: must be an object"),
    ({"tool_name": "find_orders", "arguments": "{"}, "arguments: must be an object"),
    ({"tool_name": "find_orders", "arguments": "[" * 100_000}, "arguments: must be an object"),
]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(("sent", "expected"), ENVELOPES)
async def test_what_is_no_envelope_is_refused_with_what_is_offered(
    mode: str, sent: dict[str, Any], expected: str
) -> None:
    mcp, _, told = shop()
    result = await call(mcp, "orders_tools", sent, mode=mode)
    assert result.is_error
    assert text_of(result).startswith("orders_tools: Invalid arguments. Nothing was executed.\n- ")
    assert expected in text_of(result)
    assert "cancel" not in text_of(result)
    last = told[-1]
    assert isinstance(last, ToolCalled)
    assert (last.tool, last.outcome) == ("orders_tools", "invalid_arguments")


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_is_the_targets_own(mode: str) -> None:
    mcp, _, told = shop()
    for arguments in ({"status": "paid"}, '{"status": "paid"}'):
        result = await call(mcp, "orders_tools", {"tool_name": "find_orders", "arguments": arguments}, mode=mode)
        assert result.structured_content == {"found": "paid False"}
    assert [(each.tool, each.outcome) for each in told if isinstance(each, ToolCalled)] == [("find_orders", "sent")] * 2
    direct = await call(mcp, "find_orders", {"status": "paid"}, mode=mode)
    assert direct == await call(
        mcp, "orders_tools", {"tool_name": "find_orders", "arguments": {"status": "paid"}}, mode=mode
    )
    for inner in ({"force": True}, {"status": 5}):
        through = await call(mcp, "orders_tools", {"tool_name": "find_orders", "arguments": inner}, mode=mode)
        assert through == await call(mcp, "find_orders", inner, mode=mode)
        assert through.is_error
    boss = {"tool_name": "find_orders", "arguments": {"force": True}}
    assert (await call(mcp, "orders_tools", boss, "boss", mode=mode)).structured_content == {"found": "open True"}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_key_beside_the_arguments_belongs_inside(mode: str) -> None:
    sent = {"tool_name": "find_orders", "arguments": {}, "status": "paid", "_ui": 1}
    mcp, _, told = shop(ignored_input_keys=["_ui"])
    result = await call(mcp, "orders_tools", sent, mode=mode)
    assert text_of(result) == (
        "orders_tools: Unknown parameters: status. Nothing was executed. Parameters of a tool belong inside "
        "`arguments`: call again with the same `tool_name`, and with them there."
    )
    last = told[-1]
    assert isinstance(last, ToolCalled)
    assert (last.outcome, last.keys) == ("unknown_keys", ("status",))
    del sent["status"]
    assert (await call(mcp, "orders_tools", sent, mode=mode)).structured_content == {"found": "open False"}
    mcp, _, _ = shop(reject_unknown_input_keys=False)
    assert (await call(mcp, "orders_tools", sent, mode=mode)).structured_content == {"found": "open False"}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_facade_of_nothing_is_an_unknown_tool(mode: str) -> None:
    mcp, _, _ = shop()
    sent = {"tool_name": "pay", "arguments": {"invoice": "i"}}
    hidden, absent = [await call(mcp, name, sent, mode=mode) for name in ("bills_tools", "sales_tools")]
    assert hidden.is_error
    assert hidden.model_dump_json().replace("bills", "sales") == absent.model_dump_json()
    assert (await call(mcp, "bills_tools", sent, "bills", mode=mode)).structured_content == {"paid": "i"}
    flat, _, _ = shop({"other": {}})
    assert text_of(await call(flat, "orders_tools", sent, mode=mode)) == "Unknown tool: 'orders_tools'"


async def test_rights_that_are_lost_between_list_and_call_are_lost() -> None:
    mcp, _, _ = shop()
    people = iter([("bills",), ()])

    class Changing(Middleware):
        """Whoever calls has other rights than whoever listed."""

    mcp.add_middleware(Changing())
    assert "bills_tools" in await listed(mcp, *next(people))
    assert (await call(mcp, "bills_tools", {"tool_name": "pay", "arguments": {}}, *next(people))).is_error


async def test_whatever_stands_before_a_tool_stands_before_its_facade() -> None:
    mcp, _, _ = shop()
    seen: list[str] = []

    class Shuts(Middleware):
        async def on_call_tool(
            self, context: MiddlewareContext[mcp_types.CallToolRequestParams], call_next: CallNext[Any, Any]
        ) -> Any:
            seen.append(context.message.name)
            if context.message.name == "find_orders":
                raise ToolError("not today")
            return await call_next(context)

    mcp.add_middleware(Shuts())
    result = await call(mcp, "orders_tools", {"tool_name": "find_orders", "arguments": {}})
    assert (result.is_error, text_of(result)) == (True, "not today")
    assert seen == ["orders_tools", "find_orders"]


async def test_a_tool_that_is_switched_off_is_not_offered() -> None:
    mcp, _, _ = shop()
    mcp.disable(names={"find_orders"})
    assert list(await listed(mcp)) == ["not_ours"]
    tools = await listed(mcp, "cancel")
    assert tools["orders_tools"].input_schema["properties"]["tool_name"]["enum"] == ["cancel_order"]
    result = await call(mcp, "orders_tools", {"tool_name": "find_orders", "arguments": {}}, "cancel")
    assert 'must be one of "cancel_order"' in text_of(result)


async def test_fastmcps_own_checks_decide_too() -> None:
    mcp, authz, _ = shop()
    authz.tool("checked", domains=["admin"], category="orders", auth=lambda _: False)(pay)
    tools = await listed(mcp)
    assert "checked" not in tools["orders_tools"].model_dump_json()
    result = await call(mcp, "orders_tools", {"tool_name": "checked", "arguments": {"invoice": "i"}})
    assert 'must be one of "find_orders"' in text_of(result)


async def test_a_tool_is_offered_by_the_name_that_it_has_outside() -> None:
    mcp, _, _ = shop()
    mcp.add_transform(ToolTransform({"find_orders": ToolTransformConfig(name="seek")}))
    tools = await listed(mcp)
    assert tools["orders_tools"].input_schema["properties"]["tool_name"]["enum"] == ["seek"]
    result = await call(mcp, "orders_tools", {"tool_name": "seek", "arguments": {}})
    assert result.structured_content == {"found": "open False"}


async def test_what_is_the_callers_own_is_in_the_facade_too() -> None:
    mcp, authz, _ = shop()

    @authz.tool(domains=["admin"], category="orders", description=lambda context: f"For {context.flags}.")
    def page(size: int = 1) -> dict[str, Any]:
        """
        @rbs type output = { size: Integer }
        #: (?size: Integer @default(1) @default_for(:size)) -> output
        """
        return {"size": size}

    for own in ("size=4", "size=7"):
        facade = (await listed(mcp, own))["orders_tools"]
        assert f"- page — For ['{own}']." in (facade.description or "")
        assert schemas(facade)["page"]["properties"]["size"]["default"] == int(own[-1])


async def test_the_operator_is_told_of_tools_and_not_of_facades() -> None:
    mcp, _, told = shop()
    await listed(mcp, "bills")
    (event,) = told
    assert isinstance(event, ToolsListed)
    assert event.tools == ("find_orders", "pay")
    assert event.hidden == {"cancel_order": ('current_user.can("cancel")',)}


@pytest.mark.parametrize("mode", ERAS)
async def test_tools_without_a_category_are_a_group_of_their_own(mode: str) -> None:
    mcp, authz, _ = shop()
    authz.tool("alone", domains=["admin"])(pay)
    tools = await listed(mcp, mode=mode)
    assert tools["uncategorized_tools"].description == "Other tools.\n\n- alone — Settle a bill."
    sent = {"tool_name": "alone", "arguments": {"invoice": "i"}}
    assert (await call(mcp, "uncategorized_tools", sent, mode=mode)).structured_content == {"paid": "i"}


async def refused(mcp: FastMCP[Any]) -> str:
    with pytest.raises(RuntimeError) as error:
        async with Client(mcp):
            pass
    assert isinstance(error.value.__cause__, ConfigurationError)
    return str(error.value.__cause__)


async def test_tools_without_a_category_may_keep_a_server_from_starting(caplog: pytest.LogCaptureFixture) -> None:
    strict: Any = {"admin": {"uncategorized": "error"}}
    mcp, authz, _ = shop(strict)
    authz.tool("alone", domains=["admin"])(pay)
    assert await refused(mcp) == (
        "the domain 'admin' is faceted, and alone of it have no category: write category=\"...\", or "
        '"uncategorized": "fallback" in facets=.'
    )
    mcp, authz, _ = shop(strict)
    async with Client(mcp) as client:
        authz.tool("alone", domains=["admin"])(pay)  # later, it is nowhere to be seen
        assert [tool.name for tool in await client.list_tools()] == ["orders_tools", "not_ours"]
    assert "alone has no category, which its domain asks for: it is left out." in caplog.text


async def test_a_facade_takes_no_tools_name(caplog: pytest.LogCaptureFixture) -> None:
    mcp, _, _ = shop()
    mcp.tool(lambda: "the tool", name="orders_tools")
    assert await refused(mcp) == (
        "'orders_tools' is a tool, and the name of the facade for 'orders' in the domain 'admin': rename one, with "
        '"facade_suffix" in facets= or category=.'
    )
    renamed, _, _ = shop({"admin": {"facade_suffix": "group"}})
    renamed.tool(lambda: "the tool", name="orders_tools")
    assert set(await listed(renamed)) == {"orders_group", "orders_tools", "not_ours"}
    mcp, _, _ = shop()
    async with Client(mcp) as client:
        mcp.tool(lambda: "the tool", name="orders_tools")  # later, the tool keeps its name
        assert {tool.name for tool in await client.list_tools()} == {"orders_tools", "not_ours"}
        assert text_of(await client.call_tool_mcp("orders_tools", {})) == "the tool"
        assert (await client.call_tool_mcp("find_orders", {})).structured_content == {"found": "open False"}
    assert "'orders_tools' is a tool, so that no facade can have the name." in caplog.text


def wrong_options() -> Iterator[Any]:
    for options, told in (
        ({"facets": {"admin": {"group_by": "tag"}}}, "facets['admin']['group_by']: Input should be 'category'"),
        ({"facets": {"admin": {"schema_strategy": "x"}}}, "facets['admin']['schema_strategy']: Input should be"),
        ({"facets": {"admin": {"uncategorised": "error"}}}, "facets['admin']['uncategorised']: Extra inputs"),
        ({"facets": {"admin": {"facade_suffix": "a b"}}}, "facets['admin']['facade_suffix']: String should match"),
        ({"facets": ["admin"]}, "facets: Input should be a valid dictionary"),
        ({"categories": {"orders": 5}}, "categories['orders']: Input should be a valid string"),
    ):
        yield pytest.param(options, told, id=told)


@pytest.mark.parametrize(("options", "told"), list(wrong_options()))
def test_wrong_options_are_told_of_at_once(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        Authz(FastMCP("x"), **options)
    assert told in str(error.value)
    assert f"Write {next(iter(options))}=" in str(error.value)


def test_a_category_is_a_name() -> None:
    for wrong in ("order tools", "", 5):
        with pytest.raises(ContractError, match=r"category: .* is no name"):
            authorized_tool(category=wrong)(pay)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["vendor_extension", "lazy"])
async def test_five_hundred_tools_in_twelve_categories(strategy: str) -> None:
    mcp: FastMCP[Any] = FastMCP("large")
    authz = Authz(mcp, context=People(), facets={"default": {"schema_strategy": strategy}})  # type: ignore[typeddict-item]
    for number in range(500):
        gates = [("requires", f"area{number % 24}")]
        authz.tool(f"pay_{number}", category=f"area{number % 12}", gates=gates)(pay)
    flags = ("area0", "area12", "area5")
    facades = await listed(mcp, *flags)
    assert list(facades) == ["area0_tools", "area5_tools"]
    offered = {name: tool.input_schema["properties"]["tool_name"]["enum"] for name, tool in facades.items()}
    assert offered == {
        "area0_tools": [f"pay_{number}" for number in range(500) if number % 12 == 0],
        "area5_tools": [f"pay_{number}" for number in range(500) if number % 24 == 5],
    }
    assert (strategy == "lazy") == ("invoice" not in json.dumps([tool.model_dump() for tool in facades.values()]))
    sent = {"tool_name": "pay_12", "arguments": {"invoice": "i"}}
    assert (await call(mcp, "area0_tools", sent, *flags)).structured_content == {"paid": "i"}
    assert (await call(mcp, "area0_tools", sent, "area0")).is_error


async def test_a_broken_tool_does_not_take_its_facade_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mcp, _, _ = shop()
    cards: Any = __import__("fastmcp_authz.serving.transform", fromlist=["card"]).card

    def broken(kept: Any, declaration: Any, *others: Any) -> Any:
        return 1 / 0 if str(declaration) == "cancel_order" else cards(kept, declaration, *others)

    monkeypatch.setattr("fastmcp_authz.serving.transform.card", broken)
    with caplog.at_level(logging.CRITICAL):
        tools = await listed(mcp, "cancel")
    assert tools["orders_tools"].input_schema["properties"]["tool_name"]["enum"] == ["find_orders"]
