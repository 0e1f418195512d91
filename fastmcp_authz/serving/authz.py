"""`Authz(mcp, context=...)`: one line that protects a server and what is mounted on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast, overload

import fastmcp
from fastmcp.server.http import StarletteWithLifespan
from fastmcp.server.providers import Provider
from fastmcp.tools import Tool
from fastmcp.utilities.components import FastMCPComponent
from mcp_types import Icon, ToolAnnotations
from starlette.middleware import Middleware as ASGIMiddleware
from typing_extensions import Unpack

from fastmcp_authz.caches import CacheFigures
from fastmcp_authz.callers.context import ContextBuilder
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.scope import Authority, Personas
from fastmcp_authz.errors import ConfigurationError
from fastmcp_authz.events import Observer
from fastmcp_authz.serving.decorator import DeclarationOptions, Function, authorized_tool, refuse_unknown_options
from fastmcp_authz.serving.domains import DomainPaths
from fastmcp_authz.serving.facets import FacetOptions, Facets
from fastmcp_authz.serving.inspecting import refuse_unfit
from fastmcp_authz.serving.installing import (
    Server,
    cover_mounted,
    domains_of,
    install,
    refuse_unsafe,
)
from fastmcp_authz.serving.middleware import AuthzMiddleware
from fastmcp_authz.serving.producing import Produce, Producer, Producing
from fastmcp_authz.serving.rehearsal import rehearsed
from fastmcp_authz.serving.reporting import Report, reported, seen_by
from fastmcp_authz.settings import Settings


class ToolOptions(DeclarationOptions, total=False):
    """What `authz.tool` takes: the options of `authorized_tool`, and those of `@mcp.tool` but for `output_schema`,
    which is the contract's."""

    name: str | None
    version: str | int | None
    title: str | None
    icons: list[Icon] | None
    tags: set[str] | None
    annotations: ToolAnnotations | dict[str, Any] | None
    meta: dict[str, Any] | None
    enabled: bool
    app: Any
    task: Any
    timeout: float | None
    auth: Any
    run_in_thread: bool


