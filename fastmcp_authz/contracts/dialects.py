"""What is advertised where a reader takes less than JSON Schema; what is enforced stays whole (SPEC section 7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..settings import Dialect
from .providers import PROVIDERS
from .schema import Document, document
from .shapes import Field, ListOf, MapOf, Member, Notes, Record, Shape, Tree, TupleOf, Union
from .translating import written_for

_KEPT: Final = frozenset({"pattern", "format"})
"""Keywords that narrow a type and that strict tool-use modes take."""


def advertised(dialect: Dialect, tree: Tree, enforced: Document, *, sent: bool) -> Document:
    """What is shown of a tree without guards of which `enforced` is the whole schema.

    Args:
        dialect: For whom.
        tree: What one caller sees.
        enforced: What the check keeps, whatever is shown.
        sent: Whether it is what results are pruned to, rather than arguments checked by.
    """
    if dialect == "full":
        return enforced
    if dialect == "strict":
        return document(strict(tree), close_root=not sent, strict=True)
    return document(written_for(PROVIDERS[dialect], tree, sent=sent), strict=True)


def strict(tree: Tree) -> Tree:
    """A tree without guards, reduced to what strict tool-use modes take: records closed, no bounds, few notes."""
    return Tree(_strict(tree.root), {key: _strict(shape) for key, shape in tree.definitions.items()})


def _strict(shape: Shape) -> Shape:
    keywords = tuple((k, v) for k, v in shape.keywords if k in _KEPT or (k, v) == ("minItems", 1))
    shape = replace(shape, keywords=keywords, notes=_few(shape.notes))
    match shape:
        case ListOf(items=items):
            return replace(shape, items=_strict(items))
        case TupleOf(items=places):
            return replace(shape, items=tuple(map(_strict, places)))
        case MapOf(values=values, keys=keys):
            return replace(shape, values=_strict(values), keys=None if keys is None else _strict(keys))
        case Record(fields=fields):
            return replace(shape, closed=True, fields=tuple(map(_strict_field, fields)))
        case Union(members=members):
            return replace(shape, members=tuple(Member(_strict(m.shape)) for m in members))
        case _:
            return shape


def _strict_field(each: Field) -> Field:
    return replace(each, shape=_strict(each.shape), depends_on=())


def _few(notes: Notes) -> Notes:
    return replace(notes, keywords=tuple(k for k in notes.keywords if k[0] == "description"), examples=())
