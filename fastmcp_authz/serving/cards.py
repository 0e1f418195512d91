"""The FastMCP tool that shows a view, made once for each view and kept with it."""

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
from fastmcp_authz.serving.declaration import Declaration, owner_of
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.permitting import KeptView, with_own_defaults
from fastmcp_authz.serving.tool import AuthorizedTool, Binding

logger = logging.getLogger("fastmcp_authz")

_OURS = frozenset({"auth", "task_config", "parameters", "output_schema", "description"})
_THEIRS = tuple(name for name in Tool.model_fields if name not in _OURS)
_UNCHANGEABLE = frozenset({str, bool, int, float, type(None)})
_MOST_CARDS = 256
"""Of one view: a function may be registered under many names, and bound to many objects."""


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


def card(kept: KeptView, declaration: Declaration, jurisdiction: Jurisdiction, registered: FunctionTool) -> Card:
    """The tool as callers with this view see it. Shared by them, as the view is."""
    key = (id(jurisdiction), id(registered))  # a card holds both, so that their identities stay theirs
    made: Card | None = kept.cards.get(key)
    if made is None:
        # FastMCP hands out copies with visibility marks, for one: those are not worth a card of their own.
        alike = (each for each in tuple(kept.cards.values()) if _is_of(each.tool.binding, jurisdiction, registered))
        made = next(alike, None)
    if made is None:
        if len(kept.cards) >= _MOST_CARDS:
            kept.cards.clear()
        made = kept.cards[key] = Card(_made(declaration, jurisdiction, registered, kept.view))
    return made


def is_personal(view: CallerView, declaration: Declaration) -> bool:
    """Whether there may be more to a tool than what callers with this view share."""
    return bool(view.default_keys) or callable(declaration.description)


async def personal(shared: Card, view: CallerView, caller: Caller) -> Card:
    """The tool with what is this caller's alone: own defaults, a description made for the caller. On a copy."""
    declaration: Declaration = shared.tool.binding.declaration
    changes: dict[str, Any] = {}
    own = await with_own_defaults(view, caller)
    if own is not view:
        changes["parameters"], changes["output_schema"] = own.listed_schemas
    if callable(declaration.description):
        changes["description"] = await _described(declaration, caller) or shared.tool.description
    return Card(shared.tool.model_copy(update=changes))


def _made(
    declaration: Declaration, jurisdiction: Jurisdiction, registered: FunctionTool, view: CallerView
) -> AuthorizedTool:
    fields = {name: _own(getattr(registered, name)) for name in _THEIRS}
    fields["auth"], fields["task_config"] = registered.auth, copy.copy(registered.task_config)
    fields["parameters"], fields["output_schema"] = view.listed_schemas
    fields["description"] = _description(declaration, registered, view)
    # What is registered has been validated, and our schemas are none of pydantic's business.
    return AuthorizedTool.model_construct(binding=Binding(declaration, jurisdiction, registered), **fields)


def _own(value: Any) -> Any:
    """A copy: whoever writes into the tags of a listed tool writes for those alone who see the same."""
    if type(value) in _UNCHANGEABLE:
        return value
    return set(value) if type(value) is set else copy.deepcopy(value)


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


def _is_of(made: Binding, jurisdiction: Jurisdiction, registered: FunctionTool) -> bool:
    """Whether what was made stands for this tool. FastMCP compares what it would dump, which leaves `auth` out."""
    before = made.registered
    return (
        made.jurisdiction is jurisdiction
        and before.name == registered.name
        and owner_of(before.fn) is owner_of(registered.fn)
        and before.auth == registered.auth
        and before == registered
    )
