"""Whatever stands in a docstring ends in a contract or in a `ContractError`, and what comes of a contract is JSON."""

from __future__ import annotations

import json
import warnings
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from fastmcp_authz import ContractError, ToolContract
from tests.annotations.budget import BUDGET
from tests.soundness.drawing import Drawn

PIECES = (
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "|",
        "&",
        "?",
        ":",
        ",",
        '"',
        "'",
        "\\",
        "\n",
        "\n\n",
        " ",
        "@",
        "#:",
        "@rbs type ",
    ),
    *(
        " @min(1)",
        " @max(x)",
        " @min(1e999)",
        " @closed()",
        " @nullable()",
        " @requires(:a)",
        " @requires(:a, :b)",
        " @t",
    ),
    *(
        " @default(nil)",
        " @default([1, 2])",
        ' @default({"a": 1})',
        " @example(5)",
        " @depends_on(:a)",
        " @format(email)",
    ),
    *(
        "t0",
        "t1",
        "page[t0]",
        "output",
        "input",
        "String",
        "Strng",
        "untyped",
        "Hash",
        "Array[t0]",
        "nil",
        "-5",
        "é",
        "\b",
    ),
    *(" & t0", " | t0", " | nil", "9" * 5000),
)


@given(st.integers(0, 2**48))
@BUDGET
def test_a_mutated_declaration_ends_in_a_contract_or_its_error(number: int) -> None:
    random = Random(number)
    text = Drawn(random).docstring(random.randint(1, 3))[:2_000]
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(text) + 1)
        text = text[:start] + random.choice(PIECES) + text[start + random.choice((0, 0, 1, 5)) :]
    contract = parsed(text)
    if isinstance(contract, ContractError):
        assert contract.problems
        assert len(str(contract)) < 60_000
    else:
        for seen in (contract.view(None), contract.view_of(frozenset(contract.predicates))):
            json.dumps([seen.input_schema, seen.output_schema], allow_nan=False)


def parsed(docstring: str) -> ToolContract | ContractError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return ToolContract.parse(docstring)
        except ContractError as error:
            return error
