"""A caller's tree as the tools of one provider take it: what they have no keyword for is said in words.

What is enforced stays whole (SPEC section 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from .hoisting import hoisted
from .providers import Provider
from .shapes import (
    NO_NOTES,
    NULL,
    Anything,
    Field,
    ListOf,
    MapOf,
    Member,
    Notes,
    Record,
    Ref,
    Scalar,
    Shape,
    Tree,
    TupleOf,
    Union,
    Words,
    is_null,
)
from .wording import in_words, listed, with_words

_DEEPEST: Final = 2
"""How often a type is written out within itself, where there are no references."""
_MOST: Final = 300
"""How many uses of names are written out in one schema, where there are no references."""

_TEXT: Final = "a JSON {} written as text"
_FURTHER: Final = "nested further than is written out here"
_SCALARS: Final = (Scalar("string"), Scalar("number"), Scalar("boolean"), NULL)


def written_for(provider: Provider, tree: Tree, *, sent: bool) -> Tree:
    """A tree without guards as a provider takes it.

    Args:
        provider: An entry of `PROVIDERS`.
        tree: What one caller sees.
        sent: Whether it is a result. No model writes those, so that what cannot be said of them is left open, and no
            value is asked to be another than it is.
    """
    return _Writer(provider, tree, sent).tree()


class _Writer:
    """One walk over what one caller sees; nothing else is at hand that could come into a description."""

    def __init__(self, provider: Provider, tree: Tree, sent: bool) -> None:
        self._takes = provider
        self._tree = tree
        self._sent = sent
        self._hoisted = hoisted(tree) if provider.references else {}
        self._left = _MOST

    def tree(self) -> Tree:
        root = self._tree.resolve(self._tree.root)
        behind = self._tree.root.key if isinstance(self._tree.root, Ref) else ""
        # The root of an input is an object whatever is in it.
        shape = self._record(root, (behind,)) if isinstance(root, Record) else self.write(root, (behind,))
        return Tree(shape, {key: self.write(self._tree.definitions[key], (key,)) for key in self._hoisted})

    def write(self, shape: Shape, inside: tuple[str, ...]) -> Shape:
        """A shape as the provider takes it; `inside` are the names that are being written out."""
        match shape:
            case Ref():
                return self._ref(shape, inside)
            case Scalar(type=name):
                return self._made(Scalar(name), shape)
            case Words():
                return self._words(shape)
            case ListOf(items=items):
                return self._made(ListOf(self.write(items, inside)), shape)
            case TupleOf(items=places):
                return self._tuple(shape, [self.write(place, inside) for place in places])
            case MapOf():
                return self._map(shape, inside)
            case Record(fields=fields):
                if not fields and self._takes.text_only and not self._sent:
                    return self._text("object", shape.notes)
                return self._record(shape, inside)
            case Union():
                return self._union(shape, inside)
            case Anything():
                return self._anything(shape)

    def _ref(self, shape: Ref, inside: tuple[str, ...]) -> Shape:
        if shape.key in self._hoisted:
            return self._made(Ref(shape.key), shape)
        if inside.count(shape.key) >= _DEEPEST or not self._left:
            return self._cut(shape)
        self._left -= 1
        target = self._tree.definitions[shape.key]
        return self.write(replace(target, notes=shape.notes.over(target.notes)), (*inside, shape.key))

    def _cut(self, shape: Ref) -> Shape:
        """What stands where a type would be written out within itself once more: its simple forms, the rest as text."""
        notes = self._tree.resolve(shape).notes
        if self._sent:
            return self._made(Anything(), Anything(notes=notes), [_FURTHER])
        members = [self._tree.behind(member) for member in self._tree.members(shape)]
        simple = [self.write(each, ()) for each in members if isinstance(each, Scalar | Words | Anything)]
        if len(simple) == len(members):
            return self._made(_either(simple), Anything(notes=notes))
        kinds = sorted({"list" if isinstance(m, ListOf | TupleOf) else "object" for m in members if _has_parts(m)})
        text = _TEXT.format(" or ".join(kinds))
        if _takes_text(members):
            return self._made(_either(simple), Anything(notes=_no_default(notes)))
        words = [_FURTHER, text]
        return self._made(_either([*simple, Scalar("string")]), Anything(notes=_no_default(notes)), words)

    def _words(self, shape: Words) -> Shape:
        values = shape.values
        if not self._takes.text_only or (shape.type == "string" and "" not in values):
            # No provider's documentation lacks `enum`; `const` is taken by some.
            made = self._made(Scalar(shape.type), shape)
            return replace(made, keywords=(("enum", values), *made.keywords))
        if shape.type == "integer":
            bounds = (("minimum", min(values)), ("maximum", max(values)))
            made = self._made(Scalar("integer"), shape, [_one_of(values)] if len(values) > 1 else [])
            return replace(made, keywords=(*bounds, *made.keywords))
        every = shape.type == "boolean" and len(values) > 1
        always = f"always {listed(values)}" if len(values) == 1 else _one_of(values)
        return self._made(Scalar(shape.type), shape, [] if every else [always])

    def _tuple(self, shape: TupleOf, places: list[Shape]) -> Shape:
        order = ", ".join(self._kind(place) for place in shape.items)
        size = len(places)
        counted = replace(shape, keywords=(("minItems", size), ("maxItems", size), *shape.keywords))
        return self._made(ListOf(_either(places)), counted, [f"in this order: {order}"])

    def _map(self, shape: MapOf, inside: tuple[str, ...]) -> Shape:
        keys = shape.keys
        names = [f"keys: {listed(keys.values)}"] if isinstance(keys, Words) else []
        if not self._sent:
            return self._text("object", shape.notes, [*names, *self._each(shape), *in_words(dict(shape.keywords))])
        if self._takes.closed:
            return self._made(MapOf(self.write(shape.values, inside)), shape, names)
        return self._made(Anything(keywords=(("type", "object"),)), shape, [*names, *self._each(shape)])

    def _each(self, shape: MapOf) -> list[str]:
        kind = self._kind(shape.values)
        return [] if kind == "anything" else [f"each value: {kind}"]

    def _text(self, kind: str, notes: Notes, words: Iterable[str] = ()) -> Shape:
        """A text in which a value is written that the provider has no schema for; see `spelling`."""
        return self._made(Scalar("string"), Anything(notes=_no_default(notes)), [_TEXT.format(kind), *words])

    def _anything(self, shape: Anything) -> Shape:
        return self._made(Anything() if self._sent else _either(_SCALARS), shape)

    def _record(self, shape: Record, inside: tuple[str, ...]) -> Shape:
        fields = tuple(self._field(each, inside) for each in shape.fields)
        return self._made(Record(fields, self._takes.closed), shape)

    def _field(self, each: Field, inside: tuple[str, ...]) -> Field:
        source, required = each.shape, each.required
        if each.depends_on:
            said = (*source.notes.keywords, ("dependentRequired", each.depends_on))
            source = replace(source, notes=replace(source.notes, keywords=said))
        shape = self.write(source, inside)
        if not required and not self._takes.optional and not self._sent:
            shape, required = _nullable(shape, self._takes_null(each.shape)), True
        return Field(each.name, shape, required)

    def _takes_null(self, shape: Shape) -> bool:
        return any(is_null(m) or isinstance(m, Anything) for m in map(self._tree.behind, self._tree.members(shape)))

    def _union(self, shape: Union, inside: tuple[str, ...]) -> Shape:
        plain = [self._tree.behind(member) for member in self._tree.members(shape)]
        pairs = [(member.shape, self.write(member.shape, inside)) for member in shape.members]
        spelled = {id(m) for m, written in pairs if _is_text(written) and _has_parts(self._tree.behind(m))}
        if spelled and _takes_text(plain):
            # A text beside them is a text: what would have to be written as one cannot be told from it.
            pairs = [(m, written) for m, written in pairs if id(m) not in spelled]
        notes = _no_default(shape.notes) if spelled else shape.notes
        return self._made(_either([written for _, written in pairs]), replace(shape, notes=notes))

    def _made(self, shape: Shape, source: Shape, words: Iterable[str] = ()) -> Shape:
        """A shape with the notes and keywords of its source: those that are taken, and the others in words."""
        takes, notes = self._takes, source.notes
        kept = tuple((k, v) for k, v in source.keywords if self._keeps(k, v))
        lost = dict(k for k in source.keywords if k not in kept)
        lost |= dict(notes.keywords)
        text = lost.pop("description", "")
        if notes.examples:
            lost["examples"] = notes.examples
        if notes.default and not takes.default and notes.default_key is None:
            lost["default"] = notes.default[0]
        # A union that is left with one member has the notes of that member too.
        text = with_words(text, [*in_words(lost), *words, *_description(shape)])
        if text and not takes.described_nulls and isinstance(shape, Union) and _is_nullable(shape):
            shape, text = _said_inside(shape, text), ""
        said = Notes(
            keywords=(("description", text),) if text else (),
            default=notes.default if takes.default else (),
            default_key=notes.default_key if takes.default else None,
        )
        if said == NO_NOTES:
            return replace(shape, keywords=(*shape.keywords, *kept))
        return replace(_alone(shape), keywords=(*shape.keywords, *kept), notes=said)

    def _keeps(self, keyword: str, value: Any) -> bool:
        if keyword == "format":
            return value in self._takes.formats
        return keyword in self._takes.keywords or (self._takes.one_item and (keyword, value) == ("minItems", 1))

    def _kind(self, shape: Shape) -> str:
        """A type in a word or two."""
        members = [self._tree.behind(member) for member in self._tree.members(shape)]
        return " or ".join(dict.fromkeys(map(_kind, members)))


def _kind(shape: Shape) -> str:
    match shape:
        case Scalar(type=name):
            return {
                "string": "text",
                "integer": "a whole number",
                "number": "a number",
                "boolean": "true or false",
            }.get(name, name)
        case Words(values=values):
            return _one_of(values)
        case ListOf() | TupleOf():
            return "a list"
        case Record() | MapOf():
            return "an object"
        case _:
            return "anything"


def _one_of(values: Sequence[Any]) -> str:
    return listed(values).replace(", ", " or ") if len(values) < 3 else in_words({"enum": values})[0]


def _has_parts(shape: Shape) -> bool:
    return isinstance(shape, ListOf | TupleOf | MapOf | Record)


def _is_text(shape: Shape) -> bool:
    return isinstance(shape, Scalar) and shape.type == "string"


def _takes_text(members: Iterable[Shape]) -> bool:
    return any(_is_text(each) or isinstance(each, Anything) for each in members)


def _either(shapes: Iterable[Shape]) -> Shape:
    distinct = list(dict.fromkeys(shapes))
    if not distinct:
        return Anything()
    return distinct[0] if len(distinct) == 1 else Union(tuple(map(Member, distinct)))


def _no_default(notes: Notes) -> Notes:
    return replace(notes, default=(), default_key=None, examples=())


def _description(shape: Shape) -> list[str]:
    return [str(text) for keyword, text in shape.notes.keywords if keyword == "description"]


def _alone(shape: Shape) -> Shape:
    """A shape that can have notes: beside a `$ref` there may be nothing."""
    return Union((Member(shape),)) if isinstance(shape, Ref) else shape


def _is_nullable(shape: Union) -> bool:
    """Whether there is one type in a union beside null."""
    return len(shape.members) == 2 and any(is_null(member.shape) for member in shape.members)


def _said_inside(shape: Union, text: str) -> Union:
    """A union with a text said of the types in it that are not null."""
    return replace(
        shape, members=tuple(m if is_null(m.shape) else Member(_saying(m.shape, text)) for m in shape.members)
    )


def _saying(shape: Shape, text: str) -> Shape:
    said = (("description", with_words(text, _description(shape))),)
    return replace(shape, notes=replace(shape.notes, keywords=said))


def _nullable(shape: Shape, already: bool) -> Shape:
    if already:
        return shape
    if isinstance(shape, Union):
        return replace(shape, members=(*shape.members, Member(NULL)))
    return Union((Member(replace(shape, notes=NO_NOTES)), Member(NULL)), notes=shape.notes)
