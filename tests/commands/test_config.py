"""`fastmcp-authz config`: how a client starts the server as a persona."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from fastmcp_authz import Request
from fastmcp_authz.commands.app import run
from fastmcp_authz.errors import ConfigurationError
from tests.commands.shown_pages import ROOT, examples, printed_by

OFFICE = """
import os
from fastmcp import FastMCP
from fastmcp_authz import Authz

class Holds:
    def __init__(self, *flags): self.flags = flags
    def requires(self, flag): return flag in self.flags

PEOPLE = {"clerk": Holds(), "boss": Holds("boss")}

def context(request):
    return PEOPLE.get(os.environ.get("%s", "")) if request.transport == "stdio" else None

mcp = FastMCP("the office")
authz = Authz(mcp, context=context, personas={name: (lambda name=name: PEOPLE[name]) for name in PEOPLE})

@authz.tool(authorization="boss")
def close() -> dict:
    \"\"\"@rbs type output = { closed: bool }\"\"\"
    return {"closed": True}
"""
RUNS = ["-m", "fastmcp.cli", "run"]
OVER_STDIO = ["--transport", "stdio", "--no-banner"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands are given in, and the server is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(variable: str = "FASTMCP_AUTHZ_PERSONA", name: str = "server.py") -> None:
    Path(name).write_text(OFFICE % variable, encoding="utf-8")


def configured(capsys: pytest.CaptureFixture[str], *options: str, spec: str = "server.py", found: int = 0) -> Any:
    """What the command prints for programs."""
    assert run(["config", spec, "--as", "boss", "--json", *options]) == found
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("command", "printed"), examples("config.md"))
def test_the_page_shows_what_the_command_prints(
    command: str, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed_by(command, capsys, monkeypatch) == printed


def test_the_context_of_the_page_knows_the_persona_over_stdio_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "commands" / "config.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    boss = SimpleNamespace()
    scope: dict[str, Any] = {"os": os, "Request": Request, "Caller": SimpleNamespace, "CALLERS": {"boss": boss}}
    exec(source, scope)
    monkeypatch.setenv("FASTMCP_AUTHZ_PERSONA", "boss")
    assert scope["context"](Request(transport="stdio")) is boss
    assert scope["context"](Request(transport="streamable-http")) is None


def test_each_client_has_its_own_form(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    runs = [*RUNS, str(here / "server.py"), *OVER_STDIO]
    server = {"command": sys.executable, "args": runs, "env": {"FASTMCP_AUTHZ_PERSONA": "boss", "A": "b=c d"}}
    # The name stands before the variables: Claude Code takes whatever follows `--env` for one more, up to `--`.
    command = ["claude", "mcp", "add", "the-office-boss", "--env", "FASTMCP_AUTHZ_PERSONA=boss", "--env", "A=b=c d"]
    told = configured(capsys, "--env", "A=b=c d")
    assert told == {
        "claude-desktop": {"mcpServers": {"the-office-boss": server}},
        "claude-code": {"command": [*command, "--", sys.executable, *runs]},
        "cursor": {"mcpServers": {"the-office-boss": {"type": "stdio", **server}}},
        "vscode": {"servers": {"the-office-boss": {"type": "stdio", **server}}},
    }
    for client, form in told.items():
        assert configured(capsys, "--env", "A=b=c d", "--client", client) == form


def test_all_clients_are_printed_each_below_where_it_wants_it(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["config", "server.py", "--as", "boss"]) == 0
    printed = capsys.readouterr().out
    titles = [line for line in printed.splitlines() if line[:1].isupper()]
    assert titles == [
        "Claude Desktop, in claude_desktop_config.json (Settings, Developer, Edit Config)",
        "Claude Code, in a terminal",
        "Cursor, in .cursor/mcp.json of a project, or in ~/.cursor/mcp.json",
        "VS Code, in .vscode/mcp.json",
    ]
    desktop = printed.split(titles[0])[1].split(titles[1])[0]
    assert list(json.loads(desktop)["mcpServers"]) == ["the-office-boss"]


def test_for_claude_code_a_command_is_printed_that_a_shell_reads_as_it_is_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write()
    assert run(["config", "server.py", "--as", "boss", "--client", "claude-code", "--env", "A=it's [b]"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert shlex.split(printed) == configured(capsys, "--client", "claude-code", "--env", "A=it's [b]")["command"]


@pytest.mark.parametrize(
    ("spec", "absolute"),
    [("server.py:mcp", "server.py:mcp"), ("fastmcp.json", "fastmcp.json"), ("./server.py", "server.py")],
)
def test_the_server_is_found_from_anywhere(
    spec: str, absolute: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write()
    Path("fastmcp.json").write_text(json.dumps({"source": {"path": "server.py"}}), encoding="utf-8")
    told = configured(capsys, "--client", "vscode", spec=spec)
    assert told["servers"]["the-office-boss"]["args"] == [*RUNS, str(here / absolute), *OVER_STDIO]


def test_a_server_without_a_name_is_called_like_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("desk.py").write_text((OFFICE % "FASTMCP_AUTHZ_PERSONA").replace('FastMCP("the office")', "FastMCP()"))
    assert list(configured(capsys, "--client", "vscode", spec="desk.py")["servers"]) == ["desk-boss"]


async def test_started_like_that_the_server_serves_what_the_persona_sees(here: Path) -> None:
    write("WHO")
    environment = {"PYTHONPATH": str(ROOT), "FASTMCP_AUTHZ_PERSONA": "boss", "WHO": "boss"}
    started = StdioTransport(
        sys.executable, [*RUNS, str(here / "server.py"), *OVER_STDIO], env=environment, keep_alive=False
    )
    async with Client(started) as client:
        assert [tool.name for tool in await client.list_tools()] == ["close"]
        assert (await client.call_tool("close", {})).structured_content == {"closed": True}


def test_a_server_that_would_not_serve_what_the_persona_sees_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    write("WHO")
    assert run(["config", "server.py", "--as", "boss", "--client", "vscode"]) == 1
    out, err = capsys.readouterr()
    assert list(json.loads(out)["servers"]) == ["the-office-boss"]
    assert "note: Started like this, the server does not serve what boss sees. These tools would not be" in err
    assert "of them: close.\n" in err
    assert "Let it read FASTMCP_AUTHZ_PERSONA, or give the variable that it reads with --env NAME=VALUE." in err
    configured(capsys, "--env", "WHO=boss", found=0)
    configured(capsys, "--env", "WHO=clerk", found=1)
    configured(capsys, "--env", "FASTMCP_AUTHZ_PERSONA=", found=1)


def test_a_context_that_cannot_be_made_here_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    source = (OFFICE % "WHO").replace(
        "    return PEOPLE.get", "    print(request)\n    return PEOPLE[''] or PEOPLE.get"
    )
    Path("server.py").write_text(source, encoding="utf-8")
    configured(capsys, found=1)  # what a context prints is no JSON of ours
    assert run(["config", "server.py", "--as", "boss"]) == 1
    said = "The context of a request over stdio cannot be made here: KeyError: ''"
    assert said in capsys.readouterr().err


def test_a_server_that_nothing_decides_for_has_no_personas(capsys: pytest.CaptureFixture[str]) -> None:
    Path("server.py").write_text("from fastmcp import FastMCP\nmcp = FastMCP('plain')", encoding="utf-8")
    assert run(["config", "server.py", "--as", "boss"]) == 2
    assert "There is no persona 'boss'. There are none: write Authz(mcp, ..., personas=" in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["WHO", "=boss", ""])
def test_what_is_no_variable_is_refused(variable: str, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["config", "server.py", "--as", "boss", "--env", variable]) == 2
    assert capsys.readouterr().err == f"error: --env {variable} is no NAME=VALUE.\n"


def test_the_environment_is_as_it_was_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    before = dict(os.environ)
    configured(capsys, "--env", "WHO=boss")
    assert dict(os.environ) == before


async def test_the_persona_of_the_environment_is_no_setting_and_serves_nobody_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FASTMCP_AUTHZ_PERSONA", "boss")
    scope: dict[str, Any] = {}
    exec(OFFICE % "WHO", scope)  # it does not read the variable
    async with Client(scope["mcp"]) as client:
        assert await client.list_tools() == []
    monkeypatch.setenv("FASTMCP_AUTHZ_PERSONAS", "boss")
    with pytest.raises(ConfigurationError, match="FASTMCP_AUTHZ_PERSONAS in the environment names no setting"):
        exec(OFFICE % "WHO", {})
