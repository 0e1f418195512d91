"""The commands of the examples' READMEs, run from the root of the project as a reader would run them."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.cli.cli import app as fastmcp

from fastmcp_authz.commands.app import run
from tests.recruiting import text

ROOT = Path(__file__).parents[2]
MODES = ["auto", "legacy"]
PROGRAMS = {"fastmcp": ["-m", "fastmcp.cli"], "python": []}


def commands(example: str) -> list[str]:
    """The lines of the blocks of shell in an example's README, which is no longer than a screen."""
    readme = (ROOT / "examples" / example / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 50
    for path in re.findall(r"\]\(([^)]+)\)", readme):
        assert (ROOT / "examples" / example / path).exists(), path
    return [line for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) for line in block.splitlines()]


def started(command: str) -> subprocess.Popen[str]:
    """A command of a README, `NAME=value fastmcp ...`, running."""
    words = shlex.split(command)
    names = [word for word in words if re.match(r"[A-Z_]+=", word)]
    program, *arguments = words[len(names) :]
    environment = {**os.environ, **dict(name.split("=", 1) for name in names), "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        [sys.executable, *PROGRAMS[program], *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def printed(command: str) -> str:
    """What a command of a README prints; it has to end well."""
    with started(command) as process:
        said, log = process.communicate()
    assert process.returncode == 0, log
    return said


def shown(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The same of a command `fastmcp-authz ...`, in this process."""
    program, *arguments = shlex.split(command)
    assert program == "fastmcp-authz"
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert run(arguments) == 0
    return capsys.readouterr().out


async def asked(command: str, url: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The same of a command `fastmcp ...` that asks the server of the README, which is at `url` here."""
    program, *arguments = shlex.split(command.replace("http://127.0.0.1:8000/mcp", url))
    assert program == "fastmcp"

    def ask() -> object:
        try:
            fastmcp(arguments)
        except SystemExit as end:
            return end.code
        return None

    assert await asyncio.to_thread(ask) in (None, 0)
    return capsys.readouterr().out


@asynccontextmanager
async def serving(command: str) -> AsyncIterator[str]:
    """A command `fastmcp run ... --transport http`, running on a port of its own; its URL."""
    assert "--transport http" in command
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with started(f"{command} --port {port} --no-banner --log-level ERROR") as process:
        try:
            while process.poll() is None:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    break
            assert process.returncode is None, process.communicate()[1]
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


async def inputs(client: Client[Any]) -> dict[str, list[str]]:
    """The tools that are listed, with their inputs."""
    return {tool.name: list(tool.input_schema["properties"]) for tool in await client.list_tools()}


async def called(client: Client[Any], name: str, /, **arguments: Any) -> Any:
    """What a tool answers: its result, or the text of its refusal."""
    result = await client.call_tool_mcp(name, arguments)
    return text(result) if result.is_error else result.structured_content
