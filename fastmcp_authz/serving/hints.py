"""What JSON the type hint of a parameter takes, as far as that is obvious: pydantic has the last word."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections import abc
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, is_typeddict

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, PlainValidator, WrapValidator
from pydantic.fields import FieldInfo

ANYTHING: Final = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_KINDS: Final[dict[Any, frozenset[str]]] = {
    str: frozenset({"string"}),
    int: frozenset({"integer"}),
    float: frozenset({"integer", "number"}),
    bool: frozenset({"boolean"}),
    NoneType: frozenset({"null"}),
    **dict.fromkeys((list, tuple, set, frozenset), frozenset({"array"})),
    **dict.fromkeys((abc.Sequence, abc.Set, abc.Iterable, abc.Collection), frozenset({"array"})),
    **dict.fromkeys((dict, abc.Mapping, abc.MutableMapping), frozenset({"object"})),
    **dict.fromkeys(
        (datetime.date, datetime.datetime, datetime.time, datetime.timedelta, Decimal),
        frozenset({"string", "integer", "number"}),
    ),
    **dict.fromkeys((uuid.UUID, PurePath), frozenset({"string"})),
}
_CONVERTERS: Final = (BeforeValidator, PlainValidator, WrapValidator)


def accepted(hint: Any) -> frozenset[str]:
    """The JSON types that pydantic can make the hint of; all of them where it is not obvious."""
    members = _members(hint)
    if members is None:
        return ANYTHING
    return frozenset[str]().union(*map(_accepted, members))


def inside(hint: Any, kind: str) -> Any:
    """The hint of what is in a list (`kind` "array") or behind the keys of a dict ("object"); `Any` if it is open."""
    members = _members(hint) or ()
    found = [get_args(member) for member in members if _accepted(member) == frozenset({kind})]
    if len(found) != 1:
        return Any
    match kind, [each for each in found[0] if each is not Ellipsis]:
        case "array", [item]:
            return item
        case "object", [_, value]:
            return value
        case _:
            return Any


def constants(hint: Any) -> tuple[Any, ...] | None:
    """The only values that a hint of literals and enums takes; `None` for any other."""
    values: list[Any] = []
    for member in _members(hint) or (Any,):
        if get_origin(member) is Literal:
            values += [each.value if isinstance(each, Enum) else each for each in get_args(member)]
        elif isinstance(member, type) and issubclass(member, Enum):
            values += [each.value for each in member]
        elif member is NoneType:
            values.append(None)
        else:
            return None
    return tuple(values)


def extras(hint: Any) -> Iterator[dict[str, Any]]:
    """The additions to JSON Schema that a parameter's hint, or its default, asks for."""
    for each in _field_infos(hint):
        if isinstance(each.json_schema_extra, dict):
            yield each.json_schema_extra


def own_alias(hint: Any, name: str) -> str | None:
    """Another name that the hint of the parameter `name` gives it."""
    return next((alias for each in _field_infos(hint) for alias in _aliases(each) if alias != name), None)


def borrowed_names(hint: Any) -> Iterator[tuple[type[BaseModel], str, str]]:
    """Fields of the models in a hint that are read from the name of another field too, with that name."""
    waiting, seen = [hint], set[type]()
    while waiting:
        each = waiting.pop()
        waiting += get_args(each)
        if not isinstance(each, type) or not issubclass(each, BaseModel) or each in seen:
            continue
        seen.add(each)
        for name, info in each.model_fields.items():
            waiting.append(info.annotation)
            for alias in _aliases(info):
                if alias != name and alias in each.model_fields:
                    yield each, name, alias


def _field_infos(hint: Any) -> list[FieldInfo]:
    metadata = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return [each for each in metadata if isinstance(each, FieldInfo)]


def _aliases(info: FieldInfo) -> list[str]:
    """The keys that a field is read from beside its own name."""
    found: list[Any] = [info.alias]
    match info.validation_alias:
        case AliasChoices(choices=choices):
            found += choices
        case other:
            found.append(other)
    paths = [each.path[0] if isinstance(each, AliasPath) else each for each in found]
    return [each for each in paths if isinstance(each, str)]


def written(hint: Any) -> str:
    """The hint as its author wrote it."""
    return hint.__name__ if isinstance(hint, type) and get_origin(hint) is None else str(hint).replace("typing.", "")


def _members(hint: Any) -> tuple[Any, ...] | None:
    """What a hint is the union of; `None` where a converter may make it of anything."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *metadata = get_args(hint)
        return None if any(isinstance(each, _CONVERTERS) for each in metadata) else _members(inner)
    if origin in (Union, UnionType):
        parts = [_members(member) for member in get_args(hint)]
        return None if any(part is None for part in parts) else tuple(each for part in parts for each in part or ())
    return (hint,)


def _accepted(hint: Any) -> frozenset[str]:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return frozenset[str]().union(*(_KINDS.get(type(value), ANYTHING) for value in get_args(hint)))
    if not isinstance(kind, type):
        return ANYTHING
    if kind in _KINDS:
        return _KINDS[kind]
    if issubclass(kind, Enum):
        return frozenset[str]().union(*(_KINDS.get(type(each.value), ANYTHING) for each in kind))
    if issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind) or is_typeddict(kind):
        return _of_model(kind)
    return ANYTHING


def _of_model(kind: Any) -> frozenset[str]:
    """An object, unless the model has code of its own that may read something else."""
    decorators = getattr(kind, "__pydantic_decorators__", None)
    if decorators is not None and decorators.model_validators:
        return ANYTHING
    if "root" in getattr(kind, "__pydantic_fields__", {}):
        return ANYTHING
    return frozenset({"object"})
