"""`str()` of a tree is text that reads as an equal tree."""

from __future__ import annotations

import string

from hypothesis import assume, given
from hypothesis import strategies as st

from fastmcp_authz.annotations import (
    Alias,
    Field,
    Intersection,
    Nilable,
    Signature,
    Tag,
    Tagged,
    Type,
    Union,
    read_annotation,
)
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
    own,
    read,
    record,
    tag,
    tagged,
    type_,
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
        inner.map(lambda type_: type_ if isinstance(type_, Nilable) else nilable(own(type_))),
        types.map(lambda types: both(*map(own, types))),
        types.map(lambda types: either(*(own(t) if isinstance(t, Union) else t for t in types))),
        st.builds(lambda type_, tags, grouped: tagged(own(type_), *tags, grouped=grouped), inner, _tags, st.booleans()),
    )


def _of_field(name: str, type_: Type, tags: list[Tag], optional: bool) -> Field:
    """Return a field whose type stands in parentheses where its tags would else be the field's, or the reverse."""
    members = type_.members if isinstance(type_, Union) else (type_,)
    are_tagged = [isinstance(member, Tagged) for member in members]
    if any(are_tagged) and (tags or not any(are_tagged[:-1])):
        type_ = own(type_)
    return field(name, type_, *tags, optional=optional)


def _fields(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[list[Field]]:
    names = st.one_of(_identifiers, _texts)
    one = st.builds(
        _of_field,
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
    assert read(f"#: {tree}".replace("\n", "\n#:")).signature == tree


_troubles = st.text("'\"()\\ a:,@#{}[]|=", max_size=8)


@given(st.lists(st.tuples(st.sampled_from(["t", "desc"]), _troubles, st.booleans()), min_size=1, max_size=4))
@BUDGET
def test_values_of_quotes_and_brackets_read_as_they_were_written_whatever_stands_behind_them(
    values: list[tuple[str, str, bool]],
) -> None:
    tags = [tag(name, text if quoted else text.strip(), quoted=quoted) for name, text, quoted in values]
    a = name("a")
    for tree in (
        record(*(field(f"x{i}", a, one) for i, one in enumerate(tags))),
        record(*(field(f"{i} '", literal("'\""), one) for i, one in enumerate(tags))),
        tagged(a, *tags),
        either(*(tagged(literal("'"), one) for one in tags), a),
        items(*(name("Array", tagged(a, one)) for one in tags)),
    ):
        assert type_(str(tree)) == tree


@given(
    st.lists(st.tuples(st.sampled_from(["pattern", "t"]), st.text("'\"()\\ a[\n", max_size=9)), min_size=2, max_size=3)
)
@BUDGET
def test_a_value_that_was_read_reads_so_again(values: list[tuple[str, str]]) -> None:
    written = ", ".join(f"x{i}: a @{name}({text})" for i, (name, text) in enumerate(values))
    annotation, problems = read_annotation(f"@rbs type x = {{ {written} }}", name="x")
    assume(not problems)
    (declared,) = annotation.aliases
    assert alias(str(declared)) == declared


def test_whole_input_reads_as_it_was_written() -> None:
    tree = Signature((), whole_input=True, at=AT)
    assert str(tree) == "(input) -> output"
    assert read(f"#: {tree}").signature == tree


def test_canonical_text_has_parentheses_only_where_they_mean_something() -> None:
    a, b, t = name("a"), name("b"), tag("t", "1")
    for tree, text in (
        (field("x", either(tagged(a, t), b)), "x: a @t(1) | b"),
        (field("x", own(either(a, tagged(b, t)))), "x: (a | b @t(1))"),
        (field("x", either(a, b), t), "x: a | b @t(1)"),
        (field("x", own(either(tagged(a, t), b)), t), "x: (a @t(1) | b) @t(1)"),
        (field("x y", own(tagged(a, t)), optional=True), '?"x y": (a @t(1))'),
        (own(tagged(a, t)), "(a @t(1))"),
        (either(own(tagged(a, t)), tagged(b, t)), "(a @t(1)) | b @t(1)"),
        (either(own(either(tagged(a, t), b)), a), "(a @t(1) | b) | a"),
        (tagged(own(tagged(a, t)), t), "(a @t(1)) @t(1)"),
        (nilable(own(tagged(a, t))), "(a @t(1))?"),
        (Tagged(Intersection((a, b), at=AT), (t,), at=AT), "a & b @t(1)"),
        (Nilable(Union((a, b), at=AT), at=AT), "(a | b)?"),
    ):
        assert str(tree) == text
