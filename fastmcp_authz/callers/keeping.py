"""A context manager that is entered and left in one task, whichever tasks ask for it."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, TypeVar

from fastmcp_authz.callers.asking import is_own

Kept = TypeVar("Kept")


class InOneTask(Generic[Kept]):
    """Enters and leaves `manager` in a task of its own.

    FastMCP looks tools up in tasks that end before the request does. A manager built on cancel scopes (AnyIO's task
    groups, `asyncio.timeout`) that is entered in one of those could not be left from anywhere else.
    """

    def __init__(self, manager: AbstractAsyncContextManager[Kept]) -> None:
        self._manager = manager

    async def __aenter__(self) -> Kept:
        loop = asyncio.get_running_loop()
        self._entered: asyncio.Future[Kept] = loop.create_future()
        self._left: asyncio.Future[BaseException | None] = loop.create_future()
        self._task = asyncio.create_task(self._keep())
        try:
            return await asyncio.shield(self._entered)
        except asyncio.CancelledError:
            self._task.cancel()
            raise

    async def _keep(self) -> None:
        try:
            async with self._manager as kept:
                self._entered.set_result(kept)
                error = await self._left
                if error is not None:
                    raise error  # so that the manager sees it, to roll back
        except BaseException as failure:
            if self._entered.done() or not is_own(failure):
                raise
            self._entered.set_exception(failure)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set_result(error)
        (ended,) = await asyncio.gather(self._task, return_exceptions=True)
        if isinstance(ended, Exception) and ended is not error:
            raise ended
