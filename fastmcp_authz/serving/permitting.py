"""Which view of a tool a caller has, if any: the one decision behind every list, look-up and call."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.predicates import Predicate, Questions
from fastmcp_authz.contracts.contract import ToolContract
from fastmcp_authz.contracts.view import CallerView
from fastmcp_authz.serving.declaration import Declaration
from fastmcp_authz.settings import Settings

logger = logging.getLogger("fastmcp_authz")


@dataclass(frozen=True, slots=True, eq=False)
class KeptView:
    """A view as an `Authz` keeps it, with the tools that were made of it: `cards.Card`, see there."""

    view: CallerView
    cards: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])


class Permission(NamedTuple):
    """Whether a tool exists for a caller."""

    kept: KeptView | None
    denied: tuple[str, ...] = ()
    """The predicates that said no, where there is no view."""


async def permission(declaration: Declaration, caller: Caller) -> Permission:
    """What the caller has of a tool; asked once in a request, like everything that it depends on.

    Gates first: what is inside a tool that they refuse is not asked.
    """
    if declaration not in caller.made and caller.comes_for(declaration.domains):
        await caller.ask(declaration.asked_first)
        if all(caller.answers(declaration.asked_first)):
            await caller.ask(declaration.asked_inside)
    return permission_now(declaration, caller)


def permission_now(declaration: Declaration, caller: Caller) -> Permission:
    """The same where all was asked: see `decide_for_all`.

    Raises:
        KeyError: It was not.
    """
    known = caller.made.get(declaration)
    if known is None:
        known = caller.made[declaration] = _decided(declaration, caller)
    return cast("Permission", known)


def _decided(declaration: Declaration, caller: Caller) -> Permission:
    if not caller.comes_for(declaration.domains):
        return Permission(None)
    gates = declaration.asked_first
    answers = caller.answers(gates)
    if not all(answers):
        return Permission(None, tuple(gate for gate, yes in zip(gates, answers, strict=True) if not yes))
    contract = declaration.contract
    answers = caller.answers(declaration.asked_inside)
    kept = caller.views.get((declaration, answers), lambda: KeptView(_made(contract, answers, caller.settings)))
    if not kept.view.visible:
        logger.info("%s is not shown: guards have taken the whole output that this caller would get.", declaration)
        return Permission(None)
    return Permission(kept)


def _made(contract: ToolContract, answers: tuple[bool, ...], settings: Settings) -> CallerView:
    granted = frozenset(predicate for predicate, yes in zip(contract.predicates, answers, strict=True) if yes)
    return contract.new_view(granted, settings)


async def decide_for_all(declarations: Iterable[Declaration], caller: Caller) -> None:
    """Asks for every gate at once, then for all that is inside the tools which they let pass, at once."""
    served = [each for each in declarations if caller.comes_for(each.domains)]
    await caller.ask(asked_together(each.asked_first for each in served))
    passed = (each for each in served if all(caller.answers(each.asked_first)))
    await caller.ask(asked_together(each.asked_inside for each in passed))


def asked_together(asked: Iterable[Questions]) -> Questions:
    """All of some questions."""
    together: dict[str, Predicate] = {}
    for each in asked:
        together.update(each)
    return together


async def with_own_defaults(view: CallerView, caller: Caller) -> CallerView:
    """The view with this caller's answers to `@default_for`, on a copy; itself where it asks for none."""
    if not view.default_keys:
        return view
    if view in caller.made:
        return cast("CallerView", caller.made[view])
    answers = await caller.defaults(view.default_keys)
    rejected = view.rejected_defaults(answers)
    if rejected:
        logger.warning("%s: default_for answered what its field does not take: %s.", view.name, ", ".join(rejected))
    made = caller.made[view] = view.with_defaults(answers)
    return made
