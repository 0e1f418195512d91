"""`snapshot` and `diff`: a change of declarations is told as who gains or loses what, and by the exit status."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fastmcp_authz.commands.app import run
from tests.recruiting import SERVER as RECRUITING

SERVER = '''
from fastmcp import FastMCP
from fastmcp_authz import Authz


class Caller:
    def __init__(self, *flags):
        self.flags = flags

    def requires(self, flag):
        return flag in self.flags

    def feature(self, flag):
        return flag in self.flags


mcp = FastMCP("notes")
authz = Authz(
    mcp,
    context=lambda request: None,
    personas={"viewer": lambda: Caller("read"), "manager": lambda: Caller("read", "admin", "pii", "sms")},
)


@authz.tool(authorization="read")
def find(word: str, deleted: bool = False) -> dict:
    """Find notes.

    @rbs type note = {
      title: String,
      kind: "draft" | ("secret" @requires(:admin)),
      ?author: { name: String, email: String @requires(:pii) },
      ?phone: String? @requires(:pii)
    }
    @rbs type failure = { success: false, message: String }
    @rbs type found = { success: true, notes: Array[note] }
    @rbs type output = found @requires(:read) | failure
    #: (word: String, ?deleted: bool @requires(:admin)) -> output
    """


@authz.tool(authorization="admin", gates=[("feature", "sms")])
def send(text: str) -> dict:
    """Send.

    @rbs type output = { sent: Integer }
    #: (text: String) -> output
    """


@mcp.tool
def health() -> dict:
    """Whether it runs."""
'''


def written(folder: Path, *edits: tuple[str, str]) -> str:
    source = SERVER
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    file = folder / "server.py"
    file.write_text(source, encoding="utf-8")
    return str(file)


def lines(folder: Path) -> list[str]:
    return [line for line in (folder / "authz.snapshot").read_text(encoding="utf-8").splitlines() if line[:1] != "#"]


@pytest.fixture
def recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run(["snapshot", written(tmp_path)]) == 0
    capsys.readouterr()
    return tmp_path


def test_a_snapshot_has_a_line_for_each_tool_and_each_part_of_it(recorded: Path) -> None:
    assert [line for line in lines(recorded) if line] == [
        "Authz missing_predicate: allow",
        "find: current_user.can(\"read\")",
        "find in deleted: requires(\"admin\")",
        "find in word: open",
        "find out <failure>: open",
        "find out <failure>.message: open",
        "find out <failure>.success: open",
        "find out <found>: requires(\"read\")",
        "find out <found>.notes: open",
        "find out <found>.notes[].author: open",
        "find out <found>.notes[].author.email: requires(\"pii\")",
        "find out <found>.notes[].author.name: open",
        "find out <found>.notes[].kind: open",
        "find out <found>.notes[].kind<\"draft\">: open",
        "find out <found>.notes[].kind<\"secret\">: requires(\"admin\")",
        "find out <found>.notes[].phone: requires(\"pii\")",
        "find out <found>.notes[].title: open",
        "find out <found>.success: open",
        "health: open",
        "health in *: open",
        "health out *: open",
        "send: current_user.can(\"admin\"), feature(\"sms\")",
        "send in text: open",
        "send out sent: open",
    ]  # fmt: skip


def test_it_says_how_it_was_written_and_nothing_of_the_machine(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (recorded / "authz.snapshot").read_text(encoding="utf-8")
    assert text.startswith("# fastmcp-authz snapshot, format 1\n")
    assert "# Written, from this folder, by: fastmcp-authz snapshot server.py\n" in text
    assert str(recorded) not in text
    monkeypatch.chdir(recorded)
    assert run(["snapshot", "server.py:mcp", "--output", "again.txt"]) == 0
    again = (recorded / "again.txt").read_text(encoding="utf-8")
    assert "by: fastmcp-authz snapshot server.py:mcp --output again.txt\n" in again
    assert again.split("\n\n", 1)[1] == text.split("\n\n", 1)[1]
    assert run(["snapshot", "server.py"]) == 0
    assert (recorded / "authz.snapshot").read_text(encoding="utf-8") == text


NEW_TOOL = '''@authz.tool(authorization="admin")
def drop() -> dict:
    """@rbs type output = { dropped: Integer, ?ids: String @requires(:pii) }"""


'''

PLANTED = [
    (
        "a removed gate",
        ('"admin", gates=[("feature", "sms")]', '"admin"'),
        """
