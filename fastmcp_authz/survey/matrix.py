"""Who sees what of a server, as plain data: each tool, input and output, with its guards, its place and its viewers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic_core import from_json

from fastmcp_authz.contracts.outline import Outline, Part, type_name
from fastmcp_authz.contracts.shapes import Scalar, Words
from fastmcp_authz.survey.everything import Everything
from fastmcp_authz.survey.places import Place, Places
from fastmcp_authz.survey.survey import Sight, Sighting, Survey, SurveyedTool, UnmadeError

Side: TypeAlias = Literal["input", "output"]
Kind: TypeAlias = Literal["guarded", "undecorated", "unprotected"]
Reason: TypeAlias = Literal["gates", "output", "unprotected"]

NOBODY: Final = "nobody"
EVERYTHING: Final = "everything"
NO_PERSONAS: Final = (
    "This server names no personas. Shown instead: nobody, who is answered with no throughout, and everything, who is "
    'answered with yes. Write Authz(mcp, context=..., personas={"manager": lambda: context}) to see your own.'
)


@dataclass(frozen=True)
class PartRow:
    """An input or an output, or a part of one."""

    side: Side
    path: str
    name: str
    kind: Literal["field", "member"]
    type: str
    """In a word or two."""
    required: bool
    above: int | None
    """The index of the part that it is in."""
    guards: tuple[str, ...]
    """The predicates right at it."""
    description: str
    place: str | None
    """Where it is declared: `server.py:41`."""
    seen_by: tuple[str, ...]
    """The personas that see it."""


@dataclass(frozen=True)
class Listing:
    """A tool, as some personas are listed it."""

    description: str | None
    input: Mapping[str, Any]
    output: Mapping[str, Any] | None


@dataclass(frozen=True)
class Look:
    """What one persona has of a tool."""

    listing: int | None
    """The index of what is listed; `None` where the tool does not exist for the persona."""
    because: Reason | None
    """Why it does not: a gate says no, nothing of the output is left, or nobody protects the tool."""
    answers: Mapping[str, bool]
    """By predicate. What is not in it was not asked, since a gate had said no."""


@dataclass(frozen=True)
class ToolRow:
    """A tool, its inputs and its outputs."""

    name: str
    kind: Kind
    """`undecorated` tools are everybody's, `unprotected` ones nobody's: decorated, and no `Authz` decides for them."""
    description: str
    """The author's; what personas are told is in the listings."""
    place: str | None
    domains: tuple[str, ...]
    gates: tuple[str, ...]
    seen_by: tuple[str, ...]
    looks: Mapping[str, Look]
    """By persona."""
    listings: tuple[Listing, ...]
    parts: tuple[PartRow, ...]


@dataclass(frozen=True)
class Matrix:
    """Personas by tools. It holds everything that a server has, and so is for operators only."""

    server: str
    domain: str | None
    note: str | None
    """What to know about the personas, where they are not the server's own, or not all of them."""
    personas: tuple[str, ...]
    tools: tuple[ToolRow, ...]
    unmade: tuple[UnmadeError, ...] = ()
    """Of the personas that are left out, since making them failed."""

    def as_json(self) -> dict[str, Any]:
        """The same as JSON has it; the note says of those that are left out."""
        data = asdict(replace(self, unmade=()))
        del data["unmade"]
        return data


async def matrix_of(survey: Survey) -> Matrix:
    """Asks every persona of a server, or nobody and everything where it has none, what they see."""
    who: dict[str, Any] = {name: name for name in survey.personas} or {NOBODY: None, EVERYTHING: Everything()}
    sightings: dict[SurveyedTool, dict[str, Sighting]] = defaultdict(dict)
    answers: dict[SurveyedTool, dict[str, Mapping[str, bool]]] = defaultdict(dict)
    unmade: dict[str, UnmadeError] = {}
    for name, each in who.items():
        try:
            async with survey.looked_at_by(each) as sight:
                for tool in survey.tools:
                    if _is_in_domain(sight, tool):
                        sightings[tool][name] = await sight.see(tool)
                        answers[tool][name] = await _answers(sight, tool)
        except UnmadeError as error:
            unmade[name] = error
    rows = tuple(_tool_row(tool, seen, answers[tool]) for tool, seen in sightings.items())
    note = None if survey.personas else NO_PERSONAS
    if unmade:
        note = " ".join(error.left_out for error in unmade.values())
    made = tuple(name for name in who if name not in unmade)
    return Matrix(survey.server.name, survey.domain, note, made, rows, tuple(unmade.values()))


def _is_in_domain(sight: Sight, tool: SurveyedTool) -> bool:
    caller = sight.caller(tool)
    return tool.declaration is None or caller is None or caller.comes_for(tool.declaration.domains)


