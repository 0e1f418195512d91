"""What a caller sees of a tree, as a function that prunes a value to it.

Built once per view: closures over closures, decided by type before any value comes. A value is only cut, never
judged: whether what is left fits the schema is the validator's question. Only at a union, where the members must be
told apart, is a candidate judged on the way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .schema import compile_validator, document
from .shapes import Anything, ListOf, MapOf, Record, Ref, Scalar, Shape, Tree, TupleOf, Union, Words

Prune = Callable[[Any], Any]


class MisfitError(Exception):
    """A value is not even of the outline that the tree has, so that nothing of it may be shown."""


def pruner(tree: Tree, *, judge_leaves: bool = False) -> Prune:
    """The function that prunes a JSON value to a tree without guards.

    It returns a new value wherever it cut, never changes the one it was given, and raises `MisfitError` where a value
    has not the outline of the tree. With `judge_leaves` that is also so for a container in the place of a scalar, and
    for whatever does not fit where a guard took something away: enough to send mistyped values and yet nothing hidden.
    """
    return _Compiler(tree, judge_leaves).compiled(tree.root) or _unchanged


def leaves(value: Any) -> int:
    """How many ends a JSON value has; an empty container is one."""
    if isinstance(value, dict):
        return sum(map(leaves, value.values())) or 1
    if isinstance(value, list):
        return sum(map(leaves, value)) or 1
    return 1


def canonical(value: Any) -> str:
    """The one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _unchanged(value: Any) -> Any:
    return value


_MISSING: Final = object()


@dataclass(slots=True)
class _Candidate:
    """A member of a union, as something to try."""

    json_type: type | None
    """`dict`, `list`, or `None` for what has no parts."""
    prune: Prune
    fits: Callable[[Any], bool]


