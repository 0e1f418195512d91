"""What guards take away, beyond what the conformance cases say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fastmcp_authz import ContractError, OutputWithheldError, Settings, ToolContract

from .callers import Context


def contract(docstring: str, **options: Any) -> ToolContract:
    return ToolContract.parse(docstring, settings=Settings(**options))


def test_callers_with_equal_answers_share_one_view() -> None:
    tool = contract("#: (a: String, ?b: String @requires(:x)) -> output\n@rbs type output = {}")
    can = frozenset(tool.predicates)
    assert tool.view_of(can) is tool.view_of(can)
    assert tool.view_of(frozenset()) is not tool.view_of(can)
    assert tool.view(Context("unrelated")) is tool.view_of(frozenset())


def test_a_default_that_only_others_may_choose_is_not_shown() -> None:
    tool = contract(
        """
        #: (?level: ("low" | "high" @requires(:admin)) @default(high) @example(low) @example(high)) -> output
        @rbs type output = {}
        """
    )
    assert tool.view(Context("admin")).input_schema["properties"]["level"] == {
        "type": "string",
        "enum": ["low", "high"],
        "default": "high",
        "examples": ["low", "high"],
    }
    assert tool.view(Context()).input_schema["properties"]["level"] == {
        "type": "string",
        "const": "low",
        "examples": ["low"],
    }
    assert tool.view(Context()).filter_input({}) == {}


def test_a_default_with_a_hidden_key_in_it_is_not_shown() -> None:
    tool = contract(
        """
        @rbs type p = { a: Integer, ?secret: Integer @requires(:admin) }
        #: (?p: p @default({"a": 1, "secret": 2})) -> output
        @rbs type output = {}
        """
    )
    assert tool.view(Context("admin")).filter_input({}) == {"p": {"a": 1, "secret": 2}}
    assert "secret" not in json.dumps(tool.view(Context()).input_schema)
    assert "default" not in tool.view(Context()).input_schema["properties"]["p"]


def test_a_callers_own_default_is_checked_and_never_shared() -> None:
    tool = contract('#: (?zone: ("UTC" | "CET") @default(UTC) @default_for(:zone)) -> output\n@rbs type output = {}')
    at_home = tool.view(Context(defaults={"zone": "CET"}))
    wrong = tool.view(Context(defaults={"zone": "MARS"}))
    assert at_home.input_schema["properties"]["zone"]["default"] == "CET"
    assert at_home.filter_input({}) == {"zone": "CET"}
    assert wrong.input_schema["properties"]["zone"]["default"] == "UTC"
    assert wrong.filter_input({}) == {"zone": "UTC"}
    assert wrong.rejected_defaults({"zone": "MARS"}) == ("zone",)
    assert tool.view_of(frozenset()).input_schema["properties"]["zone"]["default"] == "UTC"


def test_a_callers_own_default_cannot_hold_a_hidden_key() -> None:
    tool = contract(
        """
        @rbs type p = { a: Integer, ?secret: Integer @requires(:admin) }
        #: (?p: p @default_for(:p)) -> output
        @rbs type output = {}
        """
    )
    defaults = {"p": {"a": 1, "secret": 2}}
    assert "secret" not in json.dumps(tool.view(Context(defaults=defaults)).input_schema)
    assert tool.view(Context("admin", defaults=defaults)).filter_input({}) == defaults


def test_a_default_on_an_alias_goes_where_the_name_is_used() -> None:
    tool = contract(
        """
        @rbs type zone = "UTC" | "CET" @default_for(:zone)
        #: (?from: zone, ?to: zone) -> output
        @rbs type output = {}
        """
    )
    view = tool.view(Context(defaults={"zone": "CET"}))
    assert view.input_schema["$defs"]["zone"]["default"] == "CET"
    assert view.filter_input({"to": "UTC"}) == {"from": "CET", "to": "UTC"}


def test_guards_inside_brackets_take_the_field_when_nothing_is_left() -> None:
    tool = contract(
        """
        @rbs type staff = { id: String, pay: Integer }
        #: () -> output
        @rbs type output = { n: Integer, rows: Array[staff @requires(:hr)], ?by: Hash[String, staff @requires(:hr)] }
        """
    )
    view = tool.view(Context())
    assert list((view.output_schema or {})["properties"]) == ["n"]
    assert view.filter_output({"n": 1, "rows": [{"id": "1", "pay": 9}], "by": {}}) == {"n": 1}


def test_a_recursive_type_without_its_base_case_is_gone() -> None:
    tool = contract(
        """
        @rbs type tree = { leaf: String } @requires(:x) | Array[tree]
        #: (?t: tree, n: Integer) -> output
        @rbs type output = {}
        """
    )
    assert list(tool.view(Context()).input_schema["properties"]) == ["n"]
    assert list(tool.view(Context("x")).input_schema["properties"]) == ["t", "n"]


def test_hidden_keys_of_a_hash_are_hidden() -> None:
    tool = contract(
        """
        #: () -> output
        @rbs type output = Hash["pub" | ("secret" @requires(:x)), Integer]
        """
    )
    assert tool.view(Context()).filter_output({"pub": 1, "secret": 2}) == {"pub": 1}
    assert tool.view(Context("x")).filter_output({"pub": 1, "secret": 2}) == {"pub": 1, "secret": 2}


def test_an_output_that_vanishes_makes_the_tool_invisible() -> None:
    tool = contract("#: () -> output\n@rbs type output = { a: String } @requires(:x)")
    view = tool.view(Context())
    assert (view.visible, view.output_schema) == (False, None)
    with pytest.raises(OutputWithheldError):
        view.filter_output({"a": "s"})


def test_equal_members_merge_after_gating() -> None:
    tool = contract(
        """
        #: () -> output
        @rbs type output = {
          one: { id: String, ?x: Integer @requires(:p) } | { id: String, ?y: Integer @requires(:q) }
        }
        """
    )
    schema = tool.view(Context()).output_schema or {}
    assert schema["properties"]["one"] == {
        "type": "object",
        "properties": {"id": {"type": "string"}},
        "required": ["id"],
    }


@pytest.mark.parametrize(
    "type_",
    [
        "untyped | ({ a: String } @requires(:x))",
        "Hash[String, untyped] | { a: String, ?s: String @requires(:x) }",
        "Hash[String, String] | { a: String, ?s: String @requires(:x) }",
        "Array[untyped] | Array[{ a: String, ?s: String @requires(:x) }]",
        "{ a: untyped } | { a: { ?s: String @requires(:x) } }",
        "{ k: String, a: Hash[String, String] } | { k: String, a: { ?s: String @requires(:x) } }",
        "[untyped] | Array[{ a: String, ?s: String @requires(:x) }]",
        "{ ?x: untyped } | Hash[String, { ?s: String @requires(:x) }]",
        f"{'Array[' * 12}untyped{']' * 12} | {'Array[' * 12}{{ ?s: String @requires(:x) }}{']' * 12}",
    ],
)
def test_a_gate_beside_an_open_member_is_an_error(type_: str) -> None:
    with pytest.raises(ContractError, match="a gate in this union cannot hold"):
        contract(f"#: () -> output\n@rbs type output = {{ r: {type_} }}")


@pytest.mark.parametrize(
    "type_",
    [
        "Hash[String, Integer] | { a: String, ?s: String @requires(:x) }",
        '{ k: "a", v: untyped } | { k: "b", v: { ?s: String @requires(:x) } }',
        "String | { a: String } @requires(:x)",
        "(untyped @requires(:y)) | { a: String } @requires(:x)",
    ],
)
def test_a_gate_that_holds_is_none(type_: str) -> None:
    contract(f"#: () -> output\n@rbs type output = {{ r: {type_} }}")


def test_a_gated_whole_is_not_open_to_the_open() -> None:
    tool = contract(
        """
        #: () -> output
        @rbs type output = { r: (untyped @requires(:y)) | { a: String } @requires(:x) , n: Integer }
        """
    )
    assert tool.view(Context()).filter_output({"r": {"a": "s"}, "n": 1}) == {"n": 1}


def test_predicates_are_told_apart_by_the_type_of_their_value() -> None:
    asked: list[Any] = []

    class Asked:
        def plan(self, value: Any) -> bool:
            asked.append(value)
            return False

    tool = contract(
        """
        #: (?a: String @plan(1), ?b: String @plan(true), ?c: String @plan("1"), ?d: String @plan(1.0),
        #:  ?e: String @plan(nil), ?f: String @plan(:gold), ?g: String @plan(gold), ?h: String @plan(1)) -> output
        @rbs type output = {}
        """
    )
    tool.view(Asked())
    assert [(type(v), v) for v in asked] == [
        (int, 1),
        (bool, True),
        (str, "1"),
        (float, 1.0),
        (type(None), None),
        (str, "gold"),
    ]


def test_an_example_of_a_hidden_key_is_not_shown() -> None:
    tool = contract(
        """
        #: () -> output
        @rbs type output = Hash[("a" | ("hidden_b" @requires(:x))) @example(hidden_b), Integer]
        """
    )
    assert "hidden_b" in json.dumps(tool.view(Context("x")).output_schema)
    assert "hidden_b" not in json.dumps(tool.view(Context()).output_schema)


def test_fewer_answers_show_no_default_of_the_alias_in_place_of_a_hidden_one() -> None:
    tool = contract(
        """
        @rbs type color = "red" | "blue" @requires(:admin) @default(red) @example(red)
        #: (?c: color @default(blue) @example(blue), ?d: color) -> output
        @rbs type output = {}
        """
    )
    assert tool.view(Context("admin")).filter_input({}) == {"c": "blue", "d": "red"}
    assert tool.view(Context()).filter_input({}) == {"d": "red"}
    shown = tool.view(Context()).input_schema
    assert shown["properties"]["c"].get("default") is None
    assert "examples" not in shown["properties"]["c"]


def test_a_callers_own_default_fits_what_is_enforced_though_less_is_shown() -> None:
    tool = contract("#: (?n: Integer @max(5) @default_for(:n)) -> output\n@rbs type output = {}", strict_schema=True)
    assert tool.view(Context(defaults={"n": 100})).filter_input({}) == {}
    assert "default" not in tool.view(Context(defaults={"n": 100})).input_schema["properties"]["n"]
    assert tool.view(Context(defaults={"n": 3})).input_schema["properties"]["n"] == {"type": "integer", "default": 3}


def test_a_callers_own_default_that_is_too_deep_is_left_out() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    tool = contract("#: (?v: untyped @default_for(:v)) -> output\n@rbs type output = {}")
    assert tool.view(Context(defaults={"v": deep})).filter_input({}) == {}
