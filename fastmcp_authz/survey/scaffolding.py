"""The tools of a server that are not ours, each with the annotation that it amounts to."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import TransformedTool

from fastmcp_authz.annotations import Alias, read_annotation
from fastmcp_authz.serving.hints import written
from fastmcp_authz.serving.installing import Server, mounted_on, proxies_on
from fastmcp_authz.serving.rehearsal import rehearsed
from fastmcp_authz.serving.signatures import read_signature
from fastmcp_authz.survey.places import Place
from fastmcp_authz.survey.proposing.constants import without_controls
from fastmcp_authz.survey.proposing.functions import Behind, behind, troubles
from fastmcp_authz.survey.proposing.pasting import function_code
from fastmcp_authz.survey.proposing.proposal import Proposal, propose
from fastmcp_authz.survey.proposing.prose import prose_without_parameters
from fastmcp_authz.survey.proposing.said import Note
from fastmcp_authz.survey.proposing.skeletons import skeleton
from fastmcp_authz.survey.proposing.trees import with_all_within
from fastmcp_authz.survey.survey import Survey

DECORATOR: Final = "@authorized_tool()"
_SILENT: Final = frozenset({"title", "description", "default"})

Origin: TypeAlias = tuple[Server, str]
"""The server that has a tool, and its name there."""


@dataclass(frozen=True)
class Scaffold:
    """What to write for one tool."""

    tool: str
    """As it is listed."""
    server: str
    """The name of the server that has it."""
    place: Place | None
    """Where its function stands; `None` for one that has no function."""
    function: str
    proposal: Proposal | None
    """`None` where its docstring is annotated already."""
    code: tuple[str, ...]
    """Lines of Python, ready to paste."""
    remarks: tuple[str, ...]
    """What to do with them, and what is in the way."""


@dataclass(frozen=True)
class Scaffolding:
    """What to write for a whole server."""

    scaffolds: Sequence[Scaffold]
    decorated: Sequence[str]
    """The tools that are ours already."""
    skipped: Mapping[str, str]
    """What nothing is proposed for: why not."""

    @property
    def shared(self) -> Mapping[Alias, Sequence[str]]:
        """The types that several tools declare in the same way, with the names of those."""
        tools: dict[tuple[Alias, ...], list[str]] = {}
        for each in self.scaffolds:
            aliases = each.proposal.aliases if each.proposal is not None else ()
            for alias in aliases:
                tools.setdefault(with_all_within(alias, aliases), []).append(each.tool)
        return {same[0]: names for same, names in tools.items() if len(names) > 1}


async def scaffolding(survey: Survey) -> Scaffolding:
    """What to write for all tools of a server that are not ours yet, those of mounted servers too."""
    tree = _tree(survey.server)
    origins = {id(_base(tool).parameters): (each, tool.name) for each in tree for tool in await rehearsed(each)}
    scaffolds: list[Scaffold] = []
    skipped = {
        f"the proxy on {each.name}": "its tools are another server's: run this command on that one."
        for each in tree
        for _ in proxies_on(each)
    }
    decorated: list[str] = []
    for surveyed in survey.tools:
        if surveyed.ours is not None:
            decorated.append(surveyed.name)
            continue
        base = _base(surveyed.least)
        origin = origins.get(id(base.parameters), (survey.server, base.name))
        made = _scaffold(surveyed.name, base, origin)
        if isinstance(made, str):
            skipped[surveyed.name] = made
            continue
        first = next((each for each in scaffolds if each.place is not None and each.place == made.place), None)
        if first is not None:
            remark = f"It is the function of {first.tool}, and what is written there does for both."
            made = replace(made, proposal=None, code=(), remarks=(remark,))
        scaffolds.append(made)
    return Scaffolding(scaffolds, decorated, skipped)


def _tree(server: Server) -> list[Server]:
    """The server and all that is mounted on it, each before what is mounted on it."""
    tree = [server]
    for each in tree:  # grows as it goes
        tree += [child for child in mounted_on(each) if child not in tree]
    return tree


def _base(tool: Tool) -> Tool:
    """A tool as it was registered, whatever was made of it."""
    while isinstance(tool, TransformedTool):
        tool = tool.parent_tool
    return tool


def _scaffold(name: str, tool: Tool, origin: Origin) -> Scaffold | str:
    """What to write for one tool, or why there is nothing to write."""
    if isinstance(tool, FunctionTool):
        found = behind(tool.fn)
        if found is None:
            return f"it is a {_kind(tool.fn)}, which takes no decorator: write a function with a name for it."
        return _of_function(name, tool, found, origin)
    if any(kind.__name__ == "OpenAPITool" for kind in type(tool).__mro__):
        return _of_document(name, tool, origin)
    return f"it is a {type(tool).__name__}, which has no function to decorate: write one that calls it."


def _kind(fn: Any) -> str:
    code = getattr(fn, "__code__", None)
    return "lambda" if code is not None and code.co_name == "<lambda>" else type(fn).__name__


# ---- Functions


def _of_function(name: str, tool: FunctionTool, found: Behind, origin: Origin) -> Scaffold:
    docstring = inspect.getdoc(found.function) or ""
    server = origin[0].name

    def made(proposal: Proposal | None, code: Sequence[str], *remarks: str) -> Scaffold:
        return Scaffold(name, server, found.place, found.name, proposal, tuple(code), remarks)

    if _is_annotated(docstring):
        remark = "Its docstring is annotated already: put the decorator nearest the function, and keep the rest."
        return made(None, [DECORATOR, *found.header], remark)
    prose = prose_without_parameters(docstring) if docstring else _described(tool)
    proposal = propose(prose, tool.parameters, tool.output_schema, _returned(tool))
    proposal = replace(proposal, notes=(*_of_hints(tool), *proposal.notes))
    return made(
        proposal,
        function_code(DECORATOR, [*found.header], proposal.docstring, []),
        "Put the decorator nearest the function, and this docstring in place of its own.",
        *(f"In the way: {each}" for each in troubles(found.function, proposal.docstring)),
    )


def _is_annotated(docstring: str) -> bool:
    annotation, _ = read_annotation(docstring, name="scaffold")
    return bool(annotation.aliases or annotation.signature or annotation.unread)


def _described(tool: Tool) -> str:
    """The description of a tool, without what would be an annotation in a docstring: others may have written it."""
    prose = without_controls(tool.description or "").strip()
    while (plain := read_annotation(prose, name="scaffold")[0].prose.strip()) != prose:
        prose = plain
    return prose


def _returned(tool: FunctionTool) -> str | None:
    """How the results of a tool are hinted at, for a note."""
    hint = tool.return_type
    if hint is inspect.Signature.empty or hint is Any:
        return None
    return "None" if hint in (None, type(None)) else written(hint)


def _of_hints(tool: FunctionTool) -> Iterator[Note]:
    """What there is to say of parameters that may be anything."""
    hints = read_signature(tool.fn).hints
    for name, schema in tool.parameters.get("properties", {}).items():
        if set(schema) <= _SILENT and hints.get(name) is not Any:
            hint = hints.get(name)
            what = "has no type hint" if hint is None else f"has the hint `{written(hint)}`, which is not understood"
            yield Note(name, f"{what}: it may be anything, `untyped`.")


# ---- OpenAPI


def _of_document(name: str, tool: Tool, origin: Origin) -> Scaffold:
    server, own = origin
    around = skeleton(own, tool.parameters, tool.parameters.get("$defs", {}))
    proposal = propose(_described(tool), around.given, tool.output_schema, hands_on=True)
    return Scaffold(
        name,
        server.name,
        None,
        around.name,
        proposal,
        ("@mcp.tool", *function_code(DECORATOR, around.header, proposal.docstring, around.body)),
        (
            f"It is an operation of the OpenAPI document behind {server.name}, and no function to decorate.",
            f"Serve this function instead: `api` is {server.name} itself, which is then neither served nor mounted.",
        ),
    )
