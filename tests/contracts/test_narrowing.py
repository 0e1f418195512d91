"""A use of a type may only narrow it, by whatever name it goes (SPEC section 3)."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_authz import ContractError, ToolContract

ALIASES = """
@rbs type code = String @min(5) @max(9) @pattern(^a) @encoding(base64)
@rbs type mail = String @format(email)
@rbs type level = Integer @min(2) @exclusive_max(8) @multiple_of(2)
@rbs type rows = Array[Integer] @min(2)
@rbs type either = code | rows
"""


def of_field(type_: str) -> Any:
    view = ToolContract.parse(f"{ALIASES}\n#: (v: {type_}) -> output\n@rbs type output = {{}}").view(None)
    return view.input_schema["properties"]["v"]


@pytest.mark.parametrize(
    ("type_", "narrowed"),
    [
        ("code @min(2)", {"minLength": 5}),
        ("code @min(7)", {"minLength": 7}),
        ("code @max(20)", {"maxLength": 9}),
        ("code @max(6)", {"maxLength": 6}),
        ("code @pattern(^a)", {"pattern": "^a"}),
        ("mail @format(email)", {"format": "email"}),
        ("Date @format(date)", {"format": "date"}),
        ("level @min(1)", {"minimum": 2}),
        ("level @min(4)", {"minimum": 4}),
        ("level @exclusive_max(9)", {"exclusiveMaximum": 8}),
        ("level @max(9)", {"maximum": 9, "exclusiveMaximum": 8}),
        ("level @multiple_of(2.0)", {"multipleOf": 2}),
        ("rows @min(1)", {"minItems": 2}),
        ("(Array[Integer] @min(3)) @min(2)", {"minItems": 3}),
        ("Set[Integer] @unique()", {"uniqueItems": True}),
    ],
)
def test_of_two_bounds_the_stricter_one_counts(type_: str, narrowed: Any) -> None:
    assert of_field(type_).items() >= narrowed.items()


def test_a_bound_on_a_union_narrows_each_member() -> None:
    text, rows = of_field("either @min(3)")["oneOf"]
    assert (text["minLength"], rows["minItems"]) == (5, 3)


@pytest.mark.parametrize(
    ("type_", "has"),
    [
        ("Date @format(email)", "@format(date)"),
        ("Time @format(date)", "@format(date-time)"),
        ("mail @format(uri)", "@format(email)"),
        ("mail? @format(uri)", "@format(email)"),
        ("code @pattern(^b)", "@pattern(^a)"),
        ("code @encoding(base32)", "@encoding(base64)"),
        ("(String @media_type(text/plain)) @media_type(text/html)", "@media_type(text/plain)"),
        ("level @multiple_of(4)", "@multiple_of(2)"),
    ],
)
def test_what_cannot_be_narrowed_further_is_an_error(type_: str, has: str) -> None:
    with pytest.raises(ContractError) as caught:
        of_field(type_)
    (problem,) = caught.value.problems
    assert problem.message.startswith(f"this type has `{has}` already, and a use may only narrow it: leave `@")
