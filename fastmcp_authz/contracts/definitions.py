"""What names stand for: a table that builds each definition once, when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ..annotations import Intersection, Name, Nilable, Tagged, Tuple, Type
from ..annotations import Record as RecordSyntax
from ..annotations import Union as UnionSyntax
from .shapes import Anything, Record, Ref, Shape, Tree, TupleOf, Union, is_null, parts

_LARGEST_ARGUMENT: Final = 256
_DEEPEST_ARGUMENT: Final = 40
"""Nodes and levels of the type arguments of one name. Generic aliases that grow with every use would never end."""


_MOST: Final = 1_000
"""Names, and narrowed variants of names, of one contract; with more than these it is refused."""


class DefinitionTable:
    """Definitions by key, built on demand, since names may refer to one another in any order."""

    def __init__(self) -> None:
        self.shapes: dict[str, Shape] = {}
        self._waiting: dict[str, Callable[[], Shape]] = {}
        self._under_way: set[str] = set()

    def refer(self, key: str, make: Callable[[], Shape]) -> Ref:
        """The use of a name; `make` builds what it stands for, if nobody has said so before."""
        if key not in self.shapes and key not in self._waiting:
            self._waiting[key] = make
        return Ref(key)

    def get(self, key: str) -> Shape | None:
        """The shape that a key stands for, built now if need be; `None` while it is being built."""
        if key in self._waiting:
            make = self._waiting.pop(key)
            self._under_way.add(key)
            self.shapes[key] = Anything()
            self.shapes[key] = make()
            self._under_way.discard(key)
        return None if key in self._under_way else self.shapes[key]

    def resolved(self, shape: Shape) -> Shape:
        """The shape behind names as far as it is known by now."""
        while isinstance(shape, Ref):
            behind = self.get(shape.key)
            if behind is None:
                return Anything()
            shape = behind
        return shape

    @property
    def overfull(self) -> bool:
        """Whether `finish` gave up."""
        return bool(self._waiting)

    def finish(self) -> None:
        """Build every definition that was referred to, unless there is no end to them."""
        while self._waiting and len(self.shapes) <= _MOST:
            self.get(next(iter(self._waiting)))


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
        case Name(arguments=inner) | Tuple(items=inner) | Intersection(members=inner) | UnionSyntax(members=inner):
            return inner
        case Nilable(type=one) | Tagged(type=one):
            return (one,)
        case RecordSyntax(fields=fields):
            return [f.type for f in fields]
        case _:
            return ()


def is_nilable(shape: Shape, tree: Tree) -> bool:
    """Whether `nil` is one of the members of a type. A union may lead back to itself by name, which adds nothing."""
    entered: set[str] = set()
    waiting = [shape]
    while waiting:
        shape = waiting.pop()
        if isinstance(shape, Ref):
            if shape.key not in entered:
                entered.add(shape.key)
                waiting.append(tree.definitions[shape.key])
        elif isinstance(shape, Union):
            waiting.extend(m.shape for m in shape.members)
        elif is_null(shape):
            return True
    return False


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


def _member_names(shape: Shape) -> list[str]:
    if isinstance(shape, Ref):
        return [shape.key]
    return [name for m in shape.members for name in _member_names(m.shape)] if isinstance(shape, Union) else []


def deepest(tree: Tree) -> int:
    """How many levels of types a tree has with its names written out, a name inside itself not counted again."""
    depths: dict[str, int] = {}
    levels = _levels(tree.root)
    under_way = [("", levels, iter(levels))]
    entered = {""}
    while under_way:
        key, inner, unseen = under_way[-1]
        fresh = next((name for name, _ in unseen if name not in entered), None)
        if fresh is not None:
            entered.add(fresh)
            levels = _levels(tree.definitions[fresh])
            under_way.append((fresh, levels, iter(levels)))
        else:
            depths[key] = max((level + depths.get(name, 0) for name, level in inner), default=0)
            under_way.pop()
    return depths[""]


def _levels(root: Shape) -> list[tuple[str, int]]:
    """The names inside a shape with their levels, and the deepest level under no name."""
    found: list[tuple[str, int]] = []
    deepest_level = 0
    waiting = [(root, 1)]
    while waiting:
        shape, level = waiting.pop()
        deepest_level = max(deepest_level, level)
        if isinstance(shape, Ref):
            found.append((shape.key, level))
        else:
            waiting.extend([(inner, level + 1) for inner, _ in parts(shape)])
    return [*found, ("", deepest_level)]
