"""The syntax tree of annotations: what was written, and where.

Frozen values, one class per form of the language. Positions do not take part in comparison, so two trees are equal
when they say the same thing. `str()` of a node is its canonical annotation text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from fastmcp_authz.annotations.values import write_string, write_value
from fastmcp_authz.errors import Problem

VERBATIM_TAGS = frozenset({"pattern"})
"""Tags whose value is text of another language, backslashes and quotes included."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text that annotations are read from: a docstring, or a shared `.rbs` file."""

    name: str
    """What to call it in an error: a file's path, or the name of a tool."""
    text: str
    """The dedented text that every `Span` counts in."""
    first_line: int = 1
    """The line of `name` on which `text` begins."""

    def line_at(self, offset: int) -> int:
        """Return the line of `name` that the character at `offset` stands on."""
        return self.first_line + self.text.count("\n", 0, offset)


class Span(NamedTuple):
    """Where something stands: character offsets in the text of its source."""

    start: int
    end: int
    source: Source

    def problem(self, message: str) -> Problem:
        """Return a `Problem` that marks this span: its line as written, the column, a width that ends with the line."""
        text = self.source.text
        begin = text.rfind("\n", 0, self.start) + 1
        stop = text.find("\n", begin)
        stop = len(text) if stop < 0 else stop
        return Problem(
            message,
            where=self.source.name,
            line=self.source.line_at(self.start),
            column=self.start - begin,
            width=max(1, min(self.end, stop) - self.start),
            excerpt=text[begin:stop],
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
        written = f"({self.type})" if _tags_would_move(self) else str(self.type)
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
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        inner = f"({self.type})" if isinstance(self.type, Union | Tagged) else str(self.type)
        return inner + _tags(self.tags)


@dataclass(frozen=True, slots=True)
class Union:
    """`A | B`: at least two members, each perhaps `Tagged`."""

    members: tuple[Type, ...]
    at: Span = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return " | ".join(f"({m})" if isinstance(m, Union) else str(m) for m in self.members)


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
    return f"({node})" if isinstance(node, Union | Tagged | Intersection) else str(node)


def _tags(tags: tuple[Tag, ...]) -> str:
    return "".join(f" {tag}" for tag in tags)


def _is_identifier(name: str) -> bool:
    return name.isidentifier()


def _tag_value(tag: Tag) -> str:
    return write_value(tag.value, quoted=tag.quoted, verbatim=tag.name in VERBATIM_TAGS)
