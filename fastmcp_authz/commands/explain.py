"""`fastmcp-authz explain`: why something is there for a persona, or why not."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from cyclopts import Parameter
from rich.text import Text

from fastmcp_authz.commands.loading import (
    AsJson,
    CannotRunError,
    Domain,
    Persona,
    ServerSpec,
    ToolName,
    load_server,
)
from fastmcp_authz.commands.naming import nearest, shown_path, shown_place, the_tool
from fastmcp_authz.commands.noting import looked_through, note_strangers, note_unmade
from fastmcp_authz.commands.terminal import FINE, console, print_json
from fastmcp_authz.commands.whereabouts import whereabouts
from fastmcp_authz.contracts.outline import Part, by_last_name
from fastmcp_authz.errors import listed
from fastmcp_authz.survey.places import Place
from fastmcp_authz.survey.reasons import Asked, Reason, Side, is_seen, reason
from fastmcp_authz.survey.renaming import listed_as
from fastmcp_authz.survey.survey import Survey, SurveyedTool, UnmadeError

ThePersona: TypeAlias = Annotated[str, Parameter(name="--as", help="A persona of Authz(personas=...)")]
FieldName: TypeAlias = Annotated[
    str | None,
    Parameter(name="--field", help="A field or a member of a union: stage_id, applicants.email or email, rerouted"),
]


@dataclass(frozen=True, slots=True)
class Explained:
    """A tool, or a part of it, with the reason why a persona sees it or not."""

    thing: str
    side: Side | None
    reason: Reason | None
    """`None` for a tool that is everybody's."""
    others: tuple[str, ...]
    """The other personas that see it."""


async def explain(
    server: ServerSpec,
    /,
    *,
    persona: Persona = None,
    tool: ToolName = None,
    field: FieldName = None,
    domain: Domain = None,
    as_json: AsJson = False,
) -> int:
    """Say why a tool, or a field of it, is there for a persona or not: who was asked what, and answered what.

    With --field, and without --tool or --as: who sees what is named so, in every tool or as every persona.
    """
    if field is None and (persona is None or tool is None):
        raise CannotRunError("Give --as and --tool, or --field: who sees that, in all tools and as all personas.")
    loaded = await load_server(server)
    if persona is None or tool is None:
        return await whereabouts(loaded, field or "", persona, tool, domain, as_json=as_json)
    with contextlib.redirect_stdout(sys.stderr):  # a context may print
        surveyed = await looked_through(loaded, domain=domain)
        found = the_tool(surveyed, tool)
        explained = await _explained(surveyed, found, persona, _meant(found, field))
    note_strangers(surveyed, [found], surveyed.personas)
    if as_json:
        print_json(
            {"tool": tool, "persona": persona, "field": field, "explanations": [_for_programs(e) for e in explained]}
        )
    else:
        out = console()
        for number, each in enumerate(explained):
            if number:
                out.print()
            for line in _told(each, persona):
                out.print(line)
    return FINE


def _meant(tool: SurveyedTool, field: str | None) -> list[tuple[Side | None, Part | None, str]]:
    """What of a tool is meant, with its name: each input and output that is called so, else the one that ends so.

    Raises:
        CannotRunError: Nothing is called so, or several fields end so.
    """
    if field is None:
        return [(None, None, tool.name)]
    if tool.declaration is None:
        return _meant_of_plain(tool, field)
    sides: tuple[tuple[Side, Sequence[Part]], ...] = (("input", tool.input.parts), ("output", tool.output.parts))
    every = [(side, part) for side, parts in sides for part in parts]
    found = [(side, part) for side, part in every if _is_called(field, tool, side, part)]
    if not found:
        ending = by_last_name((part for _, part in every), field)
        paths = list(dict.fromkeys(part.path for parts in ending.values() for part in parts))
        if len(ending) > 1:
            raise CannotRunError(f"{tool.name} has several fields {field!r}. Write one of {listed(paths)}.")
        found = [(side, part) for side, part in every if part.path in paths]
    if not found:
        known = list(dict.fromkeys(part.path for _, part in every))
        raise CannotRunError(f"{tool.name} has no field {field!r}. {nearest(field, known)}")
    return [(side, part, f"{tool.name}.{part.path}") for side, part in found]


def _is_called(field: str, tool: SurveyedTool, side: Side, part: Part) -> bool:
    """Whether a name means a part: as its author wrote it, or as a ToolTransform has it listed."""
    return part.is_called(field) or (side == "input" and listed_as(tool.least, part) == field and len(part.steps) == 1)


