"""Defaults and examples, read by the type that they stand on (SPEC section 3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..annotations import Tag
from .plain_values import json_value, plain_value
from .shapes import Anything, Scalar, Shape, Union, Words, is_null


def read_value(tag: Tag, shape: Shape, resolve: Callable[[Shape], Shape]) -> Any:
    """The value of `@default(...)` or `@example(...)` as the type has it: `@default(123)` on a `String` is `"123"`.

    Whether it satisfies the type is for the caller to check.

    Raises:
        ValueError: A number in it has no value here, or none in JSON.
    """
    members = _members(shape, resolve)
    if len(members) == 1:
        return _read_as(members[0], tag)
    # A text is read as such only where no other member takes it.
    for member in sorted(members, key=_is_text):
        with suppress(ValueError):
            value = _read_as(member, tag)
            if _fits(value, member):
                return value
    return plain_value(tag)


def _members(shape: Shape, resolve: Callable[[Shape], Shape]) -> list[Shape]:
    """The members of a union, those of unions in it too; any other shape is its own only member."""
    found: list[Shape] = []
    entered: set[int] = set()
    waiting = [shape]
    while waiting:
        each = resolve(waiting.pop())
        if not isinstance(each, Union):
            found.append(each)
        elif id(each) not in entered:  # the table holds every union that may be met twice
            entered.add(id(each))
            waiting.extend(m.shape for m in reversed(each.members))
    return found


def _read_as(shape: Shape, tag: Tag) -> Any:
    if _is_text(shape):
        return _as_text(tag)
    if isinstance(shape, Scalar | Words):
        return plain_value(tag)
    if tag.quoted:
        return tag.value
    try:
        return json_value(tag.value)
    except json.JSONDecodeError:
        return plain_value(tag)


def _as_text(tag: Tag) -> str:
    try:
        value = plain_value(tag)
    except ValueError:  # a number in vain is a text like any other
        return tag.value
    return value if isinstance(value, str) else tag.value


def _is_text(shape: Shape) -> bool:
    return isinstance(shape, Scalar | Words) and shape.type == "string"


def _fits(value: Any, shape: Shape) -> bool:
    """Whether a value is of a member's kind: enough to choose the member, not to check the value."""
    if isinstance(shape, Words):
        return any(type(value) is type(each) and value == each for each in shape.values)
    if is_null(shape):
        return value is None
    if isinstance(shape, Anything):
        return True
    if isinstance(shape, Scalar):
        kinds: dict[str, type | tuple[type, ...]] = {"integer": int, "number": (int, float), "boolean": bool}
        expected = kinds.get(shape.type, str)
        return isinstance(value, expected) and (isinstance(value, bool) == (shape.type == "boolean"))
    return isinstance(value, dict | list)
