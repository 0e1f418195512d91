"""Schemas beyond the conformance cases: sharing, recursion, size, tuples, sets."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fastmcp_authz import ContractError, ToolContract

from .callers import Context


def schemas(docstring: str, *can: str) -> tuple[dict[str, Any], dict[str, Any]]:
    view = ToolContract.parse(docstring).view(Context(*can))
    for schema in (view.input_schema, view.output_schema or {}):
        Draft202012Validator.check_schema(schema)
    return view.input_schema, view.output_schema or {}


def field(type_: str) -> Any:
    given, _ = schemas(f"#: (v: {type_}) -> output\n@rbs type output = {{}}")
    return given["properties"]["v"]


@pytest.mark.parametrize(
    ("type_", "schema"),
    [
        ("Set[String]", {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        ("Array", {"type": "array", "items": {}}),
        ("Hash", {"type": "object", "additionalProperties": {}}),
        ("[]", {"type": "array", "items": False, "minItems": 0, "maxItems": 0}),
        (
            '["a", Integer]',
            {
                "type": "array",
                "prefixItems": [{"type": "string", "const": "a"}, {"type": "integer"}],
                "items": False,
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (
            'Hash["a" | "b", Integer]',
            {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "propertyNames": {"type": "string", "enum": ["a", "b"]},
            },
        ),
        ("Date", {"type": "string", "format": "date"}),
        ("true | false", {"type": "boolean", "enum": [True, False]}),
        ("String?", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ('"a" | "b" | nil', {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}),
        ('"a" | 5', {"oneOf": [{"type": "string", "const": "a"}, {"type": "integer", "const": 5}]}),
        ("Integer | Float", {"anyOf": [{"type": "integer"}, {"type": "number"}]}),
        ("String | String", {"type": "string"}),
        ("(String | nil)?", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("String @min(2)", {"type": "string", "minLength": 2}),
        (
            "(String | Array[String]) @min(2)",
            {
                "oneOf": [
                    {"type": "string", "minLength": 2},
                    {"type": "array", "items": {"type": "string"}, "minItems": 2},
                ]
            },
        ),
        ("Array[String @min(2)]", {"type": "array", "items": {"type": "string", "minLength": 2}}),
        (
            "String @deprecated() @example(1) @example(x)",
            {"type": "string", "deprecated": True, "examples": ["1", "x"]},
        ),
    ],
)
def test_a_type_has_one_schema(type_: str, schema: dict[str, Any]) -> None:
    assert field(type_) == schema


def test_members_apart_are_one_of_and_others_any_of() -> None:
    assert "oneOf" in field('{ k: "a", x: Integer } | { k: "b", x: Integer }')
    assert "oneOf" in field('{ k: "a" } | { ?k: "b" }')
    assert "oneOf" in field("{ m: { ok: true } } | { m: { ok: false } }")
    assert "oneOf" in field("String | Integer | { a: String }")
    assert "anyOf" in field('{ ?k: "a" } | { ?k: "b" }')
    assert "anyOf" in field("{ a: String } | { b: String }")
    assert "anyOf" in field("{ a: Integer } | { a: Float }")


def test_generic_aliases_are_definitions_of_their_own() -> None:
    given, result = schemas(
        """
        @rbs type page[T] = { items: Array[T], next: String? }
        @rbs type row = { id: String }
        #: (a: page[String], b: page[String], c: page[row], d: page[row]) -> output
        @rbs type output = page[row] | { no: page[row] }
        """
    )
    assert given["properties"] == {
        "a": {"$ref": "#/$defs/page"},
        "b": {"$ref": "#/$defs/page"},
        "c": {"$ref": "#/$defs/page_2"},
        "d": {"$ref": "#/$defs/page_2"},
    }
    assert given["$defs"]["page"]["properties"]["items"]["items"] == {"type": "string"}
    assert given["$defs"]["page_2"]["properties"]["items"]["items"]["properties"] == {"id": {"type": "string"}}
    assert list(result["$defs"]) == ["page"]
    page: dict[str, Any] = {"items": [], "next": None}
    assert Draft202012Validator(given).is_valid({"a": page, "b": page, "c": page, "d": page | {"items": [{"id": "1"}]}})


def test_a_name_that_json_pointers_must_escape_is_still_found() -> None:
    given, _ = schemas("#: (v: größe, w: größe) -> output\n@rbs type größe = { n: Integer }\n@rbs type output = {}")
    assert given["properties"]["v"] == {"$ref": "#/$defs/gr%C3%B6%C3%9Fe"}
    assert list(given["$defs"]) == ["größe"]


HIDDEN_ARGUMENT = """
@rbs type box[T] = {{ id: Integer, ?audit: T @requires(:admin) }}
@rbs type secret_audit = {{ a: Integer }}
#: () -> output
@rbs type output = {{ a: box[{first}], b: box[{second}], c: box[{second}] }}
"""


@pytest.mark.parametrize(
    "first", ["Integer", "secret_audit", '"top" | "secret"', "{ ssn: String, ?x: String @requires(:y) }"]
)
@pytest.mark.parametrize("second", ["Integer", "secret_audit"])
def test_type_arguments_that_a_caller_does_not_see_make_no_difference(first: str, second: str) -> None:
    _, plain = schemas(HIDDEN_ARGUMENT.format(first="Integer", second="Integer"))
    _, result = schemas(HIDDEN_ARGUMENT.format(first=first, second=second))
    assert json.dumps(result) == json.dumps(plain)
    assert list(plain["$defs"]) == ["box"]


def test_members_that_look_alike_are_one_member() -> None:
    _, alike = schemas(
        """
        @rbs type open = { id: String, at: place }
        @rbs type staff = { id: String, at: spot, ?pay: Integer @requires(:hr) }
        @rbs type place = { x: Integer }
        @rbs type spot = { x: Integer, ?secret: Integer @requires(:hr) }
        #: () -> output
        @rbs type output = open | staff
        """
    )
    assert alike == {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "at": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        },
        "required": ["id", "at"],
    }


def test_names_that_contain_themselves_are_compared_to_the_end() -> None:
    given, _ = schemas(
        """
        @rbs type list[T] = { head: T, ?tail: list[T] }
        #: (a: list[Integer], b: list[Integer @requires(:x) | String], c: list[String]) -> output
        @rbs type output = {}
        """
    )
    assert [given["properties"][name]["$ref"] for name in "abc"] == ["#/$defs/list", "#/$defs/list_2", "#/$defs/list_2"]


def test_a_name_with_a_narrowing_tag_is_a_definition_of_its_own() -> None:
    given, _ = schemas(
        """
        @rbs type node = { id: String, ?next: node, ?last: node @closed() }
        #: (a: node, b: node @closed()) -> output
        @rbs type output = {}
        """
    )
    assert set(given["$defs"]) == {"node", "node_2"}
    strict, lax = given["properties"]["b"]["$ref"], given["properties"]["a"]["$ref"]
    assert strict != lax
    validator = Draft202012Validator(given)
    assert validator.is_valid({"a": {"id": "1", "x": 1}, "b": {"id": "2", "next": {"id": "3", "x": 1}}})
    assert not validator.is_valid({"a": {"id": "1"}, "b": {"id": "2", "x": 1}})
    assert not validator.is_valid({"a": {"id": "1", "last": {"id": "2", "x": 1}}, "b": {"id": "2"}})


def test_aliases_that_use_the_next_twice_do_not_explode() -> None:
    chain = [f"@rbs type a{i} = {{ l: a{i + 1}, r: a{i + 1} }}" for i in range(14)]
    given, _ = schemas(
        "\n".join(["#: (v: a0) -> output", *chain, "@rbs type a14 = { n: Integer }", "@rbs type output = {}"])
    )
    assert len(given["$defs"]) == 14
    assert len(json.dumps(given)) < 4_000


def test_six_records_that_contain_each_other() -> None:
    names = [f"m{i}" for i in range(6)]
    records = [f"@rbs type {n} = {{ {', '.join(f'?{o}: {o}' for o in names)} }}" for n in names]
    given, _ = schemas("\n".join(["#: (v: m0) -> output", *records, "@rbs type output = {}"]))
    assert set(given["$defs"]) == set(names)
    assert Draft202012Validator(given).is_valid({"v": {"m3": {"m0": {"m5": {}}}}})


def test_thirty_two_brackets_work_on_the_default_recursion_limit() -> None:
    assert sys.getrecursionlimit() == 1_000
    deep = "Array[" * 31 + "String" + "]" * 31
    view = ToolContract.parse(f"#: (v: {deep}) -> output\n@rbs type output = {{}}").view(None)
    value: Any = "x"
    for _ in range(31):
        value = [value]
    assert view.filter_input({"v": value}) == {"v": value}
    with pytest.raises(ContractError, match="32"):
        ToolContract.parse(f"#: (v: {'Array[' * 33}String{']' * 33}) -> output\n@rbs type output = {{}}")


def test_the_same_contract_gives_the_same_bytes() -> None:
    docstring = "#: (b: String, a: x, c: x) -> output\n@rbs type x = { p: Integer, ?q: x }\n@rbs type output = {}"
    assert json.dumps(schemas(docstring)) == json.dumps(schemas(docstring))


def test_a_schema_is_not_changed_by_use() -> None:
    view = ToolContract.parse("#: (?a: String @default_for(:k)) -> output\n@rbs type output = {}").view_of(frozenset())
    before = json.dumps(view.input_schema)
    view.with_defaults({"k": "mine"}).filter_input({})
    assert json.dumps(view.input_schema) == before
