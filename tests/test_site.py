"""The documentation as a site: it builds without a warning, its links lead somewhere, and what it shows was run."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shlex
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import FastMCP
from fastmcp.server.auth import StaticTokenVerifier
from fastmcp.utilities.tests import asgi_server
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from docs import generate
from fastmcp_authz import Authz
from fastmcp_authz.commands.app import run
from fastmcp_authz.contracts.names import BASES, GENERICS
from fastmcp_authz.contracts.tags import RULES
from tests.transcripts import DOCS, blocks

ROOT = DOCS.parent
PAGES = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}

CLAIMED = {
    "index.md": "test_site.py",
    "start.md": "test_cookbook.py",
    "how-it-works.md": "test_site.py",
    "dialects.md": "test_docs.py",
    "domains.md": "test_docs.py",
    "performance.md": "test_docs.py",
    "results.md": "test_docs.py",
    "security.md": "test_docs.py",
    "specification.md": "test_docs.py",
}
"""Who runs the Python of each page; that of the cookbook is run by test_cookbook.py, all of it."""
ELSEWHERE = ("commands/", "testing.md")
"""Pages with tests beside the tests of what they are about."""


def navigation(part: Any) -> list[str]:
    """The pages of `nav`, in order."""
    if isinstance(part, str):
        return [part]
    return [page for each in (part.values() if isinstance(part, dict) else part) for page in navigation(each)]


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MkDocsConfig:
    """`mkdocs.yml`, read as `mkdocs build --strict` reads it."""
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")  # an advertisement of mkdocs-material for what follows it
    return load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site"), strict=True)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as MkDocs makes them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def test_the_site_builds_without_a_warning(
    config: MkDocsConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "mkdocs"):
        build(config)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("mkdocs")] == []

    for page in PAGES:
        path = tmp_path / "site" / page
        html = (path if path.name == "index.md" else path.with_suffix("") / "index.md").with_suffix(".html")
        text = html.read_text(encoding="utf-8")
        assert "fonts.googleapis.com" not in text
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?//', text)
    found = json.loads((tmp_path / "site/search/search_index.json").read_text(encoding="utf-8"))
    assert any("Keycloak" in document["title"] for document in found["docs"])
    assert not [*(tmp_path / "site").rglob("*.py*")]


def test_each_page_is_in_the_navigation_once(config: MkDocsConfig) -> None:
    assert sorted(navigation(config.nav)) == sorted(PAGES)


def test_the_site_has_what_readers_want(config: MkDocsConfig) -> None:
    theme = config.theme
    assert theme["font"] is False
    assert {each["scheme"] for each in theme["palette"]} == {"default", "slate"}
    assert {"content.code.copy", "navigation.sections"} <= {*theme["features"]}
    assert "material/search" in config.plugins


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (DOCS / page).parent / path if path else DOCS / page
        name = str(target.resolve().relative_to(DOCS))
        assert name in PAGES, link
        assert not anchor or anchor in anchors(PAGES[name]), link


def test_all_code_of_the_documentation_is_run_by_some_test() -> None:
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    for page, text in PAGES.items():
        assert text.count("\n```") == 2 * len([*blocks(text)]), f"{page} has a block that no test would find"
        kinds = {block.kind for block in blocks(text)}
        if page.startswith("cookbook/") or not kinds & {"python", "console"}:
            continue
        if page.startswith(ELSEWHERE):
            assert any(f'"{page}"' in test or f'"{Path(page).name}"' in test for test in tests), page
        else:
            assert f'"{page}"' in (ROOT / "tests" / CLAIMED[page]).read_text(encoding="utf-8"), page


def test_the_cookbook_has_code_in_its_recipes_alone_and_in_the_file_that_they_share() -> None:
    for page, text in PAGES.items():
        if page.startswith("cookbook/"):
            ends = re.search(r"^## |\Z", text, re.MULTILINE)
            assert ends is not None
            assert [*blocks(text, 0, ends.start())] == [], page
    assert [block.title for block in blocks(PAGES["cookbook/index.md"])] == ["callers.py"]


async def test_the_example_of_the_first_page() -> None:
    (block,) = (block for block in blocks(PAGES["index.md"]) if block.kind == "python")
    scope: dict[str, Any] = {"__name__": "server"}
    exec(compile(block.text, "index.md", "exec", dont_inherit=True), scope)
    scopes = {"reader": ["read"], "admin": ["read", "admin"], "stranger": []}
    scope["mcp"].auth = StaticTokenVerifier({who: {"client_id": who, "scopes": scopes[who]} for who in scopes})
    seen, sent = {}, {}
    async with asgi_server(scope["mcp"]) as serving:
        for who in scopes:
            async with serving.client(auth=who) as client:
                seen[who] = [[*tool.input_schema["properties"]] for tool in await client.list_tools()]
                if seen[who]:
                    sent[who] = (await client.call_tool("find_notes", {"word": "plan"})).structured_content
    assert seen == {"reader": [["word"]], "admin": [["word", "deleted"]], "stranger": []}
    assert sent["reader"] == {"notes": [{"title": "Plan"}]}
    assert sent["admin"] == {"notes": [{"title": "Plan", "author": "carol@example.org"}]}


def test_the_example_of_the_page_on_how_it_works(capsys: pytest.CaptureFixture[str]) -> None:
    _, source, printed = blocks(PAGES["how-it-works.md"])
    exec(compile(source.text, "how-it-works.md", "exec", dont_inherit=True), {"__name__": "watched"})
    assert capsys.readouterr().out == printed.text


def test_the_files_that_the_page_on_how_it_works_names_are_there() -> None:
    named = re.findall(r"`((?:contracts|callers|serving|tests)/[\w./]+)`", PAGES["how-it-works.md"])
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "fastmcp_authz" / name).exists(), name


def test_the_commands_of_the_first_steps_print_what_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = [*blocks(PAGES["start.md"])]
    server = next(block for block in page if block.title == "server.py")
    (tmp_path / "server.py").write_text(server.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shown = [block.text.partition("\n") for block in page if block.kind == "console"]
    assert len(shown) == 2
    for command, _, printed in shown:
        run(shlex.split(command.removeprefix("$ fastmcp-authz ")))
        assert capsys.readouterr().out == printed


async def test_the_code_of_the_page_on_scaffold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    function, annotated, guarded = [
        block.text for block in blocks(PAGES["commands/scaffold.md"]) if block.kind == "python"
    ]
    head = (
        "from typing import Annotated\nfrom fastmcp import FastMCP\nfrom pydantic import Field\n\nmcp = FastMCP('x')\n"
    )
    (tmp_path / "server.py").write_text(f"{head}\n{function}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert await asyncio.to_thread(run, ["scaffold", "server.py"]) == 0
    assert annotated in capsys.readouterr().out
    document = {"openapi": "3.1.0", "info": {"title": "Orders", "version": "1"}, "paths": {}}
    async with httpx2.AsyncClient(base_url="https://orders.example.org") as client:
        scope = {"FastMCP": FastMCP, "Authz": Authz, "document": document, "client": client, "build_context": print}
        exec(guarded, scope)
        assert scope["api"] is not scope["mcp"]


def test_the_reference_is_what_the_code_says() -> None:
    assert PAGES["annotations.md"] == generate.page(), "run `python docs/generate.py`"


def test_the_reference_has_every_type_form_and_tag_and_nothing_else() -> None:
    assert generate.TYPES.keys() == {*BASES, *GENERICS}
    assert generate.GENERIC_EXAMPLES.keys() == GENERICS.keys()
    assert generate.FORMS.keys() == {*generate.alternatives("form")} - {"misplaced"}
    assert generate.OPERATORS.keys() == {*generate.operators()}
    assert generate.TAGS.keys() == RULES.keys()
    for rule in RULES.values():
        section = re.split(r"\n##", PAGES["annotations.md"].split(f"\n### @{rule.name}")[1])[0]
        _, emitted = blocks(section)
        assert json.loads(emitted.text)
        for keyword in {*rule.limits.values(), *([rule.note] if rule.note else [])}:
            assert f'"{keyword}"' in emitted.text
