"""Running the original function for an admitted caller: what FastMCP calls in its place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import mcp_types
from fastmcp.exceptions import AuthorizationError
from fastmcp.server.dependencies import transform_context_annotations
from fastmcp.tools import ToolResult

from fastmcp_authz.contracts.view import CallerView
from fastmcp_authz.serving.admission import NotAdmittedError, admitted
from fastmcp_authz.serving.audit import CallRecord
from fastmcp_authz.serving.results import sent

Finished = ToolResult | mcp_types.InputRequiredResult


@dataclass(slots=True)
class Run:
    """One admitted call, from the check of its arguments to its result."""

    view: CallerView
    record: CallRecord
    """What the operator is told of it."""
    passthrough: bool
    adapter: Callable[..., Any] | None = field(default=None, repr=False)
    """The one function that may run in it."""
    entered: bool = False
    """Whether the function was reached: what was raised before is about its arguments, what comes after is its own."""

    def finish(self, value: Any) -> Finished:
        """The result that is sent for the function's return value, pruned here, before FastMCP serialises anything."""
        if isinstance(value, mcp_types.InputRequiredResult):
            self.record.outcome = "asked"
            return value  # a question to the client, no result yet
        return sent(value, self.view, self.record, passthrough=self.passthrough)


_run: ContextVar[Run | None] = ContextVar("fastmcp_authz_run", default=None)


@contextmanager
def running(run: Run) -> Iterator[None]:
    """Makes `run` the current one, for the adapter that it names."""
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)


def adapted(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the signature and hints of `original`, injected parameters included, that returns the result.

    Whatever `original` returns or yields is complete and pruned when it comes back, in the thread that ran it.
    """
    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def adapter(*args: Any, **kwargs: Any) -> Any:
            with _entered(adapter) as run:
                return await _finished(run, await original(*args, **kwargs))

    elif inspect.isasyncgenfunction(original):

        @functools.wraps(original)
        async def adapter(*args: Any, **kwargs: Any) -> Any:
            with _entered(adapter) as run:
                return await _finished(run, original(*args, **kwargs))

    else:

        @functools.wraps(original)
        def adapter(*args: Any, **kwargs: Any) -> Any:
            with _entered(adapter) as run:
                value = original(*args, **kwargs)
                if inspect.isawaitable(value) or inspect.isasyncgen(value):
                    return _finish_later(adapter, value)
                return run.finish(list(value) if inspect.isgenerator(value) else value)

    return transform_context_annotations(adapter)


@contextmanager
def _entered(adapter: Callable[..., Any]) -> Iterator[Run]:
    run = _run.get()
    if run is None or run.adapter is not adapter:
        raise NotAdmittedError
    run.entered = True
    try:
        with admitted():
            yield run
    except NotAdmittedError as error:
        raise AuthorizationError(str(error)) from None  # of another function, that this one went about to run


async def _finish_later(adapter: Callable[..., Any], value: Any) -> Finished:
    """For a sync function that returns an awaitable: it is awaited back on the event loop, where nobody is admitted."""
    with _entered(adapter) as run:
        return await _finished(run, value)


async def _finished(run: Run, value: Any) -> Finished:
    if inspect.isawaitable(value):
        value = await value
    if inspect.isasyncgen(value):
        value = [item async for item in value]
    elif inspect.isgenerator(value):
        value = list(value)
    return run.finish(value)
