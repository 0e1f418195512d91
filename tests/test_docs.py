"""The code in the documentation runs, and does what the text around it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from fastmcp import Client, FastMCP
from fastmcp.utilities.tests import ASGIServer
from mcp_types import CallToolResult

from fastmcp_authz import Authz, Settings
from fastmcp_authz.callers.deciding import CONCURRENT_PREDICATES
from fastmcp_authz.contracts.limits import LIMITS
from fastmcp_authz.contracts.providers import PROVIDERS
from fastmcp_authz.serving.facets import Facet
from fastmcp_authz.settings import Dialect

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_example_of_the_specification(mode: str) -> None:
    (source,) = blocks("specification.md")
    can: set[str] = {"comms"}
    person = SimpleNamespace(current_user=SimpleNamespace(can=lambda flag: flag in can), feature=lambda flag: True)
    scope: dict[str, Any] = {"build_context": lambda request: person}
    # An import beside the page, as it would be beside the module.
    source = source.replace("@rbs import error", "@rbs type error = { success: false, message: String }")
    exec(source, scope)
    async with Client(scope["mcp"], mode=mode) as client:
        (tool,) = await client.list_tools()
        assert set(tool.input_schema["properties"]) == {"applicant_ids", "body"}
        can.add("admin")
        (tool,) = await client.list_tools()
        assert set(tool.input_schema["properties"]) == {"applicant_ids", "body", "force"}
        can.clear()
        assert await client.list_tools() == []


def test_every_section_that_the_code_points_at_is_there() -> None:
    page = (DOCS / "specification.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (\d+)\.", page, re.MULTILINE))
    code = "".join(p.read_text(encoding="utf-8") for p in (DOCS.parent / "fastmcp_authz").rglob("*.py"))
    assert set(re.findall(r"SPEC sections? (\d+)", code)) <= sections
    for title in re.findall(r'SPEC section \d+, "([^"]+)"', code):
        assert f"**{title}" in page or f"{title}" in page, title


def test_the_example_of_the_page_on_performance(capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = blocks("performance.md")
    exec(compile(source, "performance.md", "exec", dont_inherit=True), {"__name__": "cached"})
    assert capsys.readouterr().out == "0 10000 0 0 0\n"
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert f"`cached_views` ({Settings.model_fields['cached_views'].default:,}; or" in page
    assert f"{CONCURRENT_PREDICATES} at a time" in page


def test_the_commands_of_the_page_on_performance_are_there() -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", (DOCS / "performance.md").read_text(encoding="utf-8"), re.DOTALL)
    modules = re.findall(r"python -m (benchmarks(?:\.\w+)?)", block)
    assert len(modules) == 3
    assert all((DOCS.parent / module.replace(".", "/")).with_suffix(".py").exists() for module in modules[2:])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_example_of_the_page_on_security(mode: str) -> None:
    scope: dict[str, Any] = {"__name__": "watched"}
    (source,) = blocks("security.md")
    exec(compile(source, "security.md", "exec", dont_inherit=True), scope)

    @scope["authz"].tool(authorization="hr")  # type: ignore[untyped-decorator]
    def salaries() -> dict[str, Any]:
        """@rbs type output = {}"""
        return {}

    async with Client(scope["mcp"], mode=mode) as client:
        result = await client.call_tool_mcp("salaries", {})
    assert result.is_error
    assert scope["refused"] == ['None called salaries: current_user.can("hr")']


# -- docs/results.md ---------------------------------------------------------------------------------------------------

RESULTS = (DOCS / "results.md").read_text(encoding="utf-8")
WITHHELD = "The call was carried out, but its result cannot be shown to you. Do not repeat it."
FIND = "@rbs type output = { id: Integer, ?ssn: untyped @requires(:hr) }"
OPEN = "@rbs type output = { v: untyped, ?hidden: untyped @requires(:hr) }"


def rows(title: str) -> list[tuple[str, ...]]:
    """The rows of the table in a section, without its head; a cell that is nothing but code without its backticks."""
    section = RESULTS.split(f"\n## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return [tuple(re.sub(r"^`([^`]+)`$", r"\1", cell) for cell in row) for row in cells]


def namespace() -> dict[str, Any]:
    """What the code of the page defines, all of it together."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("\n".join(blocks("results.md")), "results.md", "exec", dont_inherit=True), scope)
    return scope


