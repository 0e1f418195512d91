"""`caller_of`: connects somebody to a server, in tests that are async and in those that are not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Literal, TypeAlias, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastmcp import Client

from fastmcp_authz.errors import AuthzError, ConfigurationError
from fastmcp_authz.serving.installing import Server
from fastmcp_authz.survey.survey import survey
from fastmcp_authz.testing.callers import AuthzCaller
from fastmcp_authz.testing.names import check_who
from fastmcp_authz.testing.seen import Tools
from fastmcp_authz.testing.standing_in import Role, Stage, playing
from fastmcp_authz.testing.transport import RoleTransport

T = TypeVar("T")
Mode: TypeAlias = Literal["auto", "legacy"]


class BlockingCaller:
    """The same for code that is not async. Made by `with caller_of(...)`."""

    def __init__(self, portal: BlockingPortal, caller: AuthzCaller) -> None:
        self._portal = portal
        self._caller = caller

    @property
    def tools(self) -> Tools:
        """As of `AuthzCaller`."""
        return self._caller.tools

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """As of `AuthzCaller`."""
        __tracebackhide__ = True
        return self._answer(partial(self._caller.call, tool, **arguments))

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """As of `AuthzCaller`."""
        __tracebackhide__ = True
        return self._answer(partial(self._caller.refused, tool, **arguments))

    def withheld(self, tool: str, /, **arguments: Any) -> tuple[str, ...]:
        """As of `AuthzCaller`."""
        __tracebackhide__ = True
        return self._answer(partial(self._caller.withheld, tool, **arguments))

    def _answer(self, ask: Callable[[], Awaitable[T]]) -> T:
        __tracebackhide__ = True
        try:
            return self._portal.call(ask)
        except AuthzError as error:
            raise error.with_traceback(None) from None  # not the way through the other thread

    def __repr__(self) -> str:
        return repr(self._caller)


class caller_of:
    """Somebody who calls a server: `async with caller_of(server, FakeContext(can=["read"])) as caller:`.

    The server is the real one, and so is the client, in memory; everything on the way decides as in production, but for
    the context, which is the given one in place of what `context=` would make, for this client alone. Mounted servers
    with an `Authz` of their own get it too. `with` instead of `async with` gives a `BlockingCaller`, for tests that are
    not async, with an event loop in a thread of its own.
    """

    def __init__(self, server: Server, who: Any, *, mode: Mode = "auto") -> None:
        """
        Args:
            server: The server.
            who: A server context, or the name of a persona. `None` is nobody.
            mode: The protocol that is spoken: `"legacy"` is that before 2026.
        """
        self._server = server
        self._who = who
        self._mode: Mode = mode
        self._close: Callable[..., Any] | None = None

    async def __aenter__(self) -> AuthzCaller:
        """
        Raises:
            ConfigurationError: There is no such persona, or the server cannot be made safe as it is set up.
        """
        _must_be_asyncio()
        role, stage = Role(self._who), Stage()
        async with AsyncExitStack() as opened:
            looked_through = await survey(self._server)
            check_who(looked_through, self._who)
            opened.callback(stage.leave)
            stage.enter(looked_through.authorities)
            with playing(role):
                client = Client(RoleTransport(self._server, role), mode=self._mode)
                await opened.enter_async_context(client)
                caller = AuthzCaller(looked_through, role, stage, client)
                await caller.list_tools()
            self._close = opened.pop_all().__aexit__
        return caller

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._close is not None
        await self._close(kind, error, trace)

    def __enter__(self) -> BlockingCaller:
        """The same as `async with`."""
        with ExitStack() as opened:
            portal = opened.enter_context(start_blocking_portal("asyncio"))
            apart = caller_of(self._server, self._who, mode=self._mode)
            caller = opened.enter_context(portal.wrap_async_context_manager(apart))
            self._close = opened.pop_all().__exit__
        return BlockingCaller(portal, caller)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._close is not None
        self._close(kind, error, trace)


def _must_be_asyncio() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise ConfigurationError(
            "FastMCP runs on asyncio only. With AnyIO's pytest plugin, have a fixture anyio_backend that returns "
            '"asyncio".'
        ) from None
