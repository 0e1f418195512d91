"""What one caller has of a contract: schemas to show, arguments to check by them, results to prune to them."""

from __future__ import annotations

import copy
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import jsonschema_rs
from pydantic_core import from_json, to_json

from ..errors import InvalidInputError, OutputWithheldError, UnknownInputKeysError
from . import refusals
from .explaining import departures, explained
from .left_out import left_out
from .lenient import Reader
from .opening import PLAIN, MisfitError, Opening
from .projection import Prune
from .schema import Schema, Slot
from .spelling import Speller
from .writing import UnwritableError, Written, written

_log = logging.getLogger("fastmcp_authz")


class InputCheck(NamedTuple):
    """What arguments go through; made when the first ones come, since most views are only ever listed."""

    schema: SchemaText
    """What is enforced: what is advertised, and what a dialect leaves unsaid."""
    validator: jsonschema_rs.Draft202012Validator
    prune: Prune
    reader: Reader
    speller: Speller | None
    """Set by a provider's dialect: reads what its schema asked for in place of the value itself."""
    names: frozenset[str]
    """The parameters."""
    ways: int
    """See `explaining.alternatives`."""


class OutputCheck(NamedTuple):
    """What return values go through; made when the first one comes."""

    schema: SchemaText
    """What is enforced: what is advertised, and what a dialect leaves unsaid."""
    validator: jsonschema_rs.Draft202012Validator
    prune: Prune
    ways: int
    deep: bool
    """See `writing.may_be_deep`."""
    fields: frozenset[str]
    """The names of all its fields, however deep."""
    reporting: Prune | None
    """Set by `mistyped_output="report"`: prunes what breaks a visible type, and still shows nothing hidden."""


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A JSON Schema as text: a tenth of the memory, and nobody can change it."""

    text: bytes

    @classmethod
    def of(cls, schema: Schema) -> SchemaText:
        """A schema, written down."""
        return cls(to_json(schema))

    def read(self) -> Schema:
        """It, for the reader alone."""
        read: Schema = from_json(self.text)
        return read


class PersonalDefault(NamedTuple):
    """A place in a schema that a caller's own default goes to."""

    slot: Slot
    fits: Callable[[Any], bool]
    """Whether an answer may stand there."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class InputSide:
    """The input of a view, and of others whose callers see the same of it."""

    schema: SchemaText
    """What is advertised."""
    names: frozenset[str]
    defaults: Mapping[str, Any]
    """Defaults of top-level parameters that are known by now."""
    keys: Mapping[str, tuple[str, Callable[[Any], bool]]]
    """What `current_user.default_for` is asked for, by top-level parameter, and whether an answer fits it."""
    personal: tuple[PersonalDefault, ...]
    check: Callable[[], InputCheck]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class OutputSide:
    """The output of a view, and of others whose callers see the same of it."""

    schema: SchemaText
    personal: tuple[PersonalDefault, ...]
    check: Callable[[], OutputCheck]


class Options(NamedTuple):
    """The settings that a view was compiled with and that its use still asks for."""

    reject_unknown_input_keys: bool = True
    ignored_input_keys: frozenset[str] = frozenset()
    lenient_inputs: bool = False
    reports_mistyped: bool = False


class Pruned(NamedTuple):
    """A result for one caller."""

    sent: dict[str, Any]
    text: bytes
    """The same, as JSON text in UTF-8."""
    left_out: tuple[str, ...]
    """Paths of what is not sent of it: `rows[].ssn`."""


@dataclass(frozen=True, slots=True, eq=False)
class CallerView:
    """A contract as callers with equal answers have it. Immutable, and shared by them."""

    name: str
    """The tool's name, for the texts of refusals."""
    description: str
    default_keys: tuple[str, ...]
    """What `current_user.default_for` is to be asked for, each once: the visible `@default_for` tags."""
    _input: InputSide
    _output: OutputSide | None
    _options: Options

    @property
    def visible(self) -> bool:
        """Whether the tool exists for this caller: not so where guards have taken its whole output."""
        return self._output is not None

    @property
    def input_schema(self) -> Schema:
        """JSON Schema of the arguments; its root is a plain object. Made for whoever asks."""
        return self._input.schema.read()

    @property
    def output_schema(self) -> Schema | None:
        """JSON Schema of the result; its root is an object. `None` where nothing of the output is visible."""
        return None if self._output is None else self._output.schema.read()

    @property
    def listed_schemas(self) -> tuple[Schema, Schema | None]:
        """What FastMCP's tools hold, of input and output. Made for whoever asks: a middleware may write into it.

        Under `mistyped_output="report"`, which sends what breaks it, clients are told no output schema.
        """
        return self.input_schema, None if self._options.reports_mistyped else self.output_schema

    def with_defaults(self, answers: Mapping[str, Any]) -> CallerView:
        """This view with a caller's own defaults in it, on a copy; answers that break the field's type are left out."""
        if not self.default_keys:
            return self
        side, output = self._input, self._output
        own = {name: answers[key] for name, (key, fits) in side.keys.items() if key in answers and fits(answers[key])}
        filled = _filled(side.schema, side.personal, answers)
        given = replace(side, schema=filled, defaults={**side.defaults, **own})
        if output is not None and output.personal:
            output = replace(output, schema=_filled(output.schema, output.personal, answers))
        return replace(self, _input=given, _output=output)

    def rejected_defaults(self, answers: Mapping[str, Any]) -> tuple[str, ...]:
        """The keys whose answers `with_defaults` leaves out, for a log record."""
        personal = [(each.slot.key, each.fits) for each in self._personal()] + list(self._input.keys.values())
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
                raise UnknownInputKeysError(refusals.unknown_keys(name, refused, side.names), refused)
        known = {key: value for key, value in arguments.items() if key in side.names}
        check = side.check()
        try:
            to_json(known)  # the validator follows a value as deep as it goes, and the process dies of what is too deep
            if check.speller is not None:
                known = check.speller.arguments(known)
                to_json(known)  # a text may spell what is too deep
            if not check.validator.is_valid(known):
                known = _read_again(check, known, options.lenient_inputs if lenient is None else lenient, name)
            received: dict[str, Any] = check.prune(known, Opening())
        except (MisfitError, ValueError, TypeError, RecursionError):
            raise InvalidInputError(refusals.invalid_values(name, [_NO_ARGUMENTS])) from None
        for key, value in side.defaults.items():
            if key not in received:
                received[key] = value if type(value) in PLAIN else copy.deepcopy(value)
        return received

    def filter_output(self, value: Any, *, tool: str | None = None) -> dict[str, Any]:
        """What of a return value is sent: JSON that validates against `output_schema`, nothing hidden in it.

        Args:
            value: Whatever the function returned: a dict, a pydantic model, a dataclass.
            tool: The name that the refusal gives the tool; the contract's own where `None`.

        Raises:
            OutputWithheldError: The value fits nothing that this caller may see. `report` says why, for the operator.
        """
        sent: dict[str, Any] = self._pruned(value, tool or self.name)[0].data
        return sent

    def prune(self, value: Any, *, tool: str | None = None) -> Pruned:
        """`filter_output`, and the paths of what the value had beside it.

        Raises:
            OutputWithheldError: As there.
        """
        sent, opening = self._pruned(value, tool or self.name)
        assert self._output is not None
        check = self._output.check()
        try:
            return Pruned(sent.data, sent.text, left_out(value, sent.data, opening, check.fields))
        except Exception:  # a value's own code may run; what is sent is made already
            return Pruned(sent.data, sent.text, ())

    def _pruned(self, value: Any, name: str) -> tuple[Written, Opening]:
        side = self._output
        if side is None:
            raise OutputWithheldError(refusals.withheld(name), ("nothing of the output is visible to this caller",))
        check, opening = side.check(), Opening()
        report: tuple[str, ...] = ()
        try:
            sent = written(check.prune(value, opening), deep=check.deep)
            if check.validator.is_valid(sent.data):
                return sent, opening
            report = departures(check.validator, check.schema.read(), sent.data, check.ways)
            if check.reporting is not None:
                shown = written(check.reporting(value, opening), deep=check.deep)
                _log.warning("%s: sent a result that breaks its declared type: %s", name, "; ".join(report))
                return shown, opening
        except MisfitError:
            report = report or (_misfit(value),)
        except UnwritableError as error:
            report = (*report, str(error))
        except Exception as error:  # whatever the code of the value raises: the answer is no
            report = (*report, f"looking at what is shown of it failed with {type(error).__name__}")
        raise OutputWithheldError(refusals.withheld(name), report)