SCOPE = namespace()


async def answer(make: Callable[[], Any], docstring: str, mode: str, **options: Any) -> CallToolResult:
    """What a caller who may see nothing that is guarded gets of what `make` makes."""
    server: FastMCP[Any] = FastMCP("x")
    settings = {key: options.pop(key) for key in list(options) if key != "content"}

    def find_person() -> Any:
        return make()

    find_person.__doc__ = docstring
    Authz(server, context=lambda _: None, **settings).tool(**options)(find_person)
    async with Client(server, mode=mode) as client:
        result: CallToolResult = await client.call_tool_mcp("find_person", {})
        return result


def shown(result: CallToolResult) -> str:
    """The content of a result as the tables write it."""
    parts = [f"`{block.text}`" if block.type == "text" else block.type for block in result.content]
    if parts == [f"`find_person: {WITHHELD}`"]:
        return "withheld"
    return " ".join(["error", *parts] if result.is_error else parts)


def test_the_tables_are_read_whole() -> None:
    lines = [line for line in RESULTS.splitlines() if line.startswith("|")]
    tables = rows("Values"), rows("Whole results"), rows("Content, `ToolResult`, `meta`")
    assert sum(map(len, tables)) == len(lines) - 2 * len(tables)
    assert {len(row) for table in tables for row in table} == {3}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("expression", "sent", "_"), rows("Values"))
async def test_a_value_is_sent_as_the_table_says_and_makes_no_difference_where_it_is_hidden(
    mode: str, expression: str, sent: str, _: str
) -> None:
    def value() -> Any:
        return eval(expression, SCOPE)

    result = await answer(lambda: {"v": value(), "hidden": 1}, OPEN, mode)
    if sent == "withheld":
        assert (shown(result), result.structured_content) == ("withheld", None)
    else:
        assert result.structured_content == {"v": value() if sent == "as it is" else json.loads(sent)}
    result = await answer(lambda: {"v": 1, "hidden": value(), "undeclared": value()}, OPEN, mode)
    assert (shown(result), result.structured_content) == ('`{"v":1}`', {"v": 1})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("expression", "sent", "report"), rows("Whole results"))
