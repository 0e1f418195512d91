"""Requests of one client, decided for a context that a test chose.

While a test has a caller open, the builder of the server's contexts gives way to one that looks first whether the
request at hand comes from such a caller: in a contextvar, which nobody but code of this process can set. All others
get what the author's builder makes.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from fastmcp_authz.callers.context import ContextBuilder, Request
from fastmcp_authz.callers.scope import Authority
from fastmcp_authz.events import Event, Observer
from fastmcp_authz.serving.requests import is_of_a_session


@dataclass(frozen=True, eq=False)
class Role:
    """Whom a client is to be."""

    who: Any
    """The name of a persona, or a server context."""

    def context(self, authority: Authority) -> Any:
        """What the builder of an authority is to make: a persona is nobody where the authority has none of the name."""
        if not isinstance(self.who, str):
            return self.who
        make = authority.personas.get(self.who)
        return None if make is None else make()


@dataclass(frozen=True, eq=False)
class _Part:
    """A role, as it is played in one call of a test's."""

    role: Role
    told: list[Event] = field(default_factory=list[Event])


_part: ContextVar[_Part | None] = ContextVar("fastmcp_authz_part", default=None)


@contextmanager
def playing(role: Role) -> Iterator[list[Event]]:
    """Requests that are sent from here are those of a role. Yields the events that they lead to, as they come."""
    part = _part.get()
    if part is not None and part.role is role:
        yield part.told  # within a call of its own
        return
    part = _Part(role)
    token = _part.set(part)
    try:
        yield part.told
    finally:
        _part.reset(token)


def _played() -> _Part | None:
    """The part that the request at hand is one of.

    None that came over HTTP is, and no background task: what serves it may have been started within a call of a
    test's, by a lifespan or by a tool, and have inherited the part of that.
    """
    return _part.get() if is_of_a_session() else None


class _Own(NamedTuple):
    """What an authority has by itself."""

    context: ContextBuilder | None
    observe: Observer


_lock = threading.Lock()  # callers of tests that are not async have threads of their own
_own: WeakKeyDictionary[Authority, _Own] = WeakKeyDictionary()
_holds: WeakKeyDictionary[Authority, int] = WeakKeyDictionary()


class Stage:
    """What one open caller holds of a server: on its authorities, roles can be played until it is left."""

    def __init__(self) -> None:
        self._held: list[Authority] = []

    def enter(self, authorities: Iterable[Authority]) -> None:
        """Holds these as well."""
        with _lock:
            for each in authorities:
                if each in self._held:
                    continue
                self._held.append(each)
                _holds[each] = _holds.get(each, 0) + 1
                if _holds[each] == 1:
                    own = _own[each] = _Own(each.context, each.observe)
                    # Without a builder of its own a server refuses to start where anybody is asked, in tests as well.
                    _put(each, None if own.context is None else _builder(each, own.context), _observer(own.observe))

    def leave(self) -> None:
        """Gives the authorities back, as they were, unless others hold them too."""
        with _lock:
            for each in self._held:
                _holds[each] -= 1
                if _holds[each] == 0:
                    _put(each, *_own.pop(each))
            self._held.clear()


def _put(authority: Authority, context: ContextBuilder | None, observe: Observer) -> None:
    # Frozen, for everybody else.
    object.__setattr__(authority, "context", context)
    object.__setattr__(authority, "observe", observe)


def _builder(authority: Authority, own: ContextBuilder) -> ContextBuilder:
    @functools.wraps(own)
    def build(request: Request) -> Any:
        part = _played()
        return own(request) if part is None else part.role.context(authority)

    return build


def _observer(own: Observer) -> Observer:
    def observe(event: Event) -> None:
        own(event)
        part = _played()
        if part is not None:
            part.told.append(event)

    return observe
