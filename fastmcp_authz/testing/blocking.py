"""Asynchronous questions from code that is not, or whose event loop is at work with something else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def finished(ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What a coroutine returns, run in a thread with an event loop of its own, so that it may be asked anywhere.

    Never in this thread: `asyncio.run` leaves it without the loop that the plugins for async tests have put there.
    """
    with ThreadPoolExecutor(1, "fastmcp_authz.testing") as thread:
        return thread.submit(copy_context().run, lambda: asyncio.run(ask())).result()
