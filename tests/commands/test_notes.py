"""What commands say on standard error, beside their answers: who or what could not be looked at."""

from __future__ import annotations

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
