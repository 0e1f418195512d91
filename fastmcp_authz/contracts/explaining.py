"""What is wrong with a value, found in bounded time.

A validator says what is wrong with every member of a union, so that in unions within unions the number of its answers
is multiplied at each level of the value: a caller could keep a server busy for ever with twenty nested brackets. Deep
values in such types get one line for the whole instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from jsonschema_rs import Draft202012Validator, ValidationErrorKind

from . import refusals
from .lenient import members_of
from .schema import Schema, compile_validator
from .shapes import ListOf, MapOf, Record, Ref, Shape, Tree, TupleOf, Union, parts, reachable

_MOST_ERRORS: Final = 200
"""How many things that are wrong with one value are looked at; nobody reads more."""
_MOST_TRIALS: Final = 500
"""In how many ways the unions in a type may be tried on one value."""


def alternatives(tree: Tree) -> int:
    """How many members of one union a validator may have to look into, at each level of a value.

    That is 1 where a type cannot be deep in unions, so that there is nothing to be careful of.
    """
    counts = {id(shape): _containers(shape, tree) for shape, _ in reachable(tree.root, tree.definitions)}
    recursive = any(
        counts[id(shape)] > 1 and any(inner is shape for part, _ in parts(shape) for inner in _inside(part, tree))
        for shape, _ in reachable(tree.root, tree.definitions)
    )
    if not recursive and _trials(tree.root, tree, counts, {}) <= _MOST_TRIALS:
        return 1
    return max(counts.values())


def _containers(shape: Shape, tree: Tree) -> int:
    """How many members of a union are objects, or are lists: whichever are more."""
    if not isinstance(shape, Union):
        return 1
    members = list(members_of(shape, tree))
    return max(1, *(sum(isinstance(m, kinds) for m in members) for kinds in (Record | MapOf, ListOf | TupleOf)))


def _inside(shape: Shape, tree: Tree) -> Iterable[Shape]:
    return (inner for inner, _ in reachable(shape, tree.definitions))


def _trials(shape: Shape, tree: Tree, counts: Mapping[int, int], named: dict[str, int]) -> int:
    """In how many ways the unions along one path of a type may be tried."""
    if isinstance(shape, Ref):
        if shape.key not in named:
            named[shape.key] = 1  # a type within itself, and no union on the way
            named[shape.key] = _trials(tree.definitions[shape.key], tree, counts, named)
        return named[shape.key]
    return counts[id(shape)] * max((_trials(part, tree, counts, named) for part, _ in parts(shape)), default=1)


def explained(
    validator: Draft202012Validator, schema: Schema, arguments: Mapping[str, Any], ways: int
) -> Iterable[str]:
    """What is wrong with arguments that do not fit, in words. `ways` are the `alternatives` of their type."""
    deep = {name for name, value in arguments.items() if not is_shallow(value, ways)}
    shallow = {name: value for name, value in arguments.items() if name not in deep}
    for error in islice(validator.iter_errors(shallow), _MOST_ERRORS):
        match error.kind:
            case ValidationErrorKind.Required(property=name) if name in deep and not error.instance_path:
                continue  # it was sent, and is looked at below
            case _:
                yield from refusals.describe(error, schema)
    if deep:
        loose = compile_validator({k: v for k, v in schema.items() if k not in ("required", "dependentRequired")})
        yield from (refusals.unfit(name) for name in sorted(deep) if not loose.is_valid({name: arguments[name]}))


def departures(validator: Draft202012Validator, schema: Schema, value: Any, ways: int) -> tuple[str, ...]:
    """The same of a result, for its author: paths and kinds, never a value."""
    if not is_shallow(value, ways):
        return ("the result: fits none of the declared forms",)
    errors = islice(validator.iter_errors(value), _MOST_ERRORS)
    return tuple(line for error in errors for line in refusals.departures(error, schema))


def is_shallow(value: Any, ways: int) -> bool:
    """Whether a value is so flat that a validator may say of every member of every union what is wrong with it."""
    level = [value]
    trials = 1
    while ways > 1 and level:
        level = [part for each in level for part in _parts(each)]
        trials *= ways
        if trials > _MOST_TRIALS and level:
            return False
    return True


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
