"""The base types by name, and what to say of a name that is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final

from .shapes import NULL, Anything, Scalar, Shape, Words

BASES: Final[Mapping[str, Shape]] = {
    "String": Scalar("string"),
    "Symbol": Scalar("string"),
    "Integer": Scalar("integer"),
    "Float": Scalar("number"),
    "Numeric": Scalar("number"),
    "bool": Scalar("boolean"),
    "true": Words("boolean", (True,)),
    "false": Words("boolean", (False,)),
    "nil": NULL,
    "Date": Scalar("string", keywords=(("format", "date"),)),
    "Time": Scalar("string", keywords=(("format", "date-time"),)),
    "DateTime": Scalar("string", keywords=(("format", "date-time"),)),
    "untyped": Anything(),
    "top": Anything(),
    "void": Anything(),
}
"""Types without arguments (SPEC section 2, "Types")."""

GENERICS: Final[Mapping[str, tuple[int, ...]]] = {"Array": (0, 1), "Set": (0, 1), "Hash": (0, 2)}
"""Types with arguments, and how many each may have."""

_FROM_ELSEWHERE: Final[Mapping[str, str]] = {
    "str": "String",
    "string": "String",
    "text": "String",
    "int": "Integer",
    "integer": "Integer",
    "Int": "Integer",
    "float": "Float",
    "number": "Float",
    "Number": "Float",
    "Decimal": "Float",
    "Boolean": "bool",
    "boolean": "bool",
    "Bool": "bool",
    "True": "true",
    "False": "false",
    "None": "nil",
    "null": "nil",
    "NoneType": "nil",
    "list": "Array",
    "List": "Array",
    "dict": "Hash",
    "Dict": "Hash",
    "Mapping": "Hash",
    "set": "Set",
    "any": "untyped",
    "Any": "untyped",
    "object": "untyped",
    "date": "Date",
    "datetime": "DateTime",
    "Datetime": "DateTime",
}
"""How other languages, Python first, call the base types."""

_SPELLINGS: Final[Mapping[str, str]] = {
    "Optional": "A type that may be null is written `T?`: `String?`.",
    "Union": "A union is written with bars: `String | Integer`.",
    "tuple": "A tuple is written in brackets: `[String, Integer]`.",
    "Tuple": "A tuple is written in brackets: `[String, Integer]`.",
    "bytes": "Bytes travel as text: `String @encoding(base64)`.",
    "UUID": "A UUID is written `String @format(uuid)`.",
}


def unknown_type(name: str, aliases: Iterable[str]) -> str:
    """What to say of an unknown type name: the nearest known one, or how RBS writes what it seems to mean."""
    known = [*aliases, *BASES, *GENERICS]
    if name in _FROM_ELSEWHERE:
        return f"unknown type `{name}`: did you mean `{_FROM_ELSEWHERE[name]}`?"
    if name in _SPELLINGS:
        return f"unknown type `{name}`. {_SPELLINGS[name]}"
    near = get_close_matches(name, known, n=2, cutoff=0.6)
    if near:
        return f"unknown type `{name}`: did you mean {' or '.join(f'`{n}`' for n in near)}?"
    return f"unknown type `{name}`: declare it with `@rbs type {name} = ...`, or import the file that does."
