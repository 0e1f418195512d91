"""The reference model: what SPEC sections 2 to 5 say, in the plainest Python, straight over the syntax tree.

For one annotation and the predicates to which one caller's answer is yes: which keys are shown, which arguments are
accepted and what the function then receives, what of a return value is sent. Every question walks the tree afresh:
there are no caches, and nothing of `contracts/` is used. Judging one scalar or one key is in `model_words.py`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fastmcp_authz.annotations import (
    Alias,
    Annotation,
    Field,
    Intersection,
    Literal,
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
from fastmcp_authz.annotations.types import grouped
from tests.model_words import (
    LIMITS,
    MARKS,
    Form,
    calls,
    canonical,
    constraints,
    counted,
    is_scalar,
    leaves,
    readings,
    same,
)

SCALARS = {
    **dict.fromkeys(("String", "Symbol", "Date", "Time", "DateTime"), "string"),
    **dict.fromkeys(("Float", "Numeric"), "number"),
    "Integer": "integer",
    "bool": "boolean",
    "nil": "null",
}
FORMATS = {"Date": "date", "Time": "date-time", "DateTime": "date-time"}


class Refused(Exception):
    """No: these arguments are not accepted, or nothing of this result may be sent."""


@dataclass(frozen=True)
class Model:
    """What one caller has of an annotation. `yes` holds the gates that are open: `("requires", "admin")`."""

    aliases: Mapping[str, Alias]
    parameters: tuple[Field, ...]
    yes: frozenset[tuple[str, str]]
    opt_in: bool = False
    """`nullable_inputs="opt-in"`: a nilable type takes null only under `@nullable()` (section 2)."""
    own: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What `current_user.default_for` answers, by key (section 3)."""

    # -- gates (section 4) ----------------------------------------------------------------------------------------

    def holds(self, tags: Iterable[Tag]) -> bool:
        """Every tag that is no constraint and no mark is a predicate, and all of them must hold."""
        gates = [tag for tag in tags if tag.name not in LIMITS | MARKS]
        return all((gate.name, gate.value.removeprefix(":")) in self.yes for gate in gates)

    def forms(self, node: Type, limits: tuple[Tag, ...] = (), within: frozenset[str] = frozenset()) -> Iterator[Form]:
        """The forms of a type that are there for this caller; none, and the type is gone, and what held it with it."""
        match node:
            case Tagged(type=inner, tags=tags):
                if self.holds(tags):
                    yield from self.forms(inner, constraints(tags) + limits, within)
            case Nilable(type=inner):
                yield from self.joined((inner, Name("nil", at=node.at)), limits, within)
            case Union(members=members):
                yield from self.joined(members, limits, within)
            case Intersection(members=members):
                sides = [list(self.forms(member, (), within)) for member in members]
                for together in itertools.product(*sides):
                    for form in functools.reduce(both, together[1:], [together[0]]):
                        yield replace(form, limits=form.limits + limits)
            case Name(name=name) if name in self.aliases:
                if str(node) not in within:  # a name that leads back to itself has no form of its own
                    yield from self.named(node, self.aliases[name], limits, within | {str(node)})
            case Name(name="Array" | "Set" as name, arguments=arguments):
                (items,) = arguments or (Name("untyped", at=node.at),)
                if self.is_left(items, within):
                    unique = (Tag("unique", "", at=node.at),) if name == "Set" else ()
                    yield Form("list", items, unique + limits)
            case Name(name="Hash", arguments=arguments):
                keys, values = arguments or (Name("String", at=node.at), Name("untyped", at=node.at))
                if self.is_left(values, within) and self.is_left(keys, within):
                    yield Form("map", (keys, values), limits)
            case Tuple(items=places):
                if all(self.is_left(place, within) for place in places):
                    yield Form("tuple", places, limits)
            case Record(fields=fields):
                yield Form("record", fields, limits)
            case Literal(value=value):
                yield Form("constant", value, limits)
            case Name(name="true" | "false" as name):
                yield Form("constant", name == "true", limits)
            case Name(name=name) if name in SCALARS:
                said = (Tag("format", FORMATS[name], at=node.at),) if name in FORMATS else ()
                yield Form(SCALARS[name], None, said + limits)
            case _:
                yield Form("any", None, limits)

    def joined(self, members: Iterable[Type], limits: tuple[Tag, ...], within: frozenset[str]) -> Iterator[Form]:
        """The forms of a union's members; null takes no constraints."""
        for member in members:
            yield from (form for form in self.forms(member, limits, within) if self.joins(form, limits))

    def joins(self, form: Form, limits: tuple[Tag, ...]) -> bool:
        return form.kind != "null" or not self.opt_in or any(tag.name == "nullable" for tag in limits)

    def named(self, node: Name, alias: Alias, limits: tuple[Tag, ...], within: frozenset[str]) -> Iterator[Form]:
        """In an alias a predicate gates its member; other tags belong to the name, unless parentheses hold them."""
        body = substituted(alias.type, dict(zip(alias.parameters, node.arguments, strict=True)))
        members = body.members if isinstance(body, Union) else (body,)
        bare = [m for m in members if isinstance(m, Tagged) and not m.grouped]  # no parentheses hold their tags
        own = tuple(tag for m in bare for tag in constraints(m.tags))
        for member in members:
            inner, tags = (member.type, member.tags) if member in bare else (member, ())
            if self.holds(tags):
                forms = self.forms(inner, own + limits, within)
                yield from (form for form in forms if body is member or self.joins(form, limits))

    def is_left(self, node: Type, within: frozenset[str] = frozenset()) -> bool:
        return any(True for _ in self.forms(node, (), within))

    def sees(self, field: Field) -> bool:
        return self.holds(field.tags) and any(True for _ in self.forms(field.type, constraints(field.tags)))

    def shown(self, record: Form) -> list[Field]:
        return [field for field in record.inside if self.sees(field)]

    def parts(self, form: Form) -> list[Type]:
        """The types directly inside a form."""
        match form.kind:
            case "record":
                return [field.type for field in self.shown(form)]
            case "list":
                return [form.inside]
            case "tuple" | "map":
                return list(form.inside)
            case _:
                return []

    def keys(self, node: Type, entered: frozenset[str] = frozenset()) -> frozenset[str]:
        """Every key that a type shows, at any depth."""
        if str(node) in entered:
            return frozenset()
        entered |= {str(node)}
        found: set[str] = set()
        for form in self.forms(node):
            if form.kind == "record":
                found |= {field.name for field in self.shown(form)}
            for inner in self.parts(form):
                found |= self.keys(inner, entered)
        return frozenset(found)

    # -- what fits (section 2 and 3) ------------------------------------------------------------------------------

    def fits(self, node: Type, value: Any, tags: tuple[Tag, ...] = ()) -> bool:
        return any(self.takes(form, value) for form in self.forms(node, constraints(tags)))

    def takes(self, form: Form, value: Any) -> bool:
        """Whether a value is of this form as it stands, undeclared keys and all."""
        match form.kind:
            case "list":
                fitting = isinstance(value, list) and counted(form, value)
                return fitting and all(self.fits(form.inside, each) for each in value)
            case "tuple":
                fitting = isinstance(value, list) and len(value) == len(form.inside)
                return fitting and all(map(self.fits, form.inside, value))
            case "map":
                keys, values = form.inside
                fitting = isinstance(value, dict) and counted(form, value)
                return fitting and all(self.is_key(keys, k) and self.fits(values, v) for k, v in value.items())
            case "record":
                return isinstance(value, dict) and self.complete(form, value) and self.parts_fit(form, value)
            case _:
                return is_scalar(form, value)

    def parts_fit(self, form: Form, value: dict[str, Any]) -> bool:
        return all(self.fits(f.type, value[f.name], f.tags) for f in self.shown(form) if f.name in value)

    def complete(self, form: Form, value: Mapping[str, Any]) -> bool:
        """Required fields, those that others call for, and, if the record is closed, no keys beside."""
        shown = self.shown(form)
        names = {field.name for field in shown}
        given = names & value.keys()
        return (
            all(field.optional or field.name in given for field in shown)
            and not any(parent in given and f.name not in given for f in shown for parent in calls(f))
            and not (form.limit("closed", "strict") is not None and value.keys() - names)
        )

    def is_key(self, keys: Type, key: str) -> bool:
        """Literals and constrained strings narrow the keys of a hash; a plain type does not: every key is a string."""
        forms = list(self.forms(keys))
        return any(f.kind in ("any", "integer", "number") or is_scalar(f, key) for f in forms)

    # -- arguments (sections 5.2 to 5.4) --------------------------------------------------------------------------

    def received(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the function is called with. Raises `Refused`."""
        root = Form("record", self.parameters)
        shown = self.shown(root)
        if arguments.keys() - {field.name for field in shown} or not self.takes(root, dict(arguments)):
            raise Refused
        filled = {f.name: default for f in shown for default in self.defaults(f)}
        return {**filled, **self.cut(root, dict(arguments), before=True)}

    def defaults(self, field: Field) -> list[Any]:
        """The caller's own default of a field, else the fixed one, in a list; none if what is shown takes neither."""
        everything = replace(self, yes=_Everything(), opt_in=False)
        candidates: list[Any] = []
        for tag in sorted(field.tags, key=lambda tag: tag.name != "default_for"):
            if tag.name == "default_for":
                key = tag.value.removeprefix(":")
                candidates += [self.own[key]] if key in self.own else []
            if tag.name == "default":
                candidates += [v for v in readings(tag) if everything.fits(field.type, v, field.tags)][:1]
        shown = [v for v in candidates if self.fits(field.type, v, field.tags)]
        return [v for v in shown if same(self.best(field.type, v, field.tags, before=True), v)][:1]

    # -- results (sections 5.5 and 5.6) ---------------------------------------------------------------------------

    def sent(self, value: Any) -> Any:
        """What of a return value is sent. Raises `Refused` where it is withheld."""
        return self.best(Name("output", at=self.aliases["output"].at), value)

    def best(self, node: Type, value: Any, tags: tuple[Tag, ...] = (), *, before: bool = False) -> Any:
        """Of the forms that a value satisfies, what the one shows that keeps most of it; of equals the smallest text.

        A result is cut and then has to fit; an argument has to fit `before` anything of it is dropped.
        """
        kept: list[Any] = []
        for form in self.forms(node, constraints(tags)):
            if before and not self.takes(form, value):
                continue
            try:
                kept.append(self.cut(form, value, before=before))
            except Refused:
                continue
        if not kept:
            raise Refused
        return min(kept, key=lambda each: (-leaves(each), canonical(each)))

    def cut(self, form: Form, value: Any, *, before: bool) -> Any:
        """What a form shows of a value: no key that it does not name. Raises `Refused` where that does not fit it."""
        cut: Any = value
        if form.kind == "list" and isinstance(value, list):
            cut = [self.best(form.inside, each, before=before) for each in value]
        elif form.kind == "tuple" and isinstance(value, list) and len(value) == len(form.inside):
            cut = [self.best(place, each, before=before) for place, each in zip(form.inside, value, strict=True)]
        elif form.kind == "map" and isinstance(value, dict):
            keys, values = form.inside
            cut = {k: self.best(values, v, before=before) for k, v in value.items() if self.is_key(keys, k)}
        elif form.kind == "record" and isinstance(value, dict):
            here = [field for field in self.shown(form) if field.name in value]
            cut = {f.name: self.best(f.type, value[f.name], f.tags, before=before) for f in here}
        if before or self.takes(form, cut):
            return cut
        raise Refused


class _Everything(frozenset[tuple[str, str]]):
    """Yes to every gate."""

    def __contains__(self, gate: object) -> bool:
        return True


def read(docstring: str, yes: Iterable[tuple[str, str]] | None = None) -> Model:
    """The model of a docstring for a caller with these answers; for one who may see everything where `None`."""
    annotation, problems = read_annotation(docstring, name="model")
    assert not problems, problems
    return Model(
        {alias.name: alias for alias in annotation.aliases},
        _parameters(annotation),
        _Everything() if yes is None else frozenset(yes),
    )


def with_opt_in(model: Model, *, signed: bool) -> Model:
    """The model under `nullable_inputs="opt-in"`: a nilable parameter of a signature may also be left out."""
    everything = replace(model, yes=_Everything())
    nilable = {f.name for f in model.parameters if any(form.kind == "null" for form in everything.forms(f.type))}
    fields = tuple(replace(f, optional=f.optional or (signed and f.name in nilable)) for f in model.parameters)
    return replace(model, parameters=fields, opt_in=True)


def _parameters(annotation: Annotation) -> tuple[Field, ...]:
    for alias in annotation.aliases:
        if alias.name == "input":
            assert isinstance(alias.type, Record)
            return alias.type.fields
    assert annotation.signature is not None
    return annotation.signature.fields


# -- words of the language ----------------------------------------------------------------------------------------


def both(one: list[Form], b: Form) -> list[Form]:
    """`A & B` of two forms, or none: one record with the fields of both; a field of both is what both types say."""
    return [form for a in one for form in _both(a, b)]


def _both(a: Form, b: Form) -> list[Form]:
    if a.kind in ("any", "map") and (a.kind == "any" or b.kind == "record"):
        return [b]
    if b.kind in ("any", "map"):
        return [a]
    if a.kind == b.kind == "record":
        theirs = {field.name: field for field in b.inside}
        joined = [both_fields(mine, theirs.pop(mine.name)) if mine.name in theirs else mine for mine in a.inside]
        return [Form("record", [*joined, *theirs.values()], a.limits + b.limits)]
    if "constant" in (a.kind, b.kind):
        constant, other = (a, b) if a.kind == "constant" else (b, a)
        fitting = is_scalar(other, constant.inside)
        return [replace(constant, limits=other.limits + constant.limits)] if fitting else []
    narrower = a if a.kind == "integer" else b
    alike = a.kind == b.kind or {a.kind, b.kind} == {"integer", "number"}
    return [replace(narrower, limits=a.limits + b.limits)] if alike else []


def both_fields(a: Field, b: Field) -> Field:
    if (a.type, constraints(a.tags)) == (b.type, constraints(b.tags)):
        return replace(a, optional=a.optional and b.optional, tags=tuple(dict.fromkeys(a.tags + b.tags)))
    sides = tuple(Tagged(f.type, constraints(f.tags), at=f.at) if constraints(f.tags) else f.type for f in (a, b))
    others = tuple(tag for tag in a.tags + b.tags if tag.name not in LIMITS)
    return Field(a.name, Intersection(sides, at=a.at), a.optional and b.optional, others, at=a.at)


def substituted(node: Type, variables: Mapping[str, Type]) -> Type:
    """A type with type variables replaced by what they stand for, whose tags stay its own."""
    match node:
        case _ if not variables:
            return node
        case Name(name=name, arguments=()) if name in variables:
            return grouped(variables[name])
        case Name(arguments=inner):
            return replace(node, arguments=tuple(substituted(each, variables) for each in inner))
        case Record(fields=fields):
            return replace(node, fields=tuple(replace(f, type=substituted(f.type, variables)) for f in fields))
        case Tuple(items=inner):
            return replace(node, items=tuple(substituted(each, variables) for each in inner))
        case Nilable(type=one) | Tagged(type=one):
            return replace(node, type=substituted(one, variables))
        case Intersection(members=inner) | Union(members=inner):
            return replace(node, members=tuple(substituted(each, variables) for each in inner))
        case _:
            return node
