"""Tags onto shapes: what guards, what narrows, what is only said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..annotations import Span, Tag
from ..callers.predicates import Predicate
from .definitions import DefinitionTable
from .narrowing import Unnarrowed, narrowed
from .plain_values import plain_value
from .shapes import (
    NO_NOTES,
    Anything,
    ListOf,
    MapOf,
    Notes,
    Record,
    Ref,
    Scalar,
    Shape,
    TupleOf,
    Union,
    Words,
    is_null,
)
from .slips import predicate_fault
from .tags import COUNTS, RULES, Rule
from .values import read_value

Limit = tuple[Rule, Any, Span]
"""A tag that narrows, its value, and where it stands."""


class Site(NamedTuple):
    """A default or example that is to be checked once every name is known."""

    shape: Shape
    value: Any
    tag: Tag


class Tagger:
    """Puts tags on the shapes of one docstring, by the table in `tags`."""

    def __init__(
        self, table: DefinitionTable, known_predicates: frozenset[str], report: Callable[[Span, str], object]
    ) -> None:
        self.sites: list[Site] = []
        self.nullables: list[tuple[Shape, Span]] = []
        """Shapes under `@nullable()`, which must turn out to be nilable."""
        self.gated = False
        """Whether any predicate was read."""
        self._table = table
        self._known = known_predicates
        self._report = report

    def guards(self, tags: Sequence[Tag]) -> tuple[Predicate, ...]:
        if not tags:
            return ()
        guards: dict[Predicate, None] = {}
        for tag in tags:
            if tag.name in RULES:
                continue
            self.gated = True
            try:
                value = plain_value(tag) if tag.value or tag.quoted else None
            except ValueError as error:
                self._report(tag.at, str(error))
                continue
            fault = predicate_fault(tag, value, self._known)
            if fault is not None:
                self._report(tag.at, fault)
            guards[Predicate(tag.name, value)] = None
        return tuple(guards)

    def with_tags(self, shape: Shape, tags: Sequence[Tag], *, field: bool) -> Shape:
        """The shape under every tag that is no predicate."""
        if not tags:
            return shape
        limits: list[Limit] = []
        notes = NO_NOTES
        values: list[tuple[Any, Tag]] = []
        seen: set[str] = set()
        nullable: Span | None = None
        for tag in tags:
            rule = RULES.get(tag.name)
            if rule is None:
                continue
            if tag.name in seen and not rule.repeatable:
                self._report(tag.at, f"`@{tag.name}` stands twice here: keep one.")
                continue
            seen.add(tag.name)
            if rule.place == "field":
                if not field:
                    self._report(tag.at, f"`@{tag.name}` belongs to a field: write it after the field's type.")
                elif tag.name == "nullable" and self.read(tag) is not None:
                    nullable = tag.at
                continue
            if rule.place == "value":
                values += self._value(tag, shape)
                continue
            value = self.read(tag)
            if value is None:
                continue
            if rule.note is not None:
                notes = replace(notes, keywords=(*notes.keywords, (rule.note, value)))
            else:
                limits.append((rule, value, tag.at))
        for limit in limits:
            shape = self._limited(shape, limit)
        if nullable is not None:
            self.nullables.append((shape, nullable))
            shape = self._null_kept(shape)
        if values:
            self.sites.extend(Site(shape, value, tag) for value, tag in values if tag.name != "default_for")
            notes = _with_values(notes, values)
        return shape if notes == NO_NOTES else replace(shape, notes=notes.over(shape.notes))

    def read(self, tag: Tag) -> Any:
        """A tag's value, or `None` once what is wrong with it is noted."""
        try:
            return RULES[tag.name].reads(tag)
        except ValueError as error:
            self._report(tag.at, str(error))
            return None

    def _value(self, tag: Tag, shape: Shape) -> list[tuple[Any, Tag]]:
        """A default or an example, which the type that it stands on reads; none once what is wrong with it is noted."""
        if tag.name == "default_for":
            key = self.read(tag)
            return [] if key is None else [(key, tag)]
        try:
            return [(read_value(tag, shape, self._table.resolved), tag)]
        except ValueError as error:
            self._report(tag.at, str(error))
            return []

    def _limited(self, shape: Shape, limit: Limit) -> Shape:
        """A shape narrowed by one tag. A union hands it to each member but nil; a name gets a variant of its own."""
        rule, value, at = limit
        match shape:
            case Ref(key=key):
                variant = f"{key} @{rule.name}({value})"
                ref = self._table.refer(variant, lambda: self._limited(self._behind(key), limit))
                return replace(ref, notes=shape.notes)
            case Union(members=members):
                return replace(
                    shape,
                    members=tuple(
                        m if is_null(m.shape) else replace(m, shape=self._limited(m.shape, limit)) for m in members
                    ),
                )
            case Record() if "record" in rule.limits:
                return replace(shape, closed=True)
            case Scalar(type="integer" | "number" | "string") | Words(type="integer" | "string"):
                kind = "string" if shape.type == "string" else "number"
            case ListOf():
                kind = "array"
            case MapOf():
                kind = "hash"
            case _:
                kind = ""
        keyword = {str(k): v for k, v in rule.limits.items()}.get(kind)
        if keyword is None:
            self._report(at, _inapplicable(rule, shape))
            return shape
        if keyword in COUNTS and (not isinstance(value, int) or value < 0):
            self._report(at, f"`@{rule.name}` counts here, so it takes a whole number from 0, not `{value}`.")
            return shape
        try:
            return replace(shape, keywords=narrowed(shape.keywords, keyword, value))
        except Unnarrowed as error:
            self._report(
                at,
                f"this type has `@{rule.name}({error.had})` already, and a use may only narrow it: leave "
                f"`@{rule.name}({value})` out, or start from a type without one.",
            )
            return shape

    def _behind(self, key: str) -> Shape:
        shape = self._table.get(key)
        return Anything() if shape is None else shape

    def _null_kept(self, shape: Shape) -> Shape:
        match shape:
            case Ref(key=key):
                ref = self._table.refer(f"{key} @nullable()", lambda: self._null_kept(self._behind(key)))
                return replace(ref, notes=shape.notes)
            case Union():
                return replace(shape, nullable=True)
            case _:
                return shape


def _with_values(notes: Notes, values: Sequence[tuple[Any, Tag]]) -> Notes:
    """Notes with the defaults and examples of a type."""
    said = {tag.name: value for value, tag in values if tag.name != "example"}
    return replace(
        notes,
        default=(said["default"],) if "default" in said else (),
        default_key=said.get("default_for"),
        examples=tuple(value for value, tag in values if tag.name == "example"),
    )


def _inapplicable(rule: Rule, shape: Shape) -> str:
    if isinstance(shape, TupleOf) and rule.name in ("min", "max"):
        return f"`@{rule.name}` cannot stand on a tuple: it always has as many elements as it has types."
    words = {
        "string": "strings",
        "number": "numbers",
        "array": "arrays",
        "hash": "hashes",
        "record": "records",
    }
    kinds = [words[k] for k in rule.limits]
    listed = " and ".join((", ".join(kinds[:-1]), kinds[-1])) if len(kinds) > 1 else kinds[0]
    return f"`@{rule.name}` cannot stand on this type: it applies to {listed}."
