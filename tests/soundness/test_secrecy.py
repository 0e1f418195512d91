"""What a caller receives is a function of what that caller may see (SPEC section 6)."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from fastmcp_authz import AuthzError, CallerView, ContractError, ToolContract
from fastmcp_authz.annotations import Name
from tests.soundness.budget import UnsuitedError, event, property_of_worlds
from tests.soundness.drawing import GATES
from tests.soundness.hiding import other_hidden_contract, other_hidden_data
from tests.soundness.world import World, decisions


def told(action: Any, value: Any) -> str:
    """Every byte that comes of a call: what is received or sent, or the text of the refusal."""
    try:
        return json.dumps(action(value))
    except AuthzError as error:
        return f"{type(error).__name__}: {error}"


def listed(view: CallerView) -> str:
    return json.dumps([view.name, view.description, view.visible, view.input_schema, view.output_schema])


@property_of_worlds
def test_hidden_data_makes_no_difference_to_a_result(world: World) -> None:
    views = world.view(), world.view(mistyped_output="report")
    output = Name("output", at=world.model.aliases["output"].at)
    for value in world.results(3):
        first = [told(view.filter_output, value) for view in views]
        for _ in range(2):
            other = other_hidden_data(world.model, [(output, ())], value, world.random)
            event("changed" if other != value else "unchanged")
            assert [told(view.filter_output, other) for view in views] == first, (value, other)


@property_of_worlds
def test_hidden_declarations_make_no_difference_to_anything(world: World) -> None:
    docstring = other_hidden_contract(world.docstring, world.model, world.random)
    try:
        other = ToolContract.parse(docstring).view_of(decisions(world.answers))
    except ContractError:  # what is hidden no longer goes together with what is not: a default, a gate that cannot hold
        raise UnsuitedError from None
    view = world.view()
    event("changed" if docstring != world.docstring else "unchanged")
    assert listed(view) == listed(other), docstring
    for arguments in world.arguments(4, slips=0.1):
        for lenient in (False, True):
            one = told(partial(view.filter_input, lenient=lenient), arguments)
            assert one == told(partial(other.filter_input, lenient=lenient), arguments), (docstring, arguments)
    for value in world.results(3):
        assert told(view.filter_output, value) == told(other.filter_output, value), (docstring, value)


@property_of_worlds
def test_fewer_answers_show_nothing_new(world: World) -> None:
    fewer = frozenset(gate for gate in world.answers if world.random.random() < 0.5)
    for more in (world.answers, frozenset(GATES)):
        whole, less = world.view(more), world.view(fewer)
        assert whole.visible or not less.visible
        assert facts(less.input_schema) <= facts(whole.input_schema)
        assert facts(less.output_schema) <= facts(whole.output_schema)
        assert set(less.default_keys) <= set(whole.default_keys)


def facts(schema: Any, keyword: str = "") -> frozenset[str]:
    """Whatever a schema tells: names of fields, constants, descriptions, defaults, patterns, bounds."""
    if keyword in ("default", "examples"):
        return frozenset([f"{keyword} {json.dumps(schema)}"])
    if isinstance(schema, dict):
        named = keyword in ("properties", "$defs")
        inner = [facts(part, "" if named else key) for key, part in schema.items() if key != "$ref"]
        names = (f"field {name}" for name in schema) if keyword == "properties" else ()
        return frozenset(names).union(*inner)
    if isinstance(schema, list):
        return frozenset().union(*(facts(part, keyword) for part in schema))
    return frozenset() if keyword in ("", "type") else frozenset([f"{keyword.replace('enum', 'const')} {schema!r}"])
