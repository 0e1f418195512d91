"""`fastmcp-authz explain --field` without a tool or a persona: where something is, and who sees it there."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from fastmcp import FastMCP
from rich.text import Text

from fastmcp_authz.commands.columns import in_columns, widths
from fastmcp_authz.commands.loading import CannotRunError
from fastmcp_authz.commands.naming import nearest
from fastmcp_authz.commands.noting import looked_through, note_strangers
from fastmcp_authz.commands.show import NO_PERSONAS, chosen_tools, seen_by_each
from fastmcp_authz.commands.terminal import FINE, console, print_json
from fastmcp_authz.errors import listed
from fastmcp_authz.survey.finding import Found, find
from fastmcp_authz.survey.lines import OPEN
from fastmcp_authz.survey.survey import SurveyedTool


async def whereabouts(
    server: FastMCP[Any], name: str, persona: str | None, tool: str | None, domain: str | None, *, as_json: bool
) -> int:
    """Tells where a name stands, and who sees it there.

    Raises:
        CannotRunError: Nothing is called so.
    """
    with contextlib.redirect_stdout(sys.stderr):  # a context may print
        surveyed = await looked_through(server, domain=domain)
        tools = chosen_tools(surveyed, tool, domain)
        found = list(find(tools, name))
        if not name or all(each.anything for each in found):
            wild = f" Outputs that hold anything: {listed([str(each.key) for each in found])}." if found else ""
            raise CannotRunError(f"Nothing is called {name!r}. {nearest(name, _names(tools))}{wild}")
        seen = await seen_by_each(surveyed, tools, persona)
    note_strangers(surveyed, [each.tool for each in found], seen if surveyed.personas else ())
    by_tool = {who: dict(zip(tools, each, strict=True)) for who, each in seen.items()}
    viewers = {
        each: [who for who, sightings in by_tool.items() if each.is_seen(sightings[each.tool])] for each in found
    }
    if as_json:
        print_json({"field": name, "personas": list(seen), "found": [_for_programs(f, viewers[f]) for f in found]})
        return FINE
    out = console()
    for line in _told(name, viewers, list(seen)):
        out.print(line)
    if not surveyed.personas:
        out.print(f"\n{NO_PERSONAS}", markup=False)
    return FINE


def _names(tools: Sequence[SurveyedTool]) -> list[str]:
    """What might have been meant."""
    ours = (each for each in tools if each.declaration is not None)
    return list(dict.fromkeys(p.name for t in ours for o in (t.input, t.output) for p in o.parts if p.is_field))


def _told(name: str, viewers: Mapping[Found, Sequence[str]], personas: Sequence[str]) -> list[Text]:
    rows = {each: _row(each, who, personas) for each, who in viewers.items()}
    columns = widths(list(rows.values()), None)
    assert columns is not None, "without an end there is room for all"
    lines = list(in_columns([row for each, row in rows.items() if not each.anything], columns))
    wild = [row for each, row in rows.items() if each.anything]
    if wild:
        lines += [Text(f"\nThese hold anything, and so what is called {name!r} too, if their functions return it:")]
        lines += in_columns(wild, columns)
    return [*lines, Text(), *(Text(_counted(who, viewers)) for who in personas)]


def _row(found: Found, viewers: Sequence[str], personas: Sequence[str]) -> list[Text]:
    everybody = len(viewers) == len(personas) > 1
    who = "all" if everybody else ", ".join(viewers) or "none"
    return [Text(str(found.key), "bold"), Text(who, "green" if viewers else "dim"), Text(_guards(found))]


def _guards(found: Found) -> str:
    return ", ".join(found.guards) or OPEN


def _counted(who: str, viewers: Mapping[Found, Sequence[str]]) -> str:
    def of(each: Sequence[Found]) -> str:
        return f"{sum(who in viewers[one] for one in each)} of {len(each)}"

    named = [each for each in viewers if not each.anything]
    sides = ((side, [each for each in named if each.side == side]) for side in ("output", "input"))
    counts = [f"{of(each)} {side}{'' if len(each) == 1 else 's'}" for side, each in sides if each]
    wild = [each for each in viewers if each.anything]
    return f"{who} sees {', '.join(counts)}{f', and {of(wild)} that hold anything' if wild else ''}."


def _for_programs(found: Found, viewers: Sequence[str]) -> dict[str, Any]:
    return {
        "tool": found.key.tool,
        "side": found.key.side,
        "path": found.key.path,
        "anything": found.anything,
        "guards": list(found.guards),
        "seen_by": list(viewers),
    }
