"""A caller's own `$defs` and `$ref`, put back outside FastMCP's dereferencing (SPEC section 2, "`$defs`").

`DereferenceRefsMiddleware`, on by default, inlines every reference: ten aliases, each used twice, grow from 1.4 kB to
153 kB. It knows no tool from another, so what our views published in this request is written down, and where a listed
schema is exactly the inlined form of one of them, the schema itself goes out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any

import mcp_types
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool

from fastmcp_authz.serving.cards import Card

JsonSchema = dict[str, Any]


class Publication:
    """The schemas with references that one listing has published, by their inlined form."""

    def __init__(self) -> None:
        self._by_outline: dict[frozenset[str], list[tuple[JsonSchema, JsonSchema]]] = {}

    def add(self, card: Card) -> None:
        """Writes the card's schemas down. Where they hold no references, there is nothing to put back."""
        for inlined, own in card.references:
            self._by_outline.setdefault(_outline(inlined), []).append((inlined, own))

    def restored_all(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """The tools with their references."""
        return [self.restored(tool) for tool in tools] if self._by_outline else tools

    def restored(self, tool: Tool) -> Tool:
        """The tool with its references; itself where there were none, or where somebody has changed the schema."""
        changes: dict[str, Any] = {}
        for name in ("parameters", "output_schema"):
            listed = getattr(tool, name)
            if listed is not None:
                published = next((own for inlined, own in self._alike(listed) if inlined == listed), None)
                if published is not None:
                    changes[name] = published
        return tool.model_copy(update=changes) if changes else tool

    def _alike(self, schema: JsonSchema) -> Sequence[tuple[JsonSchema, JsonSchema]]:
        return self._by_outline.get(_outline(schema), ())


# Mutable on purpose: mounted servers are listed in tasks of their own, which inherit the variable and cannot set it.
_publication: ContextVar[Publication | None] = ContextVar("fastmcp_authz_publication", default=None)


def publish(card: Card) -> None:
    """Notes that this request lists a tool as its card has it."""
    publication = _publication.get()
    if publication is not None:
        publication.add(card)


async def with_own_references(listing: Callable[[], Awaitable[Sequence[Tool]]]) -> Sequence[Tool]:
    """What `listing` gives, with the references of our tools put back.

    A mounted server's listing writes into its parent's publication: the parent inlines once more what it gets.
    """
    publication = _publication.get() or Publication()
    token = _publication.set(publication)
    try:
        return publication.restored_all(await listing())
    finally:
        _publication.reset(token)


class OwnReferences(Middleware):
    """Puts references back, for an `AuthzMiddleware` that stands inside the dereferencing."""

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Lists as ever, references put back."""
        return await with_own_references(lambda: call_next(context))


def _outline(schema: JsonSchema) -> frozenset[str]:
    return frozenset(schema.get("properties", ()))
