"""JSON Schema to types of the annotation language: one walk, in which each entry of `$defs` becomes an alias.

What the language cannot say is said more widely, `untyped` at the widest, with a note.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

import jsonschema_rs

from fastmcp_authz.annotations import Alias, Field, Intersection, Literal, Name, Record, Tag, Tuple, Union
from fastmcp_authz.survey.proposing.constants import constant, name_tag, value_tag
from fastmcp_authz.survey.proposing.keywords import NARROWING, SAID, json_type, narrowing, sayings, unknown
from fastmcp_authz.survey.proposing.said import AT, NIL, UNTYPED, JsonSchema, Note, Said, either, literal, name, tag

_KNOWN: Final = frozenset(
    {
        "$ref", "$defs", "$schema", "$id", "$comment", "type", "enum", "const", "anyOf", "oneOf", "allOf",
        "discriminator", "properties", "required", "additionalProperties", "propertyNames", "patternProperties",
        "dependentRequired", "items", "prefixItems", "nullable", "example", "xml", "externalDocs",
        *SAID, *(keyword for kind in NARROWING.values() for keyword in kind),
    }
)  # fmt: skip
_COMBINED: Final = ("anyOf", "oneOf", "allOf")
_MOST_LENGTHS: Final = 6
"""Of how many lengths a tuple may be to be written out as that many tuples."""
_KINDS: Final = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": tuple(NARROWING["number"]),
    "array": ("items", "prefixItems"),
    "object": ("properties", "additionalProperties", "patternProperties"),
}
"""What tells the type of a schema that does not say it."""


class Walker:
    """One walk over the schemas of one side of a tool. `aliases` and `notes` grow as it goes."""

    def __init__(self, definitions: Mapping[str, JsonSchema], names: Mapping[str, str]) -> None:
        self.aliases: dict[str, Alias | None] = {}
        """By their keys in `$defs`, in the order of their first use; `None` while one is under way."""
        self.notes: list[Note] = []
        self._definitions = definitions
        self._names = names

    def said(self, schema: Any, about: str, called: str | None = None) -> Said:
        """What one schema says.

        Args:
            schema: The schema.
            about: What to call its place in notes.
            called: The name of the field that it stands on, if it does.
        """
        if schema is True or schema == {}:
            return UNTYPED
        if not isinstance(schema, dict):
            self._note(about, "takes no value at all, which no type says: `untyped`.")
            return UNTYPED
        for keyword in unknown(schema, _KNOWN):
            self._note(about, f"has `{keyword}`, which no annotation says: it is left out.")
        bare = self._bare(schema, about)
        if schema.get("nullable") is True:
            bare = either([bare, Said(NIL)])
        examples = [value_tag("example", each) for each in schema.get("examples", ()) if self._fits(schema, each)]
        return bare.with_tags([*filter(None, examples), *sayings(schema, called)])

    def record(self, schema: JsonSchema, about: str) -> tuple[Field, ...]:
        """The fields of an object."""
        properties: dict[str, Any] = dict(schema.get("properties", {}))
        required = list(schema.get("required", ()))
        properties.update({each: True for each in required if each not in properties})
        needs: dict[str, list[Tag]] = {}
        for parent, names in schema.get("dependentRequired", {}).items():
            made = name_tag("depends_on", parent)
            for each in names:
                if made is None or parent not in properties:
                    self._note(about, f"asks for {json.dumps(each)} beside {json.dumps(parent)}, which is left out.")
                else:
                    needs.setdefault(each, []).append(made)
        fields = []
        for key, inner in properties.items():
            place = f"{about}.{key}" if about else key
            said = self.said(inner, place, key)
            more = needs.get(key, [])
            if key not in required:
                more = [*more, *self._default(inner, place)]
            fields.append(_ordered(said.with_tags(more)).field(key, optional=key not in required))
        return tuple(fields)

    @property
    def resolvable(self) -> Iterable[str]:
        """The keys of `$defs`."""
        return self._definitions

    def resolved(self, schema: Any) -> JsonSchema:
        """The schema that a reference leads to."""
        seen: set[str] = set()
        while isinstance(schema, dict) and "$ref" in schema and (key := _key(schema["$ref"])) not in seen:
            seen.add(key)
            schema = self._definitions.get(key, {})
        return schema if isinstance(schema, dict) else {}

    # ---- Forms

    def _bare(self, schema: JsonSchema, about: str) -> Said:
        if "$ref" in schema:
            return self._reference(schema, about)
        if "const" in schema or "enum" in schema:
            return self._constants(schema, about)
        if any(keyword in schema for keyword in _COMBINED):
            return self._combined(schema, about)
        match schema.get("type", _implied(schema)):
            case list() as kinds:
                return either([self._bare({**schema, "type": kind}, about) for kind in kinds])
            case "string":
                return self._text(schema, about)
            case "integer" | "number" as kind:
                return Said(name("Integer" if kind == "integer" else "Float"), self._tags(schema, "number", about))
            case "boolean":
                return Said(name("bool"))
            case "null":
                return Said(NIL)
            case "array":
                return self._array(schema, about)
            case "object":
                return self._object(schema, about)
            case None:
                return UNTYPED
            case other:
                self._note(about, f"is of the type {json.dumps(other)}, which is not understood: `untyped`.")
                return UNTYPED

    def _reference(self, schema: JsonSchema, about: str) -> Said:
        key = _key(schema["$ref"])
        if key not in self._definitions:
            self._note(about, f"refers to {json.dumps(schema['$ref'])}, which is not there: `untyped`.")
            return UNTYPED
        if key not in self.aliases:
            self.aliases[key] = None
            alias, definition = self._names[key], self._definitions[key]
            said = _ordered(self.said(definition, alias))
            self.aliases[key] = Alias(alias, said.inside(), at=AT)
        kind = str(self.resolved(schema).get("type")).replace("integer", "number")
        return Said(name(self._names[key]), self._tags(schema, kind, about) if kind in NARROWING else ())

    def _constants(self, schema: JsonSchema, about: str) -> Said:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        kinds = schema.get("type")
        if kinds is not None:
            allowed = {kinds} if isinstance(kinds, str) else {*kinds}
            allowed |= {"integer"} if "number" in allowed else set()
            values = [each for each in values if json_type(each) in allowed]
        types = [constant(each) for each in values]
        if not types or any(each is None for each in types):
            self._note(about, f"may only be one of {json.dumps(values)[:80]}, for which there are no constants.")
            return self._bare({"type": kinds}, about) if isinstance(kinds, str) else UNTYPED
        return either([Said(each) for each in types if each is not None])

    def _text(self, schema: JsonSchema, about: str) -> Said:
        tags = self._tags(schema, "string", about)
        for form, base in (("date", "Date"), ("date-time", "DateTime")):
            if schema.get("format") == form:
                if form == "date-time":
                    self._note(about, "is a DateTime: one without a time zone does not fit, `String` takes it too.")
                return Said(name(base), tuple(each for each in tags if each.name != "format"))
        return Said(name("String"), tags)

    def _array(self, schema: JsonSchema, about: str) -> Said:
        if "prefixItems" in schema:
            return self._tuple(schema, about)
        items = self.said(schema.get("items", True), f"{about}[]")
        tags = self._tags(schema, "array", about)
        if any(each.name == "unique" for each in tags):
            return Said(name("Set", items.inside()), tuple(each for each in tags if each.name != "unique"))
        return Said(name("Array", items.inside()), tags)

    def _tuple(self, schema: JsonSchema, about: str) -> Said:
        places = [self.said(each, f"{about}[{at}]").inside() for at, each in enumerate(schema["prefixItems"])]
        count = len(places)
        closed = schema.get("items") is False
        fewest, most = schema.get("minItems", 0), min(schema.get("maxItems", count if closed else count + 1), count + 1)
        if most <= count and most - fewest < _MOST_LENGTHS and fewest <= most:
            lengths = range(fewest, most + 1)
            return either([Said(Tuple(tuple(places[:length]), at=AT)) for length in lengths])
        self._note(about, "is a tuple that may be longer than its types tell: a list here.")
        return Said(name("Array", name("untyped")), self._tags(schema, "array", about))

    def _object(self, schema: JsonSchema, about: str) -> Said:
        others = schema.get("additionalProperties", True)
        if "properties" in schema or schema.get("required") or (others is False and "patternProperties" not in schema):
            return self._record(schema, about, others)
        keys = self.said(schema.get("propertyNames", {"type": "string"}), f"{about}{{}}")
        patterns = schema.get("patternProperties", {})
        if len(patterns) == 1 and others is False:
            ((pattern, others),) = patterns.items()
            keys = self.said({"type": "string", "pattern": pattern}, f"{about}{{}}")
        elif patterns:
            self._note(about, "has patterns for its keys, which no annotation says: they are left out.")
        if not _are_keys(keys):
            if keys != UNTYPED:
                self._note(about, "says more of its keys than a `Hash` can: they are any text here.")
            keys = Said(name("String"))
        values = self.said(others, f"{about}{{}}")
        return Said(name("Hash", keys.inside(), values.inside()), self._tags(schema, "object", about))

    def _record(self, schema: JsonSchema, about: str, others: Any) -> Said:
        if "additionalProperties" in schema and others is not False:
            self._note(about, "takes keys beside its own, which a record takes and leaves out: declare those you need.")
        for keyword in ("minProperties", "maxProperties", "patternProperties", "propertyNames"):
            if keyword in schema:
                self._note(about, f"has `{keyword}`, which no record says: it is left out.")
        return Said(Record(self.record(schema, about), at=AT), (tag("closed"),) if others is False else ())

    # ---- Combinations

    def _combined(self, schema: JsonSchema, about: str) -> Said:
        combining = [keyword for keyword in _COMBINED if keyword in schema]
        beside = {k: v for k, v in schema.items() if k not in (*combining, *SAID, "discriminator", "nullable")}
        typed = {k: v for k, v in beside.items() if k == "type"}
        if len(combining) > 1 or (combining != ["allOf"] and beside.keys() - {"type", "$defs"}):
            told = f"`{combining[0]}`" if combining[0] != "allOf" else "the rest"
            found = " and ".join(f"`{each}`" for each in combining)
            self._note(about, f"has {found} beside more: only {told} is said.")
        if combining[0] == "allOf":
            return self._all(schema["allOf"], beside, about)
        members: list[JsonSchema] = [
            {**typed, **each} if isinstance(each, dict) and "$ref" not in each else each
            for each in schema[combining[0]]
        ]
        property_name = schema.get("discriminator", {}).get("propertyName")
        if property_name is None or "oneOf" not in combining:
            return either([self.said(each, about) for each in members])
        return either([self._told_apart(each, property_name, about) for each in members])

    def _all(self, members: list[Any], beside: JsonSchema, about: str) -> Said:
        own = [beside] if beside.keys() - {"type", "$defs"} else []
        parts = [self.said(each, about) for each in (*members, *own)]
        parts = [each for each in parts if each != UNTYPED] or [UNTYPED]
        if len(parts) == 1:
            return parts[0]
        targets = [self.resolved(each) for each in members]
        are_objects = all(each.get("type") == "object" or "properties" in each for each in targets)
        if are_objects and all(isinstance(each.type, Name | Record) for each in parts):
            return Said(Intersection(tuple(each.member() for each in parts), at=AT))
        self._note(about, "has `allOf` over more than objects: only its first part is said.")
        return parts[0]

    def _told_apart(self, member: Any, property_name: str, about: str) -> Said:
        """A member of a union that a property tells from the others, which it must then have."""
        said, target = self.said(member, about), self.resolved(member)
        pinned = target.get("properties", {}).get(property_name, {})
        words = [pinned["const"]] if "const" in pinned else pinned.get("enum", [])
        if property_name in target.get("required", ()) or not all(isinstance(each, str) for each in words) or not words:
            return said
        kind = either([Said(literal(each)) for each in words]).field(property_name, optional=False)
        return Said(Intersection((said.member(), Record((kind,), at=AT)), at=AT))

    # ---- Values

    def _default(self, schema: Any, about: str) -> Iterator[Tag]:
        """The default of a field that may be left out. Null means left out, and is not worth a word."""
        value = schema.get("default") if isinstance(schema, dict) else None
        if value is None:
            return
        made = value_tag("default", value)
        if made is None or not self._fits(schema, value):
            self._note(about, f"has the default {json.dumps(value)[:60]}, which `@default` cannot say: Python's stays.")
        else:
            yield made

    def _fits(self, schema: JsonSchema, value: Any) -> bool:
        whole = {**schema, "$defs": self._definitions}
        try:
            return jsonschema_rs.Draft202012Validator(
                whole, validate_formats=True, formats={"time": lambda _: True}
            ).is_valid(value)
        except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
            return False

    def _tags(self, schema: JsonSchema, kind: str, about: str) -> tuple[Tag, ...]:
        return tuple(narrowing(schema, kind, lambda text: self._note(about, text)))

    def _note(self, about: str, text: str) -> None:
        note = Note(about, text)
        if note not in self.notes:
            self.notes.append(note)


_LAST: Final = ("default", "title", "deprecated", "read_only", "write_only", "example", "desc")


def _ordered(said: Said) -> Said:
    """A type whose tags stand in the usual order: what narrows, what is given, what is said."""
    return Said(said.type, tuple(sorted(said.tags, key=lambda each: each.name in _LAST and 1 + _LAST.index(each.name))))


def _key(reference: Any) -> str:
    text = str(reference)
    return unquote(text.removeprefix("#/$defs/")).replace("~1", "/").replace("~0", "~") if "/" in text else text


def _implied(schema: JsonSchema) -> str | None:
    return next((kind for kind, telling in _KINDS.items() if any(each in schema for each in telling)), None)


def _are_keys(keys: Said) -> bool:
    """Whether a `Hash` takes this for its keys."""
    match keys.type:
        case Union(members=members):
            return all(isinstance(each, Literal) and isinstance(each.value, str) for each in members)
        case Literal(value=value):
            return isinstance(value, str)
        case Name(name=written, arguments=()):
            return written in ("String", "Date", "DateTime") or not (keys.tags or written in ("bool", "nil"))
        case _:
            return False
