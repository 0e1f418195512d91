"""Guarded things that every persona sees, and such that none does."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.contracts.outline import Part
from fastmcp_authz.survey.checks.finding import Found
from fastmcp_authz.survey.checks.looked import Located, Looked, Subject
from fastmcp_authz.survey.checks.words import conjoined, quoted, written, written_gate

_ENOUGH: Final = 2
"""How many personas it takes to say `every` or `none`."""
_IDLE: Final = "Leave the guard out, or name a persona who is to be kept out in Authz(personas=...)."


def seen_by_all(looked: Looked) -> Iterator[Found]:
    """Guarded things that every persona sees, so that nothing shows whom the guard keeps out.

    The `authorization` of a whole tool is no such thing: it keeps out those who are no persona.
    """
    for subject in _judged(looked):
        unanswered = looked.unanswered(subject)
        if len(subject.seen) == len(subject.personas):
            gates = [gate for gate in subject.surveyed.gates if gate.on == "context"]
            if gates and all(gate.text not in unanswered for gate in gates):
                guards = conjoined(f"`{written_gate(gate)}`" for gate in gates)
                yield subject.found(
                    f"Every persona has it: {guards} keeps out none of {_people(subject)}.",
                    _IDLE,
                    spot=subject.gate_spot(gates[0]),
                )
    for uses in _guarded_parts(looked):
        if all(located.part in s.shown.get(each, ()) for s, located in uses for each in s.personas):
            subject, located = uses[0]
            yield _at_all(
                uses,
                subject.found(
                    f"Every persona sees it: {quoted(map(written, located.part.guards))} keeps out none of "
                    f"{_people(subject)}.",
                    _IDLE,
                    at=located,
                    spot=subject.tag_spot(located, located.part.guards[0].name),
                ),
            )


def seen_by_none(looked: Looked) -> Iterator[Found]:
    """Guarded things that no persona sees: of what is within one another the outermost."""
    for subject in _judged(looked):
        unanswered = looked.unanswered(subject)
        if not subject.seen:
            gates = subject.surveyed.gates
            if gates and all(gate.text not in unanswered for gate in gates):
                yield subject.found(
                    f"No persona has it: not one of {_people(subject)} passes "
                    f"{conjoined(f'`{written_gate(gate)}`' for gate in gates)}.",
                    _meant(looked, gates),
                    spot=subject.gate_spot(gates[0]),
                )
            elif not gates:
                yield subject.found(
                    f"No persona has it: to every one of {_people(subject)} guards take its whole output.",
                    "Let something of the output be left for those who are to have the tool.",
                )
    for uses in _guarded_parts(looked):
        looking = [(s, located, seeing) for s, located in uses if (seeing := _seeing_above(s, located.part))]
        if looking and not any(located.part in shown for s, located in uses for shown in s.shown.values()):
            subject, located, people = looking[0]
            guards = located.part.guards
            yield _at_all(
                uses,
                subject.found(
                    f"No persona sees it: {quoted(map(written, guards))} keeps out {conjoined(people)}.",
                    _meant(looked, guards),
                    at=located,
                    spot=subject.tag_spot(located, guards[0].name),
                ),
            )


def _seeing_above(subject: Subject, part: Part) -> list[str]:
    """The personas who see what a part is in."""
    return [each for each, shown in subject.shown.items() if part.above is None or part.above in shown]


_Uses: TypeAlias = Sequence[tuple[Subject, Located]]


def _guarded_parts(looked: Looked) -> Iterator[_Uses]:
    """Guarded parts whose guards can be asked; what tools share is one thing, that is judged in all of them."""
    alike: dict[object, list[tuple[Subject, Located]]] = {}
    for subject in _judged(looked):
        unanswered = looked.unanswered(subject)
        for located in subject.parts():
            guards = located.part.guards
            if guards and all(guard.text not in unanswered for guard in guards):
                spot = subject.spot(located)
                key = (spot, located.part.name, guards) if spot is not None else located
                alike.setdefault(key, []).append((subject, located))
    yield from alike.values()


def _at_all(uses: _Uses, found: Found) -> Found:
    return found._replace(also=tuple(dict.fromkeys(s.name for s, _ in uses if s.name != found.tool)))


def _judged(looked: Looked) -> Iterator[Subject]:
    for subject in looked.guarded:
        if subject.surveyed.authority is not None and len(subject.personas) >= _ENOUGH:
            yield subject


def _people(subject: Subject) -> str:
    return conjoined(subject.personas)


def _meant(looked: Looked, guards: Iterable[Predicate]) -> str:
    """A way out, with a flag that somebody has and that is nearly the one that nobody has."""
    held = _held(looked)
    for guard in guards:
        flags = held.get(_kind(guard), set())
        near = difflib.get_close_matches(str(guard.value), sorted(flags), n=1, cutoff=0.75)
        if near and guard.value not in flags:
            return f"Did you mean `{near[0]}`, which a persona has? Else name a persona who has `{guard.value}`."
    return "Leave it out, or name a persona who is to see it in Authz(personas=...)."


def _held(looked: Looked) -> dict[str, set[str]]:
    """The flags that some persona has, by the name of the predicate."""
    held: dict[str, set[str]] = {}
    for subject in looked.guarded:
        passed = subject.surveyed.gates if subject.seen else ()
        granted = (predicate for decisions in subject.granted.values() for predicate in decisions)
        for predicate in (*passed, *granted):
            held.setdefault(_kind(predicate), set()).add(str(predicate.value))
    return held


def _kind(predicate: Predicate) -> str:
    return "requires" if predicate.on == "current_user" else predicate.name
