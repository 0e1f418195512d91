"""The small words of the reference model: one form of a value, one scalar against it, one tag, two values of JSON."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import jsonschema_rs

from fastmcp_authz.annotations import Field, Tag

LIMITS = frozenset(
    [
        *("min", "max", "exclusive_min", "exclusive_max", "multiple_of", "pattern", "format", "unique"),
        *("closed", "strict", "media_type", "encoding", "nullable"),
    ]
)
"""Tags that narrow a type."""
BOUNDS = {"min": max, "exclusive_min": max, "max": min, "exclusive_max": min}
"""Which of two bounds is the stricter one."""
NUMBERS = ("min", "max", "exclusive_min", "exclusive_max", "multiple_of")
MARKS = frozenset(
    [
        *("desc", "title", "deprecated", "read_only", "write_only", "default", "default_for", "example"),
        "depends_on",
    ]
)
"""Tags that say something of a type or a field. Every tag of another name is a predicate."""


@dataclass(frozen=True)
class Form:
    """One form that a value may take: a type without unions, names and gates at its top. What is inside is syntax."""

    kind: str
    """`any`, a JSON scalar type, `constant`, `list`, `tuple`, `map` or `record`."""
    inside: Any = None
    limits: tuple[Tag, ...] = ()
    """The constraints upon it, innermost first: of two bounds the stricter one counts."""

    def limit(self, *names: str) -> Any:
        said = [tag.value for tag in self.limits if tag.name in names]
        if not said or names[0] not in BOUNDS:
            return said[-1] if said else None
        return BOUNDS[names[0]](said, key=Fraction)


def constraints(tags: Iterable[Tag]) -> tuple[Tag, ...]:
    return tuple(tag for tag in tags if tag.name in LIMITS)


def calls(field: Field) -> list[str]:
    return [tag.value.removeprefix(":") for tag in field.tags if tag.name == "depends_on"]


def is_scalar(form: Form, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match form.kind:
        case "any":
            return True
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "constant":
            same = isinstance(value, bool) == isinstance(form.inside, bool) and value == form.inside
            return same and (within(form, value) if number else isinstance(value, bool) or is_text(form, value))
        case "integer":
            return number and (isinstance(value, int) or value.is_integer()) and within(form, value)
        case "number":
            return number and within(form, value)
        case _:
            return isinstance(value, str) and is_text(form, value)


def within(form: Form, number: float) -> bool:
    """Whether a number is where its constraints want it; told exactly, since 2**53 + 1 is odd and no float."""
    exact = Fraction(number)
    said = {name: Fraction(form.limit(name)) for name in NUMBERS if form.limit(name) is not None}
    return (
        said.get("min", exact) <= exact <= said.get("max", exact)
        and ("exclusive_min" not in said or said["exclusive_min"] < exact)
        and ("exclusive_max" not in said or exact < said["exclusive_max"])
        and ("multiple_of" not in said or exact % said["multiple_of"] == 0)
    )


def is_text(form: Form, text: str) -> bool:
    words = {"pattern": form.limit("pattern"), "format": form.limit("format")}
    schema = {keyword: value for keyword, value in words.items() if value is not None}
    return counted(form, text) and jsonschema_rs.is_valid(schema, text, validate_formats=True)


def counted(form: Form, value: Any) -> bool:
    least, most = form.limit("min"), form.limit("max")
    fitting = (least is None or len(value) >= int(least)) and (most is None or len(value) <= int(most))
    return fitting and (form.limit("unique") is None or len({canonical(each) for each in value}) == len(value))


def readings(tag: Tag) -> list[Any]:
    """What a default may mean, the text last: `@default(123)` on a `String` is `"123"`, since no number is a string."""
    words = {"nil": None}
    read: list[Any] = [words[tag.value]] if tag.value in words and not tag.quoted else []
    with contextlib.suppress(ValueError):
        read += [] if tag.quoted else [json.loads(tag.value)]
    return [*read, tag.value.removeprefix(":")]


def leaves(value: Any) -> int:
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return sum(map(leaves, inside)) or 1


def canonical(value: Any) -> str:
    """The one text of a JSON value."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list):
        return f"[{','.join(map(canonical, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{canonical(value[k])}" for k in sorted(value)) + "}"
    return json.dumps(value, ensure_ascii=False)


def same(a: Any, b: Any) -> bool:
    """Equal as JSON."""
    return canonical(a) == canonical(b)
