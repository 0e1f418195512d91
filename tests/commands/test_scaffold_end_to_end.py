"""A server of plain tools, scaffolded and pasted: it lists, takes and gives what it did."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from fastmcp import Client, FastMCP
from jsonschema import Draft202012Validator

from fastmcp_authz.commands.app import run
from fastmcp_authz.commands.loading import load_server
from fastmcp_authz.survey.proposing.pasting import docstring_code

PLAIN: Final = Path(__file__).with_name("plain_server.py")
NODE: Final = {"name": "a", "children": [{"name": "b"}]}
TICKET: Final = "9b2e2c0e-7b7c-4d9f-8f55-1d1f0a3c6f10"
CALLS: Final[dict[str, list[dict[str, Any]]]] = {
    "find_orders": [{"query": "x", "page": 2, "tags": ["a"]}, {"query": "x", "tags": None}, {}, {"query": 1}],
    "create_customer": [
        {"customer": {"name": "Ann", "home": {"street": "Elm"}}, "notify": True},
        {"customer": {"name": "Ann", "home": {"street": "Elm", "zip": "12345", "x": 1}, "stage": "paid"}},
        {"customer": {"name": "Ann", "home": {"street": ""}}},
        {"customer": {"name": "Ann", "home": {"street": "Elm", "zip": "x"}}},
        {"customer": {"name": "Ann", "home": {"street": "Elm"}, "more": 1}},
        {"customer": {"name": "Ann", "home": {"street": "Elm"}, "pays": {"iban": "DE2"}}, "by": "bob"},
    ],
    "set-limits": [
        {},
        {"least": 50, "most": 0.5, "code": "(a", "many": ["open", "paid"]},
        {"least": 0},
        {"most": 100},
        {"code": "abcde"},
        {"code": "-"},
        {"many": []},
    ],
    "move": [
        {"kind": "fast", "how": None, "to": {"x": 1}, "size": {}, "span": [1]},
        {"kind": "slow", "how": "two", "to": {"x": 1, "y": 2}, "size": {"width": 3}, "span": [1, 2]},
        {"kind": "other", "how": 1, "to": {"x": 1}, "size": {}, "span": [1, 2]},
        {"kind": "fast", "how": 2, "to": {"x": 1}, "size": {}, "span": [1, 2]},
        {"kind": "fast", "how": True, "to": {"x": 1}, "size": {}, "span": [1, 2, 3]},
    ],
    "count": [
        {"words": ["a"], "weights": {"a": 1.5}, "pair": [1, "a"], "rest": [1, 2]},
        {"words": [], "weights": {}, "pair": [1, "a"]},
        {"words": [], "weights": {"a": "much"}, "pair": [1, "a"]},
        {"words": [], "weights": {}, "pair": [1]},
    ],
    "oldest": [{"names": ["b", "a"]}, {"names": []}, {"names": [1]}],
    "pet": [
        {"animal": {"kind": "cat"}, "other": {"name": "Rex"}},
        {"animal": {"kind": "dog", "name": "Rex"}, "other": {}},
        {"animal": {"lives": 3}, "other": {}},
        {"animal": {"kind": "cow"}, "other": {}},
    ],
    "forget": [{"name": [1]}, {"name": None, "why": {"a": 1}}, {}],
    "book": [
        {"day": "2026-01-02", "at": "12:30:00", "ticket": TICKET},
        {"day": "2026-01-02", "at": "12:30:00", "ticket": TICKET, "price": 2.5, "since": "2026-01-02T03:04:05Z"},
        {"day": "2026-01-02", "at": "12:30:00", "ticket": TICKET, "price": "2.50", "lasts": "PT1H", "folder": "/"},
        {"day": "some day", "at": "12:30:00", "ticket": TICKET},
        {"day": "2026-01-02", "at": "noon", "ticket": TICKET},
        {"day": "2026-01-02", "at": "12:30:00", "ticket": "none"},
    ],
    "grow": [{"tree": NODE}, {"tree": {"name": "a", "children": [{}]}}],
    "about": [{}, {"more": 1}],
    "open": [{"hour": 8}, {"hour": 8, "who": "x"}, {"hour": "late"}],
}
"""Arguments for each tool, some of which are refused."""


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_scaffolded_server_lists_takes_and_gives_what_the_plain_one_does(mode: Any, pasted: Path) -> None:
    plain, gated = await load_server(str(PLAIN)), await load_server(str(pasted))
    async with Client(plain, mode=mode) as before, Client(gated, mode=mode) as after:
        listed = {tool.name: tool for tool in await after.list_tools()}
        for tool in await before.list_tools():
            now = listed.pop(tool.name)
            assert now.description == tool.description
            assert list(now.input_schema["properties"]) == list(tool.input_schema["properties"])
            for name, said in tool.input_schema["properties"].items():
                words = " ".join(said["description"].split()) if "description" in said else None
                assert now.input_schema["properties"][name].get("description") == words or words is None
            takes, took = Draft202012Validator(now.input_schema), Draft202012Validator(tool.input_schema)
            outcomes = set()
            for arguments in CALLS[tool.name]:
                assert takes.is_valid(arguments) == took.is_valid(arguments), (tool.name, arguments)
                given = await before.call_tool(tool.name, arguments, raise_on_error=False)
                gives = await after.call_tool(tool.name, arguments, raise_on_error=False)
                assert gives.is_error == given.is_error, (tool.name, arguments, gives.content)
                outcomes.add(given.is_error)
                if not given.is_error:
                    assert gives.structured_content == _expected(tool.name, given.structured_content)
            assert outcomes == {True, False}, tool.name
        assert not listed


async def test_what_is_in_python_alone_stays_out_of_sight(pasted: Path) -> None:
    gated: FastMCP[Any] = await load_server(str(pasted))
    async with Client(gated) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
    assert set(tools["create_customer"].input_schema["properties"]) == {"customer", "notify"}
    assert tools["set-limits"].input_schema["properties"]["many"]["default"] == ["paid"]
    assert "default" not in tools["find_orders"].input_schema["properties"]["tags"]


@pytest.fixture
def pasted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The plain server with what is proposed for it pasted, and changed where the proposal says so."""
    assert run(["scaffold", str(PLAIN), "--json"]) == 0
    proposed = json.loads(capsys.readouterr().out)["tools"]
    lines = PLAIN.read_text("utf-8").split("\n")
    for each in sorted(proposed, key=lambda each: -each["line"]):
        paste(lines, each)
    code = "\n".join(lines)
    code = code.replace('FastMCP("plain")', 'FastMCP("plain")\nAuthz(mcp, context=lambda request: None)')
    code = code.replace("from pydantic", "from fastmcp_authz import Authz, authorized_tool\nfrom pydantic", 1)
    file = tmp_path / "gated_server.py"
    file.write_text(code, "utf-8")
    return file


def paste(lines: list[str], proposed: dict[str, Any]) -> None:
    """Puts the decorator and the docstring into a file, as a person would, and follows the comments on results."""
    tree = ast.parse("\n".join(lines))
    functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    function = next(each for each in functions if each.lineno == proposed["line"])
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    last = function.end_lineno or 0
    if any("results are objects" in note for note in proposed["notes"]):
        body = "\n".join(lines[first.lineno - 1 : last])
        body = re.sub(r"return (.+)  # no object", r'return {"result": \1}', body)
        lines[first.lineno - 1 : last] = body.replace("return  # nothing", 'return {"done": True}').split("\n")
    indent = " " * function.col_offset
    end = first.end_lineno if documented else first.lineno - 1
    lines[first.lineno - 1 : end] = docstring_code(proposed["docstring"], f"{indent}    ")
    lines.insert(function.lineno - 1, indent + proposed["decorator"])


def _expected(tool: str, given: Any) -> Any:
    match tool:
        case "pet":
            return given["result"]
        case "forget":
            return {"done": True}
        case _:
            return given
