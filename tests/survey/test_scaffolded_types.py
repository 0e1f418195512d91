"""What each kind of type hint, and of JSON Schema, comes to in an annotation."""

from __future__ import annotations

import datetime
import decimal
import enum
import pathlib
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import pytest
from fastmcp.tools import Tool
from pydantic import BaseModel, ConfigDict, Field, HttpUrl
from typing_extensions import NamedTuple

from fastmcp_authz import ToolContract
from fastmcp_authz.survey.proposing.proposal import Proposal, propose


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Pair(NamedTuple):
    a: int
    b: str = "x"


class Long(NamedTuple):
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    e: int = 0
    f: int = 0
    g: int = 0


def of_hint(hint: Any) -> Proposal:
    def tool(x): ...  # type: ignore[no-untyped-def]

    tool.__annotations__["x"] = hint
    return propose("", Tool.from_function(tool).parameters, None)


def of_schema(schema: dict[str, Any], **definitions: Any) -> Proposal:
    inputs: dict[str, Any] = {"type": "object", "properties": {"x": schema}, "required": ["x"], "$defs": definitions}
    proposal = propose("", inputs, None)
    ToolContract.parse(proposal.docstring)
    return proposal


@pytest.mark.parametrize(
    ("hint", "written"),
    [
        (str, "String"),
        (int, "Integer"),
        (float, "Float"),
        (bool, "bool"),
        (None, "nil"),
        (Any, "untyped"),
        (list, "Array[untyped]"),
        (Sequence[int], "Array[Integer]"),
        (set[str], "Set[String]"),
        (tuple[int, str], "[Integer, String]"),
        (tuple[int, ...], "Array[Integer]"),
        (tuple[()], "Array[untyped] @max(0)"),
        (dict, "Hash[String, untyped]"),
        (Mapping[str, int], "Hash[String, Integer]"),
        (dict[int, str], "Hash[String, String]"),
        (dict[Literal["a", "b"], int], 'Hash["a" | "b", Integer]'),
        (dict[datetime.date, int], "Hash[Date, Integer]"),
        (Literal["a"], '"a"'),
        (Literal["a", 1, True, None], '"a" | 1 | true | nil'),
        (int | None, "Integer?"),
        (int | str | None, "Integer | String | nil"),
        (list[int | None], "Array[Integer?]"),
        (datetime.date, "Date"),
        (datetime.datetime, "DateTime"),
        (datetime.time, "String"),
        (datetime.timedelta, "String @format(duration)"),
        (uuid.UUID, "String @format(uuid)"),
        (pathlib.Path, "String"),
        (bytes, "String"),
        (HttpUrl, "String @min(1) @max(2083) @format(uri)"),
        (Colour, "colour"),
        (list[Colour], "Array[colour]"),
        (Pair, "pair"),
        (Annotated[int, Field(ge=1, lt=9, multiple_of=2)], "Integer @min(1) @exclusive_max(9) @multiple_of(2)"),
        (Annotated[int | None, Field(ge=1)], "Integer? @min(1)"),
        (Annotated[list[int], Field(min_length=1)], "Array[Integer] @min(1)"),
        (list[Annotated[str, Field(pattern="^a")]], "Array[String @pattern(^a)]"),
        (dict[str, Annotated[float, Field(ge=0.5)]], "Hash[String, Float @min(0.5)]"),
        (Annotated[str, Field(max_length=3)] | Annotated[int, Field(ge=1)], "(String @max(3)) | (Integer @min(1))"),
        (
            Annotated[str, Field(title="Name", deprecated=True, examples=["a"])],
            'String @title(Name) @deprecated() @example("a")',
        ),
        (Annotated[str, Field(description="On\n two lines")], "String @desc(On two lines)"),
    ],
)
def test_a_type_hint_comes_to(hint: Any, written: str) -> None:
    proposal = of_hint(hint)
    assert str(proposal.parameters[0]) == f"x: {written}"
    ToolContract.parse(proposal.docstring)


