"""Whatever a docstring says, what is made of it is of its size: nothing multiplies out, nothing is compared for ever.

Amounts are counted, never timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fastmcp_authz import ContractError, InvalidInputError, ToolContract
from fastmcp_authz.contracts import names, relations
from fastmcp_authz.contracts.shapes import Record

from .callers import Context


class Count:
    """Counts the calls of a method."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.calls = 0
        method: Callable[..., Any] = getattr(owner, name)

        def counted(*args: Any, **options: Any) -> Any:
            self.calls += 1
            return method(*args, **options)

        monkeypatch.setattr(owner, name, counted)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Count:
    return Count(monkeypatch, relations.Comparison, "_exclusive")


@pytest.fixture
def equalled(monkeypatch: pytest.MonkeyPatch) -> Count:
    return Count(monkeypatch, Record, "__eq__")


def output_schema(type_: str, aliases: str = "") -> dict[str, Any]:
    docstring = f"#: () -> output\n{aliases}\n@rbs type output = {type_}"
    schema = ToolContract.parse(docstring).view(None).output_schema
    assert schema is not None
    return schema


def problems(docstring: str) -> list[tuple[int, str]]:
    with pytest.raises(ContractError) as caught:
        ToolContract.parse(docstring)
    return [(problem.line, problem.message) for problem in caught.value.problems]


# -- unions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [10, 700])
def test_a_pinned_property_tells_all_members_apart_at_once(count: int, compared: Count, equalled: Count) -> None:
    members = [f'{{ common: Integer, k: "v{i}", ?o: "v" }}' for i in range(count)]
    schema = output_schema(" | ".join(members))
    assert len(schema["oneOf"]) == count
    assert compared.calls == 0
    assert equalled.calls <= 2 * count


def test_members_pinned_by_names_and_by_several_words_are_told_apart_at_once(compared: Count) -> None:
    aliases = "\n".join(f'@rbs type w{i} = "a{i}" | "b{i}"' for i in range(200))
    schema = output_schema(" | ".join(f"{{ k: w{i}, same: w{i} }}" for i in range(200)), aliases)
    assert len(schema["oneOf"]) == 200
    assert compared.calls == 0


def test_very_many_members_that_nothing_tells_apart_are_any_of(compared: Count, equalled: Count) -> None:
    schema = output_schema(" | ".join(f"{{ ?a{i}: 1 }}" for i in range(700)))
    assert len(schema["anyOf"]) == 700
    assert compared.calls == 0
    assert equalled.calls <= 1_400


def test_as_many_as_anybody_writes_are_compared_each_with_each() -> None:
    apart = [f"{{ a{i}: Integer, ?a{i + 1}: bool }}" for i in range(2)]
    assert "oneOf" in output_schema(" | ".join(apart))
    pairs = [
        f"{{ {', '.join(f'p{min(i, j)}_{max(i, j)}: {1 + (i < j)}' for j in range(6) if j != i)} }}" for i in range(6)
    ]
    assert len(output_schema(" | ".join(pairs))["oneOf"]) == 6, "each pair is told apart by a property of its own"


def test_the_first_two_that_overlap_end_the_comparison(compared: Count) -> None:
    assert "anyOf" in output_schema(" | ".join(f"{{ ?a{i}: 1 }}" for i in range(60)))
    assert compared.calls <= 3


def test_two_unions_of_very_many_members_are_not_compared_for_ever(compared: Count) -> None:
    """Members of two named unions, each used twice, which nothing tells apart but their nested fields."""
    one = " | ".join(f"{{ in: {{ a{i}: 1 }}, k: [Integer] }}" for i in range(400))
    two = " | ".join(f"{{ in: {{ a{i}: 2 }}, k: {{ b: 2 }} }}" for i in range(400))
    output_schema("{ x: one | two, y: one, z: two }", f"@rbs type one = {one}\n@rbs type two = {two}")
    assert compared.calls <= 200_000


