"""Each recipe of the cookbook runs, and each caller gets what its transcript says, to the letter."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fastmcp.server.auth.providers.jwt import RSAKeyPair
from fastmcp.utilities.tests import asgi_server

from fastmcp_authz import Authz, Settings
from fastmcp_authz.serving.authz import ToolOptions
from tests.transcripts import DOCS, KEYS, Recipe, blocks, modules, played, recipes

PAGES = sorted(str(path.relative_to(DOCS)) for path in (DOCS / "cookbook").glob("*.md"))
RECIPES = [recipe for page in PAGES if page != "cookbook/index.md" for recipe in recipes(page)]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
async def test_a_recipe_does_what_its_transcripts_say(recipe: Recipe) -> None:
    told = await played(recipe)
    assert told, "a recipe shows what its callers get"
    for block, answer in told:
        assert answer == block.text


async def test_a_token_that_nobody_signed_never_gets_to_the_context() -> None:
    signed = [recipe for recipe in RECIPES if recipe.page == "cookbook/identity.md"][:4]
    for recipe in signed:
        scope: dict[str, Any] = {"__name__": "server"}
        for block in recipe.blocks:
            if block.kind == "python":
                exec(compile(block.text, "server.py", "exec", dont_inherit=True), scope)
        scope["mcp"].auth.jwks_uri, scope["mcp"].auth.public_key = None, KEYS.public_key
        strange = RSAKeyPair.generate().create_token(
            issuer=scope["verifier"].issuer, audience=scope["verifier"].audience
        )
        async with asgi_server(scope["mcp"]) as serving, serving.http_client() as client:
            answer = await client.post("/mcp", headers={"Authorization": f"Bearer {strange}"}, json={})
        assert answer.status_code == 401


def test_there_are_many_recipes_and_each_asks_as_two_callers_or_more() -> None:
    assert len(RECIPES) >= 24
    for recipe in RECIPES:
        asked = "".join(block.text for block in recipe.blocks if block.kind == "text")
        callers = set(re.findall(r"^([\w-]+)(?: /\S+)?> ", asked, re.MULTILINE)) - {"server"}
        assert len(callers) >= 2, recipe


def test_recipes_are_short() -> None:
    for recipe in RECIPES:
        for block in recipe.blocks:
            lines = [line for line in block.text.splitlines() if line.strip()]
            assert len(lines) <= 45, recipe
            assert max(map(len, lines)) <= 120, recipe


def test_every_page_is_in_the_table_of_the_first() -> None:
    index = (DOCS / "cookbook/index.md").read_text(encoding="utf-8")
    assert {f"cookbook/{link}" for link in re.findall(r"\]\((\w+\.md)\) \|", index)} == {*PAGES} - {"cookbook/index.md"}


def test_what_the_table_for_rubyists_names_is_there() -> None:
    page = (DOCS / "cookbook/ruby.md").read_text(encoding="utf-8")
    table = page.split("\n## Names\n")[1].split("\n## ")[0]
    ours = [row.split(" | ")[-1] for row in table.splitlines() if row.startswith("| ")]
    named = {name for cell in ours for name in re.findall(r"`(\w+)=", cell)}
    assert len(named) > 15
    known = {*ToolOptions.__annotations__, *Authz.__init__.__annotations__, *Settings.model_fields}
    for base in ToolOptions.__mro__[1:]:
        known |= {*getattr(base, "__annotations__", {})}
    for base in getattr(ToolOptions, "__orig_bases__", ()):
        known |= {*base.__annotations__}
    assert named <= known


def test_the_first_test_of_a_reader_passes(tmp_path: Path) -> None:
    """In a process of its own, as the page says it is run: the plugin is found, and nothing of ours is set up."""
    for block in blocks((DOCS / "start.md").read_text(encoding="utf-8")):
        if block.title.endswith(".py"):
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "--rootdir", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


async def test_the_tests_of_the_recipe_for_tests_pass(authz_caller: Any, tmp_path: Path) -> None:
    (recipe,) = (recipe for recipe in RECIPES if recipe.title == "Test it")
    server, tests = [block for block in recipe.blocks if block.kind == "python"]
    with modules(tmp_path) as module:
        exec(compile(server.text, "server.py", "exec", dont_inherit=True), module.__dict__)
        scope: dict[str, Any] = {"__name__": "test_server"}
        exec(compile(tests.text, "test_server.py", "exec", dont_inherit=True), scope)
        await scope["test_readers_cannot_look_into_the_bin"](authz_caller)
        for name in ("test_paths_are_for_admins", "test_the_function_by_itself"):
            await asyncio.to_thread(scope[name])
    assert len([name for name in scope if name.startswith("test_")]) == 3
