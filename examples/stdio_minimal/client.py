"""Starts the server as each of its users, and asks it: `python examples/stdio_minimal/client.py`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

SERVER = str(Path(__file__).with_name("server.py"))


async def main() -> None:
    for user in "ann", "bob":
        run = ["-m", "fastmcp.cli", "run", SERVER, "--no-banner", "--log-level", "ERROR"]
        async with Client(StdioTransport(sys.executable, run, env={"NOTES_USER": user})) as client:
            print(f"{user} has", *[tool.name for tool in await client.list_tools()])
            print(f"{user} finds", (await client.call_tool("find_notes", {"word": "plan"})).structured_content)


if __name__ == "__main__":
    asyncio.run(main())
