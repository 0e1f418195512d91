"""Tools as a client is listed them, read for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import mcp_types

from fastmcp_authz.testing.names import UnknownNameError


@dataclass(frozen=True)
class ToolView:
    """One tool, as its caller is listed it."""

    name: str
    description: str
    input_schema: dict[str, Any] = field(repr=False)
    output_schema: dict[str, Any] | None = field(repr=False)
    inputs: frozenset[str]
    """The names of the parameters."""
    required: frozenset[str]
    """Those of them that a call must have."""
    outputs: frozenset[str]
    """The paths of all fields of the result, `applicants.email`: lists, hashes and members of unions are passed
    through. A type within itself is followed once."""

    @classmethod
    def of(cls, tool: mcp_types.Tool) -> ToolView:
        """A tool as it stands in a list."""
        given, result = tool.input_schema, tool.output_schema
        return cls(
            name=tool.name,
            description=tool.description or "",
            input_schema=given,
            output_schema=result,
            inputs=frozenset(given.get("properties", ())),
            required=frozenset(given.get("required", ())),
            outputs=frozenset(fields(result)),
        )


class Tools(dict[str, ToolView]):
    """Tools by name. One that is not there is an error which says why; so is asking for one that nobody has."""

    def __init__(
        self, tools: dict[str, ToolView], why_not: Callable[[str], str], is_known: Callable[[str], bool]
    ) -> None:
        super().__init__(tools)
        self._why_not = why_not
        self._is_known = is_known

    def __contains__(self, name: object) -> bool:
        listed = super().__contains__(name)
        if not listed and not (isinstance(name, str) and self._is_known(name)):
            raise UnknownNameError(self._why_not(str(name)))  # else `not in` would hold for a slip
        return listed

    def get(self, name: str, default: Any = None) -> Any:
        """The tool of that name, or `default` where it is hidden."""
        return self[name] if name in self else default  # noqa: SIM401 - it is `get`

    def __missing__(self, name: str) -> ToolView:
        raise UnknownNameError(self._why_not(name))


def fields(schema: dict[str, Any] | None) -> Iterator[str]:
    """The paths of all fields in a schema."""
    if schema is not None:
        yield from _below(schema, "", schema, frozenset())


def _below(node: dict[str, Any], path: str, root: dict[str, Any], within: frozenset[str]) -> Iterator[str]:
    reference = node.get("$ref")
    if reference is not None and reference not in within:
        key = unquote(reference).removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        yield from _below(root["$defs"][key], path, root, within | {reference})
    for name, inner in node.get("properties", {}).items():
        yield path + name
        yield from _below(inner, f"{path}{name}.", root, within)
    passed = [*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ()), *node.get("prefixItems", ())]
    passed += [node.get("items"), node.get("additionalProperties")]
    for inner in passed:
        if isinstance(inner, dict):
            yield from _below(inner, path, root, within)