⚠ opened    send
            current_user.can("admin"), feature("sms") → current_user.can("admin")
            and so 2 parts of it
1 opened. Somebody may see more by 1 of them (⚠).
""",
    ),
    (
        "a removed guard",
        ("?deleted: bool @requires(:admin)", "?deleted: bool"),
        """
⚠ opened    find in deleted
            requires("admin") → everyone who sees find
            now also seen by: viewer
1 opened. Somebody may see more by 1 of them (⚠).
""",
    ),
    (
        "another flag",
        ("?deleted: bool @requires(:admin)", "?deleted: bool @requires(:read)"),
        """
⚠ changed   find in deleted
            requires("admin") → requires("read")
            now also seen by: viewer
1 changed. Somebody may see more by 1 of them (⚠).
""",
    ),
    (
        "an opened member of a union",
        ('("secret" @requires(:admin))', '"secret"'),
        """
⚠ opened    find out <found>.notes[].kind<"secret">
            requires("admin") → everyone who sees find out <found>.notes[].kind
            now also seen by: viewer
1 opened. Somebody may see more by 1 of them (⚠).
""",
    ),
    (
        "a new open field",
        ("      title: String,", "      title: String,\n      path: String,"),
        """
⚠ new       find out <found>.notes[].path
            everyone who sees find out <found>.notes
            seen by: viewer, manager
1 new. Somebody may see more by 1 of them (⚠).
""",
    ),
    (
        "a new guarded field",
        ("      title: String,", "      title: String,\n      path: String @requires(:admin),"),
        """
  new       find out <found>.notes[].path
            requires("admin")
            seen by: manager
1 new. Nobody sees more of what was there.
""",
    ),
    (
        "another guard beside the first",
        ("?deleted: bool @requires(:admin)", "?deleted: bool @requires(:admin) @feature(:nowhere)"),
        """
  narrowed  find in deleted
            requires("admin") → feature("nowhere"), requires("admin")
            no longer seen by: manager
1 narrowed. Nobody sees more of what was there.
""",
    ),
    (
        "a field that is gone",
        ("      title: String,\n", ""),
        """
  gone      find out <found>.notes[].title
            everyone who sees find out <found>.notes → gone
            was seen by: viewer, manager
1 gone. Nobody sees more of what was there.
""",
    ),
    (
        "a guard moved from the parts to the whole tool",
        (
            '"admin", gates=[("feature", "sms")]', '"admin"',
            "{ sent: Integer }", "{ sent: Integer @feature(:sms) }",
            "(text: String)", "(?text: String @feature(:sms))",
            "send(text: str)", "send(text: str = '')",
        ),
        """
⚠ opened    send
            current_user.can("admin"), feature("sms") → current_user.can("admin")
1 opened. Somebody may see more by 1 of them (⚠).
""",
    ),
    (
        "a gated part that is open to anything now",
        ("{ name: String, email: String @requires(:pii) }", "untyped"),
        """
⚠ new       find out <found>.notes[].author.*
            everyone who sees find out <found>.notes[].author
            seen by: viewer, manager
⚠ opened    find out <found>.notes[].author.email
            requires("pii") → everyone who sees find out <found>.notes[].author.*
            it is, or may be, part of find out <found>.notes[].author.* now
            now also seen by: viewer
1 opened, 1 new. Somebody may see more by 2 of them (⚠).
""",
    ),
    (
        "an authorized tool that is a plain one now",
        ('@authz.tool(authorization="admin", gates=[("feature", "sms")])', "@mcp.tool"),
        """
⚠ opened    send
            current_user.can("admin"), feature("sms") → everyone
            and so 2 parts of it
            now also seen by: viewer
⚠ new       send in *
            everyone
            seen by: viewer, manager
⚠ new       send out *
            everyone
            seen by: viewer, manager
1 opened, 2 new. Somebody may see more by 3 of them (⚠).
""",
    ),
    (
        "a new tool",
        ("@mcp.tool\n", NEW_TOOL + "@mcp.tool\n"),
        """
  new       drop
            current_user.can("admin")
            and so 1 part of it
            seen by: manager
  new       drop out ids
            requires("pii")
            seen by: manager
