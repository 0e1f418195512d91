"""Why a tool, or a part of one, is there for somebody or not: what serving asks on the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fastmcp_authz.contracts.outline import Part
from fastmcp_authz.contracts.shapes import is_null
from fastmcp_authz.survey.answering import Answer, answers, written_at
from fastmcp_authz.survey.places import Place, Places
from fastmcp_authz.survey.renaming import listed_as
from fastmcp_authz.survey.survey import Sight, Sighting, SurveyedTool

Side: TypeAlias = Literal["input", "output"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A predicate, and what it stands at."""

    answer: Answer
    guards: str
    """The tool, or the path of a part of it."""
    place: Place | None
    """Where that is declared."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is there for somebody, or why not."""

    shown: bool
    asked: tuple[Asked, ...]
    """Every predicate on the way to it, outermost first; then those in it that took away all that it could hold."""
    note: str | None
    """What decides beside the predicates, in a sentence."""
    declared: Place | None


def is_seen(sighting: Sighting, side: Side | None, part: Part | None) -> bool:
    """Whether a part is seen, or the tool where `part` is `None`."""
    if part is None:
        return sighting.tool is not None
    if side == "input" and listed_as(sighting.tool, part) is None:
        return False
    return part in (sighting.input if side == "input" else sighting.output)


async def reason(sight: Sight, tool: SurveyedTool, side: Side | None = None, part: Part | None = None) -> Reason:
    """Why a tool of ours is there for somebody, or a part of it where `part` is given."""
    declaration = tool.declaration
    assert declaration is not None
    here = written_at(declaration.original)
    caller = sight.caller(tool)
    if caller is None:
        return Reason(False, (), "No Authz protects the server that it is on, so every call is refused.", here)
    # Before anything else asks: a failure is told only once.
    known = await answers(caller, (*tool.gates, *(() if part is None else declaration.contract.predicates)))
    sighting = await sight.see(tool)
    asked = [Asked(known[gate], tool.name, here) for gate in tool.gates]
    if part is None or side is None:
        return Reason(sighting.tool is not None, tuple(asked), _of_tool(sight, sighting), here)

    places = Places(declaration.contract)
    place = places.input if side == "input" else places.output

    def at(each: Part) -> Iterator[Asked]:
        return (Asked(known[guard], each.path, place(each)) for guard in each.guards)

    way = _way(part)
    asked += [found for each in way for found in at(each)]
    shown = is_seen(sighting, side, part)
    note = _of_tool(sight, sighting)
    if not shown and sighting.tool is not None:
        lost = next(each for each in way if not is_seen(sighting, side, each))
        if side == "input" and listed_as(sighting.tool, lost) is None:
            note = "A ToolTransform hides it from everybody."
        elif all(known[guard].yes for guard in lost.guards):
            outline = tool.input if side == "input" else tool.output
            below = (each for each in outline.parts if _is_in(each, lost))
            asked += [found for each in below for found in at(each) if not found.answer.yes]
            note = _of_nothing_left(lost)
    return Reason(shown, tuple(asked), note, place(part))


def _way(part: Part) -> list[Part]:
    """The parts that a part is in, outermost first, itself last."""
    way = [part]
    while (above := way[0].above) is not None:
        way.insert(0, above)
    return way


def _is_in(part: Part, outer: Part) -> bool:
    return part is not outer and outer in _way(part)


def _of_tool(sight: Sight, sighting: Sighting) -> str | None:
    """Why a tool is hidden where no gate says so."""
    tool = sighting.surveyed
    caller, declaration = sight.caller(tool), tool.declaration
    if sighting.tool is not None or sighting.denied or caller is None or declaration is None:
        return None
    if not caller.comes_for(declaration.domains):
        domains = ", ".join(declaration.domains or (caller.settings.default_domain,))
        return f"It is in the domain {domains}, not in {caller.domain}."
    return "Guards have taken the whole output that there would be, and a tool without one is not shown."


def _of_nothing_left(lost: Part) -> str:
    if is_null(lost.shape) and not lost.guards:
        return 'Null is not taken here: nullable_inputs="opt-in", and no @nullable() stands on it.'
    return f"Nothing is left that {lost.path} could hold, so it goes as a whole."
