"""Predicates that cannot be meant: names that are a slip of a known tag, and values that are not one value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from ..annotations import Tag
from ..callers.predicates import RESERVED, Value
from .plain_values import is_number, is_one_value
from .tags import RULES, but_not

PREDICATES: Final = ("requires", "feature")
"""The predicates that everybody has, for near misses."""


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
        if name in ("min", "max") and not is_number(tag.value):
            continue
        allowed = 2 if min(len(name), len(tag.name)) >= 6 else 1
        if _distance(tag.name, name) <= allowed:
            return name
    return None


def predicate_fault(tag: Tag, value: Value, known: frozenset[str]) -> str | None:
    """What is wrong with a tag that is read as a predicate of this value, in words, or `None`."""
    name = tag.name
    if name.startswith("_") or name in RESERVED:
        return f"`@{name}` cannot be a predicate: `context.{name}` is kept for other uses. Choose another name."
    near = slip(tag, known)
    declared = f'known_predicates={{"{name}"}}.'
    if name in _FROM_ELSEWHERE and near is not None:
        return f"`@{name}` is no tag: write `@{near}(...)`. If it is a predicate of yours, declare it: {declared}"
    if near is not None:
        return (
            f"`@{name}` is one slip away from `@{near}`, and as a predicate of its own it would be asked of the "
            f"context as `context.{name}({json.dumps(value, ensure_ascii=False)})`. "
            f"Write `@{near}(...)`, or declare it: {declared}"
        )
    is_one = is_one_value(tag)
    if name in PREDICATES and (value is None or value == "" or not is_one or _is_several(tag)):
        return f"`@{name}` takes exactly one flag{but_not(tag)}: write `@{name}(:flag)`, once for each flag."
    if not is_one:
        return f"`@{name}` takes one value, not `{tag.value}`: write the tag once for each, `@{name}(:value)`."
    return None


def _is_several(tag: Tag) -> bool:
    """Whether the bare text of a flag looks like more than one."""
    return not tag.quoted and not tag.value.startswith(":") and re.search(r"[,\s]", tag.value) is not None


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
