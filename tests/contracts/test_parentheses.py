"""Whose tags are whose in an alias: the name's, unless parentheses hold them with one member (SPEC section 3)."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_authz import ToolContract

from .callers import Context


def of_alias(declared: str, use: str = "x", *can: str) -> Any:
    contract = ToolContract.parse(f"@rbs type {declared}\n#: (?v: {use}) -> output\n@rbs type output = {{}}")
    return contract.view(Context(*can)).input_schema["properties"].get("v")


TEXT = {"type": "string", "minLength": 3}
LIST = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("body", "schema"),
    [
        ("(String @min(3)) | Array[Integer]", {"oneOf": [TEXT, LIST]}),
        ("String | Array[Integer] @min(3)", {"oneOf": [TEXT, LIST | {"minItems": 3}]}),
        ("(String @min(3)) | Array[Integer] @max(5)", {"oneOf": [TEXT | {"maxLength": 5}, LIST | {"maxItems": 5}]}),
        ("(String | Array[Integer] @min(3))", {"oneOf": [{"type": "string"}, LIST | {"minItems": 3}]}),
        ("(bool) | (Integer @min(3))", {"oneOf": [{"type": "boolean"}, {"type": "integer", "minimum": 3}]}),
        (
            "(String @title(a)) | (Integer @title(b))",
            {"oneOf": [{"type": "string", "title": "a"}, {"type": "integer", "title": "b"}]},
        ),
        (
            "(String @desc(d)) | Integer @title(t)",
            {"oneOf": [{"type": "string", "description": "d"}, {"type": "integer"}], "title": "t"},
        ),
        ("(String @min(3))", TEXT),
        ("((String @min(3)))", TEXT),
        ("(String @min(1)) @min(3)", TEXT),
        ("(String @min(3))?", {"anyOf": [TEXT, {"type": "null"}]}),
    ],
)
def test_tags_in_parentheses_are_their_types_own(body: str, schema: Any) -> None:
    assert of_alias(f"x = {body}") == schema


def test_the_tags_of_a_type_argument_are_its_own() -> None:
    assert of_alias("e[T] = T | Array[Integer]", "e[String @min(3)]") == {"oneOf": [TEXT, LIST]}
    assert of_alias("e[T] = T", 'e["a" | "b" @desc(only b)]') == {
        "oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b", "description": "only b"}]
    }
    assert of_alias("e[T] = T | Array[Integer] @max(5)", "e[String @min(3)]") == {
        "oneOf": [TEXT | {"maxLength": 5}, LIST | {"maxItems": 5}]
    }


def test_a_predicate_in_parentheses_gates_its_member() -> None:
    body = "x = (String @requires(:a) @min(3)) | (Array[Integer] @requires(:b))"
    assert of_alias(body) is None
    assert of_alias(body, "x", "a") == TEXT
    assert of_alias(body, "x", "b") == LIST
    assert of_alias("e[T] = T | Array[Integer]", "e[String @requires(:a)]") == LIST


def test_in_a_field_the_last_member_keeps_what_its_parentheses_hold() -> None:
    def of_field(type_: str) -> Any:
        return of_alias("x = String", type_)

    assert of_field("bool | (Integer @min(3))") == {"oneOf": [{"type": "boolean"}, {"type": "integer", "minimum": 3}]}
    assert of_field("String | (Array[Integer] @min(3)) @title(t)") == {
        "oneOf": [{"type": "string"}, LIST | {"minItems": 3}],
        "title": "t",
    }
