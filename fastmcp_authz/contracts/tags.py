"""The tags, in one table: where each applies, how its value reads, what it emits (SPEC section 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

import jsonschema_rs

from ..annotations import Tag
from .plain_values import is_one_value, plain_value

Kind = Literal["string", "number", "array", "hash", "record"]
Reader = Callable[[Tag], Any]
"""Reads a tag's value; raises `ValueError` with what is wrong and what to write."""


class Rule(NamedTuple):
    """What one tag does. Exactly one of `limits`, `note` and `place` says what becomes of its value."""

    name: str
    reads: Reader
    limits: Mapping[Kind, str] = MappingProxyType({})
    """Keyword by the kind of type that it narrows."""
    note: str | None = None
    """The keyword that annotates any type."""
    place: Literal["", "field", "value"] = ""
    """`field`: the record reads it. `value`: a default or an example, read by the field's type."""
    repeatable: bool = False


def but_not(tag: Tag) -> str:
    return f", not `{tag.value}`" if tag.value else ""


def _number(tag: Tag) -> int | float:
    value = plain_value(tag)
    if isinstance(value, str | bool) or value is None:
        raise ValueError(f"`@{tag.name}` takes a number{but_not(tag)}: write `@{tag.name}(5)`.")
    return value


def _positive(tag: Tag) -> int | float:
    number = _number(tag)
    if number <= 0:
        raise ValueError(f"`@{tag.name}` takes a number above zero{but_not(tag)}.")
    return number


def _nothing(tag: Tag) -> bool:
    if tag.value:
        raise ValueError(f"`@{tag.name}()` takes no value: write `@{tag.name}()`.")
    return True


def _text(tag: Tag) -> str:
    if not tag.value:
        raise ValueError(f"`@{tag.name}` needs a text: write `@{tag.name}(...)`.")
    return tag.value


def _symbol(tag: Tag) -> str:
    value = plain_value(tag)
    if not isinstance(value, str) or not value or re.search(r"[\s,]", value) or not is_one_value(tag):
        raise ValueError(f"`@{tag.name}` takes one name{but_not(tag)}: write `@{tag.name}(:name)`.")
    return value


@lru_cache(maxsize=1024)
def _compiles(pattern: str) -> str | None:
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (ValueError, jsonschema_rs.ValidationError) as error:
        return str(error).splitlines()[0]
    return None


def _pattern(tag: Tag) -> str:
    reason = _compiles(_text(tag))
    if reason is not None:
        raise ValueError(f"`@pattern` holds no regular expression that compiles: `{tag.value}`.")
    return tag.value


FORMATS: Final = frozenset(
    {
        "date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
        "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer",
        "relative-json-pointer", "regex",
    }
)  # fmt: skip
"""The formats of JSON Schema 2020-12, which are the ones that the check enforces."""


def _format(tag: Tag) -> str:
    if tag.value not in FORMATS:
        raise ValueError(
            f"`@format({tag.value})` names no format that is enforced: {', '.join(sorted(FORMATS))}. "
            "For another one, write a `@pattern(...)` or say it in `@desc(...)`."
        )
    return tag.value


_LENGTHS: Final[dict[str, tuple[str, str]]] = {
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
    "hash": ("minProperties", "maxProperties"),
}


def _bounds(side: int) -> dict[Kind, str]:
    return {
        "string": _LENGTHS["string"][side],
        "number": _LENGTHS["number"][side],
        "array": _LENGTHS["array"][side],
        "hash": _LENGTHS["hash"][side],
    }


def _marks(name: str, keyword: str) -> Rule:
    return Rule(name, _nothing, note=keyword)


RULES: Final[Mapping[str, Rule]] = {
    rule.name: rule
    for rule in (
        Rule("min", _number, limits=_bounds(0)),
        Rule("max", _number, limits=_bounds(1)),
        Rule("exclusive_min", _number, limits={"number": "exclusiveMinimum"}),
        Rule("exclusive_max", _number, limits={"number": "exclusiveMaximum"}),
        Rule("multiple_of", _positive, limits={"number": "multipleOf"}),
        Rule("pattern", _pattern, limits={"string": "pattern"}),
        Rule("format", _format, limits={"string": "format"}),
        Rule("media_type", _text, limits={"string": "contentMediaType"}),
        Rule("encoding", _text, limits={"string": "contentEncoding"}),
        Rule("unique", _nothing, limits={"array": "uniqueItems"}),
        Rule("closed", _nothing, limits={"record": "additionalProperties"}),
        Rule("strict", _nothing, limits={"record": "additionalProperties"}),
        Rule("desc", _text, note="description"),
        Rule("title", _text, note="title"),
        _marks("deprecated", "deprecated"),
        _marks("read_only", "readOnly"),
        _marks("write_only", "writeOnly"),
        Rule("default", plain_value, place="value"),
        Rule("example", plain_value, place="value", repeatable=True),
        Rule("default_for", _symbol, place="value"),
        Rule("depends_on", _symbol, place="field", repeatable=True),
        Rule("nullable", _nothing, place="field"),
    )
}
"""Every tag that is no predicate, by name."""

COUNTS: Final = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
"""Keywords that count something, and so take whole numbers from zero."""
