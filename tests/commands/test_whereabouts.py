"""`fastmcp-authz explain --field` over all tools and personas: who sees an e-mail address, anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastmcp_authz.commands.app import run

SERVER = '''
from fastmcp import FastMCP
from fastmcp_authz import Authz, authorized_tool
from fastmcp_authz.testing import FakeContext

PERSONAS = {"clerk": lambda: FakeContext(can=["read"]), "boss": lambda: FakeContext(can=["read", "pii"])}
mcp, mail, old = FastMCP("office"), FastMCP("mail"), FastMCP("old")
authz = Authz(mcp, context=lambda request: None, personas=PERSONAS)

@authz.tool(authorization="read")
def find(work_email: str = "") -> dict:
    """
    @rbs type person = { name: String, ?contact: { ?email: String @requires(:pii) } }
    @rbs type found = { people: Array[person] }
    @rbs type nobody = { nearest: String @desc(His e-mail), kind: "email" | "phone" }
    @rbs type output = found | nobody
    #: (?work_email: String) -> output
    """
    return {}

@mail.tool
@authorized_tool(authorization="pii")
def send() -> dict:
    """
    @rbs type address = String @format(email)
    @rbs type output = { to: Array[address], extra: untyped @requires(:boss) }
    """
    return {}

@authz.tool(domains=["desk"], content="passthrough")
def ring() -> dict:
    """
    @rbs type output = { rings: Integer }
    """
    return {}

@old.tool
def search(email: str) -> dict:
    return {}

mcp.mount(mail, namespace="mail")
mcp.mount(old)
'''


@pytest.fixture(autouse=True)
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("server.py").write_text(SERVER, encoding="utf-8")


def test_every_place_of_every_tool_with_who_sees_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "server.py", "--field", "email"]) == 0
    assert capsys.readouterr().out == (
        'find in work_email                       all   current_user.can("read")\n'
        'find out <found>.people[].contact.email  boss  current_user.can("read"), requires("pii")\n'
        'find out <nobody>.nearest                all   current_user.can("read")\n'
        'mail_send out to                         boss  current_user.can("pii")\n'
        "search in email                          all   open\n"
        "\n"
        "These hold anything, and so what is called 'email' too, if their functions return it:\n"
        "ring content *                           all   open\n"
        'mail_send out extra.*                    none  current_user.can("pii"), requires("boss")\n'
        "search out *                             all   open\n"
        "\n"
        "clerk sees 1 of 3 outputs, 2 of 2 inputs, and 2 of 3 that hold anything.\n"
        "boss sees 3 of 3 outputs, 2 of 2 inputs, and 2 of 3 that hold anything.\n"
    )


def test_one_persona_in_all_tools_or_all_personas_in_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "server.py", "--field", "e_mail", "--as", "clerk", "--domain", "default", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["field"], told["personas"]) == ("e_mail", ["clerk"])
    assert {each["tool"] for each in told["found"]} == {"find", "mail_send", "search"}
    assert told["found"][1] == {
        "tool": "find",
        "side": "out",
        "path": "<found>.people[].contact.email",
        "anything": False,
        "guards": ['current_user.can("read")', 'requires("pii")'],
        "seen_by": [],
    }
    assert run(["explain", "server.py", "--field", "people.contact.email", "--tool", "find", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["found"]
    assert one["seen_by"] == ["boss"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--field", "emial"], "Nothing is called 'emial'. Did you mean email?"),
        (["--field", ""], "Nothing is called ''."),
        (["--field", "_"], "Nothing is called '_'."),
        (["--field", "email", "--domain", "dekc"], "No tool is in the domain 'dekc'. Did you mean desk?"),
        (["--field", "email", "--as", "clrk"], "There is no persona 'clrk'."),
        (["--field", "email", "--tool", "fnd"], "There is no tool 'fnd'. Did you mean find?"),
        (["--as", "clerk"], "Give --as and --tool, or --field"),
        ([], "Give --as and --tool, or --field"),
    ],
)
def test_a_slip_is_no_empty_answer(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "server.py", *options]) == 2
    printed = capsys.readouterr()
    assert (printed.out, said in printed.err) == ("", True), printed.err


def test_without_personas_it_is_nobody_and_everything(capsys: pytest.CaptureFixture[str]) -> None:
    Path("server.py").write_text(SERVER.replace(", personas=PERSONAS", ""), encoding="utf-8")
    assert run(["explain", "server.py", "--field", "people.contact.email"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("find out <found>.people[].contact.email  everything  ")
    assert "No personas are declared." in told


def test_what_nobody_protects_nobody_sees(capsys: pytest.CaptureFixture[str]) -> None:
    lone = SERVER.replace("authz = Authz(mcp", "authz = Authz(FastMCP('other')")
    Path("server.py").write_text(lone, encoding="utf-8")
    assert run(["explain", "server.py", "--field", "to", "--tool", "mail_send"]) == 0
    assert 'mail_send out to       none  current_user.can("pii"), nobody\n' in capsys.readouterr().out


def test_fastmcps_own_auth_is_told_as_a_guard(capsys: pytest.CaptureFixture[str]) -> None:
    guarded = SERVER.replace("@old.tool\n", "@old.tool(auth=require_scopes('root'))\n")
    source = f"from fastmcp.server.auth import require_scopes\n{guarded}"
    Path("server.py").write_text(source, encoding="utf-8")
    assert run(["explain", "server.py", "--field", "email", "--tool", "search"]) == 0
    assert capsys.readouterr().out.startswith('search in email  all  fastmcp_auth("RequireScopes root")\n')
