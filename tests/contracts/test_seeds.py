"""Every example of the texts that this library started from compiles to the JSON Schema shown there."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_authz import Settings, ToolContract

from .callers import Context


def output(declarations: str) -> Any:
    return ToolContract.parse(f"#: () -> output\n{declarations}").view(None).output_schema


def of_type(declaration: str, name: str) -> Any:
    view = ToolContract.parse(f"{declaration}\n#: (v: {name}) -> output\n@rbs type output = {{ ok: bool }}").view(None)
    return view.input_schema["properties"]["v"]


@pytest.mark.parametrize(
    ("declaration", "schema"),
    [
        ("# @rbs type x = String", {"type": "string"}),
        ("# @rbs type x = Integer", {"type": "integer"}),
        ("# @rbs type x = Float", {"type": "number"}),
        ("# @rbs type x = bool", {"type": "boolean"}),
        ("# @rbs type x = true", {"type": "boolean", "const": True}),
        ("# @rbs type x = false", {"type": "boolean", "const": False}),
        (
            '# @rbs type x = "pending"\n#                  | "active"\n#                  | "closed"',
            {"type": "string", "enum": ["pending", "active", "closed"]},
        ),
        (
            "# @rbs type x = {\n#   success: bool,\n#   message: String,\n#   ?count: Integer\n# }",
            {
                "type": "object",
                "properties": {
                    "success": {"type": "boolean"},
                    "message": {"type": "string"},
                    "count": {"type": "integer"},
                },
                "required": ["success", "message"],
            },
        ),
        ("# @rbs type x = Array[String]", {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_the_types_of_the_first_table(declaration: str, schema: dict[str, Any]) -> None:
    assert of_type(declaration, "x") == schema


def test_a_reference_is_resolved_from_local_types() -> None:
    contract = ToolContract.parse(
        """
        # @rbs type status = "pending" | "active"
        # @rbs type input = { id: String, status: status }
        # @rbs type output = { id: String }        # inline record
        """
    )
    assert contract.view(None).input_schema == {
        "type": "object",
        "properties": {"id": {"type": "string"}, "status": {"type": "string", "enum": ["pending", "active"]}},
        "required": ["id", "status"],
        "additionalProperties": False,
    }


RECORD = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


def test_an_output_may_be_a_record_a_reference_or_a_union() -> None:
    assert output("# @rbs type output = { id: String }        # inline record") == RECORD
    applicant = "# @rbs type applicant = { id: String }\n"
    assert output(f"{applicant}# @rbs type output = applicant             # reference") == RECORD
    both = (
        "# @rbs type success = { success: true, data: String }\n"
        "# @rbs type error   = { success: false, code: String }\n"
    )
    assert output(f"{both}# @rbs type output  = success | error") == {
        "type": "object",
        "oneOf": [
            {
                "type": "object",
                "properties": {"success": {"type": "boolean", "const": True}, "data": {"type": "string"}},
                "required": ["success", "data"],
            },
            {
                "type": "object",
                "properties": {"success": {"type": "boolean", "const": False}, "code": {"type": "string"}},
                "required": ["success", "code"],
            },
        ],
    }


TAGS = """
#: (
#:   name: String                          @min(1) @max(100),
#:   email: String                         @format(email),
#:   age: Integer                          @min(0) @max(150),
#:   score: Float                          @exclusive_min(0) @exclusive_max(1.0),
#:   tags: Array[String]                   @min(1) @max(10) @unique(),
#:   quantity: Integer                     @multiple_of(5),
#:   ?timezone: String                     @default_for(:timezone),
#:   ?stage_id: String?                    @requires(:backward_routing) @depends_on(:name)
#: ) -> Hash[Symbol, untyped]
@rbs type output = {}
"""


def test_the_block_of_tags() -> None:
    properties = {
        "name": {"type": "string", "minLength": 1, "maxLength": 100},
        "email": {"type": "string", "format": "email"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "score": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.0},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 10, "uniqueItems": True},
        "quantity": {"type": "integer", "multipleOf": 5},
        "timezone": {"type": "string", "default": "Asia/Tokyo"},
    }
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["name", "email", "age", "score", "tags", "quantity"],
        "additionalProperties": False,
    }
    contract = ToolContract.parse(TAGS)
    defaults = {"timezone": "Asia/Tokyo"}
    assert contract.view(Context(defaults=defaults)).input_schema == schema
    stage = {"stage_id": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
    assert contract.view(Context("backward_routing", defaults=defaults)).input_schema == schema | {
        "properties": properties | stage,
        "dependentRequired": {"name": ["stage_id"]},
    }


CHAIN = """
#: (
#:   workflow_id: String,
#:   ?stage_id: String?      @requires(:backward_routing) @depends_on(:workflow_id),
#:   ?reason: String?        @requires(:backward_routing) @depends_on(:stage_id)
#: ) -> Hash[Symbol, untyped]
@rbs type output = {}
"""


def test_the_chain_of_dependencies() -> None:
    seen = ToolContract.parse(CHAIN).view(Context("backward_routing")).input_schema
    assert seen["dependentRequired"] == {"workflow_id": ["stage_id"], "stage_id": ["reason"]}
    assert "dependentRequired" not in ToolContract.parse(CHAIN).view(Context()).input_schema


def test_predicates_of_every_name() -> None:
    contract = ToolContract.parse(
        """
        #: (?status: "active" | "inactive" | "unlisted" @feature(:opening_status_v2),
        #:  ?force: bool @requires(:admin) @tier(:enterprise)) -> output
        @rbs type output = {}
        """
    )
    assert [p.text for p in contract.predicates] == [
        'feature("opening_status_v2")',
        'requires("admin")',
        'tier("enterprise")',
    ]
    assert list(contract.view(Context("admin", feature=["opening_status_v2"])).input_schema["properties"]) == [
        "status",
        "force",
    ]
    denying = contract.view(Context("admin"), settings=Settings(missing_predicate="deny"))
    assert denying.input_schema["properties"] == {}


def test_a_type_used_twice_is_hoisted() -> None:
    schema = output("@rbs type address = { city: String }\n@rbs type output = { home: address, work: address }")
    assert schema == {
        "type": "object",
        "properties": {"home": {"$ref": "#/$defs/address"}, "work": {"$ref": "#/$defs/address"}},
        "required": ["home", "work"],
        "$defs": {
            "address": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
