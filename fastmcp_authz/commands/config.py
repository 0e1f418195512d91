"""`fastmcp-authz config`: what to write into a client's configuration, so that it starts the server as a persona."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Final, Literal, TypeAlias

from cyclopts import Parameter

from fastmcp_authz.commands.explain import ThePersona
from fastmcp_authz.commands.launching import Environment, Launch, advice, launch
from fastmcp_authz.commands.loading import AsJson, ServerSpec
from fastmcp_authz.commands.terminal import FINE, FOUND, console, print_json, warn

Client: TypeAlias = Literal["claude-desktop", "claude-code", "cursor", "vscode"]
ClientName: TypeAlias = Annotated[Client | None, Parameter(name="--client", help="One client; all by default")]

CLIENTS: Final[dict[Client, str]] = {
    "claude-desktop": "Claude Desktop, in claude_desktop_config.json (Settings, Developer, Edit Config)",
    "claude-code": "Claude Code, in a terminal",
    "cursor": "Cursor, in .cursor/mcp.json of a project, or in ~/.cursor/mcp.json",
    "vscode": "VS Code, in .vscode/mcp.json",
}
"""Where each client wants it."""


async def config(
    server: ServerSpec,
    /,
    *,
    persona: ThePersona,
    client: ClientName = None,
    env: Environment = None,
    as_json: AsJson = False,
) -> int:
    """Print the configuration with which a client starts the server over stdio, as a persona."""
    launched = await launch(server, persona, env)
    if as_json:
        told = {each: _for(each, launched) for each in CLIENTS}
        print_json(told if client is None else told[client])
    elif client is not None:
        _print(client, launched)
    else:
        for number, (each, title) in enumerate(CLIENTS.items()):
            console().print(f"{chr(10) if number else ''}[bold]{title}[/bold]")
            _print(each, launched)
    if launched.doubt is None:
        return FINE
    warn(advice(launched, persona))
    return FOUND


def _print(client: Client, launched: Launch) -> None:
    """Without colours or breaks: it is to be copied, or written to a file."""
    if client == "claude-code":
        console().out(shlex.join(_for_claude_code(launched)), highlight=False)
    else:
        print_json(_for(client, launched))


def _for(client: Client, launched: Launch) -> dict[str, Any]:
    if client == "claude-code":
        return {"command": _for_claude_code(launched)}
    server = {
        "command": launched.command,
        "args": list(launched.arguments),
        "env": dict(launched.environment),
    }
    if client == "claude-desktop":
        return {"mcpServers": {launched.name: server}}
    return {"servers" if client == "vscode" else "mcpServers": {launched.name: {"type": "stdio", **server}}}


def _for_claude_code(launched: Launch) -> list[str]:
    """The command. The name goes first: what stands between `--env` and `--` is taken for more variables."""
    variables = [word for name, value in launched.environment.items() for word in ("--env", f"{name}={value}")]
    return ["claude", "mcp", "add", launched.name, *variables, "--", launched.command, *launched.arguments]
