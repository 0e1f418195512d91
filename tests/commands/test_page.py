"""`fastmcp-authz page`: what it writes, and that nothing a server says can become more than text in it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import html
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import FastMCP

from fastmcp_authz import Authz, authorized_tool
from fastmcp_authz.commands.app import run
from fastmcp_authz.commands.page import rendered
from fastmcp_authz.survey.matrix import EVERYTHING, NO_PERSONAS, NOBODY, Look, Matrix, matrix_of
from fastmcp_authz.survey.survey import survey

LINES = Path(__file__).read_text(encoding="utf-8").splitlines()
RECRUITING = Path(__file__).parents[2] / "examples" / "recruiting" / "server.py"


def holder(*flags: str) -> SimpleNamespace:
    return SimpleNamespace(requires=lambda flag: flag in flags)


def notes(**personas: tuple[str, ...]) -> tuple[FastMCP[Any], Authz]:
    mcp = FastMCP("notes")
    made = {name: (lambda flags=flags: holder(*flags)) for name, flags in personas.items()}
    authz = Authz(mcp, context=lambda request: None, personas=made)

    @authz.tool(authorization="read")
    def find_notes(word: str, deleted: bool = False) -> dict[str, Any]:
        """Find notes.

        @rbs type note = { title: String, state: "open" | "shut", ?author: String @requires(:admin) }
        @rbs type found = { notes: Array[note] }
        @rbs type refused = { reason: "shut" | ("gone" @requires(:admin)) }
        @rbs type output = found | refused @requires(:audit)
        #: (word: String @desc(What to look for), ?deleted: bool @requires(:admin)) -> output
        """
        return {"notes": []}

    return mcp, authz


def data_of(page: str) -> Any:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


async def matrix(server: FastMCP[Any], domain: str | None = None) -> Matrix:
    return await matrix_of(await survey(server, domain=domain))


async def test_the_matrix_says_who_sees_each_part_and_what_guards_it() -> None:
    mcp, _ = notes(ann=("read", "admin", "audit"), bob=("read",), eve=())
    found = await matrix(mcp)
    assert (found.server, found.personas, found.note) == ("notes", ("ann", "bob", "eve"), None)
    (tool,) = found.tools
    assert (tool.name, tool.kind, tool.seen_by) == ("find_notes", "guarded", ("ann", "bob"))
    assert tool.gates == ('current_user.can("read")',)
    assert {(part.side, part.path): (part.guards, part.seen_by) for part in tool.parts} == {
        ("input", "word"): ((), ("ann", "bob")),
        ("input", "deleted"): (('requires("admin")',), ("ann",)),
        ("output", "<found>"): ((), ("ann", "bob")),
        ("output", "<found>.notes"): ((), ("ann", "bob")),
        ("output", "<found>.notes[].title"): ((), ("ann", "bob")),
        ("output", "<found>.notes[].state"): ((), ("ann", "bob")),
        ("output", "<found>.notes[].author"): (('requires("admin")',), ("ann",)),
        ("output", "<refused>"): (('requires("audit")',), ("ann",)),
        ("output", "<refused>.reason"): ((), ("ann",)),
        ("output", '<refused>.reason<"shut">'): ((), ("ann",)),
        ("output", '<refused>.reason<"gone">'): (('requires("admin")',), ("ann",)),
    }


async def test_each_part_knows_what_it_is_in_and_where_it_is_declared() -> None:
    mcp, _ = notes(ann=("read",))
    (tool,) = (await matrix(mcp)).tools
    parts = {part.path: part for part in tool.parts}
    author = parts["<found>.notes[].author"]
    assert author.above is not None
    assert tool.parts[author.above].path == "<found>.notes"
    assert (author.name, author.type, author.required) == ("author", "string", False)
    assert parts["word"].description == "What to look for"
    assert author.place is not None
    assert tool.place is not None
    file, _, line = author.place.rpartition(":")
    assert not file.startswith("/")
    assert "?author: String @requires(:admin)" in LINES[int(line) - 1]
    assert tool.place.startswith(f"{file}:")
    assert "@authz.tool" in LINES[int(tool.place.rpartition(":")[2]) - 1]


async def test_what_lies_elsewhere_keeps_its_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mcp, _ = notes(ann=("read",))
    (tool,) = (await matrix(mcp)).tools
    assert tool.place is not None
    assert tool.place.startswith(f"{__file__}:")


async def test_the_answers_are_those_that_were_given_and_the_schemas_those_that_are_listed() -> None:
    mcp, _ = notes(ann=("read", "admin", "audit"), amy=("read", "admin", "audit"), bob=("read",), eve=())
    (tool,) = (await matrix(mcp)).tools
    yes = {'current_user.can("read")': True, 'requires("admin")': True, 'requires("audit")': True}
    assert tool.looks["ann"] == tool.looks["amy"] == Look(0, None, yes)
    assert tool.looks["bob"].answers == {**dict.fromkeys(yes, False), 'current_user.can("read")': True}
    assert tool.looks["eve"] == Look(None, "gates", {'current_user.can("read")': False})
    ann, bob = tool.listings
    assert list(ann.input["properties"]) == ["word", "deleted"]
    assert list(bob.input["properties"]) == ["word"]
    assert bob.output is not None
    assert "author" in json.dumps(ann.output)
    assert "author" not in json.dumps(bob.output)


async def test_a_server_without_personas_is_shown_to_nobody_and_to_everything() -> None:
    mcp, _ = notes()
    found = await matrix(mcp)
    assert found.personas == (NOBODY, EVERYTHING)
    assert found.note == NO_PERSONAS
    assert found.tools[0].seen_by == (EVERYTHING,)
    assert all(part.seen_by == (EVERYTHING,) for part in found.tools[0].parts)


async def test_tools_that_nobody_guards_and_tools_that_nobody_protects() -> None:
    mcp: FastMCP[Any] = FastMCP("open")

    @mcp.tool
    def ping(text: str, times: int = 1) -> str:
        """Answer."""
        return text * times

    @mcp.tool
    @authorized_tool
    def stray() -> dict[str, Any]:
        """Nobody can call it.

        @rbs type output = { done: bool }
        """
        return {"done": True}

    found = {tool.name: tool for tool in (await matrix(mcp)).tools}
    assert found["ping"].kind == "undecorated"
    assert found["ping"].seen_by == (NOBODY, EVERYTHING)
    assert [(part.side, part.name, part.type, part.required) for part in found["ping"].parts] == [
        ("input", "text", "string", True),
        ("input", "times", "integer", False),
        ("output", "result", "string", True),
    ]
    assert found["stray"].kind == "unprotected"
    assert found["stray"].looks[EVERYTHING] == Look(None, "unprotected", {})


async def test_a_tool_without_output_for_a_persona_says_so() -> None:
    mcp: FastMCP[Any] = FastMCP("reports")
    authz = Authz(mcp, context=lambda request: None, personas={"bob": holder})

    @authz.tool
    def report() -> dict[str, Any]:
        """Report.

        @rbs type short = { text: String }
        @rbs type output = short @requires(:reports)
        """
        return {"text": ""}

    (tool,) = (await matrix(mcp)).tools
    assert tool.looks["bob"] == Look(None, "output", {'requires("reports")': False})


async def test_a_domain_has_its_own_tools_only() -> None:
    mcp, authz = notes(ann=("read",))

    @authz.tool(domains=["back_office"])
    def empty_bin() -> dict[str, Any]:
        """Empty the bin.

        @rbs type output = { deleted: Integer }
        """
        return {"deleted": 0}

    assert [tool.name for tool in (await matrix(mcp)).tools] == ["find_notes", "empty_bin"]
    assert [tool.name for tool in (await matrix(mcp, "back_office")).tools] == ["empty_bin"]
    assert [tool.name for tool in (await matrix(mcp, "default")).tools] == ["find_notes"]


async def test_the_page_holds_the_matrix_and_schemas_with_their_large_numbers() -> None:
    mcp: FastMCP[Any] = FastMCP("numbers")
    authz = Authz(mcp, context=lambda request: None)

    @authz.tool
    def pick(number: int) -> dict[str, Any]:
        """Pick.

        @rbs type output = { number: Integer }
        #: (number: Integer @max(9007199254740993)) -> output
        """
        return {"number": number}

    @mcp.tool
    def plain(number):  # type: ignore[no-untyped-def]
        return number

    found = await matrix(mcp)
    data = data_of(rendered(found))
    schemas = data.pop("schemas")
    for tool in data["tools"]:
        for listing in tool["listings"]:
            for side in ("input", "output"):
                listing[side] = None if listing[side] is None else json.loads(schemas[listing[side]])
    assert data == json.loads(json.dumps(found.as_json()))
    assert data["tools"][1]["listings"][0]["output"] is None
    assert any("9007199254740993" in schema for schema in schemas)  # JavaScript would make it ...992


HOSTILE = """</script><script>alert(1)</script><!-- <img src=x onerror="alert('2')"> {{script}} & \u2028 \u202e"""


async def test_hostile_texts_stay_texts() -> None:
    mcp: FastMCP[Any] = FastMCP(HOSTILE)
    authz = Authz(mcp, context=lambda request: None, personas={HOSTILE: lambda: holder(HOSTILE)})

    @authz.tool(name="x", authorization=HOSTILE, description=HOSTILE)
    def tool(word: str = "a") -> dict[str, Any]:
        """Text.

        @rbs type output = { "</script><script>alert(3)//": String @example(</script>) }
        #: (?word: String @default(</script><script>alert(4)</script>) @desc(<!-- <script> "quoted")) -> output
        """
        return {}

    @mcp.tool(name="</script><b>")
    def other() -> str:
        """</script>"""
        return ""

    page = rendered(await matrix(mcp))
    head, _, rest = page.partition('<script type="application/json" id="data">')
    data, _, script = rest.partition("</script>")
    assert not re.search(r"[<>\u2028\u202e]", data)
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert html.escape(HOSTILE) in head
    assert "{{" not in script
    found = json.loads(data)
    assert found["server"] == HOSTILE
    assert found["personas"] == [HOSTILE]
    assert found["tools"][0]["seen_by"] == [HOSTILE]
    assert [tool["name"] for tool in found["tools"]] == ["x", "</script><b>"]


async def test_the_policy_admits_the_pages_own_style_and_script_and_nothing_else() -> None:
    mcp, _ = notes(ann=("read",))
    page = rendered(await matrix(mcp))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (style, script)
    )
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{style_hash}'",
        f"script-src 'sha256-{script_hash}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]


async def test_the_page_refers_to_nothing_outside_itself() -> None:
    mcp, _ = notes(ann=("read",))
    page = rendered(await matrix(mcp))
    assert not re.search(r"https?:|//[a-z]|url\(|@import|\bfetch\(|XMLHttpRequest|import\(|WebSocket", page)
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {"data:,", "#matrix"}
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(|\son\w+=", page)
    assert '<html lang="en">' in page
    assert "For operators." in page
    assert "not for publication" in page


def test_the_command_writes_the_page_and_says_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "page.html"
    assert run(["page", str(RECRUITING), "--output", str(output)]) == 0
    said = capsys.readouterr().out
    assert f"Wrote {output}: 4 tools, 3 personas. It shows everything: not for publication." in said
    data = data_of(output.read_text(encoding="utf-8"))
    assert data["personas"] == ["viewer", "operator", "manager"]
    advance = next(tool for tool in data["tools"] if tool["name"] == "advance_step")
    stage = next(part for part in advance["parts"] if part["path"] == "stage_id")
    assert stage["seen_by"] == ["manager"]
    assert stage["guards"] == ['requires("backward_routing")']


async def test_two_pages_of_one_server_are_the_same() -> None:
    first, second = [rendered(await matrix(notes(ann=("read",))[0])) for _ in range(2)]
    assert first == second


def test_json_prints_the_data_alone_and_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["page", str(RECRUITING), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [tool["name"] for tool in data["tools"]][:2] == ["list_applicants", "search_applicants"]
    assert data["tools"][0]["listings"][0]["input"]["type"] == "object"


def test_without_a_place_to_write_to_it_says_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["page", str(RECRUITING)]) == 2
    assert "--output page.html" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "missing" / "page.html"
    assert run(["page", str(RECRUITING), "--output", str(output)]) == 2
    assert f"{output} cannot be written: No such file or directory." in capsys.readouterr().err.replace("\n", "")


SERVER = """
from fastmcp import FastMCP
from fastmcp_authz import Authz

