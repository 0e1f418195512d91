"""What a tag's value is: SPEC section 3, first paragraph."""

from __future__ import annotations

import pytest

from fastmcp_authz.annotations.values import read_string, read_value, value_end, write_string, write_value
from tests.annotations.trees import field, name, parameters, tag


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", ""),
        ("  two words ", "two words"),
        (":admin", ":admin"),
        ("a, (b) | c: {d} [e] \"f\" 'g' #h @i(j) -> k & l? = m; it's 100% ok",) * 2,
        ("range [0, 1[ or {x",) * 2,
        ("http://h/p#part",) * 2,
        ("needs @requires(:admin) elsewhere",) * 2,
        ("O'Brien",) * 2,
        ("rock 'n' roll",) * 2,
        ("until 'til",) * 2,
        (r"a single \) and \( and \\", r"a single ) and ( and \ ".strip()),
        (r"say \"hi\" or \'hi\'", "say \"hi\" or 'hi'"),
        (r"a \d stays",) * 2,
        ('a ":)" smile',) * 2,
        ("a ':(' frown",) * 2,
        ('say (":)")',) * 2,
        ('["a)", 1]',) * 2,
        ('5" by 3"',) * 2,
        ('"partly" quoted',) * 2,
    ],
)
def test_value(written: str, value: str) -> None:
    assert parameters(f"x: a @t({written}) @u(1)") == (field("x", name("a"), tag("t", value), tag("u", "1")),)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"pending"', "pending"),
        ("'pending'", "pending"),
        ('""', ""),
        ('" kept "', " kept "),
        (r'"a \"b\" \\ :)"', 'a "b" \\ :)'),
        ('"it\'s"', "it's"),
    ],
)
def test_a_whole_quoted_value_is_what_stands_between_the_quotes(written: str, value: str) -> None:
    assert parameters(f"x: a @t( {written} )") == (field("x", name("a"), tag("t", value, quoted=True)),)


@pytest.mark.parametrize(
    "pattern", [r"^app-\d+$", r"^(foo|bar)\[[a-z]{2}\]$", r"\(\)\\", '"quoted"', r"^[A-Z]{2,3}\.$"]
)
def test_a_pattern_is_verbatim(pattern: str) -> None:
    assert parameters(f"x: a @pattern({pattern})") == (field("x", name("a"), tag("pattern", pattern)),)


def test_an_apostrophe_before_a_word_protects_nothing_beyond_its_line() -> None:
    assert parameters("x: a @t(go 'til dawn), y: a @t(the 'b')") == (
        field("x", name("a"), tag("t", "go 'til dawn")),
        field("y", name("a"), tag("t", "the 'b'")),
    )
    assert parameters("x: a @t('til)\n#: , y: a @t(dogs')") == (
        field("x", name("a"), tag("t", "'til")),
        field("y", name("a"), tag("t", "dogs'")),
    )


def test_a_line_break_in_a_value_is_one_blank() -> None:
    assert parameters("x: a @t(\n#:   first\n#:   # no comment\n#: last\n#: )") == (
        field("x", name("a"), tag("t", "first # no comment last")),
    )
    assert parameters('x: a @t("first\n#:    last")') == (field("x", name("a"), tag("t", "first last", quoted=True)),)


@pytest.mark.parametrize(
    "value", ["", "plain", "it's (balanced)", "a) b", "(", '"whole"', "\\", r"\(", "'open", 'a ")"']
)
@pytest.mark.parametrize("quoted", [False, True])
def test_what_is_written_reads_the_same(value: str, quoted: bool) -> None:
    written = write_value(value, quoted=quoted, verbatim=False)
    assert value_end(written + ")", 0) == len(written)
    assert read_value(written, verbatim=False) == (value, quoted)


@pytest.mark.parametrize(
    ("value", "written"),
    [("it's (fine)", "it's (fine)"), ("a) b", r"a\) b"), (r"\d", r"\d"), (r"a\\b", r"a\\\\b"), ('"x"', r"\"x\"")],
)
def test_values_are_written_with_as_few_escapes_as_will_do(value: str, written: str) -> None:
    assert write_value(value, quoted=False, verbatim=False) == written


@pytest.mark.parametrize("text", ["", 'a"b\\c', "\n\t\x00\x7f\x85", "é 日本 😀", "\u2028"])
def test_strings_are_written_without_control_characters(text: str) -> None:
    written = write_string(text)
    assert read_string(written) == text
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in written)


@pytest.mark.parametrize("literal", [r'"\ud800"', r'"\u{110000}"'])
def test_an_escape_that_is_no_character_is_refused(literal: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_string(literal)
