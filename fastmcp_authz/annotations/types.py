"""Parse trees to types: one function a rule of `rbs.peg`, in the order of that file. Records are in fields.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fastmcp_authz.annotations import grammar, pythonisms
from fastmcp_authz.annotations.scanner import BlockText
from fastmcp_authz.annotations.syntax import (
    Intersection,
    Name,
    Nilable,
    Source,
    Span,
    Tag,
    Tagged,
    Tuple,
    Type,
    Union,
)
from fastmcp_authz.annotations.tokens import TokenReader, word
from fastmcp_authz.errors import Problem, shortened

if TYPE_CHECKING:
    from re import Match

    from parsimonious.nodes import Node


class Part(NamedTuple):
    """One of the types that `|` and `&` join."""

    operator: str | None
    begin: int
    """Where the operator stands, or the type, if there is none."""
    type: Type
    behind: int
    """Where the tags behind it begin."""
    end: int


class TypeReader(TokenReader):
    """Reads the types in the parse tree of one block; `FieldReader` adds records to them."""

    def __init__(
        self, block: BlockText, start: int, source: Source, problems: list[Problem], deprecations: list[Problem]
    ) -> None:
        super().__init__(block, start, source, problems, deprecations)
        self._member_token = grammar.token("member", block.outline)

    # ---- Unions and intersections

    def _type(self, node: Node) -> Type:
        members, tags = self._joined(self._parts(node))
        members[-1] = tagged(members[-1], tags)
        return union(members)

    def _parts(self, node: Node) -> Iterator[Part]:
        """Read the parts of a type, each when its turn comes."""
        written = node.children[0]
        if written.expr_name == "members":
            yield from self._members(written.start, written.end)
            return
        for part in written.children:
            operator, form, tags = part.children
            found = operator.match
            begin = operator.end if found[1] is None else found.start(1)
            yield Part(found[1], begin, self._form(form), tags.start, tags.end)

    def _members(self, start: int, end: int) -> Iterator[Part]:
        for found in self._member_token.finditer(self._outline, start, end):
            operator = found["operator"]
            begin = found.start("operator" if operator else "box" if found["box"] else "scalar")
            yield Part(operator, begin, self._member(found), *found.span("tags"))

    def _joined(self, parts: Iterable[Part]) -> tuple[list[Type], tuple[Tag, ...]]:
        """Return the members of a union, tags on each but the last, and its tags.

        `&` binds closer than `|`, and a tag behind it is for the whole.
        """
        members: list[Type] = []
        sides: list[Type] = []
        tags: tuple[Tag, ...] = ()
        for operator, begin, side, behind, end in parts:
            if not sides:
                if operator == "&":
                    self._note(self._at(begin, begin + 1), "`&` joins two types: nothing is before it.")
            elif operator == "&":
                if tags:
                    meant = shortened(str(tagged(side, tags[:1])))
                    self._note(tags[0].at, f"a tag goes behind the whole of `A & B`: write `... & {meant}`.")
            else:
                if operator is None:
                    self._note(self._at(begin, end), _unjoined(sides[-1], side))
                members.append(tagged(_intersection(sides), tags))
                sides, tags = [], ()
            sides.append(side)
            tags += self._tags(behind, end)
        members.append(_intersection(sides))
        return members, tags

    # ---- Forms

    def _form(self, node: Node) -> Type:
        form = node.children[0]
        if form.expr_name == "scalar":
            return self._scalar(form.match)
        read: Callable[[Node], Type] = getattr(self, f"_{form.expr_name}")
        return read(form)

    def _member(self, found: Match[str]) -> Type:
        """Read the type of a `member`: a scalar, or a name with one scalar in brackets."""
        name = found["box"]
        if name is None:
            return self._scalar(found)
        at = self._at(found.start("box"), found.start("nil"))
        return self._named(Name(word(name), (self._scalar(found, "inner", "maybe"),), at=at), found["nil"])

    def _generic(self, node: Node) -> Type:
        opening, elements, closing = node.children
        found = closing.match
        at = self._at(node.start, found.end("end"))
        return self._named(Name(word(opening.match[1]), self._elements(elements, closing), at=at), found["nil"])

    def _named(self, generic: Name, marks: str) -> Type:
        if not generic.arguments:
            short = shortened(generic.name)
            self._note(generic.at, f"write a type between the brackets of `{short}[]`, or no brackets.")
        meant = pythonisms.meant(generic)
        if meant is not None:
            written, right = shortened(str(generic)), shortened(str(meant), 200)
            self._note(generic.at, f"`{written}` is Python's spelling: write `{right}`.")
        return nilable(meant or generic, marks, generic.at)

    def _tuple(self, node: Node) -> Type:
        _, elements, closing = node.children
        found = closing.match
        at = self._at(node.start, found.end("end"))
        return nilable(Tuple(self._elements(elements, closing), at=at), found["nil"], at)

    def _elements(self, node: Node, closing: Node) -> tuple[Type, ...]:
        elements: list[Type] = []
        for element in node.children:
            separator, written = element.children
            self._check_comma(separator.match, element.end, first=not elements)
            elements.append(self._type(written))
        if not elements:
            self._check_comma(closing.match, closing.end, first=True)
        return tuple(elements)

    def _group(self, node: Node) -> Type:
        _, inner, closing = node.children
        found = closing.match
        return nilable(grouped(self._type(inner)), found["nil"], self._at(node.start, found.end("end")))

    def _misplaced(self, node: Node) -> Type:
        """Read `@min(1) Integer` as `Integer`."""
        early, form = node.children
        first = self._tags(early.start, early.end)[0]
        type_ = self._form(form)
        self._note(first.at, f"a tag comes after its type: write `{shortened(str(tagged(type_, (first,))))}`.")
        return type_

    # ---- What joins them

    def _check_comma(self, lead: Match[str], end: int, *, first: bool) -> None:
        """Note what has no comma before it, though it is not the first of a list, and what has one though it is.

        It begins with the token `lead` and ends at `end`.
        """
        if first:
            if lead["comma"]:
                at = self._at(lead.end("comma") - 1, lead.end("comma"))
                self._note(at, "nothing stands before this comma: leave it out.")
        elif not lead["comma"]:
            written = self._text[lead.start() : end].lstrip()
            begin, first_word = end - len(written), written.split(maxsplit=1)[0]
            at = self._at(begin, begin + len(first_word))
            self._note(at, f"a comma is missing before `{shortened(first_word)}`.")


def _unjoined(left: Type, right: Type) -> str:
    first, second = shortened(str(left)), shortened(str(right))
    return (
        f"nothing joins `{first}` and `{second}`: write `|` (either of them), `&` (a record that is both), or a comma "
        "if it is the next one in a list."
    )


def union(members: list[Type]) -> Type:
    return members[0] if len(members) == 1 else Union(tuple(members), at=_around(members))


def _intersection(sides: list[Type]) -> Type:
    return sides[0] if len(sides) == 1 else Intersection(tuple(sides), at=_around(sides))


def tagged(type_: Type, tags: tuple[Tag, ...]) -> Type:
    return Tagged(type_, tags, at=Span(type_.at.start, tags[-1].at.end, type_.at.source)) if tags else type_


def grouped(type_: Type) -> Type:
    """Mark the tags in a pair of parentheses as those of the types that they stand behind."""
    if isinstance(type_, Tagged):
        return replace(type_, grouped=True)
    if isinstance(type_, Union) and any(isinstance(member, Tagged) for member in type_.members):
        return replace(type_, members=tuple(m if isinstance(m, Union) else grouped(m) for m in type_.members))
    return type_


def nilable(type_: Type, marks: str, at: Span) -> Type:
    """Apply the `?` behind a type; one is as good as many."""
    return Nilable(type_, at=at) if marks and not isinstance(type_, Nilable) else type_


def _around(types: Sequence[Type]) -> Span:
    first, last = types[0].at, types[-1].at
    return Span(first.start, last.end, first.source)
