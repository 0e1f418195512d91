"""The guarded function: what `@mcp.tool` gets to see, least-privileged in signature, hints and doc."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Collection, Generator, Mapping
from contextlib import aclosing
from typing import Any

from fastmcp_authz.serving.admission import require_admission


def guarded(
    original: Callable[..., Any], *, keep: Collection[str], doc: str | None, hints: Mapping[str, Any]
) -> Callable[..., Any]:
    """A function that runs `original` where the caller was admitted, of the same kind: sync, async or generator.

    Args:
        original: The author's function.
        keep: The parameters that everyone may see, and the injected ones.
        doc: The doc that everyone may see.
        hints: The type hints of the parameters, resolved where they can be.
    """
    guard = _guard(original)
    signature = inspect.signature(original)
    # No return annotation: FastMCP would make the whole output schema of it.
    guard.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            p.replace(annotation=hints.get(name, p.annotation))
            for name, p in signature.parameters.items()
            if name in keep
        ],
        return_annotation=inspect.Signature.empty,
    )
    guard.__annotations__ = {name: hint for name, hint in hints.items() if name in keep}
    guard.__doc__ = doc
    return guard


def _guard(original: Callable[..., Any]) -> Callable[..., Any]:
    name = original.__name__
    if inspect.iscoroutinefunction(original):

        @functools.wraps(original)
        async def guard_coroutine(*args: Any, **kwargs: Any) -> Any:
            require_admission(name)
            return await original(*args, **kwargs)

        return guard_coroutine
    if inspect.isasyncgenfunction(original):

        @functools.wraps(original)
        async def guard_stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            require_admission(name)
            async with aclosing(original(*args, **kwargs)) as items:
                async for item in items:
                    yield item

        return guard_stream
    if inspect.isgeneratorfunction(original):

        @functools.wraps(original)
        def guard_generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            require_admission(name)
            result: Any = yield from original(*args, **kwargs)
            return result

        return guard_generator

    @functools.wraps(original)
    def guard(*args: Any, **kwargs: Any) -> Any:
        require_admission(name)
        return original(*args, **kwargs)

    return guard
