"""The texts that a model reads when a call is refused (SPEC section 5). Made from the caller's own view alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from jsonschema_rs import ValidationError, ValidationErrorKind

_LONGEST: Final = 2_000
"""Characters of a whole refusal."""
_LONGEST_LINE: Final = 400
_LONGEST_NAME: Final = 64
_MOST_NAMES: Final = 20

_ROOT: Final = "arguments"
"""What the whole is called, where something is wrong with it."""

_EXPECTED: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def unknown_keys(tool: str, sent: Iterable[str], accepted: Iterable[str]) -> str:
    """The refusal of top-level keys outside the caller's schema, hidden or never declared alike."""
    return (
        f"{tool}: Unknown parameters: {_listed(sent)}. Nothing was executed. "
        f"Accepted parameters: {', '.join(sorted(accepted)) or 'none'}. "
        "If your task depends on a rejected parameter (for example filtering by it), do not re-run this call without "
        "it: the result would be unfiltered. Do not substitute another parameter to approximate it. "
        "Use a tool that supports it, or tell the user it is not possible."
    )


def beside_arguments(facade: str, sent: Iterable[str]) -> str:
    """The refusal of keys that stand beside a facade's `arguments` and not inside."""
    return (
        f"{facade}: Unknown parameters: {_listed(sent)}. Nothing was executed. "
        "Parameters of a tool belong inside `arguments`: call again with the same `tool_name`, and with them there."
    )


def _listed(sent: Iterable[str]) -> str:
    rejected = sorted(sent)
    names = (name[:_LONGEST_NAME].encode(errors="replace").decode() for name in rejected[:_MOST_NAMES])
    more = f" and {len(rejected) - _MOST_NAMES} more" if len(rejected) > _MOST_NAMES else ""
    return ", ".join(names) + more


def invalid_values(tool: str, problems: Iterable[str]) -> str:
    """The refusal of values that break the caller's schema; of many problems only as many as fit are asked for."""
    head = f"{tool}: Invalid arguments. Nothing was executed.\n"
    more, tail = "- and more.\n", "Correct these and call again."
    room = _LONGEST - len(head) - len(more) - len(tail)
    told: dict[str, None] = {}
    for problem in problems:
        line = f"- {problem if len(problem) <= _LONGEST_LINE else problem[: _LONGEST_LINE - 1] + '…'}\n"
        if line in told:
            continue
        if room < len(line):
            return head + "".join(told) + more + tail
        told[line] = None
        room -= len(line)
    return head + "".join(told) + tail


def withheld(tool: str) -> str:
    """What a caller is told whose call ran, and whose result cannot be shown."""
    return f"{tool}: The call was carried out, but its result cannot be shown to you. Do not repeat it."


def describe(error: ValidationError, schema: Mapping[str, Any]) -> list[str]:
    """What is wrong at each path of one validation error of a schema, in words that a model can repair it by."""
    path = error.instance_path
    match error.kind:
        case ValidationErrorKind.AnyOf(context=branches) | ValidationErrorKind.OneOfNotValid(context=branches):
            return _nearest_branch(path, branches, error.instance, schema)
        case ValidationErrorKind.Required(property=name):
            parent = _parent(error, name, schema)
            condition = f" when {_path([*path, parent])} is given" if parent else ""
            return [f"{_path([*path, name])}: is required{condition}."]
        case ValidationErrorKind.AdditionalProperties(unexpected=names):
            return [f"{_path([*path, name])}: is not accepted here." for name in sorted(names)]
        case ValidationErrorKind.PropertyNames(error=inner):
            return [f"{_path(path)}: has a key that is not accepted: {_wrong(inner)}."]
        case _:
            return [f"{_path(path)}: {_wrong(error)}."]


def unfit(name: str) -> str:
    """What is told of a parameter of which more cannot be said."""
    return f"{_path([name])}: fits none of the accepted forms."


def departures(error: ValidationError, schema: Mapping[str, Any]) -> list[str]:
    """The same of a result, for its author's log: what was expected where, what came only as a kind, never a value."""
    lines = (
        line.replace(" was sent", " was returned").replace(" were sent", " were returned")
        for line in describe(error, schema)
    )
    return [f"the result{line[len(_ROOT) :]}" if line.startswith(f"{_ROOT}:") else line for line in lines]


def _nearest_branch(
    path: list[str | int], branches: list[list[ValidationError]], value: Any, schema: Mapping[str, Any]
) -> list[str]:
    """The complaints of the member that the value comes nearest to; all members' types where it is near none."""
    near = [b for b in branches if b and not any(_is_foreign(e, path) for e in b)]
    if near:
        chosen = min(near, key=lambda b: (sum(_is_discriminator(e) for e in b), len(b)))
        return [line for error in chosen for line in describe(error, schema)]
    wanted = list(dict.fromkeys(w for branch in branches for e in branch for w in _wanted(e)))
    if not wanted:
        return [f"{_path(path)}: fits none of the accepted forms."]
    return [f"{_path(path)}: must be {_either(wanted)}, {_kind(value)} was sent."]


