"""The base types by name, and what to say of a name that is none."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final

from ..annotations import Name
from ..annotations.pythonisms import NAMES, respelled
from ..errors import near_names, shortened
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

_SPELLINGS: Final[Mapping[str, str]] = {
    "Optional": "A type that may be null is written `T?`: `String?`.",
    "Union": "A union is written with bars: `String | Integer`.",
    "tuple": "A tuple is written in brackets: `[String, Integer]`.",
    "Tuple": "A tuple is written in brackets: `[String, Integer]`.",
    "Decimal": "A `Decimal` is sent as text: write `String`, or `Float` and return `float(...)`.",
    "bytes": "Bytes travel as text: `String @encoding(base64)`.",
    "UUID": "A UUID is written `String @format(uuid)`.",
}

_MOST_COMPARED: Final = 300
"""How many declared names an unknown one is compared with: each comparison costs, and unknown names may be many."""


def unknown_type(written: Name | str, aliases: Collection[str]) -> str:
    """What to say of an unknown type: the nearest known name, or how RBS writes what it seems to mean.

    Args:
        written: The type, with its arguments, or its name alone.
        aliases: The names that are declared.
    """
    name = written if isinstance(written, str) else written.name
    if isinstance(written, Name) and written.arguments:
        right = respelled(written, aliases)
        if not isinstance(right, Name) or right.name != name:
            return f"unknown type `{shortened(str(written))}`: write `{shortened(str(right), 200)}`."
    short = shortened(name)
    if name in _SPELLINGS:
        return f"unknown type `{name}`. {_SPELLINGS[name]}"
    if name in NAMES:
        return f"unknown type `{name}`: did you mean `{NAMES[name]}`?"
    near = near_names(name, [*islice(aliases, _MOST_COMPARED), *BASES, *GENERICS], most=2)
    if near:
        return f"unknown type `{short}`: did you mean {' or '.join(f'`{shortened(n)}`' for n in near)}?"
    return (
        f"unknown type `{short}`: declare it with `@rbs type {short} = ...`, or import the file that does, with "
        f'`@rbs import FILE`. If it is a text, quote it: `"{short}"`.'
    )
