"""`fastmcp-authz inspect`: the server in the MCP Inspector, as a persona."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess

from fastmcp_authz.commands.explain import ThePersona
from fastmcp_authz.commands.launching import Environment, Launch, advice, launch
from fastmcp_authz.commands.loading import AsJson, CannotRunError, ServerSpec
from fastmcp_authz.commands.terminal import FINE, print_json, warn


def inspect(server: ServerSpec, /, *, persona: ThePersona, env: Environment = None, as_json: AsJson = False) -> int:
    """Start the MCP Inspector and, with it, the server as a persona. With --json: print how, and start nothing."""
    launched = asyncio.run(launch(server, persona, env))
    if launched.doubt is not None:
        warn(advice(launched, persona))
    if as_json:
        print_json({"command": ["npx", *_arguments(launched)], "served_as_persona": launched.doubt is None})
        return FINE
    npx = shutil.which("npx")
    if npx is None:
        raise CannotRunError(
            "The MCP Inspector is started with npx, which is not on the PATH. Install Node.js (https://nodejs.org), "
            "or use the server from another client: fastmcp-authz config says how."
        )
    with contextlib.suppress(KeyboardInterrupt):  # that is how one leaves it
        ended = subprocess.run([npx, *_arguments(launched)], check=False)
        if ended.returncode != 0:
            raise CannotRunError(f"The MCP Inspector ended with exit status {ended.returncode}.")
    return FINE


def _arguments(launched: Launch) -> list[str]:
    """What npx is given. The Inspector passes on to a server what `-e` says, and little of its own environment."""
    variables = [word for name, value in launched.environment.items() for word in ("-e", f"{name}={value}")]
    return ["@modelcontextprotocol/inspector", *variables, "--", launched.command, *launched.arguments]
