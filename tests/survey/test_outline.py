"""An outline names each part once, and shows of it what callers see."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from fastmcp_authz import ToolContract
from fastmcp_authz.contracts.outline import Part, outline
from fastmcp_authz.contracts.shapes import Words
from tests.soundness.drawing import draw_contract
from tests.soundness.world import decisions, draw_world


def parts(docstring: str, side: str = "output") -> dict[str, Part]:
    contract = ToolContract.parse(docstring)
    laid_out = outline(contract.output if side == "output" else contract.input)
    assert len({part.path for part in laid_out.parts}) == len(laid_out.parts)
    return {part.path: part for part in laid_out.parts}


def names(schema: Any) -> Iterator[str]:
    """The names of all properties in a schema, wherever they are."""
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from properties
        for inner in properties.values():
            yield from names(inner)
        for keyword, inner in schema.items():
            if keyword == "$defs":
                for each in inner.values():
                    yield from names(each)
            elif keyword not in ("properties", "default", "examples", "const", "enum", "dependentRequired"):
                yield from names(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from names(inner)


def constants(schema: Any) -> Iterator[Any]:
    """The constants of a schema, with their JSON types: `1` is not `true`."""
    if isinstance(schema, dict):
        for keyword, inner in schema.items():
            if keyword == "const":
                yield type(inner), inner
            elif keyword == "enum":
                yield from ((type(value), value) for value in inner)
            elif keyword in ("properties", "$defs"):
                for each in inner.values():
                    yield from constants(each)
            elif keyword not in ("default", "examples", "dependentRequired"):
                yield from constants(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from constants(inner)


@pytest.mark.parametrize("number", range(16))
def test_no_two_parts_of_one_side_have_one_path(number: int) -> None:
    docstring, contract = draw_contract(Random(f"paths/{number}"), 2 + number % 3)
    for tree in (contract.input, contract.output):
        paths = [part.path for part in outline(tree).parts]
        assert len(set(paths)) == len(paths), docstring


@pytest.mark.parametrize("number", range(16))
def test_a_part_is_shown_where_it_is_in_the_schema_that_callers_get(number: int) -> None:
    world = draw_world(Random(f"shown/{number}"), 2 + number % 3)
    view = world.view()
    granted = decisions(world.answers)
    sides = (outline(world.contract.input), view.input_schema), (outline(world.contract.output), view.output_schema)
    for laid_out, schema in sides:
        shown = laid_out.shown(granted)
        assert {part.name for part in shown if part.is_field} == set(names(schema)), world
        found = {(type(v), v) for part in shown if isinstance(part.shape, Words) for v in part.shape.values}
        assert found <= set(constants(schema)), world


def test_the_places_of_a_tuple_have_paths_of_their_own() -> None:
    found = parts("#: () -> output\n@rbs type output = { pair: [{ a: String @requires(:x) }, { a: String }] }")
    assert {path: part.all_guards != () for path, part in found.items()} == {
        "pair": False,
        "pair[0].a": True,
        "pair[1].a": False,
    }


def test_the_keys_of_a_hash_are_members_of_it() -> None:
    docstring = """
    #: () -> output
    @rbs type output = { counts: Hash["ready" | "secret" @requires(:x), Integer] }
    """
    found = parts(docstring)
    assert list(found) == ["counts", 'counts{key}<"ready">', 'counts{key}<"secret">']
    assert found['counts{key}<"ready">'].guards == ()
    assert [str(guard) for guard in found['counts{key}<"secret">'].guards] == ['requires("x")']


def test_names_that_look_like_paths_are_quoted() -> None:
    docstring = """
    #: () -> output
    @rbs type output = {
      a: { b: String }, "a.b": String @requires(:x), "<c>": String, "first-name": String, "d e": Integer
    }
    """
    found = parts(docstring)
    assert list(found) == ["a", "a.b", '"a.b"', '"<c>"', "first-name", '"d e"']
    assert found['"a.b"'].is_called("a.b")


def test_members_with_one_name_are_counted() -> None:
    docstring = """
    #: () -> output
    @rbs type output = { x: { a: "1" } | { a: "2" } @requires(:x) }
    """
    assert list(parts(docstring)) == ["x", "x<{a}>", "x<{a}>.a", "x<{a} 2>", "x<{a} 2>.a"]
