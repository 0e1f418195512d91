"""Whether defaults and examples satisfy the type that they stand on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final

from .opening import MisfitError, Opening
from .projection import canonical, pruner
from .reveal import reveal
from .schema import compile_validator, document
from .shapes import (
    NO_NOTES,
    Definitions,
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
    predicates_of,
)
from .tagging import Site

_PLAIN: Final = {"string": str, "integer": int, "boolean": bool}


def unsatisfied(site: Site, definitions: Definitions) -> str | None:
    """What is wrong with a declared value, in words, when every guard is open; `None` if nothing is."""
    shape = replace(site.shape, notes=NO_NOTES)
    if isinstance(shape, Scalar | Words):
        if _plainly_fits(shape, site.value):
            return None
        fits = compile_validator(document(Tree(shape, {}), object_root=False).schema).is_valid
        return None if fits(site.value) else _unfit(site)
    everything = reveal(Tree(shape, definitions), frozenset(predicates_of(shape, definitions)))
    if everything is not None and satisfier(everything)(site.value):
        return None
    return _unfit(site)


def _plainly_fits(shape: Scalar | Words, value: Any) -> bool:
    """Whether a value fits at first sight. All others are for a validator, which takes long to compile."""
    if isinstance(shape, Words):
        return not shape.keywords and any(type(word) is type(value) and word == value for word in shape.values)
    if type(value) is not _PLAIN.get(shape.type):
        return False
    return all(
        (k == "minimum" and value >= bound) or (k == "maximum" and value <= bound) for k, bound in shape.keywords
    )


def _unfit(site: Site) -> str:
    return f"`{site.tag}` does not satisfy the type that it stands on: write a value that does."


def satisfier(tree: Tree) -> Callable[[Any], bool]:
    """Whether a value fits a tree without guards, and holds nothing beside what the tree shows."""
    made = cache(lambda: (compile_validator(document(tree, object_root=False).schema), pruner(tree)))

    def satisfies(value: Any) -> bool:
        validator, prune = made()
        try:
            if _is_deep(value):
                return False
            # An answer of `default_for` may be anything: no JSON, or so deep that the validator would die of it.
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
            return validator.is_valid(value) and canonical(prune(value, Opening())) == canonical(value)
        except (MisfitError, ValueError, TypeError, RecursionError):
            return False

    return satisfies


def _is_deep(value: Any, left: int = 64) -> bool:
    """Whether a value nests deeper than anybody writes down, and than every JSON writer on the way would bear."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return left == 0 or any(_is_deep(each, left - 1) for each in inner)


def settled(tree: Tree) -> Tree:
    """A tree without guards, and without the defaults and examples that what is left of their types no longer fits.

    A default that only some callers' type takes would show them to be there.
    """
    definitions = tree.definitions
    return Tree(_settled(tree.root, tree), {key: _settled(shape, tree) for key, shape in definitions.items()})


def _settled(shape: Shape, tree: Tree) -> Shape:
    match shape:
        case ListOf(items=items):
            shape = replace(shape, items=_settled(items, tree))
        case TupleOf(items=places):
            shape = replace(shape, items=tuple(_settled(place, tree) for place in places))
        case MapOf(values=values, keys=keys):
            shape = replace(shape, values=_settled(values, tree), keys=None if keys is None else _settled(keys, tree))
        case Record(fields=fields):
            shape = replace(shape, fields=tuple(_settled_field(each, tree) for each in fields))
        case Union(members=members):
            shape = replace(shape, members=tuple(Member(_settled(m.shape, tree)) for m in members))
    notes = shape.notes
    if not notes.default and not notes.examples:
        return shape
    fits = satisfier(Tree(replace(shape, notes=NO_NOTES), tree.definitions))
    default, examples = tuple(filter(fits, notes.default)), tuple(filter(fits, notes.examples))
    lost = {"default": notes.default and not default, "examples": notes.examples and not examples}
    unsaid = notes.unsaid | {name for name, is_lost in lost.items() if is_lost}
    return replace(shape, notes=replace(notes, default=default, examples=examples, unsaid=unsaid))


def _settled_field(each: Field, tree: Tree) -> Field:
    return replace(each, shape=_settled(each.shape, tree))
