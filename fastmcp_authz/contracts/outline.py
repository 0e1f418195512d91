"""A guarded tree laid out for people: each field and each member of a union, where it is, and what guards it.

For tools that show a contract, never for serving: what a caller sees of it is asked of `reveal`, as everywhere.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from ..callers.predicates import Decisions, Predicate
from .reveal import Revealer
from .shapes import Anything, Definitions, ListOf, MapOf, Record, Ref, Scalar, Shape, Tree, TupleOf, Union, Words

Kind: TypeAlias = Literal["field", "member", "items", "values", "keys"]

_PLAIN_NAME: Final = re.compile(r"[\w-]+")
_PLAIN_MEMBER: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^"<>])*')

_MOST_PARTS: Final = 2_000
"""From here on each name is laid out once only: types that share types may come to more than anybody reads."""


class Step(NamedTuple):
    """One step into a tree."""

    kind: Kind
    name: str = ""
    """Of a field or a member; of the items of a tuple, the place."""

    def __str__(self) -> str:
        match self.kind:
            case "field":
                return f".{_spelt(self.name)}"
            case "member":
                return f"<{self.name if _PLAIN_MEMBER.fullmatch(self.name) else _quoted(self.name)}>"
            case "items":
                return f"[{self.name}]"
            case "values":
                return "{}"
            case "keys":
                return "{key}"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A field of a record, or a member of a union."""

    steps: tuple[Step, ...]
    shape: Shape
    """As declared, guards and all; a name is a `Ref`."""
    guards: tuple[Predicate, ...] = ()
    """What stands right at it. All must hold."""
    required: bool = True
    above: Part | None = None
    """The field or member that it is in."""

    @property
    def path(self) -> str:
        """Where it is: `rows[].ssn`, `<rerouted>.reason`, `pair[0].name`; no two parts of an outline have one path.

        `{}` stands for what any key of a hash leads to, `{key}` for the key. Names with blanks or dots are quoted.
        """
        return "".join(map(str, self.steps)).removeprefix(".")

    @property
    def name(self) -> str:
        """Of the field or the member."""
        return self.steps[-1].name

    @property
    def fields(self) -> str:
        """Its path without members, lists and hashes: `rows.ssn`."""
        return ".".join(step.name for step in self.steps if step.kind == "field")

    @property
    def is_field(self) -> bool:
        """Whether it is a field, and no member of a union."""
        return self.steps[-1].kind == "field"

    @property
    def all_guards(self) -> tuple[Predicate, ...]:
        """What guards it and everything that it is in, outermost first, each once."""
        outer = () if self.above is None else self.above.all_guards
        return tuple(dict.fromkeys((*outer, *self.guards)))

    def is_called(self, name: str) -> bool:
        """Whether somebody who writes `name` means this: its path, or that without members, lists and hashes."""
        return name in (self.path, self.fields if self.is_field else self.name)


