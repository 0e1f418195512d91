"""The smallest gated server, over stdio: who starts it is who calls."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.utilities.mcp_server_config.v1.sources.filesystem import FileSystemSource

from tests.examples.readmes import MODES, ROOT, called, commands, inputs, printed, shown

SERVER = ROOT / "examples" / "stdio_minimal" / "server.py"
README = SERVER.with_name("README.md").read_text(encoding="utf-8")
PLAN = {"title": "Plan", "text": "Ship on Friday."}


@asynccontextmanager
async def started_by(environment: dict[str, str], mode: str, log: Path) -> AsyncIterator[Client[Any]]:
    command = ["-m", "fastmcp.cli", "run", str(SERVER), "--no-banner"]
    transport = StdioTransport(sys.executable, command, env=environment, keep_alive=False, log_file=log)
    async with Client(transport, mode=mode) as client:
        yield client


@pytest.mark.parametrize("mode", MODES)
async def test_two_people_have_two_servers(mode: str, tmp_path: Path) -> None:
    async with started_by({"NOTES_USER": "ann"}, mode, tmp_path / "log") as ann:
        assert await inputs(ann) == {"find_notes": ["word"], "add_note": ["title", "text"]}
        assert await called(ann, "find_notes", word="plan") == {"notes": [{**PLAN, "author": "carol@example.org"}]}
        assert await called(ann, "add_note", title="Party", text="On Saturday.") == {"notes": 2}
    async with started_by({"NOTES_USER": "bob"}, mode, tmp_path / "log") as bob:
        assert await inputs(bob) == {"find_notes": ["word"]}
        assert await called(bob, "find_notes") == {"notes": [PLAN]}
        assert await called(bob, "add_note", title="Party", text="On Saturday.") == "Unknown tool: 'add_note'"


async def test_nobody_sees_nothing_and_a_name_is_no_use_to_those_who_did_not_start_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = await FileSystemSource(path=str(SERVER)).load_server()
    monkeypatch.setenv("NOTES_USER", "ann")
    async with Client(server) as somebody:  # in memory, so not by stdio
        assert await inputs(somebody) == {}
        assert await called(somebody, "find_notes") == "Unknown tool: 'find_notes'"


def test_the_commands_of_its_readme(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    show, ask = commands("stdio_minimal")
    table = shown(show, monkeypatch, capsys)
    assert "ann" in table
    assert "add_note" in table
    assert f"```text\n{printed(ask)}```" in README


def test_the_configuration_in_its_readme_starts_this_server() -> None:
    (block,) = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    (server,) = json.loads(block)["mcpServers"].values()
    assert server["args"][1].endswith(str(SERVER.relative_to(ROOT)))
    assert list(server["env"]) == ["NOTES_USER"]
