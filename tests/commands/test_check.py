"""`fastmcp-authz check`: what can be said to it, what it prints, and whom it asks. Its rules: the files beside this."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fastmcp_authz.commands.app import run
from fastmcp_authz.survey.checks.rules import RULES
from tests.commands.checking import OUTPUT, Checking, tool

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Checking:
    return Checking(tmp_path, capsys)


# -- what can be said to it ------------------------------------------------------------------------------------------

MANY = (
    tool("#: (?limit: Integer @default(20)) -> output\n" + OUTPUT, options="", parameters="limit: int = 10"),
    tool("@rbs type rest = { id: Integer }\n" + OUTPUT, name="rest"),
)


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ([], ["AZ201", "AZ404", "AZ401"]),
        (["--select", "AZ4"], ["AZ404", "AZ401"]),
        (["--select", "az201,AZ401"], ["AZ201", "AZ401"]),
        (["--select", "AZ201", "--select", "AZ404"], ["AZ201", "AZ404"]),
        (["--ignore", "AZ40"], ["AZ201"]),
        (["--select", "AZ4", "--ignore", "AZ404"], ["AZ401"]),
        (["--ignore", "AZ2, AZ4"], []),
    ],
)
def test_codes_and_families_are_selected_and_ignored(options: list[str], codes: list[str], checking: Checking) -> None:
    checking.write(*MANY)
    assert checking.codes(*options) == codes


@pytest.mark.parametrize("code", ["AZ999", "AZ", "E501", "A"])
def test_an_unknown_code_is_no_way_to_run(code: str, checking: Checking) -> None:
    checking.write(*MANY)
    status, out, err = checking.run("--ignore", code)
    assert (status, out) == (2, "")
    assert f"There is no code {code}. Known are:" in err
    assert "AZ404  a default that differs from Python's" in err


def test_a_comment_on_the_line_or_behind_the_def_leaves_a_finding_out(checking: Checking) -> None:
    checking.write(
        *(text.replace("-> dict[str, Any]:", "-> dict[str, Any]:  # authz: ignore[AZ201, AZ404]") for text in MANY[:1]),
        MANY[1].replace(
            "{ id: Integer }\n    @rbs type output", "{ id: Integer } # authz: ignore[AZ401]\n    @rbs type output"
        ),
    )
    report = checking.report()
    assert (report["findings"], report["silenced"]) == ([], 3)
    assert (
        "No findings in 2 tools, 1 input, 2 outputs, 1 predicate, as ann, bob. 3 more are left out" in checking.run()[1]
    )


def test_findings_are_printed_by_tool_with_the_line_and_the_text_at_fault(checking: Checking) -> None:
    checking.write(*MANY)
    status, out, _ = checking.run()
    assert status == 1
    number = (
        checking.file.read_text(encoding="utf-8").splitlines().index("def look(limit: int = 10) -> dict[str, Any]:") + 1
    )
    place = f"{checking.file}:{number}"
    title = "  AZ201 a tool without any gate"
    head = f"{title}  {place}" if len(f"{title}  {place}") <= 110 else f"{title}\n  {place}"
    assert out.startswith(
        f"look\n\n{head}\n"
        f"{number:>6} │ def look(limit: int = 10) -> dict[str, Any]:\n"
        "       │     ‾‾‾‾\n"
        "       It has no authorization, no gates, and nothing guarded inside: everybody whom the server lets in has\n"
        "       all of it.\n"
    )
    assert out.index("\nrest\n") > out.index("AZ404")
    assert out.endswith("3 findings in 2 tools, 1 input, 2 outputs, 1 predicate, as ann, bob.\n")
    assert "\x1b" not in out


def test_a_narrow_terminal_is_kept_to(checking: Checking, monkeypatch: pytest.MonkeyPatch) -> None:
    checking.write(
        tool(
            f"#: (?first: Integer @default(1) @desc({'long ' * 40}), "
            f"?limit: Integer @default(20) @desc({'x ' * 40})) -> output\n{OUTPUT}",
            parameters="first: int = 1, limit: int = 10",
        )
    )
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    lines = re.sub(r"\x1b\[[\d;]*m", "", checking.run()[1]).splitlines()
    assert max(len(line) for line in lines if str(checking.file) not in line) <= 60
    (shown,) = [line for line in lines if " │ …" in line]
    assert "@default(20)" in shown
    assert shown.endswith("…")


def test_json_is_one_document_with_everything(checking: Checking) -> None:
    checking.write(MANY[1])
    status, out, _ = checking.run("--json")
    assert status == 1
    text = checking.file.read_text(encoding="utf-8").splitlines()
    assert json.loads(out) == {
        "findings": [
            {
                "code": "AZ401",
                "title": "an unused type",
                "tool": "rest",
                "part": "type rest",
                "file": str(checking.file),
                "line": next(i for i, line in enumerate(text, 1) if "type rest" in line),
                "text": "rest",
                "message": "`rest` is used by neither the inputs nor the output.",
                "way_out": "Remove it, or use it.",
                "also": [],
            }
        ],
        "silenced": 0,
        "notes": [],
        "looked_at": {"tools": 1, "inputs": 0, "outputs": 1, "predicates": 1, "personas": 2},
    }


# -- personas, domains, mounted servers ------------------------------------------------------------------------------

GATED = tool("@rbs type output = { id: Integer, ?plan: String @tire(:gold) }")


def test_without_personas_it_is_said_once_what_could_not_be_asked(checking: Checking) -> None:
    checking.write(GATED, before="PERSONAS = {}")
    report = checking.report()
    assert report["findings"] == []
    assert report["notes"] == [
        "There are no personas, so that nobody can be asked who answers and who sees what (AZ101, AZ102, AZ204, AZ205, "
        "AZ502): write Authz(mcp, ..., personas={...})."
    ]
    assert "note: There are no personas" in checking.run()[1]
    assert checking.report("--select", "AZ4")["notes"] == []


def test_without_personas_providers_limits_are_those_of_somebody_who_sees_all(checking: Checking) -> None:
    optional = ", ".join(f"?p{n}: bool @requires(:admin)" for n in range(25))
    parameters = ", ".join(f"p{n}: bool = False" for n in range(25))
    checking.write(
        tool(f"#: ({optional}) -> output\n{OUTPUT}", parameters=parameters),
        before="PERSONAS = {}\nOPTIONS = {'dialect': 'anthropic'}",
    )
    (found,) = checking.findings()
    assert found["message"].endswith("in one request: anthropic: 25 optional parameters, at most 24.")


def test_with_one_persona_nobody_is_everybody(checking: Checking) -> None:
    checking.write(tool(OUTPUT, options='(gates=[("feature", "sms")])'), before='del PERSONAS["bob"]')
    report = checking.report()
    assert report["findings"] == []
    assert report["notes"] == ["There is one persona: what everybody or nobody sees takes two (AZ204, AZ205)."]


def test_a_server_without_authz_is_said_to_be_one(checking: Checking) -> None:
    checking.write("mcp = FastMCP('plain')\n\n@mcp.tool\ndef ping() -> str:\n    return ''\n")
    report = checking.report()
    assert (report["findings"], report["notes"]) == ([], ["There is no Authz on this server: nothing is guarded."])


def test_one_domain_is_looked_at_alone(checking: Checking) -> None:
    checking.write(MANY[0].replace("@authz.tool", "@authz.tool(domains=['sales'])"), MANY[1])
    assert checking.codes("--domain", "sales") == ["AZ201", "AZ404"]
    assert checking.codes("--domain", "default") == ["AZ401"]
    status, _, err = checking.run("--domain", "slaes")
    assert status == 2
    assert "There is no domain 'slaes'. Known are: sales, default." in err


MOUNTED = """
child = FastMCP("child")
child_authz = Authz(child, context=lambda request: None, personas=CHILD_PERSONAS)
mcp.mount(child, namespace="sub")
covered = FastMCP("covered")
mcp.mount(covered, namespace="own")
"""
CHILD = tool("@rbs type output = { id: Integer, ?plan: String @tier(:gold) }").replace("@authz", "@child_authz")


def test_mounted_servers_are_judged_by_the_personas_of_whoever_decides_for_them(checking: Checking) -> None:
    covered = tool("@rbs type output = { id: Integer, ?plan: String @tier(:gold) }", options="").replace(
        "@authz.tool", "@covered.tool\n@authorized_tool"
    )
    before = (
        "class Member(Person):\n    def tier(self, value): return 'gold' in self.flags\n"
        "PERSONAS = {'ann': lambda: Member('gold'), 'bob': Member}\n"
        "CHILD_PERSONAS = {'ann': lambda: Person('read'), 'eve': lambda: Person('read')}"
    )
    checking.write(MOUNTED, CHILD, covered, before=before)
    (found,) = checking.findings()
    assert (found["code"], found["tool"], found["part"]) == ("AZ101", "sub_look", "out plan")
    checking.write(
        MOUNTED,
        CHILD,
        covered,
        before=before.replace("lambda: Person('read'), 'eve'", "lambda: Member('read', 'gold'), 'eve'").replace(
            "'eve': lambda: Person", "'eve': lambda: Member"
        ),
    )
    assert checking.findings() == []


def test_a_mounted_server_whose_authz_has_no_personas_is_named(checking: Checking) -> None:
    checking.write(MOUNTED, tool(OUTPUT), CHILD, before="CHILD_PERSONAS = None")
    report = checking.report()
    assert report["findings"] == []
    assert report["notes"] == ["Nobody can be asked about sub_look: the Authz that decides for them has no personas."]


def test_what_several_tools_share_is_one_finding(checking: Checking) -> None:
    checking.write(
        *(tool("@rbs import row\n@rbs type output = { rows: Array[row] }", name=name) for name in ("look", "list")),
        *(tool("@rbs type output = { id: Integer, ?plan: String @tire(:gold) }", name=name) for name in ("a", "b")),
        shared={"row.rbs": "type row = { id: Integer, ?plan: String @requires(:read) }\n"},
    )
    found = {each["code"]: each for each in checking.findings()}
    assert {code: (each["tool"], each["also"]) for code, each in found.items()} == {
        "AZ204": ("look", ["list"]),
        "AZ101": ("a", ["b"]),
    }
    assert "Also in list." in checking.run()[1]


def test_what_is_wrong_with_a_shared_union_is_one_finding(checking: Checking) -> None:
    names = ("look", "list", "find")
    checking.write(
        *(tool("@rbs import row\n@rbs type output = { rows: Array[row], first: row }", name=name) for name in names),
        shared={"row.rbs": "type row = { id: Integer, ?name: String } | { id: Integer }\n"},
    )
    (found,) = checking.findings()
    assert (found["code"], found["tool"], found["also"]) == ("AZ302", "look", ["list", "find"])


def test_very_many_personas_are_not_all_named(checking: Checking) -> None:
    docstring = "@rbs type output = { id: Integer, ?plan: String @requires(:read) }"
    before = "PERSONAS = {f'p{n}': lambda: Person('read') for n in range(20)}"
    checking.write(tool(docstring), before=before)
    (found,) = checking.findings()
    assert found["message"].endswith("keeps out none of p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, ….")


PLAIN = """
import functools