def by_last_name(parts: Iterable[Part], name: str) -> Mapping[str, Sequence[Part]]:
    """The fields whose last name is `name`, by their paths without members, lists and hashes."""
    found: dict[str, list[Part]] = {}
    for part in parts:
        if part.is_field and part.name == name:
            found.setdefault(part.fields, []).append(part)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The parts of one tree, in the order of the text, each after the one that it is in."""

    tree: Tree
    parts: tuple[Part, ...]
    _ways: tuple[_Way, ...]

    def unions(self) -> Sequence[Sequence[Part]]:
        """The members of each union, in the order of the text; a union that stands in two places of a tuple once."""
        found: dict[tuple[int, tuple[Step, ...]], dict[str, Part]] = {}
        for part, way in zip(self.parts, self._ways, strict=True):
            if way.union is not None:
                found.setdefault((id(way.union), part.steps[:-1]), {}).setdefault(part.name, part)
        return [tuple(members.values()) for members in found.values()]

    def shown(self, decisions: Decisions, *, keep_null: bool = True) -> frozenset[Part]:
        """The parts that callers with these decisions see. `keep_null` is that of `reveal`."""
        revealer = Revealer(self.tree, decisions, keep_null)
        if revealer.see(self.tree.root) is None:
            return frozenset()
        shown: set[Part] = set()
        for part, way in zip(self.parts, self._ways, strict=True):
            if (part.above is None or part.above in shown) and way.is_open(revealer, part):
                shown.add(part)
        return frozenset(shown)


class _Way(NamedTuple):
    """What lies between a part and the one that it is in."""

    union: Union | None
    """The union that it is a member of."""
    between: tuple[Shape, ...]
    """Lists, hashes and names on the way."""

    def is_open(self, revealer: Revealer, part: Part) -> bool:
        if not revealer.holds(part.guards) or revealer.see(part.shape) is None:
            return False
        if self.union is not None and not revealer.keeps_null(part.shape, self.union):
            return False
        return all(revealer.see(each) is not None for each in self.between)


def outline(tree: Tree) -> Outline:
    """A tree, laid out."""
    found = _Walk(tree.definitions)
    found.inside(tree.root, (), None, (), frozenset())
    return Outline(tree, tuple(found.parts), tuple(found.ways))


class _Walk:
    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._laid_out: set[str] = set()
        self.parts: list[Part] = []
        self.ways: list[_Way] = []

    def inside(
        self,
        shape: Shape,
        steps: tuple[Step, ...],
        above: Part | None,
        between: tuple[Shape, ...],
        within: frozenset[str],
    ) -> None:
        match shape:
            case Ref(key=key):
                if key in within or (len(self.parts) > _MOST_PARTS and key in self._laid_out):
                    return
                self._laid_out.add(key)
                self.inside(self._definitions[key], steps, above, (*between, shape), within | {key})
            case Record(fields=fields):
                for each in fields:
                    part = Part((*steps, Step("field", each.name)), each.shape, each.guards, each.required, above)
                    self._add(part, _Way(None, between))
                    self.inside(each.shape, part.steps, part, (), within)
            case Union(members=members):
                for member, name in zip(members, _names(shape), strict=True):
                    part = Part((*steps, Step("member", name)), member.shape, member.guards, True, above)
                    self._add(part, _Way(shape, between))
                    self.inside(member.shape, part.steps, part, (), within)
            case ListOf(items=items):
                self.inside(items, (*steps, Step("items")), above, (*between, shape), within)
            case TupleOf(items=places):
                for number, place in enumerate(places):
                    self.inside(place, (*steps, Step("items", str(number))), above, (*between, shape), within)
            case MapOf(values=values, keys=keys):
                self.inside(values, (*steps, Step("values")), above, (*between, shape), within)
                if keys is not None:
                    self.inside(keys, (*steps, Step("keys")), above, (*between, shape), within)
            case _:
                pass

    def _add(self, part: Part, way: _Way) -> None:
        self.parts.append(part)
        self.ways.append(way)


def _spelt(name: str) -> str:
    """The name of a field, so that what follows it cannot be taken for a part of it."""
    return name if _PLAIN_NAME.fullmatch(name) else _quoted(name)


def _quoted(text: str | int | bool) -> str:
    return json.dumps(text, ensure_ascii=False)


def _names(union: Union) -> Iterator[str]:
    """What to call the members of a union, no two alike."""
    counted: Counter[str] = Counter()
    for member in union.members:
        name = type_name(member.shape)
        counted[name] += 1
        yield name if counted[name] == 1 else f"{name} {counted[name]}"


def type_name(shape: Shape) -> str:
    """A type in a word or two: its alias, its constant, its JSON type."""
    match shape:
        case Ref(key=key):
            return key.split(" @")[0]
        case Words(values=values):
            return " | ".join(_quoted(value) for value in values)
        case Scalar(type=name):
            return "nil" if name == "null" else name
        case Anything():
            return "untyped"
        case ListOf(items=items):
            return f"Array[{type_name(items)}]"
        case TupleOf():
            return "tuple"
        case MapOf(values=values):
            return f"Hash[{type_name(values)}]"
        case Record(fields=fields):
            return "{" + ", ".join(_spelt(each.name) for each in fields) + "}"
        case Union(members=members):
            return " | ".join(type_name(member.shape) for member in members)
