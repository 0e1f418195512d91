"""Walks over types of a proposal: which names they are made of, and what they are without some of their tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar

from fastmcp_authz.annotations import Alias, Field, Name, Tag, Tagged, Type

_INNER: Final = ("type", "items", "members", "arguments", "fields")
"""The parts of nodes that hold nodes."""
_Node = TypeVar("_Node")


def is_value(tag: Tag) -> bool:
    """Whether a tag holds a value that its type has to take."""
    return tag.name in ("default", "example")


def without_values(node: _Node, keeps: Callable[[Field | Tagged, Tag], bool] = lambda *_: False) -> _Node:
    """A type or a field, and all in it, without defaults and examples, but for those that are to be kept."""
    changed: dict[str, Any] = {}
    for part in _INNER:
        inner = getattr(node, part, None)
        if isinstance(inner, tuple):
            changed[part] = tuple(without_values(each, keeps) for each in inner)
        elif inner is not None:
            changed[part] = without_values(inner, keeps)
    if isinstance(node, Field | Tagged):
        changed["tags"] = tuple(each for each in node.tags if not is_value(each) or keeps(node, each))
        if isinstance(node, Tagged) and not changed["tags"]:
            return changed["type"]  # type: ignore[no-any-return]
    return replace(node, **changed) if changed else node  # type: ignore[type-var]


def with_all_within(alias: Alias, aliases: tuple[Alias, ...]) -> tuple[Alias, ...]:
    """A type, and all others that it is made of, of which two that are called alike may be different."""
    named = {each.name: each for each in aliases}
    found = [alias]
    for each in found:  # grows as it goes
        found += {named[name] for name in _names(each.type) if name in named and named[name] not in found}
    return (alias, *sorted(found[1:], key=str))


def _names(node: Type | Field) -> Iterator[str]:
    if isinstance(node, Name):
        yield node.name
    for part in _INNER:
        inner = getattr(node, part, None)
        for each in inner if isinstance(inner, tuple) else () if inner is None else (inner,):
            yield from _names(each)
