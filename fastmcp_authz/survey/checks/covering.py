"""Whether one type takes every value of another and shows all that the other shows of it.

For people who review a contract; what is sent is decided by `projection`, value by value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.contracts.shapes import (
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
)

Held: TypeAlias = frozenset[Predicate]
"""The guards that a caller is known to pass."""


class Covering:
    """Compares types of one tree, guards and all: whoever passes the guards of the one has to pass the other's."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._assumed: set[tuple[int, int, Held]] = set()

    def covers(self, a: Shape, b: Shape, held: Held = frozenset()) -> bool:
        """Whether, to callers who pass `held`, `a` shows every value of `b` as whole as `b` does, or more of it."""
        a, b = self._tree.behind(a), self._tree.behind(b)
        question = (id(a), id(b), held)
        if question in self._assumed:
            return True  # types within themselves: nothing yet has told them apart
        self._assumed.add(question)
        try:
            return self._look(a, b, held)
        finally:
            self._assumed.discard(question)

    def _look(self, a: Shape, b: Shape, held: Held) -> bool:
        if isinstance(a, Anything):
            return True
        if isinstance(b, Union):
            return all(self.covers(a, m.shape, held | set(m.guards)) for m in b.members)
        if isinstance(a, Union):
            return any(held.issuperset(m.guards) and self.covers(m.shape, b, held) for m in a.members)
        if any(keyword not in b.keywords for keyword in a.keywords):
            return False
        match a, b:
            case Scalar(type=mine), Scalar(type=theirs) | Words(type=theirs):
                return mine == theirs or (mine, theirs) == ("number", "integer")
            case Words(), Words():
                return a.type == b.type and set(b.values) <= set(a.values)
            case ListOf(items=items), ListOf(items=theirs):
                return self.covers(items, theirs, held)
            case ListOf(items=items), TupleOf(items=places):
                return all(self.covers(items, place, held) for place in places)
            case TupleOf(items=mine), TupleOf(items=theirs):
                pairs = zip(mine, theirs, strict=False)
                return len(mine) == len(theirs) and all(self.covers(x, y, held) for x, y in pairs)
            case MapOf(values=values, keys=None), MapOf(values=theirs):
                return self.covers(values, theirs, held)
            case MapOf(values=values, keys=None), Record(fields=fields):
                return all(self.covers(values, f.shape, held | set(f.guards)) for f in fields)
            case Record(fields=mine), Record(fields=theirs):
                return self._fields(mine, theirs, held)
            case _:
                return False

    def _fields(self, a: Iterable[Field], b: Iterable[Field], held: Held) -> bool:
        mine, theirs = {f.name: f for f in a}, {f.name: f for f in b}
        if not theirs.keys() <= mine.keys():
            return False  # what `b` shows beside that is its own
        if any(f.required and (name not in theirs or not theirs[name].required) for name, f in mine.items()):
            return False
        return all(self._field(mine[name], each, held) for name, each in theirs.items())

    def _field(self, mine: Field, other: Field, held: Held) -> bool:
        held = held | set(other.guards)
        depends = set(mine.depends_on) <= set(other.depends_on)
        return depends and held.issuperset(mine.guards) and self.covers(mine.shape, other.shape, held)
