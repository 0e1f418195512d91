"""`fastmcp-authz scaffold`: for tools that are not ours yet, what to write so that they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text

from fastmcp_authz.commands.loading import AsJson, CannotRunError, ServerSpec, ToolName, load_server
from fastmcp_authz.commands.noting import looked_through
from fastmcp_authz.commands.terminal import FINE, console, print_json
from fastmcp_authz.errors import near_names
from fastmcp_authz.survey.lines import visible
from fastmcp_authz.survey.proposing.layout import alias_lines
from fastmcp_authz.survey.scaffolding import DECORATOR, Scaffold, Scaffolding, scaffolding
from fastmcp_authz.survey.survey import Survey

_SET_UP = (
    "from fastmcp_authz import Authz, authorized_tool",
    "Authz(mcp, context=...)  # once, below `mcp = FastMCP(...)`: see the quick start in README.md",
)


async def scaffold(server: ServerSpec, /, *, tool: ToolName = None, as_json: AsJson = False) -> int:
    """Propose annotations for tools that have none, ready to paste.

    Type hints, defaults and docstrings are said in the annotation language, so that the tools take and give what they
    took and gave; who may see which part of them is then yours to add.
    """
    surveyed = await looked_through(await load_server(server))
    made = await scaffolding(surveyed)
    if tool is not None:
        made = _only(made, tool)
    if as_json:
        print_json(_document(made))
    else:
        _print(made, surveyed)
    return FINE


def _only(made: Scaffolding, tool: str) -> Scaffolding:
    """What there is to write for one tool.

    Raises:
        CannotRunError: There is no such tool.
    """
    names = [*(each.tool for each in made.scaffolds), *made.decorated, *made.skipped]
    if tool not in names:
        near = near_names(tool, names, most=3) or sorted(names)[:10]
        raise CannotRunError(f"There is no tool {tool!r}. Near are: {', '.join(near) or 'none at all'}.")
    return replace(
        made,
        scaffolds=[each for each in made.scaffolds if each.tool == tool],
        decorated=[each for each in made.decorated if each == tool],
        skipped={each: why for each, why in made.skipped.items() if each == tool},
    )


def _print(made: Scaffolding, surveyed: Survey) -> None:
    if made.scaffolds and not surveyed.authorities:
        _show([*_SET_UP, ""])
    for each in made.scaffolds:
        _show(_comments(each))
        _show([*each.code, ""])
    _show(_shared(made))
    for name, why in made.skipped.items():
        _show(_commented(f"{name} is left out: {why}"))
    if not made.scaffolds:
        _show(_commented(_nothing(made)))


def _shared(made: Scaffolding) -> Iterator[str]:
    """What several docstrings could take from one file."""
    if made.shared:
        yield "# These types stand in several tools. Each could stand once, in a file beside the module, and be"
        yield "# taken in with `@rbs import NAME`:"
    for alias, tools in made.shared.items():
        yield "#"
        yield from _commented(f"sig/shared/{alias.name}.rbs, for {', '.join(tools)}:")
        yield from (f"#     {line.removeprefix('@rbs ')}" for line in alias_lines(alias))
    if made.shared:
        yield ""


def _nothing(made: Scaffolding) -> str:
    if not made.decorated:
        return "There is no tool to scaffold."
    if len(made.decorated) == 1:
        return f"{made.decorated[0]} is decorated with authorized_tool already: there is nothing to scaffold."
    return f"All {len(made.decorated)} tools are decorated with authorized_tool: there is nothing to scaffold."


def _comments(each: Scaffold) -> Iterator[str]:
    where = f"{each.place}, {each.function}" if each.place is not None else "no function yet"
    for text in (f"{each.tool}: {where}, on the server {each.server}", *each.remarks):
        yield from _commented(text)


def _commented(text: str) -> Iterator[str]:
    """A text as comments, whatever is in it: the names of tools and servers may have line breaks, and are pasted."""
    return (f"# {visible(line)}" for line in text.splitlines())


def _show(lines: Iterable[str]) -> None:
    """Prints Python, never wrapped, with comments in the background."""
    out = console()
    for line in lines:
        out.print(Text(line, style="dim" if line.startswith("#") else ""), soft_wrap=True)


def _document(made: Scaffolding) -> dict[str, Any]:
    return {
        "tools": [_tool(each) for each in made.scaffolds],
        "shared": [
            {"name": alias.name, "type": str(alias), "tools": list(tools)} for alias, tools in made.shared.items()
        ],
        "decorated": list(made.decorated),
        "skipped": dict(made.skipped),
    }


def _tool(each: Scaffold) -> dict[str, Any]:
    notes: Sequence[str] = ()
    if each.proposal is not None:
        notes = [str(note) for note in (*each.proposal.notes, *each.proposal.output_notes)]
    return {
        "tool": each.tool,
        "server": each.server,
        "file": None if each.place is None else each.place.file,
        "line": None if each.place is None else each.place.line,
        "function": each.function,
        "decorator": DECORATOR,
        "docstring": None if each.proposal is None else each.proposal.docstring,
        "code": "\n".join(each.code),
        "remarks": list(each.remarks),
        "notes": list(notes),
    }
