"""A gate beside an open type that takes what it is to hide is an error, for every caller and every value that fits."""

from __future__ import annotations

import pytest

from fastmcp_authz import ContractError, ToolContract

from .callers import Context

SECRETS = "{ ?s: String @requires(:q), ?t: String @requires(:q) }"


def output(type_: str) -> ToolContract:
    return ToolContract.parse(f"#: () -> output\n@rbs type output = {{ x: ({type_.replace('SECRETS', SECRETS)}) }}")


@pytest.mark.parametrize(
    "type_",
    [
        '{ k: "a" @requires(:p), d: untyped } | { k: "b", d: SECRETS }',
        '{ k: "a", d: untyped } | { k: "b" @requires(:p), d: SECRETS }',
        '{ k: ("a" @requires(:p)), d: untyped } | { k: "b", d: SECRETS }',
        '{ k: Array["a" @requires(:p)], d: untyped } | { k: "b", d: SECRETS }',
        '{ in: { k: "a" @requires(:p) }, d: untyped } | { in: { k: "b" }, d: SECRETS }',
        "({ d: untyped } @closed()) | { k: Integer, d: SECRETS }",
        "{ d: untyped, k: Integer } | ({ d: SECRETS } @closed())",
        '{ k: "a" @requires(:p), d: Hash } | Hash[String, SECRETS]',
        "({ d: untyped } | { k: Integer }) & ({ e: String } | { d: SECRETS })",
    ],
)
def test_what_some_callers_do_not_see_tells_nothing_apart(type_: str) -> None:
    with pytest.raises(ContractError, match="a gate in this union cannot hold"):
        output(type_)


@pytest.mark.parametrize(
    "type_",
    [
        '{ k: "a", d: untyped } | { k: "b", d: SECRETS }',
        '{ k: "a" | "c" @requires(:p), d: untyped } | { k: "b", d: SECRETS }',
        '{ k: node, d: untyped } | { k: "b", d: SECRETS }\n@rbs type node = Array[node] | Integer',
        '{ in: { k: "a" }, d: untyped } | { in: { k: "b" }, d: SECRETS }',
        "(Hash | SECRETS) & { z: String }",
        "{ d: untyped, z: String } & (SECRETS | { ?e: Integer })",
    ],
)
def test_what_everybody_sees_tells_types_apart(type_: str) -> None:
    x, *names = type_.split("\n")
    contract = ToolContract.parse(
        "\n".join([f"#: () -> output\n@rbs type output = {{ x: ({x.replace('SECRETS', SECRETS)}) }}", *names])
    )
    for value in (
        {"k": "b", "d": {"s": "secret"}},
        {"in": {"k": "b"}, "d": {"s": "secret"}},
        {"s": "secret", "z": "z"},
    ):
        try:
            assert "secret" not in str(contract.view(Context()).filter_output({"x": value}))
        except Exception as error:
            assert "secret" not in str(error)


def test_a_name_that_is_only_joined_to_a_record_is_no_union_of_its_own() -> None:
    contract = output("(Hash | SECRETS) & { z: String }")
    assert contract.view(Context("q")).filter_output({"x": {"s": "a", "z": "b", "u": "c"}}) == {
        "x": {"s": "a", "z": "b"}
    }
    assert contract.view(Context()).filter_output({"x": {"s": "a", "z": "b", "u": "c"}}) == {"x": {"z": "b"}}