def test_members_that_two_unions_share_overlap() -> None:
    aliases = '@rbs type a = { k: "a" }\n@rbs type ab = a | { k: "b" }\n@rbs type ac = a | { k: "c" }'
    schema = output_schema("{ x: ab | ac, y: ab, z: ac }", aliases)
    assert list(schema["properties"]["x"]) == ["anyOf"]


@pytest.mark.parametrize("other", ["String", "5", "Array[Integer]", "[Integer]", "bool"])
def test_members_of_other_json_types_stay_apart(other: str) -> None:
    members = [f'{{ k: "v{i}" }}' for i in range(100)]
    assert len(output_schema(f"{{ x: {' | '.join([*members, other])} }}")["properties"]["x"]["oneOf"]) == 101


def test_equal_members_among_very_many_are_one(equalled: Count) -> None:
    members = [f'{{ k: "v{i % 300}" }}' for i in range(900)]
    assert len(output_schema(" | ".join(members))["oneOf"]) == 300
    assert equalled.calls <= 1_800


def test_definitions_of_one_look_are_found_in_one_pass_each(equalled: Count) -> None:
    names = [f"@rbs type r{i} = {{ a{i % 150}: Integer, ?next: r{i} }}" for i in range(300)]
    schema = output_schema(" | ".join(f"r{i}" for i in range(300)), "\n".join(names))
    assert len(schema["anyOf"]) == 150
    assert len(schema["$defs"]) == 150
    assert equalled.calls <= 3_000


def test_gates_beside_open_members_are_told_apart_at_once_too(compared: Count) -> None:
    open_ones = [f'{{ k: "o{i}", d: untyped }}' for i in range(200)]
    gated = [f'{{ k: "g{i}", d: {{ s: String @requires(:q) }} }}' for i in range(200)]
    output_schema(" | ".join([*open_ones, *gated]))
    assert compared.calls == 0


# -- intersections ------------------------------------------------------------------------------------------------


def test_unions_that_would_multiply_out_to_thousands_are_an_error() -> None:
    def sides(count: int) -> str:
        return " & ".join(f"({{ a{i}: Integer }} | {{ b{i}: Integer }})" for i in range(count))

    assert len(output_schema(sides(6))["anyOf"]) == 64
    for count in (7, 18, 300):
        (problem,) = problems(f"#: () -> output\n@rbs type output = {{ x: {sides(count)} }}")
        assert problem == (
            2,
            "this `&` multiplies out to more than 64 records: join fewer unions, or give each a field of its own in "
            "one record, `{ kind: a | b, size: c | d }`.",
        )


def test_names_in_a_side_are_not_written_out_for_ever() -> None:
    names = "\n".join(f"@rbs type u{i} = u{i + 1} | u{i + 1}" for i in range(40))
    docstring = f"#: () -> output\n{names}\n@rbs type u40 = {{ a: 1 }}\n@rbs type output = u0 & {{ b: 1 }}"
    assert "multiplies out to more than 64 records" in problems(docstring)[0][1]


@pytest.mark.parametrize("body", ["b", "b | { x: 1 }", "b & { x: 1 }"])
def test_names_that_stand_for_one_another_end_in_an_error(body: str) -> None:
    docstring = f"#: () -> output\n@rbs type a = {body}\n@rbs type b = a\n@rbs type output = a & {{ y: 1 }}"
    assert any("joined to itself" in message for _, message in problems(docstring))
    assert problems(f"#: (?v: a @default(1)) -> output\n@rbs type a = {body}\n@rbs type b = a\n@rbs type output = {{}}")


# -- problems -----------------------------------------------------------------------------------------------------


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> Count:
    return Count(monkeypatch, names, "near_names")


def test_of_very_many_problems_the_first_are_told(looked_up: Count) -> None:
    wrong = " | ".join(f"unknown{i}" for i in range(3_000))
    found = problems(f"#: () -> output\n@rbs type output = {{ x: {wrong}, y: Integer }}")
    assert len(found) == 51
    assert (2, "this is wrong too, and 2,949 more: mend the others first.") in found
    assert looked_up.calls == 50, "what takes long to say is not looked for in vain"