async def _answers(sight: Sight, tool: SurveyedTool) -> dict[str, bool]:
    """What was asked about a tool, gates first, and inside only where all of them say yes."""
    caller = sight.caller(tool)
    if tool.declaration is None or caller is None:
        return {}
    granted = await caller.decide(tool.gates)
    asked = [*tool.gates]
    if len(granted) == len(set(tool.gates)):
        asked += tool.declaration.contract.predicates
        granted |= await caller.decide(tool.declaration.contract.predicates)
    return {predicate.text: predicate in granted for predicate in asked}


def _tool_row(tool: SurveyedTool, seen: Mapping[str, Sighting], answers: Mapping[str, Mapping[str, bool]]) -> ToolRow:
    listed: dict[str, int] = {}  # by text: Python takes 1 and True for equal
    looks: dict[str, Look] = {}
    for name, sighting in seen.items():
        if sighting.tool is None:
            looks[name] = Look(None, _reason(sighting), answers[name])
        else:
            text = sighting.tool.to_mcp_tool().model_dump_json(by_alias=True, exclude_none=True)
            looks[name] = Look(listed.setdefault(text, len(listed)), None, answers[name])
    listings = tuple(map(_listing, listed))
    declaration = tool.declaration
    return ToolRow(
        name=tool.name,
        kind=_kind(tool),
        description=(tool.least.description or "") if declaration is None else declaration.contract.description,
        place=None if declaration is None else _place_of_function(declaration.original),
        domains=() if declaration is None else declaration.domains,
        gates=tuple(gate.text for gate in tool.gates),
        seen_by=tuple(name for name, look in looks.items() if look.listing is not None),
        looks=looks,
        listings=listings,
        parts=tuple(_undecorated_parts(listings, tuple(seen)) if declaration is None else _parts(tool, seen)),
    )


def _kind(tool: SurveyedTool) -> Kind:
    if tool.ours is None:
        return "undecorated"
    return "unprotected" if tool.authority is None else "guarded"


def _reason(sighting: Sighting) -> Reason:
    if sighting.surveyed.authority is None:
        return "unprotected"
    return "gates" if sighting.denied else "output"


def _listing(text: str) -> Listing:
    listed = from_json(text)
    return Listing(listed.get("description"), listed["inputSchema"], listed.get("outputSchema"))


def _parts(tool: SurveyedTool, seen: Mapping[str, Sighting]) -> Iterator[PartRow]:
    assert tool.declaration is not None
    places = Places(tool.declaration.contract)
    before = 0
    sides: Sequence[tuple[Side, Outline]] = (("input", tool.input), ("output", tool.output))
    for side, outline in sides:
        told = _worth_telling(outline)
        index = {part: before + number for number, part in enumerate(told)}
        before += len(told)
        for part in told:
            place = places.input(part) if side == "input" else places.output(part)
            yield PartRow(
                side=side,
                path=part.path,
                name=part.name,
                kind="field" if part.is_field else "member",
                type=type_name(part.shape),
                required=part.required,
                above=None if part.above is None else index[part.above],
                guards=tuple(guard.text for guard in part.guards),
                description=str(dict(outline.tree.resolve(part.shape).notes.keywords).get("description", "")),
                place=None if place is None else _relative(place),
                seen_by=tuple(name for name, each in seen.items() if part in getattr(each, side)),
            )


def _worth_telling(outline: Outline) -> list[Part]:
    """All parts but the constants, and nils, of unions that are the same for everybody: the type says these."""
    unions: dict[tuple[object, ...], list[Part]] = defaultdict(list)
    for part in outline.parts:
        if not part.is_field:
            unions[part.steps[:-1]].append(part)
    untold = {
        part
        for members in unions.values()
        if all(isinstance(each.shape, Words | Scalar) and not each.guards for each in members)
        for part in members
    }
    return [part for part in outline.parts if part not in untold]


def _undecorated_parts(listings: Sequence[Listing], everybody: tuple[str, ...]) -> Iterator[PartRow]:
    """What a tool that is not ours says of itself: its parameters and the fields of its result."""
    for side in ("input", "output"):
        schema: Mapping[str, Any] = getattr(listings[0], side) or {}
        for name, inner in schema.get("properties", {}).items():
            told: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
            yield PartRow(
                side="input" if side == "input" else "output",
                path=name,
                name=name,
                kind="field",
                type=str(told.get("type", "untyped")),
                required=name in schema.get("required", ()),
                above=None,
                guards=(),
                description=str(told.get("description", "")),
                place=None,
                seen_by=everybody,
            )


def _place_of_function(function: Any) -> str | None:
    code = getattr(function, "__code__", None)
    return None if code is None else _relative(Place(code.co_filename, code.co_firstlineno))


def _relative(place: Place) -> str:
    """A place as people write it, from where they are."""
    file = Path(place.file)
    here = Path.cwd()
    return str(Place(file.relative_to(here).as_posix(), place.line) if file.is_relative_to(here) else place)
