"""`A & B`: two records joined to one, guards and all."""

from __future__ import annotations

from dataclasses import replace

from ..callers.predicates import Predicate
from .shapes import NO_NOTES, Anything, Field, MapOf, Member, Record, Scalar, Shape, Union, Words


class Unjoinable(Exception):
    """Two types cannot both hold of one value, or not in a way that can be written as one record."""


def joined(a: Shape, b: Shape) -> Shape:
    """The values that are both `a` and `b`; names must have been looked through before.

    A field that both sides have is seen only where the guards of both hold.

    Raises:
        Unjoinable: The sides contradict each other, or are no records.
    """
    if isinstance(a, Union):
        return _distributed(a, [(joined(m.shape, b), m.guards) for m in a.members])
    if isinstance(b, Union):
        return _distributed(b, [(joined(a, m.shape), m.guards) for m in b.members])
    if isinstance(a, Record) and isinstance(b, Record):
        return _joined_records(a, b)
    if isinstance(a, Record) and _is_open_hash(b):
        return a
    if isinstance(b, Record) and _is_open_hash(a):
        return b
    raise Unjoinable("`&` joins records, and aliases of records, only")


def _is_open_hash(shape: Shape) -> bool:
    return isinstance(shape, MapOf) and isinstance(shape.values, Anything) and shape.keys is None


def _distributed(union: Union, members: list[tuple[Shape, tuple[Predicate, ...]]]) -> Union:
    return replace(union, members=tuple(Member(shape, guards) for shape, guards in members))


def _joined_records(a: Record, b: Record) -> Record:
    theirs = {f.name: f for f in b.fields}
    fields = [_joined_fields(f, theirs.pop(f.name)) if f.name in theirs else f for f in a.fields]
    notes = b.notes.over(a.notes) if NO_NOTES not in (a.notes, b.notes) else NO_NOTES
    return Record((*fields, *theirs.values()), closed=a.closed or b.closed, notes=notes)


def _joined_fields(a: Field, b: Field) -> Field:
    return Field(
        a.name,
        _joined_values(a.name, a.shape, b.shape),
        required=a.required or b.required,
        guards=tuple(dict.fromkeys(a.guards + b.guards)),
        depends_on=tuple(dict.fromkeys(a.depends_on + b.depends_on)),
    )


def _joined_values(name: str, a: Shape, b: Shape) -> Shape:
    if a == b or isinstance(b, Anything):
        return a
    if isinstance(a, Anything):
        return b
    if isinstance(a, Scalar) and isinstance(b, Scalar) and a.type == b.type:
        clash = dict(a.keywords).keys() & dict(b.keywords).keys()
        if not clash:
            return replace(a, keywords=a.keywords + b.keywords, notes=b.notes.over(a.notes))
    for words, other in ((a, b), (b, a)):
        if isinstance(words, Words) and isinstance(other, Scalar) and words.type == other.type and not other.keywords:
            return words
    if isinstance(a, Record) and isinstance(b, Record):
        return _joined_records(a, b)
    raise Unjoinable(f"both sides of `&` have a field `{name}`, of types that do not go together")
