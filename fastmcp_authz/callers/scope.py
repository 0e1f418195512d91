"""The request's scopes: one caller per request and authority, built once, closed when the request ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias

from fastmcp_authz.caches import LeastRecent
from fastmcp_authz.callers.asking import is_own
from fastmcp_authz.callers.context import ContextBuilder, Request, is_ready, opened_context
from fastmcp_authz.callers.deciding import Caller, unobserved
from fastmcp_authz.callers.keeping import InOneTask
from fastmcp_authz.errors import AuthzError, ConfigurationError
from fastmcp_authz.events import Observer
from fastmcp_authz.settings import Settings

logger = logging.getLogger("fastmcp_authz")


class CallerUnavailableError(AuthzError):
    """The server context of this request could not be built. Says nothing else, since it may reach a client."""

    def __init__(self) -> None:
        super().__init__("The caller's rights cannot be determined at the moment.")


Personas: TypeAlias = Mapping[str, Callable[[], Any]]
"""Server contexts by a name that people know them by, for tools and tests. Nobody is ever served as one."""


@dataclass(frozen=True, eq=False)
class Authority:
    """Who decides for a server: the builder of its contexts, its settings, and what becomes of its decisions.

    Two authorities are never the same one, however equal: each has its own scope in a request.
    """

    context: ContextBuilder | None = None
    settings: Settings = field(default_factory=Settings)
    observe: Observer = field(default=unobserved)
    personas: Personas = field(default_factory=dict)
    views: LeastRecent[Any] = field(init=False, repr=False)
    """What was made for its callers, for all with equal answers."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "views", LeastRecent(self.settings.cached_views))

    @property
    def domain(self) -> str:
        """What is served where no path names a domain."""
        return self.settings.domain or self.settings.default_domain


_building: ContextVar[frozenset[Authority]] = ContextVar("fastmcp_authz_building", default=frozenset())
"""Whose context builders are at work, up to here."""


class Scope:
    """One request's caller for one authority. Made by `opened`; the caller is built when it is first needed."""

    def __init__(self, authority: Authority, request: Callable[[], Request], served: _Served) -> None:
        self.authority = authority
        self._request = request
        self._served = served
        self._caller: Caller | None = None
        self._failed = False
        self._building = asyncio.Lock()

    async def caller(self) -> Caller:
        """The caller, built at the first call, however many wait for it.

        Raises:
            CallerUnavailableError: The context builder raised, now or at an earlier call: a request never tries twice.
        """
        if self._caller is not None and not self._served.ended:
            return self._caller
        async with self._building:
            if self._failed or self._served.ended:
                raise CallerUnavailableError
            if self._caller is None:
                self._caller = await self._build()
            return self._caller

    async def _build(self) -> Caller:
        authority = self.authority
        above = _building.get()
        token = _building.set(above | {authority})
        try:
            if authority in above:
                raise ConfigurationError("The context builder calls the server that it builds a context for.")
            request = self._request()
            context = await self._context(request)
            name = _identity(context, request)
        except BaseException as failure:
            if not is_own(failure):
                raise
            self._failed = True
            logger.error("The context builder failed: the request is refused.", exc_info=True)
            raise CallerUnavailableError from None
        finally:
            _building.reset(token)
        return Caller(
            context,
            authority.settings,
            request.domain,
            name=name,
            observe=authority.observe,
            views=authority.views,
        )

    async def _context(self, request: Request) -> Any:
        """What the builder makes. Without a builder it is `None`: nobody, who gets a no to everything."""
        builder = self.authority.context
        made = None if builder is None else builder(request)
        if is_ready(made):
            return made
        async with asyncio.timeout(self.authority.settings.predicate_timeout):
            return await self._served.enter(opened_context(made, getattr(builder, "__qualname__", repr(builder))))


def _identity(context: Any, request: Request) -> str | None:
    """What the operator knows the caller by."""
    try:
        own = getattr(context, "audit_id", None)
    except Exception:
        logger.error("The audit_id of the server context cannot be read.", exc_info=True)
        own = None
    if _names_somebody(own):
        return str(own)
    return next((str(known) for known in _subjects(request.access_token) if _names_somebody(known)), None)


