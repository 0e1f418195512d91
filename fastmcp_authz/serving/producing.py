"""Producers: what registers tools that are built at run time, once, before anybody is served."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from typing import Any, Generic, TypeAlias, TypeVar

from fastmcp_authz.errors import ConfigurationError

Registry = TypeVar("Registry")
Produce: TypeAlias = Callable[[], Awaitable[None]]
Producer: TypeAlias = Callable[[Registry], object]
"""Registers tools with what it is given; may be async."""

_producing: ContextVar[bool] = ContextVar("fastmcp_authz_producing", default=False)
"""Whether this is a producer's own code, which may list the server that it registers tools on."""


class Producing(Generic[Registry]):
    """The producers of one `Authz`."""

    def __init__(self, registry: Registry, producers: Iterable[Producer[Registry]]) -> None:
        """
        Args:
            registry: What each is called with.
            producers: In their order.

        Raises:
            ConfigurationError: One of them cannot be called.
        """
        given: Any = producers
        self._registry = registry
        self._waiting: list[Producer[Registry]] = list(given) if isinstance(given, Iterable) else [given]
        self._running = asyncio.Lock()
        if not isinstance(given, Iterable) or not all(map(callable, self._waiting)):
            raise ConfigurationError(
                f"producers={given!r} is no list of functions that are called with the Authz, to register tools: "
                "write producers=[register_reports]."
            )

    async def once(self) -> None:
        """Runs those that have not run. One that raises runs again when it is asked for again: at the next start."""
        if not self._waiting or _producing.get():
            return
        token = _producing.set(True)
        try:
            async with self._running:
                while self._waiting:
                    made = self._waiting[0](self._registry)
                    if inspect.isawaitable(made):
                        await made
                    del self._waiting[0]
        finally:
            _producing.reset(token)
