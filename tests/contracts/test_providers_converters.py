"""The providers' own packages convert what is advertised, of every contract that this repository shows.

A package that is missing is an error here, and so not skipped.
"""

from __future__ import annotations

import ast
import copy
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, get_args

import pytest
from anthropic import transform_schema
from google.genai import types
from google.genai._mcp_utils import mcp_to_gemini_tool
from openai.lib._pydantic import _ensure_strict_json_schema

from fastmcp_authz import CallerView, Settings, ToolContract
from fastmcp_authz.contracts.providers import PROVIDERS
from fastmcp_authz.settings import Dialect
from tests.conformance import run
from tests.conformance.cases import load

ROOT = Path(__file__).parents[2]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


def sources() -> Iterator[tuple[str, Path]]:
    """The Python that is shown to a reader, in pages and examples, each with a folder that holds shared types."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            yield block, ROOT / "examples" / "recruiting"
    for path in sorted((ROOT / "examples").rglob("*.py")):
        yield path.read_text(encoding="utf-8"), path.parent


def shown() -> Iterator[ToolContract]:
    for source, folder in sources():
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            docstring = ast.get_docstring(node) or ""
            if "@rbs type" in docstring:
                if "#:" not in docstring:
                    docstring += "\n\n#: () -> output"
                yield ToolContract.parse(docstring, name=node.name, shared_types=folder / "sig" / "shared")


def conformant() -> Iterator[ToolContract]:
    for case in load():
        if "annotation" in case and "error" not in case["expect"]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # some are written in the older spelling
                yield run.parse(case)


CONTRACTS = {"shown": [*shown()], "conformance": [*conformant()]}


def views(contracts: list[ToolContract], dialect: Dialect) -> Iterator[CallerView]:
    """Each contract, as who may see all of it has it and as nobody has it."""
    settings = Settings(dialect=dialect)
    for contract in contracts:
        yield contract.view_of(frozenset(contract.predicates), settings)
        yield contract.view_of(frozenset(), settings)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])]
        for each in (*inner, *schema.get("oneOf", []), *schema.get("prefixItems", []), schema.get("items")):
            yield from nodes(each)


def test_there_is_something_to_convert() -> None:
    assert len(CONTRACTS["shown"]) >= 8
    assert len(CONTRACTS["conformance"]) >= 150


def by_anthropic(schema: dict[str, Any]) -> dict[str, Any]:
    return transform_schema(copy.deepcopy(schema))


def by_openai(schema: dict[str, Any]) -> dict[str, Any]:
    own = copy.deepcopy(schema)
    return _ensure_strict_json_schema(own, path=(), root=own)


def by_gemini(schema: dict[str, Any]) -> dict[str, Any]:
    own = copy.deepcopy(schema)
    tool: Any = SimpleNamespace(name="tool", description="", input_schema=own, inputSchema=own)  # as 2.8 has it
    declared = (mcp_to_gemini_tool(tool).function_declarations or [])[0]
    assert declared.parameters is not None
    converted: dict[str, Any] = declared.parameters.model_dump(exclude_none=True, by_alias=True, mode="json")
    return converted


def whole_by_gemini(schema: dict[str, Any]) -> dict[str, Any]:
    declared = types.FunctionDeclaration(name="tool", parameters_json_schema=copy.deepcopy(schema))
    converted: dict[str, Any] = declared.model_dump(exclude_none=True)["parameters_json_schema"]
    return converted


def is_for_any_converter(schema: dict[str, Any]) -> bool:
    """Whether there is neither an `untyped` nor a tuple in it: Anthropic's converter stops at those."""
    return not any(node == {} or node.keys() <= NOTES or "prefixItems" in node for node in nodes(schema))