@pytest.mark.parametrize("tag", ["@requires2(:a)", "@min(a)", "@nullable()", "@min(1)"])
def test_a_line_of_wrong_tags_is_no_flood(tag: str) -> None:
    found = problems(f"#: () -> output\n@rbs type output = {{ x: Array[bool {f' {tag}' * 3_000}] }}")
    assert len(found) <= 51


def test_a_message_lists_a_dozen_names() -> None:
    fields = ", ".join(f"f{i}: Integer" for i in range(500))
    first = ", ".join(f"f{i}" for i in range(12))
    found = problems(f"#: ({fields}, g: String @depends_on(:nothing)) -> output\n@rbs type output = {{}}")
    assert found == [(1, f"`@depends_on(:nothing)` names no other field of this record: {first}, ….")]
    parameters = ", ".join(f"T{i}" for i in range(500))
    found = problems(f"#: (a: p) -> output\n@rbs type p[{parameters}] = T0\n@rbs type output = {{}}")
    assert found == [(1, f"`p` takes [{', '.join(f'T{i}' for i in range(12))}, …].")]


# -- depth --------------------------------------------------------------------------------------------------------


def chain(length: int) -> str:
    names = [f"@rbs type a{i} = {{ n: a{i + 1} }}" for i in range(length)]
    return "\n".join(["#: () -> output", *names, f"@rbs type a{length} = Integer", "@rbs type output = a0"])


def test_fifty_records_in_one_another_are_no_problem() -> None:
    value: Any = 1
    for _ in range(50):
        value = {"n": value}
    view = ToolContract.parse(chain(50)).view(Context())
    assert view.filter_output(value) == value


@pytest.mark.parametrize("length", [60, 200, 900])
def test_names_that_go_too_deep_are_told_where_they_do(length: int) -> None:
    (line, message), *more = problems(chain(length))
    assert (
        message == "types nest at most 80 levels deep with names written out, and here it is more: flatten these types."
    )
    assert 50 <= line <= 60
    assert not more


def test_too_many_names_are_told_where_they_are_too_many() -> None:
    uses = "\n".join(f"@rbs type u{i} = g[{i}]" for i in range(1_200))
    ((line, message),) = problems(f"#: () -> output\n@rbs type g[T] = {{ a: T }}\n{uses}\n@rbs type output = {{}}")
    assert message == "there are too many names, or uses of one with other types, from here."
    assert line > 2


def sharing(levels: int) -> str:
    """Unions, each of which takes in both unions below it."""
    names = [
        f"@rbs type {name}{n} = {{ {name}{n}: Integer }} | u{n - 1} | v{n - 1}"
        for n in range(1, levels + 1)
        for name in ("u", "v")
    ]
    leaves = ["@rbs type u0 = { u0: Integer }", "@rbs type v0 = { v0: Integer }"]
    return "\n".join([*leaves, *names, f"@rbs type output = {{ r: u{levels} }}", f"#: (a: u{levels}) -> output"])


def test_unions_that_share_unions_are_used_in_as_many_steps_as_they_have_members() -> None:
    view = ToolContract.parse(sharing(9)).view(None)
    assert view.filter_output({"r": {"u0": 1, "x": 2}}) == {"r": {"u0": 1}}
    assert view.filter_input({"a": '{"v5": "3"}'}, lenient=True) == {"a": {"v5": 3}}
    with pytest.raises(InvalidInputError, match=r"a\.u9: is required"):
        view.filter_input({"a": {"w": 1}})


@pytest.mark.parametrize("levels", [11, 24])
def test_a_validator_is_not_sent_down_too_many_ways(levels: int) -> None:
    with pytest.raises(ContractError) as caught:
        ToolContract.parse(sharing(levels))
    assert "`u11` comes to some member in more than 1,000 ways: let fewer unions share others." in str(caught.value)
