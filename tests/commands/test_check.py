"""`fastmcp-authz check` finds a planted fault of each kind, where it stands, and says nothing of its mended twin."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, NamedTuple

import pytest
from fastmcp import Client, FastMCP

from fastmcp_authz import Authz
from fastmcp_authz.commands.app import run
from fastmcp_authz.survey.checks.rules import RULES

ROOT = Path(__file__).parents[2]

SERVER = """
from __future__ import annotations

from typing import Any

from fastmcp import FastMCP
from pydantic import Field

from fastmcp_authz import Authz, authorized_tool


class Person:
    def __init__(self, *flags: str) -> None:
        self.flags = flags

    def requires(self, flag: str) -> bool:
        return flag in self.flags

    def feature(self, flag: str) -> bool:
        return flag in self.flags


PERSONAS: Any = {"ann": lambda: Person("read", "admin", "sms"), "bob": lambda: Person("read")}
OPTIONS: Any = {}
"""
AUTHZ = """
mcp = FastMCP("office")
authz = Authz(mcp, context=lambda request: None, personas=PERSONAS, **OPTIONS)
"""


def tool(docstring: str, *, options: str = '(authorization="read")', name: str = "look", parameters: str = "") -> str:
    """A tool of the server, whose docstring says all."""
    text = indent(dedent(docstring).strip(), "    ")
    head = f"@authz.tool{options}\ndef {name}({parameters}) -> dict[str, Any]:"
    return f'{head}\n    """{text.strip()}\n    """\n    return {{}}\n'


class Checking:
    """Servers, written to files and checked."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.file = folder / "server.py"
        self.shared = folder / "sig" / "shared"
        self._capsys = capsys

    def write(self, *tools: str, before: str = "", shared: dict[str, str] | None = None) -> None:
        for name, text in (shared or {}).items():
            self.shared.mkdir(parents=True, exist_ok=True)
            (self.shared / name).write_text(text, encoding="utf-8")
        self.file.write_text("\n".join([SERVER, before, AUTHZ, *tools]), encoding="utf-8")

    def run(self, *options: str) -> tuple[int, str, str]:
        status = run(["check", str(self.file), *options])
        out, err = self._capsys.readouterr()
        return status, out, err

    def report(self, *options: str) -> dict[str, Any]:
        status, out, err = self.run("--json", *options)
        assert status < 2, err
        report: dict[str, Any] = json.loads(out)
        assert status == (1 if report["findings"] else 0)
        return report

    def findings(self, *options: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.report(*options)["findings"]
        return found

    def codes(self, *options: str) -> list[str]:
        return [each["code"] for each in self.findings(*options)]


@pytest.fixture
def checking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Checking:
    return Checking(tmp_path, capsys)


class Fault(NamedTuple):
    """A server with one fault, and what mends it."""

    code: str
    tools: str
    mend: tuple[str, str]
    """What to write in place of what, anywhere in the server."""
    line: str
    """Something in the line that is pointed at; empty where none is."""
    marked: str
    """The text in it that is marked."""
    part: str
    says: str
    before: str = ""
    shared: dict[str, str] = {}  # noqa: RUF012


OUTPUT = "@rbs type output = { id: Integer }"

FAULTS = {
    "a predicate of a field that no context answers": Fault(
        "AZ101",
        tool("@rbs type output = { id: Integer, ?plan: String @feature_flag(:sms) }"),
        ("@feature_flag", "@feature"),
        "type output",
        "@feature_flag(:sms)",
        "out plan",
        "No persona's context has a method `feature_flag`, so that `@feature_flag(:sms)` is skipped and what it guards is shown "
        'to everybody, as missing_predicate="allow" has it. Did you mean `@feature`? Else define',
    ),
    "a gate that no context answers, where that is a no": Fault(
        "AZ101",
        tool(OUTPUT, options='(gates=[("tier", "gold")])'),
        ('("tier", "gold")', '("feature", "sms")'),
        "@authz.tool",
        '("tier", "gold")',
        "",
        "No persona's context has a method `tier`, so that `@tier(:gold)` is a no for everybody. Define `tier(self, value)`",
        before='OPTIONS = {"missing_predicate": "deny"}',
    ),
    "a permission that no context answers": Fault(
        "AZ101",
        tool(OUTPUT),
        ("def requires", "def requires"),
        "@authz.tool",
        '"read"',
        "",
        'nor a `current_user` with a method `can`, so that `authorization="read"` and every other permission is a no',
        before="class Mute: ...\nPERSONAS = {'ann': Mute, 'bob': Mute}",
    ),
    "can written for requires": Fault(
        "AZ101",
        tool("@rbs type output = { id: Integer, ?plan: String @can(:admin) }"),
        ("@can(", "@requires("),
        "type output",
        "@can(:admin)",
        "out plan",
        "Did you mean `@requires`?",
    ),
    "a predicate that only some contexts answer": Fault(
        "AZ102",
        tool("@rbs type output = { id: Integer, ?plan: String @tier(:gold) }"),
        ("class Guest(Person): ...", "class Guest(Person):\n    def tier(self, value): return False"),
        "type output",
        "@tier(:gold)",
        "out plan",
        "The contexts of some personas have no method `tier`, and to those callers what it guards is shown unasked.",
        before="class Guest(Person): ...\n"
        "class Member(Person):\n    def tier(self, value): return False\n"
        "class Gold(Person):\n    def tier(self, value): return True\n"
        "PERSONAS = {'guest': lambda: Guest('read'), 'ann': lambda: Member('read'), 'eve': lambda: Gold('read')}",
    ),
    "a tool without any gate": Fault(
        "AZ201",
        tool(OUTPUT, options=""),
        ("@authz.tool", '@authz.tool(authorization="read")'),
        "def look",
        "look",
        "",
        "It has no authorization, no gates, and nothing guarded inside: everybody whom the server lets in has all of it.",
    ),
    "a plain tool": Fault(
        "AZ202",
        "@mcp.tool\ndef ping() -> str:\n    return 'pong'\n",
        ("def ping() -> str:", "def ping() -> str:  # authz: ignore[AZ202]"),
        "def ping",
        "ping",
        "",
        "It is no `authorized_tool`, so that everybody whom the server lets in is listed it and may call it",
    ),
    "a decorated tool on a server without Authz": Fault(
        "AZ203",
        tool(OUTPUT).replace("@authz.tool", "@FastMCP.tool(other)\n@authorized_tool"),
        ("@FastMCP.tool(other)", "@mcp.tool"),
        "def look",
        "look",
        "",
        "No `Authz` decides for it, so that every call is refused.",
        before="other = FastMCP('other')",
    ),
    "a field that every persona sees": Fault(
        "AZ204",
        tool("@rbs type output = { id: Integer, ?plan: String @requires(:read) }"),
        (" @requires(:read)", ""),
        "type output",
        "@requires(:read)",
        "out plan",
        "Every persona sees it: `@requires(:read)` keeps out none of ann and bob. Leave the guard out",
    ),
    "a gate that every persona passes": Fault(
        "AZ204",
        tool(OUTPUT, options='(authorization="read", gates=[("feature", "read")])'),
        ('"bob": lambda: Person("read")', '"bob": lambda: Person("rea")'),
        "@authz.tool",
        '("feature", "read")',
        "",
        'Every persona has it: `gates=[("feature", "read")]` keeps out none of ann and bob.',
    ),
    "a field that no persona sees, by a slip": Fault(
        "AZ205",
        tool("#: (?deleted: bool @requires(:amdin)) -> output\n" + OUTPUT, parameters="deleted: bool = False"),
        (":amdin", ":admin"),
        "#: (?deleted",
        "@requires(:amdin)",
        "in deleted",
        "No persona sees it: `@requires(:amdin)` keeps out ann and bob.",
        before="",
    ),
    "a member that no persona sees": Fault(
        "AZ205",
        tool(
            """
            @rbs type few = { kind: "few" }
            @rbs type many = { kind: "many", ?plan: String @requires(:chief) }
            @rbs type output = few
                             | many @requires(:chief)
            """
        ),
        (":chief", ":admin"),
        "| many",
        "@requires(:chief)",
        "out <many>",
        "No persona sees it: `@requires(:chief)` keeps out ann and bob. Leave it out, or name a persona",
    ),
    "a tool that no persona has": Fault(
        "AZ205",
        tool(OUTPUT, options='(authorization="chief")'),
        ('"chief"', '"admin"'),
        "@authz.tool",
        '"chief"',
        "",
        'No persona has it: not one of ann and bob passes `authorization="chief"`.',
    ),
    "a tool of which nothing is left for any persona": Fault(
        "AZ205",
        tool(
            '@rbs type a = { k: "a" }\n@rbs type b = { k: "b" }\n@rbs type output = a @requires(:x) | b @requires(:x)',
            options="",
        ),
        (":x", ":admin"),
        "def look",
        "look",
        "",
        "No persona has it: to every one of ann and bob guards take its whole output.",
    ),
    "members that a persona cannot tell apart": Fault(
        "AZ301",
        tool(
            """
            @rbs type cat = { kind: "cat" @requires(:admin), ?lives: Integer }
            @rbs type dog = { kind: "dog" @requires(:admin), ?bones: Integer }
            @rbs type output = cat | dog
            """
        ),
        (" @requires(:admin)", ""),
        "type output",
        "dog",
        "out <dog>",
        "`dog` and `cat` are told apart by what is hidden from bob: a value of the one may be taken for one of the other.",
    ),
    "members that callers without one of many rights cannot tell apart": Fault(
        "AZ301",
        tool(
            """
            #: (?animal: cat | dog) -> output
            @rbs type extra = { ?a: bool @feature(:a), ?b: bool @feature(:b), ?c: bool @feature(:c), ?d: bool @feature(:d) }
            @rbs type cat = { kind: "cat" @feature(:e), ?lives: extra }
            @rbs type dog = { kind: "dog" @feature(:e), ?bones: extra @feature(:f), ?x: bool @feature(:g) }
            @rbs type output = { id: Integer }
            """,
            parameters="animal: Any = None",
        ),
        (" @feature(:e)", ""),
        "#: (?animal",
        "dog",
        "in animal<dog>",
        "`dog` and `cat` are told apart by what is hidden from callers without `@feature(:e)`",
        before="PERSONAS = {'ann': lambda: Person('read', *'abcdefg')}",
    ),
    "an output member that is never needed": Fault(
        "AZ302",
        tool(
            """
            @rbs type found = { id: Integer, ?name: String }
            @rbs type short = { id: Integer }
            @rbs type output = found | short
            """
        ),
        ("short = { id: Integer }", "short = { number: Integer }"),
        "type output",
        "short",
        "out <short>",
        "`found` takes every value of it and shows as much, so that nothing is ever sent as `short`.",
    ),
    "a gate that a member beside it defeats": Fault(
        "AZ302",
        tool(
            """
            @rbs type found = { id: Integer, ?ssn: String }
            @rbs type whole = { id: Integer, ssn: String }
            @rbs type output = found | whole @requires(:admin)
            """
        ),
        ("{ id: Integer, ?ssn: String }", "{ id: Integer }"),
        "type output",
        "whole @requires(:admin)",
        "out <whole>",
        "`@requires(:admin)` cannot hold: `found` takes every value of it, and shows as much of it",
    ),
    "an unused type": Fault(
        "AZ401",
        tool("@rbs type row = { id: Integer }\n@rbs type rest = { row: row }\n@rbs type output = { rows: Array[row] }"),
        ("@rbs type rest = { row: row }\n", ""),
        "type rest",
        "rest",
        "type rest",
        "`rest` is used by neither the inputs nor the output. Remove it, or use it.",
    ),
    "an unused shared type": Fault(
        "AZ402",
        tool("@rbs import row\n@rbs type output = { rows: Array[page[row]] }"),
        ("page[row]", "page[old]"),
        "type old",
        "old",
        "type old",
        "`old` is used by none of the tools that import its file: `look`.",
        shared={
            "row.rbs": "type row = { id: Integer }\n\ntype page[T] = { of: T? }\n\ntype old = row & { n: [Integer, row] }\n"
        },
    ),
    "an unused import": Fault(
        "AZ403",
        tool(f"@rbs import row\n{OUTPUT}"),
        ("@rbs import row\n", ""),
        "import row",
        "row",
        "import row",
        "Nothing of what `@rbs import row` brings in is used. Remove it.",
        shared={"row.rbs": "type row = { id: Integer }\n"},
    ),
    "a default that differs": Fault(
        "AZ404",
        tool(f"#: (?limit: Integer @default(20)) -> output\n{OUTPUT}", parameters="limit: int = Field(default=10)"),
        ("default=10", "default=20"),
        "#: (?limit",
        "@default(20)",
        "in limit",
        "Its default is `20` by the annotation and `10` in Python: a call through the server gets the one, a call from "
        "Python the other. Write `limit=20` in the signature of the function, or `@default(10)`.",
    ),
    "a default of a guarded parameter that differs": Fault(
        "AZ404",
        tool(
            f"#: (?tags: Array[String] @default([]) @requires(:admin)) -> output\n{OUTPUT}",
            parameters='tags: Any = ("new",)',
        ),
        ('("new",)', "()"),
        "#: (?tags",
        "@default([])",
        "in tags",
        "in Python: callers without `@requires(:admin)` get Python's, unseen.",
    ),
    "a description that names a guarded field": Fault(
        "AZ501",
        tool(
            "Rows by internal_score, best first.\n\n@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) }"
        ),
        ("by internal_score", "by name"),
        "Rows by",
        "internal_score",
        "description",
        "The description names `internal_score`, a field that `@requires(:admin)` guards, to callers who may not know",
    ),
    "a description of a parameter that names a guarded one": Fault(
        "AZ501",
        tool(
            f"#: (word: String @desc(Not in `bin`), ?bin: bool @requires(:admin) @desc(In `bin` alone)) -> output\n{OUTPUT}",
            parameters="word: str, bin: bool = False",
        ),
        ("@desc(Not in `bin`)", "@desc(Not in the bin)"),
        "#: (word",
        "word",
        "in word",
        "The description names `bin`, a field that `@requires(:admin)` guards",
    ),
    "a title that names a member": Fault(
        "AZ501",
        tool(
            """
            @rbs type few = { kind: "few" }
            @rbs type rerouted = { kind: "many" }
            @rbs type output = few | rerouted @requires(:admin) @title(What was rerouted)
            """
        ),
        ("What was rerouted", "What was done"),
        "def look",
        "look",
        "title of the output",
        "The title of the output names `rerouted`, a member that `@requires(:admin)` guards",
    ),
    "a description that names a guarded word": Fault(
        "AZ501",
        tool(
            f'Move on.\n\n#: (?to: "next" | "write_off" @requires(:admin) | "back" @feature(:sms)) -> output\n{OUTPUT}',
            options='(authorization="read", description="Move on, or write_off.")',
            parameters="to: str = 'next'",
        ),
        (", or write_off", ""),
        "def look",
        "look",
        "description",
        "names `write_off`, a word that `@requires(:admin)` guards",
    ),
    "a description of the caller's own that names a guarded field": Fault(
        "AZ501",
        tool(
            "@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) }",
            options='(authorization="read", description=lambda who: "By internal_score" if "read" in who.flags else "")',
        ),
        ('if "read"', 'if "admin"'),
        "def look",
        "look",
        "description for bob",
        "The description for bob names `internal_score`",
    ),
    "a description that names a tool": Fault(
        "AZ502",
        tool(f"What empty_bin left.\n\n{OUTPUT}") + tool(OUTPUT, name="empty_bin", options='(authorization="admin")'),
        ("What empty_bin left", "What is left"),
        "What empty_bin",
        "empty_bin",
        "description",
        "The description names the tool `empty_bin`, which bob does not have.",
    ),
    "a schema that is too deep": Fault(
        "AZ601",
        tool(
            "#: (?a: " + "{ a: " * 10 + "{ b: bool }" + " }" * 10 + f") -> output\n{OUTPUT}",
            parameters="a: Any = None",
        ),
        ('"openai"', '"gemini"'),
        "def look",
        "look",
        "",
        "Its input schema is more than the provider takes: openai: 12 levels of objects, at most 10 (for ann and bob).",
        before='OPTIONS = {"dialect": "openai"}',
    ),
    "tools that are too many": Fault(
        "AZ602",
        "\n".join(tool(OUTPUT, name=f"look_{n}") for n in range(21)),
        ('"anthropic"', '"openai"'),
        "",
        "",
        "all tools",
        "The tools together are more than the provider takes in one request: anthropic: 21 strict tools, at most 20 "
        "(for ann and bob).",
        before='OPTIONS = {"dialect": "anthropic"}',
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_where_it_stands_and_its_mended_twin_is_silent(name: str, checking: Checking) -> None:
    fault = FAULTS[name]
    if fault.code == "AZ203":
        fault = fault._replace(tools=fault.tools + "\nmcp = other\n")
    checking.write(fault.tools, before=fault.before, shared=fault.shared)
    (found,) = checking.findings()
    assert found["code"] == fault.code
    assert found["part"] == fault.part
    assert fault.says in f"{found['message']} {found['way_out']}"
    if fault.line:
        line = Path(found["file"]).read_text(encoding="utf-8").splitlines()[found["line"] - 1]
        assert fault.line in line
        assert found["text"] == fault.marked
        assert fault.marked in line
    else:
        assert found["file"] is None

    for file in (checking.file, *checking.shared.glob("*.rbs")):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(*fault.mend), encoding="utf-8")
    if name == "a permission that no context answers":
        checking.write(fault.tools)
    if fault.code == "AZ203":
        checking.write(tool(OUTPUT))
    assert checking.findings() == []


def test_of_what_no_persona_sees_the_outermost_is_said(checking: Checking) -> None:
    checking.write(
        tool("@rbs type output = { id: Integer, ?a: { x: bool, ?y: bool @requires(:admin) } @feature(:never) }")
    )
    assert [(each["code"], each["part"]) for each in checking.findings()] == [("AZ205", "out a")]


def test_every_rule_has_a_planted_fault() -> None:
    assert {fault.code for fault in FAULTS.values()} == {rule.code for rule in RULES}


async def test_the_gate_that_is_said_to_be_defeated_is_defeated_indeed() -> None:
    mcp: FastMCP[Any] = FastMCP("office")

    class Nobody:
        def requires(self, flag: str) -> bool:
            return False

    @Authz(mcp, context=lambda request: Nobody()).tool
    def look() -> dict[str, Any]:
        """Look.

        @rbs type found = { id: Integer, ?ssn: String }
        @rbs type whole = { id: Integer, ssn: String }
        @rbs type output = found | whole @requires(:admin)
        """
        return {"id": 1, "ssn": "078-05-1120"}

    async with Client(mcp) as client:
        assert (await client.call_tool("look")).structured_content == {"id": 1, "ssn": "078-05-1120"}


# -- what is no finding ---------------------------------------------------------------------------------------------------

GUARDED = "?plan: String @requires(:admin)"
QUIET = {
    "a Python default of None": tool(
        f"#: (?limit: Integer @default(20)) -> output\n{OUTPUT}", parameters="limit: Any = None"
    ),
    "a Python default without a JSON form": "import warnings\nwarnings.simplefilter('ignore')\n"
    + tool(f"#: (?limit: Integer @default(20)) -> output\n{OUTPUT}", parameters="limit: Any = object()"),
    "a default that is the same number": tool(
        f"#: (?limit: Float @default(20)) -> output\n{OUTPUT}", parameters="limit: float = 20.0"
    ),
    "a Field without a default": tool(
        f"#: (limit: Integer @default(20)) -> output\n{OUTPUT}", parameters="limit: int = Field(gt=0)"
    ),
    "a variant that shows more than another": tool(
        """
        @rbs type found = { ok: true, id: Integer }
        @rbs type more = { ok: true, id: Integer, plan: String }
        @rbs type output = found | more @requires(:admin)
        """
    ),
    "members that are the same once something is hidden": tool(
        """
        @rbs type found = { kind: "a" @requires(:admin), id: Integer }
        @rbs type more = { kind: "b" @requires(:admin), id: Integer }
        @rbs type output = found | more
        """
    ),
    "a known word beside any text": tool('@rbs type output = { state: "open" | String, ?n: Integer | Float | nil }'),
    "a member that is gated beside one gated alike": tool(
        """
        @rbs type found = { id: Integer } & { name: String }
        @rbs type output = found @requires(:admin) | { number: Integer }
        """
    ),
    "lists, tuples and hashes that differ": tool(
        """
        @rbs type a = { of: Array[Integer] | [String, Integer] | [String] }
        @rbs type b = { by: Hash[String, Integer], at: Array[String @min(1)] }
        @rbs type c = { by: Hash["x" | "y", String] }
        @rbs type output = a | b | c
        """
    ),
    "inputs by a type of their own": tool(
        f"""
        @rbs type name = String
        @rbs type input = {{ name: name }}
        {OUTPUT}
        """,
        parameters="name: str",
    ),
    "a name that is seen elsewhere": tool(
        "The internal_score.\n\n@rbs type output = { internal_score: Integer, a: { x: bool, ?internal_score: Integer @requires(:admin) } }"
    ),
    "a name that stands in the tool's own": tool(
        "Of applicants.\n\n@rbs type output = { id: Integer, ?applicants: Integer @requires(:admin) }",
        name="list_applicants",
    ),
    "a short word, or part of a longer one": tool(
        "By name, pre-sales_price, sales_prices.\n\n"
        "@rbs type output = { id: Integer, ?name: String @requires(:admin), ?sales_price: Integer @requires(:admin) }"
    ),
    "what a guarded part says of itself": tool(
        "@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) @desc(The internal_score) }"
    ),
    "what the whole tool is guarded by": tool(
        "The internal_score.\n\n@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) }",
        options='(authorization="admin")',
    ),
    "a tool that its readers have": tool(f"What is in seen_rows.\n\n{OUTPUT}") + tool(OUTPUT, name="seen_rows"),
    "a tool that FastMCP guards": "def check(context: Any) -> bool:\n    return True\n"
    + tool(OUTPUT, options="(auth=check)")
    + "\n@mcp.tool(auth=check)\ndef ping() -> str:\n    return ''\n",
    "a shared type that somebody sees elsewhere": tool(
        "@rbs import row\n@rbs type output = { rows: Array[row] }", options='(gates=[("feature", "only_bob")])'
    )
    + tool("@rbs import row\n@rbs type output = { rows: Array[row] }", name="all_rows"),
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said_of(name: str, checking: Checking) -> None:
    personas = 'PERSONAS["bob"] = lambda: Person("read", "only_bob")'
    checking.write(QUIET[name], before=personas, shared={"row.rbs": f"type row = {{ id: Integer, {GUARDED} }}\n"})
    assert checking.findings() == []


CONTEXTS = {
    "a context that decides all at once": "class Mute:\n    def decide(self, asked): return {p: 'admin' in p.text for p in asked}",
    "a context that makes methods up": "class Mute:\n    def __getattr__(self, name): return lambda value: value == 'admin'",
    "a context whose decide fails": "class Mute:\n    @property\n    def decide(self): raise ValueError",
    "a context whose user cannot be asked": "class Mute:\n    tier = staticmethod(lambda value: False)\n"
    "    @property\n    def current_user(self): raise ValueError",
    "a context without a user": "class Mute:\n    tier = staticmethod(lambda value: False)\n    current_user = None",
    "a context of a user": "class Mute:\n    tier = staticmethod(lambda value: False)\n"
    "    class current_user:\n        can = staticmethod(lambda flag: False)",
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_everything_is_answered_by(name: str, checking: Checking) -> None:
    before = f"{CONTEXTS[name]}\nPERSONAS = {{'ann': Mute, 'nobody': lambda: None}}"
    docstring = "@rbs type output = { id: Integer, ?plan: String @tier(:gold), ?name: String @requires(:admin) }"
    checking.write(tool(docstring), before=before)
    assert checking.codes("--select", "AZ1") == []
    checking.write(tool(docstring.replace("@tier", "@tire")), before=before)
    assert checking.codes("--select", "AZ1") == ([] if "__getattr__" in before or "decide" in before else ["AZ101"])


# -- what can be said to it -----------------------------------------------------------------------------------------------

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
            f"#: (?first: Integer @default(1) @desc({'long ' * 40}), ?limit: Integer @default(20) @desc({'x ' * 40})) -> output\n{OUTPUT}",
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
    status, out, err = checking.run("--json")
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


# -- personas, domains, mounted servers -----------------------------------------------------------------------------------

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


# -- the examples, the page -----------------------------------------------------------------------------------------------


def test_nothing_is_found_in_the_example() -> None:
    command = [sys.executable, "-m", "fastmcp_authz.commands.app", "check", "examples/recruiting/server.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(
        r"No findings in 4 tools, \d+ inputs, \d+ outputs, \d+ predicates, as viewer, operator, manager\.\n",
        done.stdout,
    )


def test_the_page_has_every_code() -> None:
    page = (ROOT / "docs" / "commands" / "check.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(AZ\d+)` \| ([^|]+) \|", page, re.MULTILINE)
    assert rows == [(rule.code, rule.title) for rule in RULES]
