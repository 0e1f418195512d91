"""Defaults and examples, read by the type that they stand on (SPEC section 3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..annotations import Tag
from .shapes import Anything, Scalar, Shape, Union, Words, is_null
from .tags import plain_value


def read_value(tag: Tag, shape: Shape, resolve: Callable[[Shape], Shape]) -> Any:
    """The value of `@default(...)` or `@example(...)` as the type has it: `@default(123)` on a `String` is `"123"`.

    Whether it satisfies the type is for the caller to check.
    """
    shape = resolve(shape)
    if isinstance(shape, Union):
        members = [resolve(m.shape) for m in shape.members]
        for member in sorted(members, key=_is_text):
            value = read_value(tag, member, resolve)
            if _fits(value, member):
                return value
        return plain_value(tag)
    if _is_text(shape):
        value = plain_value(tag)
        return value if isinstance(value, str) else tag.value
    if isinstance(shape, Scalar | Words):
        return plain_value(tag)
    if tag.quoted:
        return tag.value
    try:
        return json.loads(tag.value)
    except ValueError:
        return plain_value(tag)


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
