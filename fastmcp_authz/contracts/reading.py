"""Lenient reading: a string that is the JSON spelling of the declared type, read as that type (SPEC section 5.3).

Only ever tried on arguments that were refused as they stood, so it can turn a refusal into an acceptance and nothing
else; what results is checked again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .schema import compile_validator, document
from .shapes import ListOf, MapOf, Record, Scalar, Shape, Tree, TupleOf, Union, Words, is_null


class Reader:
    """Reads arguments by a tree without guards."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        root = tree.resolve(tree.root)
        self._fields = {f.name: f for f in root.fields} if isinstance(root, Record) else {}

    def arguments(self, sent: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they may have been meant; what cannot be read stays as it was sent."""
        read: dict[str, Any] = {}
        for name, value in sent.items():
            field = self._fields.get(name)
            if field is None:
                read[name] = value
            elif value is None and not field.required and not self._takes_null(field.shape):
                continue  # null for an optional parameter that cannot be null: it is left out
            else:
                read[name] = self._read(value, field.shape)
        return read

    def _takes_null(self, shape: Shape) -> bool:
        shape = self._tree.resolve(shape)
        if isinstance(shape, Union):
            return any(self._takes_null(m.shape) for m in shape.members)
        return is_null(shape) or not isinstance(shape, Scalar | Words | ListOf | TupleOf | MapOf | Record)

    def _read(self, value: Any, shape: Shape) -> Any:
        shape = self._tree.resolve(shape)
        match shape:
            case Union(members=members):
                return self._read_union(value, [self._tree.resolve(m.shape) for m in members])
            case Scalar(type=name):
                return _scalar(value, name)
            case Words(type=name, values=values):
                read = _scalar(value, name)
                return read if read in values else value
            case ListOf(items=items):
                return self._inside(value, list, lambda found: [self._read(each, items) for each in found])
            case TupleOf(items=places):
                return self._inside(
                    value,
                    list,
                    lambda found: [
                        self._read(each, places[i]) if i < len(places) else each for i, each in enumerate(found)
                    ],
                )
            case MapOf(values=values_shape):
                return self._inside(
                    value, dict, lambda found: {k: self._read(v, values_shape) for k, v in found.items()}
                )
            case Record(fields=fields):
                known = {f.name: f.shape for f in fields}
                return self._inside(
                    value,
                    dict,
                    lambda found: {k: self._read(v, known[k]) if k in known else v for k, v in found.items()},
                )
            case _:
                return value

    def _inside(self, value: Any, kind: type, read: Callable[[Any], Any]) -> Any:
        found = _parsed(value) if isinstance(value, str) else value
        return read(found) if isinstance(found, kind) else value

    def _read_union(self, value: Any, members: list[Shape]) -> Any:
        """The reading that some member accepts. A string where any member is a string is never reinterpreted."""
        if isinstance(value, str) and any(isinstance(m, Scalar) and m.type == "string" for m in members):
            return value
        for member in members:
            if self._accepts(member, value):
                return value
        for member in members:
            read = self._read(value, member)
            if self._accepts(member, read):
                return read
        return value

    def _accepts(self, member: Shape, value: Any) -> bool:
        schema = document(Tree(member, self._tree.definitions), object_root=False).schema
        return compile_validator(schema).is_valid(value)


def _scalar(value: Any, name: str) -> Any:
    if not isinstance(value, str) or name == "string":
        return value
    read = _parsed(value)
    fits = {
        "integer": isinstance(read, int) and not isinstance(read, bool),
        "number": isinstance(read, int | float) and not isinstance(read, bool),
        "boolean": isinstance(read, bool),
        "null": read is None,
    }
    return read if fits[name] else value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=lambda word: text)
    except (ValueError, RecursionError):
        return text
