"""What the pages of the documentation show of commands, and what the commands print."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from fastmcp_authz.commands.app import run

ROOT = Path(__file__).parents[2]
COLUMNS = "100"


def examples(page: str) -> list[tuple[str, str]]:
    """The commands that a page shows, each with what it prints."""
    text = (ROOT / "docs" / "commands" / page).read_text(encoding="utf-8")
    found = re.findall(r"```console\n\$ fastmcp-authz (.*?)\n(.*?)```", text, re.DOTALL)
    assert found
    return [(command, printed) for command, printed in found]


def printed_by(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command prints at the root of the project, with the paths that pages have."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", COLUMNS)
    monkeypatch.setenv("RECRUITING_PUBLIC_KEY", "of nobody: no token is verified here")
    before = dict(os.environ)
    assert run(shlex.split(command)) == 0
    assert dict(os.environ) == before
    printed = capsys.readouterr().out
    return printed.replace(sys.executable, "/home/you/project/.venv/bin/python").replace(str(ROOT), "/home/you/project")
