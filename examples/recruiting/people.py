"""Who works here, and what they may do: the server context that predicates ask."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from fastmcp_authz import Request


@dataclass(frozen=True)
class Person:
    """Somebody with an account."""

    name: str
    permissions: frozenset[str]
    defaults: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def can(self, flag: str) -> bool:
        """Answers `authorization="flag"` and `@requires(:flag)`."""
        return flag in self.permissions

    def default_for(self, key: str) -> object:
        """Answers `@default_for(:key)`; None is no answer."""
        return self.defaults.get(key)


@dataclass(frozen=True)
class Caller:
    """The server context of one request: a person, and what their office has switched on."""

    current_user: Person
    features: frozenset[str] = frozenset()

    def feature(self, flag: str) -> bool:
        """Answers `@feature(:flag)` and the gate `("feature", "flag")`."""
        return flag in self.features


VIEWER = Person("viewer", frozenset({"view_applicants"}), {"per_page": 2})
OPERATOR = Person("operator", VIEWER.permissions | {"search", "manage_workflows", "comms"}, {"per_page": 3})
MANAGER = Person(
    "manager",
    OPERATOR.permissions | {"view_archived", "view_scores", "view_pii", "backward_routing"},
    {"per_page": 5},
)

CALLERS = {
    "viewer": Caller(VIEWER),
    "operator": Caller(OPERATOR),
    "manager": Caller(MANAGER, features=frozenset({"sms"})),
}

PERSONAS = {name: partial(CALLERS.__getitem__, name) for name in CALLERS}
"""The same for the command line and for tests: nobody is served as one."""


def caller_of(request: Request) -> Caller | None:
    """Who is asking; None is nobody, who gets no to every question.

    Over HTTP a verified token says so. A stdio server belongs to the one who started it, and they say so.
    """
    if request.transport == "stdio":
        return CALLERS.get(os.environ.get("RECRUITING_PERSON", ""))
    if request.access_token is None or request.access_token.subject is None:
        return None
    return CALLERS.get(request.access_token.subject)
