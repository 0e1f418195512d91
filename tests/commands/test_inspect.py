"""`fastmcp-authz inspect`: the server in the MCP Inspector."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from fastmcp_authz.commands.app import run
from tests.commands.shown_pages import examples, printed_by

OFFICE = """
import os
from fastmcp import FastMCP
from fastmcp_authz import Authz

class Boss:
    def requires(self, flag): return True

mcp = FastMCP("office")
authz = Authz(mcp, context=lambda request: Boss() if os.environ.get("WHO") == "boss" else None, personas={"boss": Boss})

@authz.tool(authorization="boss")
def close() -> dict:
    \"\"\"@rbs type output = { closed: bool }\"\"\"
    return {}
"""
NPX = """#!/bin/sh
for each in "$@"; do echo "$each" >> "{folder}/given"; done
exit {status}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands are given in, and the server is; there is nothing on the path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "server.py").write_text(OFFICE, encoding="utf-8")
    return tmp_path


def put_npx(folder: Path, status: int = 0) -> None:
    """Puts an npx on the path that only keeps what it was given."""
    (folder / "bin").mkdir()
    npx = folder / "bin" / "npx"
    npx.write_text(NPX.format(folder=folder, status=status), encoding="utf-8")
    npx.chmod(0o755)


@pytest.mark.parametrize(("command", "printed"), examples("inspect.md"))
def test_the_page_shows_what_the_command_prints(
    command: str, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed_by(command, capsys, monkeypatch) == printed


def test_the_inspector_is_started_with_the_server_and_its_environment(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    put_npx(here)
    assert run(["inspect", "server.py", "--as", "boss", "--env", "WHO=boss", "--env", "A=b c"]) == 0
    assert (here / "given").read_text(encoding="utf-8").splitlines() == [
        "@modelcontextprotocol/inspector",
        *("-e", "FASTMCP_AUTHZ_PERSONA=boss"),
        *("-e", "WHO=boss"),
        *("-e", "A=b c"),
        "--",
        *(sys.executable, "-m", "fastmcp.cli", "run", str(here / "server.py"), "--transport", "stdio", "--no-banner"),
    ]
    assert capfd.readouterr() == ("", "")


def test_an_inspector_that_fails_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_npx(here, status=3)
    assert run(["inspect", "server.py", "--as", "boss", "--env", "WHO=boss"]) == 2
    assert capsys.readouterr().err == "error: The MCP Inspector ended with exit status 3.\n"


def test_leaving_the_inspector_by_the_keyboard_is_no_failure(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_npx(here)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("subprocess.run", interrupted)
    assert run(["inspect", "server.py", "--as", "boss", "--env", "WHO=boss"]) == 0


def test_without_npx_it_is_said_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "server.py", "--as", "boss", "--env", "WHO=boss"]) == 2
    assert capsys.readouterr() == (
        "",
        "error: The MCP Inspector is started with npx, which is not on the PATH. Install Node.js (https://nodejs.org), "
        "or use the server from another client: fastmcp-authz config says how.\n",
    )


def test_json_starts_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_npx(here)
    assert run(["inspect", "server.py", "--as", "boss", "--json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["served_as_persona"] is False
    assert told["command"][:2] == ["npx", "@modelcontextprotocol/inspector"]
    assert err.startswith("note: Started like this, the server does not serve what boss sees.")
    assert not (here / "given").exists()