def test_a_decimal_is_a_number_or_a_text() -> None:
    """Pydantic has a pattern for the text in some releases, and not in others."""
    assert re.fullmatch(r"x: \(?Float \| String( @pattern\(.*\))?\)?", str(of_hint(decimal.Decimal).parameters[0]))


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": ["string", "null"], "maxLength": 3}, "String? @max(3)"),
        ({"type": "string", "nullable": True}, "String?"),
        ({"allOf": [{"$ref": "#/$defs/A"}], "description": "D"}, "a @desc(D)"),
        (
            {"allOf": [{"$ref": "#/$defs/A"}, {"type": "object", "properties": {"y": {"type": "null"}}}]},
            "a & { ?y: nil }",
        ),
        ({"$ref": "#/$defs/L", "minItems": 2}, "l @min(2)"),
        ({"type": "object", "properties": {}, "additionalProperties": False}, "{} @closed()"),
        ({"properties": {"a": True}, "required": ["a", "b"]}, "{ a: untyped, b: untyped }"),
        (
            {"type": "object", "patternProperties": {"^a": {"type": "null"}}, "additionalProperties": False},
            "Hash[String @pattern(^a), nil]",
        ),
        ({"type": "object", "maxProperties": 2}, "Hash[String, untyped] @max(2)"),
        (
            {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"},
            "String @media_type(image/png) @encoding(base64)",
        ),
        ({"enum": [1.0, 2]}, "1 | 2"),
        ({"enum": [None, True, 1.5, [], {}, 1], "type": ["boolean", "integer"]}, "true | 1"),
        ({"enum": ["a", 1], "type": "string"}, '"a"'),
        ({"enum": [1, "a"], "type": ["number", "null"]}, "1"),
        (
            {"anyOf": [{"maxLength": 1}, {"type": "string", "maxLength": 3}], "type": "string"},
            "(String @max(1)) | (String @max(3))",
        ),
        ({"anyOf": [{"type": "null"}]}, "nil"),
        ({"anyOf": []}, "untyped"),
        ({"type": "array", "prefixItems": [{"type": "null"}], "items": False, "minItems": 1}, "[nil]"),
        ({"type": "string", "readOnly": True, "title": "X"}, "String @read_only()"),
        ({"type": "string", "pattern": "^[(]'"}, r"String @pattern(^[\(]\x27)"),
        ({"type": "string", "pattern": " a\t "}, r"String @pattern(\x20a\t\x20)"),
        (
            {"type": "object", "properties": {"a": {}, "b": {}}, "dependentRequired": {"a": ["b"]}},
            "{ ?a: untyped, ?b: untyped @depends_on(:a) }",
        ),
        ({"type": "integer", "default": 3, "examples": [3, None]}, "Integer @example(3)"),
    ],
)
def test_a_schema_comes_to(schema: dict[str, Any], written: str) -> None:
    definitions = {
        "A": {"type": "object", "properties": {"a": {"type": "string"}}},
        "L": {"type": "array", "items": {}},
    }
    proposal = of_schema(schema, **definitions)
    assert str(proposal.parameters[0]) == f"x: {written}"
    assert proposal.notes == ()


@pytest.mark.parametrize(
    ("schema", "written", "note"),
    [
        (False, "untyped", "takes no value at all"),
        ({"type": "file"}, "untyped", 'is of the type "file", which is not understood'),
        ({"$ref": "#/elsewhere"}, "untyped", "is not there"),
        ({"type": "object", "propertyNames": {"type": "array"}}, "Hash[String, untyped]", "says more of its keys"),
        ({"type": "object", "propertyNames": {"const": 1}}, "Hash[String, untyped]", "says more of its keys"),
        ({"not": {"type": "null"}}, "untyped", "has `not`, which no annotation says"),
        ({"enum": [1.5]}, "untyped", "there are no constants"),
        ({"enum": [1.5], "type": "number"}, "Float", "there are no constants"),
        ({"enum": []}, "untyped", "there are no constants"),
        ({"type": "string", "pattern": "("}, "String", "has a pattern that is no regular expression here"),
        ({"type": "string", "format": "color"}, "String", "has the format 'color', which is not checked"),
        ({"type": "array", "prefixItems": [{}]}, "Array[untyped]", "is a tuple that may be longer"),
        (
            {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
            "{ ?a: untyped }",
            "takes keys beside its own",
        ),
        ({"type": "object", "properties": {}, "minProperties": 1}, "{}", "has `minProperties`"),
        ({"type": "object", "patternProperties": {"a": {}}}, "Hash[String, untyped]", "has patterns for its keys"),
        ({"type": "object", "propertyNames": {"type": "boolean"}}, "Hash[String, untyped]", "says more of its keys"),
        ({"type": "object", "propertyNames": {"enum": [1, 2]}}, "Hash[String, untyped]", "says more of its keys"),
        ({"anyOf": [{"type": "null"}], "oneOf": [{"type": "string"}]}, "nil", "has `anyOf` and `oneOf` beside more"),
        ({"anyOf": [{"type": "null"}], "minLength": 2}, "nil", "has `anyOf` beside more"),
        (
            {"allOf": [{"type": "string"}, {"minLength": 2, "type": "string"}]},
            "String",
            "has `allOf` over more than objects",
        ),
        (
            {"type": "object", "properties": {"a b": {}, "c": {}}, "dependentRequired": {"a b": ["c"]}},
            '{ ?"a b": untyped, ?c: untyped }',
            "asks for",
        ),
    ],
)
def test_what_no_annotation_says_is_said_more_widely_with_a_note(schema: Any, written: str, note: str) -> None:
    proposal = of_schema(schema)
    assert str(proposal.parameters[0]) == f"x: {written}"
    assert len(proposal.notes) == 1
    assert note in str(proposal.notes[0])
    assert "# `x` " in proposal.docstring


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "string", "default": None}, "?x: String"),
        ({"type": "string", "default": ""}, '?x: String @default("")'),
        ({"type": "string", "default": "12"}, '?x: String @default("12")'),
        ({"type": "boolean", "default": False}, "?x: bool @default(false)"),
        ({"type": "number", "default": 2.0}, "?x: Float @default(2)"),
        ({"default": [1, "\x07 (", {"a": None}]}, r'?x: untyped @default([1, "\u0007 (", {"a": null}])'),
        ({"type": "string", "default": 'a "b" \\'}, r'?x: String @default("a \"b\" \\")'),
    ],
)
def test_a_default_is_written(schema: dict[str, Any], written: str) -> None:
    proposal = propose("", {"type": "object", "properties": {"x": schema}}, None)
    assert str(proposal.parameters[0]) == written
    assert proposal.notes == ()
    shown = ToolContract.parse(proposal.docstring).view(None).input_schema["properties"]["x"]
    assert shown.get("default") == schema["default"]


