"""The guarded tree: what a contract says, with each part that only some callers see behind predicates.

The single intermediate form: annotations are built into it, and `reveal` takes the guards out of it for one caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..callers.predicates import Predicate

if TYPE_CHECKING:
    from .still import Still

Keywords: TypeAlias = tuple[tuple[str, Any], ...]
"""JSON Schema keywords in the order in which they are emitted."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What is said about a type without narrowing it: annotations of JSON Schema."""

    keywords: Keywords = ()
    """`description`, `title`, `deprecated` and the like."""
    default: tuple[Any, ...] = ()
    """The fixed default, or nothing."""
    default_key: str | None = None
    """What `current_user.default_for` is asked for."""
    examples: tuple[Any, ...] = ()
    unsaid: frozenset[str] = frozenset()
    """`default`, `examples`: what this caller's type does not take. What a name under it says stays unsaid too."""

    def __hash__(self) -> int:
        return hash(self.keywords)  # defaults and examples may be lists

    def over(self, under: Notes) -> Notes:
        """These notes where they say something, else those of `under`: the use of a name over its declaration."""
        mine = dict(self.keywords)
        no_default = bool(self.default_key) or "default" in self.unsaid
        return Notes(
            keywords=tuple((k, v) for k, v in under.keywords if k not in mine) + self.keywords,
            default=self.default or (() if no_default else under.default),
            default_key=self.default_key or (None if self.default or no_default else under.default_key),
            examples=self.examples or (() if "examples" in self.unsaid else under.examples),
            unsaid=self.unsaid | under.unsaid,
        )


NO_NOTES: Final = Notes()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    keywords: Keywords = ()
    """Keywords that narrow the type: `minLength`, `pattern`, `uniqueItems`."""
    notes: Notes = NO_NOTES
    narrowed: bool = field(default=False, compare=False)
    """Whether guards took members of a union away right here; see `reveal`."""


@dataclass(frozen=True, slots=True)
class Anything(_Shape):
    """`untyped`: no condition."""


@dataclass(frozen=True, slots=True)
class Scalar(_Shape):
    """A JSON type without parts: `string`, `integer`, `number`, `boolean`, `null`."""

    type: str


@dataclass(frozen=True, slots=True)
class Words(_Shape):
    """Constants of one JSON type. Guarded trees hold one value each; `reveal` joins those of a union."""

    type: str
    values: tuple[str | int | bool, ...]


@dataclass(frozen=True, slots=True)
class ListOf(_Shape):
    """An array of one element type."""

    items: Shape


@dataclass(frozen=True, slots=True)
class TupleOf(_Shape):
    """An array with one type for each place."""

    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class MapOf(_Shape):
    """An object with free keys; `keys` narrows their names."""

    values: Shape
    keys: Shape | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record, there for whom every guard holds."""

    name: str
    shape: Shape
    required: bool
    guards: tuple[Predicate, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Fields in whose presence this one is required."""


@dataclass(frozen=True, slots=True)
class Record(_Shape):
    """An object with named fields. A closed one takes no other keys."""

    fields: tuple[Field, ...]
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a union, there for whom every guard holds."""

    shape: Shape
    guards: tuple[Predicate, ...] = ()


@dataclass(frozen=True, slots=True)
class Union(_Shape):
    """One of several types."""

    members: tuple[Member, ...]
    nullable: bool = False
    """Whether `@nullable()` stands on it, so that its null stays under `nullable_inputs="opt-in"`."""


@dataclass(frozen=True, slots=True)
class Ref(_Shape):
    """The use of a name. It has notes of its own, but never keywords: those make another definition."""

    key: str


Shape: TypeAlias = Anything | Scalar | Words | ListOf | TupleOf | MapOf | Record | Union | Ref
Definitions: TypeAlias = Mapping[str, Shape]

NULL: Final = Scalar("null")


@dataclass(frozen=True, slots=True)
class Tree:
    """A shape and the definitions that it refers to."""

    root: Shape
    definitions: Definitions
    still: Still | None = field(default=None, compare=False, repr=False)
    """What is known of its parts that are the same for all callers; nothing has to be."""

    def behind(self, shape: Shape) -> Shape:
        """The shape behind a name, as its definition has it."""
        seen: set[str] = set()
        while isinstance(shape, Ref) and shape.key not in seen:
            seen.add(shape.key)
            shape = self.definitions[shape.key]
        return shape

    def members(self, shape: Shape) -> list[Shape]:
        """What a shape is the union of, each member once; the shape itself where it is no union.

        Unions among the members are written out. Other names stay names: they may lead back here.
        """
        found: dict[Shape, None] = {}
        entered: set[int] = set()
        waiting = [shape]
        while waiting:
            each = waiting.pop()
            target = self.behind(each)
            if not isinstance(target, Union):
                found[each] = None
            elif id(target) not in entered:
                entered.add(id(target))
                waiting += [member.shape for member in reversed(target.members)]
        return list(found)

    def resolve(self, shape: Shape) -> Shape:
        """The same, with the notes of every name on the way over it."""
        notes = NO_NOTES
        seen: set[str] = set()
        while isinstance(shape, Ref) and shape.key not in seen:
            seen.add(shape.key)
            notes = notes.over(shape.notes)
            shape = self.definitions[shape.key]
        return shape if notes is NO_NOTES else replace(shape, notes=notes.over(shape.notes))


def is_null(shape: Shape) -> bool:
    """Whether the shape is `nil`."""
    return isinstance(shape, Scalar) and shape.type == "null"


def parts(shape: Shape) -> Sequence[tuple[Shape, tuple[Predicate, ...]]]:
    """The shapes directly inside a shape, with the guards that stand before each. A `Ref` has none."""
    match shape:
        case Scalar() | Words() | Ref() | Anything():
            return ()
        case Record(fields=fields):
            return [(each.shape, each.guards) for each in fields]
        case Union(members=members):
            return [(member.shape, member.guards) for member in members]
        case ListOf(items=items):
            return ((items, ()),)
        case TupleOf(items=places):
            return [(place, ()) for place in places]
        case MapOf(values=values, keys=keys):
            return ((values, ()),) if keys is None else ((values, ()), (keys, ()))


def reachable(root: Shape, definitions: Definitions) -> Iterable[tuple[Shape, tuple[Predicate, ...]]]:
    """Every shape that `root` is made of, itself first, each definition once, with the guards right before it."""
    seen: set[str] = set()
    waiting: list[tuple[Shape, tuple[Predicate, ...]]] = [(root, ())]
    while waiting:
        shape, guards = waiting.pop()
        yield shape, guards
        if isinstance(shape, Ref):
            if shape.key not in seen:
                seen.add(shape.key)
                waiting.append((definitions[shape.key], ()))
        else:
            waiting.extend(reversed(parts(shape)))


def predicates_of(root: Shape, definitions: Definitions) -> tuple[Predicate, ...]:
    """Every predicate in a tree, each once, in the order of the text."""
    return tuple(dict.fromkeys(p for _, guards in reachable(root, definitions) for p in guards))


def reachable_once(root: Shape) -> Iterable[tuple[Shape, tuple[Predicate, ...]]]:
    """Every shape that `root` is made of, without following names."""
    waiting: list[tuple[Shape, tuple[Predicate, ...]]] = [(root, ())]
    while waiting:
        shape, guards = waiting.pop()
        yield shape, guards
        waiting.extend(reversed(parts(shape)))
