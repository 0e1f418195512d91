"""Order does not matter, use leaves no trace, lenient reading only ever helps."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from random import Random
from typing import Any

from jsonschema.validators import extend as _extend

from fastmcp_authz import ToolContract
from fastmcp_authz.annotations import Field as FieldSyntax
from fastmcp_authz.annotations import Record, Type, Union
from tests.model import Model
from tests.model_words import constraints, same
from tests.soundness.budget import event, property_of_worlds
from tests.soundness.drawing import GATES
from tests.soundness.hiding import Place, behind, elements, rewritten
from tests.soundness.test_secrecy import listed, told
from tests.soundness.test_shown_is_checked import STANDARD
from tests.soundness.world import REFUSED, SETTINGS, World, decisions, of_model, received, sent

extend: Any = _extend


class Shuffler:
    """The same docstring with the members of unions and the fields of records in another order."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def type(self, node: Type) -> Type:
        shuffled: Type = _mapped(node, self)
        return shuffled

    def fields(self, fields: tuple[FieldSyntax, ...]) -> tuple[FieldSyntax, ...]:
        return tuple(self._random.sample([replace(f, type=self.type(f.type)) for f in fields], len(fields)))

    def members(self, members: tuple[Type, ...]) -> tuple[Type, ...]:
        return tuple(self._random.sample([self.type(m) for m in members], len(members)))


def _mapped(node: Any, shuffler: Shuffler) -> Any:
    if isinstance(node, Record):
        return replace(node, fields=shuffler.fields(node.fields))
    if isinstance(node, Union):
        return replace(node, members=shuffler.members(node.members))
    if hasattr(node, "members"):
        return replace(node, members=tuple(map(shuffler.type, node.members)))
    if hasattr(node, "type"):
        return replace(node, type=shuffler.type(node.type))
    for parts in ("items", "arguments"):
        if hasattr(node, parts):
            return replace(node, **{parts: tuple(map(shuffler.type, getattr(node, parts)))})
    return node


@property_of_worlds
def test_the_order_of_members_fields_and_aliases_does_not_matter(world: World) -> None:
    shuffler = Shuffler(world.random)
    docstring = rewritten(world.docstring, shuffler.type, shuffler.fields)
    lines = docstring.split("\n\n")
    docstring = "\n\n".join(world.random.sample(lines, len(lines)))
    view, other = world.view(), ToolContract.parse(docstring).view_of(decisions(world.answers))
    for arguments in world.arguments(3):
        spelled_out = spelled(arguments, world.random)
        for sent_, lenient in ((arguments, False), (spelled_out, True)):
            one, two = (received(v, sent_, lenient=lenient) for v in (view, other))
            assert same(one, two), (docstring, sent_, one, two)
    for value in world.results(3):
        one, two = sent(view, value), sent(other, value)
        event("withheld" if one == REFUSED else "sent")
        assert same(one, two), (docstring, value, one, two)


@property_of_worlds
def test_use_changes_neither_views_nor_values(world: World) -> None:
    view = world.view()
    shown = json.dumps([view.input_schema, view.output_schema])
    for arguments in world.arguments(3):
        before = copy.deepcopy(arguments)
        received(view, arguments)
        received(view, arguments, lenient=True)
        assert same(arguments, before)
    for value in world.results(3):
        before = copy.deepcopy(value)
        sent(view, value)
        assert same(value, before)
    assert json.dumps([view.input_schema, view.output_schema]) == shown
    assert world.view() is view


@property_of_worlds
def test_a_view_is_the_same_whoever_came_before(world: World) -> None:
    gates = world.random.sample(GATES, world.random.randint(0, len(GATES)))
    for answers in (frozenset(GATES), frozenset(gates), world.answers):
        for options in ({}, {"nullable_inputs": "opt-in"}):
            view = world.view(answers, **options)
            alone = ToolContract.parse(world.docstring, settings=SETTINGS(**options)).view_of(decisions(answers))
            assert listed(view) == listed(alone), answers
            for arguments in world.arguments(1):
                assert told(view.filter_input, arguments) == told(alone.filter_input, arguments), arguments
            for value in world.results(1):
                assert told(view.filter_output, value) == told(alone.filter_output, value), value


# -- lenient reading ----------------------------------------------------------------------------------------------


def spelled(value: Any, random: Random, *, top: bool = True) -> Any:
    """Some parts of arguments as JSON text."""
    if isinstance(value, dict):
        value = {key: spelled(part, random, top=False) for key, part in value.items()}
    if isinstance(value, list):
        value = [spelled(part, random, top=False) for part in value]
    return value if top or random.random() < 0.6 else json.dumps(value)


@property_of_worlds
def test_lenient_reading_only_turns_refusals_into_what_fits(world: World) -> None:
    view, model = world.view(), world.model
    # Elements are told apart as they were sent: two may be equal once undeclared keys are dropped.
    standard = extend(STANDARD, {"uniqueItems": lambda *_: None})(view.input_schema)
    for plain in world.arguments(4):
        for arguments in (plain, spelled(plain, world.random)):
            strict, lenient = received(view, arguments), received(view, arguments, lenient=True)
            if strict != REFUSED:
                assert same(strict, lenient), arguments
            elif lenient != REFUSED:
                event("read leniently")
                # The rest are defaults: of what was not sent, or was sent as a null that says so.
                meant = {name for name, value in arguments.items() if value is not None or lenient.get(name) is None}
                read = {name: value for name, value in lenient.items() if name in meant}
                assert standard.is_valid(read), (arguments, read)
                if STANDARD(view.input_schema).is_valid(read):
                    assert same(of_model(model.received, read), lenient), "nothing in it is undeclared"
                for field in model.parameters:
                    if field.name in arguments and field.name in lenient:
                        check_texts(model, [(field.type, field.tags)], arguments[field.name], lenient[field.name])


def check_texts(model: Model, place: Place, given: Any, got: Any) -> None:
    """A text stays what it is wherever a string is declared; looked at as far as it is clear which form was taken."""
    forms = [form for node, tags in place for form in model.forms(node, constraints(tags))]
    if isinstance(given, str) and given != got:
        assert not any(form.kind == "string" for form in forms), (given, got)
    kinds = ("record", "map") if isinstance(given, dict) else ("list", "tuple")
    taken = [form for form in forms if form.kind in kinds]
    if len(taken) != 1 or type(given) is not type(got) or not isinstance(given, dict | list):
        return
    keys: list[Any] = list(given) if isinstance(given, dict) else list(range(len(given)))
    for key in keys:
        if not isinstance(got, dict) or key in got:
            inside = elements(taken, key) if isinstance(key, int) else behind(model, taken, key)
            check_texts(model, inside, given[key], got[key])
