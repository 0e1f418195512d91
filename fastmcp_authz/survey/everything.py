"""A server context that may see all there is, to be looked with; nobody is served as one."""

from __future__ import annotations

from collections.abc import Iterable

from fastmcp_authz.callers.predicates import Predicate


class Everything:
    """A server context that answers every predicate with yes."""

    def decide(self, predicates: Iterable[Predicate]) -> dict[Predicate, bool]:
        """Answers with yes."""
        return dict.fromkeys(predicates, True)
