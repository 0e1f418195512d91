"""What one caller has of a contract: schemas to show, arguments to check by them, results to prune to them."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

import jsonschema_rs
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from ..errors import InvalidInputError, OutputWithheldError, UnknownInputKeysError
from . import refusals
from .projection import MisfitError, Prune
from .reading import Reader
from .schema import Schema, Slot

_log = logging.getLogger("fastmcp_authz")


@dataclass(frozen=True, slots=True)
class InputCheck:
    """What arguments go through; made when the first ones come, since most views are only ever listed."""

    schema: Schema
    """What is enforced: what is advertised, and what `strict_schema` leaves unsaid."""
    validator: jsonschema_rs.Draft202012Validator
    prune: Prune
    reader: Reader


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """What return values go through; made when the first one comes."""

    validator: jsonschema_rs.Draft202012Validator
    prune: Prune
    reporting: Prune | None
    """Set by `mistyped_output="report"`: prunes what breaks a visible type, and still shows nothing hidden."""


@dataclass(frozen=True, slots=True)
class PersonalDefault:
    """A place in a schema that a caller's own default goes to."""

    slot: Slot
    fits: Callable[[Any], bool]
    """Whether an answer may stand there."""


@dataclass(frozen=True, slots=True)
class InputSide:
    """The input of a view."""

    schema: Schema
    """What is advertised."""
    names: frozenset[str]
    defaults: Mapping[str, Any]
    """Defaults of top-level parameters that are known by now."""
    keys: Mapping[str, str]
    """What `current_user.default_for` is asked for, by top-level parameter."""
    personal: tuple[PersonalDefault, ...]
    check: Callable[[], InputCheck]


@dataclass(frozen=True, slots=True)
class OutputSide:
    """The output of a view."""

    schema: Schema
    personal: tuple[PersonalDefault, ...]
    check: Callable[[], OutputCheck]


@dataclass(frozen=True, slots=True)
class Options:
    """The settings that a view was compiled with and that its use still asks for."""

    reject_unknown_input_keys: bool = True
    ignored_input_keys: frozenset[str] = frozenset()
    lenient_inputs: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CallerView:
    """A contract as callers with equal answers have it. Immutable, and shared by them: never change its schemas."""

    name: str
    """The tool's name, for the texts of refusals."""
    description: str
    _input: InputSide
    _output: OutputSide | None
    _options: Options

    @property
    def visible(self) -> bool:
        """Whether the tool exists for this caller: not so where guards have taken its whole output."""
        return self._output is not None

    @property
    def input_schema(self) -> Schema:
        """JSON Schema of the arguments; its root is a plain object."""
        return self._input.schema

    @property
    def output_schema(self) -> Schema | None:
        """JSON Schema of the result; its root is an object. `None` where nothing of the output is visible."""
        return None if self._output is None else self._output.schema

    @property
    def default_keys(self) -> tuple[str, ...]:
        """What `current_user.default_for` is to be asked for, each once: the visible `@default_for` tags."""
        return tuple(dict.fromkeys(each.slot.key for each in self._personal()))

    def with_defaults(self, answers: Mapping[str, Any]) -> CallerView:
        """This view with a caller's own defaults in it, on a copy; answers that break the field's type are left out."""
        if not self.default_keys:
            return self
        fitting = {
            each.slot.key: answers[each.slot.key]
            for each in self._personal()
            if each.slot.key in answers and each.fits(answers[each.slot.key])
        }
        side, output = self._input, self._output
        own = {name: fitting[key] for name, key in side.keys.items() if key in fitting}
        given = replace(side, schema=_filled(side.schema, side.personal, fitting), defaults={**side.defaults, **own})
        if output is not None and output.personal:
            output = replace(output, schema=_filled(output.schema, output.personal, fitting))
        return replace(self, _input=given, _output=output)

    def rejected_defaults(self, answers: Mapping[str, Any]) -> tuple[str, ...]:
        """The keys whose answers `with_defaults` leaves out, for a log record."""
        personal = ((each.slot.key, each.fits) for each in self._personal())
        return tuple(dict.fromkeys(key for key, fits in personal if key in answers and not fits(answers[key])))

    def _personal(self) -> tuple[PersonalDefault, ...]:
        return self._input.personal + (() if self._output is None else self._output.personal)

    def filter_input(
        self, arguments: Mapping[str, Any], *, lenient: bool | None = None, tool: str | None = None
    ) -> dict[str, Any]:
        """The arguments that the function receives: checked, pruned, declared defaults filled in (SPEC section 5).

        Args:
            arguments: A JSON object as the caller sent it.
            lenient: Whether JSON spellings of the declared types are read too; as the settings say where `None`.
            tool: The name that refusals give the tool; the contract's own where `None`.

        Raises:
            UnknownInputKeysError: A top-level key is not in `input_schema`.
            InvalidInputError: The arguments break `input_schema`.
        """
        name = tool or self.name
        side, options = self._input, self._options
        unknown = [key for key in arguments if key not in side.names]
        if unknown:
            refused = [key for key in unknown if key not in options.ignored_input_keys]
            if refused and options.reject_unknown_input_keys:
                raise UnknownInputKeysError(refusals.unknown_keys(name, refused, side.names))
        known = {key: value for key, value in arguments.items() if key in side.names}
        check = side.check()
        if not check.validator.is_valid(known):
            known = _read_again(check, known, options.lenient_inputs if lenient is None else lenient, name)
        received: dict[str, Any] = check.prune(known)
        for key, value in side.defaults.items():
            if key not in received:
                received[key] = copy.deepcopy(value)
        return received

    def filter_output(self, value: Any, *, tool: str | None = None) -> dict[str, Any]:
        """What of a return value is sent: JSON that validates against `output_schema`, nothing hidden in it.

        Args:
            value: Whatever the function returned: a dict, a pydantic model, a dataclass.
            tool: The name that the refusal gives the tool; the contract's own where `None`.

        Raises:
            OutputWithheldError: The value fits nothing that this caller may see. `report` says why, for the operator.
        """
        name = tool or self.name
        side = self._output
        if side is None:
            raise OutputWithheldError(refusals.withheld(name), ("nothing of the output is visible to this caller",))
        check = side.check()
        try:
            data = jsonable(value)
            sent = check.prune(data)
            if check.validator.is_valid(sent):
                return _complete(sent)
            errors = islice(check.validator.iter_errors(sent), _MOST_ERRORS)
            report = tuple(line for error in errors for line in refusals.outline(error))
            if check.reporting is not None:
                shown = _complete(check.reporting(data))
                _log.warning("%s: sent a result that breaks its declared type: %s", name, "; ".join(report))
                return shown
        except MisfitError:
            report = ("the result: fits no form of the output that this caller may see",)
        except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
            report = (f"cannot be written as JSON: {type(error).__name__}",)
        raise OutputWithheldError(refusals.withheld(name), report)


