"""Who decides for the tools of one server, in the request at hand."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from weakref import WeakSet

from fastmcp_authz.callers.scope import Authority, Scope, nearest, opened
from fastmcp_authz.serving.requests import current_request


class Jurisdiction:
    """The authorities of one server: its own, or those of the servers that it is mounted on."""

    def __init__(self, own: Authority | None = None) -> None:
        self._own = own
        # Weak: a server that outlives one it was mounted on is no longer that one's.
        self._authorities: WeakSet[Authority] = WeakSet([own] if own is not None else [])

    def is_decided_by(self, authority: Authority) -> bool:
        """Whether `authority` is one of them."""
        return authority in self._authorities

    def extend(self, authority: Authority) -> None:
        """A server that `authority` decides for has mounted this one."""
        self._authorities.add(authority)

    def scope(self, key: object | None) -> AbstractAsyncContextManager[Scope | None]:
        """The scope in the request `key`, the current one, `None` where nobody here may decide.

        That is so for a mounted server which is reached by itself: what protects it is not on the way. Without a wire
        request (a background task, the Python interface) there is no way to look at, and the one authority there is
        decides afresh.
        """
        scope = nearest(self._authorities, key)
        authority = self._own
        if authority is None and key is None and len(self._authorities) == 1:
            (authority,) = self._authorities
        if scope is not None or authority is None:
            return nullcontext(scope)
        return opened(authority, key, partial(current_request, authority.domain))
