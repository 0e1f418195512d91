"""A gate beside an open type that takes what it is to hide is an error, for every caller and every value that fits."""

from __future__ import annotations

import contextlib

import pytest

from fastmcp_authz import ContractError, OutputWithheldError, ToolContract

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
        '{ k: ("a" | "c" @requires(:p)), d: untyped } | { k: "b", d: SECRETS }',
        '{ k: node, d: untyped } | { k: "b", d: SECRETS }\n@rbs type node = Array[node] | Integer',
        '{ in: { k: "a" }, d: untyped } | { in: { k: "b" }, d: SECRETS }',
        "(Hash | SECRETS) & { z: String }",
    ],
)
def test_what_everybody_sees_tells_types_apart(type_: str) -> None:
    x, *names = type_.replace("SECRETS", SECRETS).split("\n")
    contract = ToolContract.parse("\n".join([f"#: () -> output\n@rbs type output = {{ x: ({x}) }}", *names]))
    least = contract.view(Context())
    for value in ({"k": "b", "d": {"s": "secret"}}, {"in": {"k": "b"}, "d": {"s": "secret"}}):
        with contextlib.suppress(OutputWithheldError):
            assert "secret" not in str(least.filter_output({"x": value}))


def test_a_union_that_is_joined_to_a_record_is_none_any_more() -> None:
    contract = output("(Hash | SECRETS) & { z: String }")
    assert contract.view(Context("q")).filter_output({"x": {"s": "a", "z": "b", "u": "c"}}) == {
        "x": {"s": "a", "z": "b"}
    }
    assert contract.view(Context()).filter_output({"x": {"s": "a", "z": "b", "u": "c"}}) == {"x": {"z": "b"}}
