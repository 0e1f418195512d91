"""`str()` of a tree is text that reads as an equal tree."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from fastmcp_authz.annotations import Alias, Field, Intersection, Nilable, Signature, Tagged, Type, Union
from tests.annotations.budget import BUDGET
from tests.annotations.trees import (
    AT,
    alias,
    both,
    either,
    field,
    items,
    literal,
    name,
    nilable,
    read,
    record,
    tag,
    tagged,
)

_identifiers = st.sampled_from(
    ["a", "b_1", "String", "true", "nil", "Array", "type", "input", "é", "名前", "_", "हिन्दी"]
)
_characters = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))
_texts = st.text(st.one_of(st.sampled_from(string.punctuation + " "), _characters), max_size=12)
_values = _texts.map(lambda text: text.strip())
_patterns = st.sampled_from([r"^\d+$", "", r"(a|b)\(", "^[^']$", r"\\"])

_tag = st.one_of(
    st.builds(lambda name, value: tag(name, value), st.sampled_from(["min", "t", "é"]), _values),
    st.builds(lambda value: tag("desc", value, quoted=True), _texts),
    st.builds(lambda value: tag("pattern", value), _patterns),
)
_tags = st.lists(_tag, min_size=1, max_size=2)


def _composed(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    types = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        st.builds(lambda head, arguments: name(head, *arguments), _generics, st.lists(inner, min_size=1, max_size=2)),
        st.lists(inner, max_size=2).map(lambda types: items(*types)),
        _fields(inner).map(lambda fields: record(*fields)),
        inner.map(lambda type_: type_ if isinstance(type_, Nilable) else nilable(type_)),
        types.map(lambda types: both(*types)),
        types.map(lambda types: either(*types)),
        st.builds(lambda type_, tags: tagged(type_, *tags), inner, _tags),
    )


def _fields(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[list[Field]]:
    names = st.one_of(_identifiers, _texts)
    one = st.builds(
        lambda name, type_, tags, optional: field(name, type_, *tags, optional=optional),
        names,
        inner,
        st.one_of(st.just([]), _tags),
        st.booleans(),
    )
    # No `unique_by` here, and no filters above: what draws in vain, Hypothesis writes out at full length, and warns.
    return st.lists(one, max_size=3).map(lambda fields: list({field.name: field for field in fields}.values()))


_generics = st.sampled_from(["Array", "Hash", "page", "é"])
_scalars = st.one_of(_identifiers.map(name), st.one_of(_texts, st.integers()).map(literal))
types: st.SearchStrategy[Type] = st.recursive(_scalars, _composed, max_leaves=8)
fields = _fields(types)


@given(types, st.lists(st.sampled_from(["T", "U", "é"]), unique=True))
@BUDGET
def test_an_alias_reads_as_it_was_written(type_: Type, parameters: list[str]) -> None:
    tree = Alias("x", type_, tuple(parameters), at=AT)
    assert alias(str(tree)) == tree


@given(fields)
@BUDGET
def test_a_signature_reads_as_it_was_written(fields: list[Field]) -> None:
    tree = Signature(tuple(fields), at=AT)
    assert read(f"#: {tree}").signature == tree


def test_whole_input_reads_as_it_was_written() -> None:
    tree = Signature((), whole_input=True, at=AT)
    assert str(tree) == "(input) -> output"
    assert read(f"#: {tree}").signature == tree


def test_canonical_text_has_parentheses_only_where_they_mean_something() -> None:
    a, b, t = name("a"), name("b"), tag("t", "1")
    for tree, text in (
        (field("x", either(tagged(a, t), b)), "x: a @t(1) | b"),
        (field("x", either(a, tagged(b, t))), "x: (a | b @t(1))"),
        (field("x", either(a, b), t), "x: a | b @t(1)"),
        (field("x", either(tagged(a, t), b), t), "x: (a @t(1) | b) @t(1)"),
        (field("x y", tagged(a, t), optional=True), '?"x y": (a @t(1))'),
        (Tagged(Intersection((a, b), at=AT), (t,), at=AT), "a & b @t(1)"),
        (Nilable(Union((a, b), at=AT), at=AT), "(a | b)?"),
    ):
        assert str(tree) == text
