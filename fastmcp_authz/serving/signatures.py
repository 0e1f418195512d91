"""What a function takes from its caller, and what FastMCP puts in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from fastmcp.server.dependencies import transform_context_annotations, without_injected_parameters

_PLAIN: Final = frozenset({str, int, float, bool, NoneType, bytes, list, dict, tuple, set, frozenset})
"""Types of values and hints that FastMCP never takes for something of its own. Asking it takes long."""


class Signature(NamedTuple):
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
    whole = inspect.signature(fn)
    written = whole.parameters
    plain = all(_is_plain(p.default) and _is_plain_hint(hints.get(name, p.annotation)) for name, p in written.items())
    given = dict(written) if plain else _without_injected(whole, hints)
    first = next(iter(written), None)
    receiver = first if first in ("self", "cls") else None
    given.pop(receiver or "", None)
    return Signature(given, frozenset(written.keys() - given.keys() - {receiver}), receiver, hints)


def _is_plain(default: Any) -> bool:
    """Whether a default is just a value, and nothing that FastMCP resolves, as `Depends(...)` is."""
    return default is inspect.Parameter.empty or type(default) in _PLAIN


def _is_plain_hint(hint: Any) -> bool:
    """Whether a hint is made of Python's own types, so that FastMCP puts in nothing for it."""
    if hint is inspect.Parameter.empty or hint is Any:
        return True
    if isinstance(hint, type):
        return hint in _PLAIN
    origin = get_origin(hint)
    if origin is Literal:
        return True
    made_of = origin in _PLAIN or origin in (Union, UnionType)
    return made_of and all(part is Ellipsis or _is_plain_hint(part) for part in get_args(hint))


def _without_injected(whole: inspect.Signature, hints: Mapping[str, Any]) -> dict[str, inspect.Parameter]:
    """The parameters that FastMCP leaves to the caller, as it finds them itself."""

    # FastMCP writes what it finds into the function that it is shown, so it is shown a stand-in. Its hints are resolved
    # already: FastMCP resolves them once for each question that it has.
    def stand_in(*args: Any, **kwargs: Any) -> None: ...

    written = whole.parameters
    stand_in.__signature__ = whole.replace(  # type: ignore[attr-defined]
        parameters=[p.replace(annotation=hints.get(name, p.annotation)) for name, p in written.items()]
    )
    stand_in.__annotations__ = {name: hint for name, hint in hints.items() if name in written}
    return dict(inspect.signature(without_injected_parameters(transform_context_annotations(stand_in))).parameters)


def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(fn, include_extras=True)
    except Exception:  # a name that only a type checker sees
        return dict(inspect.get_annotations(fn))
