"""JSON Schemas drawn at random over what annotations can say, and values for them that fit or nearly do."""

from __future__ import annotations

from random import Random
from typing import Any, Final

Schema = dict[str, Any]

NAMES: Final = ("a", "b", "kind", "next", "größe", "two words", 'say "hi"', "class", "it's")
TEXTS: Final = ("", "a", "ab", "abc", "long text", 'a "b"', "back\\slash", "it's", "x\ty", '"""', "#: (", "ünï")
PATTERNS: Final = ("^[a-c]+$", r"\d", "^[(]", r"[\"']", " a", "a{2} ", "(a|b)c?", "a#b", r"^\(", "['(]x", "[]a]", "#: ")
PROSE: Final = (
    "Plain words.", "With (parentheses) and \"quotes\".", "It's odd: )(", "A \\ backslash\\", "Two\nlines", '"quoted"',
    "@min(1)", "# no comment", "a" * 30 + " long" * 40, 'ends with "', "trailing (", "`code` and 'x", "| a & b",
)  # fmt: skip
DEFINED: Final = ("Node", "pkg__models__Row", "other__Row", "Page_int_", "String", "output", "Größe", "List", "x y")
NUMBERS: Final = (0, 1, 2, 3, 5, -1, 1.5, 2.5, 1e30, 10**12)
_TAKEN: Final[tuple[Any, ...]] = (None, True, False, *TEXTS[:5], *NUMBERS[:6], [], {}, [1], {"a": 1})


class Draw:
    """Schemas of one document. Definitions are made as they come to be used, also within themselves."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.definitions: dict[str, Schema] = {}

    def root(self, depth: int = 3) -> Schema:
        """The schema of a tool's inputs."""
        schema = self.record(depth)
        usable = {f"p{i}": each for i, each in enumerate(schema["properties"].values())}
        required = [name for name in usable if self.random.random() < 0.5]
        return {**schema, "properties": usable, "required": required, "additionalProperties": False, **self.defs()}

    def defs(self) -> Schema:
        return {"$defs": self.definitions} if self.definitions else {}

    def said(self, schema: Schema) -> Schema:
        """A schema with something said of it."""
        if self.random.random() < 0.2:
            schema = {**schema, "description": self.random.choice(PROSE)}
        if self.random.random() < 0.05:
            schema = {**schema, "deprecated": True, "title": self.random.choice(PROSE)}
        if self.random.random() < 0.15:
            value = Values(self.random, self.definitions, 0.1).of(schema, 3)
            schema = {**schema, self.random.choice(("default", "examples")): value}
            if "examples" in schema:
                schema["examples"] = [schema["examples"]]
        return schema

    def schema(self, depth: int) -> Schema:
        return self.said(self._schema(depth))

    def record(self, depth: int, **properties: Schema) -> Schema:
        names = self.random.sample(NAMES, self.random.randint(0, 4))
        properties = {**{name: self.schema(depth - 1) for name in names}, **properties}
        required = [name for name in properties if self.random.random() < 0.5]
        schema: Schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if self.random.random() < 0.2:
            schema["additionalProperties"] = False
        if len(names) > 1 and " " not in names[0] and self.random.random() < 0.1:
            schema["dependentRequired"] = {names[0]: [names[1]]}
        return schema

    def _schema(self, depth: int) -> Schema:
        random = self.random
        way = random.random()
        if depth <= 0 or way < 0.35:
            return self._scalar()
        if way < 0.5:
            return self.record(depth)
        if way < 0.6:
            return self._list(depth)
        if way < 0.66:
            keys = random.choice(({}, {"propertyNames": {"enum": ["a", "b"], "type": "string"}}))
            return {"type": "object", "additionalProperties": self.schema(depth - 1), **keys}
        if way < 0.7:
            places = [self.schema(depth - 1) for _ in range(random.randint(1, 3))]
            fewest = random.choice((len(places), len(places) - 1))
            return {"type": "array", "prefixItems": places, "minItems": fewest, "maxItems": len(places)}
        if way < 0.84:
            members = [self.schema(depth - 1) for _ in range(random.randint(1, 3))]
            return {"anyOf": [*members, {"type": "null"}] if random.random() < 0.6 else members}
        if way < 0.87:
            return self._told_apart(depth)
        return self._reference(depth)

    def _scalar(self) -> Schema:
        random = self.random
        match random.randrange(8):
            case 0:
                return {"type": "string"} | random.choice(({}, {"minLength": 1, "maxLength": 3}, {"format": "uuid"}))
            case 1:
                return {"type": "string", "pattern": random.choice(PATTERNS)}
            case 2:
                return {"type": "integer"} | random.choice(({}, {"minimum": 1}, {"multipleOf": 2, "maximum": 4}))
            case 3:
                return {"type": "number"} | random.choice(({}, {"exclusiveMinimum": 0.5, "exclusiveMaximum": 3}))
            case 4:
                return {"type": random.choice(("boolean", "null"))}
            case 5:
                return {"enum": random.sample(TEXTS, random.randint(1, 4)), "type": "string"}
            case 6:
                return random.choice(
                    ({"const": "a", "type": "string"}, {"enum": ["a", 1, True, None]}, {"enum": [1, 2]})
                )
            case _:
                return {}

    def _list(self, depth: int) -> Schema:
        limits: tuple[Schema, ...] = (
            {},
            {"minItems": 1},
            {"maxItems": 2},
            {"uniqueItems": True},
            {"uniqueItems": True, "minItems": 1},
        )
        return {"type": "array", "items": self.schema(depth - 1), **self.random.choice(limits)}

    def _told_apart(self, depth: int) -> Schema:
        """Two records with a constant each, as pydantic writes unions with a discriminator."""
        members = []
        for word in ("cat", "dog"):
            record = self.record(depth - 1, kind={"const": word, "type": "string"})
            record["required"] = sorted({*record.get("required", ()), "kind"})
            members.append(record)
        return {"oneOf": members, "discriminator": {"propertyName": "kind"}}

    def _reference(self, depth: int) -> Schema:
        key = self.random.choice(DEFINED)
        if key not in self.definitions:
            self.definitions[key] = {"type": "object", "properties": {}}
            made = self._list(depth - 1) if self.random.random() < 0.2 else self.record(depth - 1)
            # A way within itself that is no must, or no value would ever be small enough.
            if made["type"] == "object" and self.random.random() < 0.4:
                made["properties"] = {**made["properties"], "within": {"$ref": f"#/$defs/{key}"}}
            self.definitions[key] = self.said(made) if made["type"] == "array" else made
        return {"$ref": f"#/$defs/{key}"}


