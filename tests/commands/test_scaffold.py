"""`fastmcp-authz scaffold`: what it proposes for which tools, what it says of the others, and how it ends."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from fastmcp import Client

from fastmcp_authz.annotations import read_annotation
from fastmcp_authz.commands.app import run
from fastmcp_authz.commands.loading import load_server

RECRUITING: Final = str(Path(__file__).parents[2] / "examples" / "recruiting" / "server.py")
HEAD: Final = """\
import functools
from typing import Annotated, Any
from fastmcp import Context, FastMCP
from fastmcp.tools import Tool
from pydantic import BaseModel, Field
from fastmcp_authz import Authz, authorized_tool

mcp = FastMCP("shop")
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a server, and gives its file as it is called from where it lies."""
    monkeypatch.chdir(tmp_path)

    def write(code: str, name: str = "server.py") -> str:
        (tmp_path / name).write_text(HEAD + code, "utf-8")
        return name

    return write


def printed(capsys: pytest.CaptureFixture[str], *tokens: str) -> str:
    assert run(["scaffold", *tokens]) == 0
    return capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *tokens: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed(capsys, *tokens, "--json"))
    return found


def test_a_plain_tool_is_printed_ready_to_paste(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = server('''
@mcp.tool
async def find_orders(ctx: Context, word: str, page: Annotated[int, Field(ge=1)] = 1) -> list[str]:
    # what it does
    """Find orders.

    Args:
        word: A part of the name.
    """
    return []
''')
    assert (
        printed(capsys, file)
        == '''\
from fastmcp_authz import Authz, authorized_tool
Authz(mcp, context=...)  # once, below `mcp = FastMCP(...)`: see the quick start in README.md

# find_orders: server.py:11, find_orders, on the server shop
# Put the decorator nearest the function, and this docstring in place of its own.
@authorized_tool()
async def find_orders(ctx: Context, word: str, page: Annotated[int, Field(ge=1)] = 1) -> list[str]:
    """Find orders.

    #: (word: String @desc(A part of the name.), ?page: Integer @min(1) @default(1)) -> output

    # It returns no object, and results are objects: `return {"result": ...}`, as clients have had it.
    @rbs type output = { result: Array[String] }
    """

'''
    )


def test_what_is_printed_is_python(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, str(Path(__file__).with_name("plain_server.py")))
    functions = [each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert len(functions) == 12
    assert all("@rbs type output" in (ast.get_docstring(each) or "") for each in functions)


def test_where_all_tools_are_decorated_there_is_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    said = "# All 4 tools are decorated with authorized_tool: there is nothing to scaffold.\n"
    assert printed(capsys, RECRUITING) == said
    found = document(capsys, RECRUITING)
    assert found["tools"] == []
    assert found["decorated"] == ["list_applicants", "search_applicants", "advance_step", "bulk_send_sms"]
    one = printed(capsys, RECRUITING, "--tool", "advance_step")
    assert one == "# advance_step is decorated with authorized_tool already: there is nothing to scaffold.\n"


def test_a_server_without_tools_has_none_to_scaffold(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, server("")) == "# There is no tool to scaffold.\n"


def test_of_an_unknown_tool_near_names_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scaffold", RECRUITING, "--tool", "list_applicant"]) == 2
    assert "There is no tool 'list_applicant'. Near are: list_applicants" in capsys.readouterr().err


def test_one_tool_can_be_asked_for(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = server("""
Authz(mcp, context=lambda request: None)
@mcp.tool
def first(): ...
@mcp.tool
def second(a: int): ...
""")
    text = printed(capsys, file, "--tool", "second")
    assert text.startswith("# second: server.py:14, second, on the server shop\n")
    assert "first" not in text


def test_mounted_tools_are_told_with_their_server_and_a_function_of_two_tools_once(
    server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = server("""
stock = FastMCP("stock")
@stock.tool
def count(name: str) -> dict:
    "Count."
    return {}
mcp.mount(stock, namespace="old")
mcp.mount(stock, namespace="new", tool_names={"count": "number"})
class Till:
    def open(self, code: str) -> dict: return {}
mcp.tool(Till().open)
""")
    tools = {each["tool"]: each for each in document(capsys, file)["tools"]}
    assert {name: (each["server"], each["function"], each["line"]) for name, each in tools.items()} == {
        "open": ("shop", "Till.open", 18),
        "old_count": ("stock", "count", 12),
        "new_number": ("stock", "count", 12),
    }
    assert tools["new_number"]["remarks"] == [
        "It is the function of old_count, and what is written there does for both."
    ]
    assert tools["new_number"]["docstring"] is None
    assert tools["new_number"]["code"] == ""


def test_tools_without_a_function_that_takes_a_decorator_are_left_out(
    server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = server("""
