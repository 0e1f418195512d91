"""What `authorized_tool` says about a function, carried on its guard."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from fastmcp.utilities.docstring_parsing import parse_docstring

from fastmcp_authz.caches import LeastRecent, Same
from fastmcp_authz.callers.predicates import Predicate, Questions, questions
from fastmcp_authz.contracts.contract import ToolContract
from fastmcp_authz.serving.running import adapted

logger = logging.getLogger("fastmcp_authz")

ContentPolicy: TypeAlias = Literal["pruned", "passthrough"]
Description: TypeAlias = str | Callable[[Any], Any] | None

# One private attribute of the guard, neither `__fastmcp__` (which `@mcp.tool` overwrites) nor tags or meta (which go
# to the client).
_ATTRIBUTE = "_fastmcp_authz_declaration"
_BOUND_OBJECTS = 256


@dataclass(frozen=True, eq=False)
class Declaration:
    """One decorated function: its contract, and who may use it at all."""

    contract: ToolContract
    original: Callable[..., Any]
    guard: Callable[..., Any]
    """The function that carries this. A decorator above ours may copy this declaration onto its own wrapper."""
    gates: tuple[Predicate, ...] = ()
    """Asked before anything inside the tool; all must hold."""
    description: Description = None
    """In place of the docstring's prose: a text, or a function of the context."""
    content: ContentPolicy = "pruned"
    domains: tuple[str, ...] = ()
    """None: the default one of the server."""
    category: str | None = None
    category_summary: str | None = None
    paths_told: set[str] = field(default_factory=set[str], repr=False)
    """Paths of results that are known to be left out for some caller, each told once."""
    _adapters: LeastRecent[Callable[..., Any]] = field(default_factory=lambda: LeastRecent(_BOUND_OBJECTS), repr=False)

    def attach(self) -> None:
        """Puts this on its guard."""
        setattr(self.guard, _ATTRIBUTE, self)

    def adapter(self, owner: Any) -> Callable[..., Any]:
        """What FastMCP runs in place of the original, bound to `owner` where that is not `None`.

        One for each bound object and for good: FastMCP keeps what it derives from a function by the function.
        """

        def make() -> Callable[..., Any]:
            return adapted(self.original if owner is None else self.original.__get__(owner))

        return self._adapters.get(Same(owner), make)

    @functools.cached_property
    def asked_first(self) -> Questions:
        """The gates."""
        return questions(self.gates)

    @functools.cached_property
    def asked_inside(self) -> Questions:
        """What is asked of a caller whom the gates let pass."""
        return questions(self.contract.predicates)

    @functools.cached_property
    def null_where_left_out(self) -> frozenset[str]:
        """What `nullable_inputs="opt-in"` lets callers leave out and Python does not: the function gets `None`."""
        parameters = inspect.signature(self.original).parameters
        nilable = self.contract.nilable_parameters & parameters.keys()
        return frozenset(name for name in nilable if parameters[name].default is inspect.Parameter.empty)

    @functools.cached_property
    def published_description(self) -> str | None:
        """What FastMCP makes of the guard's doc, to tell it from a description that the author gave `@mcp.tool`."""
        return parse_docstring(self.guard).description

    def __str__(self) -> str:
        return self.contract.name


def declaration_of(fn: Any) -> Declaration | None:
    """The declaration that `fn`, a function or a bound method, carries by right."""
    found = carried(fn)
    if found is None or found.guard is fn or found.guard is getattr(fn, "__func__", None):
        return found
    return None


def carried(fn: Any) -> Declaration | None:
    """The declaration that `fn` carries, maybe only because `functools.wraps` copied it from a guard beneath."""
    found = getattr(fn, _ATTRIBUTE, None)
    return found if isinstance(found, Declaration) else None


def owner_of(fn: Any) -> Any:
    """The object that a method is bound to."""
    return fn.__self__ if inspect.ismethod(fn) else None
