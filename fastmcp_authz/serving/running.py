"""Running the original function for an admitted caller: what FastMCP calls in its place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import mcp_types
from fastmcp import Context
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
    context: Context | None = field(default=None, repr=False)
    """The FastMCP context that it runs in; `None` in a background task that has none."""
    entered: bool = False
    """Whether the function was reached: what was raised before is about its arguments, what comes after is its own."""

    def finish(self, value: Any) -> Finished:
        """The result that is sent for the function's return value, pruned here, before FastMCP serialises anything."""
        if isinstance(value, mcp_types.InputRequiredResult):
            self.record.outcome = "asked"
            return value  # a question to the client, no result yet
        return sent(value, self.view, self.record, passthrough=self.passthrough)


_run: ContextVar[Run | None] = ContextVar("fastmcp_authz_run", default=None)


def current_run() -> Run | None:
    """The admitted call that is running here."""
    return _run.get()


class running:
    """Makes `run` the current one, for the adapter that it names."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __enter__(self) -> None:
        self._token = _run.set(self._run)

    def __exit__(self, *_: object) -> None:
        _run.reset(self._token)


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


class _entered:
    """The run of an adapter, which is admitted; what it goes about to run beside that is not."""

    def __init__(self, adapter: Callable[..., Any]) -> None:
        self._adapter = adapter
        self._admitted = admitted()

    def __enter__(self) -> Run:
        run = _run.get()
        if run is None or run.adapter is not self._adapter:
            raise NotAdmittedError
        run.entered = True
        self._admitted.__enter__()
        return run

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._admitted.__exit__()
        if isinstance(error, NotAdmittedError):
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
