"""`A & B`: one record, whose fields are there for whom the guards of both sides hold (SPEC section 2)."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_authz import ContractError, Settings, ToolContract

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
        ("{ a: Integer } & { a: Float }", {"type": "integer"}),
        ("{ a: Float @min(1) } & { a: Integer @min(0) }", {"type": "integer", "minimum": 1}),
        ("{ a: String? } & { a: String }", {"type": "string"}),
        ("{ a: String } & { a: String? }", {"type": "string"}),
        ("{ a: Integer? } & { a: Float? }", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ('{ a: "x" | "y" } & { a: "x" }', {"type": "string", "const": "x"}),
        ('{ a: "x" | "y" | "z" } & { a: "z" | "y" }', {"type": "string", "enum": ["y", "z"]}),
        ('{ a: "x" | 1 | true } & { a: Integer }', {"type": "integer", "const": 1}),
        ("{ a: 1 | 2 | 5 } & { a: Float @min(2) }", {"type": "integer", "enum": [2, 5]}),
        ('{ a: "x" | "xyz" } & { a: String @max(2) }', {"type": "string", "const": "x"}),
        ("{ a: true } & { a: bool }", {"type": "boolean", "const": True}),
        ("{ a: word } & { a: String @desc(Ours) }", {"type": "string", "enum": ["x", "y"], "description": "Ours"}),
        ("{ a: word? } & { a: word }", {"type": "string", "enum": ["x", "y"]}),
        (
            "{ a: String @format(email) } & { a: String @format(email) @min(3) }",
            {"type": "string", "format": "email", "minLength": 3},
        ),
        ("{ a: Integer } & Hash[String, untyped]", {"type": "integer"}),
        ("Hash & { a: Integer }", {"type": "integer"}),
    ],
)
def test_fields_of_both_sides_are_joined(type_: str, a: Any) -> None:
    assert field(type_, aliases='@rbs type word = "x" | "y"') == {
        "type": "object",
        "properties": {"a": a},
        "required": ["a"],
    }


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
        '{ a: "x" } & { a: "y" }',
        '{ a: "x" } & { a: String @min(2) }',
        '{ a: "x" | "y" } & { a: 1 | 2 }',
        "{ a: String @format(email) } & { a: Date }",
        "{ a: String? } & { a: Integer }",
        "{ a: String? } & { a: Integer? }",
        "{ a: true } & { a: 1 }",
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


def test_a_member_of_both_sides_is_there_where_both_guards_hold() -> None:
    type_ = '{ ?a: ("x" @requires(:x) | "y") } & { ?a: ("x" @requires(:y) | "z") }'
    for can in ([], ["x"], ["y"]):
        assert field(type_, *can)["properties"] == {}
    assert field(type_, "x", "y")["properties"] == {"a": {"type": "string", "const": "x"}}


def test_null_is_given_only_where_both_sides_are_marked() -> None:
    for left, right, kept in (("@nullable()", "@nullable()", True), ("@nullable()", "@desc(d)", False)):
        contract = ToolContract.parse(
            f"#: (v: {{ a: Integer? {left} }} & {{ a: Float? {right} }}) -> output\n@rbs type output = {{}}",
            settings=Settings(nullable_inputs="opt-in"),
        )
        a = contract.view(None).input_schema["properties"]["v"]["properties"]["a"]
        assert ("anyOf" in a) == kept


@pytest.mark.parametrize("type_", ["{ a: Integer } & (Hash @min(3))", "(Hash @max(3) @desc(d)) & { a: Integer }"])
def test_a_bound_of_an_open_hash_is_not_lost_in_silence(type_: str) -> None:
    with pytest.raises(ContractError, match="gives the record alone, and a record has no"):
        field(type_)


def test_many_sides_are_joined_in_the_order_of_the_text() -> None:
    sides = ["Hash", *(f"{{ f{i}: Integer, common: Float }}" for i in range(50)), "{ common: Integer }"]
    joined = field(" & ".join(sides))
    assert list(joined["properties"]) == ["f0", "common", *(f"f{i}" for i in range(1, 50))]
    assert joined["properties"]["common"] == {"type": "integer"}


def test_constants_of_both_sides_are_found_however_many_there_are() -> None:
    ours, theirs = (" | ".join(f'"w{i}"' for i in range(start, start + 60)) for start in (0, 59))
    assert field(f"{{ a: {ours} }} & {{ a: {theirs} }}")["properties"]["a"] == {"type": "string", "const": "w59"}
