"""`Authz(mcp, context=...)`: one line that protects a server and what is mounted on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast, overload

from fastmcp.server.providers import Provider
from fastmcp.tools import Tool
from fastmcp.utilities.components import FastMCPComponent
from mcp_types import Icon, ToolAnnotations
from typing_extensions import Unpack

from fastmcp_authz.caches import CacheFigures
from fastmcp_authz.callers.context import ContextBuilder
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.events import Observer
from fastmcp_authz.serving.decorator import DeclarationOptions, Function, authorized_tool, refuse_unknown_options
from fastmcp_authz.serving.installing import (
    Server,
    cover_mounted,
    install,
    refuse_renderers,
    refuse_undecidable,
    refuse_unsafe,
)
from fastmcp_authz.serving.middleware import AuthzMiddleware
from fastmcp_authz.serving.rehearsal import refuse_impossible_transforms
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
        domain: str = "default",
        on_event: Observer | None = None,
        **options: Any,
    ) -> None:
        """
        Args:
            mcp: The server.
            context: Makes the server context of a request; see `ContextBuilder`.
            settings: Every option at once; those of the environment where `None`.
            domain: The domain of tools that is served.
            on_event: Is told each decision; see `fastmcp_authz.events`.
            options: Fields of `Settings`, over `settings`.

        Raises:
            ConfigurationError: The server cannot be made safe as it is set up, or an option is wrong.
        """
        middleware = AuthzMiddleware(context=context, settings=settings, domain=domain, on_event=on_event, **options)
        self.mcp = mcp
        self.authority: Authority = middleware.authority
        install(mcp, self.authority)
        # Outermost, in a public list: outside the dereferencing, and outside whatever may fail with a text of its own.
        mcp.middleware.insert(0, middleware)
        at_start = _AtStart(mcp, self.authority)
        mcp.providers.insert(0, at_start)
        middleware.when_safe = at_start.step_aside

    @property
    def settings(self) -> Settings:
        """What the server's tools are served with."""
        return self.authority.settings

    def stats(self) -> CacheFigures:
        """How the views are kept that were made for callers so far: how many, and how often one was there already."""
        return self.authority.views.figures()

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

    def __init__(self, server: Server, authority: Authority) -> None:
        super().__init__()
        self._server = server
        self._authority = authority
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
        """
        refuse_unsafe(self._server)
        cover_mounted(self._server, self._authority)
        await refuse_undecidable(self._server, self._authority)
        await refuse_renderers(self._server)
        await refuse_impossible_transforms(self._server)
        self._started += 1
        try:
            yield
        finally:
            self._started -= 1
            if self not in self._server.providers:
                self._server.providers.insert(0, self)

    async def get_tasks(self) -> Sequence[FastMCPComponent]:
        """Nothing; but FastMCP asks for tasks before it starts the providers, and a worker runs what it gets then."""
        cover_mounted(self._server, self._authority)
        return []

    async def _list_tools(self) -> Sequence[Tool]:
        return []
