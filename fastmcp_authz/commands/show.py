"""`fastmcp-authz show`: what each persona sees, side by side."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any, Final

from rich.console import Console

from fastmcp_authz.commands.loading import (
    AsJson,
    CannotRunError,
    Domain,
    Persona,
    ServerSpec,
    ToolName,
    load_server,
)
from fastmcp_authz.commands.naming import nearest, the_tool
from fastmcp_authz.commands.noting import looked_through, note_strangers, note_unmade
from fastmcp_authz.commands.table import Seen, why_hidden, written
from fastmcp_authz.commands.terminal import FINE, console, print_json
from fastmcp_authz.survey.everything import Everything
from fastmcp_authz.survey.survey import Sighting, Survey, SurveyedTool, UnmadeError

NO_PERSONAS: Final = """\
No personas are declared. Above is what nobody sees, who gets a no to all
questions, and what somebody would see who gets a yes to all. Name some callers:
  Authz(mcp, ..., personas={"manager": lambda: context})"""


async def show(
    server: ServerSpec,
    /,
    *,
    persona: Persona = None,
    tool: ToolName = None,
    domain: Domain = None,
    as_json: AsJson = False,
) -> int:
    """Show what each persona sees: its tools, their inputs, their outputs."""
    loaded = await load_server(server)
    with contextlib.redirect_stdout(sys.stderr):  # a context may print
        surveyed = await looked_through(loaded, domain=domain)
        tools = chosen_tools(surveyed, tool, domain)
        seen = await seen_by_each(surveyed, tools, persona)
    note_strangers(surveyed, tools, seen if surveyed.personas else ())
    if as_json:
        print_json({"personas_declared": bool(surveyed.personas), "personas": _for_programs(seen)})
        return FINE
    out = console()
    for line in written(tools, seen, whole=tool is not None, most=_room(out)):
        out.print(line)
    if tools and not surveyed.personas:
        out.print(f"\n{NO_PERSONAS}", markup=False)
    return FINE


def chosen_tools(surveyed: Survey, tool: str | None, domain: str | None) -> list[SurveyedTool]:
    """The tools that are asked about: one or all, of one domain or of all of them.

    Raises:
        CannotRunError: There is no such tool, or no such domain.
    """
    chosen = [the_tool(surveyed, tool)] if tool is not None else list(surveyed.tools)
    tools = [each for each in chosen if _is_in_domain(each, domain)]
    if domain is not None and not any(each.ours for each in tools):
        raise CannotRunError(_no_such_domain(surveyed, chosen, domain))
    return tools


async def seen_by_each(surveyed: Survey, tools: list[SurveyedTool], persona: str | None) -> Seen:
    """What each persona sees of the tools; without personas, the least and the most that anybody does.

    Raises:
        UnmadeError: The persona that is asked for cannot be made, or none can; others are noted, and left out.
    """
    lookers: dict[str, Any] = {each: each for each in surveyed.personas}
    if persona is not None:
        lookers = {persona: persona}
    elif not lookers:
        lookers = {"nobody": None, "everything": Everything()}
    seen: dict[str, list[Sighting]] = {}
    unmade: list[UnmadeError] = []
    for name, who in lookers.items():
        try:
            async with surveyed.looked_at_by(who) as sight:
                seen[name] = [await sight.see(each) for each in tools]
        except UnmadeError as error:
            unmade.append(error)
    note_unmade(unmade, seen)
    return seen


def _domains(tool: SurveyedTool) -> tuple[str, ...]:
    """The domains that a tool of ours is served in."""
    if tool.declaration is None or tool.authority is None:
        return ()
    return tool.declaration.domains or (tool.authority.settings.default_domain,)


def _is_in_domain(tool: SurveyedTool, domain: str | None) -> bool:
    return domain is None or tool.ours is None or domain in _domains(tool)


def _no_such_domain(surveyed: Survey, chosen: list[SurveyedTool], domain: str) -> str:
    known = list(dict.fromkeys(name for each in surveyed.tools for name in _domains(each)))
    if domain in known:
        (tool,) = chosen  # one was asked for, and is elsewhere
        return f"{tool.name} is not in the domain {domain!r}, but in: {', '.join(_domains(tool)) or 'none'}."
    return f"No tool is in the domain {domain!r}. {nearest(domain, known)}"


def _room(out: Console) -> int | None:
    """How wide a line may be. Into a pipe it is as long as it needs, unless COLUMNS says otherwise."""
    return out.width if out.is_terminal or "COLUMNS" in os.environ else None


def _for_programs(seen: Seen) -> dict[str, dict[str, Any]]:
    return {name: {each.surveyed.name: _sighting(each) for each in sightings} for name, sightings in seen.items()}


def _sighting(sighting: Sighting) -> dict[str, Any]:
    told: dict[str, Any] = {"shown": sighting.tool is not None, "plain": sighting.surveyed.ours is None}
    if sighting.tool is None:
        return {**told, "denied": [gate.text for gate in sighting.denied], "why": why_hidden(sighting)}
    listed = sighting.tool.to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**told, **{key: listed.get(key) for key in ("description", "inputSchema", "outputSchema")}}
