"""Three people, one server, three worlds: `python examples/recruiting/demo.py`.

Starts the server over HTTP, connects as the viewer, the operator and the manager, and prints what each sees and gets.
Exit status 0 only if each of these came out as it should.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastmcp import Client
from fastmcp.server.auth.providers.jwt import RSAKeyPair
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from people import CALLERS
from tokens import token_for

SERVER = Path(__file__).with_name("server.py")

INPUTS = {
    "viewer": {
        "list_applicants": {"page", "per_page"},
        "search_applicants": {"name"},
    },
    "operator": {
        "list_applicants": {"page", "per_page", "query"},
        "search_applicants": {"name"},
        "advance_step": {"applicant_id", "workflow_id"},
    },
    "manager": {
        "list_applicants": {"page", "per_page", "query", "include_archived"},
        "search_applicants": {"name"},
        "advance_step": {"applicant_id", "workflow_id", "stage_id", "reason"},
        "bulk_send_sms": {"applicant_ids", "body"},
    },
}

REFUSAL = (
    "advance_step: Unknown parameters: reason, stage_id. Nothing was executed. Accepted parameters: applicant_id, "
    "workflow_id. If your task depends on a rejected parameter (for example filtering by it), do not re-run this call "
    "without it: the result would be unfiltered. Do not substitute another parameter to approximate it. Use a tool "
    "that supports it, or tell the user it is not possible."
)

Clients = dict[str, Client[Any]]
Tools = dict[str, Any]


def main() -> int:
    keys = RSAKeyPair.generate()
    with running_server(keys.public_key) as url:
        return asyncio.run(tour(url, {person: token_for(person, keys) for person in CALLERS}))


async def tour(url: str, tokens: dict[str, str]) -> int:
    """The whole demo; the exit status."""
    show = Show()
    async with AsyncExitStack() as stack:
        people = {person: await stack.enter_async_context(Client(url, auth=token)) for person, token in tokens.items()}
        await what_each_sees(people, show)
        await a_hidden_parameter(people, show)
        await personal_data(people, show)
        await a_hidden_tool(people, show)
    return show.verdict()


async def what_each_sees(people: Clients, show: Show) -> None:
    listed = {person: {tool.name: tool for tool in await client.list_tools()} for person, client in people.items()}
    show.title("What each of them sees")
    show.worlds(listed)
    for person, tools in listed.items():
        inputs = {name: set(tool.input_schema["properties"]) for name, tool in tools.items()}
        show.check(f"the {person} sees these tools and inputs", inputs == INPUTS[person])


async def a_hidden_parameter(people: Clients, show: Show) -> None:
    arguments = {"applicant_id": "a1", "workflow_id": "hiring", "stage_id": "interview", "reason": "Knows the team"}
    show.title("advance_step with a stage_id, which only the manager has", arguments)

    refused = await people["operator"].call_tool("advance_step", arguments, raise_on_error=False)
    show.side_by_side({"operator": text(refused)})
    show.check("the operator is refused, and told what to do instead", refused.is_error and text(refused) == REFUSAL)

    moved = await people["manager"].call_tool("advance_step", arguments, raise_on_error=False)
    show.side_by_side({"manager": moved.structured_content})
    show.check(
        "the manager gets the richer answer, and the refused call had moved nobody",
        moved.structured_content
        == {
            "success": True,
            "applicant_id": "a1",
            "stage": "interview",
            "rerouted_from": "applied",
            "reason": "Knows the team",
        },
    )


async def personal_data(people: Clients, show: Show) -> None:
    arguments = {"name": "Dunn"}
    show.title("search_applicants: the function returns everything to everyone", arguments)
    found = {person: await client.call_tool("search_applicants", arguments) for person, client in people.items()}
    show.side_by_side({person: the_match(result) for person, result in found.items()})

    row = {"id": "a3", "name": "Chloe Dunn"}
    expected = {
        "viewer": row,
        "operator": row | {"stage": "interview"},
        "manager": row | {"stage": "interview", "score": 88, "email": "chloe@example.org", "phone": "020 7946 0103"},
    }
    for person, result in found.items():
        show.check(f"the {person} gets this much of it", the_match(result) == expected[person])
    sent = text(found["viewer"]) + text(found["operator"])
    show.check("no e-mail address or phone number is in the others' text", "@" not in sent and "7946" not in sent)


async def a_hidden_tool(people: Clients, show: Show) -> None:
    show.title("bulk_send_sms, which the operator's office lacks, and no_such_tool")
    arguments = {"applicant_ids": ["a1"], "body": "See you at ten."}
    hidden = await people["operator"].call_tool("bulk_send_sms", arguments, raise_on_error=False)
    unknown = await people["operator"].call_tool("no_such_tool", arguments, raise_on_error=False)
    show.side_by_side({"operator, bulk_send_sms": text(hidden), "operator, no_such_tool": text(unknown)})
    alike = text(hidden).replace("bulk_send_sms", "X") == text(unknown).replace("no_such_tool", "X")
    show.check("a hidden tool answers like one that does not exist", hidden.is_error and unknown.is_error and alike)

    sent = await people["manager"].call_tool("bulk_send_sms", arguments, raise_on_error=False)
    show.side_by_side({"manager, bulk_send_sms": sent.structured_content})
    show.check("the manager's message is queued", sent.structured_content == {"success": True, "queued": 1})


class Show:
    """Prints, and remembers what did not come out as it should."""

    def __init__(self) -> None:
        self.console = Console()
        self.failed: list[str] = []

    def title(self, words: str, arguments: dict[str, Any] | None = None) -> None:
        self.console.print()
        self.console.rule(f"[bold]{escape(words)}", align="left")
        if arguments is not None:
            self.console.print(f"[dim]{escape(written(arguments))}[/]")

    def worlds(self, listed: dict[str, Tools]) -> None:
        """One column per person, one row per tool: its inputs, and the fields of what it answers."""
        table = Table("tool", show_lines=True)
        for person in listed:
            table.add_column(person, overflow="fold")
        for name in max(listed.values(), key=len):
            table.add_row(name, *(world(tools.get(name)) for tools in listed.values()))
        self.console.print(table)

    def side_by_side(self, answers: dict[str, Any]) -> None:
        table = Table.grid(expand=True)
        for _ in answers:
            table.add_column(ratio=1)
        panels = (Panel(Text(written(answer), overflow="fold"), title=who) for who, answer in answers.items())
        table.add_row(*panels)
        self.console.print(table)

    def check(self, what: str, holds: bool) -> None:
        self.console.print(f"[green]✓[/] {what}" if holds else f"[red]✗[/] {what}")
        if not holds:
            self.failed.append(what)

    def verdict(self) -> int:
        self.console.print()
        if self.failed:
            self.console.print(f"[red]Did not come out as it should:[/] {'; '.join(self.failed)}.")
            return 1
        self.console.print("[green]Everything came out as it should.[/]")
        return 0


def world(tool: Any) -> str:
    if tool is None:
        return "[dim]·[/]"
    required = set(tool.input_schema.get("required", ()))
    inputs = ", ".join(name if name in required else f"{name}?" for name in tool.input_schema["properties"])
    return f"[dim]in[/]  {escape(inputs)}\n[dim]out[/] {escape(fields(tool.output_schema, tool.output_schema))}"


def fields(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """The names of everything that a schema lets through: `a, b { c, d }`, with ` | ` between alternatives."""
    if "$ref" in schema:
        return fields(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    if alternatives := schema.get("oneOf") or schema.get("anyOf"):
        return " | ".join(fields(alternative, root) for alternative in alternatives)
    if "items" in schema:
        return fields(schema["items"], root)
    inner = {name: fields(value, root) for name, value in schema.get("properties", {}).items()}
    return ", ".join(f"{name} {{ {below} }}" if below else name for name, below in inner.items())


def written(answer: Any) -> str:
    """An answer for people: the text of a refusal as it is, an object line by line."""
    return answer if isinstance(answer, str) else "\n".join(f"{name}: {value}" for name, value in answer.items())


def the_match(result: Any) -> dict[str, Any]:
    [match] = result.structured_content["matches"]
    return dict(match)


def text(result: Any) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


@contextmanager
def running_server(public_key: str) -> Iterator[str]:
    """`fastmcp run server.py` over HTTP on a free port of this machine; its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "fastmcp.cli", "run", str(SERVER), "--no-banner"]
    options = ["--transport", "http", "--host", "127.0.0.1", "--port", str(port)]
    with TemporaryDirectory() as folder, Path(folder, "log").open("w+") as log:
        environment = {
            **os.environ,
            "RECRUITING_PUBLIC_KEY": public_key,
            "RECRUITING_DATABASE": str(Path(folder, "recruiting.db")),
        }
        with subprocess.Popen([*command, *options], env=environment, stdout=log, stderr=log) as server:
            try:
                wait_for(port, server)
                yield f"http://127.0.0.1:{port}/mcp"
            except OSError:
                log.seek(0)
                print(log.read(), file=sys.stderr)
                raise
            finally:
                server.terminate()


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Return when something listens on the port.

    Raises:
        ConnectionError: the server ended instead, or took more than a minute.
    """
    deadline = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise ConnectionError("the server did not start")


if __name__ == "__main__":
    raise SystemExit(main())
