"""Whether an annotation and the signature under it agree (SPEC section 7, "Contract validation")."""

from __future__ import annotations

import difflib
import inspect
from collections import abc
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BeforeValidator, PlainValidator, WrapValidator

from fastmcp_authz.contracts.contract import ToolContract
from fastmcp_authz.contracts.shapes import (
    Field,
    ListOf,
    MapOf,
    Record,
    Ref,
    Scalar,
    Shape,
    Tree,
    TupleOf,
    Words,
)
from fastmcp_authz.contracts.shapes import Union as UnionShape
from fastmcp_authz.errors import Problem
from fastmcp_authz.serving.signatures import Signature

_ANYTHING: Final = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_HINTS: Final = {
    str: frozenset({"string"}),
    int: frozenset({"integer"}),
    float: frozenset({"integer", "number"}),
    bool: frozenset({"boolean"}),
    NoneType: frozenset({"null"}),
}
_LISTS: Final = (list, tuple, set, frozenset, abc.Sequence, abc.Set, abc.Iterable, abc.Collection)
_OBJECTS: Final = (dict, abc.Mapping, abc.MutableMapping)
_NAMES: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list"}
_RBS: Final = {
    "string": "String",
    "integer": "Integer",
    "number": "Float",
    "boolean": "bool",
    "array": "Array",
    "object": "Hash",
    "null": "nil",
}
_CONVERTERS: Final = (BeforeValidator, PlainValidator, WrapValidator)


def signature_problems(signature: Signature, place: str) -> Iterator[Problem]:
    """What is wrong with a signature, whatever the annotation says. `place` names the function in the messages."""
    for name, parameter in signature.given.items():
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
                yield Problem(
                    f"`{parameter}` takes any argument, and nothing then tells a hidden one from an unknown one: "
                    f"name each parameter. {place}"
                )
            case inspect.Parameter.POSITIONAL_ONLY:
                yield Problem(
                    f"`{name}` is positional-only, and a tool's arguments come by name: remove the `/`. {place}"
                )


def disagreements(signature: Signature, contract: ToolContract, place: str) -> Iterator[Problem]:
    """Where the contract asks what the function cannot take, or the function needs what not every caller can give."""
    fields = contract.input.root.fields if isinstance(contract.input.root, Record) else ()
    declared = {each.name: each for each in fields}

    def at(name: str, message: str) -> Problem:
        span = contract.places.get(name)
        return span.problem(message) if span is not None else Problem(f"{message} {place}")

    for name in declared:
        if name not in signature.given:
            yield at(name, _no_parameter(name, signature))
    for name, parameter in signature.given.items():
        if parameter.default is inspect.Parameter.empty and _is_single(parameter):
            message = _needs_everyone(parameter, declared.get(name), contract)
            if message is not None:
                yield at(name, message)
    for name, each in declared.items():
        if name in signature.given and name in signature.hints:
            message = _contradiction(name, signature.hints[name], _types(each.shape, contract.input))
            if message is not None:
                yield at(name, message)


def sketch(signature: Signature) -> str:
    """The annotation that a signature amounts to, for a function that has none."""
    written = (
        f"{'' if parameter.default is inspect.Parameter.empty else '?'}{name}: {_spelt(signature.hints.get(name))}"
        for name, parameter in signature.given.items()
    )
    return f"#: ({', '.join(written)}) -> output"


def _spelt(hint: Any) -> str:
    kinds = _accepted(hint) if hint is not None else _ANYTHING
    if kinds == _ANYTHING:
        return "untyped"
    (kind, *others) = sorted(_without_integer(kinds - {"null"})) or ["null"]
    return "untyped" if others else _RBS[kind] + ("?" if "null" in kinds and kind != "null" else "")


def _no_parameter(name: str, signature: Signature) -> str:
    if name in signature.injected:
        return f"`{name}` is put in by FastMCP, so no caller may give it: remove it from the annotation."
    near = difflib.get_close_matches(name, signature.given, n=1)
    meant = f"Did you mean `{near[0]}`?" if near else f"It has {', '.join(signature.given) or 'none'}."
    return f"`{name}` is in the annotation and no parameter of the function. {meant}"


def _needs_everyone(parameter: inspect.Parameter, declared: Field | None, contract: ToolContract) -> str | None:
    """For a parameter without a Python default: a caller who may not see it could not call the function at all."""
    name = parameter.name
    if declared is None:
        return (
            f"`{name}` has no default in Python and is not in the annotation, so no call could succeed: "
            "write it there, or give it a default."
        )
    if name not in contract.open_parameters:
        return (
            f"A parameter that some callers cannot see needs a default in Python too: `{name}` has none. "
            f"Write `{name}=...` in the signature of the function."
        )
    if not declared.required:
        return (
            f"`{name}` may be left out by the annotation and has no default in Python: give it one, or remove its `?`."
        )
    return None


def _contradiction(name: str, hint: Any, declared: frozenset[str]) -> str | None:
    # Null is left out: `reason: str = None` is common, and such a call is refused in our own words.
    refused = declared - _accepted(hint) - {"null"}
    if not refused or declared == _ANYTHING:
        return None
    written = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
    kinds = sorted(_without_integer(declared - {"null"}))
    better = " | ".join(_NAMES.get(kind, "dict[str, Any]") for kind in kinds)
    return (
        f"`{name}` takes {_listed(declared)} by the annotation, and its hint `{written}` refuses "
        f"{_listed(refused)}: write `{name}: {better}`."
    )


def _types(shape: Shape, tree: Tree, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """The JSON types that a declared type may have for some caller; all of them where it does not say."""
    if isinstance(shape, Ref):
        return frozenset() if shape.key in seen else _types(tree.definitions[shape.key], tree, seen | {shape.key})
    match shape:
        case UnionShape(members=members):
            return frozenset[str]().union(*(_types(m.shape, tree, seen) for m in members))
        case Scalar(type="number"):
            return frozenset({"number", "integer"})
        case Scalar(type=name) | Words(type=name):
            return frozenset({name})
        case ListOf() | TupleOf():
            return frozenset({"array"})
        case Record() | MapOf():
            return frozenset({"object"})
        case _:
            return _ANYTHING


def _accepted(hint: Any) -> frozenset[str]:
    """The JSON types that pydantic can make the hint of; all of them where it is not obvious."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *metadata = get_args(hint)
        return _ANYTHING if any(isinstance(each, _CONVERTERS) for each in metadata) else _accepted(inner)
    if origin in (Union, UnionType):
        return frozenset[str]().union(*(_accepted(member) for member in get_args(hint)))
    kind = origin or hint
    if kind in _LISTS:
        return frozenset({"array"})
    if kind in _OBJECTS:
        return frozenset({"object"})
    return _HINTS.get(kind, _ANYTHING) if isinstance(kind, type) else _ANYTHING


def _is_single(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _listed(types: frozenset[str]) -> str:
    return " or ".join(f"`{kind}`" for kind in sorted(_without_integer(types)))


def _without_integer(types: frozenset[str]) -> frozenset[str]:
    """Every integer is a number in JSON Schema; saying both only confuses."""
    return types - {"integer"} if "number" in types else types
