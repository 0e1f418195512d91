r"""Which line of a file a problem is on, however the docstring is written there."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

from fastmcp_authz.annotations import read_annotation

WRONG = "@rbs typ a"


@pytest.mark.parametrize(
    "docstring",
    [
        f'"""{WRONG}  # HERE\n    """',
        f'"""\n    Words.\n\n    {WRONG} # HERE\n    """',
        f'"""\\\n    Words.\n\n    {WRONG} # HERE\n    """',
        f'"""Words \\\ngo \\\n  on.\n    {WRONG} # HERE\n    """',
        f'r"""Words \\\n\\d.\n    {WRONG} # HERE\n    """',
        f'"Words.\\n\\n{WRONG} # HERE"',
        f'"""Words.\\nMore.\n    {WRONG} # HERE\n    """',
        f'"""Words.\\x0aMore\\12\\u000A\\N{{LINE FEED}}.\n    {WRONG} # HERE\n    """',
        f'"""Words.\\012\\123 \\x41 \\\\n \\N{{BULLET}}.\n    {WRONG} # HERE\n    """',
        f'("Words.\\n"\n    # comment\n     "\\n{WRONG} # HERE\\n"\n   "more")',
        f'("Words.\\n\\n" u"""More.\n"""\n    r"""\n{WRONG} # HERE\n""")',
        f'# comment\n\n\n    """\n\n    Words.\n    \t{WRONG} # HERE\n"""',
        f"'''Words.\n    {WRONG} # HERE'''",
    ],
)
def test_the_line_is_that_of_the_file(docstring: str, tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text(f"# A module.\n\ndef tool():\n    {docstring}\n")
    lines = file.read_text().splitlines(keepends=True)
    (tool,) = ast.parse("".join(lines)).body
    assert isinstance(tool, ast.FunctionDef)
    opening = tool.body[0].lineno
    text = ast.get_docstring(tool, clean=False)
    assert text is not None
    for given in (text, f"{text}\n\n{WRONG}"):
        _, problems = read_annotation(given, name="x", opening=lambda: (opening, lines[opening - 1 :]))
        assert "# HERE" in lines[problems[0].line - 1]


def test_it_is_as_python_reads_it(tmp_path: Path) -> None:
    """As the function has it, which since Python 3.13 is without its margin."""
    file = tmp_path / "tools.py"
    file.write_text(f'def tool():\n    """\\\n    Words.\n        \\t{WRONG}\n    """\n')
    spec = importlib.util.spec_from_file_location("tools", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    code = file.read_text().splitlines(keepends=True)
    _, (problem,) = read_annotation(module.tool.__doc__, name="x", opening=lambda: (2, code[1:]))
    assert problem.line == 4


@pytest.mark.parametrize(
    "code",
    [[], ["pass\n"], ['"""Other.\n', "\n", '"""\n'], ['"""Words.'], ["(((\n"], ['f"{x}"\n'], ['"""Words.\n', "\n"]],
)
def test_lines_are_counted_where_the_file_says_something_else(code: list[str]) -> None:
    _, (problem,) = read_annotation(f"Words.\n\n{WRONG}", name="x", opening=lambda: (40, code))
    assert problem.line == 42


def test_a_right_docstring_asks_for_no_file() -> None:
    def opening() -> tuple[int, list[str]]:
        raise AssertionError

    annotation, problems = read_annotation("Words.\n\n#: (a: b) -> output", name="x", opening=opening)
    assert annotation.signature is not None
    assert not problems


def test_all_lines_that_a_message_names_are_those_of_the_file() -> None:
    text = "\nWords.\nMore.\n@rbs type a = b\n@rbs type a = c"
    code = ['"""\n', "Words.\\n\\\n", "More.\n", "@rbs type a = b\n", "@rbs type a = c\n", '"""\n']
    _, (problem,) = read_annotation(text, name="x", opening=lambda: (10, code))
    assert problem.line == 14
    assert "first on line 13" in problem.message
