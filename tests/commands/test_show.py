"""`fastmcp-authz show`: what each persona sees."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fastmcp_authz.commands.app import run
from tests.commands.shown_pages import examples, printed_by

OFFICE = '''
from typing import Any
from fastmcp import FastMCP
from fastmcp_authz import Authz, authorized_tool

class Holds:
    def __init__(self, *flags): self.flags = flags
    def requires(self, flag): print("asked for", flag); return flag in self.flags
    def tier(self, number): return number in self.flags
    def on_duty(self, nothing): return bool(self.flags)

PERSONAS = {"clerk": lambda: Holds(), "guest": lambda: Holds(), "boss": lambda: Holds("boss", 3)}
mcp = FastMCP("office")
authz = Authz(mcp, context=lambda request: None, personas=PERSONAS)

@mcp.tool
def ping(host: str, port: int = 80) -> dict[str, Any]:
    """Reach a host."""
    return {}

@authz.tool(gates=[("tier", 3), ("on_duty", None)])
def close() -> dict[str, Any]:
    """@rbs type output = { closed: bool }"""
    return {}

@authz.tool
def find(word: str, filter: Any = None) -> dict[str, Any]:
    """Find people.

    @rbs type person = { name: String, ?phone: String @requires(:boss) }
    @rbs type found = { ok: true, person: person?, ?kind: "staff" | "guest" }
    @rbs type failed = { ok: false, message: String }
    @rbs type output = found | failed
    #: (word: String, ?filter: { part: String, ?deep: bool @requires(:boss) }) -> output
    """
    return {}
'''


def shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, *options: str) -> list[str]:
    """The lines that `show` prints for a server, which must be well."""
    (tmp_path / "server.py").write_text(source, encoding="utf-8")
    assert run(["show", str(tmp_path / "server.py"), *options]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture(autouse=True)
def piped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize(("command", "printed"), examples("show.md"))
def test_the_page_shows_what_the_command_prints(
    command: str, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed_by(command, capsys, monkeypatch) == printed


def test_personas_stand_side_by_side_and_lines_in_a_pipe_are_as_long_as_they_need(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(tmp_path, capsys, OFFICE) == [
        "                    clerk                guest                boss",
        "ping                ✓ everybody's        ✓ everybody's        ✓ everybody's",
        "  in                host, port?          host, port?          host, port?",
        "close               · (tier 3, on_duty)  · (tier 3, on_duty)  ✓",
        "  out                                                         closed",
        "find                ✓                    ✓                    ✓",
        "  in                word, filter?        word, filter?        word, filter?",
        "    filter          part                 part                 part, deep?",
        "  out               found | failed       found | failed       found | failed",
        "    <found>.person  name                 name                 name, phone",
    ]


def test_one_tool_is_shown_with_all_that_is_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(tmp_path, capsys, OFFICE, "--tool", "find", "--as", "boss") == [
        "                    boss",
        "find                ✓",
        "  in                word, filter?",
        "    filter          part, deep?",
        "  out               found | failed",
        "    <found>         ok, person, kind",
        "    <found>.person  name, phone",
        "    <failed>        ok, message",
    ]


def test_where_there_is_no_room_personas_stand_below_one_another_and_those_that_see_the_same_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "48")
    assert shown(tmp_path, capsys, OFFICE, "--tool", "close") == [
        "close",
        "  · clerk, guest (tier 3, on_duty)",
        "  ✓ boss",
        "    out  closed",
    ]


@pytest.mark.parametrize("columns", ["30", "50", "80", "120"])
def test_nothing_is_cut_off_however_narrow_the_terminal_is(
    columns: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    names = [f"a_parameter_with_a_long_name_{number}" for number in range(12)]
    source = f"""
from fastmcp import FastMCP
from fastmcp_authz import Authz
mcp = FastMCP("long")
authz = Authz(mcp, context=lambda request: None, personas={{"manager": lambda: None, "operator": lambda: None}})

@authz.tool
def all_of_it({", ".join(names)}):
    \"\"\"
    @rbs type output = {{ 名前: String }}
    #: ({", ".join(f"{name}: String" for name in names)}) -> output
    \"\"\"
"""
    lines = shown(tmp_path, capsys, source)
    printed = "".join(lines).replace(" ", "")
    assert all(f"{name}," in printed or f"{name}" in printed for name in names)
    assert "名前" in printed
    assert not any("…" in line or "\x1b" in line for line in lines)
    assert max(map(len, lines)) <= int(columns)


def test_before_there_are_personas_the_least_and_the_most_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(tmp_path, capsys, OFFICE.replace("personas=PERSONAS", ""), "--tool", "close")
    assert lines[:3] == [
        "       nobody               everything",
        "close  · (tier 3, on_duty)  ✓",
        "  out                       closed",
    ]
    assert lines[4].startswith("No personas are declared.")
    assert lines[-1] == '  Authz(mcp, ..., personas={"manager": lambda: context})'


def test_a_tool_may_be_hidden_without_a_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
from fastmcp import FastMCP
from fastmcp_authz import Authz, authorized_tool

@authorized_tool
def lost() -> dict:
    \"\"\"
    @rbs type a = { a: Integer }
    @rbs type output = a @requires(:boss)
    \"\"\"
    return {}

@authorized_tool
def found() -> dict:
    \"\"\"@rbs type output = { a: Integer }\"\"\"
    return {}

mcp = FastMCP("office")
mcp.tool(lost if %s else found)
if %s:
    Authz(mcp, context=lambda request: None)
"""
    assert shown(tmp_path, capsys, source % (True, True))[1] == "lost   · (no output is left)  ✓"
    assert shown(tmp_path, capsys, source % (False, False))[1:2] == [
        "found  · (nobody decides for it)  · (nobody decides for it)"
    ]