@pytest.mark.parametrize("default", ["two\nlines", "a\tb", 5, float("inf"), [float("inf")]])
def test_a_default_that_cannot_be_written_stays_in_python_with_a_note(default: Any) -> None:
    proposal = propose("", {"type": "object", "properties": {"x": {"type": "string", "default": default}}}, None)
    assert str(proposal.parameters[0]) == "?x: String"
    assert "which `@default` cannot say" in str(proposal.notes[0])


def test_a_default_that_holds_more_than_its_type_is_left_out_alone() -> None:
    row = {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}}
    inputs = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/Row", "default": {"b": 1}}, "y": {"type": "integer", "default": 2}},
        "$defs": {"Row": row},
    }
    proposal = propose("", inputs, None)
    assert [str(each) for each in proposal.parameters] == ["?x: row", "?y: Integer @default(2)"]
    assert [str(each) for each in proposal.aliases] == ["type row = { ?a: Integer @default(1) }"]
    assert [str(note) for note in proposal.notes] == ['`@default({"b": 1})` is left out: its type does not take it.']


def test_a_type_that_is_tagged_by_its_example_alone_is_plain_without_it() -> None:
    inner = {"type": "object", "properties": {"a": {}}, "examples": [{"b": 1}]}
    proposal = propose("", {"type": "object", "properties": {"x": {"type": "array", "items": inner}}}, None)
    assert str(proposal.parameters[0]) == "?x: Array[{ ?a: untyped }]"
    assert str(proposal.notes[0]) == '`@example({"b": 1})` is left out: its type does not take it.'


def test_an_example_beside_a_broken_pattern_is_left_out() -> None:
    assert str(of_schema({"type": "string", "pattern": "(", "examples": ["a"]}).parameters[0]) == "x: String"


def test_the_keys_of_a_hash_may_be_one_constant() -> None:
    keys = {"type": "object", "propertyNames": {"const": "a"}}
    assert str(of_schema(keys).parameters[0]) == 'x: Hash["a", untyped]'


def test_lists_of_tuples_of_many_lengths_are_not_written_out() -> None:
    assert str(of_hint(Long).aliases[0]) == "type long = Array[untyped] @max(7)"


def test_models_that_take_more_keys_say_so_by_their_name() -> None:
    (note,) = of_hint(Open).notes
    assert str(note).startswith("`open` takes keys beside its own")


def test_names_that_mean_something_else_are_not_taken() -> None:
    keys = ("String", "output", "pkg__Row", "other__Row", "Page_int_", "日本", "+", "Row2D", "HTTPError")
    definitions = {key: {"type": "object", "properties": {}} for key in keys}
    properties = {key: {"$ref": f"#/$defs/{key}"} for key in keys}
    proposal = propose("", {"type": "object", "properties": properties, "$defs": definitions}, None)
    assert [alias.name for alias in proposal.aliases] == [
        "string_2", "output_2", "row", "other_row", "page_int", "part", "part_2", "row2_d", "http_error",
    ]  # fmt: skip


def test_what_a_result_says_of_a_type_of_the_inputs_otherwise_has_a_name_of_its_own() -> None:
    def sides(price: dict[str, Any]) -> dict[str, Any]:
        price_row = {"type": "object", "properties": {"price": price}}
        order = {"type": "object", "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}}}
        return {
            "type": "object",
            "properties": {"order": {"$ref": "#/$defs/Order"}, "same": {"$ref": "#/$defs/Same"}},
            "$defs": {"Row": price_row, "Order": order, "Same": {"enum": ["a", "b"]}},
        }

    proposal = propose("", sides({"type": "number"}), sides({"type": "string"}))
    assert [str(each) for each in proposal.aliases] == [
        "type order = { ?rows: Array[row] }",
        "type row = { ?price: Float }",
        'type same = "a" | "b"',
        "type order_result = { ?rows: Array[row_result] }",
        "type row_result = { ?price: String }",
    ]
    assert str(proposal.output) == "{ ?order: order_result, ?same: same }"
