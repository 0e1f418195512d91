"""AuthzMiddleware: opens each request's scope, and keeps what goes wrong from telling anybody anything."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types
from fastmcp import Context
from fastmcp.exceptions import DisabledError, FastMCPError, NotFoundError
from fastmcp.server.dependencies import get_server
from fastmcp.server.middleware import CallNext, MiddlewareContext
from fastmcp.server.middleware.dereference import DereferenceRefsMiddleware
from fastmcp.server.transforms import Transform
from fastmcp.tools import Tool, ToolResult
from mcp import MCPError
from pydantic import ValidationError

from fastmcp_authz.callers.context import ContextBuilder
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import Authority, CallerUnavailableError, Personas, decides_now, nearest, opened
from fastmcp_authz.errors import ConfigurationError
from fastmcp_authz.events import Observer
from fastmcp_authz.serving._fastmcp import outer_servers
from fastmcp_authz.serving.admission import NotAdmittedError
from fastmcp_authz.serving.audit import emit, noting, tell_listed, tell_refused
from fastmcp_authz.serving.facets import FacetOptions, facets_from
from fastmcp_authz.serving.inspecting import refuse_unfit
from fastmcp_authz.serving.installing import (
    Protecting,
    Server,
    authority_of,
    cover,
    cover_mounted,
    declared_under,
    faceted_of,
    install,
    refuse_unsafe,
    settings_from,
    stands_alone,
)
from fastmcp_authz.serving.permitting import decide_for_all
from fastmcp_authz.serving.personas import personas_from
from fastmcp_authz.serving.publishing import OwnReferences, with_own_references
from fastmcp_authz.serving.requests import current_request, key_of
from fastmcp_authz.serving.results import cannot_answer, refusal, unknown_tool
from fastmcp_authz.serving.strays import StrayError, is_kept, is_stray, names_stray, uncovered
from fastmcp_authz.settings import Settings

logger = logging.getLogger("fastmcp_authz")

_refusing: ContextVar[bool] = ContextVar("fastmcp_authz_refusing", default=False)
"""Whether this very request was found unsafe; another one may come by a safer way at the same time."""

# What is meant for clients, or what the SDK answers in words of its own.
_MEANT = (FastMCPError, NotFoundError, DisabledError, MCPError, ValidationError)

# On a server that is not safe: what tells nothing of it, and what is refused in band.
_ANSWERED_ALL_THE_SAME = ("initialize", "server/discover", "ping", "tools/call")


class AuthzMiddleware(Protecting):
    """Serves a server's `authorized_tool`s to each caller as that caller may see them.

    `Authz(mcp, context=...)` installs one. By itself it does the same for requests, from the first message on:

    ```python
    mcp = FastMCP("comms", middleware=[AuthzMiddleware(context=build_context)])
    ```

    Background tasks need `Authz(mcp)`: a worker may see no message first.
    """

    def __init__(
        self,
        *,
        context: ContextBuilder | None = None,
        settings: Settings | None = None,
        facets: Mapping[str, FacetOptions] | None = None,
        categories: Mapping[str, str] | None = None,
        personas: Personas | None = None,
        on_event: Observer | None = None,
        **options: Any,
    ) -> None:
        """
        Args:
            context: Makes the server context of a request; see `ContextBuilder`.
            settings: Every option at once; those of the environment where `None`.
            facets: The domains that list one tool for each category, a facade; see `FacetOptions`.
            categories: What each category is about.
            personas: Makers of server contexts by name, for tools and tests: see `Personas`.
            on_event: Is told each decision; see `fastmcp_authz.events`.
            options: Fields of `Settings`, over `settings`.

        Raises:
            ConfigurationError: An option is unknown or has a value that it cannot have.
        """
        if context is not None and not callable(context):
            raise ConfigurationError(
                f"context= is called with each request, and this {type(context).__name__} cannot be called: "
                "write the function or class that makes the server context of a request, context=build_context."
            )
        self.authority = Authority(
            context, settings_from(settings, options), partial(emit, hook=on_event), personas_from(personas)
        )
        self.facets = facets_from(facets, categories)
        self._checked: WeakKeyDictionary[Server, tuple[Transform, ...]] = WeakKeyDictionary()
        """Servers that were looked through, each with the transforms that it had then."""
        self._alone: WeakKeyDictionary[Server, tuple[object, ...]] = WeakKeyDictionary()
        """Servers on which nothing is mounted, each with all that it was made of when it was found safe."""
        self.produce: Callable[[], Awaitable[None]] = nothing
        """Called before a server is looked through in a request; see `Authz(producers=...)`."""
        self.when_safe: Callable[[], None] = lambda: None
        """Called when a server has been looked through in a request, and found safe."""
        self._reported: WeakKeyDictionary[Server, str] = WeakKeyDictionary()

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Opens the scope of this request, unless it is open: a nested call belongs to the request it is nested in."""
        server = _server(context)
        safe = await self._is_safe(server, context.fastmcp_context)
        if not safe and context.method not in _ANSWERED_ALL_THE_SAME:
            raise _internal_error()
        token = _refusing.set(not safe)
        try:
            key = key_of(context.fastmcp_context)
            if key is None or decides_now(self.authority, key):
                return await call_next(context)
            async with opened(self.authority, key, partial(current_request, self.authority.domain)):
                return await call_next(context)
        finally:
            _refusing.reset(token)

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Lists with the caller known, references kept. A JSON-RPC error has no text of anybody else's."""
        started = perf_counter()
        try:
            caller = await self._build_caller(context)
            if caller is not None:
                await _ask_ahead(_server(context), caller)
            with noting() as denials:
                listed = await with_own_references(lambda: call_next(context))
                if self._cover_found(listed):
                    listed = await with_own_references(lambda: call_next(context))
            tell_listed(denials, perf_counter() - started)
            shown = [tool for tool in listed if not (is_stray(tool) or is_kept(tool, denials.handed_out))]
            if caller is None or self.facets.of(caller.domain) is None:
                return shown
            return faceted_of(_server(context)).listed(shown, caller.domain, denials)
        except CallerUnavailableError:
            raise _internal_error() from None
        except _MEANT:
            raise
        except Exception:
            # The SDK would send the text of this to a legacy client.
            logger.error("Listing tools failed.", exc_info=True)
            self._alone.pop(_server(context), None)
            self._checked.pop(_server(context), None)  # the next request says why, if tools that came later are why
            raise _internal_error() from None

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Calls with the caller known. What goes wrong on the way is answered in band."""
        name = context.message.name
        started = perf_counter()
        try:
            if _refusing.get():
                return cannot_answer()
            caller = await self._build_caller(context)
            if caller is not None and caller.answers_in_batches:
                await _ask_ahead(_server(context), caller)  # FastMCP lists every server that has no tool of the name
            with noting() as denials:
                try:
                    return await call_next(context)
                except NotFoundError:
                    tell_refused(denials, name, perf_counter() - started)
                    raise
        except CallerUnavailableError:
            return cannot_answer()
        except NotAdmittedError:
            if await names_stray(_server(context), name):
                return unknown_tool(name)
            raise
        except _MEANT as error:
            if isinstance(error, StrayError) or isinstance(error.__cause__, StrayError):
                return unknown_tool(name)  # on a mounted server, which may know it by another name
            raise
        except Exception:
            logger.error("Calling %r failed on the way to the tool.", name, exc_info=True)
            return refusal(f"Error calling tool {name!r}")

    async def _build_caller(self, context: MiddlewareContext[Any]) -> Caller | None:
        """Builds the caller here, in the task that also closes it: FastMCP looks tools up in tasks of their own."""
        scope = nearest((self.authority,), key_of(context.fastmcp_context))
        return None if scope is None else await scope.caller()

    async def _is_safe(self, server: Server, context: Context | None) -> bool:
        """Installs what is missing, and looks for what may have become unsafe since; that is logged when it is new."""
        outer = tuple(outer_servers(context)) if context is not None else ()
        made_of = (*server.providers, *server.middleware, *server.transforms)
        if self._alone.get(server) == made_of and not outer:
            return True
        try:
            await self.produce()
            self._install_on(server)
            refuse_unsafe(server, outer=outer)
            cover_mounted(server, self.authority)
            transforms = tuple(server.transforms)
            if self._checked.get(server) != transforms:
                await refuse_unfit(server, self.authority, self.facets)
                self._checked[server] = transforms
        except ConfigurationError as error:
            self._report(server, str(error))
            return False
        except Exception:  # from a provider of the author's own, and its text is not for clients
            self._report(server, "the server cannot be looked through.", exc_info=True)
            return False
        self._reported.pop(server, None)
        self.when_safe()
        if stands_alone(server):
            self._alone[server] = (*server.providers, *server.middleware, *server.transforms)
        return True

    def _cover_found(self, listed: Sequence[Tool]) -> bool:
        """Covers the mounted servers that a list has come from and nobody decides for: an author's own provider, or a
        middleware, may mount where no one looks."""
        found = uncovered(listed)
        for server in found:
            cover(server, self.authority)
        return bool(found)

    def _report(self, server: Server, problem: str, *, exc_info: bool = False) -> None:
        if self._reported.get(server) != problem:
            self._reported[server] = problem
            logger.error("Every request is refused: %s", problem, exc_info=exc_info)

    def _install_on(self, server: Server) -> None:
        installed = authority_of(server)
        if installed is self.authority:
            return
        install(server, self.authority, self.facets)
        kinds = [OwnReferences if each is self else type(each) for each in server.middleware]
        inside = kinds.index(OwnReferences) if OwnReferences in kinds else 0
        if DereferenceRefsMiddleware in kinds[:inside]:
            server.middleware.insert(0, OwnReferences())


async def nothing() -> None:
    """What is done where nothing is to be done."""


async def _ask_ahead(server: Server, caller: Caller) -> None:
    """Asks at once what mounted servers would ask one by one."""
    if not stands_alone(server):
        await decide_for_all(await declared_under(server), caller)


def _server(context: MiddlewareContext[Any]) -> Server:
    return context.fastmcp_context.fastmcp if context.fastmcp_context is not None else get_server()


def _internal_error() -> MCPError:
    return MCPError(code=mcp_types.INTERNAL_ERROR, message="Internal server error")