def test_what_settings_make_optional_is_shown_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
from fastmcp import FastMCP
from fastmcp_authz import Authz
mcp = FastMCP("office")
authz = Authz(mcp, context=lambda request: None, nullable_inputs="%s")

@authz.tool
def find(word: str, place: str | None) -> dict:
    \"\"\"
    @rbs type output = { n: Integer }
    #: (word: String, place: String?) -> output
    \"\"\"
    return {}
"""
    assert shown(tmp_path, capsys, source % "opt-in")[2] == "  in   word, place?  word, place?"
    assert shown(tmp_path, capsys, source % "declared")[2] == "  in   word, place  word, place"


RENAMED = """
from fastmcp import FastMCP
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools.tool_transform import ArgTransformConfig, ToolTransformConfig
from fastmcp_authz import Authz
mcp = FastMCP("office")
authz = Authz(mcp, context=lambda request: None, personas={"guest": lambda: None})

@authz.tool
def find(q: str, limit: int = 1, page: int = 1) -> dict:
    \"\"\"
    @rbs type output = { n: Integer }
    #: (q: String, ?limit: Integer, ?page: Integer) -> output
    \"\"\"
    return {}

arguments = {"q": ArgTransformConfig(name="word"), "limit": ArgTransformConfig(hide=True, default=3)}
mcp.add_transform(ToolTransform({"find": ToolTransformConfig(name="seek", arguments=arguments)}))
mcp.add_transform(ToolTransform({"seek": ToolTransformConfig(arguments={"page": ArgTransformConfig(name="leaf")})}))
"""


def test_inputs_have_the_names_that_they_are_listed_by(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(tmp_path, capsys, RENAMED) == [
        "       guest",
        "seek   ✓",
        "  in   word, leaf?",
        "  out  n",
    ]


def test_json_is_what_tools_list_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads("\n".join(shown(tmp_path, capsys, OFFICE, "--json")))
    assert told["personas_declared"] is True
    clerk, boss = told["personas"]["clerk"], told["personas"]["boss"]
    assert clerk["close"] == {
        "shown": False,
        "plain": False,
        "denied": ["tier(3)", "on_duty(null)"],
        "why": "tier 3, on_duty",
    }
    assert clerk["ping"]["shown"] is clerk["ping"]["plain"] is True
    assert clerk["find"]["description"] == "Find people."
    assert clerk["find"]["inputSchema"]["properties"]["filter"]["properties"] == {"part": {"type": "string"}}
    assert set(boss["find"]["inputSchema"]["properties"]["filter"]["properties"]) == {"part", "deep"}
    assert set(boss["close"]["outputSchema"]["properties"]) == {"closed"}


DOMAINS = """
from fastmcp import FastMCP
from fastmcp_authz import Authz
mcp = FastMCP("office")
authz = Authz(mcp, context=lambda request: None, personas={"guest": lambda: None})

@mcp.tool
def plain() -> dict:
    return {}

@authz.tool(domains=["admin"])
def sweep() -> dict:
    \"\"\"@rbs type output = { n: Integer }\"\"\"
    return {}

@authz.tool
def find() -> dict:
    \"\"\"@rbs type output = { n: Integer }\"\"\"
    return {}
"""


def test_a_domain_has_its_own_tools_and_the_plain_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def names(*options: str) -> list[str]:
        told: dict[str, Any] = json.loads("\n".join(shown(tmp_path, capsys, DOMAINS, "--json", *options)))
        return list(told["personas"]["guest"])

    assert names() == ["plain", "sweep", "find"]
    assert names("--domain", "admin") == ["plain", "sweep"]
    assert names("--domain", "default") == ["plain", "find"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--domain", "admim"], "No tool is in the domain 'admim'. Did you mean admin?"),
        (["--domain", "admin", "--tool", "find"], "find is not in the domain 'admin', but in: default."),
        (["--tool", "sweeps"], "There is no tool 'sweeps'. Did you mean sweep?"),
        (["--tool", "xxx"], "There is no tool 'xxx'. There are: plain, sweep, find."),
        (["--as", "gest"], "There is no persona 'gest'. Known are: guest."),
    ],
)
def test_what_is_not_there_is_said_with_what_is(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "server.py").write_text(DOMAINS, encoding="utf-8")
    assert run(["show", str(tmp_path / "server.py"), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"error: {said}\n"


def test_a_server_without_tools_is_shown_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = "from fastmcp import FastMCP\nmcp = FastMCP('empty')"
    assert shown(tmp_path, capsys, empty) == ["The server has no tools."]


@pytest.mark.parametrize("command", ["show", "check", "scaffold", "explain"])
def test_names_move_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    (tmp_path / "server.py").write_text(
        r'''
from fastmcp import FastMCP
from fastmcp_authz import Authz, authorized_tool
mcp = FastMCP("s\x1b[2J")
@mcp.tool(name="t\x1b]0;title\x07")
@authorized_tool(authorization="a\x9b31m")
def t() -> dict:
    """T.
    @rbs type output = { a: Integer }
    """
    return {"a": 1}
@mcp.tool(name="u\x1b[1A")
def u(a: int) -> dict:
    """U."""
    return {}
Authz(mcp, context=lambda request: None, personas={"p\x1b[31m": lambda: None})
''',
        "utf-8",
    )
    given = ["t\x1b]0;title\x07", "--as", "p\x1b[31m"] if command == "explain" else []
    run([command, str(tmp_path / "server.py"), *given])
    printed = "".join(capsys.readouterr())
    assert printed
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", printed.replace("\r\n", "\n"))
