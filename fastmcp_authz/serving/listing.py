"""A server's tools as they are listed: looked through once, and kept as all callers with equal answers see them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fastmcp.tools import Tool

from fastmcp_authz.caches import LeastRecent
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.predicates import Questions
from fastmcp_authz.serving.audit import Denials
from fastmcp_authz.serving.cards import Card
from fastmcp_authz.serving.declaration import Declaration
from fastmcp_authz.serving.ours import Ours, ours_of
from fastmcp_authz.serving.permitting import asked_together

_GATE_VECTORS = 256
"""For how many vectors of answers to the gates it is kept what is asked next."""


class Seen(NamedTuple):
    """What a caller sees of one tool."""

    tool: Tool | None = None
    """`None` where it does not exist for the caller."""
    card: Card | None = None
    """What it was made of."""
    lasting: bool = True
    """Whether everybody with the same answers sees the same: nothing failed, and nothing is the caller's own."""


class Shown(NamedTuple):
    """A list as all callers with equal answers get it, and what there is to say of it."""

    tools: tuple[Tool, ...]
    names: tuple[str, ...]
    """Of the tools of ours that are there."""
    hidden: Mapping[str, tuple[str, ...]]
    """The predicates that said no, by tool."""
    handed_out: Mapping[int, object]
    """What the tools stand for, by identity."""
    published: tuple[Card, ...]
    """Those whose schemas hold references."""


class Listing:
    """What comes from below when a server is listed."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tuple(tools)
        self._found = tuple(ours_of(tool) for tool in tools)
        self.ours = tuple(each for each in self._found if isinstance(each, Ours))
        self.is_simple = all(each.shown is each.registered for each in self.ours)
        """Whether nobody has renamed, wrapped or looked up a tool of ours: what is made of such a one is its own."""
        self._first: dict[str | None, Questions] = {}
        self._inside: LeastRecent[Questions] = LeastRecent(_GATE_VECTORS)

    def is_of(self, tools: Sequence[Tool]) -> bool:
        """Whether these are the very tools."""
        return len(tools) == len(self._tools) and all(map(operator.is_, tools, self._tools))

    def with_ours(self, seen: Iterable[Tool | None]) -> list[Tool]:
        """The list with what is seen in place of each tool of ours; tools that are not ours stay."""
        own = iter(seen)
        shown = [next(own) if isinstance(each, Ours) else each for each in self._found]
        return [tool for tool in shown if tool is not None]

    async def answers(self, caller: Caller) -> tuple[Any, ...]:
        """Asks all that decides over this list, in two rounds; the domain and every answer.

        Gates first: what is inside a tool that they refuse is not asked. It follows from them what is asked then.
        """
        domain = caller.domain
        if domain not in self._first:
            self._first[domain] = asked_together(each.asked_first for each in self._served(caller))
        first = self._first[domain]
        await caller.ask(first)
        gates = caller.answers(first)
        inside = self._inside.get((domain, gates), lambda: self._asked_inside(caller))
        await caller.ask(inside)
        return domain, gates, caller.answers(inside)

    def _asked_inside(self, caller: Caller) -> Questions:
        passed = (each for each in self._served(caller) if all(caller.answers(each.asked_first)))
        return asked_together(each.asked_inside for each in passed)

    def _served(self, caller: Caller) -> Iterable[Declaration]:
        return (each.declaration for each in self.ours if caller.comes_for(each.declaration.domains))


def shown(listing: Listing, seen: Sequence[Seen], noted: Denials) -> Shown:
    """What callers with the same answers get, who see this of each tool of ours; `noted` is what was noted of it."""
    cards = (each.card for each in seen if each.card is not None)
    return Shown(
        tuple(listing.with_ours(each.tool for each in seen)),
        tuple(noted.shown),
        noted.by_tool,
        noted.handed_out,
        tuple(card for card in cards if card.references),
    )
