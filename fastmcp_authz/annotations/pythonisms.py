"""Python's way of writing types, and what to write for it here.

Plain names such as `str` are names like any other at this floor: whether one is known is for `contracts/` to say.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Final

from fastmcp_authz.annotations.syntax import Field, Intersection, Name, Nilable, Record, Tagged, Tuple, Type, Union

NAMES: Final[Mapping[str, str]] = {
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


def meant(written: Name) -> Type | None:
    """Return the type that `Optional[T]`, `Union[A, B]` or `Literal["a", "b"]` means, or None for any other name."""
    count = len(written.arguments)
    is_known = count == 1 if written.name == "Optional" else written.name in ("Union", "Literal") and count > 0
    return respelled(written) if is_known else None


def respelled(written: Type, known: Container[str] = ()) -> Type:
    """Return a type with every name in it spelled as it is here, but for those that are `known` to mean what they say.

    `dict[str, Optional[int]]` is `Hash[String, Integer?]`.
    """
    match written:
        case Name(name=name, arguments=arguments) if name not in known:
            inner = tuple(respelled(each, known) for each in arguments)
            if name == "Optional" and len(inner) == 1:
                return inner[0] if isinstance(inner[0], Nilable) else Nilable(inner[0], at=written.at)
            if name in ("Union", "Literal") and inner:
                return inner[0] if len(inner) == 1 else Union(inner, at=written.at)
            if name in ("tuple", "Tuple") and inner:
                return Tuple(inner, at=written.at)
            return replace(written, name=NAMES.get(name, name), arguments=inner)
        case Name(arguments=arguments):
            return replace(written, arguments=tuple(respelled(each, known) for each in arguments))
        case Nilable(type=inner_type) | Tagged(type=inner_type):
            return replace(written, type=respelled(inner_type, known))
        case Union(members=members) | Intersection(members=members):
            return replace(written, members=tuple(respelled(each, known) for each in members))
        case Tuple(items=items):
            return replace(written, items=tuple(respelled(each, known) for each in items))
        case Record(fields=fields):
            return replace(written, fields=tuple(_respelled(each, known) for each in fields))
    return written


def _respelled(field: Field, known: Container[str]) -> Field:
    return replace(field, type=respelled(field.type, known))
