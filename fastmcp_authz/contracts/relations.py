"""How two types relate: whether they exclude each other, and whether one would let through what the other guards."""

from __future__ import annotations

from .shapes import (
    Anything,
    Field,
    ListOf,
    MapOf,
    Record,
    Scalar,
    Shape,
    Tree,
    TupleOf,
    Union,
    Words,
    reachable,
)

_DEEPEST = 8
"""How far two types are told apart; deeper they count as overlapping, which is the careful answer."""
_DEEPEST_GATE = 64
"""How far a gate is followed beside an open type; deeper it counts as one that cannot hold, for the same reason."""


def exclusive(a: Shape, b: Shape, tree: Tree) -> bool:
    """Whether no value can fit both: other JSON types, or a property that one requires pinned apart (SPEC "Unions")."""
    return _Comparison(tree).exclusive(a, b, 0)


class _Comparison:
    """One question, with what was found on the way, since a name may be met along many paths."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._found: dict[tuple[int, int], bool] = {}  # by identity: the tree holds every shape that is compared

    def exclusive(self, a: Shape, b: Shape, depth: int) -> bool:
        a, b = self._tree.behind(a), self._tree.behind(b)
        pair = (id(a), id(b))
        if pair not in self._found:
            self._found[pair] = False  # what depends on itself is no reason to tell two types apart
            self._found[pair] = depth <= _DEEPEST and self._compare(a, b, depth + 1)
        return self._found[pair]

    def _compare(self, a: Shape, b: Shape, depth: int) -> bool:
        if isinstance(a, Anything) or isinstance(b, Anything):
            return False
        if isinstance(a, Union):
            return all(self.exclusive(m.shape, b, depth) for m in a.members)
        if isinstance(b, Union):
            return all(self.exclusive(a, m.shape, depth) for m in b.members)
        if _json_types(a).isdisjoint(_json_types(b)):
            return True
        match a, b:
            case Words(values=mine), Words(values=theirs):
                return not set(mine) & set(theirs)
            case Record(), Record():
                return self._records(a, b, depth)
            case (Record() as record, MapOf() as mapping) | (MapOf() as mapping, Record() as record):
                return any(f.required and self.exclusive(f.shape, mapping.values, depth) for f in record.fields)
            case _:
                return False

    def _records(self, a: Record, b: Record, depth: int) -> bool:
        theirs = {f.name: f for f in b.fields}
        for mine in a.fields:
            other = theirs.get(mine.name)
            if other is None:
                if b.closed and mine.required:
                    return True
            elif (mine.required or other.required) and self.exclusive(mine.shape, other.shape, depth):
                return True
        mine_names = {f.name for f in a.fields}
        return a.closed and any(f.required and f.name not in mine_names for f in b.fields)


def _json_types(shape: Shape) -> frozenset[str]:
    match shape:
        case Scalar(type="integer"):
            return frozenset({"number"})
        case Scalar(type=name):
            return frozenset({name})
        case Words(type="integer"):
            return frozenset({"number"})
        case Words(type=name):
            return frozenset({name})
        case ListOf() | TupleOf():
            return frozenset({"array"})
        case _:
            return frozenset({"object"})


def guarded(shape: Shape, tree: Tree) -> bool:
    """Whether a guard stands anywhere inside a shape."""
    return any(guards for _, guards in reachable(shape, tree.definitions))


def opens(shape: Shape, tree: Tree) -> bool:
    """Whether an open type, `untyped` or a hash, stands anywhere inside a shape."""
    return any(isinstance(each, Anything | MapOf) for each, _ in reachable(shape, tree.definitions))


def defeats(opened: Shape, gated: Shape, tree: Tree, *, gate: bool) -> bool:
    """Whether `opened` would let through what is behind a guard in `gated`, so that the guard cannot hold.

    `gate` says that `gated` as a whole stands behind a guard. An open type is `untyped` or a hash; records that
    overlap are no such case, since each shows only the fields that it names (SPEC "Unions").
    """
    return _Defeat(tree).holds(opened, gated, gate, 0)


class _Defeat:
    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._found: dict[tuple[int, int, bool], bool] = {}

    def holds(self, opened: Shape, gated: Shape, gate: bool, depth: int) -> bool:
        opened, gated = self._tree.behind(opened), self._tree.behind(gated)
        question = (id(opened), id(gated), gate)
        if question not in self._found:
            self._found[question] = False
            self._found[question] = depth > _DEEPEST_GATE or self._look(opened, gated, gate, depth + 1)
        return self._found[question]

    def _look(self, opened: Shape, gated: Shape, gate: bool, depth: int) -> bool:
        if not (gate or guarded(gated, self._tree)) or exclusive(opened, _granted(gated), self._tree):
            return False
        match opened, gated:
            case Anything(), _:
                return True
            case Union(members=members), _:
                return any(not m.guards and self.holds(m.shape, gated, gate, depth) for m in members)
            case _, Union(members=members):
                return any(self.holds(opened, m.shape, gate or bool(m.guards), depth) for m in members)
            case MapOf(values=values), Record(fields=fields):
                return gate or any(
                    self.holds(values, f.shape, bool(f.guards), depth)
                    or (bool(f.guards) and not exclusive(values, f.shape, self._tree))
                    for f in fields
                )
            case MapOf(values=values), MapOf(values=theirs):
                return gate or self.holds(values, theirs, False, depth)
            case ListOf(items=items), ListOf(items=theirs):
                return self.holds(items, theirs, gate, depth)
            case ListOf(items=items), TupleOf(items=places):
                return any(self.holds(items, place, gate, depth) for place in places)
            case TupleOf(items=places), ListOf(items=items):
                return any(self.holds(place, items, gate, depth) for place in places)
            case TupleOf(items=mine), TupleOf(items=theirs):
                return any(self.holds(a, b, gate, depth) for a, b in zip(mine, theirs, strict=False))
            case Record(fields=mine), Record(fields=theirs):
                return self._fields(mine, theirs, gate, depth)
            case Record(fields=mine), MapOf(values=values):
                return any(not f.guards and self.holds(f.shape, values, gate, depth) for f in mine)
            case _:
                return False

    def _fields(self, opened: tuple[Field, ...], gated: tuple[Field, ...], gate: bool, depth: int) -> bool:
        mine = {f.name: f for f in opened if not f.guards}
        return any(
            f.name in mine
            and not isinstance(self._tree.behind(f.shape), Scalar | Words)
            and self.holds(mine[f.name].shape, f.shape, gate or bool(f.guards), depth)
            for f in gated
        )


def _granted(shape: Shape) -> Shape:
    """A record without its guarded fields: what is surely there for everybody, to tell two types apart by."""
    if isinstance(shape, Record):
        return Record(tuple(f for f in shape.fields if not f.guards), closed=shape.closed)
    return shape
