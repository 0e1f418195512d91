"""Values as tags and types say them: defaults, examples, constants."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from fastmcp_authz.annotations import Tag, Type
from fastmcp_authz.survey.proposing.said import NIL, literal, name, tag

_NOT_TEXT: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no docstring holds."""


def one_line(text: str) -> str:
    """A text as the value of a tag can hold it: on one line, its blanks single."""
    return " ".join(_NOT_TEXT.sub(" ", text).split())


def without_controls(text: str) -> str:
    """A text of several lines, without what no docstring holds."""
    return _NOT_TEXT.sub(" ", text)


def number(value: float) -> str:
    """A number, whole ones without a point."""
    is_whole = isinstance(value, int) or (value.is_integer() and abs(value) < 2**53)
    return str(int(value)) if is_whole else json.dumps(value)


def value_tag(called: str, value: Any) -> Tag | None:
    """`@default(...)` or `@example(...)`; `None` where no tag can hold the value."""
    match value:
        case None:
            return tag(called, "nil")
        case bool():
            return tag(called, "true" if value else "false")
        case int() | float():
            return tag(called, number(value)) if math.isfinite(value) else None
        case str():
            is_plain = "\n" not in value and "\t" not in value and not _NOT_TEXT.search(value)
            return tag(called, value, quoted=True) if is_plain else None
        case _:
            try:
                return tag(called, json.dumps(value, allow_nan=False, ensure_ascii=bool(_NOT_TEXT.search(str(value)))))
            except ValueError:
                return None


def name_tag(called: str, value: str) -> Tag | None:
    """A tag whose value is a name; `None` where the name has something in it that ends one."""
    if re.fullmatch(r"\w[\w\-?!./:]*", value):
        return tag(called, f":{value}")
    return None if not value or re.search(r"[\s,]", value) else tag(called, value, quoted=True)


def constant(value: Any) -> Type | None:
    """The type of one value; `None` where the language has none."""
    match value:
        case None:
            return NIL
        case bool():
            return name("true" if value else "false")
        case int():
            return literal(value)
        case float() if value.is_integer():
            return literal(int(value))
        case str() if not re.search("[\ud800-\udfff]", value):
            return literal(value)
        case _:
            return None
