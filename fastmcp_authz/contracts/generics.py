"""Type arguments: put in the place of type variables, and kept from growing without end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from ..annotations import Intersection, Name, Nilable, Record, Tagged, Tuple, Type, Union
from ..annotations.types import grouped

_LARGEST_ARGUMENT: Final = 256
_DEEPEST_ARGUMENT: Final = 40
"""Nodes and levels of the type arguments of one name. Generic aliases that grow with every use would never end."""


def substituted(node: Type, variables: Mapping[str, Type]) -> Type:
    """A type with type variables replaced by what they stand for, whose tags stay its own."""
    match node:
        case Name(name=name, arguments=()) if name in variables:
            return grouped(variables[name])
        case Name(arguments=arguments):
            return replace(node, arguments=tuple(substituted(a, variables) for a in arguments))
        case Record(fields=fields):
            return replace(node, fields=tuple(replace(f, type=substituted(f.type, variables)) for f in fields))
        case Tuple(items=items):
            return replace(node, items=tuple(substituted(i, variables) for i in items))
        case Nilable(type=inner) | Tagged(type=inner):
            return replace(node, type=substituted(inner, variables))
        case Intersection(members=members) | Union(members=members):
            return replace(node, members=tuple(substituted(m, variables) for m in members))
        case _:
            return node


def is_overgrown(node: Name) -> bool:
    """Whether type arguments are larger or deeper than anybody writes. Not recursive, since they may be deep."""
    waiting: list[tuple[Type, int]] = [(each, 1) for each in node.arguments]
    count = 0
    while waiting:
        each, depth = waiting.pop()
        count += 1
        if count > _LARGEST_ARGUMENT or depth > _DEEPEST_ARGUMENT:
            return True
        waiting.extend((inner, depth + 1) for inner in _inside(each))
    return False


def _inside(node: Type) -> Iterable[Type]:
    match node:
        case Name(arguments=inner) | Tuple(items=inner) | Intersection(members=inner) | Union(members=inner):
            return inner
        case Nilable(type=one) | Tagged(type=one):
            return (one,)
        case Record(fields=fields):
            return [f.type for f in fields]
        case _:
            return ()


def miscounted(name: str, count: int) -> str:
    """What to say of a generic base type with too few or too many types in its brackets."""
    takes, sample = ("two types", "Hash[String, Integer]") if name == "Hash" else ("one type", f"{name}[String]")
    return f"`{name}` takes {takes} in its brackets, and this has {count}: write `{sample}`."
