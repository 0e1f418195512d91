"""`fastmcp-authz show`: what each persona sees, side by side."""

from __future__ import annotations

from fastmcp_authz.commands.loading import AsJson, Domain, Persona, ServerSpec, ToolName, load_server
from fastmcp_authz.commands.terminal import FINE, console, print_json
from fastmcp_authz.survey.survey import survey


async def show(
    server: ServerSpec,
    *,
    persona: Persona = None,
    tool: ToolName = None,
    domain: Domain = None,
    as_json: AsJson = False,
) -> int:
    """Show what each persona sees: its tools, their inputs, their outputs."""
    surveyed = await survey(await load_server(server), domain=domain)
    seen: dict[str, dict[str, list[str]]] = {}
    for each in surveyed.personas if persona is None else (persona,):
        async with surveyed.looked_at_by(each) as sight:
            seen[each] = {
                s.surveyed.name: [part.path for part in s.inputs]
                for s in await sight.see_all()
                if s.tool is not None and tool in (None, s.surveyed.name)
            }
    if as_json:
        print_json(seen)
    else:
        console().print(seen)
    return FINE
