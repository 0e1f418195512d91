"""`A & B`: records joined to one, guards and all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final, TypeAlias

from .scalars import Unlike, joined_scalars
from .shapes import NO_NOTES, Anything, Field, MapOf, Member, Record, Shape, Union

Look: TypeAlias = Callable[[Shape], Shape | None]
"""Looks through names; `None` where a name is still being built."""

MOST: Final = 64
"""How many records the unions in one `&` may multiply out to: a dozen small unions would make thousands."""
_TOO_MANY: Final = (
    f"this `&` multiplies out to more than {MOST} records: join fewer unions, or give each a field of its own in one "
    "record, `{ kind: a | b, size: c | d }`"
)


class Unjoinable(Exception):
    """Types cannot all hold of one value, or not in a way that can be written as one record. `str()` says why."""


def written_out(shape: Shape, look: Look) -> Shape:
    """A side of `&` with its names looked through, also those of the members of a union.

    Raises:
        Unjoinable: A name leads back to itself, or there are too many members.
    """
    left = MOST

    def written(shape: Shape, within: frozenset[int]) -> Shape:
        nonlocal left
        behind = look(shape)
        if behind is None or id(behind) in within:
            raise Unjoinable("a side of this `&` is joined to itself and never reaches a value")
        if isinstance(behind, Union):
            within |= {id(behind)}
            return replace(behind, members=tuple([Member(written(m.shape, within), m.guards) for m in behind.members]))
        left -= 1
        if left < 0:
            raise Unjoinable(_TOO_MANY)
        return behind

    return written(shape, frozenset())


def joined(sides: Sequence[Shape], look: Look) -> Shape:
    """The values that are all of `sides`, which must have been `written_out` before.

    A field that several sides have is seen only where the guards of all hold.

    Raises:
        Unjoinable: The sides contradict one another, are no records, or multiply out to too many.
    """
    if math.prod(map(_alternatives, sides)) > MOST:
        raise Unjoinable(_TOO_MANY)
    return _multiplied(sides, (), look)


def _alternatives(shape: Shape) -> int:
    return sum(_alternatives(m.shape) for m in shape.members) if isinstance(shape, Union) else 1


def _multiplied(sides: Sequence[Shape], before: Sequence[Shape], look: Look) -> Shape:
    chosen = list(before)
    for i, side in enumerate(sides):
        if isinstance(side, Union):
            members = [Member(_multiplied((m.shape, *sides[i + 1 :]), chosen, look), m.guards) for m in side.members]
            return replace(side, members=tuple(members))
        chosen.append(side)
    return _one(chosen, look)


def _one(sides: Sequence[Shape], look: Look) -> Record:
    records = [side for side in sides if isinstance(side, Record)]
    hashes = [side for side in sides if _is_open_hash(side)]
    if not records or len(records) + len(hashes) < len(sides):
        raise Unjoinable("`&` joins records, and aliases of records, only")
    for side in hashes:
        if side.keywords:
            raise Unjoinable(
                "`&` with an open `Hash` gives the record alone, and a record has no `@min` or `@max`: mark its fields "
                "with `?` as they may be left out, and leave the tag out"
            )
    return records[0] if len(records) == 1 else _joined_records(records, look)


def _is_open_hash(shape: Shape) -> bool:
    return isinstance(shape, MapOf) and isinstance(shape.values, Anything) and shape.keys is None


def _joined_records(records: Sequence[Record], look: Look) -> Record:
    fields: dict[str, Field] = {}
    for record in records:
        for each in record.fields:
            fields[each.name] = _joined_fields(fields[each.name], each, look) if each.name in fields else each
    notes = [record.notes for record in records]
    return Record(
        tuple(fields.values()),
        closed=any(record.closed for record in records),
        notes=NO_NOTES if NO_NOTES in notes else reduce(lambda under, over: over.over(under), notes),
    )


def _joined_fields(a: Field, b: Field, look: Look) -> Field:
    try:
        shape = _joined_values(a.shape, b.shape, look)
    except Unlike:
        raise Unjoinable(f"both sides of `&` have a field `{a.name}`, of types that do not go together") from None
    return Field(
        a.name,
        shape,
        required=a.required or b.required,
        guards=tuple(dict.fromkeys(a.guards + b.guards)),
        depends_on=tuple(dict.fromkeys(a.depends_on + b.depends_on)),
    )


def _joined_values(a: Shape, b: Shape, look: Look) -> Shape:
    if a == b or isinstance(b, Anything):
        return a
    if isinstance(a, Anything):
        return b
    if isinstance(a, Record) and isinstance(b, Record):
        return _joined_records((a, b), look)
    return joined_scalars(a, b, look)
