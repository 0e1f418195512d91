"""Swaps each registered tool of ours for the caller's view of it, in lists and look-ups."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.transforms import GetToolNext, VersionSpec
from fastmcp.server.transforms.visibility import is_enabled
from fastmcp.tools import Tool
from fastmcp.utilities.versions import version_sort_key

from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import CallerUnavailableError, Scope
from fastmcp_authz.serving.audit import note_handed_out, note_listed, note_seen, noting
from fastmcp_authz.serving.cards import card, is_personal, personal
from fastmcp_authz.serving.facades import Faceted
from fastmcp_authz.serving.facets import NO_FACETS, Facets
from fastmcp_authz.serving.jurisdiction import Jurisdiction
from fastmcp_authz.serving.listing import Listing, Seen, Shown, shown
from fastmcp_authz.serving.ours import Ours, ours_of
from fastmcp_authz.serving.permitting import KeptView, decide_for_all, permission, permission_now
from fastmcp_authz.serving.publishing import publish
from fastmcp_authz.serving.requests import current_context, key_of, request_key
from fastmcp_authz.serving.strays import DecidesForCallers

logger = logging.getLogger("fastmcp_authz")


class AuthzTransform(DecidesForCallers):
    """The caller's world, for everything in FastMCP that looks tools up: versions, search, code mode, mounts."""

    def __init__(self, server: FastMCP[Any], jurisdiction: Jurisdiction, facets: Facets = NO_FACETS) -> None:
        self._server = server
        self.jurisdiction = jurisdiction
        self.faceted = Faceted(server, jurisdiction, facets)
        self._listing = Listing(())
        """What was listed last in a request."""
        self.retired = False
        """Whether another transform has taken over, since the server now has an `Authz` of its own."""

    async def list_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """The tools that exist for the caller, each as the caller sees it; tools that are not ours pass."""
        if self.retired:
            return tools
        context = current_context()
        if context is None:  # at each start, say: nobody is listed anything, and what was is not forgotten
            listing = Listing(tools)
            return listing.with_ours(self._least(each) for each in listing.ours)
        listing = self._listing
        again = listing.is_of(tools)
        if not again:
            listing = self._listing = Listing(tools)
        if not listing.is_simple:
            return listing.with_ours(await self._seen_here(listing.ours, key_of(context)))
        async with self.jurisdiction.scope(key_of(context)) as scope:
            caller = await _caller_in(scope)
            if caller is None:
                return listing.with_ours(None for _ in listing.ours)
            return await self._listed(listing, caller, keep=again)

    async def _listed(self, listing: Listing, caller: Caller, *, keep: bool) -> list[Tool]:
        """The list as the caller sees it. It is kept, with `keep`, for all whose answers are the same."""
        key = (listing, await listing.answers(caller))
        kept: Shown | None = caller.views.find(key)
        if kept is None:
            with noting() as noted:
                seen = [await self._seen(each, caller) for each in listing.ours]
            kept = shown(listing, seen, noted)
            if keep and all(each.lasting for each in seen):
                caller.views.keep(key, kept, weight=len(seen))
        note_listed(caller, kept.names, kept.hidden, kept.handed_out)
        if caller.settings.refs == "defs":
            for each in kept.published:
                publish(each)
        return list(kept.tools)

    async def get_tool(self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None) -> Tool | None:
        """The tool of that name as the caller sees it; `None` where it does not exist for the caller."""
        if self.retired:
            return await call_next(name, version=version)
        context = current_context()
        if context is None:
            ours = ours_of(await call_next(name, version=version))
            return self._least(ours) if isinstance(ours, Ours) else ours
        # Around the look-up: mounted servers are looked into without their middleware, and the nearest decides there.
        async with self.jurisdiction.scope(key_of(context)) as scope:
            ours = ours_of(await call_next(name, version=version))
            passed: set[str | None] = set()
            while isinstance(ours, Ours):
                seen = await self._seen_by_name(ours, scope)
                if seen is not None:
                    return seen
                highest = ours.shown.version
                if version is not None or highest is None or highest in passed:
                    return await self._another(name, version, scope)
                # A version that is hidden from the caller gives way to the highest one below it, as in lists. FastMCP
                # does so itself from 4.2 on.
                passed.add(highest)
                ours = ours_of(await call_next(name, version=VersionSpec(lt=highest)))
            if ours is None and passed:
                ours = await self._another(name, version, scope)
            return await self.faceted.named(name) if ours is None and version is None else ours

    async def _another(self, name: str, version: VersionSpec | None, scope: Scope | None) -> Tool | None:
        """What the caller is listed under a name of which all that FastMCP finds by itself is hidden from the caller.

        That may be a tool of another provider: FastMCP picks one before anybody is asked.
        """
        tools = await self._server._list_tools()
        for transform in self._server.transforms[: self._server.transforms.index(self)]:
            tools = await transform.list_tools(tools)
        named = [each for each in tools if each.name == name and (version is None or version.matches(each.version))]
        for each in sorted(named, key=version_sort_key, reverse=True):
            ours = ours_of(each)
            seen = await self._seen_by_name(ours, scope) if isinstance(ours, Ours) else ours
            if seen is not None and is_enabled(seen):
                return seen
        return None

    def least(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """What somebody is shown who may see nothing that is guarded; every tool that is not ours."""
        found = (ours_of(tool) for tool in tools)
        return [self._least(each) if isinstance(each, Ours) else each for each in found if each is not None]

    def _least(self, ours: Ours) -> Tool:
        """What is served where there is no request, as at start-up: the least view, never hidden and never an error.

        A tool that is missing then could not run as a background task. Whoever runs it is decided for all the same.
        """
        least = KeptView(ours.declaration.contract.view_of(frozenset()))
        jurisdiction = ours.elsewhere or self.jurisdiction
        return ours.swapped(card(least, ours.declaration, jurisdiction, ours.registered).tool)

    async def _seen_here(self, tools: Sequence[Ours], key: object | None) -> list[Tool | None]:
        """The tools as those see them who ask in the request `key`, `None` for each that does not exist for them."""
        seen: dict[int, Tool | None] = {}
        for jurisdiction in dict.fromkeys(each.elsewhere or self.jurisdiction for each in tools):
            theirs = [each for each in tools if (each.elsewhere or self.jurisdiction) is jurisdiction]
            async with jurisdiction.scope(key) as scope:
                made = await self._seen_in(scope, theirs)
            seen.update(zip(map(id, theirs), made, strict=True))
        return [seen[id(each)] for each in tools]

    async def _seen_in(self, scope: Scope | None, tools: Sequence[Ours]) -> list[Tool | None]:
        caller = await _caller_in(scope)
        if caller is None:
            return [None] * len(tools)
        await decide_for_all([each.declaration for each in tools], caller)
        seen = [await self._seen(each, caller) for each in tools]
        _publish(seen, caller)
        return [each.tool for each in seen]

    async def _seen_by_name(self, ours: Ours, scope: Scope | None) -> Tool | None:
        """A tool that was asked for, as the caller sees it. `scope` is that of this transform's jurisdiction."""
        if ours.elsewhere is None or ours.elsewhere is self.jurisdiction:
            return await self._seen_by(await _caller_in(scope), ours)
        async with ours.elsewhere.scope(request_key()) as other:
            return await self._seen_by(await _caller_in(other), ours)

    async def _seen_by(self, caller: Caller | None, ours: Ours) -> Tool | None:
        if caller is None:
            return None
        seen = await self._seen(ours, caller, by_name=True)
        _publish([seen], caller)
        return seen.tool

    async def _seen(self, ours: Ours, caller: Caller, *, by_name: bool = False) -> Seen:
        """One tool as the caller sees it. Whatever goes wrong with it hides it, and leaves the others alone."""
        try:
            declaration = ours.declaration
            kept, denied = await permission(declaration, caller) if by_name else permission_now(declaration, caller)
            note_seen(ours.shown.name, caller, denied if kept is None else None, by_name=by_name)
            if kept is None:
                return Seen()
            shared = card(kept, declaration, ours.elsewhere or self.jurisdiction, ours.registered)
            note_handed_out(shared.tool.binding)
            own = await personal(shared, kept.view, caller) if is_personal(kept.view, declaration) else shared
            return Seen(ours.swapped(own.tool), own, lasting=own is shared)
        except Exception:
            logger.error("%s is hidden: making its view failed.", ours.declaration, exc_info=True)
            return Seen(lasting=False)


def _publish(seen: Iterable[Seen], caller: Caller) -> None:
    if caller.settings.refs == "defs":
        for each in seen:
            if each.card is not None and each.card.references:
                publish(each.card)


async def _caller_in(scope: Scope | None) -> Caller | None:
    try:
        return None if scope is None else await scope.caller()
    except CallerUnavailableError:
        return None