_MOST_ERRORS: Final = 200
"""How many things that are wrong with one value are looked at; nobody reads more."""
_NO_JSON: Final = "fastmcp_authz: no JSON form"
_SUSPECT: Final = (b"NaN", b"Infinity", _NO_JSON.encode())
"""What the JSON text of a value shows where a part of it may have no JSON form; a look that is cheap."""


def _read_again(check: InputCheck, known: dict[str, Any], lenient: bool, name: str) -> dict[str, Any]:
    """What was meant by arguments that do not fit as they stand, or the refusal of what is still wrong."""
    read = check.reader.arguments(known) if lenient else known
    if lenient and check.validator.is_valid(read):
        return read
    errors = islice(check.validator.iter_errors(read), _MOST_ERRORS)
    problems = (line for error in errors for line in refusals.describe(error, check.schema))
    raise InvalidInputError(refusals.invalid_values(name, problems))


def jsonable(value: Any) -> Any:
    """A return value as JSON data.

    What has no JSON form is marked, not refused, so that a hidden part which has none makes no difference; `_complete`
    refuses it where it would be sent.
    """
    return to_jsonable_python(value, by_alias=True, fallback=lambda _: {_NO_JSON: True})


def _complete(sent: dict[str, Any]) -> dict[str, Any]:
    """What is to be sent, once everything in it is known to have a JSON form."""
    payload = to_json(sent)
    if any(token in payload for token in _SUSPECT) and not _has_json_form(sent):
        raise ValueError("a part of the result has no JSON form")
    return sent


def _has_json_form(value: Any) -> bool:
    if isinstance(value, dict):
        return _NO_JSON not in value and all(map(_has_json_form, value.values()))
    if isinstance(value, list):
        return all(map(_has_json_form, value))
    return not isinstance(value, float) or math.isfinite(value)


def _filled(schema: Schema, personal: tuple[PersonalDefault, ...], answers: Mapping[str, Any]) -> Schema:
    """A copy of a schema with the answers in their slots."""
    filled = copy.deepcopy(schema)
    for each in personal:
        if each.slot.key in answers:
            node: Any = filled
            for step in each.slot.path[:-1]:
                node = node[step]
            node[each.slot.path[-1]] = copy.deepcopy(answers[each.slot.key])
    return filled
