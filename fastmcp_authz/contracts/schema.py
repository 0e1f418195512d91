"""What a caller sees of a tree, as JSON Schema 2020-12."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import jsonschema_rs

from .hoisting import hoisted
from .relations import Comparison
from .shapes import (
    NO_NOTES,
    Field,
    ListOf,
    MapOf,
    Record,
    Ref,
    Scalar,
    Shape,
    Tree,
    TupleOf,
    Union,
    Words,
    is_null,
)

Schema = dict[str, Any]

BACKTRACKS: Final = 50_000
"""How many steps a pattern with look-around or back-references may take before the value counts as refused."""


class Slot(NamedTuple):
    """A place in a schema that a caller's own default goes to."""

    path: tuple[str | int, ...]
    key: str
    """What `current_user.default_for` is asked for."""
    shape: Shape
    """What an answer must satisfy."""


class Document(NamedTuple):
    """A JSON Schema and the places in it that belong to the caller."""

    schema: Schema
    slots: tuple[Slot, ...]


def document(
    tree: Tree,
    *,
    object_root: bool = True,
    close_root: bool = False,
    close_all: bool = False,
    strict: bool = False,
) -> Document:
    """The schema of a tree without guards. The root is written out, never a reference (SPEC section 2).

    Args:
        object_root: Whether `type: "object"` is to stand at a root that is a union.
        close_root: Whether the root takes no keys beside its own.
        close_all: The same for every record.
        strict: Whether unions are all `anyOf` and tuples have no bounds; the tree is then one of a dialect.
    """
    emitter = _Emitter(tree, close_all, strict)
    schema = emitter.root(object_root, close_root)
    return Document(schema, tuple(emitter.slots))


def compile_validator(schema: Schema) -> jsonschema_rs.Draft202012Validator:
    """The check of a schema, formats on, with an engine of linear time where its patterns allow one."""
    try:
        return jsonschema_rs.Draft202012Validator(
            schema, validate_formats=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (ValueError, jsonschema_rs.ValidationError):
        return jsonschema_rs.Draft202012Validator(
            schema,
            validate_formats=True,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKS),
        )


class _Emitter:
    def __init__(self, tree: Tree, close_all: bool, strict: bool) -> None:
        self._tree = tree
        self._close_all = close_all
        self._strict = strict
        self._hoisted = hoisted(tree)
        self._still = None if close_all or strict else tree.still
        self._compared = Comparison(tree)
        self._definitions: dict[str, Schema] = {}
        self.slots: list[Slot] = []

    def root(self, typed: bool, closed: bool) -> Schema:
        shape = self._tree.resolve(self._tree.root)
        schema = dict(self.emit(shape, ()))
        if closed and isinstance(shape, Record):
            schema["additionalProperties"] = False
        if typed and not isinstance(shape, Record | MapOf):
            schema = {"type": "object", **schema}
        for key, name in self._hoisted.items():
            self._definitions[name] = self.emit(self._tree.definitions[key], ("$defs", name))
        if self._definitions:
            schema["$defs"] = self._definitions
        return schema

    def emit(self, shape: Shape, path: tuple[str | int, ...]) -> Schema:
        """The schema of one shape, which stands at `path` in the document."""
        if isinstance(shape, Ref):
            name = self._hoisted.get(shape.key)
            if name is None:
                target = self._tree.definitions[shape.key]
                return self.emit(replace(target, notes=shape.notes.over(target.notes)), path)
            pointer = name.replace("~", "~0").replace("/", "~1")
            return {"$ref": f"#/$defs/{quote(pointer, safe='')}"} | self._annotations(shape, path)
        still = self._still
        if still is not None and id(shape) in still.results:
            if id(shape) not in still.written:
                still.written[id(shape)] = self._written(shape, path)
            return still.written[id(shape)]
        return self._written(shape, path)

    def _written(self, shape: Shape, path: tuple[str | int, ...]) -> Schema:
        schema = self._bare(shape, path)
        schema.update(shape.keywords)
        return schema | self._annotations(shape, path)

    def _bare(self, shape: Shape, path: tuple[str | int, ...]) -> Schema:
        match shape:
            case Scalar(type=name):
                return {"type": name}
            case Words(type=name, values=(value,)):
                return {"type": name, "const": value}
            case Words(type=name, values=values):
                return {"type": name, "enum": list(values)}
            case ListOf(items=items):
                return {"type": "array", "items": self.emit(items, (*path, "items"))}
            case TupleOf(items=places):
                first = [self.emit(place, (*path, "prefixItems", i)) for i, place in enumerate(places)]
                bounds = {} if self._strict else {"minItems": len(places), "maxItems": len(places)}
                prefix = {"prefixItems": first} if first else {}  # JSON Schema has no empty ones
                return {"type": "array", **prefix, "items": False, **bounds}
            case MapOf(values=values, keys=keys):
                schema: Schema = {
                    "type": "object",
                    "additionalProperties": self.emit(values, (*path, "additionalProperties")),
                }
                if keys is not None:
                    schema["propertyNames"] = self.emit(keys, (*path, "propertyNames"))
                return schema
            case Record():
                return self._record(shape, path)
            case Union(members=members):
                return self._union([m.shape for m in members], path)
            case _:
                return {}

    def _record(self, shape: Record, path: tuple[str | int, ...]) -> Schema:
        schema: Schema = {
            "type": "object",
            "properties": {f.name: self._property(f, path) for f in shape.fields},
        }
        required = [f.name for f in shape.fields if f.required]
        if required:
            schema["required"] = required
        dependents: dict[str, list[str]] = {}
        for each in shape.fields:
            for parent in each.depends_on:
                dependents.setdefault(parent, []).append(each.name)
        if dependents:
            schema["dependentRequired"] = dependents
        if shape.closed or self._close_all:
            schema["additionalProperties"] = False
        return schema

    def _property(self, each: Field, path: tuple[str | int, ...]) -> Schema:
        known = None if self._still is None else self._still.written.get(id(each.shape))
        return self.emit(each.shape, (*path, "properties", each.name)) if known is None else known

    def _union(self, shapes: list[Shape], path: tuple[str | int, ...]) -> Schema:
        members = list(dict.fromkeys(self._flat(shapes)))
        overlapping = self._strict or any(map(is_null, members)) or not self._compared.all_exclusive(members)
        keyword = "anyOf" if overlapping else "oneOf"
        return {keyword: [self.emit(m, (*path, keyword, i)) for i, m in enumerate(members)]}

    def _flat(self, shapes: Iterable[Shape]) -> Iterator[Shape]:
        """The members with those of each union that is written in place of its name."""
        for shape in shapes:
            target = self._tree.resolve(shape)
            named = isinstance(shape, Ref) and shape.key in self._hoisted
            if isinstance(target, Union) and target.notes == NO_NOTES and not named:
                yield from self._flat(m.shape for m in target.members)
            else:
                yield shape

    def _annotations(self, shape: Shape, path: tuple[str | int, ...]) -> Schema:
        notes = shape.notes
        annotations: Schema = dict(notes.keywords)
        if notes.default:
            annotations["default"] = notes.default[0]
        if notes.examples:
            annotations["examples"] = list(notes.examples)
        if notes.default_key is not None:
            self.slots.append(Slot((*path, "default"), notes.default_key, replace(shape, notes=NO_NOTES)))
        return annotations