2 new. Nobody sees more of what was there.
""",
    ),
    (
        "other domains",
        ('@authz.tool(authorization="read")', '@authz.tool(authorization="read", domains=["staff"])'),
        """
⚠ changed   find domains
            the default one → staff
1 changed. Somebody may see more by 1 of them (⚠).
""",
    ),
    (
        "content that is not pruned",
        ('@authz.tool(authorization="read")', '@authz.tool(authorization="read", content="passthrough")'),
        """
⚠ new       find content *
            everyone who sees find
            seen by: viewer, manager
1 new. Somebody may see more by 1 of them (⚠).
""",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("edits", "expected"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED])
def test_a_change_is_told_with_whom_it_gives_or_takes_what(
    recorded: Path, capsys: pytest.CaptureFixture[str], edits: tuple[str, ...], expected: str
) -> None:
    before = (recorded / "authz.snapshot").read_text(encoding="utf-8")
    server = written(recorded, *zip(edits[::2], edits[1::2], strict=True))
    assert run(["snapshot", server, "--check"]) == 1
    printed = capsys.readouterr().out
    accept = f"If that is meant, run `fastmcp-authz snapshot {server}` and commit.\n"
    assert printed == expected.lstrip("\n") + accept
    assert (recorded / "authz.snapshot").read_text(encoding="utf-8") == before

    assert run(["snapshot", server]) == 0
    assert capsys.readouterr().out.endswith(f"Wrote {recorded / 'authz.snapshot'}.\n")
    assert run(["snapshot", server, "--check"]) == 0
    assert "Nothing has changed" in capsys.readouterr().out


AUTHOR = "{ name: String, email: String @requires(:pii) }"
DELETED = "?deleted: bool @requires(:admin)"
NO_CHANGE = {
    "another order": ('"draft" | ("secret" @requires(:admin))', '("secret" @requires(:admin)) | "draft"'),
    "an optional part": ("      title: String,", "      ?title: String,"),
    "a part that may be null": ("      title: String,", "      title: String?,"),
    "a record that may be null": (AUTHOR, f"{AUTHOR}?"),
    "another type": ("      title: String,", "      title: Integer,"),
    "another persona": ('Caller("read")', 'Caller("read", "admin")'),
    "another description": (DELETED, f"{DELETED} @desc(All)"),
    "a list instead of one": (AUTHOR, f"Array[{AUTHOR}]"),
}


@pytest.mark.parametrize("edit", NO_CHANGE.values(), ids=list(NO_CHANGE))
def test_what_makes_no_difference_to_who_sees_what_is_no_change(recorded: Path, edit: tuple[str, str]) -> None:
    assert run(["snapshot", written(recorded, edit), "--check"]) == 0


def test_a_guard_that_moves_from_all_parts_to_the_tool_narrows_the_tool_and_opens_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at_parts = [
        ('"admin", gates=[("feature", "sms")]', '"admin"'),
        ("{ sent: Integer }", "{ sent: Integer @feature(:sms) }"),
    ]
    assert run(["snapshot", written(tmp_path, *at_parts)]) == 0
    capsys.readouterr()
    assert run(["snapshot", written(tmp_path), "--check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(each["kind"], each["tool"], each["path"], each["follows"]) for each in found["changes"]] == [
        ("narrowed", "send", None, None),
        ("narrowed", "send", "text", "send"),
    ]
    assert found["warnings"] == 0


def test_nothing_to_compare_with_is_no_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = written(tmp_path)
    assert run(["snapshot", server, "--check"]) == 2
    assert f"Write it with `fastmcp-authz snapshot {server}`, and commit it." in capsys.readouterr().err
    assert not (tmp_path / "authz.snapshot").exists()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("# fastmcp-authz snapshot, format 1", "# something else", "its first line is not"),
        ("format 1", "format 2", "another version of fastmcp-authz wrote it: this one reads format 1"),
        ("find in word: open", "<<<<<<< HEAD\nfind in word: open", "line 11 is left over from a merge: <<<<<<< HEAD"),
        ("find in word: open", "find in word: opne", "line 11 is no line of a snapshot: find in word: opne"),
        ("find in word: open", 'find in word: open\nfind in word: requires("a")', "line 12 contradicts an earlier one"),
        ("find in word", "find\x1b[2J in word", r"line 11 is no line of a snapshot: find\u001b[2J in word: open"),
        ("find out <failure>: open\n", "", "none for find out <failure>, which that is in"),
        ('find: current_user.can("read")\n', "", "none for find, which that is in"),
    ],
)
def test_a_file_that_cannot_be_read_is_no_answer_and_is_written_anew(
    recorded: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, why: str
) -> None:
    file, server = recorded / "authz.snapshot", str(recorded / "server.py")
    good = file.read_text(encoding="utf-8")
    file.write_text(good.replace(old, new, 1), encoding="utf-8")
    assert run(["snapshot", server, "--check"]) == 2
    complaint = capsys.readouterr().err
    assert why in complaint
    assert f"Write it anew with `fastmcp-authz snapshot {server}`." in complaint
    assert run(["snapshot", server]) == 0
    assert file.read_text(encoding="utf-8") == good


def test_lines_may_stand_in_any_order_and_twice_as_merges_leave_them(recorded: Path) -> None:
    file = recorded / "authz.snapshot"
    head, *blocks = file.read_text(encoding="utf-8").split("\n\n")
    shuffled = [line for block in reversed(blocks) for line in reversed(block.strip().splitlines())]
    file.write_text("\r\n".join([*head.splitlines(), *shuffled, shuffled[0], ""]), encoding="utf-8", newline="")
    assert run(["snapshot", str(recorded / "server.py"), "--check"]) == 0


def test_a_persona_that_cannot_be_made_is_complained_of_and_the_others_are_asked(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = written(
        recorded, ('lambda: Caller("read"),', "lambda: 1 / 0,"), ("bool @requires(:admin)", "bool @requires(:x)")
    )
    assert run(["snapshot", server, "--check"]) == 1
    printed = capsys.readouterr()
    assert "no longer seen by: manager" in printed.out
    assert "note: Making the persona 'viewer' failed with ZeroDivisionError" in printed.err


def test_json_has_every_change_and_nothing_else_is_printed(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = written(recorded, ('"admin", gates=[("feature", "sms")]', '"admin"'))
    assert run(["snapshot", server, "--check", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == (recorded / "authz.snapshot").as_posix()
    assert found["written"] is False
    assert found["counts"] == {"opened": 1, "changed": 0, "new": 0, "narrowed": 0, "gone": 0}
    assert found["changes"][0] == {
        "kind": "opened",
        "warning": True,
        "tool": "send",
        "side": None,
        "path": None,
        "before": ['current_user.can("admin")', 'feature("sms")'],
        "after": ['current_user.can("admin")'],
        "was": None,
        "follows": None,
        "gained": [],
        "lost": [],
    }
    assert [(each["path"], each["follows"]) for each in found["changes"][1:]] == [("text", "send"), ("sent", "send")]
    assert run(["snapshot", server, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] is True
    (recorded / "authz.snapshot").unlink()
    assert run(["snapshot", server, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["changes"] is None


def test_a_decorated_tool_that_nobody_protects_is_nobodys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = '''
from fastmcp import FastMCP
from fastmcp_authz import authorized_tool, Authz

mcp = FastMCP("x")

class Caller:
    def requires(self, flag):
        return True

@mcp.tool
@authorized_tool(authorization="read")
def find() -> dict:
    """@rbs type output = { n: Integer }"""
'''
    server = tmp_path / "server.py"
    server.write_text(source, encoding="utf-8")
    assert run(["snapshot", str(server)]) == 0
    assert 'find: current_user.can("read"), nobody' in lines(tmp_path)
    server.write_text(source + "\nAuthz(mcp, context=lambda _: None, personas={'ann': Caller})\n", encoding="utf-8")
    capsys.readouterr()
    assert run(["snapshot", str(server), "--check"]) == 1
    told = capsys.readouterr().out
    assert told.startswith("  new       Authz missing_predicate\n")
    assert "⚠ opened    find\n" in told
    assert "now also seen by: ann\n" in told


def test_older_versions_of_a_tool_have_lines_of_their_own(tmp_path: Path) -> None:
    tool = '''
@authz.tool(authorization="{flag}", version="{version}")
def drop() -> dict:
    """@rbs type output = {{ dropped: Integer }}"""


'''
    both = "".join(tool.format(flag=flag, version=version) for flag, version in (("old", "9"), ("new", "10")))
    assert run(["snapshot", written(tmp_path, ("@mcp.tool\n", both + "@mcp.tool\n"))]) == 0
    found = [line for line in lines(tmp_path) if line.startswith("drop") and "can" in line]
    assert found == ['drop: current_user.can("new")', 'drop@9: current_user.can("old")']


def test_what_cannot_be_seen_is_escaped(tmp_path: Path) -> None:
    server = written(tmp_path, ("?deleted: bool @requires(:admin)", '?deleted: bool @requires("a\u202eb")'))
    assert run(["snapshot", server]) == 0
    assert r'find in deleted: requires("a\u202eb")' in lines(tmp_path)
    assert run(["snapshot", server, "--check"]) == 0


def test_the_file_keeps_its_rights_and_a_failure_leaves_it_as_it_was(recorded: Path) -> None:
    file = recorded / "authz.snapshot"
    file.chmod(0o640)
    link = recorded / "link"
    link.symlink_to(file)
    server = written(recorded, ("      title: String,\n", ""))
    assert run(["snapshot", server, "--output", str(link)]) == 0
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert not any("title" in line for line in lines(recorded))
    assert sorted(each.name for each in recorded.iterdir() if each.suffix != ".pyc") == [
        *sorted(["authz.snapshot", "link", "server.py"]),
    ]
    assert run(["snapshot", server, "--output", str(recorded / "missing" / "x")]) == 2
    (recorded / "folder").mkdir()
    before = sorted(recorded.iterdir())
    assert run(["snapshot", server, "--output", str(recorded / "folder")]) == 2
    assert sorted(recorded.iterdir()) == before


def test_lines_end_where_the_terminal_does(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    server = written(recorded, ('"admin", gates=[("feature", "sms")]', '"admin", gates=[("feature", "other")]'))
    assert run(["snapshot", server, "--check"]) == 1
    printed = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert printed.startswith(
        """⚠ changed   send
            current_user.can("admin"), feature("sms") →
              current_user.can("admin"), feature("other")
