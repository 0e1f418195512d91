"""A server that advertises in the dialect of one provider takes what it asked for."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_authz import Authz, ConfigurationError


def served(**options: Any) -> tuple[FastMCP[Any], list[dict[str, Any]]]:
    mcp: FastMCP[Any] = FastMCP("rates", strict_input_validation=options.pop("strict_input_validation", False))
    authz = Authz(mcp, context=lambda _: None, **options)
    received: list[dict[str, Any]] = []

    @authz.tool
    def convert(
        amount: float, rates: dict[str, float], note: str = "none", tag: str | None = "unset"
    ) -> dict[str, Any]:
        """Convert an amount.

        #: (amount: Float @min(0), rates: Hash[String, Float], ?note: String @max(80), ?tag: String?) -> output
        @rbs type output = { total: Float, ?note: String }
        """
        received.append({"amount": amount, "rates": rates, "note": note, "tag": tag})
        return {"total": amount}

    return mcp, received


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("strict", [False, True])
async def test_nulls_and_texts_reach_the_function_as_they_were_meant(mode: str, strict: bool) -> None:
    mcp, received = served(dialect="openai", strict_input_validation=strict)
    async with Client(mcp, mode=mode) as client:
        (tool,) = await client.list_tools()
        assert tool.input_schema["required"] == ["amount", "rates", "note", "tag"]
        assert tool.input_schema["properties"]["note"] == {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "description": "at most 80 characters",
        }
        arguments = {"amount": 2.0, "rates": '{"EUR": 1.5}', "note": None, "tag": None}
        result = await client.call_tool("convert", arguments)
    assert result.structured_content == {"total": 2.0}
    assert received == [{"amount": 2.0, "rates": {"EUR": 1.5}, "note": "none", "tag": None}]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_is_not_advertised_is_enforced_all_the_same(mode: str) -> None:
    mcp, received = served(dialect="anthropic")
    async with Client(mcp, mode=mode) as client:
        (tool,) = await client.list_tools()
        assert tool.input_schema["properties"]["amount"] == {"type": "number", "description": "at least 0"}
        result = await client.call_tool_mcp("convert", {"amount": -1, "rates": {}})
    assert result.is_error
    assert "amount: is too small: at least 0." in str(result.content)
    assert received == []


def test_two_dialects_at_once_are_an_error_at_start() -> None:
    with pytest.raises(ConfigurationError, match='contradicts `dialect="gemini"`: leave one of the two out'):
        served(dialect="gemini", strict_schema=True)
