"""What definitions must be: of values that end, no members of themselves, not too deep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from .shapes import Record, Ref, Shape, Tree, TupleOf, Union, parts

DEEPEST: Final = 160
"""Levels of a type with all names written out: a name is one, what it stands for two.

At twice that clients would refuse to read the schema, which has two levels of JSON for a record or a union; and a view
is compiled by functions that call themselves up to nine times for a name and its record.
"""


def reaching_a_value(definitions: Mapping[str, Shape]) -> set[str]:
    """The definitions that some finite value fits, were every guard open: the least fixed point."""
    reached: set[str] = set()

    def reaches(shape: Shape) -> bool:
        match shape:
            case Ref(key=key):
                return key in reached
            case TupleOf(items=places):
                return all(map(reaches, places))
            case Record(fields=fields):
                return all(reaches(f.shape) for f in fields if f.required)
            case Union(members=members):
                return any(reaches(m.shape) for m in members)
            case _:
                return True

    growing = True
    while growing:
        fresh = {key for key, shape in definitions.items() if key not in reached and reaches(shape)}
        reached |= fresh
        growing = bool(fresh)
    return reached


def members_of_themselves(definitions: Mapping[str, Shape]) -> set[str]:
    """The definitions that are a member of their own union, by whatever names: such a member says nothing.

    RBS refuses them too; and a validator that follows them never comes to an end, or takes any value.
    """
    members = {key: _member_names(shape) for key, shape in definitions.items()}
    found: set[str] = set()
    for key, names in members.items():
        entered: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in entered:
                entered.add(name)
                waiting.extend(members[name])
        if key in entered:
            found.add(key)
    return found


MOST_WAYS: Final = 1_000


def reached_too_often(definitions: Mapping[str, Shape]) -> set[str]:
    """The unions that come to the same members in too many ways, since the unions in them share unions.

    A validator looks at a member each time that it comes to it, so that a few names would keep it busy for ever.
    """
    members = {key: dict.fromkeys(_member_names(shape)) for key, shape in definitions.items()}
    ways: dict[str, int] = {}

    def counted(key: str) -> int:
        if key not in ways:
            ways[key] = 1  # for a member of itself, which is another fault
            ways[key] = sum(map(counted, members[key])) if members[key] else 1
        return ways[key]

    return {key for key in definitions if counted(key) > MOST_WAYS}


def _member_names(shape: Shape) -> list[str]:
    if isinstance(shape, Ref):
        return [shape.key]
    return [name for m in shape.members for name in _member_names(m.shape)] if isinstance(shape, Union) else []


def deepest(tree: Tree) -> int:
    """How many levels of types a tree has with its names written out, a name inside itself not counted again."""
    return _heights(tree, 1)[0][""]


def too_deep(tree: Tree) -> str | None:
    """The name at which a tree becomes deeper than it may be; empty where that is under no name."""
    heights, inside = _heights(tree, 2)
    key, depth = "", 0
    while depth + heights[key] > DEEPEST:
        name, level = max(inside[key], key=lambda inner: inner[1] + (heights[inner[0]] if inner[0] else 0))
        depth += level
        if not name or depth > DEEPEST or heights[name] >= heights[key]:
            return name or key
        key = name
    return None


_Levels: TypeAlias = list[tuple[str, int]]
"""The names inside a shape, each with its level; and under the empty name the deepest level of all."""


def _heights(tree: Tree, weight: int) -> tuple[dict[str, int], dict[str, _Levels]]:
    """The levels under each name in a tree, the root's under no name. A name is one level, a type `weight`."""
    heights: dict[str, int] = {}
    inside = {"": _levels(tree.root, weight)}
    under_way = [("", iter(inside[""]))]
    while under_way:
        key, unseen = under_way[-1]
        fresh = next((name for name, _ in unseen if name not in inside), None)
        if fresh is not None:
            inside[fresh] = _levels(tree.definitions[fresh], weight)
            under_way.append((fresh, iter(inside[fresh])))
        else:
            heights[key] = max(level + heights.get(name, 0) for name, level in inside[key])
            under_way.pop()
    return heights, inside


def _levels(root: Shape, weight: int) -> _Levels:
    found: _Levels = []
    lowest = 0
    waiting = [(root, 0)]
    while waiting:
        shape, above = waiting.pop()
        if isinstance(shape, Ref):
            found.append((shape.key, above + 1))
        else:
            waiting.extend([(inner, above + weight) for inner, _ in parts(shape)])
        lowest = max(lowest, above + (1 if isinstance(shape, Ref) else weight))
    return [*found, ("", lowest)]
