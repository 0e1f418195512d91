"""What is prose and what is annotation: descriptions of tools and parameters (SPEC section 2, "Blocks")."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_authz import Authz, authorized_tool
from tests.serving.people import ERAS, Person, calling_as

GOOGLE = '''
    """Find applicants.

    Looks at names only.

    Args:
        name: Part of a name.
        force: Also those in the bin.

    Returns:
        What was found.

    {annotation}
    """
'''
NUMPY = '''
    """Find applicants.

    Looks at names only.

    Parameters
    ----------
    name : str
        Part of a name.
    force : bool
        Also those in the bin.

    {annotation}
    """
'''
SPHINX = '''
    """Find applicants.

    Looks at names only.

    :param name: Part of a name.
    :param force: Also those in the bin.

    {annotation}
    """
'''
FIRST = '''
    """{annotation}

    Find applicants.

    # A remark that touches no block.

    Looks at names only.

    Args:
        name: Part of a name.
        force: Also those in the bin.
    """
'''
ANNOTATION = """\
# Who is found: remarks that touch a block belong to it.
    @rbs type row = {
      name: String,  # as they wrote it
      ?pay: Integer @requires(:admin)
    }
    # more remarks
    @rbs type output = { rows: Array[row] }
    #: (name: String, ?force: bool @requires(:admin)) -> output"""


def declared(layout: str) -> Any:
    scope: dict[str, Any] = {}
    docstring = layout.replace("{annotation}", ANNOTATION)
    source = f"def find(name: str, force: bool = False) -> dict:\n{docstring}\n    return {{}}"
    exec(source, scope)
    return scope["find"]


async def listed(find: Any, *flags: str, mode: Any = "auto") -> Any:
    server = FastMCP("prose")
    Authz(server, context=Person)
    server.tool(authorized_tool(find))
    with calling_as(*flags):
        async with Client(server, mode=mode) as client:
            (tool,) = await client.list_tools()
            return tool


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("layout", [GOOGLE, NUMPY, SPHINX])
async def test_parameter_prose_goes_to_the_parameters_that_a_caller_sees(layout: str, mode: Any) -> None:
    tool = await listed(declared(layout), "admin", mode=mode)
    assert tool.description == "Find applicants.\n\nLooks at names only."
    assert tool.input_schema["properties"] == {
        "name": {"type": "string", "description": "Part of a name."},
        "force": {"type": "boolean", "description": "Also those in the bin."},
    }
    other = await listed(declared(layout), mode=mode)
    assert other.description == tool.description
    assert other.input_schema["properties"] == {"name": {"type": "string", "description": "Part of a name."}}
    assert "bin" not in other.model_dump_json()


async def test_no_annotation_text_reaches_a_client() -> None:
    for layout in (GOOGLE, NUMPY, SPHINX, FIRST):
        text = (await listed(declared(layout), "admin")).model_dump_json()
        for word in ("rbs", "#:", "remarks", "Who is found", "->", "as they wrote it", "@requires"):
            assert word not in text, (word, text)


async def test_remarks_away_from_any_block_are_prose() -> None:
    tool = await listed(declared(FIRST))
    assert "# A remark that touches no block." in tool.description


async def test_a_description_in_the_annotation_wins_over_prose() -> None:
    def find(name: str) -> dict[str, Any]:
        """Find.

        Args:
            name: From prose.

        @rbs type output = {}
        #: (name: String @desc(From the tag)) -> output
        """
        return {}

    tool = await listed(find)
    assert tool.input_schema["properties"]["name"]["description"] == "From the tag"


def test_stripped_docstrings_are_explained(tmp_path: Path) -> None:
    module = tmp_path / "tools.py"
    module.write_text(
        textwrap.dedent(
            '''
            from fastmcp_authz import authorized_tool

            @authorized_tool
            def ping() -> dict:
                """@rbs type output = {}"""
                return {}

            print(ping())
            '''
        ),
        encoding="utf-8",
    )

    def run(*flags: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *flags, str(module)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    plain = run()
    assert (plain.returncode, plain.stdout) == (0, "{}\n"), plain.stderr
    stripped = run("-OO")
    assert stripped.returncode == 1
    assert "ContractError" in stripped.stderr
    assert "Python strips docstrings under `-OO`" in stripped.stderr
