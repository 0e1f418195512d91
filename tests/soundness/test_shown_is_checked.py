"""What is advertised accepts arguments exactly where the call is not refused; what is sent validates against it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from tests.soundness.budget import event, property_of_worlds
from tests.soundness.world import REFUSED, World, received, sent


def _as_ecma(_: Any, pattern: str, value: Any, __: Any) -> Any:
    if isinstance(value, str) and not jsonschema_rs.is_valid({"pattern": pattern}, value):
        yield ValidationError("pattern")


def _as_asserted(_: Any, name: str, value: Any, __: Any) -> Any:
    if isinstance(value, str) and not jsonschema_rs.is_valid({"format": name}, value, validate_formats=True):
        yield ValidationError("format")


def _exactly(_: Any, step: float, value: Any, __: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and Fraction(value) % Fraction(step):
        yield ValidationError("multipleOf")


EXCEPTIONS = {
    "pattern": _as_ecma,  # a regular expression of ECMA-262; jsonschema takes it for one of Python's `re`
    "format": _as_asserted,  # only an annotation to jsonschema, unless optional packages are there, which disagree
    "multipleOf": _exactly,  # jsonschema divides floats, so that rounding decides for large numbers
}
"""Keywords that `jsonschema` departs from the standard in."""
STANDARD: Any = cast(Any, extend)(Draft202012Validator, EXCEPTIONS)


@property_of_worlds
def test_advertised_accepts_what_a_call_accepts(world: World) -> None:
    view = world.view()
    standard = STANDARD(view.input_schema)
    for arguments in world.arguments(4):
        accepted = received(view, arguments) != REFUSED
        event("accepted" if accepted else "refused")
        assert standard.is_valid(arguments) == accepted, arguments


@property_of_worlds
def test_nested_unknown_keys_are_refused_where_the_schema_says_so(world: World) -> None:
    view = world.view(nested_unknown_keys="reject")
    standard = STANDARD(view.input_schema)
    for arguments in world.arguments(4):
        got = received(view, arguments)
        assert standard.is_valid(arguments) == (got != REFUSED), arguments
        if got != REFUSED:
            assert all(got[name] == value for name, value in arguments.items()), "nothing is left to drop"


@property_of_worlds
def test_strict_schemas_accept_what_the_contract_accepts_without_undeclared_keys(world: World) -> None:
    view, strict = world.view(), world.view(strict_schema=True)
    standard = STANDARD(strict.input_schema)
    for arguments in world.arguments(4):
        accepted = received(view, arguments)
        assert received(strict, arguments) == accepted, "the whole contract is still what is enforced"
        if accepted != REFUSED:
            given = {name: value for name, value in accepted.items() if name in arguments}  # the rest are defaults
            assert standard.is_valid(given), given
    for value in world.results(3):
        kept = sent(strict, value)
        assert kept == sent(view, value)
        assert kept == REFUSED or STANDARD(strict.output_schema or False).is_valid(kept), kept


@property_of_worlds
def test_what_is_sent_validates_against_what_was_advertised(world: World) -> None:
    view = world.view()
    schema = view.output_schema or False
    for value in world.results(4):
        kept = sent(view, value)
        event("withheld" if kept == REFUSED else "sent")
        if kept != REFUSED:
            assert isinstance(kept, dict)
            assert STANDARD(schema).is_valid(kept), (value, kept)
            assert jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(kept), (value, kept)


@property_of_worlds
def test_projecting_twice_is_projecting_once(world: World) -> None:
    view = world.view()
    for value in world.results(4):
        kept = sent(view, value)
        assert kept == REFUSED or sent(view, kept) == kept, (value, kept)
