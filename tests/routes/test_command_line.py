"""`fastmcp inspect` and `fastmcp list` on the file of a server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.routes.office import MANAGER, TO_MANAGER, TO_NOBODY, Shown
from tests.routes.reaches import STDIO_SERVER
from tests.routes.rows import assert_clean
from tests.routes.sessions import properties

FILE = (str(STDIO_SERVER),)
"""Started with no more of the environment than FastMCP passes on: nobody calls."""
AS_MANAGER = ("--command", f"env ROUTES_CALLER={MANAGER} {sys.executable} {STDIO_SERVER}")


async def fastmcp(*command: str) -> str:
    """What the command writes to standard output."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # where it finds itself
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "fastmcp.cli", *command),
        env={**os.environ, "PATH": path},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    return out.decode()


def shown(out: str, inputs: str, outputs: str) -> Shown:
    tools: list[dict[str, Any]] = json.loads(out)["tools"]
    return {tool["name"]: (properties(tool.get(inputs)), properties(tool.get(outputs))) for tool in tools}


async def test_inspecting_shows_what_is_for_everyone() -> None:
    ours, mcp = await asyncio.gather(
        fastmcp("inspect", *FILE, "--format", "fastmcp"),
        fastmcp("inspect", *FILE, "--format", "mcp"),
    )
    assert_clean([ours, mcp])
    assert shown(ours, "input_schema", "output_schema") == TO_NOBODY
    assert shown(mcp, "inputSchema", "outputSchema") == TO_NOBODY


async def test_the_command_line_is_a_caller_like_any_other() -> None:
    everyones, managers = await asyncio.gather(
        fastmcp("list", *FILE, "--json"),
        fastmcp("list", *AS_MANAGER, "--json"),
    )
    assert_clean([everyones])
    assert shown(everyones, "inputSchema", "outputSchema") == TO_NOBODY
    assert shown(managers, "inputSchema", "outputSchema") == TO_MANAGER
