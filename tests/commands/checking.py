"""Servers that are written to files and checked."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from fastmcp_authz.commands.app import run

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


OUTPUT = "@rbs type output = { id: Integer }"
