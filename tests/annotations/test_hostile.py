"""Absurd and hostile input: always an answer, in bounded time, at any depth."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_authz.annotations import Import, Library, Signature, read_annotation
from fastmcp_authz.annotations.tokens import MAX_PROBLEMS
from tests.annotations.budget import BUDGET
from tests.annotations.test_round_trip import fields
from tests.annotations.trees import AT, alias, messages

_pieces = st.sampled_from(
    [
        *("@rbs type ", "@rbs import ", "@rbs", "#: (", "#:", "#", "# ", "input", "**", "->", "a", "é", "5", "-"),
        *("(", ")", "[", "]", "{", "}", "|", "&", "?", ":", "::", ",", "=", '"', "'", "\\", "@t(", "@"),
        *("\n", "\n\n", " ", "\t", "\r", "\b", "\ud800"),
    ]
)


def assert_an_answer(docstring: str) -> None:
    """Read a text as docstring and as file; each problem must point into the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        annotation, problems = read_annotation(docstring, name="x")
        _, of_file = Library(texts={"x.rbs": docstring}).load(Import("x", at=AT))
    lines = annotation.source.text.split("\n")
    for problem in problems:
        assert problem.message
        assert problem.excerpt == lines[problem.line - annotation.source.first_line]
        assert 0 <= problem.column <= len(problem.excerpt)
        assert problem.column + problem.width <= max(len(problem.excerpt), problem.column + 1)
    assert all(problem.message for problem in of_file)
    for declared in (*annotation.aliases, annotation.signature):
        assert str(declared)


@given(st.text(max_size=80))
@BUDGET
def test_any_text_ends_in_an_answer(text: str) -> None:
    assert_an_answer(text)


@given(
    st.lists(_pieces, max_size=40).map("".join), st.sampled_from(["", "@rbs type a = ", "#: (", "# @rbs type a = {"])
)
@BUDGET
def test_any_pieces_of_the_language_end_in_an_answer(text: str, head: str) -> None:
    assert_an_answer(head + text)


@given(fields, st.data())
@BUDGET
def test_a_mutated_signature_ends_in_an_answer(fields: list[object], data: st.DataObject) -> None:
    text = f"#: {Signature(tuple(fields), at=AT)}"  # type: ignore[arg-type]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))
    assert_an_answer(text[:start] + data.draw(_pieces) + text[end:])


NESTINGS: list[tuple[str, Callable[[str], str]]] = [
    ("group", lambda inner: f"(a | {inner})"),
    ("generic", lambda inner: f"Hash[a, b | {inner}]"),
    ("tuple", lambda inner: f"[a, b & {inner}]"),
    ("record", lambda inner: f"{{ a: b, ?c: d | {inner}? @t(1) }}"),
    ("misplaced", lambda inner: f"[@t(1) {inner}]"),
]


@pytest.mark.parametrize(("kind", "nest"), NESTINGS, ids=[kind for kind, _ in NESTINGS])
def test_thirty_two_levels_are_read_on_the_default_stack(kind: str, nest: Callable[[str], str]) -> None:
    assert sys.getrecursionlimit() == 1000
    text = "a"
    for _ in range(32):
        text = nest(text)
    found = messages(f"@rbs type x = {text}")
    if kind == "misplaced":
        assert len(found) == MAX_PROBLEMS
    else:
        assert found == []
        assert alias(str(alias(f"type x = {text}"))) == alias(f"type x = {text}")
    deeper = messages(f"@rbs type x = {nest(text)}")
    assert len(deeper) == 1
    assert "brackets nest at most 32 deep, and this one is deeper." in deeper[0]


def test_all_kinds_of_brackets_mixed_are_read_32_deep() -> None:
    text = "a @desc(" + "(" * 32 + ")" * 32 + ")"
    for level in range(32):
        text = NESTINGS[level % 4][1](text if level else f"{text} | a")
    assert messages(f"@rbs type x = {text}") == []


@pytest.mark.parametrize("opener", ["(", "[", "{", "a[", "{ a: ", "@t(", "a @t(x ("])
@pytest.mark.parametrize("depth", [33, 10_000])
def test_deeper_is_a_problem_and_no_recursion_error(opener: str, depth: int) -> None:
    found = messages(f"@rbs type x = {opener * (depth + 1)}")
    assert len(found) == 1
    assert "nest at most 32 deep" in found[0]


@pytest.mark.parametrize(
    "text",
    [
        "@rbs type x = " + "(" * 60_000 + "]" * 60_000,
        "@rbs type x[" + ",".join(f"T{i}" for i in range(60_000)) + "] = a",
        "#: ()\n" * 60_000,
    ],
    ids=["closers of another kind", "parameters", "signatures"],
)
def test_reading_takes_time_as_the_length_of_the_text(text: str) -> None:
    started = time.process_time()
    assert_an_answer(text)
    assert time.process_time() - started < 60


PIECES = [
    *("(", ")", "[", "{", "|", "&", "?", ",", ":", '"', "'", ' "', " '", "\\", "@", "#", "\n", " ", "-", "1", "a", "é"),
    *('"a"', "'a' ", "a|", "a &", "a, ", "a: ", "a ", ":a ", "?a: b, ", "(a)", "[a]? ", "-> ", '\\"', "1_", '("'),
    *("@t(1)", " @t ", "@t(", " @t(a) a", "@t(')", " @t(\"(') "),
    *("\n#: ", "\n#: (", "\n#: ()", "\n@rbs type a = b", "\n@rbs ", "\n| a", "\n# ", "\n\n"),
]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("head", ["", "@rbs type x = ", "#: (", "#: (a: b @t(", '#: (a: "'])
def test_much_of_anything_is_read_in_bounded_time(piece: str, head: str) -> None:
    size = 100_000 if head == "#: (" else 10_000
    started = time.process_time()
    assert_an_answer(head + piece * (size // len(piece)))
    # Processor time, and far too much of it: a cubic or exponential search would not end at all.
    assert time.process_time() - started < 60