_NO_ARGUMENTS: Final = "arguments: are nested too deeply, or hold a text that is no Unicode."


def _read_again(check: InputCheck, known: dict[str, Any], lenient: bool, name: str) -> dict[str, Any]:
    """What was meant by arguments that do not fit as they stand, or the refusal of what is still wrong."""
    read = check.reader.arguments(known) if lenient else known
    if lenient and to_json(read) and check.validator.is_valid(read):  # a text may spell what is no Unicode
        return read
    problems = list(explained(check.validator, check.schema.read(), read, check.ways))
    names = dict.fromkeys(re.split(r"[.\[:]", problem, maxsplit=1)[0] for problem in problems)
    raise InvalidInputError(refusals.invalid_values(name, problems), [key for key in names if key in check.names])


def _misfit(value: Any) -> str:
    """What a result is that has not even the outline of its type; its parts are not looked at."""
    kind = type(value)
    if value is None or isinstance(value, str | bytes | int | float | list | tuple | set | frozenset | Iterator):
        return f"the result: must be an object, {'None' if value is None else f'a {kind.__name__}'} was returned"
    return "the result: fits no form of the output that this caller may see"


def _filled(schema: SchemaText, personal: tuple[PersonalDefault, ...], answers: Mapping[str, Any]) -> SchemaText:
    """A schema with the answers in those slots that they fit: two types may ask for one key."""
    filled = schema.read()
    for each in personal:
        if each.slot.key in answers and each.fits(answers[each.slot.key]):
            node: Any = filled
            for step in each.slot.path[:-1]:
                node = node[step]
            node[each.slot.path[-1]] = answers[each.slot.key]
    return SchemaText.of(filled)
