"""The recipes of the cookbook, run: a page's code is served over HTTP, and its transcripts are made anew.

    python -m tests.transcripts docs/cookbook/hiding.md      # writes the answers into a page, to be read and committed

A recipe is a section of a page. Its blocks are taken in order: `python` is run, a block with a file's name as its title
is also written to that file, `json` titled "token of ann" is what ann's token claims, and `text` is a transcript:

    ann> tools                      what ann is listed, with the inputs and the outputs that ann has
    ann> find_notes(word="x")       what a call answers
    ann> find_notes.word            the schema of an input, as ann has it
    ann> find_notes.description     the description, likewise
    ann /mcp/operator> tools        by another path of `app`
    server> refused                 an expression, in the module of the recipe

Whoever asks has a verified token with their name as its subject, unless the page says otherwise above the transcript:
`<!-- as: x-api-key -->` sends the name in that header, `<!-- as: environment PERSON -->` puts it into that variable,
where the server is reached in memory as it is over stdio, without a token.
"""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from fastmcp import Client
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.auth.providers.jwt import JWTVerifier, RSAKeyPair
from fastmcp.utilities.tests import ASGIServer
from mcp_types import Tool

DOCS = Path(__file__).parents[1] / "docs"
KEYS = RSAKeyPair.generate()
WIDTH = 104
"""Where a line of a transcript is cut."""