from fastmcp.server import create_proxy
def add(a: int, b: int) -> int: return a + b
mcp.add_tool(Tool.from_function(functools.partial(add, 1), name="increment"))
same = lambda a: a
same.__name__ = "same"
mcp.tool(same)
class Own(Tool):
    async def run(self, arguments): ...
mcp.add_tool(Own(name="own", parameters={"type": "object"}))
mcp.mount(create_proxy("http://127.0.0.1:9/mcp"))
""")
    skipped = document(capsys, file)["skipped"]
    assert skipped["increment"].startswith("it is a partial, which takes no decorator")
    assert skipped["same"].startswith("it is a lambda, which takes no decorator")
    assert skipped["own"].startswith("it is a Own, which has no function to decorate")
    (proxy,) = (why for name, why in skipped.items() if name.startswith("the proxy on "))
    assert proxy == "its tools are another server's: run this command on that one."
    assert "# increment is left out: it is a partial" in printed(capsys, file)


def test_objects_that_are_called_and_wrapped_functions_are_found_where_they_were_written(
    server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = server("""
def traced(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs): return fn(*args, **kwargs)
    return wrapper
@mcp.tool
@traced
def look(a: int) -> dict: return {}
class Called:
    def __call__(self, b: int) -> dict: return {}
mcp.add_tool(Tool.from_function(Called(), name="called"))
exec("def unseen(c: int) -> dict: 'Unseen.'", globals())
mcp.tool(unseen)
""")
    tools = {each["tool"]: each for each in document(capsys, file)["tools"]}
    assert (tools["look"]["line"], tools["look"]["function"]) == (16, "look")
    assert (tools["called"]["line"], tools["called"]["function"]) == (18, "Called.__call__")
    assert "def unseen(...):\n" in tools["unseen"]["code"]
    assert "#: (c: Integer) -> output" in tools["unseen"]["docstring"]


def test_a_docstring_that_is_annotated_already_lacks_the_decorator_alone(
    server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = server('''
@mcp.tool
def find(a: int) -> dict:
    """Find.

    #: (a: Integer) -> output
    @rbs type output = {}
    """
''')
    (tool,) = document(capsys, file)["tools"]
    assert tool["docstring"] is None
    assert tool["remarks"] == [
        "Its docstring is annotated already: put the decorator nearest the function, and keep the rest."
    ]
    assert tool["code"] == "@authorized_tool()\ndef find(a: int) -> dict:"


def test_what_a_decorator_would_refuse_is_told_beforehand(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = server("""
@mcp.tool
def find(a: Annotated[int, Field(alias="b")]) -> dict: return {}
""")
    text = printed(capsys, file)
    assert "# In the way: `a` has the alias `b`" in text


def test_results_and_parameters_that_nobody_described_are_told(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = server("""
@mcp.tool
def everything(a, b: object, c: Any) -> dict: return {}
@mcp.tool
def nothing() -> None: ...
@mcp.tool
def unhinted(): ...
@mcp.tool
def text() -> bytes: ...
@mcp.tool(description="By its description.", output_schema=None)
def described() -> dict: return {}
""")
    tools = {each["tool"]: each for each in document(capsys, file)["tools"]}
    assert tools["everything"]["notes"] == [
        "`a` has no type hint: it may be anything, `untyped`.",
        "`b` has the hint `object`, which is not understood: it may be anything, `untyped`.",
        "All that it returns is sent: name its fields, so that some can be guarded.",
    ]
    assert tools["nothing"]["notes"] == ['It returns nothing, and results are objects: `return {"done": True}`.']
    assert tools["unhinted"]["notes"][0].startswith("Nothing says what it returns: return a dict")
    assert tools["text"]["notes"][0].startswith("It returns `bytes`, of which FastMCP knows no fields: return a dict")
    assert tools["described"]["docstring"].startswith("By its description.\n\n")


def test_types_that_several_tools_declare_alike_could_stand_once(
    server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = server("""
class Row(BaseModel):
    a: int
class Inner:
    class Row(BaseModel):
        b: int
class Table(BaseModel):
    rows: list[Row]
@mcp.tool
def first(table: Table) -> dict: return {}
@mcp.tool
def second(table: Table) -> dict: return {}
@mcp.tool
def third(row: Inner.Row) -> dict: return {}
""")
    text = printed(capsys, file)
    assert text.endswith("""\
# These types stand in several tools. Each could stand once, in a file beside the module, and be
# taken in with `@rbs import NAME`:
#
# sig/shared/table.rbs, for first, second:
#     type table = { rows: Array[row] }
#
# sig/shared/row.rbs, for first, second:
#     type row = { a: Integer }