"""
    )


# -- diff --------------------------------------------------------------------------------------------------------------


def two(folder: Path) -> tuple[str, str]:
    old, new = folder / "old.txt", folder / "new.txt"
    assert run(["snapshot", written(folder), "--output", str(old)]) == 0
    assert run(["snapshot", written(folder, ("bool @requires(:admin)", "bool")), "--output", str(new)]) == 0
    return str(old), str(new)


def test_diff_compares_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = two(tmp_path)
    capsys.readouterr()
    assert run(["diff", old, new]) == 1
    assert capsys.readouterr().out == (
        "⚠ opened    find in deleted\n"
        '            requires("admin") → everyone who sees find\n'
        "1 opened. Somebody may see more by 1 of them (⚠).\n"
    )
    assert run(["diff", new, old, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in found["changes"]] == ["narrowed"]
    assert run(["diff", new, new]) == 0
    assert capsys.readouterr().out == "Nothing has changed.\n"


@pytest.mark.parametrize("first", [True, False])
def test_diff_reads_one_side_from_standard_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    old, new = two(tmp_path)
    capsys.readouterr()
    monkeypatch.setattr(sys, "stdin", io.StringIO(Path(old if first else new).read_text(encoding="utf-8")))
    assert run(["diff", "-", new] if first else ["diff", old, "-"]) == 1
    assert "⚠ opened    find in deleted" in capsys.readouterr().out


def test_diff_says_what_it_cannot_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, _ = two(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for arguments, why in (
        ([old, str(tmp_path / "missing")], f"There is no {tmp_path / 'missing'}."),
        ([str(tmp_path / "bytes"), old], "it is no text in UTF-8"),
        ([str(tmp_path), old], "is no snapshot that can be read"),
        ([str(tmp_path / "server.py"), old], "its first line is not"),
        (["-", "-"], "not both"),
    ):
        assert run(["diff", *arguments]) == 2
        assert why in capsys.readouterr().err


# -- The example -------------------------------------------------------------------------------------------------------


def test_the_snapshot_of_the_example_is_current() -> None:
    assert run(["snapshot", str(RECRUITING), "--check"]) == 0


def test_in_a_process_of_its_own_it_is_the_same() -> None:
    command: list[Any] = [sys.executable, "-m", "fastmcp_authz.commands.app", "snapshot", RECRUITING, "--check"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == f"Nothing has changed: {RECRUITING.parent / 'authz.snapshot'} is current.\n"


PAGE = (Path(__file__).parents[2] / "docs" / "commands" / "snapshot.md").read_text(encoding="utf-8")
EDITS = {
    "server.py": [
        ("?stage_id: stage       @requires(:backward_routing) ", "?stage_id: stage       "),
        ('gates=[("feature", "sms")]', 'gates=[("feature", "sms"), ("requires", "bulk")]'),
    ],
    "sig/shared/applicant.rbs": [
        ("@format(email),", "@format(email)"),
        ("  ?phone: String    @requires(:view_pii)\n", ""),
    ],
}


def test_the_page_shows_what_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example = tmp_path / "examples" / "recruiting"
    shutil.copytree(RECRUITING.parent, example, ignore=shutil.ignore_patterns("authz.snapshot", "__pycache__"))
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```console\n\$ fastmcp-authz (.*?)\n(.*?)```", PAGE, re.DOTALL)
    assert run(first[0].split()) == 0
    assert capsys.readouterr().out == first[1]
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert f"\n\n{shown}\n" in (example / "authz.snapshot").read_text(encoding="utf-8")

    for name, edits in EDITS.items():
        text = (example / name).read_text(encoding="utf-8")
        for old, new in edits:
            assert text.count(old) == 1
            text = text.replace(old, new)
        (example / name).write_text(text, encoding="utf-8")
    assert run(second[0].split()) == 1
    assert capsys.readouterr().out == second[1]


def test_the_test_of_the_page_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert run(["snapshot", written(tmp_path)]) == 0
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "server", raising=False)
    scope: dict[str, Any] = {"__name__": "test_page"}
    try:
        exec(compile(source, "snapshot.md", "exec", dont_inherit=True), scope)
        scope["test_nobody_gained_anything"]()
    finally:
        sys.modules.pop("server", None)


BESIDE = """
from fastmcp import FastMCP
from fastmcp.server.auth import require_scopes
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools.tool_transform import ArgTransformConfig, ToolTransformConfig
from fastmcp_authz import Authz, authorized_tool, gate_check
from fastmcp_authz.testing import FakeContext