mcp = FastMCP("notes")
authz = Authz(mcp, context=lambda request: None)

@authz.tool(domains=["desk"])
def find() -> dict:
    '''Find.

    @rbs type output = { found: bool }
    '''
    return {"found": True}
"""


def test_a_domain_that_no_tool_is_in_is_refused_with_those_that_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server, output = tmp_path / "desk_server.py", tmp_path / "page.html"
    server.write_text(SERVER, encoding="utf-8")
    assert run(["page", str(server), "--output", str(output), "--domain", "dusk"]) == 2
    assert "No tool is in the domain 'dusk'. There are: desk." in capsys.readouterr().err
    assert not output.exists()
    assert run(["page", str(server), "--output", str(output), "--domain", "desk"]) == 0
    assert NO_PERSONAS in capsys.readouterr().out
    assert data_of(output.read_text(encoding="utf-8"))["domain"] == "desk"


def test_a_server_of_plain_tools_is_in_every_domain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = tmp_path / "plain_server.py"
    server.write_text("from fastmcp import FastMCP\nmcp = FastMCP('plain')\n", encoding="utf-8")
    assert run(["page", str(server), "--json", "--domain", "any"]) == 0
    assert json.loads(capsys.readouterr().out)["tools"] == []


def test_the_commands_and_the_personas_of_its_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (RECRUITING.parents[2] / "docs" / "commands" / "page.md").read_text(encoding="utf-8")
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    for line in commands.splitlines():
        program, *arguments = line.split()
        assert program == "fastmcp-authz"
        assert run(arguments) == 0, capsys.readouterr().err
    assert sorted(file.name for file in tmp_path.glob("*.html")) == ["desk.html", "page.html"]
    (declared,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    mcp: FastMCP[Any] = FastMCP("documented")
    scope = {
        "Authz": Authz,
        "mcp": mcp,
        "caller_of": lambda request: None,
        "Caller": holder,
        "OPERATOR": "",
        "MANAGER": "",
    }
    exec(declared, scope)
    assert asyncio.run(survey(mcp)).personas == ("operator", "manager")
