"""Every form of a type, as a whole tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fastmcp_authz.annotations import Field, Import, Type, read_annotation
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
    parameters,
    read,
    record,
    tag,
    tagged,
    type_,
)

A, B, C = name("a"), name("b"), name("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("String", name("String")),
        ("true", name("true")),
        ("nil", name("nil")),
        ('"a"', literal("a")),
        ("'a'", literal("a")),
        ('""', literal("")),
        (":a", literal("a")),
        (':"a b"', literal("a b")),
        (":'a b'", literal("a b")),
        ("5", literal(5)),
        ("-5", literal(-5)),
        ("1_000", literal(1000)),
        (r'"say \"hi\" \\ \n \u00e9 \u{1f600} \q"', literal('say "hi" \\ \n é 😀 q')),
        (r"'it\'s \n'", literal("it's \\n")),
        (r'"\ud83d\ude00"', literal("😀")),
        ('"a#b, {c} | d: @e(f)"', literal("a#b, {c} | d: @e(f)")),
        ("String?", nilable(name("String"))),
        ("String ? ??", nilable(name("String"))),
        ("(String?)?", nilable(name("String"))),
        ("{ a: b }?", nilable(record(field("a", B)))),
        ("(a | b)?", nilable(either(A, B))),
        ("Array[String]", name("Array", name("String"))),
        ("Array[a?]?", nilable(name("Array", nilable(A)))),
        ("Hash[Symbol, untyped]", name("Hash", name("Symbol"), name("untyped"))),
        ("Hash [ Symbol , untyped , ]", name("Hash", name("Symbol"), name("untyped"))),
        ("page[row, a | b]", name("page", name("row"), either(A, B))),
        ("[String, Integer]", items(name("String"), name("Integer"))),
        ("[a, [b],]", items(A, items(B))),
        ("[]", items()),
        ("{}", record()),
        ("{ }", record()),
        ("{a:a,?b:b}", record(field("a", A), field("b", B, optional=True))),
        ("{ a: a, ? b : b?, }", record(field("a", A), field("b", nilable(B), optional=True))),
        ("{ \"a key\": a, 'it': b }", record(field("a key", A), field("it", B))),
        ("{ a::b }", record(field("a", literal("b")))),
        ("{ prénom: a, 名前: b, हिन्दी: c }", record(field("prénom", A), field("名前", B), field("हिन्दी", C))),
        ("{ type: a, class: b, import: c }", record(field("type", A), field("class", B), field("import", C))),
        ("a & b", both(A, B)),
        ("a & b | c", either(both(A, B), C)),
        ("a | b & c", either(A, both(B, C))),
        ("a & (b | c)", both(A, either(B, C))),
        ("a | (b | c)", either(A, either(B, C))),
        ("((a))", A),
        ("| a | b", either(A, B)),
        ("a | b |", either(A, B)),
        ("(| a | b |)", either(A, B)),
        ("{ x: | a | b |, y: c | }", record(field("x", either(A, B)), field("y", C))),
        ("[| a |, b |]", items(A, B)),
        ("Array[| a | b |]", name("Array", either(A, B))),
        ("list[str]", name("list", name("str"))),
    ],
)
def test_type(text: str, tree: Type) -> None:
    assert type_(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a @t(1) @u()", tagged(A, tag("t", "1"), tag("u"))),
        ("a | b @t(1)", either(A, tagged(B, tag("t", "1")))),
        ("a @t(1) | b", either(tagged(A, tag("t", "1")), B)),
        ("a & b @t(1) | c", either(tagged(both(A, B), tag("t", "1")), C)),
        ("(a | b) @t(1)", tagged(either(A, B), tag("t", "1"))),
        ("(a @t(1)) @u()", tagged(own(tagged(A, tag("t", "1"))), tag("u"))),
        ("(a @t(1))?", nilable(own(tagged(A, tag("t", "1"))))),
        ("a? @t(1)", tagged(nilable(A), tag("t", "1"))),
        ("Array[a @t(1)]", name("Array", tagged(A, tag("t", "1")))),
        ("Array[a | b @t(1)]", name("Array", either(A, tagged(B, tag("t", "1"))))),
        ("[a @t(1)]", items(tagged(A, tag("t", "1")))),
    ],
)
def test_tags_outside_fields_stay_on_the_member(text: str, tree: Type) -> None:
    assert type_(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("(a @t(1))", own(tagged(A, tag("t", "1")))),
        ("((a @t(1)))", own(tagged(A, tag("t", "1")))),
        ("(a @t(1)) | b @u()", either(tagged(A, tag("t", "1"), grouped=True), tagged(B, tag("u")))),
        ("(a | b @t(1))", either(A, tagged(B, tag("t", "1"), grouped=True))),
        ("(a @t(1) | b) | c @u()", either(either(tagged(A, tag("t", "1"), grouped=True), B), tagged(C, tag("u")))),
        ("((a | b) @t(1)) | c", either(tagged(either(A, B), tag("t", "1"), grouped=True), C)),
        ("(a & b @t(1)) | c", either(tagged(both(A, B), tag("t", "1"), grouped=True), C)),
        ("(Array[a @t(1)])", name("Array", tagged(A, tag("t", "1")))),
        ("(a @t(1))? | b", either(nilable(tagged(A, tag("t", "1"), grouped=True)), B)),
        ("(a? @t(1)) | b", either(tagged(nilable(A), tag("t", "1"), grouped=True), B)),
    ],
)
def test_tags_in_parentheses_are_marked_as_the_own_ones_of_what_they_stand_behind(text: str, tree: Type) -> None:
    assert type_(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x: a @t(1) @u()", field("x", A, tag("t", "1"), tag("u"))),
        ("x: a? @t(1)", field("x", nilable(A), tag("t", "1"))),
        ("x: | a @t(1)", field("x", A, tag("t", "1"))),
        ("x: a | b @t(1)", field("x", either(A, B), tag("t", "1"))),
        ("x: a @t(1) | b", field("x", either(tagged(A, tag("t", "1")), B))),
        ("x: a @t(1) | b @u()", field("x", either(tagged(A, tag("t", "1")), tagged(B, tag("u"))))),
        ("x: (a @t(1)) | b @u()", field("x", either(own(tagged(A, tag("t", "1"))), tagged(B, tag("u"))))),
        ("x: a | (b @t(1))", field("x", either(A, own(tagged(B, tag("t", "1")))))),
        ("x: (a | b) @t(1)", field("x", either(A, B), tag("t", "1"))),
        ("x: (a @t(1))", field("x", own(tagged(A, tag("t", "1"))))),
        ("x: (a @t(1)) @u()", field("x", own(tagged(A, tag("t", "1"))), tag("u"))),
        ("x: (a | b @t(1)) @u()", field("x", own(either(A, tagged(B, tag("t", "1")))), tag("u"))),
        ("x: a & b @t(1)", field("x", both(A, B), tag("t", "1"))),
        ("x: Array[a @t(1)] @u()", field("x", name("Array", tagged(A, tag("t", "1"))), tag("u"))),
    ],
)
def test_tags_in_a_field_are_the_fields_unless_an_earlier_member_has_its_own(text: str, tree: Field) -> None:
    assert parameters(text) == (tree,)
    assert type_(f"{{ {text} }}") == record(tree)


def test_alias_with_type_parameters() -> None:
    page = alias("type page[ T, U ] = { items: Array[T], next: U? }")
    assert (page.name, page.parameters) == ("page", ("T", "U"))
    assert page.type == record(field("items", name("Array", name("T"))), field("next", nilable(name("U"))))


@pytest.mark.parametrize(
    ("written", "parameters"),
    [
        ("out T, in U", ("T", "U")),
        ("unchecked out T, unchecked U", ("T", "U")),
        ("out, in, unchecked", ("out", "in", "unchecked")),
        ("in  , T,", ("in", "T")),
    ],
)
def test_marks_of_variance_are_not_read(written: str, parameters: tuple[str, ...]) -> None:
    assert alias(f"type x[{written}] = a").parameters == parameters


def test_a_bare_word_is_one_word_however_it_is_encoded() -> None:
    composed, apart = "\u00e9", "e\u0301"
    declared = alias(f"type {apart}[{apart}] = {{ {apart}: {apart} @{apart}(:x), b: {apart}[c] }}")
    assert declared == alias(
        f"type {composed}[{composed}] = {{ {composed}: {composed} @{composed}(:x), b: {composed}[c] }}"
    )
    # Text is text.
    assert type_(f'{{ "{apart}": "{apart}" }}') == record(field(apart, literal(apart)))
    assert str(field("\ufb01", A)) == '"\ufb01": a'
    _, problems = read_annotation(f"#: ({apart}: a, {composed}: b) -> output", name="x")
    assert [problem.message for problem in problems] == [
        f"`{composed}` is declared twice, first on line 1: keep one of them."
    ]
    unread, _ = read_annotation(f"@rbs type {apart} = (", name="x")
    assert unread.unread == (composed,)


@pytest.mark.parametrize("text", ["input", "**untyped", " ** untyped ", "input,"])
def test_whole_input_signatures_name_no_parameters(text: str) -> None:
    signature = read(f"#: ({text}) -> output").signature
    assert signature is not None
    assert (signature.whole_input, signature.fields) == (True, ())


def test_a_parameter_may_be_called_input() -> None:
    assert parameters("input: a") == (field("input", A),)


@pytest.mark.parametrize("rest", ["output", "Hash[Symbol, untyped]", "{ it's (", "output | (x: y) -> z", ""])
def test_what_follows_the_arrow_is_not_read(rest: str) -> None:
    signature = read(f"#: (x: a) -> {rest}").signature
    assert signature is not None
    assert signature.fields == (field("x", A),)


def test_imports_are_kept_once_in_order() -> None:
    annotation = read("@rbs import error # why\n@rbs import billing/person\n@rbs import error")
    assert annotation.imports == (Import("error", at=AT), Import("billing/person", at=AT))


def test_positions_are_those_of_the_text() -> None:
    annotation = read("""Prose.

        # @rbs type a = { key: String? @min(1) @max(2), other: b }
        #:(
        #:  ?name: Array[ c ]
        #:) -> output
        """)
    text = annotation.source.text
    (declared,) = annotation.aliases
    assert text[declared.at.start : declared.at.end] == "a"
    row = declared.type
    assert text[row.at.start : row.at.end] == "{ key: String? @min(1) @max(2), other: b }"
    assert str(row) == text[row.at.start : row.at.end]
    key = row.fields[0]  # type: ignore[union-attr]
    assert [text[t.at.start : t.at.end] for t in key.tags] == ["@min(1)", "@max(2)"]
    assert text[key.at.start : key.at.end] == "key"
    assert annotation.signature is not None
    parameter = annotation.signature.fields[0]
    assert text[parameter.at.start : parameter.at.end] == "name"
    assert text[parameter.type.at.start : parameter.type.at.end] == "Array[ c ]"
    assert annotation.source.line_at(parameter.at.start) == 5


def test_the_old_spelling_of_optional_is_read_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="old spelling") as caught:
        annotation = read('Prose.\n\n@rbs type x = { count?: a, "b c"? : b }')
    assert annotation.aliases[0].type == record(field("count", A, optional=True), field("b c", B, optional=True))
    assert [str(warning.message) for warning in caught] == [
        "tool.py:3: `count?:` is the old spelling of an optional field: write `?count:`.",
        "tool.py:3: `b c?:` is the old spelling of an optional field: write `?b c:`.",
    ]


def test_the_old_spelling_is_shown_to_who_runs_the_module_that_it_is_for(tmp_path: Path) -> None:
    file = tmp_path / "tool.py"
    file.write_text(
        "from fastmcp_authz.annotations import read_annotation\n"
        "for _ in range(2):\n"
        "    read_annotation('@rbs type x = { count?: a }', name=__file__, first_line=7)\n"
    )
    ran = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    assert ran.stderr.splitlines() == [
        f"{file}:7: DeprecationWarning: {file}:7: `count?:` is the old spelling of an optional field: write `?count:`."
    ]
