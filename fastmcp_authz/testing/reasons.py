"""Why something is there for somebody, or not: the predicates, what they answered, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.contracts.outline import Part
from fastmcp_authz.survey.places import Place, Places
from fastmcp_authz.survey.survey import Sight, Sighting, SurveyedTool
from fastmcp_authz.testing.targets import Side


class _Row(NamedTuple):
    what: str
    question: str
    answer: str = ""
    place: str = ""


async def reasons(sight: Sight, seen: Sighting, parts: Sequence[tuple[Side, Part]] = ()) -> str:
    """Lines that say why a tool, or parts of it, are there for whoever looks, or are not."""
    rows = await _of_tool(sight, seen)
    if seen.tool is not None:
        for side, part in parts:
            rows += await _of_part(sight, seen, side, part)
    return "\n".join(_laid_out(rows))


async def _of_tool(sight: Sight, seen: Sighting) -> list[_Row]:
    tool = seen.surveyed
    if not tool.enabled:
        return [_Row(tool.name, "is disabled: nobody has it")]
    if tool.ours is None:
        auth = "" if tool.least.auth is None else "; its auth= is FastMCP's, and is asked with a request alone"
        return [_Row(tool.name, f"is no authorized_tool: everybody has all of it{auth}")]
    place = _declared_at(tool)
    if tool.authority is None:
        return [_Row(tool.name, "is decorated, and no Authz protects it: every call is refused", "", place)]
    caller = sight.caller(tool)
    assert caller is not None
    if not caller.comes_for(tool.ours.declaration.domains):
        return [_Row(tool.name, f"is in another domain: {', '.join(tool.ours.declaration.domains)}", "", place)]
    rows = [
        _Row(tool.name, gate.text, "yes" if yes else "no", place)
        for gate, yes in await _answered(sight, tool, tool.gates)
    ]
    if seen.tool is None and not seen.denied:
        rows.append(_Row(tool.name, "nothing is left of its output", "", place))
    return rows or [_Row(tool.name, "has no gate", "", place)]


async def _of_part(sight: Sight, seen: Sighting, side: Side, part: Part) -> list[_Row]:
    tool = seen.surveyed
    assert tool.declaration is not None
    places = Places(tool.declaration.contract)
    rows: list[_Row] = []
    for each in _from_outermost(part):
        place = places.input(each) if side == "input" else places.output(each)
        for guard, yes in await _answered(sight, tool, each.guards):
            rows.append(_Row(f"{side} {each.path}", guard.text, "yes" if yes else "no", _shown(place)))
    place = places.input(part) if side == "input" else places.output(part)
    shown = part in (seen.input if side == "input" else seen.output)
    if shown and not rows:
        return [_Row(f"{side} {part.path}", "nothing guards it", "", _shown(place))]
    if not shown and all(row.answer == "yes" for row in rows):
        rows.append(_Row(f"{side} {part.path}", "nothing is left of its type", "", _shown(place)))
    return rows


def _from_outermost(part: Part) -> list[Part]:
    chain = [part]
    while chain[-1].above is not None:
        chain.append(chain[-1].above)
    return chain[::-1]


async def _answered(sight: Sight, tool: SurveyedTool, asked: Sequence[Predicate]) -> list[tuple[Predicate, bool]]:
    caller = sight.caller(tool)
    assert caller is not None
    granted = await caller.decide(asked)
    return [(each, each in granted) for each in asked]


def _declared_at(tool: SurveyedTool) -> str:
    assert tool.declaration is not None
    for place in tool.declaration.contract.places.values():
        return _shown(Place.of(place))
    output = Places(tool.declaration.contract).alias("output")
    return _shown(output)


def _shown(place: Place | None) -> str:
    return "" if place is None else str(place)


def _laid_out(rows: Sequence[_Row]) -> list[str]:
    rows = list(dict.fromkeys(rows))
    what, question, answer = (max(len(row[index]) for row in rows) for index in range(3))
    return [
        f"  {row.what:{what}}  {row.question:{question}}  {row.answer:{answer}}  {row.place}".rstrip() for row in rows
    ]
