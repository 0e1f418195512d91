"""Parse trees to records and parameters: the rules of `rbs.peg` that read fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fastmcp_authz.annotations import grammar
from fastmcp_authz.annotations.scanner import BlockText
from fastmcp_authz.annotations.syntax import Field, Record, Source, Tag, Tagged, Type
from fastmcp_authz.annotations.types import Part, TypeReader, nilable, tagged, union
from fastmcp_authz.errors import Problem, shortened

if TYPE_CHECKING:
    from re import Match

    from parsimonious.nodes import Node

_WrittenField = tuple["Match[str]", "Node | None"]
"""The first token of a field, and the field's node if there is more to it than that token."""


class FieldReader(TypeReader):
    """Reads the types in the parse tree of one block, records too, and the parameters of signatures."""

    def __init__(
        self, block: BlockText, start: int, source: Source, problems: list[Problem], deprecations: list[Problem]
    ) -> None:
        super().__init__(block, start, source, problems, deprecations)
        self._plain_token = grammar.token("plain", block.outline)

    def _record(self, node: Node) -> Type:
        written = node.children[0]
        if written.expr_name == "flat":
            end = written.match.end("end")
            record = Record(self._named_apart(self._plains(node.start + 1, end)), at=self._at(node.start, end))
            return nilable(record, self._outline[end : node.end], record.at)
        _, fields, closing = written.children
        found = closing.match
        at = self._at(node.start, found.end("end"))
        return nilable(Record(self._fields(fields, closing), at=at), found["nil"], at)

    def _fields(self, node: Node, closing: Node) -> tuple[Field, ...]:
        if not node.children:
            self._check_comma(closing.match, closing.end, first=True)
        return self._named_apart(self._each_field(node))

    def _named_apart(self, written: Iterable[_WrittenField]) -> tuple[Field, ...]:
        """Read the fields of one list, and note what is declared twice."""
        fields: dict[str, Field] = {}
        for found, node in written:
            if (found["comma"] is None) == bool(fields):
                self._check_comma(found, node.end if node is not None else found.end(), first=not fields)
            field = self._field(node) if node is not None else self._plain(found)
            first = fields.setdefault(field.name, field)
            if first is not field:
                line = self._source.line_at(first.at.start)
                name = shortened(field.name)
                self._note(field.at, f"`{name}` is declared twice, first on line {line}: keep one of them.")
        return tuple(fields.values())

    def _each_field(self, node: Node) -> Iterator[_WrittenField]:
        for child in node.children:
            written = child.children[0]
            if written.expr_name == "field":
                yield written.children[0].match, written
            else:
                yield from self._plains(written.start, written.end)

    def _plains(self, start: int, end: int) -> Iterator[_WrittenField]:
        read = self._plain_token.match
        while start < end and (found := read(self._outline, start)):
            yield found, None
            start = found.end()

    def _plain(self, found: Match[str]) -> Field:
        name, optional, at = self._key(found)
        start = found.end("colon")
        if found.start("member") != start or found["operator"] is not None:
            type_, tags = self._with_field_tags(self._members(start, found.end()))
            return Field(name, type_, optional, tags, at=at)
        behind, end = found.span("tags")
        return Field(name, self._member(found), optional, self._tags(behind, end) if behind < end else (), at=at)

    def _field(self, node: Node) -> Field:
        key, written = node.children
        name, optional, at = self._key(key.match)
        type_, tags = self._with_field_tags(self._parts(written))
        return Field(name, type_, optional, tags, at=at)

    def _with_field_tags(self, parts: Iterable[Part]) -> tuple[Type, tuple[Tag, ...]]:
        """Return a field's type and its tags.

        A tag behind the last member is the field's, unless a member before it has one: then each keeps its own.
        """
        members, tags = self._joined(parts)
        if any(isinstance(member, Tagged) for member in members[:-1]):
            members[-1], tags = tagged(members[-1], tags), ()
        return union(members), tags