class Values:
    """Values for schemas. Each part departs from its schema with a chance of `slips`."""

    def __init__(self, random: Random, definitions: dict[str, Schema], slips: float = 0.04) -> None:
        self._random = random
        self._definitions = definitions
        self._slips = slips

    def of(self, schema: Schema, depth: int = 5) -> Any:
        random = self._random
        if random.random() < self._slips:
            return random.choice(_TAKEN)
        if "$ref" in schema:
            return self.of(self._definitions[schema["$ref"].removeprefix("#/$defs/")], depth - 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self.of(random.choice(schema[keyword]), depth)
        if "enum" in schema or "const" in schema:
            return random.choice(schema.get("enum") or [schema["const"]])
        match schema.get("type"):
            case "string":
                return random.choice((*TEXTS, "aa", "a2", "(", "9b2e2c0e-7b7c-4d9f-8f55-1d1f0a3c6f10"))
            case "integer" | "number":
                return random.choice(NUMBERS)
            case "boolean":
                return random.choice((True, False))
            case "null":
                return None
            case "array":
                return self._list(schema, depth)
            case "object":
                return self._object(schema, depth)
            case _:
                return random.choice(_TAKEN)

    def _list(self, schema: Schema, depth: int) -> list[Any]:
        if "prefixItems" in schema:
            places = [self.of(each, depth - 1) for each in schema["prefixItems"]]
            return places[: self._random.randint(schema["minItems"], len(places))]
        few = schema.get("minItems", 0)
        return [self.of(schema["items"], depth - 1) for _ in range(few if depth <= 0 else self._random.randint(few, 3))]

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        random = self._random
        if "properties" not in schema:
            keys = random.sample(("a", "b", "c") if random.random() < 0.2 else ("a", "b"), random.randint(0, 2))
            return {key: self.of(schema["additionalProperties"], depth - 1) for key in keys if depth > 0}
        required = schema.get("required", ())
        value = {
            key: self.of(inner, depth - 1)
            for key, inner in schema["properties"].items()
            if (random.random() > self._slips / 2 if key in required else depth > 0 and random.random() < 0.6)
        }
        return value | ({"extra": 1} if random.random() < 0.1 else {})
