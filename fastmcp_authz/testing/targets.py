"""What an assertion is about: a tool, or a field of it, found by the name that a test writes.

`"tool"`, `"tool.field"` on whichever side it is, `"tool(field)"` for an input alone, `"tool -> field"` for an output
alone. A field is its dotted path, `rows.ssn`, where lists, hashes and members of unions are passed through; or a path
as an outline writes it, `rows[].ssn`, `<rerouted>.reason`; or the name of a member of a union; or, where nothing is
called so, the last name of the only field that ends so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from fastmcp_authz.contracts.outline import Part, by_last_name
from fastmcp_authz.errors import listed
from fastmcp_authz.survey.survey import Survey, SurveyedTool
from fastmcp_authz.testing.names import UnknownNameError, near, not_known
from fastmcp_authz.testing.seen import ToolView

Side: TypeAlias = Literal["input", "output"]

_BEHIND: Final = re.compile(r"\.(?P<either>.+)|\((?P<input>[^()]+)\)|\s*(->|→)\s*(?P<output>.+)")


@dataclass(frozen=True, eq=False)
class Target:
    """A tool, or what a test calls a field of it."""

    text: str
    """As the test wrote it."""
    tool: SurveyedTool
    parts: tuple[tuple[Side, Part], ...] = ()
    """What of the tool is meant; nothing where the whole tool is, and where the tool is everybody's anyway."""
    is_tool: bool = False


def target(text: str, looked_through: Survey) -> Target:
    """What a test means.

    Raises:
        UnknownNameError: No tool, or no field of it, is called so, or several fields end so.
    """
    for tool in sorted(looked_through.tools, key=lambda each: len(each.name), reverse=True):
        if text == tool.name:
            return Target(text, tool, is_tool=True)
        found = _BEHIND.fullmatch(text, len(tool.name)) if text.startswith(tool.name) else None
        if found is not None:
            return _field(text, tool, found.groupdict())
    name = re.split(r"[.(\s→]|->", text)[0]
    known = [tool.name for tool in looked_through.tools]
    raise UnknownNameError(
        f"{text!r}: {looked_through.server.name!r} has no tool {name!r}. {near(name, known)}{not_known(looked_through)}"
    )


def _field(text: str, tool: SurveyedTool, groups: Mapping[str, str | None]) -> Target:
    ((group, name),) = [(group, name) for group, name in groups.items() if name is not None]
    sides: tuple[Side, ...] = ("input",) if group == "input" else ("output",)
    sides = ("input", "output") if group == "either" else sides
    if tool.declaration is None:
        view = ToolView.of(tool.least.to_mcp_tool())
        known = {*(view.inputs if "input" in sides else ()), *(view.outputs if "output" in sides else ())}
        found = name in known
        parts: tuple[tuple[Side, Part], ...] = ()
    else:
        every: list[tuple[Side, Part]] = [
            (side, part) for side in sides for part in (tool.input if side == "input" else tool.output).parts
        ]
        parts = tuple((side, part) for side, part in every if part.is_called(name))
        if not parts:
            ending = by_last_name((part for _, part in every), name)
            if len(ending) > 1:
                raise UnknownNameError(f"{text!r}: {tool.name} has several. Write one of {listed(sorted(ending))}.")
            parts = tuple((side, part) for side, part in every if part.fields in ending and part.is_field)
        known = {_usual_name(part) for _, part in every}
        found = bool(parts)
    if not found:
        what = " or ".join(sides)
        raise UnknownNameError(f"{text!r}: {tool.name} has no {what} {name!r}, for anybody. {near(name, known)}")
    return Target(text, tool, parts)


def _usual_name(part: Part) -> str:
    """What a test would call it: its fields, and a constant by its whole path."""
    fields = ".".join(step.name for step in part.steps if step.kind == "field")
    return part.path if not fields or part.name.startswith('"') else fields
