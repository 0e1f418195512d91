"""Constraints upon constraints: a type that has one may only be narrowed further (SPEC section 3)."""

from __future__ import annotations

from typing import Any, Final

from .shapes import Keywords

_FLOORS: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_CEILINGS: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


class Unnarrowed(Exception):
    """A type has a keyword already, with another value, and the two together cannot be written as one."""

    def __init__(self, had: Any) -> None:
        self.had = had
        super().__init__(had)


def narrowed(keywords: Keywords, keyword: str, value: Any) -> Keywords:
    """Keywords with one more; of two bounds the stricter one counts.

    Raises:
        Unnarrowed: It stands there already with another value, and is no bound.
    """
    had = dict(keywords).get(keyword) if keywords else None
    if had is None:
        return (*keywords, (keyword, value))
    if keyword in _FLOORS:
        value = max(had, value)
    elif keyword in _CEILINGS:
        value = min(had, value)
    elif had != value:
        raise Unnarrowed(had)
    if value == had:
        return keywords
    return (*((k, v) for k, v in keywords if k != keyword), (keyword, value))
