"""Personas: server contexts with names, so that tools and tests can ask who sees what without a request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType

from fastmcp_authz.callers.context import opened_context
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import Authority, Personas
from fastmcp_authz.errors import ConfigurationError


def personas_from(given: Personas | None) -> Personas:
    """What `personas=` was given, checked.

    Raises:
        ConfigurationError: It maps no names to functions.
    """
    personas: object = {} if given is None else given
    if not isinstance(personas, Mapping):
        raise ConfigurationError(f'personas={personas!r} is no mapping: write personas={{"manager": make_manager}}.')
    for name, make in personas.items():
        if not isinstance(name, str) or not name or not callable(make):
            raise ConfigurationError(
                f"personas= maps names to functions that make a server context, and {name!r} has a value "
                f'of type {type(make).__name__}: write personas={{"manager": lambda: context}}.'
            )
    return MappingProxyType(dict(personas))


@asynccontextmanager
async def caller_as(authority: Authority, persona: str, domain: str | None = None) -> AsyncIterator[Caller]:
    """Yields a caller whom an authority decides for as for a persona of its own; one that it does not know is nobody.

    Args:
        authority: Whose persona it is.
        persona: Its name.
        domain: The domain that is served; all of them where `None`.

    Raises:
        Exception: Whatever making the context raises.
    """
    make = authority.personas.get(persona)
    if make is None:
        yield Caller(None, authority.settings, domain, name=persona, views=authority.views)
        return
    made = make()
    async with asyncio.timeout(authority.settings.predicate_timeout) as limit, opened_context(made, persona) as context:
        limit.reschedule(None)  # it is made: looking at it may take as long as it takes
        yield Caller(context, authority.settings, domain, name=persona, views=authority.views)
