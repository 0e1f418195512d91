"""Names that tests write: a tool or a field that nobody has is an error, never a pass."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from fastmcp_authz.errors import AuthzError, ConfigurationError
from fastmcp_authz.survey.survey import Survey
from fastmcp_authz.testing.fake import FakeContext


class UnknownNameError(AuthzError, KeyError):
    """A test names a tool, a field or a parameter that is not there, for anybody or for this caller."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


def near(name: str, known: Iterable[str]) -> str:
    """A sentence on the names that may have been meant."""
    names = sorted(known)
    found = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if found:
        return f"Did you mean {' or '.join(found)}?"
    return f"There are: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}." if names else "There are none."


def named(who: Any) -> str:
    """Somebody, in the text of a failure."""
    if who is None:
        return "nobody"
    if isinstance(who, str):
        return who
    return repr(who) if isinstance(who, FakeContext) else f"a {type(who).__name__}"


def check_who(looked_through: Survey, who: Any) -> None:
    """Checks that somebody can be asked what the server asks.

    Raises:
        ConfigurationError: There is no such persona, or a predicate of a `FakeContext` is a slip of one that the server
            asks: what it guards would be hidden for the slip alone.
    """
    if isinstance(who, str) and who not in looked_through.personas:
        raise ConfigurationError(
            f"There is no persona {who!r}. "
            + (
                near(who, looked_through.personas)
                if looked_through.personas
                else 'There are none: write Authz(mcp, ..., personas={"manager": make_manager}).'
            )
        )
    if not isinstance(who, FakeContext):
        return
    declared = [each.declaration for each in looked_through.tools if each.declaration is not None]
    asked = {gate.name for each in declared for gate in (*each.gates, *each.contract.predicates)}
    for name in sorted(who.predicates - asked):
        meant = difflib.get_close_matches(name, asked - who.predicates, n=1, cutoff=0.8)
        if meant and name not in ("can", "requires"):
            raise ConfigurationError(
                f"{who!r}: no tool of {looked_through.server.name!r} asks {name}. Did you mean {meant[0]}?"
            )