_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]*)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_QUESTION = re.compile(r"^(?P<who>[\w-]+)(?: (?P<path>/\S+))?> (?P<asked>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    title: str
    mark: str
    """The comment above it."""
    text: str
    at: tuple[int, int]
    """Where its text stands in the page."""


@dataclass(frozen=True)
class Recipe:
    """A section of a page that has code."""

    page: str
    title: str
    blocks: tuple[Block, ...]

    def __str__(self) -> str:
        return f"{self.page}: {self.title}"


def blocks(text: str, start: int = 0, end: int | None = None) -> Iterator[Block]:
    """The fenced blocks of a page, or of a part of it."""
    for found in _BLOCK.finditer(text, start, len(text) if end is None else end):
        yield Block(found["kind"], found["title"] or "", found["mark"] or "", found["text"], found.span("text"))


def recipes(page: str) -> list[Recipe]:
    """The recipes of a page of docs/."""
    text = (DOCS / page).read_text(encoding="utf-8")
    heads = [*re.finditer(r"^## (.+)$", text, re.MULTILINE)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    made = [Recipe(page, head[1], tuple(blocks(text, head.end(), end))) for head, end in zip(heads, ends, strict=True)]
    return [recipe for recipe in made if any(block.kind == "python" for block in recipe.blocks)]


def shared() -> str:
    """`callers.py`, which the recipes import: a block of the cookbook's first page."""
    text = (DOCS / "cookbook/index.md").read_text(encoding="utf-8")
    return next(block.text for block in blocks(text) if block.title == "callers.py")


@dataclass
class Stage:
    """What a recipe has come to so far."""

    module: ModuleType
    folder: Path
    claims: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def scope(self) -> dict[str, Any]:
        """The names of the recipe's module."""
        return self.module.__dict__

    def run(self, block: Block) -> None:
        """Takes a block that is no transcript."""
        if block.title.endswith((".rbs", ".py")):
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        if block.title.startswith("token of "):
            self.claims[block.title.removeprefix("token of ")] = json.loads(block.text)
        elif block.kind == "python" and not block.title.startswith("test_"):
            path = self.folder / "server.py"
            path.write_text(block.text, encoding="utf-8")  # shared types are looked for beside the file of a function
            exec(compile(block.text, path, "exec", dont_inherit=True), self.scope)


async def played(recipe: Recipe) -> list[tuple[Block, str]]:
    """The recipe's transcripts, each with what it says when its questions are asked now."""
    told: list[tuple[Block, str]] = []
    with tempfile.TemporaryDirectory() as folder, modules(Path(folder)) as module:
        stage = Stage(module, Path(folder))
        for block in recipe.blocks:
            if block.kind == "text":
                told.append((block, await answered(block, stage)))
            else:
                stage.run(block)
    return told


@contextmanager
def modules(folder: Path) -> Iterator[ModuleType]:
    """The module `server`, empty so far, with `callers` beside it."""
    server, callers = ModuleType("server"), ModuleType("callers")
    server.__file__ = str(folder / "server.py")
    sys.modules |= {"server": server, "callers": callers}
    try:
        exec(compile(shared(), "callers.py", "exec", dont_inherit=True), callers.__dict__)
        yield server
    finally:
        del sys.modules["server"], sys.modules["callers"]


async def answered(block: Block, stage: Stage) -> str:
    """A transcript with the answers to its questions."""
    lines: list[str] = []
    async with _served(stage.scope, anonymous=block.mark.startswith("as: ")) as app:
        for question in _QUESTION.finditer(block.text):
            who, path, asked = question["who"], question["path"] or "/mcp", question["asked"]
            lines.append(question[0])
            if who == "server":
                value = eval(asked, stage.scope)
                lines += map(str, value) if isinstance(value, list | tuple) else [str(value)]
            else:
                async with _client(block.mark, who, path, app, stage) as client:
                    lines += await _answers(client, asked)
    return "".join(f"{line if len(line) <= WIDTH else line[: WIDTH - 4] + ' ...'}\n" for line in lines)


class Everybody(TokenVerifier):
    """Takes each token for the name of its subject, so that recipes need say nothing about signing in."""

    async def verify_token(self, token: str) -> AccessToken:
        return AccessToken(token=token, client_id="docs", scopes=[], subject=token, claims={"sub": token})


@asynccontextmanager
async def _served(scope: dict[str, Any], *, anonymous: bool) -> AsyncIterator[Any]:
    mcp = scope["mcp"]
    if isinstance(mcp.auth, JWTVerifier):
        mcp.auth.jwks_uri, mcp.auth.public_key = None, KEYS.public_key  # whose keys the provider would publish
    app = scope.get("app") or mcp.http_app()
    if mcp.auth is None and not anonymous:
        mcp.auth = Everybody()
        app = scope.get("authz", mcp).http_app()
    async with app.router.lifespan_context(app):
        yield app


@asynccontextmanager
async def _client(mark: str, who: str, path: str, app: Any, stage: Stage) -> AsyncIterator[Any]:
    how = mark.removeprefix("as: ") if mark.startswith("as: ") else ""
    mcp = stage.scope["mcp"]
    if how.startswith("environment "):
        with patch.dict(os.environ, {how.removeprefix("environment "): who}):
            async with Client(mcp) as client:
                yield client
        return
    token = who
    if isinstance(mcp.auth, JWTVerifier):
        token = KEYS.create_token(
            who, str(mcp.auth.issuer), audience=mcp.auth.audience, additional_claims=stage.claims[who]
        )
    headers = {how: who} if how else {"Authorization": f"Bearer {token}"}
    async with ASGIServer(f"http://127.0.0.1{path}", app, "http").client(headers=headers) as client:
        yield client


async def _answers(client: Any, asked: str) -> list[str]:
    tools: dict[str, Tool] = {tool.name: tool for tool in await client.list_tools()}
    if asked == "tools":
        return [f"{tool.name}({fields(tool.input_schema)}) -> {outline(tool)}" for tool in tools.values()] or ["(none)"]
    call = ast.parse(asked, mode="eval").body
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        arguments = {str(given.arg): ast.literal_eval(given.value) for given in call.keywords}
        result = await client.call_tool(call.func.id, arguments, raise_on_error=False)
        return [line for content in result.content for line in content.text.splitlines()]
    name, part = asked.split(".")
    if part == "description":
        return (tools[name].description or "").splitlines()
    return [json.dumps(tools[name].input_schema["properties"][part], ensure_ascii=False)]


def outline(tool: Tool) -> str:
    """What of a tool's output is a caller's, in a line."""
    schema = tool.output_schema
    return "?" if schema is None else _shape(schema, schema)


def fields(schema: dict[str, Any], root: dict[str, Any] | None = None) -> str:
    """The properties of an object, the optional ones with a `?` before them."""
    root = schema if root is None else root
    required = schema.get("required", ())
    return ", ".join(
        f"{'' if name in required else '?'}{name}{_within(inner, root)}"
        for name, inner in schema.get("properties", {}).items()
    )


def _within(schema: dict[str, Any], root: dict[str, Any]) -> str:
    schema = _followed(schema, root)
    if "const" in schema:
        return f": {json.dumps(schema['const'])}"
    if "items" in schema:
        return f"[]{_within(schema['items'], root)}"
    return _shape(schema, root) if "properties" in schema else ""


def _shape(schema: dict[str, Any], root: dict[str, Any]) -> str:
    schema = _followed(schema, root)
    for union in ("oneOf", "anyOf"):
        if union in schema:
            return " | ".join(_shape(member, root) for member in schema[union])
    return f"{{{fields(schema, root)}}}" if "properties" in schema else "{...}"


def _followed(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def rewritten(page: str) -> str:
    """A page with the answers in its transcripts made anew."""
    text = (DOCS / page).read_text(encoding="utf-8")
    told = [pair for recipe in recipes(page) for pair in asyncio.run(played(recipe))]
    for block, answer in reversed(told):
        text = text[: block.at[0]] + answer + text[block.at[1] :]
    return text


if __name__ == "__main__":
    for each in sys.argv[1:]:
        made = rewritten(str(Path(each).resolve().relative_to(DOCS)))
        Path(each).write_text(made, encoding="utf-8")