def _meant_of_plain(tool: SurveyedTool, field: str) -> list[tuple[Side | None, Part | None, str]]:
    schemas: tuple[tuple[Side, Any], ...] = (("input", tool.least.parameters), ("output", tool.least.output_schema))
    known = [(side, name) for side, schema in schemas for name in (schema or {}).get("properties", {})]
    if field not in {name for _, name in known}:
        names = list(dict.fromkeys(name for _, name in known))
        raise CannotRunError(f"{tool.name} has no field {field!r}. {nearest(field, names)}")
    return [(side, None, f"{tool.name}.{field}") for side, name in known if name == field]


async def _explained(
    surveyed: Survey, tool: SurveyedTool, persona: str, meant: Sequence[tuple[Side | None, Part | None, str]]
) -> list[Explained]:
    async with surveyed.looked_at_by(persona) as sight:
        reasons = [None if tool.ours is None else await reason(sight, tool, side, part) for side, part, _ in meant]
    seen: dict[str, list[bool]] = {}
    unmade: list[UnmadeError] = []
    for other in surveyed.personas:
        if other != persona:
            try:
                async with surveyed.looked_at_by(other) as sight:
                    sighting = await sight.see(tool)
            except UnmadeError as error:
                unmade.append(error)
                continue
            seen[other] = [tool.ours is None or is_seen(sighting, side, part) for side, part, _ in meant]
    note_unmade(unmade, [persona])
    return [
        Explained(name, side, why, tuple(other for other, sees in seen.items() if sees[index]))
        for index, ((side, _, name), why) in enumerate(zip(meant, reasons, strict=True))
    ]


# -- for people --------------------------------------------------------------------------------------------------------


def _told(explained: Explained, persona: str) -> list[Text]:
    why = explained.reason
    shown = why is None or why.shown
    side = f" ({explained.side})" if explained.side is not None else ""
    lines = [
        Text.assemble(
            (explained.thing, "bold"),
            f"{side} is ",
            ("shown to", "green") if shown else ("hidden from", "red"),
            f" {persona}.",
        )
    ]
    if why is None:
        return [*lines, Text("It is everybody's: no authorized_tool.")]
    for each in why.asked:
        lines += _told_of_question(each)
    if not why.asked and why.note is None:
        lines.append(Text("  Nothing guards it."))
    lines += [] if why.note is None else [Text(f"  {why.note}")]
    lines += [] if why.declared is None else [Text(f"  declared at {shown_place(why.declared)}", "dim")]
    return [*lines, Text(_to_others(shown, explained.others))]


def _told_of_question(asked: Asked) -> list[Text]:
    answer = asked.answer
    yes = ("yes", "green") if answer.yes else ("no ", "red")
    lines = [Text.assemble("  ", yes, f"  {answer.predicate.text}")]
    where = "" if answer.place is None else f", {shown_place(answer.place)}"
    failed = "" if answer.failure is None else f": {answer.failure}, which is a no"
    lines.append(Text(f"         asked   {answer.asked}{where}{failed}", "dim"))
    at = "" if asked.place is None else f", {shown_place(asked.place)}"
    return [*lines, Text(f"         guards  {asked.guards}{at}", "dim")]


def _to_others(shown: bool, others: Sequence[str]) -> str:
    if not others:
        return "It is shown to no other persona." if shown else "It would be shown to no persona."
    return f"It is shown to {', '.join(others)} too." if shown else f"It would be shown to: {', '.join(others)}."


# -- for programs ------------------------------------------------------------------------------------------------------


def _for_programs(explained: Explained) -> dict[str, Any]:
    why = explained.reason
    return {
        "thing": explained.thing,
        "side": explained.side,
        "shown": why is None or why.shown,
        "everybodys": why is None,
        "asked": [] if why is None else [_question(each) for each in why.asked],
        "note": None if why is None else why.note,
        "declared": None if why is None else _place(why.declared),
        "also_shown_to": list(explained.others),
    }


def _question(asked: Asked) -> dict[str, Any]:
    answer = asked.answer
    return {
        "predicate": answer.predicate.text,
        "answer": answer.yes,
        "failure": answer.failure,
        "asked": {"of": answer.asked, "at": _place(answer.place)},
        "guards": {"path": asked.guards, "at": _place(asked.place)},
    }


def _place(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {"file": shown_path(place.file), "line": place.line}
