"""Who is asking: what a context builder is given, what a server context may offer, how one is opened."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from types import AsyncGeneratorType, CoroutineType, GeneratorType, MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from fastmcp_authz.errors import ConfigurationError

_OPEN = frozenset({"access_token", "headers", "session_id"})


def _nothing_else(name: str) -> Any:
    raise AttributeError(name)


_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Request:
    """What a context builder is called with: where one request comes from (SPEC section 4)."""

    access_token: Any | None = None
    """The verified access token, with its scopes and claims; `None` over stdio and in memory."""
    headers: Mapping[str, str] = field(default_factory=lambda: _NO_HEADERS)
    """The HTTP headers by lower-case name, without credentials; empty where there is no HTTP."""
    transport: str | None = None
    """`"stdio"`, `"streamable-http"`, `"sse"`; `None` in memory and in background tasks."""
    session_id: str | None = None
    """Stable for a legacy connection, new with each request on a modern one, `None` outside requests."""
    domain: str | None = "default"
    """The domain of tools that is being served; `None` in a background task, which was submitted in one."""
    _look_up: Callable[[str], Any] = field(default=_nothing_else, init=False, repr=False, compare=False)
    """Finds what was left open by `looked_up_when_read`."""

    @classmethod
    def looked_up_when_read(
        cls, look_up: Callable[[str], Any], *, transport: str | None, domain: str | None
    ) -> Request:
        """A request whose token, headers and session are looked up when somebody reads them: most builders read one.

        Args:
            look_up: Finds one of them by its name, for this request, whoever reads it from wherever.
            transport: As above.
            domain: As above.
        """
        request = cls.__new__(cls)
        for name, value in (("transport", transport), ("domain", domain), ("_look_up", look_up)):
            object.__setattr__(request, name, value)
        return request

    if not TYPE_CHECKING:  # for type checkers there are the fields above, and no other

        def __getattr__(self, name: str) -> Any:
            """Python asks here for a field that is still open, and once only."""
            if name not in _OPEN:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            value = self._look_up(name)
            object.__setattr__(self, name, value)
            return value

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied with all that there is to be read, and with nothing that finds it."""
        return Request, (self.access_token, self.headers, self.transport, self.session_id, self.domain)


@runtime_checkable
class CurrentUser(Protocol):
    """The user of a server context. Both methods may be `async`; `default_for` may be missing."""

    def can(self, flag: str, /) -> bool | Awaitable[bool]:
        """Whether the user holds the permission `flag`."""

    def default_for(self, key: str, /) -> Any:
        """This user's default behind `@default_for(:key)`, or `None` for the fixed one."""


class ServerContext(Protocol):
    """Documents what a server context may offer. It is any object; nothing of this is mandatory.

    Besides these, `@name(value)` asks the method `name(value)`, which answers `True` or `False` and may be `async`.
    A context that knows all answers from one query may have `decide(predicates)` instead, sync or async: it returns a
    mapping to `True` or `False`, keyed by predicate, by its `text`, or by `(name, value)`.
    """

    current_user: Any
    """A `CurrentUser`, or `None` for nobody."""

    def requires(self, flag: str, /) -> bool | Awaitable[bool]:
        """Whether the caller holds `flag`; without this method `current_user.can(flag)` answers."""


ContextBuilder: TypeAlias = Callable[[Request], Any]
"""Makes the server context of a request: sync, `async`, or returning a sync or async context manager."""


def is_ready(made: Any) -> bool:
    """Whether what a builder returned is the server context itself, with nothing to await, to enter or to close."""
    kind: Any = type(made)
    meta: Any = type(kind)
    if meta.__eq__ is type.__eq__ and meta.__hash__ is type.__hash__:
        return _known_to_be_ready(kind)
    return _is_ready(kind)  # of a class that others can be equal to, what is known of them says nothing


def _is_ready(kind: type) -> bool:
    to_open = any(hasattr(kind, name) for name in ("__await__", "__aenter__", "__enter__"))
    return not to_open and not issubclass(kind, GeneratorType | AsyncGeneratorType | CoroutineType)


_known_to_be_ready = lru_cache(maxsize=64)(_is_ready)


@asynccontextmanager
async def opened_context(made: Any, name: str) -> AsyncIterator[Any]:
    """Yields the server context that `made` leads to, which the builder `name` returned, and closes it afterwards.

    Raises:
        ConfigurationError: The builder is an async generator that lacks `@asynccontextmanager`. Taken for a context,
            it would define no predicate at all, and where missing ones are allowed everybody would get a yes.
    """
    if inspect.isawaitable(made):
        made = await made
    if inspect.isasyncgen(made) or inspect.isgenerator(made):
        decorator = "@asynccontextmanager" if inspect.isasyncgen(made) else "@contextmanager"
        raise ConfigurationError(f"context={name} is a generator function: decorate it with {decorator} of contextlib.")
    if isinstance(made, AbstractAsyncContextManager):
        async with made as context:
            yield context
    elif isinstance(made, AbstractContextManager):
        with made as context:
            yield context
    else:
        yield made
