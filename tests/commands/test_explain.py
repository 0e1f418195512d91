"""`fastmcp-authz explain`: who was asked what, and answered what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fastmcp_authz.commands.app import run
from tests.commands.shown_pages import examples, printed_by
from tests.commands.test_show import RENAMED

OFFICE = '''
import functools
from fastmcp import FastMCP
from fastmcp_authz import Authz, authorized_tool

{context}

mcp = FastMCP("office")
authz = Authz(mcp, context=lambda request: None, personas={{"clerk": {clerk}, "boss": {boss}}}{options})

@mcp.tool
def ping(host: str) -> dict:
    return {{}}

@authz.tool({gates})
def find(word: str = "", limit: int = 1) -> dict:
    """
    {output}
    #: (?word: String @requires(:boss), ?limit: Integer) -> output
    """
    return {{}}
'''
OUTPUT = "@rbs type output = { word: String }"
HOLDS = """
class Holds:
    def __init__(self, *flags): self.flags = flags
    def requires(self, flag): return flag in self.flags
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands are given in, and the server is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


def write(
    context: str = HOLDS,
    *,
    clerk: str = "lambda: Holds()",
    boss: str = "lambda: Holds('boss')",
    gates: str = "",
    output: str = OUTPUT,
    options: str = "",
) -> None:
    source = OFFICE.format(context=context, clerk=clerk, boss=boss, gates=gates, output=output, options=options)
    Path("server.py").write_text(source, encoding="utf-8")


def line_of(text: str) -> int:
    """The line of the server on which a text stands first."""
    lines = Path("server.py").read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def explained(capsys: pytest.CaptureFixture[str], *options: str, persona: str = "clerk", tool: str = "find") -> str:
    assert run(["explain", "server.py", "--as", persona, "--tool", tool, *options]) == 0
    return capsys.readouterr().out


def asked(capsys: pytest.CaptureFixture[str], *options: str, persona: str = "clerk") -> list[dict[str, Any]]:
    """The questions on the way, for programs."""
    told = json.loads(explained(capsys, *options, "--json", persona=persona))
    (one,) = told["explanations"]
    questions: list[dict[str, Any]] = one["asked"]
    return questions


