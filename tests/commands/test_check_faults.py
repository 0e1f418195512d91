"""`fastmcp-authz check` finds a planted fault of each kind, where it stands, and says nothing of its mended twin."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastmcp import Client, FastMCP

from fastmcp_authz import Authz
from fastmcp_authz.survey.checks.rules import RULES
from tests.commands.checking import OUTPUT, Checking, tool


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


FAULTS = {
    "a predicate of a field that no context answers": Fault(
        "AZ101",
        tool("@rbs type output = { id: Integer, ?plan: String @feature_flag(:sms) }"),
        ("@feature_flag", "@feature"),
        "type output",
        "@feature_flag(:sms)",
        "out plan",
        "No persona's context has a method `feature_flag`, so that `@feature_flag(:sms)` is skipped and what it "
        "guards is "
        'shown to everybody, as missing_predicate="allow" has it. Did you mean `@feature`? Else define',
    ),
    "a gate that no context answers, where that is a no": Fault(
        "AZ101",
        tool(OUTPUT, options='(gates=[("tier", "gold")])'),
        ('("tier", "gold")', '("feature", "sms")'),
        "@authz.tool",
        '("tier", "gold")',
        "",
        "No persona's context has a method `tier`, so that `@tier(:gold)` is a no for everybody. "
        "Define `tier(self, value)`",
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
    "a persona whose function raises": Fault(
        "AZ103",
        tool(OUTPUT),
        ('{}["cat"]', 'Person("read")'),
        "def make_cat",
        "make_cat",
        "persona cat",
        "Making the persona 'cat' failed with KeyError: 'cat'. What it sees is not looked at.",
        before='def make_cat():\n    return {}["cat"]\nPERSONAS["cat"] = make_cat',
    ),
    "a tool without any gate": Fault(
        "AZ201",
        tool(OUTPUT, options=""),
        ("@authz.tool", '@authz.tool(authorization="read")'),
        "def look",
        "look",
        "",
        "It has no authorization, no gates, and nothing guarded inside: everybody whom the server lets in "
        "has all of it.",
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
        tool(
            "#: (?deleted: bool @requires(:amdin), ?all: bool @requires(:admin)) -> output\n" + OUTPUT,
            parameters="deleted: bool = False, all: bool = False",
        ),
        (":amdin", ":admin"),
        "#: (?deleted",
        "@requires(:amdin)",
        "in deleted",
        "No persona sees it: `@requires(:amdin)` keeps out ann and bob. Did you mean `admin`, which a persona has? "
        "Else name a persona who has `amdin`.",
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
        "`dog` and `cat` are told apart by what is hidden from bob: a value of the one may be taken for one "
        "of the other.",
    ),
    "members that callers without one of many rights cannot tell apart": Fault(
        "AZ301",
        tool(
            """
            #: (?animal: cat | dog) -> output
            @rbs type extra = { ?a: bool @feature(:a), ?b: bool @feature(:b), ?c: bool @feature(:c),
                                ?d: bool @feature(:d) }
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
            "row.rbs": "type row = { id: Integer }\n\ntype page[T] = { of: T? }\n\n"
            "type old = row & { n: [Integer, row] }\n"
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
            "Rows by internal_score, best first.\n\n"
            "@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) }"
        ),
        ("by internal_score", "by name"),
        "Rows by",
        "internal_score",
        "description",
        "The description names `internal_score`, a field that `@requires(:admin)` guards, to callers who may not know",
    ),
    "a title of a tool that names a guarded field": Fault(
        "AZ501",
        tool(
            "@rbs type output = { id: Integer, ?internal_score: Integer @requires(:admin) }",
            options='(authorization="read", title="Rows by internal_score")',
        ),
        ("by internal_score", "by name"),
        "def look",
        "look",
        "title",
        "The title names `internal_score`, a field that `@requires(:admin)` guards",
    ),
    "prose in a list that names a guarded field": Fault(
        "AZ501",
        tool(
            """
            @rbs type row = { at: [Integer, Hash[String, (String @desc(Or an internal_score))]] }
            @rbs type output = { ?row: row @requires(:read) @feature(:x), all: row,
                                 ?internal_score: Integer @requires(:admin) }
            """
        ),
        ("Or an internal_score", "Or a score"),
        "type row",
        "at",
        "out row.at",
        "names `internal_score`, a field that `@requires(:admin)` guards",
        before='PERSONAS["eve"] = lambda: Person("read", "x")',
    ),
    "a description of a parameter that names a guarded one": Fault(
        "AZ501",
        tool(
            "#: (word: String @desc(Not in `bin`), ?bin: bool @requires(:admin) @desc(In `bin` alone)) -> output\n"
            + OUTPUT,
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
            options='(authorization="read", description=lambda who: '
            '"By internal_score" if "read" in who.flags else "")',
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
    "a description of the caller's own that names a tool": Fault(
        "AZ502",
        tool(
            OUTPUT,
            options='(authorization="read", description=lambda who: "empty_bin" if "admin" in who.flags else "")',
        )
        + tool(OUTPUT, name="empty_bin", options='(authorization="sms")'),
        ('"ann": lambda: Person("read", "admin")', '"ann": lambda: Person("read", "admin", "sms")'),
        "def look",
        "look",
        "description for ann",
        "The description for ann names the tool `empty_bin`, which ann does not have.",
        before='PERSONAS = {"ann": lambda: Person("read", "admin"), "eve": lambda: Person("read", "sms"), '
        '"bob": lambda: Person("read")}',
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
