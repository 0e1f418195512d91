"""The tags, in one table: where each applies, how its value reads, what it emits (SPEC section 3)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

import jsonschema_rs

from ..annotations import Tag
from ..callers.predicates import Value

Kind = Literal["string", "number", "array", "hash", "record"]
Reader = Callable[[Tag], Any]
"""Reads a tag's value; raises `ValueError` with what is wrong and what to write."""

_NUMBER: Final = re.compile(r"[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?")
_SYMBOL: Final = re.compile(r":(?=\S)(\"(?P<quoted>.*)\"|(?P<bare>.*))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """What one tag does. Exactly one of `limits`, `note` and `place` says what becomes of its value."""

    name: str
    reads: Reader
    limits: Mapping[Kind, str] = field(default_factory=dict)
    """Keyword by the kind of type that it narrows."""
    note: str | None = None
    """The keyword that annotates any type."""
    place: Literal["", "field", "value"] = ""
    """`field`: the record reads it. `value`: a default or an example, read by the field's type."""
    repeatable: bool = False


def plain_value(tag: Tag) -> Value:
    """A tag's value as SPEC section 3 reads it: symbols, numbers, `true`, `false`, `nil`, quoted strings, else text."""
    if tag.quoted:
        return tag.value
    symbol = _SYMBOL.fullmatch(tag.value)
    if symbol:
        return symbol["quoted"] if symbol["quoted"] is not None else symbol["bare"]
    if _NUMBER.fullmatch(tag.value):
        return _number_of(tag.value)
    words: dict[str, Value] = {"true": True, "false": False, "nil": None}
    return words.get(tag.value, tag.value)


def _number_of(text: str) -> int | float:
    digits = text.replace("_", "")
    return float(digits) if any(c in digits for c in ".eE") else int(digits)


def _not(tag: Tag) -> str:
    return f", not `{tag.value}`" if tag.value else ""


def _number(tag: Tag) -> int | float:
    if tag.quoted or not _NUMBER.fullmatch(tag.value):
        raise ValueError(f"`@{tag.name}` takes a number{_not(tag)}: write `@{tag.name}(5)`.")
    return _number_of(tag.value)


def _positive(tag: Tag) -> int | float:
    number = _number(tag)
    if number <= 0:
        raise ValueError(f"`@{tag.name}` takes a number above zero{_not(tag)}.")
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
    if not isinstance(value, str) or not value or re.search(r"[\s,]", value):
        raise ValueError(f"`@{tag.name}` takes one name{_not(tag)}: write `@{tag.name}(:name)`.")
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

PREDICATES: Final = ("requires", "feature")
"""The predicates that everybody has, for near misses."""
_RESERVED: Final = frozenset({"decide", "current_user", "default_for"})


_FROM_ELSEWHERE: Final[Mapping[str, str]] = {
    "description": "desc",
    "doc": "desc",
    "minimum": "min",
    "min_length": "min",
    "minLength": "min",
    "min_items": "min",
    "minItems": "min",
    "ge": "min",
    "gte": "min",
    "gt": "exclusive_min",
    "maximum": "max",
    "max_length": "max",
    "maxLength": "max",
    "max_items": "max",
    "maxItems": "max",
    "le": "max",
    "lte": "max",
    "lt": "exclusive_max",
    "regex": "pattern",
    "regexp": "pattern",
}
"""What JSON Schema, pydantic and others call what a tag says. As predicates they would bound nothing, silently."""


def slip(tag: Tag, known: frozenset[str]) -> str | None:
    """The known name of which a predicate's name looks like a slip, or `None` (SPEC section 3, "Errors")."""
    if tag.name in known or tag.name in PREDICATES:
        return None
    if tag.name in _FROM_ELSEWHERE:
        return _FROM_ELSEWHERE[tag.name]
    for name in (*PREDICATES, *RULES):
        if name in ("min", "max") and not _NUMBER.fullmatch(tag.value):
            continue
        allowed = 2 if min(len(name), len(tag.name)) >= 6 else 1
        if _distance(tag.name, name) <= allowed:
            return name
    return None


def predicate_fault(tag: Tag, known: frozenset[str]) -> str | None:
    """What is wrong with a tag that is read as a predicate, in words, or `None`."""
    name = tag.name
    if name.startswith("_") or name in _RESERVED:
        return f"`@{name}` cannot be a predicate: `context.{name}` is kept for other uses. Choose another name."
    near = slip(tag, known)
    declared = f'known_predicates={{"{name}"}}.'
    if name in _FROM_ELSEWHERE and near is not None:
        return f"`@{name}` is no tag: write `@{near}(...)`. If it is a predicate of yours, declare it: {declared}"
    if near is not None:
        return (
            f"`@{name}` is one slip away from `@{near}`, and as a predicate of its own it would be asked of the "
            f"context as `context.{name}({json.dumps(plain_value(tag), ensure_ascii=False)})`. "
            f"Write `@{near}(...)`, or declare it: {declared}"
        )
    if name in PREDICATES and (not tag.value or (not tag.quoted and re.search(r"[,\s]", tag.value))):
        return f"`@{name}` takes exactly one flag{_not(tag)}: write `@{name}(:flag)`, once for each flag."
    return None


def _distance(a: str, b: str) -> int:
    """Edits and swaps of neighbours between two names (optimal string alignment), given up above 2."""
    if abs(len(a) - len(b)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
