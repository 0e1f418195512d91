"""What a function takes from its caller, and what FastMCP puts in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from fastmcp.server.dependencies import transform_context_annotations, without_injected_parameters


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, sorted by who gives them."""

    given: Mapping[str, inspect.Parameter]
    """By the caller of the tool."""
    injected: frozenset[str]
    """By FastMCP: `ctx: Context`, `Depends`."""
    receiver: str | None
    """`self` or `cls` of a method that is not bound yet."""
    hints: Mapping[str, Any]
    """Type hints by parameter, resolved where they can be."""


def read_signature(fn: Callable[..., Any]) -> Signature:
    """The signature of `fn`, read as FastMCP itself reads it."""

    hints = _hints(fn)

    # FastMCP writes what it finds into the function that it is shown, so it is shown a stand-in. Its hints are resolved
    # already: FastMCP resolves them once for each question that it has.
    def stand_in(*args: Any, **kwargs: Any) -> None: ...

    whole = inspect.signature(fn)
    written = whole.parameters
    stand_in.__signature__ = whole.replace(  # type: ignore[attr-defined]
        parameters=[p.replace(annotation=hints.get(name, p.annotation)) for name, p in written.items()]
    )
    stand_in.__annotations__ = {name: hint for name, hint in hints.items() if name in written}
    given = dict(inspect.signature(without_injected_parameters(transform_context_annotations(stand_in))).parameters)
    first = next(iter(written), None)
    receiver = first if first in ("self", "cls") else None
    given.pop(receiver or "", None)
    return Signature(given, frozenset(written.keys() - given.keys() - {receiver}), receiver, hints)


def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(fn, include_extras=True)
    except Exception:  # a name that only a type checker sees
        return dict(inspect.get_annotations(fn))