mcp, under = FastMCP("x"), FastMCP("under")
PERSONAS = {"ann": lambda: FakeContext(requires=["root"]), "bob": lambda: FakeContext()}
Authz(mcp, context=lambda _: None, personas=PERSONAS)

@mcp.tool(auth=require_scopes("root"))
@authorized_tool()
def find(word: str = "", limit: int | None = 3) -> dict:
    \"\"\"
    @rbs type output = { n: Integer }
    #: (?word: String, ?limit: Integer?) -> output
    \"\"\"

@under.tool(auth=[gate_check("requires", "root")])
def plain() -> str:
    return ""

mcp.mount(under)
HIDDEN = ArgTransformConfig(hide=True, default=1)
mcp.add_transform(ToolTransform({"find": ToolTransformConfig(arguments={"limit": HIDDEN})}))
mcp.disable(names={"find"})
"""


def test_what_fastmcp_keeps_from_callers_is_in_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = tmp_path / "server.py"
    server.write_text(BESIDE, encoding="utf-8")
    assert run(["snapshot", str(server)]) == 0
    assert list(filter(None, lines(tmp_path))) == [
        "Authz missing_predicate: allow",
        'find: fastmcp_auth("RequireScopes root"), nobody',
        "find in limit: nobody",
        "find in word: open",
        "find out n: open",
        'plain: requires("root")',
        "plain in *: open",
        "plain out *: open",
    ]
    capsys.readouterr()
    assert run(["snapshot", str(server), "--check"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("old", "told"),
    [
        (
            'mcp.disable(names={"find"})',
            "⚠ opened    find\n            "
            'fastmcp_auth("RequireScopes root"), nobody → fastmcp_auth("RequireScopes root")\n',
        ),
        (
            '(auth=require_scopes("root"))',
            '⚠ opened    find\n            fastmcp_auth("RequireScopes root"), nobody → nobody\n',
        ),
        (
            '(auth=[gate_check("requires", "root")])',
            '⚠ opened    plain\n            requires("root") → everyone\n            and so 2 parts of it\n'
            "            now also seen by: bob\n",
        ),
        (
            'root"))',
            "⚠ changed   find\n            "
            'fastmcp_auth("RequireScopes root"), nobody → fastmcp_auth("RequireScopes read"), nobody\n',
        ),
        ('arguments={"limit": HIDDEN}', "⚠ opened    find in limit\n            nobody → "),
    ],
)
def test_less_of_that_opens(old: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    enabled = BESIDE.replace("mcp.disable", "#") if "HIDDEN" in old else BESIDE
    server = tmp_path / "server.py"
    server.write_text(enabled, encoding="utf-8")
    assert run(["snapshot", str(server)]) == 0
    server.write_text(enabled.replace(old, 'read"))' if old == 'root"))' else ""), encoding="utf-8")
    capsys.readouterr()
    assert run(["snapshot", str(server), "--check"]) == 1
    assert told in capsys.readouterr().out


MOUNT = """
sub = FastMCP("sub")
Authz(sub, context=lambda request: None, missing_predicate="deny")
mcp.mount(sub, "sub")
unnamed = FastMCP()
inner = Authz(unnamed, context=lambda request: None, missing_predicate="error")
mcp.mount(unnamed)


