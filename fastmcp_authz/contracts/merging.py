"""What looks alike to a caller is one thing: definitions of one name, and members of a union.

Two uses of a generic alias may differ in hidden parts alone. Kept apart, their number, or that nothing is shared, would
show that there is something hidden.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import replace

from .shapes import Definitions, ListOf, MapOf, Member, Record, Ref, Shape, Tree, TupleOf, Union, reachable_once


def alias_name(key: str) -> str:
    """The alias that a definition's key begins with, without type arguments and tags: those may name what is hidden."""
    return re.split(r"\[| @", key, maxsplit=1)[0]


def merged(tree: Tree) -> Tree:
    """A tree without guards in which definitions of one name that look alike are one, and equal members too."""
    names = {key: alias_name(key) for key in tree.definitions}
    if len(set(names.values())) < len(names):
        tree = _renamed_tree(tree, _representatives(tree, names))
    if any(_has_named_members(shape) for shape in (tree.root, *tree.definitions.values())):
        tree = _Members(tree, _representatives(tree, dict.fromkeys(tree.definitions, ""))).merged()
    return tree


def _representatives(tree: Tree, classes: Mapping[str, Hashable]) -> dict[str, str]:
    """For each definition the first one that looks like it all the way down, among those of one class."""
    # Alike until something tells it apart: classes are split as long as what their members are made of differs. Only
    # what is made of something that has just moved to another class is looked at again.
    numbers: dict[Hashable, str] = {}
    labels = {key: numbers.setdefault(of, str(len(numbers))) for key, of in classes.items()}
    sizes = Counter(labels.values())
    users: Mapping[str, list[str]] | None = None
    fresh = list(labels)
    while fresh:
        looks: dict[str, dict[Shape, list[str]]] = {}
        for key in fresh:
            look = _renamed(tree.definitions[key], labels)
            looks.setdefault(labels[key], {}).setdefault(look, []).append(key)
        moved: list[str] = []
        for label, groups in looks.items():
            ordered = sorted(groups.values(), key=len)
            if sum(map(len, ordered)) == sizes[label]:
                ordered.pop()  # the largest stays
            for group in ordered:
                new = str(len(sizes))
                sizes[label] -= len(group)
                sizes[new] = len(group)
                labels.update(dict.fromkeys(group, new))
                moved += group
        if len(sizes) == len(labels):
            break
        users = _users(tree.definitions) if users is None else users
        fresh = list(dict.fromkeys(user for key in moved for user in users.get(key, ()) if sizes[labels[user]] > 1))
    first: dict[str, str] = {}
    return {key: first.setdefault(label, key) for key, label in labels.items()}


def _users(definitions: Definitions) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    for key, shape in definitions.items():
        for each, _ in reachable_once(shape):
            if isinstance(each, Ref):
                users.setdefault(each.key, []).append(key)
    return users


def _renamed_tree(tree: Tree, leaders: Mapping[str, str]) -> Tree:
    kept = {key: _renamed(shape, leaders) for key, shape in tree.definitions.items() if leaders[key] == key}
    return Tree(_renamed(tree.root, leaders), kept)


def _renamed(shape: Shape, leaders: Mapping[str, str]) -> Shape:
    match shape:
        case Ref(key=key):
            return shape if leaders[key] == key else replace(shape, key=leaders[key])
        case ListOf(items=items):
            return replace(shape, items=_renamed(items, leaders))
        case TupleOf(items=places):
            return replace(shape, items=tuple(_renamed(place, leaders) for place in places))
        case MapOf(values=values, keys=keys):
            named = None if keys is None else _renamed(keys, leaders)
            return replace(shape, values=_renamed(values, leaders), keys=named)
        case Record(fields=fields):
            return replace(shape, fields=tuple(replace(f, shape=_renamed(f.shape, leaders)) for f in fields))
        case Union(members=members):
            return replace(shape, members=tuple(Member(_renamed(m.shape, leaders)) for m in members))
        case _:
            return shape


def _has_named_members(root: Shape) -> bool:
    return any(
        isinstance(shape, Union) and sum(isinstance(m.shape, Ref) for m in shape.members) > 0
        for shape, _ in reachable_once(root)
    )


class _Members:
    """Merges the members of each union that look alike, whatever they are called."""

    def __init__(self, tree: Tree, leaders: Mapping[str, str]) -> None:
        self._tree = tree
        self._leaders = leaders

    def merged(self) -> Tree:
        definitions = {key: self._see(shape) for key, shape in self._tree.definitions.items()}
        return Tree(self._see(self._tree.root), definitions)

    def _see(self, shape: Shape) -> Shape:
        match shape:
            case ListOf(items=items):
                return replace(shape, items=self._see(items))
            case TupleOf(items=places):
                return replace(shape, items=tuple(map(self._see, places)))
            case MapOf(values=values, keys=keys):
                return replace(shape, values=self._see(values), keys=None if keys is None else self._see(keys))
            case Record(fields=fields):
                return replace(shape, fields=tuple(replace(f, shape=self._see(f.shape)) for f in fields))
            case Union(members=members):
                return self._see_union(shape, [self._see(m.shape) for m in members])
            case _:
                return shape

    def _see_union(self, union: Union, members: list[Shape]) -> Shape:
        looks: dict[Shape, Shape] = {}
        for member in members:
            looks.setdefault(_renamed(self._tree.resolve(member), self._leaders), member)
        kept = list(looks.values())
        if len(kept) == 1:
            return replace(kept[0], notes=union.notes.over(kept[0].notes), narrowed=union.narrowed)
        return replace(union, members=tuple(map(Member, kept)))
