"""Other hidden data: values and contracts changed only where a caller cannot see."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from fastmcp_authz.annotations import (
    Field,
    Intersection,
    Name,
    Nilable,
    Record,
    Tag,
    Tagged,
    Tuple,
    Type,
    Union,
    read_annotation,
)
from tests.model import Model
from tests.model_words import Form, calls, constraints

Place = list[tuple[Type, tuple[Tag, ...]]]
"""Every type that a value may have at some place, with the tags upon each."""


class Raises:
    """An object that cannot even be looked at."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Raises
        raise RuntimeError("SECRET")


def poison(random: Random) -> Any:
    """Something that no JSON is made of, or that is dangerous to look into."""
    cyclic: list[Any] = []
    cyclic += [cyclic, {"again": cyclic}]
    deep: Any = "SECRET"
    for _ in range(600):
        deep = [deep]
    endless = iter(lambda: "SECRET", None)
    parts: list[Any] = [
        cyclic,
        deep,
        endless,
        object(),
        Raises(),
        {object(): 1},
        float("nan"),
        b"\xff",
        "\ud800",
        "SECRET",
        7,
    ]
    return random.choice(parts)


def other_hidden_data(model: Model, place: Place, value: Any, random: Random) -> Any:
    """A result that differs from `value` only in keys that the caller sees under no form that the result may have.

    Where no form is an object, or none a list, all that such a thing holds is something that the caller cannot see.
    """
    forms = [form for node, tags in place for form in model.forms(node, constraints(tags))]
    if any(form.kind == "any" for form in forms):
        return value
    kinds = {form.kind for form in forms}
    if isinstance(value, list) and not kinds & {"list", "tuple"}:
        return [poison(random) for _ in range(random.randint(0, 2))]
    if isinstance(value, list):
        return [other_hidden_data(model, elements(forms, i), each, random) for i, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if not kinds & {"record", "map"}:
        return {f"secret {number}": poison(random) for number in range(random.randint(0, 2))}
    changed: dict[Any, Any] = {}
    for key, part in value.items():
        inside = behind(model, forms, key)
        if inside:
            changed[key] = other_hidden_data(model, inside, part, random)
        elif random.random() < 0.5:
            changed[key] = poison(random)
    for key in ("secret", 5, object()):
        if random.random() < 0.3 and not behind(model, forms, str(key)) and not _open_maps(forms):
            changed[key] = poison(random)
    return changed


def elements(forms: list[Form], index: int) -> Place:
    lists: Place = [(form.inside, ()) for form in forms if form.kind == "list"]
    return lists + [(f.inside[index], ()) for f in forms if f.kind == "tuple" and index < len(f.inside)]


def behind(model: Model, forms: list[Form], key: str) -> Place:
    fields: Place = [
        (f.type, f.tags) for form in forms if form.kind == "record" for f in model.shown(form) if f.name == key
    ]
    return fields + [(f.inside[1], ()) for f in forms if f.kind == "map" and model.is_key(f.inside[0], key)]


def _open_maps(forms: list[Form]) -> bool:
    return any(form.kind == "map" for form in forms)


# -- contracts ----------------------------------------------------------------------------------------------------


def other_hidden_contract(docstring: str, model: Model, random: Random) -> str:
    """A docstring that differs only in what is behind gates that are shut for the caller: names, types, tags."""
    return rewritten(docstring, _Hider(model, random).type, _Hider(model, random).fields)


def rewritten(docstring: str, on_type: Any, on_fields: Any) -> str:
    """The text of a docstring once functions have been over its types and fields."""
    annotation, _ = read_annotation(docstring, name="rewritten")
    lines = [f"@rbs {replace(alias, type=on_type(alias.type))}" for alias in annotation.aliases]
    if annotation.signature is not None:
        lines.append(f"#: {replace(annotation.signature, fields=on_fields(annotation.signature.fields))}")
    return "\n\n".join(lines)


class _Hider:
    def __init__(self, model: Model, random: Random) -> None:
        self._model = model
        self._random = random

    def fields(self, fields: tuple[Field, ...]) -> tuple[Field, ...]:
        needed = {name for field in fields for name in calls(field)}
        kept: list[Field] = []
        for number, field in enumerate(fields):
            if self._model.holds(field.tags):
                kept.append(replace(field, type=self.type(field.type)))
            elif field.name in needed:
                kept.append(replace(field, type=self._secret(field.type)))
            elif self._random.random() < 0.6:
                gates = tuple(
                    tag for tag in field.tags if not constraints([tag]) and tag.name not in ("default", "depends_on")
                )
                name = self._random.choice((field.name, f"secret{number}"))
                kept.append(Field(name, self._secret(field.type), self._random.random() < 0.5, gates, at=field.at))
        return tuple(kept)

    def type(self, node: Type) -> Type:
        match node:
            case Tagged(type=inner, tags=tags) if not self._model.holds(tags):
                return replace(node, type=self._secret(inner))
            case Tagged(type=inner) | Nilable(type=inner):
                return replace(node, type=self.type(inner))
            case Union(members=members):
                return replace(node, members=tuple(map(self.type, members)))
            case Intersection(members=members):
                return replace(node, members=tuple(map(self.type, members)))
            case Tuple(items=items):
                return replace(node, items=tuple(map(self.type, items)))
            case Name(arguments=arguments):
                return replace(node, arguments=tuple(map(self.type, arguments)))
            case Record(fields=fields):
                return replace(node, fields=self.fields(fields))
            case _:
                return node

    def _secret(self, node: Type) -> Type:
        """A type in the place of one that is hidden: a record for a record, so that what is declared stays right."""
        if self._random.random() < 0.3:
            return node
        if isinstance(node, Record):
            secret = Field("secret", Name("Integer", at=node.at), at=node.at)
            return replace(node, fields=(*node.fields, secret) if self._random.random() < 0.5 else (secret,))
        return (
            node
            if isinstance(node, Name) and node.name not in ("String", "Integer", "bool")
            else Name("Float", at=node.at)
        )