NOTES = {"description", "default", "examples", "title", "deprecated"}
KINDS = get_args(Literal["shown", "conformance"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_converter_takes_every_dialect(dialect: Dialect, kind: str) -> None:
    for view in views(CONTRACTS[kind], dialect):
        schema = view.input_schema
        assert whole_by_gemini(schema) == schema
        for converted in (by_openai(schema), *([by_anthropic(schema)] if dialect_is_whole(dialect, schema) else [])):
            assert converted["type"] == "object"
            assert list(converted["properties"]) == list(schema["properties"])


def dialect_is_whole(dialect: Dialect, schema: dict[str, Any]) -> bool:
    return dialect in PROVIDERS or is_for_any_converter(schema)


@pytest.mark.parametrize("kind", KINDS)
def test_openais_converter_changes_nothing_of_what_is_written_for_openai(kind: str) -> None:
    for view in views(CONTRACTS[kind], "openai"):
        converted = by_openai(view.input_schema)
        for node in nodes(converted):
            if node.get("required") == []:
                del node["required"]
        assert converted == view.input_schema


@pytest.mark.parametrize("kind", KINDS)
def test_anthropics_converter_says_nothing_in_its_own_words_of_what_is_written_for_anthropic(kind: str) -> None:
    for view in views(CONTRACTS[kind], "anthropic"):
        schema = view.input_schema
        for ours, theirs in zip(nodes(schema), nodes(by_anthropic(schema)), strict=True):
            assert theirs, "no schema is empty"
            # It moves each keyword that it does not know into the description, and of ours only the default.
            for key in ("enum", "format", "minItems", "required", "additionalProperties"):
                assert theirs.get(key) == ours.get(key), (key, ours, theirs)
            if "default" not in ours:
                assert theirs.get("description") == ours.get("description")


@pytest.mark.parametrize("kind", KINDS)
def test_googles_converter_keeps_every_property_of_what_is_written_for_gemini(kind: str) -> None:
    for view in views(CONTRACTS[kind], "gemini"):
        schema = view.input_schema
        types.Schema.model_validate(schema)  # which refuses fields that are unknown there
        for ours, theirs in zip(nodes(schema), nodes(unfolded(by_gemini(schema), schema)), strict=True):
            assert theirs
            assert set(theirs.get("properties", {})) == set(ours.get("properties", {}))
            for key in ("enum", "minimum", "maximum", "pattern", "required", "description"):
                assert theirs.get(key) == ours.get(key), (key, ours, theirs)


def unfolded(converted: Any, schema: Any) -> Any:
    """What Google's converter made, with `nullable` as the union that it was made of."""
    if "anyOf" not in schema:
        for key, part in schema.get("properties", {}).items():
            converted["properties"][key] = unfolded(converted["properties"][key], part)
        if "items" in schema:
            converted["items"] = unfolded(converted["items"], schema["items"])
        return converted
    null = {"type": "null"}
    said = {key: converted.pop(key) for key in ("description", "default") if key in schema and key in converted}
    members = [each for each in schema["anyOf"] if each != null]
    if converted.pop("nullable", False):
        found = converted.get("anyOf", [converted])
        found = [each for each in found if str(each.get("type", "")).lower() != "null"]
        inner = iter([unfolded(each, member) for each, member in zip(found, members, strict=True)])
        return {"anyOf": [null if each == null else next(inner) for each in schema["anyOf"]], **said}
    pairs = zip(converted["anyOf"], schema["anyOf"], strict=True)
    return {"anyOf": [unfolded(*pair) for pair in pairs], **said}


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_converted_too(kind: str) -> None:
    """They are for clients, and models read them at most; converters take them all the same."""
    for view in views(CONTRACTS[kind], "gemini"):
        types.Schema.model_validate(view.output_schema or {})
    for view in views(CONTRACTS[kind], "openai"):
        assert view.output_schema is None or by_openai(view.output_schema)["type"] == "object"
    for view in views(CONTRACTS[kind], "anthropic"):
        schema = view.output_schema
        assert schema is None or not is_for_any_converter(schema) or by_anthropic(schema)
