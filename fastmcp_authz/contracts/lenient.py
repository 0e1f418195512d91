"""Lenient reading: a string that is the JSON spelling of the declared type, read as that type (SPEC section 5.3).

Only ever tried on arguments that were refused as they stood, so it can turn a refusal into an acceptance and nothing
else; what results is checked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .projection import canonical
from .schema import compile_validator, document
from .shapes import Anything, ListOf, MapOf, Record, Scalar, Shape, Tree, TupleOf, Union, Words, is_null


class Reader:
    """Reads arguments by a tree without guards."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        root = tree.resolve(tree.root)
        self._fields = {f.name: f for f in root.fields} if isinstance(root, Record) else {}
        self._checks: dict[int, Callable[[Any], bool]] = {}

    def arguments(self, sent: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they may have been meant; what cannot be read stays as it was sent."""
        reading = _Reading(self._tree, self._checks)
        read: dict[str, Any] = {}
        for name, value in sent.items():
            field = self._fields.get(name)
            if field is None:
                read[name] = value
            elif value is None and not field.required and not self._takes_null(field.shape):
                continue  # null for an optional parameter that cannot be null: it is left out
            else:
                read[name] = reading.read(value, field.shape)
        return read

    def _takes_null(self, shape: Shape) -> bool:
        return any(is_null(each) or isinstance(each, Anything) for each in members_of(shape, self._tree))


class _Reading:
    """One reading. Each part is read once for each type, or unions within unions would be read in 2**depth ways."""

    def __init__(self, tree: Tree, checks: dict[int, Callable[[Any], bool]]) -> None:
        self._tree = tree
        self._checks = checks
        self._found: dict[tuple[int, int], tuple[Any, Any]] = {}  # with the part, so that its `id` is not used again
        self._texts: dict[str, Any] = {}

    def read(self, value: Any, shape: Shape) -> Any:
        """A part as the type has it, or as it was sent."""
        shape = self._tree.behind(shape)
        if not isinstance(value, str | list | dict):
            return value
        question = (id(shape), id(value))
        if question not in self._found:
            self._found[question] = (value, self._read(value, shape))
        return self._found[question][1]

    def _read(self, value: Any, shape: Shape) -> Any:
        match shape:
            case Union():
                return self._read_union(value, list(members_of(shape, self._tree)))
            case Scalar(type=name):
                return _scalar(value, name)
            case Words(type=name, values=values):
                read = _scalar(value, name)
                return read if read in values else value
            case ListOf(items=items):
                return self._inside(value, list, lambda found: [self.read(each, items) for each in found])
            case TupleOf(items=places):
                return self._inside(
                    value,
                    list,
                    lambda found: [
                        self.read(each, places[i]) if i < len(places) else each for i, each in enumerate(found)
                    ],
                )
            case MapOf(values=values_shape):
                return self._inside(
                    value, dict, lambda found: {k: self.read(v, values_shape) for k, v in found.items()}
                )
            case Record(fields=fields):
                known = {f.name: f.shape for f in fields}
                return self._inside(
                    value,
                    dict,
                    lambda found: {k: self.read(v, known[k]) if k in known else v for k, v in found.items()},
                )
            case _:
                return value

    def _inside(self, value: Any, kind: type, read: Callable[[Any], Any]) -> Any:
        found = self._parsed(value) if isinstance(value, str) else value
        return read(found) if isinstance(found, kind) else value

    def _parsed(self, text: str) -> Any:
        if text not in self._texts:
            self._texts[text] = parsed(text)
        return self._texts[text]

    def _read_union(self, value: Any, members: list[Shape]) -> Any:
        """The reading that some member accepts; of several the one with the smallest text, whatever their order.

        A string where any member is a string is never reinterpreted.
        """
        if isinstance(value, str) and any(isinstance(m, Scalar) and m.type == "string" for m in members):
            return value
        if any(self._accepts(member, value) for member in members):
            return value
        readings = [read for m in members for read in [self.read(value, m)] if self._accepts(m, read)]
        return min(readings, key=canonical, default=value)

    def _accepts(self, member: Shape, value: Any) -> bool:
        check = self._checks.get(id(member))  # the tree holds every shape that is asked about
        if check is None:
            schema = document(Tree(member, self._tree.definitions), object_root=False).schema
            check = self._checks[id(member)] = compile_validator(schema).is_valid
        return check(value)


def members_of(shape: Shape, tree: Tree) -> list[Shape]:
    """The members of a union, those of the unions in it too; any other shape is its own only member."""
    return [tree.behind(member) for member in tree.members(shape)]


def _scalar(value: Any, name: str) -> Any:
    if not isinstance(value, str) or name == "string":
        return value
    read = parsed(value)
    fits = {
        "integer": isinstance(read, int) and not isinstance(read, bool),
        "number": isinstance(read, int | float) and not isinstance(read, bool),
        "boolean": isinstance(read, bool),
        "null": read is None,
    }
    return read if fits[name] else value


def parsed(text: str) -> Any:
    """The value of a JSON text, or the text where it is none."""
    try:
        return json.loads(text, parse_constant=lambda word: text)
    except (ValueError, RecursionError):
        return text
