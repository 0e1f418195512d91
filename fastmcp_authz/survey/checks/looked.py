"""A server as every persona sees it: all that the rules look at, collected while the personas' contexts are open."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from fastmcp.tools import FunctionTool, Tool
from fastmcp.tools.tool_transform import TransformedTool

from fastmcp_authz.callers.predicates import Decisions, Predicate
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.contracts.contract import Syntax
from fastmcp_authz.contracts.outline import Part
from fastmcp_authz.contracts.shapes import Tree
from fastmcp_authz.serving.declaration import Declaration
from fastmcp_authz.survey.checks.contexts import Answering, answering
from fastmcp_authz.survey.checks.finding import Found, Spot, function_spot
from fastmcp_authz.survey.everything import Everything
from fastmcp_authz.survey.places import Places
from fastmcp_authz.survey.survey import Sight, Survey, SurveyedTool, UnmadeError

Side: TypeAlias = Literal["in", "out"]
EVERYBODY: Final = ""
"""In place of a persona's name: one who is answered with yes to everything."""


class Located(NamedTuple):
    """A part of a contract, and on which side it is."""

    side: Side
    part: Part

    def __str__(self) -> str:
        return f"{self.side} {self.part.path}"


@dataclass(frozen=True, eq=False)
class Subject:
    """One tool, ready to be judged."""

    surveyed: SurveyedTool
    seen: dict[str, Tool]
    """The tool as each persona is listed it who has it; the personas of its own authority, all of them if it is
    everybody's."""
    shown: dict[str, frozenset[Part]]
    """What each of them sees of it, inputs and outputs."""
    granted: dict[str, Decisions]
    """The predicates inside it that each of them is answered with yes."""
    personas: list[str]
    """Everybody who was asked, those who do not have the tool too."""

    @property
    def name(self) -> str:
        return self.surveyed.name

    @property
    def declaration(self) -> Declaration | None:
        return self.surveyed.declaration

    def parts(self) -> Iterator[Located]:
        """Inputs, then outputs. None of a tool that is not ours."""
        if self.declaration is not None:
            yield from (Located("in", part) for part in self.surveyed.input.parts)
            yield from (Located("out", part) for part in self.surveyed.output.parts)

    def tree(self, side: Side) -> Tree:
        """A side of the contract, guards and all."""
        return (self.surveyed.input if side == "in" else self.surveyed.output).tree

    def syntax(self) -> Syntax:
        """What the contract was read from."""
        assert self.declaration is not None
        return _syntax(self.declaration)

    def spot(self, located: Located) -> Spot | None:
        """Where a part is declared; where that cannot be told, the function."""
        assert self.declaration is not None
        places = _places(self.declaration)
        part = located.part
        span = places.input_span(part) if located.side == "in" else places.output_span(part)
        return self.function() if span is None else Spot.of(span)

    def function(self, *words: str) -> Spot | None:
        """The function, or the first of some words in its decorators."""
        fn = _function(self.surveyed)
        return None if fn is None else function_spot(fn, *words)

    def tag_spot(self, located: Located, name: str) -> Spot | None:
        """Where a tag of a part is written, if that is on the line of its name; else the part."""
        spot = self.spot(located)
        return None if spot is None else spot.marking(f"@{name}(")

    def gate_spot(self, gate: Predicate) -> Spot | None:
        """Where a gate of the whole tool is written, as far as that can be told."""
        pair = [] if gate.on == "current_user" else [f'("{gate.name}", "{gate.value}")']
        return self.function(*pair, f'"{gate.value}"', f"'{gate.value}'")

    def found(
        self, wrong: str, way_out: str, *, at: Located | None = None, spot: Spot | None = None, part: str = ""
    ) -> Found:
        """Something wrong with this tool, at a part of it or at a spot of its own."""
        if at is not None:
            return Found(self.name, str(at), spot or self.spot(at), wrong, way_out)
        return Found(self.name, part, spot or self.function(), wrong, way_out)