def _is_foreign(error: ValidationError, path: list[str | int]) -> bool:
    """Whether a member is out of the question: the value is of another type altogether."""
    kinds = ValidationErrorKind.Type | ValidationErrorKind.Constant | ValidationErrorKind.Enum
    return error.instance_path == path and isinstance(error.kind, kinds)


def _is_discriminator(error: ValidationError) -> bool:
    return isinstance(error.kind, ValidationErrorKind.Constant | ValidationErrorKind.Enum)


def _wanted(error: ValidationError) -> list[str]:
    match error.kind:
        case ValidationErrorKind.Type(types=types):
            return [_EXPECTED[t] for t in types]
        case ValidationErrorKind.Constant(expected_value=value):
            return [_written(value)]
        case ValidationErrorKind.Enum(options=options):
            return list(map(_written, options))
        case _:
            return []


def _wrong(error: ValidationError) -> str:
    """What is wrong with one value, without a word on where it stands."""
    value: Any = error.instance
    match error.kind:
        case ValidationErrorKind.Type(types=types):
            return f"must be {_either([_EXPECTED[t] for t in types])}, {_kind(value)} was sent"
        case ValidationErrorKind.Constant(expected_value=only):
            return f"must be {_written(only)}"
        case ValidationErrorKind.Enum(options=options):
            return f"must be {_either(list(map(_written, options)))}"
        case ValidationErrorKind.MinLength(limit=limit):
            return f"is too short: at least {_count(limit, 'character')}, {len(value)} {_were(len(value))} sent"
        case ValidationErrorKind.MaxLength(limit=limit):
            return f"is too long: at most {_count(limit, 'character')}, {len(value)} {_were(len(value))} sent"
        case ValidationErrorKind.MinItems(limit=limit):
            return f"holds too few items: at least {limit}, {len(value)} {_were(len(value))} sent"
        case ValidationErrorKind.MaxItems(limit=limit) | ValidationErrorKind.AdditionalItems(limit=limit):
            return f"holds too many items: at most {limit}, {len(value)} {_were(len(value))} sent"
        case ValidationErrorKind.MinProperties(limit=limit):
            return f"has too few keys: at least {limit}, {len(value)} {_were(len(value))} sent"
        case ValidationErrorKind.MaxProperties(limit=limit):
            return f"has too many keys: at most {limit}, {len(value)} {_were(len(value))} sent"
        case ValidationErrorKind.Minimum(limit=limit):
            return f"is too small: at least {limit}"
        case ValidationErrorKind.Maximum(limit=limit):
            return f"is too large: at most {limit}"
        case ValidationErrorKind.ExclusiveMinimum(limit=limit):
            return f"is too small: it must be above {limit}"
        case ValidationErrorKind.ExclusiveMaximum(limit=limit):
            return f"is too large: it must be below {limit}"
        case ValidationErrorKind.MultipleOf(multiple_of=step):
            return f"must be a multiple of {step}"
        case ValidationErrorKind.Pattern(pattern=pattern):
            return f"must match the pattern {pattern}"
        case ValidationErrorKind.Format(format=name):
            return f"must be a valid {name}"
        case ValidationErrorKind.UniqueItems():
            return "must not hold the same item twice"
        case ValidationErrorKind.BacktrackLimitExceeded() | ValidationErrorKind.RegexEngineFailure():
            return "is too intricate to be checked against its pattern"
        case ValidationErrorKind.FalseSchema():
            return "is not accepted here"
        case _:
            return "is not accepted"


def _parent(error: ValidationError, name: str, schema: Mapping[str, Any]) -> str | None:
    """The field that was given and in whose presence `name` is required, where that is what was broken."""
    if error.schema_path[-1:] != ["dependentRequired"]:
        return None
    node: Any = schema
    given: Any = error.instance
    for part in error.schema_path:
        inner = node[part]  # a property may be called `$ref` too, and has a schema then, not a text
        node = _pointed_at(inner, schema) if part == "$ref" and isinstance(inner, str) else inner
    return next((parent for parent, names in node.items() if name in names and parent in given), None)


def _pointed_at(ref: str, schema: Mapping[str, Any]) -> Any:
    name = unquote(ref).removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
    return schema["$defs"][name]


def _path(path: Sequence[str | int]) -> str:
    written = ""
    for part in path:
        if isinstance(part, int):
            written += f"[{part}]"
        else:
            written += ("." if written else "") + part[:_LONGEST_NAME]
    return written or _ROOT


def _kind(value: Any) -> str:
    """What was sent, as a kind only."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _either(words: Sequence[str]) -> str:
    listed = list(words[:_MOST_NAMES]) + ([f"{len(words) - _MOST_NAMES} more"] if len(words) > _MOST_NAMES else [])
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
