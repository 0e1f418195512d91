"""Syntax to guarded shapes: names resolved, tags checked, every problem collected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Final

from ..annotations import Alias, Intersection, Literal, Name, Nilable, Span, Tag, Tagged, Tuple, Type
from ..annotations import Field as FieldSyntax
from ..annotations import Record as RecordSyntax
from ..annotations import Union as UnionSyntax
from .definitions import (
    DefinitionTable,
    deepest,
    is_nilable,
    is_overgrown,
    members_of_themselves,
    reaching_a_value,
)
from .intersections import Unjoinable, joined
from .names import BASES, GENERICS, unknown_type
from .relations import defeats, guarded, opens
from .shapes import (
    NULL,
    Anything,
    Field,
    ListOf,
    MapOf,
    Member,
    Record,
    Ref,
    Scalar,
    Shape,
    Tree,
    TupleOf,
    Union,
    Words,
)
from .tagging import Tagger
from .tags import RULES

_DEEPEST: Final = 64
"""Levels of types with all names written out: brackets nest 32 deep, and names may not make it endless."""


class Builder:
    """One docstring's shapes. `problems` grows; what comes out is only sound while it is empty."""

    def __init__(
        self,
        aliases: Mapping[str, Alias],
        *,
        unread: Collection[str] = (),
        known_predicates: frozenset[str],
        start: Span,
    ) -> None:
        self.problems: list[tuple[Span, str]] = []
        self.table = DefinitionTable()
        self.tagger = Tagger(self.table, known_predicates, self.problem)
        self._aliases = aliases
        self._unread = unread
        self._start = start
        self._unions: list[tuple[Union, Span]] = []
        self._first_uses: dict[str, Span] = {}

    def finish(self, *roots: Shape) -> None:
        """Build every definition that was referred to, and check what needed all of them."""
        self.table.finish()
        tree = Tree(NULL, self.table.shapes)
        if self.table.overfull or any(deepest(Tree(root, tree.definitions)) > _DEEPEST for root in roots):
            message = f"names refer to one another more than {_DEEPEST} levels deep, or too often: flatten these types."
            self.problem(self._start, message)
            return
        for shape, at in self.tagger.nullables:
            if not is_nilable(shape, tree) and not isinstance(tree.resolve(shape), Anything):
                self.problem(at, "`@nullable()` needs a type that can be nil: write `T?`.")
        if self.tagger.gated:
            for union, at in self._unions:
                self._check_gates(union, at, tree)
        reached, circular = reaching_a_value(self.table.shapes), members_of_themselves(self.table.shapes)
        for key, at in self._first_uses.items():
            if key not in reached:
                message = f"`{key}` contains itself and never reaches a value: make a field on the way optional."
                self.problem(at, message)
            elif key in circular:
                self.problem(at, f"`{key}` is a member of itself, which says nothing: leave that member out.")

    def _named(self, node: Name) -> Shape:
        alias = self._aliases.get(node.name)
        if alias is not None:
            return self._alias(node, alias)
        if node.name in BASES and not node.arguments:
            return BASES[node.name]
        if node.name in GENERICS:
            return self._generic(node)
        if node.name in BASES:
            return self.problem(node.at, f"`{node.name}` takes no type arguments.")
        if node.name in self._unread:
            return Anything()  # its block has a problem of its own
        return self.problem(node.at, unknown_type(node.name, self._aliases))

    def _generic(self, node: Name) -> Shape:
        if len(node.arguments) not in GENERICS[node.name]:
            sample = {"Array": "Array[String]", "Set": "Set[String]", "Hash": "Hash[String, Integer]"}[node.name]
            return self.problem(node.at, f"`{node.name}` takes its types in brackets: `{sample}`.")
        inner = [self.type(each) for each in node.arguments]
        if node.name == "Hash":
            keys = self._hash_keys(node.arguments[0], inner[0]) if inner else None
            return MapOf(inner[1] if inner else Anything(), keys)
        unique = (("uniqueItems", True),) if node.name == "Set" else ()
        return ListOf(inner[0] if inner else Anything(), keywords=unique)

    def _hash_keys(self, node: Type, keys: Shape) -> Shape | None:
        """What narrows the keys of a hash: literals do, plain types do not (every JSON key is a string)."""
        behind = self.table.resolved(keys)
        members = [self.table.resolved(m.shape) for m in behind.members] if isinstance(behind, Union) else [behind]
        if all(isinstance(m, Words) and m.type == "string" for m in members):
            return keys
        if isinstance(behind, Scalar) and behind.type == "string" and behind.keywords:
            return keys
        if isinstance(behind, Anything | Scalar) and not (
            isinstance(behind, Scalar) and behind.type in ("null", "boolean")
        ):
            return None
        self.problem(node.at, "the keys of a `Hash` are `String`, `Symbol`, or a union of string literals.")
        return None

    def _alias(self, node: Name, alias: Alias) -> Shape:
        if len(node.arguments) != len(alias.parameters):
            wanted = f"[{', '.join(alias.parameters)}]" if alias.parameters else "no type arguments"
            return self.problem(node.at, f"`{alias.name}` takes {wanted}.")
        if is_overgrown(node):
            return self.problem(
                node.at, f"`{node.name}` grows with every use and never ends: use it with fixed arguments."
            )
        variables = dict(zip(alias.parameters, node.arguments, strict=True))
        key = str(node)
        self._first_uses.setdefault(key, node.at)
        return self.table.refer(key, lambda: self._alias_body(alias, variables))

    def _alias_body(self, alias: Alias, variables: Mapping[str, Type]) -> Shape:
        """In an alias a predicate gates its member, and every other tag belongs to the name (SPEC section 3)."""
        body = substituted(alias.type, variables) if variables else alias.type
        nodes = body.members if isinstance(body, UnionSyntax) else (body,)
        own: list[Tag] = []
        members: list[Member] = []
        for node in nodes:
            inner, tags = (node.type, node.tags) if isinstance(node, Tagged) else (node, ())
            own.extend(t for t in tags if t.name in RULES)
            members.append(Member(self.type(inner), self.tagger.guards(tags)))
        shape = self._union(members, body.at) if len(members) > 1 or members[0].guards else members[0].shape
        return self.tagger.with_tags(shape, own, field=False)

    # -- types --------------------------------------------------------------------------------------------------

    def type(self, node: Type) -> Shape:
        """The guarded shape of a type, tags and all."""
        match node:
            case Name():
                return self._named(node)
            case Literal(value=value):
                return Words("string" if isinstance(value, str) else "integer", (value,))
            case RecordSyntax(fields=fields):
                return self.record(fields)
            case Tuple(items=items):
                return TupleOf(tuple(self.type(each) for each in items))
            case Nilable(type=inner):
                return self._union([self._member(inner), Member(NULL)], node.at)
            case Intersection():
                return self._intersection(node)
            case Tagged():
                member = self._member(node)
                return self._union([member], node.at) if member.guards else member.shape
            case UnionSyntax(members=members):
                return self._union([self._member(each) for each in members], node.at)

    def _member(self, node: Type) -> Member:
        if isinstance(node, Tagged):
            inner = self.type(node.type)
            return Member(self.tagger.with_tags(inner, node.tags, field=False), self.tagger.guards(node.tags))
        return Member(self.type(node))

    def _union(self, members: list[Member], at: Span) -> Union:
        union = Union(tuple(members))
        if len(members) > 1:
            self._unions.append((union, at))
        return union

    def _intersection(self, node: Intersection) -> Shape:
        sides = [self._known_side(self.type(each), each) for each in node.members]
        shape = sides[0]
        for side in sides[1:]:
            try:
                shape = joined(shape, side)
            except Unjoinable as error:
                return self.problem(node.at, f"{error}.")
        return shape

    def _known_side(self, shape: Shape, node: Type) -> Shape:
        """A side of `&` with names looked through, also those of the members of a union."""
        if isinstance(shape, Ref) and self.table.get(shape.key) is None:
            return self.problem(node.at, f"`{node}` is joined to itself here and never reaches a value.")
        shape = self.table.resolved(shape)
        if isinstance(shape, Union):
            return replace(
                shape, members=tuple(Member(self._known_side(m.shape, node), m.guards) for m in shape.members)
            )
        return shape

    def record(self, fields: Iterable[FieldSyntax]) -> Record:
        """The record of some fields; of two that have one name, which the parser has reported, the first."""
        first: dict[str, FieldSyntax] = {}
        for each in fields:
            first.setdefault(each.name, each)
        return Record(tuple([self._field(each, first) for each in first.values()]))

    def _field(self, node: FieldSyntax, names: Collection[str]) -> Field:
        shape = self.tagger.with_tags(self.type(node.type), node.tags, field=True)
        parents: list[str] = []
        for tag in node.tags:
            if tag.name == "depends_on":
                parent = self.tagger.read(tag)
                if parent in names and parent != node.name:
                    parents.append(parent)
                elif parent is not None:
                    known = ", ".join(names)
                    self.problem(tag.at, f"`{tag}` names no other field of this record: {known}.")
        return Field(node.name, shape, not node.optional, self.tagger.guards(node.tags), tuple(parents))

    def _check_gates(self, union: Union, at: Span, tree: Tree) -> None:
        open_ones = [m for m in union.members if not m.guards and opens(m.shape, tree)]
        gates = [m for m in union.members if m.guards or guarded(m.shape, tree)] if open_ones else []
        pairs = ((a, b) for a in open_ones for b in gates if a is not b)
        if any(defeats(opened.shape, gated.shape, tree, gate=bool(gated.guards)) for opened, gated in pairs):
            self.problem(
                at,
                "a gate in this union cannot hold: an open member beside it (`untyped`, an open `Hash`) takes the same "
                "values. Gate the open member too, or narrow it.",
            )

    def problem(self, at: Span, message: str) -> Shape:
        self.problems.append((at, message))
        return Anything()


def substituted(node: Type, variables: Mapping[str, Type]) -> Type:
    """A type with type variables replaced by what they stand for."""
    match node:
        case Name(name=name, arguments=()) if name in variables:
            return variables[name]
        case Name(arguments=arguments):
            return replace(node, arguments=tuple(substituted(a, variables) for a in arguments))
        case RecordSyntax(fields=fields):
            return replace(node, fields=tuple(replace(f, type=substituted(f.type, variables)) for f in fields))
        case Tuple(items=items):
            return replace(node, items=tuple(substituted(i, variables) for i in items))
        case Nilable(type=inner) | Tagged(type=inner):
            return replace(node, type=substituted(inner, variables))
        case Intersection(members=members) | UnionSyntax(members=members):
            return replace(node, members=tuple(substituted(m, variables) for m in members))
        case _:
            return node
