"""Whether one type takes all that another takes and shows as much, as the rule on overlapping members has it."""

from __future__ import annotations

import pytest

from fastmcp_authz import ToolContract
from fastmcp_authz.contracts.outline import outline
from fastmcp_authz.survey.checks.covering import Covering

CASES = [
    ("String", "String", True),
    ("String", '"a"', True),
    ("Float", "Integer", True),
    ("Integer", "Float", False),
    ("Integer", "true", False),
    ("String", "Integer", False),
    ("String @max(3)", "String", False),
    ("String", "String @max(3)", True),
    ('"a" | "b"', '"a"', True),
    ('"a"', '"a" | "b"', False),
    ("1", "true", False),
    ("untyped", "{ a: String }", True),
    ("Array[Float]", "Array[Integer]", True),
    ("Array[Float]", "[Integer, Float]", True),
    ("Array[Integer]", "[Integer, Float]", False),
    ("[Float]", "[Integer]", True),
    ("[Float]", "[Integer, Integer]", False),
    ("[Float]", "Array[Float]", False),
    ("Hash[String, Float]", "Hash[String, Integer]", True),
    ('Hash["x" | "y", Float]', "Hash[String, Integer]", False),
    ("Hash[String, Float]", "{ a: Integer }", True),
    ("Hash[String, Float]", "{ a: String }", False),
    ("{ a: Integer }", "Hash[String, Integer]", False),
    ("{ a: Integer, ?b: String }", "{ a: Integer }", True),
    ("{ a: Integer, b: String }", "{ a: Integer }", False),
    ("{ a: Integer }", "{ a: Integer, ?b: String }", False),
    ("{ a: Integer }", "{ ?a: Integer }", False),
    ("{ a: Integer, ?b: String @depends_on(:a) }", "{ a: Integer, ?b: String }", False),
    ("{ a: Integer, ?b: String @depends_on(:a) }", "{ a: Integer, ?b: String @depends_on(:a) }", True),
    ("{ ?a: Integer @requires(:x) }", "{ ?a: Integer }", False),
    ("{ ?a: Integer @requires(:x) }", "{ ?a: Integer @requires(:x) }", True),
    ("{ ?a: { ?b: Integer @requires(:x) } }", "{ ?a: { ?b: Integer } @requires(:x) }", True),
    ("{ ?a: Integer }", "{ ?a: Integer @requires(:x) }", True),
    ("tree", "bush", True),
    ("tree", "wood", False),
]


@pytest.mark.parametrize(("a", "b", "covers"), CASES)
def test_one_type_covers_another_or_not(a: str, b: str, covers: bool) -> None:
    contract = ToolContract.parse(
        f"""
        @rbs type tree = {{ leaf: String, ?below: Array[tree] }}
        @rbs type bush = {{ leaf: String, ?below: Array[bush] }}
        @rbs type wood = {{ leaf: String, ?below: Array[wood], ?name: String }}
        @rbs type output = {{ a: {a}, b: {b} }}
        #: () -> output
        """
    )
    tree = outline(contract.output)
    mine, other = (part for part in tree.parts if part.path in ("a", "b"))
    assert Covering(contract.output).covers(mine.shape, other.shape) is covers
