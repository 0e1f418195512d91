"""A function around a tool of an OpenAPI document, which has none of its own and so cannot be decorated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from fastmcp_authz.survey.proposing.naming import parameter_names, python_name, snake_case
from fastmcp_authz.survey.proposing.said import JsonSchema

_WIDTH: Final = 100
_HINTS: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any]",
    "object": "dict[str, Any]",
    "null": "None",
}


class Skeleton(NamedTuple):
    """A function that hands its arguments on."""

    name: str
    given: JsonSchema
    """The schema of its inputs, by the names of its parameters."""
    header: list[str]
    body: list[str]


def skeleton(tool: str, given: JsonSchema, definitions: Mapping[str, Any]) -> Skeleton:
    """A function that calls a tool of a server `api`, and takes what the tool takes.

    Args:
        tool: The name of the tool on its own server.
        given: The schema of its inputs.
        definitions: What that refers to.
    """
    names = parameter_names(given.get("properties", {}))
    required = [names[each] for each in given.get("required", ()) if each in names]
    properties = {names[key]: schema for key, schema in given.get("properties", {}).items()}
    ordered = sorted(properties, key=lambda each: each not in required)
    written = ", ".join(
        _parameter(each, properties[each], definitions, optional=each not in required) for each in ordered
    )
    sent = ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {name}" for key, name in names.items())
    name = python_name(snake_case(tool))
    return Skeleton(
        name,
        {**given, "properties": properties, "required": required},
        _header(name, written),
        [
            f"arguments = {{{sent}}}",
            "sent = {name: value for name, value in arguments.items() if value is not None}",
            f"return (await api.call_tool({json.dumps(tool, ensure_ascii=False)}, sent)).structured_content",
        ],
    )


def _header(name: str, parameters: str) -> list[str]:
    whole = f"async def {name}({parameters}) -> Any:"
    if len(whole) <= _WIDTH:
        return [whole]
    return [f"async def {name}(", *(f"    {each}," for each in re.split(r", (?![^\[]*\])", parameters)), ") -> Any:"]


def _parameter(name: str, schema: Any, definitions: Mapping[str, Any], *, optional: bool) -> str:
    hints = _hints(schema, definitions, 20)
    hint = " | ".join(dict.fromkeys(sorted(hints, key="None".__eq__))) if "Any" not in hints else "Any"
    if not optional:
        return f"{name}: {hint}"
    return f"{name}: {hint}{'' if hint == 'Any' or 'None' in hints else ' | None'} = None"


def _hints(schema: Any, definitions: Mapping[str, Any], fuel: int) -> list[str]:
    """The hints of a schema's types: no more than what tells them apart, since the annotation says the rest."""
    if not isinstance(schema, dict) or fuel == 0:
        return ["Any"]
    if "$ref" in schema:
        return _hints(definitions.get(str(schema["$ref"]).rpartition("/")[2]), definitions, fuel - 1)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return [hint for each in schema[keyword] for hint in _hints(each, definitions, fuel - 1)]
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return [_HINTS.get(kind, "Any") for kind in kinds]
