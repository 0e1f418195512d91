"""What stands between a tag's parentheses: one value that JSON can hold (SPEC section 3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fastmcp_authz import ContractError, ToolContract

MANY_DIGITS = "9" * 5_000
TOO_LARGE = "this number is too large: numbers with a fraction or an exponent end at about 1.8e308."


def of_field(type_: str) -> ToolContract:
    return ToolContract.parse(f"#: (?v: {type_}) -> output\n@rbs type output = {{}}")


def schema(type_: str) -> Any:
    return of_field(type_).view(None).input_schema["properties"]["v"]


def problem(type_: str) -> str:
    with pytest.raises(ContractError) as caught:
        of_field(type_)
    (found,) = caught.value.problems
    return found.message


@pytest.mark.parametrize(
    "type_",
    [
        "Integer @min(N)",
        "Integer @default(N)",
        "Integer? @example(-N)",
        "Array[Integer] @default([1, N])",
        "untyped @default(N)",
        "String @requires(N)",
        "String @feature(N)",
        "String @tier(N)",
        "String @default_for(N)",
    ],
)
def test_a_number_of_too_many_digits_is_a_problem(type_: str) -> None:
    assert problem(type_.replace("N", MANY_DIGITS)) == "this number has too many digits."


def test_the_same_digits_are_a_text_like_any_other() -> None:
    assert schema(f"String @default({MANY_DIGITS})")["default"] == MANY_DIGITS
    assert schema(f"String? @default({MANY_DIGITS})")["default"] == MANY_DIGITS
    assert schema(f'untyped @default("{MANY_DIGITS}")')["default"] == MANY_DIGITS


@pytest.mark.parametrize(
    "type_",
    [
        "Float @max(1e400)",
        "Float @exclusive_min(-1e400)",
        "Float @multiple_of(1e400)",
        "Float @max(" + "1" * 400 + ".5)",
        "Float @default(1e400)",
        "Float @example(1e400)",
        "Array[Float] @default([1, -1e999])",
        "Hash[String, Float] @example({\"a\": 1e999})",
        "untyped @default(1e400)",
        "String @tier(1e400)",
    ],
)  # fmt: skip
def test_a_number_that_is_not_finite_is_a_problem(type_: str) -> None:
    assert problem(type_) == TOO_LARGE


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_that_json_does_not_have_are_texts(word: str) -> None:
    assert schema(f"untyped @default({word})") == {"default": word}
    for type_ in (f"Float @default({word})", f"Array[Float] @default([{word}])"):
        assert "does not satisfy the type" in problem(type_)
    assert "takes a number" in problem(f"Float @max({word})")


def test_a_value_of_very_many_brackets_is_a_problem() -> None:
    assert problem(f"Array @default({'[' * 100_000})") == "this value is nested too deeply."


def test_a_default_finds_its_member_also_in_a_union_within_a_union() -> None:
    assert schema("(Integer | bool) | String @default(5)")["default"] == 5
    assert schema("(Integer | bool) | String @default(x)")["default"] == "x"


def test_the_members_of_unions_that_share_unions_are_looked_at_once() -> None:
    """Each name has the next one twice: written out they would be 2**30 members."""
    names = "\n".join(f"@rbs type u{i} = u{i + 1} | Array[u{i + 1}] | u{i + 1}" for i in range(30))
    ToolContract.parse(f"{names}\n@rbs type u30 = Integer\n#: (?v: u0 @default(1)) -> output\n@rbs type output = {{}}")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (":a", "a"),
        (":a-b", "a-b"),
        (":may_see?", "may_see?"),
        (":save!", "save!"),
        (":a.b/c", "a.b/c"),
        (":orders:read", "orders:read"),
        (":2fa", "2fa"),
        (":größe", "größe"),
        (':"a b, c"', "a b, c"),
        (':""', ""),
        ('"a, b"', "a, b"),
        ("a, b", "a, b"),
        ("it's \"a\" b", "it's \"a\" b"),
        ("5", 5),
        ("1_000.5", 1000.5),
        ("true", True),
        ("nil", None),
        ('""', ""),
    ],
)  # fmt: skip
def test_a_predicate_is_asked_with_one_value(written: str, value: Any) -> None:
    (predicate,) = of_field(f"String @tier({written})").predicates
    assert json.dumps(predicate.value) == json.dumps(value)


@pytest.mark.parametrize("written", [":a, :b", ":a b", ":a,:b", ':"a" or "b"', ':"a", :b', ":", ": a", "::a", ":,"])
def test_what_begins_like_a_symbol_is_nothing_else(written: str) -> None:
    assert problem(f"String @tier({written})") == (
        f"`@tier` takes one value, not `{written}`: write the tag once for each, `@tier(:value)`."
    )
    assert problem(f"String @requires({written})") == (
        f"`@requires` takes exactly one flag, not `{written}`: write `@requires(:flag)`, once for each flag."
    )
    assert "takes one name" in problem(f"String @default_for({written})")


@pytest.mark.parametrize("written", [':""', "nil", '""', "a b", "a, b"])
@pytest.mark.parametrize("name", ["requires", "feature"])
def test_a_flag_is_one_that_can_be_named(name: str, written: str) -> None:
    assert f"`@{name}` takes exactly one flag" in problem(f"String @{name}({written})")


def test_a_text_may_begin_with_a_colon() -> None:
    assert schema("String @default(::1) @example(:a b) @desc(: said)") == {
        "type": "string",
        "description": ": said",
        "default": "::1",
        "examples": [":a b"],
    }