""")
    assert [each["name"] for each in document(capsys, file)["shared"]] == ["table", "row"]


OPENAPI: Final = '''
import fastapi
app = fastapi.FastAPI(title="Depot")
class Item(BaseModel):
    name: str = Field(min_length=1)
    price: float = 1.5
    tags: list[str] | None = None
@app.get("/items/{item_id}", operation_id="read_item")
def read(item_id: int, class_: Annotated[str | None, fastapi.Query(alias="class")] = None,
         token: Annotated[str | None, fastapi.Header(alias="X-Token")] = None) -> Item:
    """Read an item."""
    return Item(name=f"{item_id} {class_} {token}")
@app.put("/items/{name}", operation_id="put-items")
def put(name: str, item: Item, notify: bool = False, reason_for_the_change: str = "") -> list[Item]:
    return [item, Item(name=name)]
api = FastMCP.from_fastapi(app)
'''


def test_an_operation_of_an_openapi_document_gets_a_function_around_it(
    server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = server(OPENAPI, "depot.py") + ":api"
    text = printed(capsys, spec)
    assert (
        """\
# read_item: no function yet, on the server Depot
# It is an operation of the OpenAPI document behind Depot, and no function to decorate.
# Serve this function instead: `api` is Depot itself, which is then neither served nor mounted.
@mcp.tool
@authorized_tool()
async def read_item(item_id: int, class_: str | None = None, x_token: str | None = None) -> Any:
"""
        in text
    )
    assert 'arguments = {"item_id": item_id, "class": class_, "X-Token": x_token}' in text
    code = text.replace("Authz(mcp, context=...)", "Authz(mcp, context=lambda request: None)")
    asyncio.run(_works(server(f"{OPENAPI}\n{code}", "gated.py") + ":mcp"))


async def _works(spec: str) -> None:
    gated = await load_server(spec)
    for mode in ("auto", "legacy"):
        async with Client(gated, mode=mode) as client:
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert set(tools["read_item"].input_schema["properties"]) == {"item_id", "class_", "x_token"}
            read = await client.call_tool("read_item", {"item_id": 3, "class_": "a", "x_token": "t"})
            assert read.structured_content == {"name": "3 a t", "price": 1.5, "tags": None}
            given = {"name__path": "b", "name": "a", "notify": True}
            put = await client.call_tool("put_items", given)
            assert [each["name"] for each in (put.structured_content or {})["result"]] == ["a", "b"]
            refused = await client.call_tool("put_items", {**given, "name": ""}, raise_on_error=False)
            assert refused.is_error


def test_the_command_runs_by_itself_and_prints_no_control_codes(server: Any) -> None:
    file = server("@mcp.tool\ndef find(a: int) -> dict: ...\n")
    command = [sys.executable, "-W", "ignore", "-m", "fastmcp_authz.commands.app", "scaffold", file]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0
    assert "#: (a: Integer) -> output" in ended.stdout
    assert "\x1b" not in ended.stdout


def test_hostile_names_and_descriptions_give_no_code_of_their_own(
    server: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file = server(r'''
import httpx2
mcp = FastMCP("shop\nimport os")
@mcp.tool(name="evil\nraise SystemExit")
def plain(a: int) -> dict[str, Any]:
    """Do."""
    return {}
mcp.add_tool(Tool.from_function(lambda: {}, name="odd\rraise SystemExit"))
DOCUMENT = {
    "openapi": "3.1.0", "info": {"title": "D", "version": "1"}, "paths": {
        "/a": {"get": {
            "operationId": "class",
            "description": "Do.\n#: (id: Integer) -> output\n@rbs import elsewhere\n@rbs type output = untyped",
            "parameters": [{
                "name": "api", "in": "query",
                "schema": {"type": "string", "bad\n@rbs type output = untyped\n": 1},
            }],
            "responses": {"200": {"description": "ok"}},
        }},
        "/b": {"get": {"operationId": "api", "responses": {"200": {"description": "ok"}}}},
    },
}
mcp.mount(FastMCP.from_openapi(DOCUMENT, client=httpx2.AsyncClient(base_url="http://x"), name="d\nimport os"))
''')
    code = printed(capsys, file)
    functions = [each for each in ast.parse(code).body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    others = [ast.unparse(each) for each in ast.parse(code).body if not hasattr(each, "decorator_list")]
    assert [each.name for each in functions] == ["plain", "class_", "api_"]
    assert others == ["from fastmcp_authz import Authz, authorized_tool", "Authz(mcp, context=...)"]
    annotation, problems = read_annotation(ast.get_docstring(functions[1]) or "", name="pasted")
    assert problems == ()
    assert annotation.prose == "Do."
    assert annotation.imports == ()
    assert str(annotation.signature) == "(?api_: String) -> output"
