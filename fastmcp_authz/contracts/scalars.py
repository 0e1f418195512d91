"""What two scalar types have in common, as far as one type can say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

from .narrowing import Unnarrowed, narrowed
from .shapes import Keywords, Member, Scalar, Shape, Union, Words, is_null

_MOST: Final = 4_096
"""How many pairs of members are compared."""
_NUMBERS: Final = frozenset({"integer", "number"})


class Unlike(Exception):
    """Two types have nothing in common, or nothing that can be written as one type."""


def joined_scalars(a: Shape, b: Shape, look: Callable[[Shape], Shape | None]) -> Shape:
    """The values that are both `a` and `b`: of scalars, constants and unions of those.

    A member is there where the guards of both sides hold.

    Raises:
        Unlike: There are none, or a side is made of something else.
    """
    a, b = _known(a, look), _known(b, look)
    mine, theirs = list(_members(a, look)), list(_members(b, look))
    if len(mine) * len(theirs) > _MOST:
        raise Unlike
    common: dict[Member, None] = {}
    for x in mine:
        for y in theirs:
            shape = _both(x.shape, y.shape)
            if shape is not None:
                common[Member(shape, tuple(dict.fromkeys(x.guards + y.guards)))] = None
    if all(is_null(member.shape) for member in common):
        raise Unlike  # also of null alone: nobody declares that, and where null has to be asked for it is nothing
    members = tuple(common)
    shape = members[0].shape
    if len(members) > 1 or members[0].guards:
        shape = Union(members, nullable=_keeps_null(a) and _keeps_null(b))
    return replace(shape, notes=b.notes.over(a.notes))


def _known(shape: Shape, look: Callable[[Shape], Shape | None]) -> Shape:
    known = look(shape)
    if known is None:
        raise Unlike
    return known


def _members(shape: Shape, look: Callable[[Shape], Shape | None]) -> Iterable[Member]:
    """The members of a union, those of unions in it too; any other shape is its own only member."""
    waiting = [Member(shape)]
    count = 0
    while waiting:
        member = waiting.pop()
        inner = _known(member.shape, look)
        count += 1
        if isinstance(inner, Union) and count <= _MOST:
            waiting.extend(Member(m.shape, member.guards + m.guards) for m in reversed(inner.members))
        elif isinstance(inner, Scalar | Words):
            yield Member(inner, member.guards)
        else:
            raise Unlike


def _both(a: Shape, b: Shape) -> Shape | None:
    match a, b:
        case Words(), Words():
            if a.type != b.type or a.values != b.values:
                return None
        case (Words() as words, Scalar() as scalar) | (Scalar() as scalar, Words() as words):
            same = words.type == scalar.type or {words.type, scalar.type} == _NUMBERS
            return words if same and _takes(scalar.keywords, words.values[0]) else None
        case Scalar(), Scalar():
            if {a.type, b.type} == _NUMBERS:
                a = a if a.type == "integer" else replace(a, type="integer")
            elif a.type != b.type:
                return None
    return replace(a, keywords=_joined_keywords(a.keywords, b.keywords), notes=b.notes.over(a.notes))


def _joined_keywords(mine: Keywords, theirs: Keywords) -> Keywords:
    for keyword, value in theirs:
        try:
            mine = narrowed(mine, keyword, value)
        except Unnarrowed:
            raise Unlike from None
    return mine


def _takes(keywords: Keywords, value: Any) -> bool:
    return not keywords or _validator(keywords).is_valid(value)


@lru_cache(maxsize=64)
def _validator(keywords: Keywords) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(dict(keywords), validate_formats=True)


def _keeps_null(shape: Shape) -> bool:
    return not isinstance(shape, Union) or shape.nullable
