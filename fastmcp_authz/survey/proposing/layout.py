"""Annotations over lines, as a person writes them: the canonical text of nodes, broken where it is long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from fastmcp_authz.annotations import (
    Alias,
    Annotation,
    Field,
    Literal,
    Name,
    Nilable,
    Record,
    Tag,
    Tagged,
    Type,
    Union,
    read_annotation,
)
from fastmcp_authz.survey.proposing.constants import one_line
from fastmcp_authz.survey.proposing.said import Note

WIDTH: Final = 100
"""How long a line of an annotation may be where it can be broken: four characters are left for the indentation."""
_WIDEST: Final = 44
"""The most columns that tags are moved to the right, so that they stand below one another."""
_PLAIN: Final = re.compile(r"[^\s\"'\\()#@|&,{=\[\]}][^\"'\\()\[\]{}]*")
"""A text that says the same wherever a blank in it is made a line break."""


def signature_lines(fields: Sequence[Field]) -> list[str]:
    """The lines of `#: (...) -> output`."""
    whole = f"#: ({', '.join(map(str, fields))}) -> output"
    if len(whole) <= WIDTH:
        return [whole]
    lines = ["#: (", *(f"#:   {line}" for line in _field_lines(fields, WIDTH - 5)), "#: ) -> output"]
    read = _read(lines).signature
    return lines if read is not None and read.fields == tuple(fields) else [whole]


def alias_lines(alias: Alias) -> list[str]:
    """The lines of `@rbs type name = ...`."""
    whole = f"@rbs {alias}"
    if len(whole) <= WIDTH:
        return [whole]
    head = f"@rbs type {alias.name} = "
    first, *rest = _type_lines(alias.type, WIDTH - len(head), WIDTH)
    lines = [head + first, *rest]
    return lines if _read(lines).aliases == (alias,) else [whole]


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Notes as comments, those that say the same of several parts as one."""
    grouped: dict[str, list[str]] = {}
    for note in notes:
        grouped.setdefault(note.text, []).append(note.about)
    lines: list[str] = []
    for text, parts in grouped.items():
        named = ", ".join(f"`{one_line(part)}`" for part in parts if part)
        lines += [f"# {line}" for line in _filled(one_line(f"{named} {text}"), WIDTH - 2)]
    return lines


def _read(lines: Iterable[str]) -> Annotation:
    """What lines say: where a break would change that, as it might in a text with quotes, there is to be none."""
    annotation, _ = read_annotation("\n".join(lines), name="scaffold")
    return annotation


def _field_lines(fields: Sequence[Field], width: int) -> Iterator[str]:
    """Fields, one below the other, with their tags below one another too."""
    heads = [_head(each) for each in fields]
    column = max((len(head) for head in heads if len(head) <= _WIDEST), default=0) + 3
    for at, (field, head) in enumerate(zip(fields, heads, strict=True)):
        comma = "," if at < len(fields) - 1 else ""
        tags = [*map(str, field.tags)]
        line = f"{head.ljust(column)}{' '.join(tags)}" if tags else head
        if len(line) + len(comma) <= width:
            yield line + comma
            continue
        lines = [head] if len(head) <= width else _broken_head(field, width)
        yield from lines[:-1]
        indent = " " * column if column < width // 2 else "    "
        begun = lines[-1].ljust(column - 1) if lines == [head] and tags else lines[-1]
        lines = _with_tags(begun, field.tags, width, indent)
        yield from lines[:-1]
        yield lines[-1] + comma


def _head(field: Field) -> str:
    """A field without its tags."""
    written = str(field)
    return written.removesuffix("".join(f" {each}" for each in field.tags)) if field.tags else written


def _broken_head(field: Field, width: int) -> list[str]:
    bare = replace(field, type=Name("x", at=field.at), tags=())
    start = str(bare).removesuffix("x")
    if _head(field) != f"{start}{field.type}":
        return [_head(field)]  # parentheses around its type, which say whose its tags are
    lines = _type_lines(field.type, width - len(start), width)
    return [start + lines[0], *lines[1:]]


def _with_tags(head: str, tags: Sequence[Tag], width: int, indent: str) -> list[str]:
    """A type, and its tags behind it, on lines of their own where they are too long."""
    lines = [head]
    fresh = width - len(indent)
    for each in tags:
        written, room = str(each), width - len(lines[-1]) - 1
        if len(written) <= room:
            lines[-1] += f" {written}"
        elif len(written) <= fresh or not _PLAIN.fullmatch(each.value):
            lines.append(indent + written)
        else:
            first, *more = _filled(written, fresh - 2)
            lines = [*lines[:-1], f"{lines[-1]} {first}"] if room >= fresh else [*lines, indent + first]
            lines += [f"{indent}  {line}" for line in more]
    return [line.rstrip() for line in lines]


def _type_lines(node: Type, first: int, width: int) -> list[str]:
    """A type whose fields, or members, stand on lines of their own if it is long.

    Args:
        node: The type.
        first: How many columns its first line has.
        width: How many all others have.
    """
    if len(str(node)) <= first:
        return [str(node)]
    match node:
        case Record(fields=fields) if fields:
            return ["{", *(f"  {line}" for line in _field_lines(fields, width - 2)), "}"]
        case Tagged(type=inner, tags=tags, grouped=False) if not isinstance(inner, Union | Tagged):
            lines = _type_lines(inner, first, width)
            return [*lines[:-1], *_with_tags(lines[-1], tags, width if len(lines) > 1 else first, "  ")]
        case Name(name=written, arguments=(*before, Record() | Name() | Tagged(type=Record() | Name()) as last)):
            opening = f"{written}[{''.join(f'{each}, ' for each in before)}"
            lines = _type_lines(last, first - len(opening), width)
            lines = [opening + lines[0], *lines[1:]]
            return [*lines[:-1], f"{lines[-1]}]"]
        case Nilable(type=Record() | Name() as inner):
            lines = _type_lines(inner, first, width)
            return [*lines[:-1], f"{lines[-1]}?"]
        case Union(members=members) if not any(isinstance(each, Union) for each in members):
            return _union_lines(members, first, width)
        case _:
            return [str(node)]


def _union_lines(members: Sequence[Type], first: int, width: int) -> list[str]:
    """Constants fill lines; other members stand one below the other."""
    lines: list[str] = []
    for at, member in enumerate(members):
        written = str(member)
        room = first if len(lines) == 1 else width
        is_short = isinstance(member, Literal) and isinstance(members[at - 1], Literal)
        if not lines:
            lines = _type_lines(member, first, width)
        elif is_short and len(lines[-1]) + len(written) + 3 <= room - 1:
            lines[-1] += f" | {written}"
        else:
            begun, *more = _type_lines(member, width - 4, width - 4)
            lines += [f"  | {begun}", *(f"    {line}" for line in more)]
    return lines


def _filled(text: str, width: int) -> list[str]:
    """A text over lines, broken at blanks, but where a word begins like something that a line may not begin with."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and (len(lines[-1]) + 1 + len(word) <= width or not _PLAIN.match(word)):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
