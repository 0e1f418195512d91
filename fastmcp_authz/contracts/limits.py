"""How large the tool schemas of a provider may be, and how large a schema is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from .schema import Schema


class Limits(NamedTuple):
    """What a provider takes at most; `None` where its documentation names no number."""

    properties: int | None = None
    """Properties of all objects in a schema together."""
    optional: int | None = None
    """Properties that are not required."""
    unions: int | None = None
    """Properties whose type is a union."""
    depth: int | None = None
    """Objects within objects."""
    enum_values: int | None = None
    """Values of all enums together."""
    tools: int | None = None
    """Strict tools in one request."""
    per_request: bool = False
    """Whether the numbers hold for all tools of a request together, rather than for one schema."""


LIMITS: Final[Mapping[str, Limits]] = {
    # "Structured model outputs", section "Supported schemas", of OpenAI: https://developers.openai.com/api/docs/guides/structured-outputs
    "openai": Limits(properties=5_000, depth=10, enum_values=1_000),
    # "Structured outputs", section "Schema complexity limits", of Anthropic: https://platform.claude.com/docs/en/build-with-claude/structured-outputs
    "anthropic": Limits(optional=24, unions=16, tools=20, per_request=True),
    # "Function calling" of Google names none: https://ai.google.dev/gemini-api/docs/function-calling
    "gemini": Limits(),
}
"""By the name of the dialect; docs/dialects.md says where each is from."""


class Measures(NamedTuple):
    """How large a schema is, in the terms of `Limits`."""

    properties: int
    optional: int
    unions: int
    depth: int
    enum_values: int

    def beyond(self, limits: Limits) -> Mapping[str, tuple[int, int]]:
        """The limits that a schema is beyond by itself: the name of each, with what is measured and what is taken."""
        pairs = {name: (getattr(self, name), getattr(limits, name)) for name in Measures._fields}
        return {name: (found, most) for name, (found, most) in pairs.items() if most is not None and found > most}


def measured(schema: Schema) -> Measures:
    """How large a schema is. What stands under `$defs` counts once, however often it is used."""
    nodes = list(_nodes(schema))
    records = [(node["properties"], frozenset(node.get("required", ()))) for node in nodes if "properties" in node]
    fields = [(name not in required, each) for properties, required in records for name, each in properties.items()]
    return Measures(
        properties=len(fields),
        optional=sum(is_optional for is_optional, _ in fields),
        unions=sum(_is_union(each) for _, each in fields),
        depth=_depth(schema, schema.get("$defs", {}), {}),
        enum_values=sum(len(node["enum"]) for node in nodes if "enum" in node),
    )


def _is_union(schema: Schema) -> bool:
    return "anyOf" in schema or "oneOf" in schema or isinstance(schema.get("type"), list)


def _parts(schema: Schema) -> Iterator[Schema]:
    """The schemas directly inside a schema. A property that is called like a keyword is a property."""
    yield from schema.get("properties", {}).values()
    for keyword in ("anyOf", "oneOf", "prefixItems"):
        yield from schema.get(keyword, ())
    yield from (schema[key] for key in ("items", "additionalProperties", "propertyNames") if _is_schema(schema, key))


def _is_schema(schema: Schema, keyword: str) -> bool:
    return isinstance(schema.get(keyword), dict)


def _nodes(schema: Schema) -> Iterator[Schema]:
    waiting = [schema, *schema.get("$defs", {}).values()]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(_parts(node))


def _depth(schema: Schema, definitions: Mapping[str, Any], known: dict[str, int]) -> int:
    """Objects within one another; one within itself counts once. `known` are the depths of definitions so far."""
    if "$ref" in schema:
        name = unquote(schema["$ref"].removeprefix("#/$defs/")).replace("~1", "/").replace("~0", "~")
        if name not in known:
            known[name] = 0  # while it is looked into
            known[name] = _depth(definitions[name], definitions, known)
        return known[name]
    return ("properties" in schema) + max((_depth(each, definitions, known) for each in _parts(schema)), default=0)
