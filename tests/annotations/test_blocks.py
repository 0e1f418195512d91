"""Where blocks begin and end, what is prose, and which line of the file is which: SPEC section 2, "Blocks"."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmcp_authz.annotations import declares_input, read_annotation
from fastmcp_authz.annotations.docstring import dedented
from tests.annotations.trees import messages, read


def declared(docstring: str) -> list[str]:
    """Read a docstring without problems, and return its prose and its declarations as canonical text."""
    annotation = read(docstring)
    return [annotation.prose, *map(str, annotation.imports), *map(str, annotation.aliases), str(annotation.signature)]


@given(st.text(alphabet="ab \t\n", max_size=60))
@settings(max_examples=100, deadline=None)
def test_a_docstring_is_dedented_as_inspect_does_it(docstring: str) -> None:
    assert dedented(docstring, name="x", first_line=1).text == inspect.cleandoc(docstring)


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("", ["", "None"]),
        ("Only prose.\n\n\n\nMore.", ["Only prose.\n\n\n\nMore.", "None"]),
        ("Prose.\n\n@rbs import a\n\nMore.", ["Prose.\n\nMore.", "import a", "None"]),
        ("Prose.\n@rbs import a\nMore.", ["Prose.\nMore.", "import a", "None"]),
        ("Prose.\n\n@rbs import a\n\n\n#: () -> o\n\n\nMore.\n\n", ["Prose.\n\nMore.", "import a", "() -> output"]),
        ("Mid @rbs type a = b and #: (x: a) are prose.", ["Mid @rbs type a = b and #: (x: a) are prose.", "None"]),
        ("# Heading\n\n@rbs import a", ["# Heading", "import a", "None"]),
        ("# comment\n@rbs import a\n# comment", ["", "import a", "None"]),
        ("@rbs import a\n#hashtag", ["#hashtag", "import a", "None"]),
        ("@rbs type a = b\nArgs:\n    x: text", ["Args:\n    x: text", "type a = b", "None"]),
        ("@rbs type a =\n  b\n  | c\n  & d\nProse.", ["Prose.", "type a = b | c & d", "None"]),
        ("@rbs type a = b |\nc &\nd\nProse.", ["Prose.", "type a = b | c & d", "None"]),
        ("@rbs type a = {\n  b: c,\n\td: e }\nProse.", ["Prose.", "type a = { b: c, d: e }", "None"]),
        ("@rbs type a = b # | no\n# remark { \n  | c # [", ["", "type a = b | c", "None"]),
        ("@rbs type a = {\n# it's {\n  b: c # ',\n}", ["", "type a = { b: c }", "None"]),
        ("@rbs type a = b\n@rbs type c = d\n#: () -> o", ["", "type a = b", "type c = d", "() -> output"]),
        ("@rbs type a = b @t(first\n# second) | c", ["", "type a = b @t(first # second) | c", "None"]),
        ("#: (a: b\n#: ,\n#:\n#: c: d) -> {\n#: e }", ["", "(a: b, c: d) -> output"]),
        ("#: (a: b, # one\n# two\n#:  c: d) -> o", ["", "(a: b, c: d) -> output"]),
        ("#: (a: b)\n#: -> o\nProse.", ["Prose.", "(a: b) -> output"]),
        ("    @rbs import a\r\n    #: () -> o\r", ["", "import a", "() -> output"]),
        ("\tProse.\n\t@rbs type a = {\n\t\tb:\tc\n\t}", ["Prose.", "type a = { b: c }", "None"]),
        # Ruby comment blocks
        ("# @rbs type a = b", ["", "type a = b", "None"]),
        ("#@rbs type a = b", ["", "type a = b", "None"]),
        (
            "# Words\n# @rbs type a = {\n#   b: c, # d\n#   # e\n# }\n#\n# More.",
            ["# More.", "type a = { b: c }", "None"],
        ),
        ("# @rbs type a = b\n#             | c\n# (remark)\nProse.", ["Prose.", "type a = b | c", "None"]),
        ("# @rbs type a = b @t(c\n#   d)", ["", "type a = b @t(c d)", "None"]),
        ("# #: (\n# #:   a: b\n# #: ) -> o", ["", "(a: b) -> output"]),
        ("# Words.\n#\n# @rbs import a", ["# Words.", "import a", "None"]),
    ],
)
def test_prose_and_declarations(docstring: str, expected: list[str]) -> None:
    assert declared(docstring) == expected


@pytest.mark.parametrize(
    "broken",
    [
        "@rbs type a = {\n  b: c,",
        "@rbs type a = {\n  b: c)\n  d: e\n}",
        "@rbs type\n  | b",
        "@rbs typo a = {\n  b: c\n}",
        "@rbs a: {\n  b: c\n}",
        "#: (\n#:   b: c",
        "#: (\n  b: c\n) -> o",
        "#: (b: c) -> {\n  d: e\n}\n#: (x: y) -> z",
        "# @rbs type a = {\n#   b: c",
        "@rbs type a = b @t(c\nd",
    ],
)
def test_no_annotation_text_reaches_the_prose(broken: str) -> None:
    annotation, problems = read_annotation(f"Before.\n\n{broken}\n\nAfter.", name="x")
    assert annotation.prose == "Before.\n\nAfter."
    assert problems


def test_a_broken_block_does_not_keep_the_others_from_being_read() -> None:
    annotation, problems = read_annotation(
        "@rbs type a = {\n@rbs type b = c\n@rbs type d = )\n#: (x y) -> o\n\n@rbs import e", name="x"
    )
    assert [str(alias) for alias in annotation.aliases] == ["type b = c"]
    assert [imported.name for imported in annotation.imports] == ["e"]
    assert annotation.unread == ("a", "d", "#:")
    assert [problem.line for problem in problems] == [1, 3, 4]


def test_lines_count_in_the_file() -> None:
    docstring = """

    Prose.

    @rbs type a = b &
    """
    _, (problem,) = read_annotation(docstring, name="dir/tools.py", first_line=40)
    assert (problem.where, problem.line, problem.column, problem.width) == ("dir/tools.py", 44, 16, 1)
    assert problem.excerpt == "@rbs type a = b &"


def test_a_problem_keeps_to_its_line_and_shows_it_as_written() -> None:
    _, (problem,) = read_annotation("# @rbs type a = b {\n#   c: d }", name="x")
    assert (problem.excerpt, problem.column, problem.width) == ("# @rbs type a = b {", 18, 1)


def test_two_signatures() -> None:
    text = (
        "a second signature: the one on line 1 is read. Keep one, or give the inputs that can be left out a `?` in "
        "front."
    )
    assert messages("#: (a: b) -> o\n#: (c: d) -> o") == [f"2:3+6 {text}"]
    assert messages("#: (a: b) -> o\n\n#: (c: d) -> o") == [f"3:3+6 {text}"]
    annotation, _ = read_annotation("#: (a: b) -> o\n#: (c: d) -> o", name="x")
    assert str(annotation.signature) == "(a: b) -> output"


@pytest.mark.parametrize(
    ("docstring", "declares"),
    [
        ("Words.\n\n#: (a: b) -> o", True),
        ("#: (a: b", True),
        ("@rbs type input = { a?: b }", True),
        ("@rbs type input = {", True),
        ("@rbs type inputs = {}\n@rbs type output = { input: a }", False),
        ("Words of `@rbs type input`.", False),
    ],
)
def test_whether_inputs_are_declared_is_seen_without_reading_them(docstring: str, declares: bool) -> None:
    assert declares_input(docstring) is declares


@pytest.mark.parametrize(
    "parted",
    [
        "@rbs type a = b\n\n  | { c: d @t(1) }",
        "@rbs type a = b\n\n  | {\n    c: d @t(1)\n  }\n  | e",
        "@rbs type a = b\n\n\n# comment\n  & c\n\n  | d",
        "# @rbs type a = b\n#\n#   | c @t(\n# d)\n# comment",
        "@rbs type a = b\n  @t(1)\n\n| c",
        "#: (a: b) -> c\n\n| d\n@t(1)",
    ],
)
def test_what_a_gap_parts_from_its_block_is_a_problem_and_no_prose(parted: str) -> None:
    annotation, problems = read_annotation(f"Before.\n\n{parted}\n\nAfter.", name="x")
    assert annotation.prose == "Before.\n\nAfter."
    assert problems
