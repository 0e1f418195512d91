"""What a caller sees of a tree, as a function that prunes a value to it.

Built once per view: closures over closures, decided by type before any value comes. A value is only cut, never
judged: whether what is left fits the schema is the validator's question. Only at a union, where the members must be
told apart, is a candidate judged on the way. Parts of a value are opened when a closure comes to them (`opening`), so
that what is hidden is never looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from .opening import PLAIN, MisfitError, Opening, json_key, json_leaf, jsonable, keyed
from .schema import compile_validator, document
from .shapes import Anything, ListOf, MapOf, Record, Ref, Scalar, Shape, Tree, TupleOf, Union, Words

Prune = Callable[[Any, Opening], Any]


def pruner(tree: Tree, *, judge_leaves: bool = False, judge_whole: bool = False) -> Prune:
    """The function that prunes a value to a tree without guards. Parts that it left whole may not be JSON yet.

    It returns a new value wherever it cut, never changes the one it was given, and raises `MisfitError` where a value
    has not the outline of the tree. With `judge_leaves` that is also so for a container in the place of a scalar, and
    for whatever does not fit where a guard took something away: enough to send mistyped values and yet nothing hidden.
    With `judge_whole` a member of a union has to be satisfied by the value as it came, undeclared keys and all, not by
    what is left of it: so arguments are read, since a closed record refuses those keys.
    """
    return _Compiler(tree, judge_leaves, judge_whole).compiled(tree.root)


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


_MISFIT: Final = object()
_TEXT: Final = frozenset({str})


class _Compiler:
    def __init__(self, tree: Tree, judge_leaves: bool, judge_whole: bool) -> None:
        self._tree = tree
        self._judge = judge_leaves
        self._judge_whole = judge_whole
        self._done: dict[int, Prune] = {}  # by identity: the tree holds every shape that is compiled
        self._under_way: set[int] = set()

    def compiled(self, shape: Shape) -> Prune:
        """The pruning function of a shape."""
        prune = self._compiled(shape)
        return self._strictly(shape, prune) if self._judge and shape.narrowed else prune

    def _strictly(self, shape: Shape, prune: Prune) -> Prune:
        """For where guards took members away: a value that does not fit what is left may be one of theirs."""
        fits = self._fits(shape)

        def strict(value: Any, opening: Opening) -> Any:
            kept = jsonable(prune(value, opening))
            if not fits(kept):
                raise MisfitError
            return kept

        return strict

    def _compiled(self, shape: Shape) -> Prune:
        match shape:
            case Ref(key=key):
                return self.compiled(self._tree.definitions[key])
            case Anything():
                return _whole
            case Scalar() | Words():
                return self._leaf(shape)
            case _:
                return self._once(shape)

    def _once(self, shape: Shape) -> Prune:
        """A shape with parts, compiled once. One that lies within itself, by whatever way, is found again later."""
        place = id(shape)
        if place in self._under_way:
            return self._later(place)
        if place not in self._done:
            self._under_way.add(place)
            self._done[place] = self._made(shape)
            self._under_way.discard(place)
        return self._done[place]

    def _made(self, shape: Shape) -> Prune:
        match shape:
            case ListOf(items=items):
                return self._list(self.compiled(items))
            case TupleOf(items=places):
                return self._tuple([self.compiled(place) for place in places])
            case MapOf():
                return self._map(shape)
            case Record():
                return self._record(shape)
            case Union():
                return self._union(self._tree.members(shape))
            case _:
                return _whole

    def _later(self, place: int) -> Prune:
        done = self._done

        def later(value: Any, opening: Opening) -> Any:
            entered = opening.enter(str(place), value)
            try:
                return done[place](value, opening)
            finally:
                opening.leave(entered)

        return later

    def _leaf(self, shape: Scalar | Words) -> Prune:
        if not self._judge:
            return _leaf
        fits = self._fits(shape) if isinstance(shape, Words) else None

        def leaf(value: Any, opening: Opening) -> Any:
            if opening.container(value) is not None or (fits is not None and not fits(jsonable(value))):
                raise MisfitError
            return value

        return leaf

    def _list(self, element: Prune) -> Prune:
        def prune(value: Any, opening: Opening) -> Any:
            if element in _KEEP_PLAIN and type(value) is list and _has_no_parts(value):
                return value
            if not self._judge and opening.container(value) is not list:
                return _leaf(value, opening)
            kept = [element(each, opening) for each in opening.array(value)]
            # The order of a set follows what is hidden in its elements too; what is sent does not.
            return sorted(map(jsonable, kept), key=canonical) if isinstance(value, set | frozenset) else kept

        return prune

    def _tuple(self, kept: list[Prune]) -> Prune:
        def prune(value: Any, opening: Opening) -> Any:
            found = opening.array(value)
            if len(found) != len(kept):
                raise MisfitError
            return [place(each, opening) for place, each in zip(kept, found, strict=True)]

        return prune

    def _map(self, shape: MapOf) -> Prune:
        values = self.compiled(shape.values)
        allowed = None if shape.keys is None else self._fits(shape.keys)

        def prune(value: Any, opening: Opening) -> Any:
            if values in _KEEP_PLAIN and allowed is None and type(value) is dict and _has_no_parts(value.values()):
                return value
            kept: dict[str, Any] = {}
            for each, part in opening.object(value).items():
                key = json_key(each)
                if key is None and allowed is None:
                    raise MisfitError  # every key is shown, and this one cannot be
                if key is not None and (allowed is None or allowed(key)):
                    kept[key] = values(part, opening)
            return kept

        return prune

    def _record(self, shape: Record) -> Prune:
        inner = {f.name: self.compiled(f.shape) for f in shape.fields}
        names = tuple(inner)
        # Most values have no parts: those are told at once, by their types, before any function is called.
        demanding = {name for name, prune in inner.items() if prune not in _KEEP_PLAIN}

        def prune_record(value: Any, opening: Opening) -> Any:
            found = value if type(value) is dict else opening.object(value)
            kept = {name: found[name] for name in names if name in found}
            if len(kept) < len(names) and not _TEXT.issuperset(map(type, found)):
                found = keyed(found)
                kept = {name: found[name] for name in names if name in found}
            if demanding or not _has_no_parts(kept.values()):
                for name, part in kept.items():
                    if type(part) not in PLAIN or name in demanding:
                        kept[name] = inner[name](part, opening)
            return kept

        return prune_record

    # -- unions -------------------------------------------------------------------------------------------------

    def _union(self, members: list[Shape]) -> Prune:
        behind = [self._tree.behind(m) for m in members]
        if any(isinstance(m, Anything) for m in behind):
            return _whole  # `untyped` keeps everything: no guard is inside, or the contract would be refused
        by_type = {
            kind: [m for m, target in zip(members, behind, strict=True) if _container(target) is kind]
            for kind in (dict, list, None)
        }
        objects, lists, scalars = self._chooser(by_type[dict]), self._chooser(by_type[list]), by_type[None]
        leaf = self._fits_any(scalars) if self._judge else None

        def prune(value: Any, opening: Opening) -> Any:
            container = opening.container(value)
            if container is dict:
                return objects(value, opening)
            if container is list:
                return lists(value, opening)
            if leaf is not None and not leaf(jsonable(value)):
                raise MisfitError
            return value

        return prune

    def _chooser(self, members: list[Shape]) -> Prune:
        """The function that takes the member that a container satisfies and that keeps most of it."""
        if not members:
            return _misfit if self._judge else _leaf
        if len(members) == 1:
            return self.compiled(members[0])
        pinned = self._pinned(members)
        if pinned is not None:
            return self._dispatch(*pinned)
        candidates = [(self.compiled(m), self._fits(m)) for m in members]
        return self._by_trial(candidates)

    def _by_trial(self, candidates: list[tuple[Prune, Callable[[Any], bool]]]) -> Prune:
        whole = self._judge_whole

        def tried(value: Any, opening: Opening) -> Any:
            best: tuple[int, str] | None = None
            chosen: Any = _MISFIT
            for prune, fits in candidates:
                try:
                    if whole and not fits(value):
                        continue
                    kept = jsonable(opening.on_trial(prune, value))
                    if not whole and not fits(kept):
                        continue
                except Exception:
                    continue  # a misfit, or a visible part that has no JSON form: it is not this member
                rank = (-leaves(kept), canonical(kept))
                if best is None or rank < best:
                    best, chosen = rank, kept
            return chosen

        def choose(value: Any, opening: Opening) -> Any:
            question = (id(candidates), id(value))
            if question not in opening.chosen:
                opening.chosen[question] = (value, tried(value, opening))
            chosen = opening.chosen[question][1]
            if chosen is _MISFIT:
                raise MisfitError
            return chosen

        return choose

    def _pinned(self, members: list[Shape]) -> tuple[str, dict[tuple[bool, Any], Prune]] | None:
        """A required property that every member pins to constants of its own, with the member for each constant."""
        behind = [self._tree.behind(member) for member in members]
        records = [m for m in behind if isinstance(m, Record)]
        if len(records) < len(members):
            return None
        for first in records[0].fields:
            pins = [self._constants(record, first.name) for record in records]
            owners = {pin: record for record, constants in zip(records, pins, strict=True) for pin in constants}
            if all(pins) and len(owners) == sum(map(len, pins)):
                prunes = [self.compiled(member) for member in members]
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
        def dispatch(value: Any, opening: Opening) -> Any:
            found = opening.object(value)
            pinned = found[name] if name in found else keyed(found).get(name)
            if isinstance(pinned, Iterator) or opening.container(pinned) is not None:
                raise MisfitError  # no constant, and what is in it is nobody's to look at
            word = json_leaf(pinned)
            try:
                prune = table.get((isinstance(word, bool), word))
            except TypeError:
                prune = None
            if prune is None:
                raise MisfitError
            return prune(value, opening)

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


def _misfit(value: Any, opening: Opening) -> Any:
    raise MisfitError


def _whole(value: Any, opening: Opening) -> Any:
    """All of a value is shown. In a trial it is made JSON once, since a generator in it cannot be read twice."""
    return opening.whole(value) if opening.trials else value


def _has_no_parts(values: Iterable[Any]) -> bool:
    return PLAIN.issuperset(map(type, values))


def _leaf(value: Any, opening: Opening) -> Any:
    """A container where a scalar should be is emptied: nothing that is in it was ever declared."""
    container = opening.container(value)
    return value if container is None else container()


_KEEP_PLAIN: Final = (_leaf, _whole)
"""What leaves every value without parts as it is."""
