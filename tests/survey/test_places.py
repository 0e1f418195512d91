"""Every part of a contract is found where it stands, in the docstring or in a shared file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fastmcp_authz import ToolContract
from fastmcp_authz.commands.loading import load_server
from fastmcp_authz.contracts.outline import outline
from fastmcp_authz.survey.places import Place, Places
from fastmcp_authz.survey.survey import survey
from tests.recruiting import SERVER


async def test_every_part_of_the_example_is_found_where_it_stands() -> None:
    found = 0
    for tool in (await survey(await load_server(str(SERVER)))).tools:
        assert tool.declaration is not None
        places = Places(tool.declaration.contract)
        parts = [(part, places.input(part)) for part in tool.input.parts]
        parts += [(part, places.output(part)) for part in tool.output.parts]
        for part, place in parts:
            assert place is not None, part.path
            *above, line = text_to(place)
            assert re.search(rf"\b{part.name.strip(chr(34))}\b", line), (part.path, place, line)
            if place.file.endswith(".py"):
                assert re.findall(r"^def (\w+)\(", "\n".join(above), re.MULTILINE)[-1] == tool.name
            found += 1
    assert found == 70


def text_to(place: Place) -> list[str]:
    """The lines of a file, up to a place in it."""
    return Path(place.file).read_text(encoding="utf-8").splitlines()[: place.line]


async def test_a_shared_type_is_found_in_its_file() -> None:
    (tool,) = [
        each for each in (await survey(await load_server(str(SERVER)))).tools if each.name == "search_applicants"
    ]
    assert tool.declaration is not None
    (email,) = [part for part in tool.output.parts if part.path == "matches[].email"]
    place = Places(tool.declaration.contract).output(email)
    assert place is not None
    assert str(place) == f"{SERVER.parent / 'sig' / 'shared' / 'applicant.rbs'}:{place.line}"
    assert "?email: String" in text_to(place)[-1]


DOCSTRING = """
@rbs type page[T] = {
  items: Array[T],
  ?next: page[T]
}
@rbs type row = {
  id: Integer,
  ?kind: String |
    Integer @requires(:a)
}
@rbs type output = {
  rows: page[{
    id: String,
    ?owner: row?
  }],
  pair: [
    { x: Integer },
    { x: Integer,
      y: Integer }
  ],
  both: { p: Integer } & {
    q: Integer },
  counts: Hash["a" |
    "b" @requires(:a), {
    n: Integer }]
}
#: (
#:   a: Integer
#: ) -> output
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("rows", "rows: page"),
        ("rows.items", "items: Array"),
        ("rows.items[].id", "id: String"),
        ("rows.items[].owner", "?owner"),
        ("rows.items[].owner<row>", "?owner"),
        ("rows.items[].owner<row>.id", "id: Integer"),
        ("rows.items[].owner<row>.kind<string>", "?kind"),
        ("rows.items[].owner<row>.kind<integer>", "Integer @requires"),
        ("rows.next", "?next"),
        ("pair[0].x", "{ x: Integer }"),
        ("pair[1].x", "{ x: Integer,"),
        ("pair[1].y", "y: Integer"),
        ("both.p", "both:"),
        ("both.q", "q: Integer"),
        ('counts{key}<"a">', "counts:"),
        ('counts{key}<"b">', '"b"'),
        ("counts{}.n", "n: Integer"),
    ],
)
def test_a_part_is_found_through_generics_tuples_hashes_and_intersections(path: str, text: str) -> None:
    contract = ToolContract.parse(DOCSTRING)
    parts = {part.path: part for part in outline(contract.output).parts}
    place = Places(contract).output(parts[path])
    assert place is not None
    line = DOCSTRING.splitlines()[place.line - 1]
    assert text in line


MEMBERS = """
@rbs type input = {
  ?a: { x: Integer } |
    { x: String } |
    Array[Integer] |
    [bool,
      Integer] |
    (Float @min(1)) |
    Hash[String, bool] |
    nil
}
@rbs type output = {}
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a", "?a:"),
        ("a<{x}>.x", "{ x: Integer }"),
        ("a<{x} 2>", "{ x: String }"),
        ("a<{x} 2>.x", "{ x: String }"),
        ("a<Array[integer]>", "Array[Integer]"),
        ("a<tuple>", "[bool,"),
        ("a<number>", "Float"),
        ("a<nil>", "nil"),
    ],
)
def test_a_member_is_found_by_what_it_is_called(path: str, text: str) -> None:
    contract = ToolContract.parse(MEMBERS)
    parts = {part.path: part for part in outline(contract.input).parts}
    place = Places(contract).input(parts[path])
    assert place is not None
    assert text in MEMBERS.splitlines()[place.line - 1]


def test_names_have_places_and_what_is_not_there_has_none() -> None:
    places, other = Places(ToolContract.parse(DOCSTRING)), ToolContract.parse(MEMBERS)
    row = places.alias("row")
    assert row is not None
    assert DOCSTRING.splitlines()[row.line - 1].startswith("@rbs type row")
    assert places.alias("column") is None
    assert places.output(outline(other.input).parts[0]) is None
