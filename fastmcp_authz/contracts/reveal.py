"""The one place that knows what a guard means.

Guarded shapes and decisions go in, shapes without any guard come out. Schema, check and projection are walks over what
comes out, so none of them can know more than the others.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..callers.predicates import Decisions, Predicate
from .merging import merged
from .shapes import (
    NO_NOTES,
    Field,
    Keywords,
    ListOf,
    MapOf,
    Member,
    Record,
    Ref,
    Shape,
    Tree,
    TupleOf,
    Union,
    Words,
    is_null,
    reachable_once,
)


def reveal(tree: Tree, decisions: Decisions, *, keep_null: bool = True) -> Tree | None:
    """What a caller with these decisions sees of a tree: the same shapes without guards, or nothing.

    A field or member whose guards do not all hold is gone; a type that has lost all its members is gone, and with it
    the field, element or member that had it. Unions flatten, equal members merge, constants of one type join, and a
    union left with one member is that member. Without `keep_null` a union loses its null unless `@nullable()` stands
    on it (SPEC section 2, `nullable_inputs`).
    """
    revealer = Revealer(tree, decisions, keep_null)
    root = revealer.see(tree.root)
    if root is None:
        return None
    definitions: dict[str, Shape] = {}
    waiting = [root] if tree.definitions else []
    while waiting:
        for shape, _ in reachable_once(waiting.pop()):
            if isinstance(shape, Ref) and shape.key not in definitions:
                behind = revealer.see(tree.definitions[shape.key])
                assert behind is not None, "a Ref is only revealed where its definition is inhabited"
                definitions[shape.key] = behind
                waiting.append(behind)
    seen = Tree(root, definitions, tree.still)
    return seen if tree.still is not None and not tree.still.merges else merged(seen)


class Revealer:
    """One caller's walk. Kept small: the rules of SPEC sections 2 and 4 on what a guard takes away."""

    def __init__(self, tree: Tree, decisions: Decisions, keep_null: bool) -> None:
        self._definitions = tree.definitions
        self._still = tree.still
        self._known: Mapping[int, Shape] = {} if tree.still is None else tree.still.seen[keep_null]
        self._known_fields: Mapping[int, Field] = {} if tree.still is None else tree.still.fields[keep_null]
        self._decisions = decisions
        self._keep_null = keep_null
        self._inhabited = self._find_inhabited()

    def _find_inhabited(self) -> frozenset[str]:
        """The definitions that have a member left, as the least fixed point: a cycle alone is no member."""
        inhabited: set[str] = set()
        growing = True
        while growing:
            growing = False
            for key, shape in self._definitions.items():
                if key not in inhabited and self._has_member(shape, inhabited):
                    inhabited.add(key)
                    growing = True
        return frozenset(inhabited)

    def _has_member(self, shape: Shape, inhabited: set[str]) -> bool:
        match shape:
            case Ref(key=key):
                return key in inhabited
            case ListOf(items=items):
                return self._has_member(items, inhabited)
            case TupleOf(items=places):
                return all(self._has_member(place, inhabited) for place in places)
            case MapOf(values=values, keys=keys):
                return self._has_member(values, inhabited) and (keys is None or self._has_member(keys, inhabited))
            case Union(members=members):
                members = tuple(m for m in members if self._is_left(m, shape))
                return any(self._has_member(m.shape, inhabited) for m in members)
            case _:
                return True

    def _is_left(self, member: Member, union: Union) -> bool:
        """Whether a union keeps a member, if anything of that is left. One of a gated `nil` alone is not nilable."""
        return self.keeps_null(member.shape, union) and self.holds(member.guards)

    def keeps_null(self, shape: Shape, union: Union) -> bool:
        """Whether a member of a union is no null, or one that stays."""
        return self._keep_null or union.nullable or len(union.members) == 1 or not is_null(shape)

    def holds(self, guards: tuple[Predicate, ...]) -> bool:
        """Whether the caller was answered with yes to all of them."""
        return all(guard in self._decisions for guard in guards)

    def see(self, shape: Shape) -> Shape | None:
        """The shape without guards, or `None` where nothing of it is left."""
        known = self._known.get(id(shape))
        if known is not None:
            return known
        seen = self._see(shape)
        if seen is not None and self._still is not None and id(shape) in self._still.shapes:
            self._still.remember(shape, seen, keep_null=self._keep_null)
        return seen

    def _see(self, shape: Shape) -> Shape | None:
        match shape:
            case Ref(key=key):
                return shape if key in self._inhabited else None
            case ListOf(items=items):
                element = self.see(items)
                if element is items:
                    return shape
                return None if element is None else replace(shape, items=element)
            case TupleOf(items=places):
                seen = tuple(each for each in map(self.see, places) if each is not None)
                return replace(shape, items=seen) if len(seen) == len(places) else None
            case MapOf():
                return self._see_map(shape)
            case Record():
                return self._see_record(shape)
            case Union():
                return self._see_union(shape)
            case _:
                return shape

    def _see_map(self, shape: MapOf) -> Shape | None:
        values = self.see(shape.values)
        keys = None if shape.keys is None else self.see(shape.keys)
        if values is None or (shape.keys is not None and keys is None):
            return None
        return replace(shape, values=values, keys=keys)

    def _see_record(self, shape: Record) -> Shape:
        shown: list[Field] = []
        for each in shape.fields:
            if each.guards and not self.holds(each.guards):
                continue
            seen = self._known_fields.get(id(each)) or self._see_field(each)
            if seen is not None:
                shown.append(seen)
        fields = tuple(shown)
        if any(each.depends_on for each in fields):
            fields = tuple(_without_hidden_parents(fields))
        if len(fields) == len(shape.fields) and all(map(operator.is_, fields, shape.fields)):
            return shape
        return Record(fields, shape.closed, keywords=shape.keywords, notes=shape.notes, narrowed=shape.narrowed)

    def _see_field(self, each: Field) -> Field | None:
        """A field whose guards hold, without them; `None` where nothing of its type is left."""
        inner = self.see(each.shape)
        if inner is None:
            return None
        same = inner is each.shape and not each.guards
        seen = each if same else Field(each.name, inner, each.required, (), each.depends_on)
        if self._still is not None and id(each.shape) in self._still.shapes:
            self._still.fields[self._keep_null][id(each)] = seen
        return seen

    def _see_union(self, shape: Union) -> Shape | None:
        seen: list[Shape] = []
        narrowed = False
        for member in shape.members:
            inner = self.see(member.shape) if self._is_left(member, shape) else None
            if inner is None:
                narrowed = True
            elif isinstance(inner, Union) and inner.notes == NO_NOTES:
                narrowed = narrowed or inner.narrowed
                seen.extend(m.shape for m in inner.members)
            else:
                seen.append(inner)
        joined = _merged(seen)
        if not joined:
            return None
        if len(joined) == 1:
            return replace(joined[0], notes=shape.notes.over(joined[0].notes), narrowed=narrowed or joined[0].narrowed)
        return replace(shape, members=tuple(Member(each) for each in joined), narrowed=narrowed)


def _without_hidden_parents(shown: tuple[Field, ...]) -> Iterator[Field]:
    """Shown fields without what they have to do with fields that are not shown."""
    names = {each.name for each in shown}
    for each in shown:
        parents = tuple(parent for parent in each.depends_on if parent in names)
        yield each if parents == each.depends_on else replace(each, depends_on=parents)


def _merged(shapes: list[Shape]) -> list[Shape]:
    """Members without repetition; constants of one type and the same keywords are one `Words`, where the first was."""
    merged: dict[Shape | tuple[str, Keywords], Shape] = {}
    words: dict[tuple[str, Keywords], dict[str | int | bool, None]] = {}
    for shape in shapes:
        if isinstance(shape, Words) and shape.notes == NO_NOTES:
            key = (shape.type, shape.keywords)
            merged.setdefault(key, shape)
            words.setdefault(key, {}).update(dict.fromkeys(shape.values))
        else:
            merged.setdefault(shape, shape)
    for key, values in words.items():
        first = merged[key]
        assert isinstance(first, Words)
        merged[key] = replace(first, values=tuple(values))
    return list(merged.values())
