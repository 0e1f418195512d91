"""Syntax trees written by hand: positions do not count in comparisons, so one span will do for all."""

from __future__ import annotations

from dataclasses import replace

from fastmcp_authz.annotations import (
    Alias,
    Annotation,
    Field,
    Intersection,
    Literal,
    Name,
    Nilable,
    Record,
    Source,
    Span,
    Tag,
    Tagged,
    Tuple,
    Type,
    Union,
    read_annotation,
)

AT = Span(0, 0, Source("nowhere", ""))


def name(text: str, *arguments: Type) -> Name:
    return Name(text, arguments, at=AT)


def literal(value: str | int) -> Literal:
    return Literal(value, at=AT)


def field(name: str, type_: Type, *tags: Tag, optional: bool = False) -> Field:
    return Field(name, type_, optional, tags, at=AT)


def record(*fields: Field) -> Record:
    return Record(fields, at=AT)


def items(*types: Type) -> Tuple:
    return Tuple(types, at=AT)


def nilable(type_: Type) -> Nilable:
    return Nilable(type_, at=AT)


def both(*types: Type) -> Intersection:
    return Intersection(types, at=AT)


def either(*types: Type) -> Union:
    return Union(types, at=AT)


def tag(name: str, value: str = "", *, quoted: bool = False) -> Tag:
    return Tag(name, value, quoted, at=AT)


def tagged(type_: Type, *tags: Tag, grouped: bool = False) -> Tagged:
    return Tagged(type_, tags, grouped, at=AT)


def own(type_: Type) -> Type:
    """Return what `(type_)` reads as: parentheses make tags the own ones of what they stand behind."""
    if isinstance(type_, Tagged):
        return replace(type_, grouped=True)
    if isinstance(type_, Union):
        return replace(type_, members=tuple(m if isinstance(m, Union) else own(m) for m in type_.members))
    return type_


def read(docstring: str) -> Annotation:
    """Read a docstring that has nothing wrong with it."""
    annotation, problems = read_annotation(docstring, name="tool.py")
    assert problems == ()
    return annotation


def alias(text: str) -> Alias:
    """Read the one alias of `@rbs {text}`."""
    (only,) = read(f"@rbs {text}").aliases
    return only


def type_(text: str) -> Type:
    return alias(f"type x = {text}").type


def parameters(text: str) -> tuple[Field, ...]:
    """Read the fields of a one-line signature."""
    signature = read(f"#: ({text}) -> output").signature
    assert signature is not None
    return signature.fields


def messages(docstring: str) -> list[str]:
    """Return every problem of a docstring as `line:column+width message`."""
    _, problems = read_annotation(docstring, name="tool.py")
    return [f"{p.line}:{p.column}+{p.width} {p.message}" for p in problems]