@dataclass(frozen=True, eq=False)
class Looked:
    """A server, with what each persona sees of it."""

    survey: Survey
    subjects: Sequence[Subject]
    answering: Mapping[Authority, Sequence[Answering]]
    """What the contexts of each authority's personas can be asked, those of nobody left out."""
    listed: Mapping[str, Sequence[tuple[Subject, Tool]]]
    """What each persona is listed, of all authorities; without personas, what `EVERYBODY` would be."""
    unmade: Mapping[str, UnmadeError]
    """The personas that could not be asked, since making them failed."""

    @property
    def personas(self) -> Sequence[str]:
        """Those that could be asked."""
        return [each for each in self.survey.personas if each not in self.unmade]

    @property
    def guarded(self) -> Sequence[Subject]:
        """The tools of ours."""
        return [each for each in self.subjects if each.declaration is not None]

    def unanswered(self, subject: Subject) -> frozenset[str]:
        """The predicates that no persona's context has a method for, nobody apart; empty where there is no persona."""
        authority = subject.surveyed.authority
        known = [] if authority is None else self.answering.get(authority, ())
        return frozenset.intersection(*(each.unanswered for each in known)) if known else frozenset()


async def look(survey: Survey) -> Looked:
    """Looks at a server as each of its personas."""
    tools = [each for each in survey.tools if _is_served(each, survey.domain)]
    asked = {each: _predicates(tools, each) for each in survey.authorities}
    contexts: dict[Authority, list[Answering]] = {each: [] for each in survey.authorities}
    subjects = [Subject(tool, {}, {}, {}, []) for tool in tools]
    listed: dict[str, list[tuple[Subject, Tool]]] = {}
    unmade: dict[str, UnmadeError] = {}
    for persona in survey.personas:
        try:
            async with survey.looked_at_by(persona) as sight:
                for authority in survey.authorities:
                    found = answering(sight.callers[authority].context, asked[authority])
                    if persona in authority.personas and found is not None:
                        contexts[authority].append(found)
                for subject in subjects:
                    if _asks(subject.surveyed, persona):
                        subject.personas.append(persona)
                listed[persona] = await _all_seen(subjects, sight, persona)
        except UnmadeError as error:
            unmade[persona] = error
    if not listed:
        async with survey.looked_at_by(Everything()) as sight:
            listed[EVERYBODY] = await _all_seen(subjects, sight, EVERYBODY)
    return Looked(survey, subjects, contexts, listed, unmade)


async def _all_seen(subjects: Sequence[Subject], sight: Sight, persona: str) -> list[tuple[Subject, Tool]]:
    return [each for subject in subjects if (each := await _seen(subject, sight, persona))]


async def _seen(subject: Subject, sight: Sight, persona: str) -> tuple[Subject, Tool] | None:
    """Keeps what a persona sees of a tool, if that says something of it, and returns what is listed."""
    sighting = await sight.see(subject.surveyed)
    if sighting.tool is None:
        return None
    if persona in subject.personas:
        subject.seen[persona] = sighting.tool
        subject.shown[persona] = sighting.input | sighting.output
        caller = sight.caller(subject.surveyed)
        if caller is not None and subject.declaration is not None:
            subject.granted[persona] = await caller.decide(subject.declaration.contract.predicates)
    return subject, sighting.tool


def _is_served(tool: SurveyedTool, domain: str | None) -> bool:
    return domain is None or tool.declaration is None or domain in _domains(tool, tool.declaration)


def domains_of(survey: Survey) -> tuple[str, ...]:
    """The domains that a server has tools of its authorities in."""
    found = (_domains(tool, tool.declaration) for tool in survey.tools if tool.declaration is not None)
    return tuple(dict.fromkeys(name for names in found for name in names))


def _domains(tool: SurveyedTool, declaration: Declaration) -> tuple[str, ...]:
    default = () if tool.authority is None else (tool.authority.settings.default_domain,)
    return declaration.domains or default


def _asks(tool: SurveyedTool, persona: str) -> bool:
    """Whether what a persona sees of a tool says something: it is nobody to authorities that do not know it."""
    return tool.authority is None or persona in tool.authority.personas


def _predicates(tools: Sequence[SurveyedTool], authority: Authority) -> tuple[Predicate, ...]:
    found: dict[Predicate, None] = {}
    for tool in tools:
        if tool.declaration is not None and tool.authority is authority:
            found |= dict.fromkeys((*tool.gates, *tool.declaration.contract.predicates))
    return tuple(found)


def _function(tool: SurveyedTool) -> Any:
    if tool.declaration is not None:
        return tool.declaration.original
    below = tool.least
    while isinstance(below, TransformedTool):
        below = below.parent_tool
    return inspect.unwrap(below.fn) if isinstance(below, FunctionTool) else None


@lru_cache(maxsize=1_024)
def _syntax(declaration: Declaration) -> Syntax:
    return declaration.contract.syntax()


@lru_cache(maxsize=1_024)
def _places(declaration: Declaration) -> Places:
    return Places(declaration.contract)
