"""Syntax to guarded shapes: names resolved, tags checked, every problem collected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ..annotations import Alias, Intersection, Literal, Name, Nilable, Span, Tag, Tagged, Tuple, Type
from ..annotations import Field as FieldSyntax
from ..annotations import Record as RecordSyntax
from ..annotations import Union as UnionSyntax
from ..errors import listed
from .definitions import DefinitionTable, is_nilable
from .gates import GateCheck
from .generics import is_overgrown, miscounted, substituted
from .intersections import Unjoinable, joined, written_out
from .names import BASES, GENERICS, unknown_type
from .problems import Message, Problems
from .shapes import (
    NULL,
    Anything,
    Field,
    ListOf,
    MapOf,
    Member,
    Record,
    Scalar,
    Shape,
    Tree,
    TupleOf,
    Union,
    Words,
)
from .tagging import Tagger
from .tags import RULES
from .wellfounded import (
    DEEPEST,
    MOST_WAYS,
    members_of_themselves,
    reached_too_often,
    reaching_a_value,
    too_deep,
)


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
        self.problems = Problems()
        self.table = DefinitionTable()
        self.tagger = Tagger(self.table, known_predicates, self.problem)
        self._aliases = aliases
        self._unread = unread
        self._start = start
        self._unions: list[tuple[Union, Span]] = []
        self._has_open = False
        """Whether any type is open: `untyped`, or a hash."""
        self._first_uses: dict[str, Span] = {}

    def finish(self, *roots: Shape) -> None:
        """Build every definition that was referred to, and check what needed all of them."""
        endless = self.table.finish()
        if endless is not None:
            self.problem(
                self._first_use(endless), "there are too many names, or uses of one with other types, from here."
            )
            return
        tree = Tree(NULL, self.table.shapes)
        for root in roots:
            deep = too_deep(Tree(root, tree.definitions))
            if deep is not None:
                self.table.overfull = True
                message = f"types nest at most {DEEPEST // 2} levels deep with names written out, and here it is more: "
                self.problem(self._first_use(deep), f"{message}flatten these types.")
                return
        for shape, at in self.tagger.nullables:
            if not is_nilable(shape, tree) and not isinstance(tree.resolve(shape), Anything):
                self.problem(at, "`@nullable()` needs a type that can be nil: write `T?`.")
        if self.tagger.gated and self._has_open:
            self._check_gates(tree)
        reached, circular = reaching_a_value(self.table.shapes), members_of_themselves(self.table.shapes)
        often = reached_too_often(self.table.shapes)
        for key, at in self._first_uses.items():
            if key not in reached:
                message = f"`{key}` contains itself and never reaches a value: make a field on the way optional."
                self.problem(at, message)
            elif key in circular:
                self.problem(at, f"`{key}` is a member of itself, which says nothing: leave that member out.")
            elif key in often:
                message = (
                    f"`{key}` comes to some member in more than {MOST_WAYS:,} ways: let fewer unions share others."
                )
                self.problem(at, message)

    def _named(self, node: Name) -> Shape:
        alias = self._aliases.get(node.name)
        if alias is not None:
            return self._alias(node, alias)
        if node.name in BASES and not node.arguments:
            shape = BASES[node.name]
            self._has_open = self._has_open or isinstance(shape, Anything)
            return shape
        if node.name in GENERICS:
            return self._generic(node)
        if node.name in BASES:
            return self.problem(node.at, f"`{node.name}` takes no type arguments.")
        if node.name in self._unread:
            return Anything()  # its block has a problem of its own
        return self.problem(node.at, lambda: unknown_type(node, self._aliases))

    def _generic(self, node: Name) -> Shape:
        if len(node.arguments) not in GENERICS[node.name]:
            return self.problem(node.at, miscounted(node.name, len(node.arguments)))
        inner = [self.type(each) for each in node.arguments]
        self._has_open = self._has_open or not inner or node.name == "Hash"
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
            wanted = f"[{listed(alias.parameters)}]" if alias.parameters else "no type arguments"
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
        """In an alias a predicate gates its member, and other tags belong to the name, unless parentheses hold them."""
        body = substituted(alias.type, variables) if variables else alias.type
        nodes = body.members if isinstance(body, UnionSyntax) else (body,)
        own: list[Tag] = []
        members: list[Member] = []
        for node in nodes:
            if not isinstance(node, Tagged) or node.grouped:
                members.append(self._member(node))
                continue
            own.extend(t for t in node.tags if t.name in RULES)
            members.append(Member(self.type(node.type), self.tagger.guards(node.tags)))
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
        known = len(self._unions)
        look = self.table.seen_through
        try:
            shape = joined([written_out(self.type(each), self.table.known) for each in node.members], look)
        except Unjoinable as error:
            return self.problem(node.at, f"{error}.")
        gone = {id(span) for each in node.members for span in _union_spans(each)}
        self._unions[known:] = [(union, at) for union, at in self._unions[known:] if id(at) not in gone]
        self._unions += [(union, node.at) for union in _unions(shape)]
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
                    self.problem(tag.at, f"`{tag}` names no other field of this record: {listed([*names])}.")
        return Field(node.name, shape, not node.optional, self.tagger.guards(node.tags), tuple(parents))

    def _check_gates(self, tree: Tree) -> None:
        check = GateCheck(tree)
        for union, at in self._unions:
            if check.fails(union):
                self.problem(
                    at,
                    "a gate in this union cannot hold: an open member beside it (`untyped`, an open `Hash`) takes the "
                    "same values. Gate the open member too, or narrow it.",
                )

    def _first_use(self, key: str) -> Span:
        while key not in self._first_uses and " @" in key:
            key = key.rpartition(" @")[0]  # a name that a tag has narrowed
        return self._first_uses.get(key, self._start)

    def problem(self, at: Span, message: Message) -> Shape:
        self.problems.note(at, message)
        return Anything()


def _union_spans(node: Type) -> Iterable[Span]:
    """Where the unions at the top of a side of `&` stand, which are no unions any more once they are joined."""
    while isinstance(node, Tagged):
        node = node.type
    if isinstance(node, UnionSyntax):
        yield node.at
        for member in node.members:
            yield from _union_spans(member)


def _unions(shape: Shape) -> Iterable[Union]:
    """A union and those that are members of it."""
    if isinstance(shape, Union):
        yield shape
        for member in shape.members:
            yield from _unions(member.shape)