class _Compiler:
    def __init__(self, tree: Tree, judge_leaves: bool) -> None:
        self._tree = tree
        self._judge = judge_leaves
        self._named: dict[str, Prune | None] = {}
        self._under_way: set[str] = set()

    def compiled(self, shape: Shape) -> Prune | None:
        """The pruning function of a shape, or `None` where every value stays as it is."""
        match shape:
            case Ref(key=key):
                return self._reference(key)
            case Anything():
                return None
            case ListOf(items=items):
                return self._list(self.compiled(items))
            case TupleOf(items=places):
                return self._tuple([self.compiled(place) for place in places])
            case MapOf():
                return self._map(shape)
            case Record():
                return self._record(shape)
            case Union(members=members):
                return self._union([self._tree.resolve(m.shape) for m in members], shape)
            case Scalar() | Words():
                return self._leaf(shape)

    def _reference(self, key: str) -> Prune | None:
        if key in self._under_way:
            named = self._named

            def later(value: Any) -> Any:
                prune = named[key]
                return value if prune is None else prune(value)

            return later
        if key not in self._named:
            self._under_way.add(key)
            self._named[key] = self.compiled(self._tree.definitions[key])
            self._under_way.discard(key)
        return self._named[key]

    def _leaf(self, shape: Scalar | Words) -> Prune | None:
        if not self._judge:
            return None
        fits = self._fits(shape) if isinstance(shape, Words) or shape.narrowed else _has_no_parts

        def leaf(value: Any) -> Any:
            if not fits(value):
                raise MisfitError
            return value

        return leaf

    def _list(self, element: Prune | None) -> Prune | None:
        if element is None:
            return None

        def prune(value: Any) -> Any:
            if not isinstance(value, list):
                raise MisfitError
            return [element(each) for each in value]

        return prune

    def _tuple(self, places: list[Prune | None]) -> Prune:
        kept = [place or _unchanged for place in places]

        def prune(value: Any) -> Any:
            if not isinstance(value, list) or len(value) != len(kept):
                raise MisfitError
            return [place(each) for place, each in zip(kept, value, strict=True)]

        return prune

    def _map(self, shape: MapOf) -> Prune | None:
        values = self.compiled(shape.values) or _unchanged
        if values is _unchanged and shape.keys is None:
            return None if not self._judge else _object
        allowed = None if shape.keys is None else self._fits(shape.keys)

        def prune(value: Any) -> Any:
            if not isinstance(value, dict):
                raise MisfitError
            return {key: values(each) for key, each in value.items() if allowed is None or allowed(key)}

        return prune

    def _record(self, shape: Record) -> Prune:
        inner = {f.name: self.compiled(f.shape) for f in shape.fields}
        names = tuple(inner)
        deeper = tuple((name, prune) for name, prune in inner.items() if prune is not None)

        def flat(value: Any) -> Any:
            if not isinstance(value, dict):
                raise MisfitError
            return {name: value[name] for name in names if name in value}

        if not deeper:
            return flat

        def nested(value: Any) -> Any:
            kept = flat(value)
            for name, prune in deeper:
                part = kept.get(name, _MISSING)
                if part is not _MISSING:
                    kept[name] = prune(part)
            return kept

        return nested

    # -- unions -------------------------------------------------------------------------------------------------

    def _union(self, members: list[Shape], union: Union) -> Prune | None:
        flat = self._flat(members)
        by_type = {kind: [m for m in flat if _container(m) is kind] for kind in (dict, list)}
        objects = self._chooser(by_type[dict])
        lists = self._chooser(by_type[list])
        if any(isinstance(m, Anything) for m in flat):
            return self._open_union(flat)
        scalars = [m for m in flat if _container(m) is None]
        leaf = self._fits_any(scalars) if self._judge and (union.narrowed or scalars) else None

        def prune(value: Any) -> Any:
            if isinstance(value, dict):
                return objects(value)
            if isinstance(value, list):
                return lists(value)
            if leaf is not None and not leaf(value):
                raise MisfitError
            return value

        return prune

    def _open_union(self, members: list[Shape]) -> Prune:
        """A union with `untyped` in it keeps everything: no guard is inside, or the contract would be refused."""
        return _unchanged

    def _flat(self, members: list[Shape]) -> list[Shape]:
        flat: list[Shape] = []
        seen: list[Shape] = []
        waiting = list(reversed(members))
        while waiting:
            shape = self._tree.resolve(waiting.pop())
            if isinstance(shape, Union):
                if shape not in seen:
                    seen.append(shape)
                    waiting.extend(reversed([m.shape for m in shape.members]))
            elif shape not in flat:
                flat.append(shape)
        return flat

    def _chooser(self, members: list[Shape]) -> Prune:
        """The function that takes the member that a container satisfies and that keeps most of it."""
        if not members:
            return _misfit
        if len(members) == 1:
            return self.compiled(members[0]) or _unchanged
        pinned = self._pinned(members)
        if pinned is not None:
            return self._dispatch(*pinned)
        candidates = [(self.compiled(m) or _unchanged, self._fits(m)) for m in members]

        def choose(value: Any) -> Any:
            best: tuple[int, str] | None = None
            chosen: Any = None
            for prune, fits in candidates:
                try:
                    kept = prune(value)
                except MisfitError:
                    continue
                if fits(kept):
                    rank = (-leaves(kept), canonical(kept))
                    if best is None or rank < best:
                        best, chosen = rank, kept
            if best is None:
                raise MisfitError
            return chosen

        return choose

    def _pinned(self, members: list[Shape]) -> tuple[str, dict[tuple[bool, Any], Prune]] | None:
        """A required property that every member pins to constants of its own, with the member for each constant."""
        records = [m for m in members if isinstance(m, Record)]
        if len(records) < len(members):
            return None
        for first in records[0].fields:
            pins = [self._constants(record, first.name) for record in records]
            owners = {pin: record for record, constants in zip(records, pins, strict=True) for pin in constants}
            if all(pins) and len(owners) == sum(map(len, pins)):
                prunes = [self.compiled(record) or _unchanged for record in records]
                table = {pin: prune for prune, constants in zip(prunes, pins, strict=True) for pin in constants}
                return first.name, table
        return None

    def _constants(self, record: Record, name: str) -> list[tuple[bool, Any]]:
        """What a record pins a required property to; booleans are marked, since `True == 1` in Python."""
        for each in record.fields:
            shape = self._tree.resolve(each.shape)
            if each.name == name and each.required and isinstance(shape, Words):
                return [(isinstance(value, bool), value) for value in shape.values]
        return []

    def _dispatch(self, name: str, table: Mapping[tuple[bool, Any], Prune]) -> Prune:
        def dispatch(value: Any) -> Any:
            word = value.get(name)
            try:
                prune = table.get((isinstance(word, bool), word))
            except TypeError:
                prune = None
            if prune is None:
                raise MisfitError
            return prune(value)

        return dispatch

    def _fits(self, shape: Shape) -> Callable[[Any], bool]:
        return compile_validator(document(Tree(shape, self._tree.definitions), object_root=False).schema).is_valid

    def _fits_any(self, shapes: list[Shape]) -> Callable[[Any], bool]:
        checks = [self._fits(shape) for shape in shapes]
        return lambda value: any(fits(value) for fits in checks)


def _container(shape: Shape) -> type | None:
    match shape:
        case Record() | MapOf():
            return dict
        case ListOf() | TupleOf():
            return list
        case _:
            return None


def _misfit(value: Any) -> Any:
    raise MisfitError


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise MisfitError
    return value


def _has_no_parts(value: Any) -> bool:
    return not isinstance(value, dict | list)
