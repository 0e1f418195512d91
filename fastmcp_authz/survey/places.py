"""Where in a docstring or a shared file the parts of a contract stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from fastmcp_authz.annotations import Alias, Intersection, Name, Nilable, Record, Span, Tagged, Tuple, Type, Union
from fastmcp_authz.contracts.contract import ToolContract
from fastmcp_authz.contracts.generics import substituted
from fastmcp_authz.contracts.outline import Part, Step

_DEEPEST: Final = 200
_SCALARS: Final = {
    "String": "string",
    "Symbol": "string",
    "Date": "string",
    "Time": "string",
    "DateTime": "string",
    "Integer": "integer",
    "Float": "number",
    "Numeric": "number",
    "bool": "boolean",
    "top": "untyped",
    "void": "untyped",
}
"""What an outline calls the base types."""


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @classmethod
    def of(cls, span: Span) -> Place:
        """Where a span begins."""
        return cls(span.source.name, span.source.line_at(span.start))


class Places:
    """Where everything in one contract stands. Reads its docstring once more."""

    def __init__(self, contract: ToolContract) -> None:
        self._annotation, self._aliases = contract.syntax()

    def input(self, part: Part) -> Place | None:
        """Where an input, or a part of one, is declared; `None` where that cannot be told."""
        return _place(self.input_span(part))

    def output(self, part: Part) -> Place | None:
        """The same of the output."""
        return _place(self.output_span(part))

    def input_span(self, part: Part) -> Span | None:
        """The very text that declares an input, or a part of one."""
        signature = self._annotation.signature
        if "input" in self._aliases:
            return _span(self._aliases["input"].type, part.steps, self._aliases, _DEEPEST)
        root = None if signature is None else Record(signature.fields, at=signature.at)
        return None if root is None else _span(root, part.steps, self._aliases, _DEEPEST)

    def output_span(self, part: Part) -> Span | None:
        """The same of the output."""
        return _span(self._aliases["output"].type, part.steps, self._aliases, _DEEPEST)

    def alias(self, name: str) -> Place | None:
        """Where a name is declared."""
        return Place.of(self._aliases[name].at) if name in self._aliases else None


def _place(span: Span | None) -> Place | None:
    return None if span is None else Place.of(span)


def _span(node: Type, steps: Sequence[Step], aliases: Mapping[str, Alias], fuel: int) -> Span | None:
    """The span of what the steps lead to from a type. Tries each member of a union or an intersection."""
    if not steps:
        return node.at
    if fuel == 0:
        return None
    step, rest = steps[0], steps[1:]

    def within(inner: Type, steps: Sequence[Step]) -> Span | None:
        return _span(inner, steps, aliases, fuel - 1)

    match node:
        case Tagged(type=inner):
            return within(inner, steps)
        case Name(name=name, arguments=arguments) if name in aliases:
            given = dict(zip(aliases[name].parameters, arguments, strict=False))
            return within(substituted(aliases[name].type, given), steps)
        case Name(arguments=arguments) if step.kind in ("items", "values", "keys"):
            return within(arguments[0 if step.kind == "keys" else -1], rest) if arguments else None
        case Record(fields=fields) if step.kind == "field":
            for each in fields:
                if each.name == step.name:
                    return within(each.type, rest) if rest else each.at
            return None
        case Tuple(items=items) if step.kind == "items":
            return within(items[int(step.name)], rest) if step.name and int(step.name) < len(items) else None
        case Nilable(type=inner):
            return within(inner, rest if step.kind == "member" else steps) or within(inner, steps)
        case Union(members=members) if step.kind == "member":
            return _first(within(each, rest) for each in _called(members, step.name) or members)
        case Union(members=members) | Intersection(members=members):
            return _first(within(each, steps) for each in members)
        case _:
            return None


def _called(members: Sequence[Type], name: str) -> list[Type]:
    """The member of a union that an outline calls so; it counts those with one name, as `_names` there does."""
    counted: Counter[str] = Counter()
    for each in members:
        own = _name(each)
        counted[own] += 1
        if name == (own if counted[own] == 1 else f"{own} {counted[own]}"):
            return [each]
    return []


def _name(node: Type) -> str:
    """What `type_name` calls the shape of a type, where that can be told without building it."""
    match node:
        case Tagged(type=inner):
            return _name(inner)
        case Name(name=name, arguments=()):
            return _SCALARS.get(name, name)
        case Name(name="Array", arguments=(inner,)):
            return f"Array[{_name(inner)}]"
        case Record(fields=fields):
            return "{" + ", ".join(each.name for each in fields) + "}"
        case Tuple():
            return "tuple"
        case _:
            return str(node)


def _first(found: Iterable[Span | None]) -> Span | None:
    return next((each for each in found if each is not None), None)
