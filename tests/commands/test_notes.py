"""What commands say on standard error, beside their answers: who or what could not be looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastmcp_authz.commands.app import run

HEAD = '''
from typing import Any
from fastmcp import FastMCP
from fastmcp_authz import Authz

class Caller:
    def __init__(self, *flags): self.flags = flags
    def requires(self, flag): return flag in self.flags

def tool_on(authz, name):
    def fn() -> dict[str, Any]:
        """Look.

        @rbs type output = { id: Integer, secret: String @requires(:admin) }
        """
        return {}
    fn.__name__ = name
    authz.tool(authorization="read")(fn)

mcp = FastMCP("outer")
'''
MOUNTED = (
    HEAD
    + """
tool_on(Authz(mcp, context=lambda r: None, personas={"ann": lambda: Caller("read"), "operator": Caller}), "own")
sub = FastMCP("sub")
tool_on(Authz(sub, context=lambda r: None, personas={"operatr": lambda: Caller("read")}), "look")
mcp.mount(sub, "sub")
"""
)


def ran(folder: Path, capsys: pytest.CaptureFixture[str], source: str, *command: str) -> tuple[int, str, str]:
    """The status of a command about a server, and what it prints and notes."""
    file = folder / "server.py"
    file.write_text(source, encoding="utf-8")
    status = run([command[0], str(file), *command[1:]])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("check",),
        ("page", "--json"),
        ("explain", "--as", "ann", "--tool", "sub_look"),
        ("explain", "--field", "secret"),
    ],
)
def test_a_persona_that_who_decides_does_not_know_is_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    _, _, err = ran(tmp_path, capsys, MOUNTED, *command)
    (line,) = err.splitlines()
    assert line.startswith("note: not among the personas of the Authz that decides, and so nobody there: ")
    assert "ann, operator for sub_look" in line


def test_nothing_is_noted_where_all_are_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(tmp_path, capsys, MOUNTED, "show", "--as", "ann", "--tool", "own")[::2] == (0, "")


UNKNOWN = (
    HEAD
    + """
from fastmcp.server.providers import Provider
from fastmcp.server.transforms import Transform

class Catalog(Provider):
    async def _list_tools(self):
        raise LookupError("no request")

class Renames(Transform):
    async def list_tools(self, tools):
        raise KeyError("x-tenant")

tool_on(Authz(mcp, context=lambda r: None, personas={"ann": lambda: Caller("read")}), "own")
mcp.add_provider(Catalog())
sub = FastMCP("sub")
tool_on(Authz(sub, context=lambda r: None, personas={"ann": lambda: Caller("read")}), "look")
sub.add_transform(Renames())
mcp.mount(sub, "sub")
"""
)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (("show",), 0),
        (("check",), 0),
        (("page", "--json"), 0),
        (("explain", "--as", "ann", "--tool", "own"), 0),
        (("explain", "--as", "ann", "--tool", "sub_look"), 2),
        (("explain", "--field", "secret"), 0),
        (("scaffold",), 0),
        (("snapshot",), 0),
        (("snapshot", "--check"), 2),
    ],
)
def test_tools_that_nobody_knows_without_a_request_are_noted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], status: int
) -> None:
    if "--check" in command:
        ran(tmp_path, capsys, UNKNOWN, "snapshot")
    found, _, err = ran(tmp_path, capsys, UNKNOWN, *command)
    assert found == status
    note, *errors = err.splitlines()
    assert note.startswith(
        "note: not all tools are known: Catalog raised LookupError; Renames of 'sub' raised KeyError. "
    )
    assert len(errors) == (status == 2)


UNMADE = (
    HEAD
    + """
def make_bob():
    raise KeyError("DATABASE_URL")

PERSONAS = {"ann": lambda: Caller("read"), "bob": make_bob, "cat": lambda: {}["cat"]}
tool_on(Authz(mcp, context=lambda r: None, personas=PERSONAS), "own")
"""
)
BOB = "note: Making the persona 'bob' failed with KeyError: 'DATABASE_URL'. It is left out."
CAT = "note: Making the persona 'cat' failed with KeyError: 'cat'. It is left out."


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("page", "--json"),
        ("explain", "--as", "ann", "--tool", "own"),
        ("explain", "--field", "secret"),
    ],
)
def test_a_persona_that_cannot_be_made_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    status, out, err = ran(tmp_path, capsys, UNMADE, *command)
    assert (status, err.splitlines()) == (0, [BOB, CAT])
    assert "ann" in out


@pytest.mark.parametrize("command", [("show",), ("explain", "--tool", "own"), ("explain", "--field", "secret")])
def test_the_one_that_is_asked_for_must_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    status, out, err = ran(tmp_path, capsys, UNMADE, *command, "--as", "bob")
    assert (status, out) == (2, "")
    assert err == "error: Making the persona 'bob' failed with KeyError: 'DATABASE_URL'\n"


def test_where_none_can_be_made_nothing_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none = UNMADE.replace('{"ann": lambda: Caller("read"), ', "{")
    for command in ("show",), ("page", "--json"):
        status, out, err = ran(tmp_path, capsys, none, *command)
        assert (status, out) == (2, "")
        assert err.startswith("error: Making the persona 'bob' failed")
    status, out, _ = ran(tmp_path, capsys, none, "check")
    assert (status, out.count("AZ103")) == (1, 2)


def test_check_finds_personas_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = ran(tmp_path, capsys, UNMADE, "check", "--json")
    assert (status, err) == (1, "")
    bob, cat = json.loads(out)["findings"]
    assert [each["code"] for each in (bob, cat)] == ["AZ103", "AZ103"]
    lines = UNMADE.splitlines()
    assert (bob["part"], lines[bob["line"] - 1], bob["text"]) == ("persona bob", "def make_bob():", "make_bob")
    assert lines[cat["line"] - 1].startswith("PERSONAS = ")
    assert "failed with KeyError: 'DATABASE_URL'. " in bob["message"]
    assert ran(tmp_path, capsys, UNMADE, "check", "--ignore", "AZ103")[0] == 0


def test_the_page_says_who_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(ran(tmp_path, capsys, UNMADE, "page", "--json")[1])
    assert data["personas"] == ["ann"]
    assert data["note"] == f"{BOB} {CAT}".replace("note: ", "")