@pytest.mark.parametrize(("command", "printed"), examples("explain.md"))
def test_the_page_shows_what_the_command_prints(
    command: str, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed_by(command, capsys, monkeypatch) == printed


def test_an_input_and_an_output_of_one_name_are_explained_apart(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    at = line_of("#: (")
    assert explained(capsys, "--field", "word") == (
        "find.word (input) is hidden from clerk.\n"
        '  no   requires("boss")\n'
        "         asked   Holds.requires, server.py:9\n"
        f"         guards  word, server.py:{at}\n"
        f"  declared at server.py:{at}\n"
        "It would be shown to: boss.\n"
        "\n"
        "find.word (output) is shown to clerk.\n"
        "  Nothing guards it.\n"
        f"  declared at server.py:{line_of('@rbs type output')}\n"
        "It is shown to boss too.\n"
    )


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    told = json.loads(explained(capsys, "--field", "word", "--json"))
    assert (told["tool"], told["persona"], told["field"]) == ("find", "clerk", "word")
    given, result = told["explanations"]
    at = {"file": "server.py", "line": line_of("#: (")}
    assert given == {
        "thing": "find.word",
        "side": "input",
        "shown": False,
        "everybodys": False,
        "asked": [
            {
                "predicate": 'requires("boss")',
                "answer": False,
                "failure": None,
                "asked": {"of": "Holds.requires", "at": {"file": "server.py", "line": 9}},
                "guards": {"path": "word", "at": at},
            }
        ],
        "note": None,
        "declared": at,
        "also_shown_to": ["boss"],
    }
    assert (result["side"], result["shown"], result["asked"]) == ("output", True, [])


def test_what_guards_the_tool_and_what_a_field_is_in_is_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    output = """@rbs type row = { ?pay: Integer @requires(:pay) }
    @rbs type output = { ?rows: Array[row] @requires(:boss) }"""
    write(gates='authorization="staff"', output=output)
    way = asked(capsys, "--field", "rows.pay", persona="boss")
    assert [(each["predicate"], each["guards"]["path"], each["answer"]) for each in way] == [
        ('current_user.can("staff")', "find", False),
        ('requires("boss")', "rows", True),
        ('requires("pay")', "rows[].pay", False),
    ]
    assert [each["guards"]["at"]["line"] for each in way] == [
        line_of("@authz.tool"),
        line_of("type output"),
        line_of("type row"),
    ]


def test_a_field_whose_type_has_nothing_left_is_hidden_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    output = """@rbs type a = { a: Integer }
    @rbs type b = { b: Integer }
    @rbs type output = { n: Integer, ?kind: { of: a @requires(:boss) | b @requires(:pay) } }"""
    write(output=output)
    told = explained(capsys, "--field", "kind.of", persona="clerk")
    assert told.startswith("find.kind.of (output) is hidden from clerk.\n")
    assert 'no   requires("boss")' in told
    assert "guards  kind.of<a>" in told
    assert "guards  kind.of<b>" in told
    assert "  Nothing is left that kind.of could hold, so it goes as a whole.\n" in told
    assert told.endswith("It would be shown to: boss.\n")


def test_a_null_that_is_not_taken_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    write(options=', nullable_inputs="opt-in"')
    source = Path("server.py").read_text(encoding="utf-8")
    Path("server.py").write_text(source.replace("?limit: Integer", "?limit: Integer?"), encoding="utf-8")
    told = explained(capsys, "--field", "limit<nil>")
    assert '  Null is not taken here: nullable_inputs="opt-in", and no @nullable() stands on it.\n' in told
    assert told.endswith("It would be shown to no persona.\n")


CONTEXTS = [
    pytest.param("def requires(self, flag): return True", "yes", "Holds.requires, server.py:8", id="a method"),
    pytest.param("async def requires(self, flag): return True", "yes", "Holds.requires, server.py:8", id="async"),
    pytest.param("def decide(self, asked): return {}", "no ", "Holds.decide, server.py:8", id="decide"),
    pytest.param(
        "def __getattr__(self, name): return lambda value: True",
        "yes",
        # `requires` is made up before anything else is looked for.
        "Holds.requires, which Holds.__getattr__ makes up, server.py:8",
        id="made up",
    ),
    pytest.param(
        "current_user = type('User', (), {'can': lambda self, flag: True})()",
        "yes",
        "User.can, server.py:8",
        id="the user",
    ),
    pytest.param("requires = frozenset({'boss'}).__contains__", "yes", "Holds.requires", id="written in C"),
    pytest.param(
        "requires = functools.partial(lambda held, flag: flag in held, {'boss'})",
        "yes",
        "Holds.requires, server.py:8",
        id="a partial",
    ),
    pytest.param(
        "requires = type('Asks', (), {'__call__': lambda self, flag: True})()",
        "yes",
        "Holds.requires, server.py:8",
        id="an object",
    ),
    pytest.param(
        "@functools.lru_cache\n    def requires(self, flag): return True",
        "yes",
        "Holds.requires, server.py:8",
        id="decorated",
    ),
    pytest.param(
        "pass",
        "no ",
        "nobody: Holds has neither requires nor a current_user with can",
        id="no permissions",
    ),
    pytest.param("requires = 5", "no ", "nobody: Holds.requires is a int, no method: raised TypeError, which is a no"),
    pytest.param(
        "@property\n    def requires(self): raise KeyError",
        "no ",
        "nobody: looking for it raised KeyError: raised KeyError, which is a no",
        id="a property",
    ),
    pytest.param(
        "def requires(self, flag): raise KeyError(flag)",
        "no ",
        "Holds.requires, server.py:8: raised KeyError, which is a no",
        id="raises",
    ),
    pytest.param(
        "def requires(self, flag): return 'yes'",
        "no ",
        "Holds.requires, server.py:8: answered a str, which is a no",
        id="no bool",
    ),
    pytest.param(
        "def decide(self, asked): raise KeyError",
        "no ",
        "Holds.decide, server.py:8: raised KeyError, which is a no",
        id="decide raises",
    ),
]


@pytest.mark.parametrize(("method", "answer", "said"), CONTEXTS)
def test_the_method_that_answers_is_named_with_its_place(
    method: str, answer: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(f"\nclass Holds:\n    {method}\n", clerk="Holds", boss="Holds")
    place = Path("server.py").read_text(encoding="utf-8").splitlines().index("class Holds:") + 2
    told = explained(capsys, "--field", "word")
    assert f'  {answer}  requires("boss")\n         asked   {said.replace(":8", f":{place}")}\n' in told


@pytest.mark.parametrize(
    ("missing", "answer", "said"),
    [
        ("allow", True, 'nobody: there is no Holds.audited, and it is skipped, as missing_predicate="allow" says'),
        ("deny", False, 'nobody: there is no Holds.audited, and that is a no, as missing_predicate="deny" says'),
        ("error", False, 'nobody: there is no Holds.audited, and that is a no, as missing_predicate="error" says'),
    ],
)
def test_a_predicate_that_no_context_has_is_decided_by_the_settings(
    missing: str, answer: bool, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(gates='gates=[("audited", None)]', options=f', missing_predicate="{missing}"')
    (one,) = asked(capsys)
    assert (one["predicate"], one["answer"], one["asked"]) == ("audited(null)", answer, {"of": said, "at": None})


def test_an_answer_that_does_not_come_is_a_no_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    never = "import asyncio\nclass Holds:\n    async def requires(self, flag): await asyncio.Event().wait()\n"
    write(never, clerk="Holds", boss="Holds", gates='gates=[("requires", "boss")]', options=", predicate_timeout=0.01")
    (one,) = asked(capsys)
    assert (one["answer"], one["failure"]) == (False, "no answer within 0.01 s")


def test_an_authorization_is_asked_of_the_user_and_else_of_requires(capsys: pytest.CaptureFixture[str]) -> None:
    write(gates='authorization="boss"')
    (one,) = asked(capsys)
    assert (one["predicate"], one["asked"]["of"]) == ('current_user.can("boss")', "Holds.requires")
    write("class Holds:\n    current_user = None", boss="Holds", gates='authorization="boss"')
    (one,) = asked(capsys)
    assert (one["answer"], one["asked"]["of"]) == (False, "nobody: Holds.current_user is None")
    write("", clerk="lambda: None", boss="object", gates='authorization="boss"')
    (one,) = asked(capsys)
    assert (one["answer"], one["asked"]["of"]) == (False, "nobody: there is no server context")
    (one,) = asked(capsys, persona="boss")
    assert one["asked"]["of"] == "nobody: object has neither requires nor a current_user with can"


def test_a_tool_may_be_hidden_though_every_gate_says_yes(capsys: pytest.CaptureFixture[str]) -> None:
    write(output="@rbs type a = { a: Integer }\n    @rbs type output = a @requires(:boss)")
    assert explained(capsys).splitlines()[:2] == [
        "find is hidden from clerk.",
        "  Guards have taken the whole output that there would be, and a tool without one is not shown.",
    ]
    assert explained(capsys, "--field", "limit").splitlines()[1] == (
        "  Guards have taken the whole output that there would be, and a tool without one is not shown."
    )
    assert explained(capsys, "--domain", "admin").splitlines()[1] == "  It is in the domain default, not in admin."


def test_an_input_is_found_by_the_name_that_it_is_listed_by_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("server.py").write_text(RENAMED, encoding="utf-8")
    at = line_of("#: (")
    for name in "q", "word":
        told = explained(capsys, "--field", name, persona="guest", tool="seek")
        assert told.startswith(
            f"seek.q (input) is shown to guest.\n  Nothing guards it.\n  declared at server.py:{at}\n"
        )
    told = explained(capsys, "--field", "limit", persona="guest", tool="seek")
    assert told.startswith("seek.limit (input) is hidden from guest.\n  A ToolTransform hides it from everybody.\n")


def test_a_tool_that_nothing_guards_is_said_to_be_so(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert explained(capsys) == (
        "find is shown to clerk.\n"
        "  Nothing guards it.\n"
        f"  declared at server.py:{line_of('@authz.tool')}\n"
        "It is shown to boss too.\n"
    )


def test_a_plain_tool_is_everybodys_with_all_that_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert explained(capsys, tool="ping") == "ping is shown to clerk.\nIt is everybody's: no authorized_tool.\n"
    told = json.loads(explained(capsys, "--field", "host", "--json", tool="ping"))
    (one,) = told["explanations"]
    assert (one["thing"], one["side"], one["everybodys"]) == ("ping.host", "input", True)
    assert (one["shown"], one["also_shown_to"]) == (True, ["boss"])


def test_a_decorated_tool_that_nobody_protects_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    source = Path("server.py").read_text(encoding="utf-8")
    mounting = """
bare, outer = FastMCP("bare"), FastMCP("outer")
outer.mount(mcp)
outer.mount(bare)

@bare.tool
@authorized_tool
def sweep() -> dict:
    \"\"\"@rbs type output = { n: Integer }\"\"\"
    return {}
"""
    Path("server.py").write_text(source + mounting, encoding="utf-8")
    assert run(["explain", "server.py:outer", "--as", "clerk", "--tool", "sweep"]) == 0
    assert capsys.readouterr().out == (
        "sweep is hidden from clerk.\n"
        "  No Authz protects the server that it is on, so every call is refused.\n"
        f"  declared at server.py:{line_of('@bare.tool')}\n"
        "It would be shown to no persona.\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tool", "fund"], "There is no tool 'fund'. Did you mean find?"),
        (["--tool", "find", "--field", "wrd"], "find has no field 'wrd'. Did you mean word?"),
        (
            ["--tool", "find", "--field", "net"],
            "find has several fields 'net'. Write one of rows[].net, total.net.",
        ),
        (
            ["--tool", "find", "--field", "zzz"],
            "find has no field 'zzz'. There are: word, limit, rows, rows[].pay, rows[].net, total, total.net.",
        ),
        (["--tool", "ping", "--field", "hots"], "ping has no field 'hots'. Did you mean host?"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(output="@rbs type output = { rows: Array[{ pay: Integer, net: Integer }], total: { net: Integer } }")
    assert run(["explain", "server.py", "--as", "clerk", *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {said}\n")


def test_a_last_name_that_only_one_field_has_will_do(capsys: pytest.CaptureFixture[str]) -> None:
    write(output="@rbs type output = { rows: Array[{ pay: Integer, word: Integer }] }")
    assert run(["explain", "server.py", "--as", "clerk", "--tool", "find", "--field", "pay"]) == 0
    assert capsys.readouterr().out.startswith("find.rows[].pay (output) is shown to clerk.")
    assert run(["explain", "server.py", "--as", "clerk", "--tool", "find", "--field", "word"]) == 0
    assert "rows" not in capsys.readouterr().out  # a name at the top is meant before one further in
