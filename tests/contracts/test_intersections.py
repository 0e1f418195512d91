"""`A & B`: one record, whose fields are there for whom the guards of both sides hold (SPEC section 2)."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_authz import ContractError, ToolContract

from .callers import Context


def field(type_: str, *can: str, aliases: str = "") -> Any:
    contract = ToolContract.parse(f"{aliases}\n#: (?v: {type_}) -> output\n@rbs type output = {{}}")
    return contract.view(Context(*can)).input_schema["properties"].get("v")


def test_a_field_of_both_sides_is_there_where_both_guards_hold() -> None:
    type_ = "{ ?a: String @requires(:x) } & { a: String @requires(:y) @min(2) }"
    assert field(type_, "x")["properties"] == field(type_, "y")["properties"] == {}
    assert field(type_, "x", "y") == {
        "type": "object",
        "properties": {"a": {"type": "string", "minLength": 2}},
        "required": ["a"],
    }


@pytest.mark.parametrize(
    ("type_", "a"),
    [
        ("{ a: untyped } & { a: Integer }", {"type": "integer"}),
        ("{ a: Integer } & { a: untyped }", {"type": "integer"}),
        ("{ a: Integer @min(1) } & { a: Integer @max(5) }", {"type": "integer", "minimum": 1, "maximum": 5}),
        ("{ a: Integer @min(1) } & { a: Integer @min(2) }", {"type": "integer", "minimum": 2}),
        ('{ a: String } & { a: "x" }', {"type": "string", "const": "x"}),
        ('{ a: "x" } & { a: String }', {"type": "string", "const": "x"}),
        ("{ a: Integer } & { a: Integer }", {"type": "integer"}),
        ("{ a: Integer } & Hash[String, untyped]", {"type": "integer"}),
        ("Hash & { a: Integer }", {"type": "integer"}),
    ],
)
def test_fields_of_both_sides_are_joined(type_: str, a: Any) -> None:
    assert field(type_) == {"type": "object", "properties": {"a": a}, "required": ["a"]}


def test_records_inside_are_joined_too() -> None:
    assert field("{ a: { x: Integer } } & { a: { y: Integer } }")["properties"]["a"]["required"] == ["x", "y"]


def test_a_union_on_either_side_is_joined_member_by_member() -> None:
    joined = {
        "oneOf": [
            {"type": "object", "properties": {"k": {"type": "string", "const": "a"}, "n": {"type": "integer"}},
             "required": ["k", "n"]},
            {"type": "object", "properties": {"k": {"type": "string", "const": "b"}, "n": {"type": "integer"}},
             "required": ["k", "n"]},
        ]
    }  # fmt: skip
    aliases = '@rbs type either = { k: "a" } | { k: "b" } @requires(:x)'
    assert field("either & { n: Integer }", "x", aliases=aliases) == joined
    assert field("either & { n: Integer }", aliases=aliases) == joined["oneOf"][0]
    assert field("{ n: Integer } & either", aliases=aliases)["required"] == ["n", "k"]


def test_a_closed_side_closes_the_whole() -> None:
    aliases = "@rbs type shut = { a: Integer } @closed() @desc(Both)"
    assert field("shut & { b: Integer }", aliases=aliases) == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "type_",
    [
        "{ a: Integer @multiple_of(2) } & { a: Integer @multiple_of(3) }",
        "{ a: Integer } & { a: Array[Integer] }",
        "{ a: Integer } & Hash[String, Integer]",
        "String & String",
    ],
)
def test_what_cannot_be_joined_is_an_error(type_: str) -> None:
    with pytest.raises(ContractError, match="&"):
        field(type_)


async def test_contexts_with_async_predicates_have_a_view_of_their_own() -> None:
    class Slow:
        async def plan(self, name: str) -> bool:
            return name == "gold"

    contract = ToolContract.parse(
        "#: (?a: String @plan(:gold), ?b: String @plan(:iron)) -> output\n@rbs type output = {}"
    )
    assert list((await contract.view_async(Slow())).input_schema["properties"]) == ["a"]
    assert contract.view(Slow()).input_schema["properties"] == {}
