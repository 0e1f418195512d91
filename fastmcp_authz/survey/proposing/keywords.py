"""Keywords of JSON Schema to tags: what narrows a type, and what is only said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from fastmcp_authz.annotations import Tag
from fastmcp_authz.contracts.tags import FORMATS
from fastmcp_authz.survey.proposing.constants import number, one_line
from fastmcp_authz.survey.proposing.patterns import pattern_tag
from fastmcp_authz.survey.proposing.said import JsonSchema, tag

NARROWING: Final[Mapping[str, Mapping[str, str]]] = {
    "string": {
        "minLength": "min",
        "maxLength": "max",
        "pattern": "pattern",
        "format": "format",
        "contentMediaType": "media_type",
        "contentEncoding": "encoding",
    },
    "number": {
        "minimum": "min",
        "maximum": "max",
        "exclusiveMinimum": "exclusive_min",
        "exclusiveMaximum": "exclusive_max",
        "multipleOf": "multiple_of",
    },
    "array": {"minItems": "min", "maxItems": "max", "uniqueItems": "unique"},
    "object": {"minProperties": "min", "maxProperties": "max"},
}
"""The tag of each keyword, by the kind of type that it narrows. On any other kind a keyword says nothing."""
SAID: Final = frozenset({"description", "title", "deprecated", "readOnly", "writeOnly", "examples", "default"})
"""Keywords that only say something."""
_PLAIN_FORMATS: Final = frozenset(
    {"path", "file-path", "directory-path", "binary", "byte", "password", "int32", "int64", "float", "double"}
)
"""Names of Python's types and of OpenAPI's that tell nothing more than the type does."""
_MARKS: Final = {"deprecated": "deprecated", "readOnly": "read_only", "writeOnly": "write_only"}

Report = Callable[[str], None]


def narrowing(schema: JsonSchema, kind: str, report: Report) -> Iterator[Tag]:
    """The tags that narrow a type of a kind; what has none is reported."""
    for keyword, name in NARROWING[kind].items():
        value = schema.get(keyword)
        match keyword, value:
            case _, None | False:
                continue
            case (("minLength" | "minItems" | "minProperties"), 0):
                continue
            case "pattern", str():
                found = pattern_tag(value)
                if found is None:
                    report(f"has a pattern that is no regular expression here, and is left out: {one_line(value)}")
                else:
                    yield found
            case "format", str():
                yield from _format(value, report)
            case "uniqueItems", _:
                yield tag(name)
            case (("contentMediaType" | "contentEncoding"), str()):
                yield tag(name, one_line(value))
            case _, int() | float():
                yield tag(name, number(value))


def _format(name: str, report: Report) -> Iterator[Tag]:
    if name == "time":
        report("is a time: text here, since @format(time) asks for a time zone, and Python's times seldom have one.")
    elif name in FORMATS:
        if name == "duration":
            report("is a duration: one with fractions of a second, or below zero, does not fit @format(duration).")
        yield tag("format", name)
    elif name not in _PLAIN_FORMATS:
        report(f"has the format {one_line(name)!r}, which is not checked here, and is left out.")


def sayings(schema: JsonSchema, called: str | None) -> Iterator[Tag]:
    """The tags that only say something, without defaults and examples, which are for the type to read.

    Args:
        schema: The schema that says it.
        called: The name of the field that it stands on, if it does: a title that only repeats it is nobody's words.
    """
    title = schema.get("title")
    if called is not None and isinstance(title, str) and not _is_made_of(title, called) and one_line(title):
        yield tag("title", one_line(title))
    for keyword, name in _MARKS.items():
        if schema.get(keyword) is True:
            yield tag(name)
    description = schema.get("description")
    if isinstance(description, str) and one_line(description):
        yield tag("desc", one_line(description))


def _is_made_of(title: str, field: str) -> bool:
    """Whether a title is a field's name in capitals, as pydantic makes one; FastMCP's `name__path` is a `name`."""
    return _letters(title) in (_letters(field), _letters(field.partition("__")[0]))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def unknown(schema: JsonSchema, known: frozenset[str]) -> list[str]:
    """The keywords of a schema that nothing here reads."""
    return [keyword for keyword in schema if keyword not in known and not keyword.startswith("x-")]


def json_type(value: Any) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "integer" if float(value).is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
