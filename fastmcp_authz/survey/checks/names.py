"""Types that are declared or imported, and used nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Final, assert_never

from fastmcp_authz.annotations import (
    Alias,
    Annotation,
    Intersection,
    Literal,
    Name,
    Nilable,
    Record,
    Tagged,
    Tuple,
    Type,
    Union,
)
from fastmcp_authz.contracts.contract import Syntax
from fastmcp_authz.survey.checks.finding import Found, Spot
from fastmcp_authz.survey.checks.looked import Looked
from fastmcp_authz.survey.checks.words import quoted

_ROOTS: Final = ("input", "output")


def unused_alias(looked: Looked) -> Iterator[Found]:
    """Types of a docstring that nothing reachable uses."""
    for subject in looked.guarded:
        syntax = subject.syntax()
        used = _used(syntax)
        for alias in syntax.annotation.aliases:
            if alias.name not in used:
                yield subject.found(
                    f"`{alias.name}` is used by neither the inputs nor the output.",
                    "Remove it, or use it.",
                    spot=Spot.of(alias.at),
                    part=f"type {alias.name}",
                )


def unused_shared_alias(looked: Looked) -> Iterator[Found]:
    """Types of a shared file that no tool uses which imports the file."""
    shared: dict[tuple[str, str], tuple[Alias, list[str]]] = {}
    used: set[tuple[str, str]] = set()
    for subject in looked.guarded:
        syntax = subject.syntax()
        names = _used(syntax)
        for alias in _shared(syntax):
            key = (alias.at.source.name, alias.name)
            shared.setdefault(key, (alias, []))[1].append(subject.name)
            if alias.name in names:
                used.add(key)
    in_use = {file for file, _ in used}
    for key, (alias, tools) in shared.items():
        if key not in used and key[0] in in_use:  # else the import itself is too much
            yield Found(
                None,
                f"type {alias.name}",
                Spot.of(alias.at),
                f"`{alias.name}` is used by none of the tools that import its file: {quoted(tools)}.",
                "Remove it, or leave it to a file of its own.",
            )


def unused_import(looked: Looked) -> Iterator[Found]:
    """Imports of which no type is used."""
    for subject in looked.guarded:
        syntax = subject.syntax()
        names = _used(syntax)
        for imported in syntax.annotation.imports:
            brought = [a for a in _shared(syntax) if _is_of(a, imported.name)]
            if not any(alias.name in names for alias in brought):
                yield subject.found(
                    f"Nothing of what `@rbs import {imported.name}` brings in is used.",
                    "Remove it.",
                    spot=Spot.of(imported.at),
                    part=f"import {imported.name}",
                )


def _shared(syntax: Syntax) -> Iterator[Alias]:
    local = {alias.name for alias in syntax.annotation.aliases}
    return (alias for alias in syntax.aliases.values() if alias.name not in local)


def _is_of(alias: Alias, imported: str) -> bool:
    """Whether a type is of the file that an import names."""
    parts = PurePath(f"{imported}.rbs").parts
    return PurePath(alias.at.source.name).parts[-len(parts) :] == parts


def _used(syntax: Syntax) -> frozenset[str]:
    """The names that the inputs and the output are made of."""
    used: set[str] = set()
    waiting = list(_roots(syntax.annotation, syntax.aliases))
    used.update(name for name in _ROOTS if name in syntax.aliases)
    while waiting:
        for name in _names(waiting.pop()):
            if name not in used and name in syntax.aliases:
                used.add(name)
                alias = syntax.aliases[name]
                waiting.append(alias.type)
    return frozenset(used)


def _roots(annotation: Annotation, aliases: Mapping[str, Alias]) -> Iterable[Type]:
    yield from (aliases[name].type for name in _ROOTS if name in aliases)
    if annotation.signature is not None and "input" not in aliases:
        yield from (each.type for each in annotation.signature.fields)


def _names(root: Type) -> Iterator[str]:
    """Every name in a type. A variable of a generic type that is called like another type counts as that type."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        match node:
            case Name(name=name, arguments=arguments):
                yield name
                waiting += arguments
            case Record(fields=fields):
                waiting += (each.type for each in fields)
            case Tuple(items=items):
                waiting += items
            case Nilable(type=inner) | Tagged(type=inner):
                waiting.append(inner)
            case Union(members=members) | Intersection(members=members):
                waiting += members
            case Literal():
                pass
            case _:
                assert_never(node)
