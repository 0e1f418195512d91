"""Predicates that contexts have no method for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.errors import near_names
from fastmcp_authz.survey.checks.finding import Found, Spot, callable_spot
from fastmcp_authz.survey.checks.looked import Looked, Subject
from fastmcp_authz.survey.checks.words import quoted, written, written_gate


def unanswered_by_all(looked: Looked) -> Iterator[Found]:
    """Predicates that the context of no persona has a method for."""
    for authority, uses in _uses(looked).items():
        known = looked.answering.get(authority, ())
        methods = dict.fromkeys(name for each in known for name in each.methods)
        for name, (predicate, subject, part, spot, also) in uses.items():
            if not known or not all(predicate.text in each.unanswered for each in known):
                continue
            if name == "requires":
                yield Found(
                    subject.name,
                    part,
                    spot,
                    "No persona's context has a method `requires`, nor a `current_user` with a method `can`, so that "
                    f"{_said(predicate)} and every other permission is a no for everybody.",
                    "Define `requires(self, flag)` in the context.",
                    also,
                )
            else:
                near = near_names(name, methods, most=2)
                if name == "can":
                    near = ["requires"]
                meant = f"Did you mean {quoted((f'@{each}' for each in near), 'or')}? Else define" if near else "Define"
                yield Found(
                    subject.name,
                    part,
                    spot,
                    f"No persona's context has a method `{name}`, so that {_said(predicate)} "
                    f"{_consequence(authority)}.",
                    f"{meant} `{name}(self, value)` in the context.",
                    also,
                )


def unmade(looked: Looked) -> Iterator[Found]:
    """Personas whose contexts cannot be made, so that nobody knows what they see."""
    for persona, error in looked.unmade.items():
        makers = (each.personas[persona] for each in looked.survey.authorities if persona in each.personas)
        yield Found(
            None,
            f"persona {persona}",
            next((spot for make in makers if (spot := callable_spot(make)) is not None), None),
            f"{error}. What it sees is not looked at.",
            "Let personas= make it without a database, a request or a secret; or leave it out of personas=.",
        )


def unanswered_by_some(looked: Looked) -> Iterator[Found]:
    """Predicates that the contexts of some personas have no method for, where what is missing is allowed."""
    for authority, uses in _uses(looked).items():
        if authority.settings.missing_predicate != "allow":
            continue
        known = looked.answering.get(authority, ())
        for name, (predicate, subject, part, spot, also) in uses.items():
            lacking = [predicate.text in each.unanswered for each in known]
            if name != "requires" and any(lacking) and not all(lacking):
                yield Found(
                    subject.name,
                    part,
                    spot,
                    f"The contexts of some personas have no method `{name}`, and to those callers what it guards is "
                    "shown unasked.",
                    f'Define `{name}(self, value)` in every context, or set missing_predicate="deny".',
                    also,
                )


def _said(predicate: Predicate) -> str:
    return f"`{written_gate(predicate) if predicate.on == 'current_user' else written(predicate)}`"


def _consequence(authority: Authority) -> str:
    if authority.settings.missing_predicate == "allow":
        return 'is skipped and what it guards is shown to everybody, as missing_predicate="allow" has it'
    return "is a no for everybody"


_Use = tuple[Predicate, Subject, str, Spot | None, tuple[str, ...]]


def _uses(looked: Looked) -> dict[Authority, dict[str, _Use]]:
    """The first use of each predicate by its name, a permission as `requires`, and the other tools that use it."""
    found: dict[Authority, dict[str, _Use]] = {}
    for subject in looked.guarded:
        authority = subject.surveyed.authority
        if authority is None:
            continue
        uses = found.setdefault(authority, {})
        for predicate, part, spot in _asked(subject):
            name = "requires" if predicate.on == "current_user" else predicate.name
            if name not in uses:
                uses[name] = (predicate, subject, part, spot(), ())
            elif subject is not uses[name][1]:
                also = dict.fromkeys((*uses[name][4], subject.name))
                uses[name] = (*uses[name][:4], tuple(also))
    return found


def _asked(subject: Subject) -> Iterator[tuple[Predicate, str, Callable[[], Spot | None]]]:
    """Everything that a tool asks: the predicate, the part that it guards, and where that stands."""
    for gate in subject.surveyed.gates:
        yield gate, "", partial(subject.gate_spot, gate)
    for located in subject.parts():
        for guard in located.part.guards:
            yield guard, str(located), partial(subject.tag_spot, located, guard.name)
