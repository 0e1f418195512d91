"""Gates that cannot hold: an open type beside them takes what they are to hide (SPEC section 2, "Unions")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from ..callers.predicates import Predicate
from .relations import Comparison
from .shapes import (
    Anything,
    Field,
    ListOf,
    MapOf,
    Record,
    Ref,
    Scalar,
    Shape,
    Tree,
    TupleOf,
    Union,
    Words,
    reachable_once,
)

Guards: TypeAlias = tuple[Predicate, ...]
"""The guards right before a shape."""

_DEEPEST: Final = 100
"""How far a gate is followed beside an open type; deeper it counts as one that cannot hold, the careful answer."""


class GateCheck:
    """Looks at the unions of one docstring, whose definitions are all built."""

    def __init__(self, tree: Tree) -> None:
        self._open = _Names(tree, lambda shape, _: isinstance(shape, Anything | MapOf))
        self._guarded = _Names(tree, lambda _, guards: bool(guards))
        self._compared = Comparison(tree, cut=True)
        self._defeat = _Defeat(tree, self._guarded, self._compared)

    def fails(self, union: Union) -> bool:
        """Whether an open member of a union defeats a gate of another, or in another."""
        open_ones = [m for m in union.members if not m.guards and self._open.inside(m.shape)]
        gates = [m for m in union.members if m.guards or self._guarded.inside(m.shape)] if open_ones else []
        concerned = {id(m): m.shape for m in (*open_ones, *gates)}
        if not gates or self._compared.told_at_once(list(concerned.values())):
            return False
        return any(
            a is not b and self._defeat.holds(a.shape, b.shape, bool(b.guards), 0) for a in open_ones for b in gates
        )


class _Names:
    """In which shapes, names looked through, there is one of some kind; told for each name once."""

    def __init__(self, tree: Tree, is_one: Callable[[Shape, Guards], bool]) -> None:
        self._is_one = is_one
        users: dict[str, list[str]] = {}
        self._names: set[str] = set()
        for key, shape in tree.definitions.items():
            for each, guards in reachable_once(shape):
                if isinstance(each, Ref):
                    users.setdefault(each.key, []).append(key)
                if is_one(each, guards):
                    self._names.add(key)
        waiting = list(self._names)
        while waiting:
            fresh = [key for key in users.get(waiting.pop(), ()) if key not in self._names]
            self._names.update(fresh)
            waiting += fresh

    def inside(self, root: Shape) -> bool:
        return any(
            (isinstance(each, Ref) and each.key in self._names) or self._is_one(each, guards)
            for each, guards in reachable_once(root)
        )


class _Defeat:
    """Whether one type would let through what is behind a guard in another, so that the guard cannot hold.

    An open type is `untyped` or a hash; records that overlap are no such case, since each shows only the fields that
    it names. What was found is kept: where it was wrong, for being asked within itself, another gate has failed.
    """

    def __init__(self, tree: Tree, guarded: _Names, compared: Comparison) -> None:
        self._tree = tree
        self._guarded = guarded
        self._compared = compared
        self._found: dict[tuple[int, int, bool], bool] = {}

    def holds(self, opened: Shape, gated: Shape, gate: bool, depth: int) -> bool:
        """`gate` says that `gated` as a whole stands behind a guard."""
        opened, gated = self._tree.behind(opened), self._tree.behind(gated)
        question = (id(opened), id(gated), gate)
        if question not in self._found:
            self._found[question] = False
            self._found[question] = depth > _DEEPEST or self._look(opened, gated, gate, depth + 1)
        return self._found[question]

    def _look(self, opened: Shape, gated: Shape, gate: bool, depth: int) -> bool:
        if not (gate or self._guarded.inside(gated)) or self._compared.exclusive(opened, gated):
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
                    or (bool(f.guards) and not self._compared.exclusive(values, f.shape))
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
