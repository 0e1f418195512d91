"""Whether an annotation and the signature under it agree (SPEC section 7, "Contract validation")."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic.fields import FieldInfo

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
    is_null,
)
from fastmcp_authz.contracts.shapes import Union as UnionShape
from fastmcp_authz.errors import Problem, near_names
from fastmcp_authz.serving.hints import (
    ANYTHING,
    accepted,
    borrowed_names,
    constants,
    extras,
    inside,
    own_alias,
    written,
)
from fastmcp_authz.serving.signatures import Signature

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


def signature_problems(signature: Signature, place: str) -> Iterator[Problem]:
    """What is wrong with a signature, whatever the annotation says. `place` names the function in the messages."""
    for name, parameter in signature.given.items():
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
                written_out = parameter.replace(annotation=signature.hints.get(name, inspect.Parameter.empty))
                yield Problem(
                    f"`{written_out}` takes any argument, and nothing then tells a hidden one from an unknown one: "
                    f"name each parameter. {place}"
                )
            case inspect.Parameter.POSITIONAL_ONLY:
                yield Problem(
                    f"`{name}` is positional-only, and a tool's arguments come by name: remove the `/`. {place}"
                )


def hint_problems(signature: Signature, place: str) -> Iterator[Problem]:
    """What hints say beside a type that would lead past the annotation."""
    for name, parameter in signature.given.items():
        hint = signature.hints.get(name)
        if isinstance(parameter.default, FieldInfo):
            hint = Annotated[hint, parameter.default]
        for extra in extras(hint):
            if "x-mcp-header" in extra:
                yield Problem(
                    f"`{name}` has `x-mcp-header`, which FastMCP tells every caller, and checks before anybody is "
                    f"asked: leave it out. {place}"
                )
        if (alias := own_alias(hint, name)) is not None:
            yield Problem(
                f"`{name}` has the alias `{alias}`: callers know parameters by the names in the annotation. "
                f"Leave the alias out. {place}"
            )
        for model, field, other in borrowed_names(hint):
            yield Problem(
                f"`{model.__name__}.{field}` is also read from `{other}`, which is another field: whoever may see the "
                f"one could fill in the other. Leave that alias out. {place}"
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
            message = _contradiction(name, signature.hints[name], each.shape, contract.input)
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
    kinds = accepted(hint) if hint is not None else ANYTHING
    if kinds == ANYTHING:
        return "untyped"
    (kind, *others) = sorted(_without_integer(kinds - {"null"})) or ["null"]
    return "untyped" if others else _RBS[kind] + ("?" if "null" in kinds and kind != "null" else "")


def _no_parameter(name: str, signature: Signature) -> str:
    if name in signature.injected:
        return f"`{name}` is put in by FastMCP, so no caller may give it: remove it from the annotation."
    near = near_names(name, signature.given)
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


def _contradiction(name: str, hint: Any, shape: Shape, tree: Tree, part: str = "") -> str | None:
    """Where a hint refuses what the annotation says of a parameter, or of a `part` of it, in so far as it is plain.

    Null is left out: `reason: str = None` is common, and such a call is refused in our own words.
    """
    place = f"{part}`{name}`"
    declared = _types(shape, tree)
    refused = declared - accepted(hint) - {"null"}
    if refused and declared != ANYTHING:
        kinds = sorted(_without_integer(declared - {"null"}))
        better = " | ".join(_NAMES.get(kind, "dict[str, Any]") for kind in kinds)
        return (
            f"{place} takes {_listed(declared)} by the annotation, and its hint `{written(hint)}` refuses "
            f"{_listed(refused)}: write `{better if part else f'{name}: {better}'}`."
        )
    members = _members(shape, tree)
    if all(isinstance(member, Words) for member in members):
        words = [value for member in members if isinstance(member, Words) for value in member.values]
        only = constants(hint)
        missing = [value for value in words if only is not None and value not in only]
        if missing:
            return (
                f"{place} may be `{json.dumps(missing[0])}` by the annotation, and its hint `{written(hint)}` refuses "
                f"that: write `Literal[{', '.join(map(repr, words))}]`."
            )
    match members:
        case [ListOf(items=items)]:
            return _contradiction(name, inside(hint, "array"), items, tree, f"an item of {part}")
        case [MapOf(values=values)]:
            return _contradiction(name, inside(hint, "object"), values, tree, f"a value of {part}")
        case _:
            return None


def _members(shape: Shape, tree: Tree, seen: frozenset[str] = frozenset()) -> list[Shape]:
    """What a type is the union of, null apart."""
    if isinstance(shape, Ref):
        return [] if shape.key in seen else _members(tree.definitions[shape.key], tree, seen | {shape.key})
    if isinstance(shape, UnionShape):
        return [each for m in shape.members for each in _members(m.shape, tree, seen)]
    return [] if is_null(shape) else [shape]


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
            return ANYTHING


def _is_single(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _listed(types: frozenset[str]) -> str:
    return " or ".join(f"`{kind}`" for kind in sorted(_without_integer(types)))


def _without_integer(types: frozenset[str]) -> frozenset[str]:
    """Every integer is a number in JSON Schema; saying both only confuses."""
    return types - {"integer"} if "number" in types else types
