"""The code in the documentation runs, and does what the text around it says."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastmcp import Client

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_example_of_the_specification(mode: str) -> None:
    (source,) = blocks("specification.md")
    can: set[str] = {"comms"}
    person = SimpleNamespace(current_user=SimpleNamespace(can=lambda flag: flag in can), feature=lambda flag: True)
    scope: dict[str, Any] = {"build_context": lambda request: person}
    # An import beside the page, as it would be beside the module.
    source = source.replace("@rbs import error", "@rbs type error = { success: false, message: String }")
    exec(source, scope)
    async with Client(scope["mcp"], mode=mode) as client:
        (tool,) = await client.list_tools()
        assert set(tool.input_schema["properties"]) == {"applicant_ids", "body"}
        can.add("admin")
        (tool,) = await client.list_tools()
        assert set(tool.input_schema["properties"]) == {"applicant_ids", "body", "force"}
        can.clear()
        assert await client.list_tools() == []


def test_every_section_that_the_code_points_at_is_there() -> None:
    page = (DOCS / "specification.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (\d+)\.", page, re.MULTILINE))
    code = "".join(p.read_text(encoding="utf-8") for p in (DOCS.parent / "fastmcp_authz").rglob("*.py"))
    assert set(re.findall(r"SPEC sections? (\d+)", code)) <= sections
    for title in re.findall(r'SPEC section \d+, "([^"]+)"', code):
        assert f"**{title}" in page or f"{title}" in page, title