from fastmcp.tools import Tool


def ping(host: str) -> str:
    return host


class Pong:
    def __call__(self, host: str) -> str:
        return host


made: dict[str, Any] = {}
exec("def built(host: str) -> str: return host", made)
mcp.add_tool(Tool.from_tool(Tool.from_function(ping), name="renamed"))
mcp.add_tool(Tool.from_function(Pong(), name="pong"))
mcp.add_tool(Tool.from_function(made["built"]))
mcp.add_tool(Tool.from_tool(Tool.from_function(ping, auth=lambda context: True), name="guarded"))
"""


def test_plain_tools_are_found_where_their_functions_stand_if_they_stand_anywhere(checking: Checking) -> None:
    checking.write(PLAIN)
    lines = checking.file.read_text(encoding="utf-8").splitlines()
    found = {each["tool"]: each["line"] and lines[each["line"] - 1].strip() for each in checking.findings()}
    assert found == {
        "renamed": "def ping(host: str) -> str:",
        "pong": "def __call__(self, host: str) -> str:",
        "built": None,
    }
    assert "\nbuilt\n\n  AZ202 a plain tool beside Authz\n       It is no" in checking.run()[1]


# -- the examples, the page ------------------------------------------------------------------------------------------


def test_nothing_is_found_in_the_example() -> None:
    command = [sys.executable, "-m", "fastmcp_authz.commands.app", "check", "examples/recruiting/server.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(
        r"No findings in 4 tools, \d+ inputs, \d+ outputs, \d+ predicates, as viewer, operator, manager\.\n",
        done.stdout,
    )


def test_the_finding_on_the_page_is_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, readme = (
        (ROOT / name).read_text(encoding="utf-8") for name in (Path("docs", "commands", "check.md"), "README.md")
    )
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    (source,) = re.findall(r"<!-- server.py -->\n```python\n(.*?)```", readme, re.DOTALL)
    assert source.count("?deleted: bool @requires(:admin)") == source.count("context=Caller)") == 1
    source = source.replace("?deleted: bool @requires(:admin)", "?deleted: bool @requires(:amdin)")
    people = """{
    "ann": lambda: Caller(Request(Token(scopes=["read", "admin"]))),
    "bob": lambda: Caller(Request(Token(scopes=["read"]))),
}"""
    source = source.replace("context=Caller)", f"context=Caller, personas={people})")
    source = source.replace(
        "from fastmcp import", "from types import SimpleNamespace as Token\n\nfrom fastmcp import", 1
    )
    (tmp_path / "server.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["check", "server.py"]) == 1
    assert capsys.readouterr().out == shown


def test_the_page_has_every_code() -> None:
    page = (ROOT / "docs" / "commands" / "check.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(AZ\d+)` \| ([^|]+) \|", page, re.MULTILINE)
    assert rows == [(rule.code, rule.title) for rule in RULES]
