"""Who works here, and what they may do: the context of the company's server, and of what has no other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fastmcp_authz import Request


@dataclass(frozen=True)
class Employee:
    roles: frozenset[str]

    def requires(self, flag: str) -> bool:
        """Answers `authorization="flag"` and `@requires(:flag)`."""
        return flag in self.roles


STAFF = {
    "ann": Employee(frozenset({"employee", "lead"})),
    "bob": Employee(frozenset({"employee"})),
    "kim": Employee(frozenset({"employee"})),
    "pat": Employee(frozenset({"employee"})),
}

PERSONAS = {name: partial(STAFF.__getitem__, name) for name in STAFF}

TOKENS = {f"token-of-{name}": {"client_id": name, "sub": name, "scopes": []} for name in STAFF}
"""For the example. Whoever signs people in gives out tokens that nobody can guess."""


def name_of(request: Request) -> str:
    """Whom the verified token names."""
    return (request.access_token and request.access_token.subject) or ""


def employee_of(request: Request) -> Employee | None:
    """Who is asking; None is nobody, who gets no to every question."""
    return STAFF.get(name_of(request))
