"""How two types relate: whether they exclude each other, and what of them is there for everybody."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from itertools import combinations

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
    reachable,
)

_DEEPEST = 8
"""How far two types are told apart; deeper they count as overlapping, which is the careful answer."""
_MOST = 20_000
_MOST_MEMBERS = 64
"""How many pairs of types are looked at for one answer, and how many members of a union are compared each with each."""


class Comparison:
    """Tells types of one tree apart: other JSON types, or a property that one requires pinned apart (SPEC "Unions").

    That is for every caller: what a guard may take away tells nothing apart. With `cut` it is about values of which
    only what a type names is left, so that a closed record refuses none for its other keys.
    """

    def __init__(self, tree: Tree, *, cut: bool = False) -> None:
        self._tree = tree
        self._cut = cut
        self._found: dict[tuple[int, int], bool] = {}  # by identity: the tree holds every shape that is compared
        self._left = _MOST

    def exclusive(self, a: Shape, b: Shape) -> bool:
        """Whether no value can fit both."""
        self._left = _MOST
        return self._one_more(a, b)

    def all_exclusive(self, shapes: Sequence[Shape]) -> bool:
        """Whether no value can fit two of the shapes. Of very many, some may count as overlapping that are not."""
        apart = self.told_at_once(shapes)
        if apart is not None or len(shapes) > _MOST_MEMBERS:
            return bool(apart)
        self._left = _MOST
        return all(self._one_more(a, b) for a, b in combinations(shapes, 2))

    def told_at_once(self, shapes: Sequence[Shape]) -> bool | None:
        """`all_exclusive` as far as that can be told without comparing each with each; `None` where it cannot."""
        by_type: dict[str, list[tuple[int, Shape]]] = {}
        owners: dict[int, int] = {}
        for owner, shape in enumerate(shapes):
            waiting = [shape]
            while waiting:
                each = self._tree.behind(waiting.pop())
                if isinstance(each, Union):
                    if id(each) not in owners:
                        waiting.extend(m.shape for m in each.members)
                    elif owners[id(each)] != owner:
                        return False
                    owners[id(each)] = owner
                else:
                    by_type.setdefault(_json_type(each), []).append((owner, each))
        if by_type.pop("", None) and len(shapes) > 1:
            return False
        shared = {name: found for name, found in by_type.items() if len({owner for owner, _ in found}) > 1}
        objects = shared.pop("object", [])
        if not all(_are_words_apart(found) for found in shared.values()):
            return False
        return True if not objects or self._are_pinned_apart(objects) else None

    def _are_pinned_apart(self, objects: Sequence[tuple[int, Shape]]) -> bool:
        """Whether all are records that require one property, of constants that are no other's."""
        pins = [self._pins(shape) for _, shape in objects]
        return any(
            _are_words_apart([(owner, pinned[name]) for (owner, _), pinned in zip(objects, pins, strict=True)])
            for name in set(pins[0]).intersection(*pins[1:])
        )

    def _pins(self, shape: Shape) -> dict[str, Shape]:
        fields = shape.fields if isinstance(shape, Record) else ()
        pinned = ((f.name, self._tree.behind(f.shape)) for f in fields if f.required and not f.guards)
        return {name: words for name, words in pinned if isinstance(words, Words)}

    def _one_more(self, a: Shape, b: Shape) -> bool:
        self._found.clear()  # how deep something lay has to do with what was found of it
        return self._exclusive(a, b, 0)

    def _exclusive(self, a: Shape, b: Shape, depth: int) -> bool:
        a, b = self._tree.behind(a), self._tree.behind(b)
        pair = (id(a), id(b))
        if pair not in self._found:
            self._found[pair] = False  # what depends on itself is no reason to tell two types apart
            self._left -= 1
            self._found[pair] = depth <= _DEEPEST and self._left >= 0 and self._compare(a, b, depth + 1)
        return self._found[pair]

    def _compare(self, a: Shape, b: Shape, depth: int) -> bool:
        if isinstance(a, Anything) or isinstance(b, Anything):
            return False
        if isinstance(a, Union):
            return all(self._exclusive(m.shape, b, depth) for m in a.members)
        if isinstance(b, Union):
            return all(self._exclusive(a, m.shape, depth) for m in b.members)
        if _json_type(a) != _json_type(b):
            return True
        match a, b:
            case Words(values=mine), Words(values=theirs):
                return not set(mine) & set(theirs)
            case Record(), Record():
                return self._records(a, b, depth)
            case (Record() as record, MapOf() as mapping) | (MapOf() as mapping, Record() as record):
                return any(self._surely(f) and self._exclusive(f.shape, mapping.values, depth) for f in record.fields)
            case _:
                return False

    def _records(self, a: Record, b: Record, depth: int) -> bool:
        theirs = {f.name: f for f in b.fields}
        for mine in a.fields:
            other = theirs.get(mine.name)
            if other is None:
                if b.closed and self._refuses(mine):
                    return True
            elif (
                (mine.required or other.required)
                and self._exclusive(mine.shape, other.shape, depth)
                and self._stays(mine)
                and self._stays(other)
            ):
                return True
        mine_names = {f.name for f in a.fields}
        return a.closed and any(f.name not in mine_names and self._refuses(f) for f in b.fields)

    def _refuses(self, field: Field) -> bool:
        """Whether a closed record that does not name a field refuses every value of a record that does."""
        return not self._cut and self._surely(field)

    def _surely(self, field: Field) -> bool:
        """Whether a field is in every value of its record, for every caller."""
        return field.required and self._stays(field)

    def _stays(self, field: Field) -> bool:
        return not field.guards and self._lasts(field.shape)

    @cached_property
    def _lasting(self) -> Container[str]:
        """The names of which something is left for every caller: the least fixed point, as in `reveal`."""
        lasting: set[str] = set()
        fresh = True
        while fresh:
            found = {
                k for k, shape in self._tree.definitions.items() if k not in lasting and self._lasts(shape, lasting)
            }
            fresh = bool(found)
            lasting |= found
        return lasting

    def _lasts(self, shape: Shape, lasting: Container[str] | None = None) -> bool:
        match shape:
            case Ref(key=key):
                return key in (self._lasting if lasting is None else lasting)
            case Union(members=members):
                return any(not m.guards and self._lasts(m.shape, lasting) for m in members)
            case ListOf(items=items):
                return self._lasts(items, lasting)
            case TupleOf(items=places):
                return all(self._lasts(place, lasting) for place in places)
            case MapOf(values=values, keys=keys):
                return self._lasts(values, lasting) and (keys is None or self._lasts(keys, lasting))
            case _:
                return True


def _are_words_apart(found: Iterable[tuple[int, Shape]]) -> bool:
    """Whether all are constants, and none belongs to two owners."""
    owners: dict[tuple[bool, str | int | bool], int] = {}
    for owner, shape in found:
        if not isinstance(shape, Words):
            return False
        for value in shape.values:  # booleans are marked, since `True == 1` in Python
            if owners.setdefault((isinstance(value, bool), value), owner) != owner:
                return False
    return True


def _json_type(shape: Shape) -> str:
    match shape:
        case Scalar(type=name) | Words(type=name):
            return "number" if name == "integer" else name
        case ListOf() | TupleOf():
            return "array"
        case Record() | MapOf():
            return "object"
        case _:
            return ""


def guarded(shape: Shape, tree: Tree) -> bool:
    """Whether a guard stands anywhere inside a shape."""
    return any(guards for _, guards in reachable(shape, tree.definitions))
