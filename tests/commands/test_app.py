"""What all commands have in common: their exit status, and an answer that nobody reads to its end."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fastmcp_authz.commands.app import app, run


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_exit_status_is_what_the_command_returns(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(app), "__call__", lambda *_, **__: status)
    assert run([]) == status


def test_help_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "explain" in capsys.readouterr().out


@pytest.mark.parametrize("options", [["show"], ["show", "--json"], ["page", "--json"]])
def test_a_reader_who_leaves_early_is_told_nothing(options: list[str]) -> None:
    command, *rest = options
    argv = [sys.executable, "-W", "ignore", "-m", "fastmcp_authz.commands.app", command]
    with subprocess.Popen(
        [*argv, "examples/recruiting/server.py", *rest], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()  # as `| head` does, before anything is written
        assert running.stderr.read() == b""
    assert running.returncode == 141


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (["show"], "parameter SERVER requires an argument"),
        (["diff", "old.snapshot"], "parameter NEW requires an argument"),
        (["show", "server.py", "--persona", "ann"], "error: Unknown option: --persona. Did you mean --as?"),
        (["explain", "server.py", "--persona=ann"], "error: Unknown option: --persona. Did you mean --as?"),
        (["show", "server.py", "--tol", "find"], "error: Unknown option: --tol. Did you mean --tool?"),
        (["shw"], "error: "),
    ],
)
def test_a_command_line_that_is_wrong_is_told_in_its_own_words(
    tokens: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tokens) == 2
    out, err = capsys.readouterr()
    # cyclopts 4 has its quotes around names, 5 has none
    assert (out, said in err.replace('"', ""), "--server" in err) == ("", True, False), err
