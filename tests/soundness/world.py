"""One drawn situation: a contract, a caller of it, the library's view and the model's."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from fastmcp_authz import (
    CallerView,
    InvalidInputError,
    OutputWithheldError,
    Settings,
    ToolContract,
    UnknownInputKeysError,
)
from fastmcp_authz.callers.predicates import Decisions, Predicate
from tests import model
from tests.soundness.drawing import OWN, draw_answers, draw_contract
from tests.soundness.values import Values

REFUSED = "refused"
"""What stands for arguments that are not accepted and results that are withheld."""


SETTINGS = functools.cache(Settings)


@dataclass(frozen=True)
class World:
    """A contract and a caller. `random` draws whatever a property sends and returns."""

    docstring: str
    answers: frozenset[tuple[str, str]]
    random: Random
    contract: ToolContract
    everything: model.Model
    """The model of a caller who may see all of it."""
    model: model.Model

    def view(self, answers: frozenset[tuple[str, str]] | None = None, **options: Any) -> CallerView:
        settings = SETTINGS(**options) if options else None
        return self.contract.view_of(decisions(self.answers if answers is None else answers), settings)

    def results(self, count: int, slips: float = 0.03) -> list[Any]:
        """Return values, some of which fit."""
        values = Values(self.everything, self.random, slips)
        return [values.result() for _ in range(count)]

    def arguments(self, count: int, slips: float = 0.03) -> list[dict[str, Any]]:
        """Arguments, some of which are accepted."""
        shown = frozenset(field.name for field in self.model.parameters if self.model.sees(field))
        values = Values(self.everything, self.random, slips)
        return [values.arguments(shown) for _ in range(count)]

    def own_defaults(self) -> dict[str, Any]:
        """What the caller's user answers to `default_for`: values for some parameter that asks, or whatever."""
        values = Values(self.everything, self.random, 0.1)
        asking = [f for f in self.model.parameters if any(tag.name == "default_for" for tag in f.tags)]
        answered = self.random.sample(OWN, self.random.randint(1, len(OWN))) if asking else []
        chosen = [(key, self.random.choice(asking)) for key in answered]
        return {key.removeprefix(":"): values.of(f.type, f.tags, 3) for key, f in chosen}

    def __repr__(self) -> str:
        return f"answers: {sorted(self.answers)}\n{self.docstring}\n"


def draw_world(random: Random, depth: int) -> World:
    docstring, contract = draw_contract(random, depth)
    answers = draw_answers(random)
    everything = model.read(docstring)
    return World(docstring, answers, random, contract, everything, replace(everything, yes=answers))


def decisions(answers: frozenset[tuple[str, str]]) -> Decisions:
    return frozenset(Predicate(name, value) for name, value in answers)


def received(view: CallerView, arguments: dict[str, Any], *, lenient: bool = False) -> Any:
    """What the function receives, or `REFUSED`."""
    try:
        return view.filter_input(arguments, lenient=lenient)
    except (UnknownInputKeysError, InvalidInputError):
        return REFUSED


def sent(view: CallerView, value: Any) -> Any:
    """What of a result is sent, or `REFUSED`."""
    try:
        return view.filter_output(value)
    except OutputWithheldError:
        return REFUSED


def of_model(question: Any, value: Any) -> Any:
    try:
        return question(value)
    except model.Refused:
        return REFUSED
