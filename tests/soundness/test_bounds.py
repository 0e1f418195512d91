"""Nothing that a caller sends, and nothing that a function returns, keeps the server busy for ever (issue 4).

Each of these would run for years, or end the process, if a bound did not hold; no clock is looked at.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from fastmcp_authz import CallerView, InvalidInputError, OutputWithheldError, ToolContract, UnknownInputKeysError
from fastmcp_authz.contracts.explaining import alternatives, is_shallow
from fastmcp_authz.contracts.schema import BACKTRACKS, compile_validator

TANGLED = """
@rbs type t = { ?n: t, ?z: Integer } | { ?n: t, ?z: String } | { ?n: t, ?z: bool }
#: (?v: t, ?s: Integer) -> output
@rbs type output = { ?v: t }
"""


def view(docstring: str) -> CallerView:
    return ToolContract.parse(docstring).view(None)


def nested(levels: int, innermost: Any) -> Any:
    value: Any = {"z": innermost}
    for _ in range(levels):
        value = {"n": value, "z": "s"}
    return value


@pytest.mark.parametrize("levels", [1, 8, 40, 80])
def test_a_union_within_itself_is_read_and_cut_in_as_many_steps_as_it_has_levels(levels: int) -> None:
    fine, wrong = nested(levels, "s"), nested(levels, None)
    seen = view(TANGLED)
    for lenient in (False, True):
        assert seen.filter_input({"v": fine}, lenient=lenient) == {"v": fine}
        with pytest.raises(InvalidInputError):
            seen.filter_input({"v": wrong}, lenient=lenient)
    spelled_out = nested(levels, "s") | {"z": "true"}
    assert seen.filter_input({"v": spelled_out, "s": "1"}, lenient=True)["s"] == 1
    assert seen.filter_output({"v": fine}) == {"v": fine}
    with pytest.raises(OutputWithheldError):
        seen.filter_output({"v": wrong})


def test_what_is_wrong_with_a_deep_value_is_told_in_one_line_and_with_a_flat_one_in_full() -> None:
    with pytest.raises(InvalidInputError, match=r"- s: must be .*\n- v: fits none of the accepted"):
        view(TANGLED).filter_input({"v": nested(40, None), "s": "x"})
    with pytest.raises(InvalidInputError, match=r"- v\.n\.z: must be a whole number, null was sent"):
        view(TANGLED).filter_input({"v": nested(1, None)})


def test_types_without_unions_in_unions_are_explained_however_deep_they_are() -> None:
    chain = "@rbs type c = { v: Integer, ?next: c? }\n#: (c: c) -> output\n@rbs type output = {}"
    contract = ToolContract.parse(chain)
    assert alternatives(contract.input) == 1
    value: Any = {"v": "wrong"}
    for _ in range(60):
        value = {"v": 1, "next": value}
    assert is_shallow(value, 1)
    with pytest.raises(InvalidInputError, match=r"\.next\.v: must be a whole number"):
        contract.view(None).filter_input({"c": value})


@pytest.mark.parametrize("levels", [300, 5_000, 30_000])
def test_what_is_too_deep_is_refused_before_the_validator_dies_of_it(levels: int) -> None:
    chain = view(
        "@rbs type c = { ?n: c }\n#: (?c: c, ?u: untyped) -> output\n@rbs type output = { ?c: c, ?u: untyped }"
    )
    value: Any = {}
    for _ in range(levels):
        value = {"n": value}
    for arguments in ({"c": value}, {"u": value}):
        with pytest.raises(InvalidInputError, match="nested too deeply"):
            chain.filter_input(arguments)
        with pytest.raises(OutputWithheldError):
            chain.filter_output(arguments)


def test_text_that_is_no_unicode_is_refused() -> None:
    seen = view("#: (?s: String, ?u: untyped, ?o: { s: String }) -> output\n@rbs type output = {}")
    for arguments in ({"s": "\ud800"}, {"u": ["\udfff"]}, {"o": {"s": "x", "\ud800": 1}}):
        with pytest.raises(InvalidInputError):
            seen.filter_input(arguments)
    with pytest.raises(InvalidInputError):
        seen.filter_input({"o": '{"s": "\\ud800"}'}, lenient=True)


def test_a_key_that_is_no_unicode_is_refused_in_a_text_that_can_be_sent() -> None:
    with pytest.raises(UnknownInputKeysError) as caught:
        view("#: () -> output\n@rbs type output = {}").filter_input({"\ud800": 1})
    assert b"Unknown parameters: ?. " in str(caught.value).encode()


def test_an_answer_that_is_no_default_is_left_out_whatever_it_is() -> None:
    contract = ToolContract.parse(
        "#: (?a: untyped @default_for(:k), ?b: c @default_for(:k)) -> output\n"
        "@rbs type c = { ?n: c }\n@rbs type output = {}"
    )
    deep: Any = {}
    for _ in range(30_000):
        deep = {"n": deep}
    loop: list[Any] = []
    loop.append(loop)
    for answer in (object(), deep, loop, "\ud800", float("nan"), {1, 2}, b"\xff"):
        chosen = contract.view_of(frozenset()).with_defaults({"k": answer})
        assert chosen.filter_input({}) == {}
        assert chosen.input_schema == contract.view_of(frozenset()).input_schema


def test_an_answer_goes_only_where_it_fits() -> None:
    docstring = """
    @rbs type p = { a: Integer, ?secret: Integer @requires(:admin) }
    #: (?n: Integer @default_for(:k), ?s: String @default_for(:k), ?p: p @default_for(:q), ?u: untyped @default_for(:q))
    #: -> output
    @rbs type output = {}
    """
    chosen = ToolContract.parse(docstring).view_of(frozenset()).with_defaults({"k": "x", "q": {"a": 1, "secret": 2}})
    assert chosen.filter_input({}) == {"s": "x", "u": {"a": 1, "secret": 2}}
    assert "default" not in chosen.input_schema["properties"]["n"]
    assert "default" not in chosen.input_schema["properties"]["p"]


def test_a_result_that_contains_itself_is_withheld() -> None:
    seen = view("@rbs type n = { ?c: Array[n], ?v: Integer }\n#: () -> output\n@rbs type output = { n: n }")
    loop: dict[str, Any] = {"v": 1}
    loop["c"] = [loop, loop, loop]
    with pytest.raises(OutputWithheldError):
        seen.filter_output({"n": loop})


def test_a_type_may_contain_itself_behind_a_union() -> None:
    node = "@rbs type node = { v: Integer, next: node? }\n#: (n: node) -> output\n@rbs type output = { n: node }"
    value = {"n": {"v": 1, "next": {"v": 2, "next": None}}}
    assert view(node).filter_input(value) == view(node).filter_output(value) == value


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(?:a|a(?=a))+b", r"^(a|a)*\1b$", r"^(?=(a|a)*c)a"])
def test_catastrophic_patterns_are_answered_within_the_limit_of_the_engine(pattern: str) -> None:
    seen = view(f"#: (s: String @pattern({pattern})) -> output\n@rbs type output = {{}}")
    with pytest.raises(InvalidInputError):
        seen.filter_input({"s": "a" * 39 + "!" * 2_000})


def test_a_pattern_with_a_look_around_runs_into_the_limit_of_the_engine() -> None:
    (error,) = compile_validator({"pattern": "^(?:a|a(?=a))+b"}).iter_errors("a" * 60)
    assert isinstance(error.kind, jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded)
    assert BACKTRACKS <= 100_000


def test_a_pattern_without_runs_on_an_engine_that_needs_no_limit() -> None:
    linear = jsonschema_rs.RegexOptions()
    assert jsonschema_rs.Draft202012Validator({"pattern": "(a+)+$"}, pattern_options=linear).is_valid("aaa")
    with pytest.raises((ValueError, jsonschema_rs.ValidationError)):
        jsonschema_rs.Draft202012Validator({"pattern": "^(?:a|a(?=a))+b"}, pattern_options=linear)


@pytest.mark.parametrize("number", [2**53, 2**53 + 1, 2**63, 2**64, -(2**70), 10**400])
def test_whole_numbers_of_any_size_are_told_exactly(number: int) -> None:
    seen = view("#: (?n: Integer, ?even: Integer @multiple_of(2)) -> output\n@rbs type output = { n: Integer }")
    assert seen.filter_input({"n": number}) == {"n": number}
    assert seen.filter_output({"n": number}) == {"n": number}
    if number % 2:
        with pytest.raises(InvalidInputError):
            seen.filter_input({"even": number})