@inner.tool(authorization="read")
def zoom() -> dict:
    '''@rbs type output = { id: Integer }'''


@mcp.tool
def health()"""
MOUNTED = ("\n@mcp.tool\ndef health()", MOUNT)
DENY = ("context=lambda request: None,", 'context=lambda request: None, missing_predicate="deny",')


def test_what_becomes_of_questions_without_an_answer_is_in_it_for_each_who_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["snapshot", written(tmp_path, MOUNTED)]) == 0
    assert lines(tmp_path)[1:5] == [
        "Authz missing_predicate: allow",
        "Authz of sub missing_predicate: deny",
        "Authz of zoom missing_predicate: error",
        "",
    ]
    assert run(["snapshot", str(tmp_path / "server.py"), "--check"]) == 0
    capsys.readouterr()
    lost = (MOUNTED[0], MOUNT.replace('Authz(sub, context=lambda request: None, missing_predicate="deny")\n', ""))
    assert run(["snapshot", written(tmp_path, lost), "--check"]) == 1
    assert "⚠ gone      Authz of sub missing_predicate\n" in capsys.readouterr().out


def test_skipping_questions_without_an_answer_is_told_with_those_that_nobody_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mute = ("def feature(", "def featured(")
    assert run(["snapshot", written(tmp_path, DENY, mute)]) == 0
    capsys.readouterr()
    assert run(["snapshot", written(tmp_path, mute), "--check"]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[:4] == [
        "⚠ opened    Authz missing_predicate",
        "            deny → allow",
        '            no persona\'s context answers, so that it keeps out nobody now: feature("sms")',
        "1 opened. Somebody may see more by 1 of them (⚠).",
    ]
    assert run(["snapshot", str(tmp_path / "server.py"), "--check", "--json"]) == 1
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert (change["side"], change["tool"], change["before"], change["after"]) == ("authz", None, ["deny"], ["allow"])
    assert change["unanswered"] == ['feature("sms")']
    assert run(["snapshot", str(tmp_path / "server.py")]) == 0
    capsys.readouterr()
    assert run(["snapshot", written(tmp_path, DENY, mute), "--check"]) == 1
    assert capsys.readouterr().out.startswith("  narrowed  Authz missing_predicate\n            allow → deny\n")


OTHER = '''
from fastmcp import FastMCP

mcp = FastMCP("other")


@mcp.tool
def other() -> dict:
    """Look."""
'''


def test_the_file_of_another_server_is_not_overwritten(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, other = recorded / "authz.snapshot", recorded / "other.py"
    good = file.read_text(encoding="utf-8")
    other.write_text(OTHER, encoding="utf-8")
    assert run(["snapshot", str(other)]) == 2
    assert "Say where this one goes: --output FILE." in (told := capsys.readouterr().err)
    assert "but find, health, send: it is that of another one" in told
    assert file.read_text(encoding="utf-8") == good
    assert run(["snapshot", str(other), "--output", str(file)]) == 0  # it is named
    assert "other: open" in lines(recorded)


def test_all_tools_of_a_server_may_have_other_names_at_once(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (recorded / "server.py").write_text(OTHER, encoding="utf-8")
    assert run(["snapshot", str(recorded / "server.py")]) == 0
    assert "other: open" in lines(recorded)
