"""The library says what the reference model says: which keys are shown, what is accepted, received, sent (issue 4)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fastmcp_authz.annotations import Name
from tests.model import with_opt_in
from tests.model_words import canonical
from tests.soundness.budget import event, property_of_worlds
from tests.soundness.world import REFUSED, World, of_model, received, sent


def same(a: Any, b: Any) -> bool:
    """Equal as JSON, numbers by their kind too."""
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def outcome(expected: Any, given: Any) -> str:
    """What becomes of a value, in a word."""
    return "refused" if expected is REFUSED else "whole" if same(expected, given) else "pruned or filled"


@property_of_worlds
def test_arguments_are_accepted_and_received_as_the_model_says(world: World) -> None:
    view = world.view()
    for arguments in world.arguments(4):
        expected = of_model(world.model.received, arguments)
        event(outcome(expected, arguments))
        assert same(received(view, arguments), expected), (arguments, expected, received(view, arguments))


@property_of_worlds
def test_null_is_accepted_where_the_model_says_when_it_has_to_be_asked_for(world: World) -> None:
    view = world.view(nullable_inputs="opt-in")
    model = with_opt_in(world.model, signed="#:" in world.docstring)
    assert frozenset(view.input_schema["properties"]) == {f.name for f in model.parameters if model.sees(f)}
    for arguments in world.arguments(4):
        expected = of_model(model.received, arguments)
        event(outcome(expected, arguments))
        assert same(received(view, arguments), expected), (arguments, expected, received(view, arguments))


@property_of_worlds
def test_defaults_are_shown_and_filled_in_as_the_model_says(world: World) -> None:
    own = world.own_defaults()
    for answers in ({}, own):
        view, model = world.view().with_defaults(answers), replace(world.model, own=answers)
        defaults = {f.name: default for f in model.parameters if model.sees(f) for default in model.defaults(f)}
        shown = {name: part["default"] for name, part in inline(view.input_schema).items() if "default" in part}
        assert same(shown, defaults), (answers, shown, defaults)
        for arguments in world.arguments(2):
            expected = of_model(model.received, arguments)
            event("own" if any(name not in arguments for name in defaults) else "none")
            assert same(received(view, arguments), expected), (arguments, answers, expected)


def inline(schema: Any) -> Any:
    """The properties of a schema; what one says beside its `$ref` counts first."""
    defs = schema.get("$defs", {})
    behind = dict(schema["properties"])
    for name, part in schema["properties"].items():
        while "$ref" in part:
            target = defs[part["$ref"].removeprefix("#/$defs/")]
            part = {**target, **{k: v for k, v in part.items() if k != "$ref"}}
        behind[name] = part
    return behind


@property_of_worlds
def test_results_are_sent_as_the_model_says(world: World) -> None:
    view = world.view()
    for value in world.results(4):
        expected = of_model(world.model.sent, value)
        event(outcome(expected, value))
        assert same(sent(view, value), expected), (value, expected, sent(view, value))


@property_of_worlds
def test_the_keys_that_are_shown_are_those_that_the_model_shows(world: World) -> None:
    view, model = world.view(), world.model
    shown = frozenset(f.name for f in model.parameters if model.sees(f))
    assert frozenset(view.input_schema["properties"]) == shown
    inside = frozenset().union(*(model.keys(f.type) for f in model.parameters if f.name in shown))
    assert properties(view.input_schema) == shown | inside
    output = Name("output", at=model.aliases["output"].at)
    assert view.visible == model.is_left(output)
    assert properties(view.output_schema) == model.keys(output)


def properties(schema: Any) -> frozenset[str]:
    """Every name under a `properties`, wherever it stands."""
    if isinstance(schema, list):
        return frozenset().union(*map(properties, schema))
    if not isinstance(schema, dict):
        return frozenset()
    found = frozenset[str]()
    for keyword, inner in schema.items():
        if keyword == "properties":
            found |= frozenset(inner).union(*map(properties, inner.values()))
        elif keyword == "$defs":
            found = found.union(*map(properties, inner.values()))
        elif keyword not in ("default", "examples", "const", "enum", "required", "dependentRequired"):
            found |= properties(inner)
    return found


def test_the_models_canonical_text_is_that_of_the_library() -> None:
    assert canonical({"b": [1.0, "\N{GREEK SMALL LETTER ALPHA}"], "a": None}) == '{"a":null,"b":[1,"\u03b1"]}'
