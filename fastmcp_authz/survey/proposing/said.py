"""A type with the tags that stand behind it, as a schema says it, and what cannot be said so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from fastmcp_authz.annotations import Field, Literal, Name, Nilable, Source, Span, Tag, Tagged, Type, Union

JsonSchema: TypeAlias = dict[str, Any]

AT = Span(0, 0, Source("scaffold", ""))
"""Where a node stands that nobody has written yet."""


class Note(NamedTuple):
    """Something that the author has to know, or to decide."""

    about: str
    """The part that it is about: `order.lines[].sku`; empty where it is about the whole."""
    text: str

    def __str__(self) -> str:
        return f"`{self.about}` {self.text}" if self.about else self.text


class Said(NamedTuple):
    """A type, and its own tags."""

    type: Type
    tags: tuple[Tag, ...] = ()

    def with_tags(self, tags: Iterable[Tag]) -> Said:
        """The same with more tags; of two of one name the new one counts, but for examples, of which there are many."""
        more = tuple(tags)
        named = {tag.name for tag in more} - {"example"}
        return Said(self.type, (*(tag for tag in self.tags if tag.name not in named), *more))

    def inside(self) -> Type:
        """As it stands alone in brackets, or as the body of an alias."""
        return Tagged(self.type, self.tags, at=AT) if self.tags else self.type

    def member(self) -> Type:
        """As it stands in a union, where its tags are to stay its own."""
        return Tagged(self.type, self.tags, grouped=True, at=AT) if self.tags else self.type

    def field(self, name: str, *, optional: bool) -> Field:
        """As a field."""
        return Field(name, self.type, optional, self.tags, at=AT)


def name(text: str, *arguments: Type) -> Name:
    """A base type, or an alias."""
    return Name(text, arguments, at=AT)


def tag(name: str, value: str = "", *, quoted: bool = False) -> Tag:
    """`@name(value)`."""
    return Tag(name, value, quoted, at=AT)


def literal(value: str | int) -> Literal:
    """A constant."""
    return Literal(value, at=AT)


NIL = name("nil")
UNTYPED = Said(name("untyped"))


def either(members: Iterable[Said]) -> Said:
    """What is one of several types. Null makes a single other one nilable, and leaves that its tags."""
    flat = dict.fromkeys(each for member in members for each in _flat(member))
    null = Said(NIL)
    others = [each for each in flat if each != null]
    if not others:
        return null if null in flat else UNTYPED
    if len(others) == 1:
        (only,) = others
        return Said(Nilable(only.type, at=AT), only.tags) if null in flat else only
    kept = [*others, null] if null in flat else others
    return Said(Union(tuple(each.member() for each in kept), at=AT))


def _flat(member: Said) -> Iterable[Said]:
    """A member, or those of a union that has no tags of its own."""
    match member:
        case Said(Union(members=members), ()):
            for each in members:
                inner = Said(each.type, each.tags) if isinstance(each, Tagged) else Said(each)
                yield from _flat(inner)
        case Said(Nilable(type=inner_type), tags):
            yield Said(inner_type, tags)
            yield Said(NIL)
        case _:
            yield member