def _names_somebody(known: Any) -> bool:
    return isinstance(known, (str, int)) and known != ""


def _subjects(token: Any) -> Iterator[Any]:
    """Whom an access token is for, as far as it says."""
    if token is not None:
        yield getattr(token, "subject", None)
        claims = getattr(token, "claims", None)
        yield claims.get("sub") if isinstance(claims, Mapping) else None
        yield getattr(token, "client_id", None)


class _Served:
    """One request while it lasts: its scopes, and the contexts that are open for it."""

    def __init__(self, key: object | None) -> None:
        self.key = key
        self.ended = False
        self._scopes: dict[Authority, Scope] = {}
        self._open: AsyncExitStack | None = None
        self._task = asyncio.current_task()

    def scope(self, authority: Authority, request: Callable[[], Request]) -> Scope:
        """The one scope of `authority` in this request."""
        if authority not in self._scopes:
            self._scopes[authority] = Scope(authority, request, self)
        return self._scopes[authority]

    async def enter(self, opening: AbstractAsyncContextManager[Any]) -> Any:
        """Enters a context that is left when the request ends."""
        if self._open is None:
            self._open = AsyncExitStack()
        if asyncio.current_task() is self._task:
            return await self._open.enter_async_context(opening)
        return await self._open.enter_async_context(InOneTask(opening))

    async def end(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the contexts. They see the request's exception (to roll back), but cannot swallow it."""
        self.ended = True
        if self._open is None:
            return
        try:
            await self._open.__aexit__(kind, error, trace)
        except Exception as failure:
            if failure is not error:
                # The answer is made already, and what went wrong here is not for the client.
                logger.error("Closing the server context failed.", exc_info=True)


class _Link(NamedTuple):
    scope: Scope
    served: _Served
    below: _Link | None


# The way from the request's first server to the current one. Its links are immutable, so that a task that inherits it
# cannot change it for others.
_way: ContextVar[_Link | None] = ContextVar("fastmcp_authz_scopes", default=None)


class opened:
    """Makes the scope of `authority` in the request `key` the nearest one, for what is called from here.

    Args:
        authority: Who decides.
        key: An object that is this request's alone, `None` where there is none. A scope without a key is nobody else's
            to find: what runs in a background task or in a nested call may have inherited this way from another
            person's request.
        request: What the context builder is given, if it is needed.
    """

    def __init__(self, authority: Authority, key: object | None, request: Callable[[], Request]) -> None:
        self._authority = authority
        self._key = key
        self._request = request

    async def __aenter__(self) -> Scope:
        above = _way.get()
        way = _last(above, self._key)
        self._begun = _Served(self._key) if way is None else None
        served = way.served if way is not None else self._begun
        assert served is not None
        scope = served.scope(self._authority, self._request)
        self._token = _way.set(_Link(scope, served, above))
        return scope

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _way.reset(self._token)
        if self._begun is not None:
            await self._begun.end(kind, error, trace)


def here(key: object | None) -> Scope | None:
    """The last scope on the way to here, in the request `key`."""
    link = _last(_way.get(), key)
    return None if link is None else link.scope


def decides_now(authority: Authority, key: object | None) -> bool:
    """Whether the last scope on the way to here, in the request `key`, is that of `authority`."""
    scope = here(key)
    return scope is not None and scope.authority is authority


def nearest(authorities: Container[Authority], key: object | None) -> Scope | None:
    """The last scope of any of `authorities` on the way to here, in the request `key`: the nearest decides."""
    link = _last(_way.get(), key)
    while link is not None and link.scope.authority not in authorities:
        link = _last(link.below, key)
    return None if link is None else link.scope


def _last(link: _Link | None, key: object | None) -> _Link | None:
    """The first of a way's links, from `link` down, that is of the request `key`."""
    if key is None:
        return None
    while link is not None and (link.served.key is not key or link.served.ended):
        link = link.below
    return link