async def test_a_whole_result_is_sent_as_the_table_says(
    mode: str, expression: str, sent: str, report: str, caplog: pytest.LogCaptureFixture
) -> None:
    result = await answer(lambda: eval(expression, SCOPE), FIND, mode)
    if sent == "withheld":
        assert shown(result) == "withheld"
        assert caplog.messages[-1] == f"find_person: a result was withheld: {report}."
    else:
        assert result.structured_content == json.loads(sent)
        assert not report


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("expression", "pruned", "passed"), rows("Content, `ToolResult`, `meta`"))
async def test_content_is_sent_as_the_table_says(mode: str, expression: str, pruned: str, passed: str) -> None:
    for content, expected in ("pruned", pruned), ("passthrough", passed):
        result = await answer(lambda: eval(expression, SCOPE), FIND, mode, content=content)
        assert shown(result) in (expected, f"`{expected}`")
        assert "078-05-1120" not in result.model_dump_json()
        assert "shelf" not in result.model_dump_json()
        if not result.is_error:
            assert result.structured_content == {"id": 1}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_rest_of_what_the_page_says(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    async with Client(SCOPE["mcp"], mode=mode) as client:
        assert shown(await client.call_tool_mcp("find_person", {})) == '`{"id":1}`'
        assert shown(await client.call_tool_mcp("find_photo", {})) == "`Found one.` image"
    assert SCOPE["report"] == ("id: must be a whole number, text was returned.",)

    photo = "#: () -> output\n@rbs type output = {}"
    result = await answer(lambda: eval("([photo], {})", SCOPE), photo, mode, content="passthrough")
    assert (shown(result), result.structured_content) == ("image", {})
    assert shown(await answer(lambda: SCOPE["Sealed"](id=1), FIND, mode)) == "withheld"

    caplog.clear()
    refused = await answer(lambda: {"id": "one"}, FIND, mode)
    reported = await answer(lambda: {"id": "one"}, FIND, mode, mistyped_output="report")
    assert (reported.is_error, reported.structured_content) == (False, {"id": "one"})
    told = [record.getMessage() for record in caplog.records if record.name == "fastmcp_authz"]
    assert len(told) == 2
    for text in (*told, f"find_person: {WITHHELD}"):
        assert f"\n    {text}\n" in RESULTS
    assert shown(refused) == "withheld"
    assert "cannot be written as JSON" in " ".join(RESULTS.split())


async def test_the_examples_of_the_page_on_domains() -> None:
    domains, facades = blocks("domains.md")
    scope: dict[str, Any] = {"__name__": "domains"}
    exec(compile(domains, "domains.md", "exec", dont_inherit=True), scope)
    async with scope["app"].router.lifespan_context(scope["app"]):
        for path, name in (("/mcp", "find_jobs"), ("/mcp/operator", "close_job")):
            serving = ASGIServer(url=f"http://127.0.0.1{path}", app=scope["app"], transport_type="http")
            async with serving.client() as client:
                assert [tool.name for tool in await client.list_tools()] == [name]

    exec(compile(facades, "domains.md", "exec", dont_inherit=True), scope)
    page = (DOCS / "domains.md").read_text(encoding="utf-8")
    async with Client(scope["mcp"]) as client:
        (tool,) = await client.list_tools()
        assert f"This lists `{tool.name}`" in page
        assert "\n".join(f"> {line}".rstrip() for line in (tool.description or "").splitlines()) in page
        (sent,) = re.findall(r"calls it with `(.*?)`\.", page)
        result = await client.call_tool_mcp(tool.name, json.loads(sent))
        assert result.structured_content == {"found": ["paid"]}
    for option in Facet.model_fields:
        assert f"| `{option}` |" in page


# -- docs/dialects.md --------------------------------------------------------------------------------------------------


def test_the_example_of_the_page_on_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = blocks("dialects.md")
    exec(compile(source, "dialects.md", "exec", dont_inherit=True), {"__name__": "dialects"})
    page = (DOCS / "dialects.md").read_text(encoding="utf-8")
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 3
    assert "".join(f"    {line}\n" for line in printed.splitlines()) in page


def test_the_tables_of_the_page_on_dialects_are_those_of_the_code() -> None:
    page = (DOCS / "dialects.md").read_text(encoding="utf-8")
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")
    ]
    shown = {cells[0]: cells[1:] for cells in lines}
    assert [name for name in get_args(Dialect) if f'`"{name}"`' in shown] == list(get_args(Dialect))
    names = ("anthropic", "openai", "gemini")
    for keywords, cells in shown.items():
        for keyword in set(re.findall(r"`(\w+)`", keywords)) & {
            "pattern",
            "minimum",
            "multipleOf",
            "maxItems",
            "minLength",
        }:
            said = dict(zip(names, cells, strict=True))
            kept = {name for name in names if said[name] == "kept"}
            assert kept == {name for name in names if keyword in PROVIDERS[name].keywords}, keyword
    defaults = dict(zip(names, shown["`default`"], strict=True))
    assert {name: said == "kept" for name, said in defaults.items()} == {n: PROVIDERS[n].default for n in names}
    anthropic, openai, gemini = (set(re.findall(r"`([\w-]+)`", cell)) for cell in shown["`format`"])
    assert PROVIDERS["anthropic"].formats == anthropic
    assert PROVIDERS["openai"].formats == anthropic - openai
    assert PROVIDERS["gemini"].formats == gemini
    assert str(LIMITS["anthropic"].optional) in shown["properties that are not required"][0]
    assert str(LIMITS["anthropic"].unions) in shown["properties whose type is a union"][0]
    assert str(LIMITS["anthropic"].tools) in shown["strict tools in a request"][0]
    assert f"{LIMITS['openai'].properties:,}" in shown["properties"][1]
    assert str(LIMITS["openai"].depth) in shown["objects within objects"][1]
    assert f"{LIMITS['openai'].enum_values:,}" in shown["values of all enums"][1]