class Authz:
    """Protects the `authorized_tool`s of a server, and of every server that is mounted on it, before or after.

    ```python
    mcp = FastMCP("comms")
    authz = Authz(mcp, context=build_context)

    @authz.tool(authorization="comms")
    def bulk_send_sms(body: str) -> dict: ...
    ```

    A mounted server that has an `Authz` of its own keeps it: the nearest decides.
    """

    def __init__(
        self,
        mcp: Server,
        *,
        context: ContextBuilder | None = None,
        settings: Settings | None = None,
        facets: Mapping[str, FacetOptions] | None = None,
        categories: Mapping[str, str] | None = None,
        producers: Iterable[Producer[Authz]] = (),
        personas: Personas | None = None,
        on_event: Observer | None = None,
        **options: Any,
    ) -> None:
        """
        Args:
            mcp: The server.
            context: Makes the server context of a request; see `ContextBuilder`.
            settings: Every option at once; those of the environment where `None`.
            facets: The domains that list one tool for each category, a facade; see `FacetOptions`.
            categories: What each category is about.
            producers: Each is called with this `Authz`, once, after what is declared in code and before the first
                list, to register tools that are built at run time. They may be async. An exception fails the start.
            personas: Server contexts by name, for the command line and for tests: `{"manager": lambda: context}`.
                Each is called when it is looked at, may do what `context=` may, and is never used for serving.
            on_event: Is told each decision; see `fastmcp_authz.events`.
            options: Fields of `Settings`, over `settings`.

        Raises:
            ConfigurationError: The server cannot be made safe as it is set up, or an option is wrong.
        """
        middleware = AuthzMiddleware(
            context=context,
            settings=settings,
            facets=facets,
            categories=categories,
            personas=personas,
            on_event=on_event,
            **options,
        )
        self.mcp = mcp
        self._produce = middleware.produce = Producing(self, producers).once
        self.authority: Authority = middleware.authority
        install(mcp, self.authority, middleware.facets)
        # Outermost, in a public list: outside the dereferencing, and outside whatever may fail with a text of its own.
        mcp.middleware.insert(0, middleware)
        at_start = _AtStart(mcp, self.authority, middleware.facets, middleware.produce)
        mcp.providers.insert(0, at_start)
        middleware.when_safe = at_start.step_aside

    @property
    def settings(self) -> Settings:
        """What the server's tools are served with."""
        return self.authority.settings

    def stats(self) -> CacheFigures:
        """How the views are kept that were made for callers so far: how many, and how often one was there already."""
        return self.authority.views.figures()

    async def report(self, context: Any, *, domain: str | None = None) -> Report:
        """What the tools weigh that somebody with this server context is listed, one by one; nobody need be calling.

        `print(await authz.report(context))` is a table: bytes and estimated tokens of each tool, optional parameters
        and unions of its input, and what is more than providers of models take (docs/dialects.md). Tools of mounted
        servers with an `Authz` of their own are not in it: another context decides for them.

        Args:
            context: The server context of that caller.
            domain: The domain of tools; the one that is served where no path says so if `None`.
        """
        authority = self.authority
        await self._produce()
        cover_mounted(self.mcp, authority)
        caller = Caller(context, authority.settings, domain or authority.domain, views=authority.views)
        tools = await seen_by(caller, authority, await rehearsed(self.mcp))
        return Report(tuple(map(reported, tools)))

    def http_app(self, path: str | None = None, **options: Any) -> StarletteWithLifespan:
        """One ASGI app for all domains, over streamable HTTP: `/mcp` serves the default one, `/mcp/operator` another.

        Each lists and calls its own tools, and those that are not ours. Authentication, lifespan and custom routes are
        those of the server's own app; a path that names no domain is a 404, as there. `mcp.http_app()` and `mcp.run()`
        serve one domain, that of `Authz(domain=...)`.

        Args:
            path: Where the default domain is; `"/mcp"`, or what FastMCP's settings say, where `None`.
            options: What `mcp.http_app` takes beside that.

        Raises:
            ConfigurationError: The transport is SSE, whose messages have a path of their own.
        """
        if options.get("transport") == "sse":
            raise ConfigurationError('Domains are served over streamable HTTP: leave out transport="sse".')
        path = fastmcp.settings.streamable_http_path if path is None else path
        known = partial(domains_of, self.mcp, self.authority)
        by_path: Any = ASGIMiddleware(DomainPaths, path=path, default=self.settings.default_domain, known=known)
        given = options.pop("middleware", None) or []
        return self.mcp.http_app(path=path, middleware=[by_path, *given], **options)

    @overload
    def tool(self, fn: Function, /) -> Function: ...
    @overload
    def tool(self, name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...
    def tool(self, fn: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
        """`@mcp.tool` and `@authorized_tool` in one, which cannot be stacked wrongly.

        Options: those of both; `description=` is `authorized_tool`'s, and `settings=` is this `Authz`'s by default.

        Raises:
            ContractError: The declaration is wrong.
        """
        refuse_unknown_options(options, ToolOptions, "authz.tool")
        if callable(fn):
            return self._registered(fn, None, options)
        return lambda function: self._registered(function, fn, options)

    def _registered(self, fn: Function, name: str | None, options: ToolOptions) -> Function:
        given = cast("dict[str, Any]", dict(options))
        ours: Any = {key: given.pop(key) for key in DeclarationOptions.__annotations__ if key in given}
        guard = authorized_tool(**{"settings": self.settings, **ours})(fn)
        register: Any = self.mcp.tool(name, **given)
        register(guard)
        return guard


class _AtStart(Provider):
    """Holds no components. As a provider it takes part in FastMCP's start, where a set-up can still be refused.

    While the server runs it is not among the providers: FastMCP asks each for every tool, in a task of its own.
    """

    def __init__(self, server: Server, authority: Authority, facets: Facets, produce: Produce) -> None:
        super().__init__()
        self._server = server
        self._authority = authority
        self._facets = facets
        self._produce = produce
        self._started = 0

    def step_aside(self) -> None:
        """Leaves the providers of a server that has started, until it ends."""
        if self._started and self in self._server.providers:
            self._server.providers.remove(self)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Refuses to start what cannot be safe.

        Raises:
            ConfigurationError: It cannot.
            Exception: Whatever a producer raises.
        """
        await self._produce()
        refuse_unsafe(self._server)
        cover_mounted(self._server, self._authority)
        await refuse_unfit(self._server, self._authority, self._facets)
        self._started += 1
        try:
            yield
        finally:
            self._started -= 1
            if self not in self._server.providers:
                self._server.providers.insert(0, self)

    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        """Nothing; but FastMCP asks for tasks before it starts the providers, and a worker runs what it gets then."""
        await self._produce()
        cover_mounted(self._server, self._authority)
        return []

    async def _list_tools(self) -> Sequence[Tool]:
        return []
