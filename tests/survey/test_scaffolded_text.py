"""How proposals are laid out, what of a docstring stays, and code that says it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from fastmcp_authz.annotations import read_annotation
from fastmcp_authz.survey.proposing.layout import WIDTH, note_lines
from fastmcp_authz.survey.proposing.pasting import docstring_code
from fastmcp_authz.survey.proposing.proposal import propose
from fastmcp_authz.survey.proposing.prose import prose_without_parameters
from fastmcp_authz.survey.proposing.said import Note
from fastmcp_authz.survey.proposing.skeletons import skeleton

WORDS = "as long as a description may be that somebody has written about it at some length"
RECORD = {"type": "object", "properties": {"first": {"description": WORDS}, "second": {"type": "string"}}}


def lines_of(schema: dict[str, Any], *, described: str | None = None) -> list[str]:
    """The lines of a proposal's signature, of one parameter."""
    said = {} if described is None else {"description": described}
    proposal = propose("", {"type": "object", "properties": {"x": {**schema, **said}}, "required": ["x"]}, None)
    annotation, problems = read_annotation(proposal.docstring, name="laid out")
    assert problems == ()
    assert annotation.signature is not None
    assert annotation.signature.fields == proposal.parameters
    lines = proposal.docstring.split("\n")
    return lines[1 : lines.index("", 1)]


def test_long_types_stand_over_several_lines() -> None:
    assert lines_of({"type": "object", "additionalProperties": {"type": "array", "items": RECORD}}) == [
        "#: (",
        "#:   x: Hash[String, Array[{",
        "#:     ?first: untyped   @desc(as long as a description may be that somebody has written about it",
        "#:                         at some length),",
        "#:     ?second: String",
        "#:   }]]",
        "#: ) -> output",
    ]
    assert lines_of({"anyOf": [RECORD, {"type": "null"}]})[-2:] == ["#:   }?", "#: ) -> output"]
    assert lines_of({**RECORD, "additionalProperties": False}, described=WORDS)[-3:] == [
        "#:   } @closed()",
        f"#:      @desc({WORDS})",
        "#: ) -> output",
    ]


def test_many_constants_fill_lines() -> None:
    assert lines_of({"enum": [f"word number {number}" for number in range(12)]}, described="Which") == [
        "#: (",
        '#:   x: "word number 0" | "word number 1" | "word number 2" | "word number 3" | "word number 4"',
        '#:     | "word number 5" | "word number 6" | "word number 7" | "word number 8" | "word number 9"',
        '#:     | "word number 10" | "word number 11" @desc(Which)',
        "#: ) -> output",
    ]


def test_unions_of_long_types_stand_one_below_the_other() -> None:
    other = {"type": "array", "items": {**RECORD, "description": "Rows"}}
    lines = lines_of({"anyOf": [RECORD, other, {"enum": ["a", "b"]}]})
    assert [line for line in lines if "|" in line] == ["#:     | Array[{", '#:     | "a" | "b"']
    assert "#:       } @desc(Rows)]" in lines
    assert all(len(line) <= WIDTH for line in lines)


def test_a_text_with_quotes_is_never_broken() -> None:
    words = f'{WORDS} with a "quoted (text" and {WORDS}'
    (line,) = (line for line in lines_of({"type": "string"}, described=words) if "quoted" in line)
    assert WORDS in line


def test_notes_that_say_the_same_are_one() -> None:
    notes = [Note("a", "is odd."), Note("b\nc", "is odd."), Note("", "All is well.")]
    assert note_lines(notes) == ["# `a`, `b c` is odd.", "# All is well."]


@pytest.mark.parametrize(
    ("docstring", "prose"),
    [
        ("Only words: with a colon.", "Only words: with a colon."),
        ("Do.\n\nArgs:\n    a: One.\n        More.\n\n    b: Two.\n\nReturns:\n    It.", "Do.\n\nReturns:\n    It."),
        (
            "Do.\n\nParameters\n----------\na : int\n    One.\n\nReturns\n-------\nint\n    It.",
            "Do.\n\nReturns\n-------\nint\n    It.",
        ),
        ("Do.\n\n:param a: One\n    more.\n:returns: It.", "Do.\n\n:returns: It."),
        (":param a: One.", ""),
        ("Do\x07.\n\nNo arguments.", "Do .\n\nNo arguments."),
    ],
)
def test_prose_stays_but_for_its_parameters(docstring: str, prose: str) -> None:
    assert prose_without_parameters(docstring) == prose


def test_where_sections_cannot_be_told_apart_the_description_stays() -> None:
    docstring = "Do.\n\nArgs:\n    a: One.\n\nParams:\n    b: Two.\n"
    assert prose_without_parameters(docstring) == "Do."
    unusual = "Do.\n\nArgs: These\n    a: One.\n"
    assert prose_without_parameters(unusual) == "Do."


@pytest.mark.parametrize("text", ["One.", "With \"\"\" and \\ and '''.", "ends in \\", "ends in '", "", 'a\n\n"b"'])
def test_text_that_quotes_cannot_hold_is_escaped(text: str) -> None:
    names: dict[str, Any] = {}
    exec("\n".join(["def function():", *docstring_code(text)]), names)
    assert (inspect.getdoc(names["function"]) or "").strip() == text


def test_a_function_around_a_tool_has_the_hints_of_its_schema() -> None:
    given = {
        "type": "object",
        "properties": {
            "ref": {"$ref": "#/$defs/R"},
            "either": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
            "any": {},
            "kinds": {"type": ["string", "null"]},
            "from": {"type": "boolean"},
            "ring": {"$ref": "#/$defs/Ring"},
            "of a kind": {"type": "array"},
        },
        "required": ["kinds", "from"],
    }
    made = skeleton("do-it", given, {"R": {"type": "object"}, "Ring": {"$ref": "#/$defs/Ring"}})
    assert made.header == [
        "async def do_it(",
        "    kinds: str | None,",
        "    from_: bool,",
        "    ref: dict[str, Any] | None = None,",
        "    either: int | None = None,",
        "    any: Any = None,",
        "    ring: Any = None,",
        "    of_a_kind: list[Any] | None = None,",
        ") -> Any:",
    ]
    assert '"of a kind": of_a_kind' in made.body[0]
    assert made.given["required"] == ["kinds", "from_"]


def test_names_in_a_function_around_a_tool_mean_nothing_else() -> None:
    names = ["api", "mcp", "class", "\ufb01nd", "find"]
    made = skeleton("import", {"type": "object", "properties": {each: {} for each in names}}, {})
    assert made.name == "import_"
    assert made.body[0] == 'arguments = {"api": api_, "mcp": mcp_, "class": class_, "\ufb01nd": find, "find": find_2}'
    assert skeleton("Api", {}, {}).name == "api_"


def test_a_note_stays_a_comment_whatever_it_quotes() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "odd\n@rbs type y = untyped\n": 1}}}
    annotation, problems = read_annotation(propose("", schema, None).docstring, name="noted")
    assert problems == ()
    assert [alias.name for alias in annotation.aliases] == ["output"]
