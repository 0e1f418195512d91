"""What is proposed for a tool says what its schemas say: it takes and refuses the same, and reads as it was meant."""

from __future__ import annotations

import inspect
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from fastmcp_authz import ToolContract
from fastmcp_authz.annotations import read_annotation
from fastmcp_authz.survey.proposing.pasting import docstring_code
from fastmcp_authz.survey.proposing.proposal import Proposal, propose
from tests.soundness.budget import EXAMPLES, SEED
from tests.survey.schemas import PROSE, Draw, Schema, Values

FEW = settings(
    max_examples=max(EXAMPLES // 4, 1),
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


def proposed(number: int) -> tuple[Random, Schema, Schema, Proposal]:
    """A tool's schemas, drawn, and what is proposed for it."""
    random = Random(number)
    inputs = Draw(random).root()
    result = Draw(random)
    results = {**result.record(3), **result.defs()}
    proposal = propose(random.choice(PROSE).strip(), inputs, results)
    note(proposal.docstring)
    return random, inputs, results, proposal


@seed(SEED)
@FEW
@given(st.integers(0, 2**48))
def test_an_annotation_takes_and_refuses_what_the_schemas_do(number: int) -> None:
    random, inputs, results, proposal = proposed(number)
    view = ToolContract.parse(proposal.docstring).view(None)
    for schema, shown in ((inputs, view.input_schema), (results, view.output_schema)):
        before, after = Draft202012Validator(schema), Draft202012Validator(shown or {})
        values = Values(random, schema.get("$defs", {}))
        for value in (values.of(schema) for _ in range(12)):
            assert before.is_valid(value) == after.is_valid(value), value


@seed(SEED + 1)
@FEW
@given(st.integers(0, 2**48))
def test_an_annotation_reads_as_it_was_meant_once_it_is_pasted(number: int) -> None:
    *_, proposal = proposed(number)
    pasted = compiled(docstring_code(proposal.docstring))
    assert pasted.strip() == proposal.docstring.strip()
    annotation, problems = read_annotation(pasted, name="proposed")
    assert problems == ()
    assert annotation.prose == proposal.prose
    assert annotation.aliases[:-1] == proposal.aliases
    assert annotation.aliases[-1].type == proposal.output
    assert annotation.signature is not None
    assert annotation.signature.fields == proposal.parameters


@FEW
@given(st.lists(st.sampled_from((*PROSE, '"""', "'''", "\\", "\\n", '"', "'")), max_size=4))
def test_code_of_a_docstring_says_the_docstring(parts: list[str]) -> None:
    text = inspect.cleandoc("\n".join(parts)).strip()
    assert compiled(docstring_code(text)).strip() == text


def compiled(lines: list[str]) -> str:
    """The docstring of a function that has these lines as its body."""
    names: dict[str, Any] = {}
    exec("\n".join(["def function():", *lines, "    return 1"]), names)
    return inspect.getdoc(names["function"]) or ""
