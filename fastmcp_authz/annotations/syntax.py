"""The syntax tree of annotations: what was written, and where.

Frozen values, one class per form of the language. Positions do not take part in comparison, so two trees are equal
when they say the same thing. `str()` of a node is its canonical annotation text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from fastmcp_authz.annotations.values import write_string, write_value
from fastmcp_authz.errors import Problem

VERBATIM_TAGS = frozenset({"pattern"})
"""Tags whose value is text of another language, backslashes and quotes included."""


@dataclass(frozen=True)
class Source:
    """A text that annotations are read from: a docstring, or a shared `.rbs` file."""

    name: str
    """What to call it in an error: a file's path, or the name of a tool."""
    text: str
    """The dedented text that every `Span` counts in."""
    first_line: int = 1
    """The line of `name` on which `text` begins."""
    locate: Callable[[], Sequence[int]] | None = field(default=None, repr=False, compare=False)
    """Finds the line of `name` on which each line of `text` begins, where counting is not enough."""
    is_file: bool = False
    """Whether it is a `.rbs` file, in which no marks stand and blank lines end nothing."""

    def line_at(self, offset: int) -> int:
        """Return the line of `name` that the character at `offset` stands on."""
        index = bisect_right(self._starts, offset) - 1
        return self._lines[index] if index < len(self._lines) else self.first_line + index

    def line_around(self, offset: int) -> tuple[int, int]:
        """Return where in `text` the line that holds the character at `offset` begins, and where it ends."""
        index = bisect_right(self._starts, offset)
        return self._starts[index - 1], self._starts[index] - 1 if index < len(self._starts) else len(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line of `text` begins."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    @cached_property
    def _lines(self) -> Sequence[int]:
        return self.locate() if self.locate is not None else ()


class Span(NamedTuple):
    """Where something stands: character offsets in the text of its source."""

    start: int
    end: int
    source: Source

    def problem(self, message: str) -> Problem:
        """Return a `Problem` that marks this span: its line as written, the column, a width that ends with the line."""
        begin, stop = self.source.line_around(self.start)
        return Problem(
            message,
            where=self.source.name,
            line=self.source.line_at(self.start),
            column=self.start - begin,
            width=max(1, min(self.end, stop) - self.start),
            text=self.source.text,
            begin=begin,
        )


@dataclass(frozen=True, slots=True)
class Tag:
    """`@name(value)`. `value` is the text between the parentheses, unescaped, as SPEC section 3 reads it."""

    name: str
    value: str
    quoted: bool = False
    """Whether the whole value was one quoted string; `value` is then what stood between the quotes."""
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return f"@{self.name}({_tag_value(self)})"


@dataclass(frozen=True, slots=True)
class Name:
    """A base type, an alias or a type variable, with type arguments: `String`, `page[row]`."""

    name: str
    arguments: tuple[Type, ...] = ()
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return self.name + (f"[{_joined(self.arguments)}]" if self.arguments else "")


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: a string (or symbol), a whole number. `true`, `false` and `nil` are names."""

    value: str | int
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return write_string(self.value) if isinstance(self.value, str) else str(self.value)


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of a signature or a field of a record: `?name: type @tag(...)`."""

    name: str
    type: Type
    optional: bool = False
    tags: tuple[Tag, ...] = ()
    at: Span = field(compare=False, kw_only=True)
    """The span of the name alone."""

    def __str__(self) -> str:
        name = self.name if _is_identifier(self.name) else write_string(self.name)
        written = _in_parentheses(self.type) if _tags_would_move(self) else str(self.type)
        return f"{'?' if self.optional else ''}{name}: {written}{_tags(self.tags)}"


@dataclass(frozen=True, slots=True)
class Record:
    """`{ a: T, ?b: U }`."""

    fields: tuple[Field, ...]
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return f"{{ {_joined(self.fields)} }}" if self.fields else "{}"


@dataclass(frozen=True, slots=True)
class Tuple:
    """`[A, B]`."""

    items: tuple[Type, ...]
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return f"[{_joined(self.items)}]"


@dataclass(frozen=True, slots=True)
class Nilable:
    """`T?`."""

    type: Type
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return f"{_grouped(self.type)}?"


@dataclass(frozen=True, slots=True)
class Intersection:
    """`A & B`."""

    members: tuple[Type, ...]
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return " & ".join(map(_grouped, self.members))


@dataclass(frozen=True, slots=True)
class Tagged:
    """A type with tags of its own: a member of a union, an element of brackets, something in parentheses."""

    type: Type
    tags: tuple[Tag, ...]
    grouped: bool = False
    """The tags stood in parentheses with the type, so they are that type's own wherever it stands.

    True for `(A @tag)` and for each tagged member of `(A | B @tag)`. What stands in the brackets of a generic, a tuple
    or a field is not marked: there the place says whose the tags are.
    """
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return _in_parentheses(self) if self.grouped else _in_group(self)


@dataclass(frozen=True, slots=True)
class Union:
    """`A | B`: at least two members, each perhaps `Tagged`."""

    members: tuple[Type, ...]
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return " | ".join(_in_parentheses(m) if isinstance(m, Union) else str(m) for m in self.members)


Type: TypeAlias = Name | Literal | Record | Tuple | Nilable | Intersection | Tagged | Union


@dataclass(frozen=True, slots=True)
class Alias:
    """`@rbs type name[A, B] = type`."""

    name: str
    type: Type
    parameters: tuple[str, ...] = ()
    at: Span = field(compare=False, kw_only=True)
    """The span of the name alone."""

    def __str__(self) -> str:
        parameters = f"[{', '.join(self.parameters)}]" if self.parameters else ""
        return f"type {self.name}{parameters} = {self.type}"


@dataclass(frozen=True, slots=True)
class Import:
    """`@rbs import name`."""

    name: str
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return f"import {self.name}"


@dataclass(frozen=True, slots=True)
class Signature:
    """`#: (...) -> output`. `whole_input` marks `(input)` and `(**untyped)`, which name no parameters."""

    fields: tuple[Field, ...]
    whole_input: bool = False
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return "(input) -> output" if self.whole_input else f"({_joined(self.fields)}) -> output"


@dataclass(frozen=True, slots=True)
class Annotation:
    """Everything that one docstring declares."""

    source: Source
    prose: str
    """The docstring without any annotation text."""
    aliases: tuple[Alias, ...] = ()
    imports: tuple[Import, ...] = ()
    signature: Signature | None = None
    unread: tuple[str, ...] = ()
    """What a syntax error kept from being read: names of aliases, `#:` for the signature."""


def _joined(nodes: tuple[Type, ...] | tuple[Field, ...]) -> str:
    return ", ".join(map(str, nodes))


def _tags_would_move(field: Field) -> bool:
    """Whether the type needs parentheses, since without them its tags would be read as the field's or the reverse."""
    if isinstance(field.type, Tagged):
        return True
    if not isinstance(field.type, Union):
        return False
    tagged = [isinstance(member, Tagged) for member in field.type.members]
    return any(tagged) if field.tags else tagged[-1] and not any(tagged[:-1])


def _grouped(node: Type) -> str:
    return _in_parentheses(node) if isinstance(node, Union | Tagged | Intersection) else str(node)


def _in_parentheses(node: Type) -> str:
    return f"({_in_group(node)})"


def _in_group(node: Type) -> str:
    """Return the text of a type for between parentheses, which group the tags at its top: they need no others."""
    if isinstance(node, Tagged):
        inner = _in_parentheses(node.type) if isinstance(node.type, Union | Tagged) else str(node.type)
        return inner + _tags(node.tags)
    if isinstance(node, Union):
        return " | ".join(_in_parentheses(m) if isinstance(m, Union) else _in_group(m) for m in node.members)
    return str(node)


def _tags(tags: tuple[Tag, ...]) -> str:
    return "".join(f" {tag}" for tag in tags)


def _is_identifier(name: str) -> bool:
    """Whether a name can stand without quotes, and is the same then: bare words are read as Python reads names."""
    return name.isidentifier() and normalize("NFKC", name) == name


def _tag_value(tag: Tag) -> str:
    return write_value(tag.value, quoted=tag.quoted, verbatim=tag.name in VERBATIM_TAGS)
