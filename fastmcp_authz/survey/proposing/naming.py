"""Names for the types under `$defs`: as short as they can be, in the manner of annotations, each once."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final
from unicodedata import normalize

from fastmcp_authz.contracts.names import BASES, GENERICS

_OURS: Final = (*BASES, *GENERICS)
TAKEN: Final = frozenset({"input", "output", "type", *_OURS, *map(str.lower, _OURS)})
"""What is something else in an annotation, or looks like it."""
_MEANT: Final = frozenset({"self", "cls", "api", "mcp", "authorized_tool"})
"""What is something else in a function around a tool."""
_BETWEEN: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^0-9A-Za-z]+")


def alias_names(definitions: Iterable[str], taken: Collection[str] = ()) -> Mapping[str, str]:
    """The name of an alias for each key of `$defs`.

    Args:
        definitions: The keys. Where two models have one name, pydantic writes their modules before it.
        taken: Names that are something else already.
    """
    names: dict[str, str] = {}
    for key in definitions:
        parts = key.split("__")
        options = [snake_case("_".join(parts[start:])) for start in range(len(parts) - 1, -1, -1)]
        used = {*TAKEN, *taken, *names.values()}
        short = next((each for each in options if each not in used), None)
        names[key] = short or unique(options[0], used)
    return names


def snake_case(text: str) -> str:
    """A text as the name of an alias or of a parameter: `PageOfRows[int]` is `page_of_rows_int`."""
    words = [word for word in _BETWEEN.split(text) if word]
    name = "_".join(words).lower() or "part"
    return name if name.isidentifier() else f"_{name}"


def parameter_names(properties: Iterable[str]) -> Mapping[str, str]:
    """The name of a Python parameter for each property: itself, where Python takes that."""
    names: dict[str, str] = {}
    for key in properties:
        names[key] = unique(python_name(key if key.isidentifier() else snake_case(key)), {*names.values()})
    return names


def python_name(name: str) -> str:
    """An identifier that means nothing else in a function around a tool, as Python reads it."""
    usable = normalize("NFKC", name)
    return f"{usable}_" if keyword.iskeyword(usable) or usable in _MEANT else usable


def unique(name: str, used: Collection[str]) -> str:
    """A name, or the next one like it."""
    count, candidate = 1, name
    while candidate in used:
        count += 1
        candidate = f"{name}_{count}"
    return candidate
