"""The FastMCP tool that shows a view, made once for each view and kept."""

from __future__ import annotations

import copy
import inspect
import logging
from asyncio import timeout
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastmcp.tools import FunctionTool, Tool
from fastmcp.utilities.json_schema import dereference_refs

from fastmcp_authz.callers.asking import is_own
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.contracts.view import CallerView
from fastmcp_authz.serving.caches import Same
from fastmcp_authz.serving.declaration import Declaration, owner_of
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.tool import AuthorizedTool, bind, with_own_defaults

logger = logging.getLogger("fastmcp_authz")


@dataclass(frozen=True, eq=False)
class Card:
    """A tool as callers with one view see it."""

    tool: AuthorizedTool

    @cached_property
    def references(self) -> tuple[tuple[dict[str, Any], dict[str, Any]], ...]:
        """Those of its schemas that hold references, each with the form that FastMCP's dereferencing gives it."""
        schemas = (self.tool.parameters, self.tool.output_schema)
        found = [(dereference_refs(schema), schema) for schema in schemas if schema is not None and "$defs" in schema]
        return tuple((inlined, schema) for inlined, schema in found if inlined != schema)


def card(declaration: Declaration, jurisdiction: Jurisdiction, registered: FunctionTool, view: CallerView) -> Card:
    """The tool as callers with this view see it. Shared by them, as the view is."""
    key = (Same(jurisdiction), registered.key, Same(owner_of(registered.fn)), Same(view))
    return declaration.cards.get(
        key,
        make=lambda: Card(_made(declaration, jurisdiction, registered, view)),
        # A version, a title or tags may have changed: FastMCP hands out copies with visibility marks, for one.
        fits=lambda made: _is_of(made.tool, registered),
    )


async def personal(shared: Card, view: CallerView, caller: Caller) -> Card:
    """The tool with what is this caller's alone: own defaults, a description made for the caller. On a copy."""
    changes: dict[str, Any] = {}
    if view.default_keys:
        own = await with_own_defaults(view, caller)
        if own is not view:
            changes = {"parameters": own.input_schema, "output_schema": own.listed_output_schema}
    declaration: Declaration = shared.tool.binding.declaration
    if callable(declaration.description):
        changes["description"] = await _described(declaration, caller) or shared.tool.description
    return Card(shared.tool.model_copy(update=changes)) if changes else shared


def _made(
    declaration: Declaration, jurisdiction: Jurisdiction, registered: FunctionTool, view: CallerView
) -> AuthorizedTool:
    fields = {name: getattr(registered, name) for name in Tool.model_fields}
    fields.update(
        # FastMCP hands its tools to any middleware, and one may write into them; the view is everybody's.
        parameters=copy.deepcopy(view.input_schema),
        output_schema=copy.deepcopy(view.listed_output_schema),
        description=_description(declaration, registered, view),
        binding=bind(declaration, jurisdiction, registered),
    )
    return AuthorizedTool(**fields)


def _description(declaration: Declaration, registered: FunctionTool, view: CallerView) -> str | None:
    if isinstance(declaration.description, str):
        return declaration.description
    if registered.description != declaration.published_description:
        return registered.description  # the author gave `@mcp.tool` one
    return view.description or None


async def _described(declaration: Declaration, caller: Caller) -> str | None:
    """What `description=` says to this caller, `None` where it fails: the docstring's prose, which everyone may read,
    then stands in. A description decides nothing, so its failure hides nothing."""
    describe = declaration.description
    try:
        text = describe(caller.context) if callable(describe) else None
        if inspect.isawaitable(text):
            async with timeout(caller.settings.predicate_timeout):
                text = await text
        if isinstance(text, str):
            text.encode()  # a lone surrogate would take the whole listing down
            return text
        logger.error("%s: description answered a %s, no text.", declaration, type(text).__name__)
    except BaseException as failure:
        if not is_own(failure):
            raise
        logger.error("%s: description failed; the docstring's prose is shown.", declaration, exc_info=True)
    return None


def _is_of(made: AuthorizedTool, registered: FunctionTool) -> bool:
    before: FunctionTool = made.binding.registered
    if before is registered:
        return True
    # FastMCP compares what it would dump, which leaves `auth` out.
    return before.auth == registered.auth and before == registered
