"""Names that tests write: a tool or a field that nobody has is an error, never a pass."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any, Self

from fastmcp_authz.errors import AuthzError, ConfigurationError
from fastmcp_authz.survey.survey import Survey, SurveyedTool
from fastmcp_authz.testing.fake import FakeContext


class UnknownNameError(AuthzError, KeyError):
    """A test names a tool, a field or a parameter that is not there, for anybody or for this caller."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


class Names(frozenset[str]):
    """Names that somebody sees. `in` is an error for one that nobody has: `not in` would hold for a slip otherwise."""

    _known: frozenset[str]

    def __new__(cls, seen: Iterable[str], known: Iterable[str]) -> Self:
        made = super().__new__(cls, seen)
        made._known = made.union(known)
        return made

    def __contains__(self, name: object) -> bool:
        if name not in self._known:
            raise UnknownNameError(f"There is no {name!r}, for anybody. {near(str(name), self._known)}")
        return super().__contains__(name)

    def __repr__(self) -> str:
        return repr(set(self)) if self else "frozenset()"


def near(name: str, known: Iterable[str]) -> str:
    """A sentence on the names that may have been meant."""
    names = sorted(known)
    found = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if found:
        return f"Did you mean {' or '.join(found)}?"
    return f"There are: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}." if names else "There are none."


def not_known(looked_through: Survey) -> str:
    """A sentence on those whose tools cannot be told, if there are any; the name may be one of theirs."""
    unknown = "; ".join(looked_through.unknown)
    return f" Not all tools are known: {unknown}. Ask a caller_of(...) for those." if unknown else ""


def named(who: Any) -> str:
    """Somebody, in the text of a failure."""
    if who is None:
        return "nobody"
    if isinstance(who, str):
        return who
    return repr(who) if isinstance(who, FakeContext) else f"a {type(who).__name__}"


def check_domain(looked_through: Survey) -> None:
    """Checks that the domain that is looked at is one: in a domain that there is not, everything is hidden.

    Raises:
        ConfigurationError: No tool is in it.
    """
    asked = looked_through.domain
    ours = [(each.declaration, each.authority) for each in looked_through.tools]
    known = {
        name
        for declaration, authority in ours
        if declaration is not None and authority is not None
        for name in declaration.domains or (authority.settings.default_domain,)
    }
    if asked is not None and asked not in known:
        server = looked_through.server.name
        raise ConfigurationError(f"No tool of {server!r} is in the domain {asked!r}. {near(asked, known)}")


def check_who(looked_through: Survey, who: Any) -> None:
    """Checks that somebody can be asked what the server asks.

    Raises:
        ConfigurationError: There is no such persona; somebody is no context, but what makes one, or what answers no
            question; or a predicate of a `FakeContext` is a slip of one that the server asks. What is guarded would be
            hidden for the slip alone.
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
    if who is None or isinstance(who, str):
        return
    if isinstance(who, type | partial) or inspect.isroutine(who):
        raise ConfigurationError(f"{who!r} makes a context, and is none: call it.")
    declared = [each.declaration for each in looked_through.tools if each.declaration is not None]
    asked = {gate.name for each in declared for gate in (*each.gates, *each.contract.predicates)}
    if not isinstance(who, FakeContext):
        _refuse_mute(who, asked)
        return
    for name in sorted(who.predicates - asked):
        meant = difflib.get_close_matches(name, asked - who.predicates, n=1, cutoff=0.8)
        if meant and name not in ("can", "requires"):
            raise ConfigurationError(
                f"{who!r}: no tool of {looked_through.server.name!r} asks {name}. Did you mean {meant[0]}?"
            )


def check_known(tool: SurveyedTool, who: Any) -> None:
    """Checks that who decides for a tool knows a persona: everything would be hidden from it for that alone.

    Raises:
        UnknownNameError: It does not.
    """
    authority = tool.authority
    if authority is None or not isinstance(who, str) or who in authority.personas:
        return
    known = near(who, authority.personas) if authority.personas else "It has no personas at all."
    raise UnknownNameError(
        f"{tool.name!r}: the Authz that decides for it has no persona {who!r}, who is nobody there. {known} "
        "Ask with a context in place of the name, or add it to the personas= of that Authz."
    )


def _refuse_mute(who: Any, asked: Collection[str]) -> None:
    """Whoever answers no question at all is a slip: a request, a dict, a list of personas."""
    questions = {"requires" if name == "can" else name for name in asked}
    if questions and not any(_has(who, name) for name in ("decide", "current_user", *questions)):
        raise ConfigurationError(
            f"A {type(who).__name__} is no context of this server: it answers none of {', '.join(sorted(questions))}. "
            "Write the name of a persona, a context, or None for nobody."
        )


def _has(who: Any, name: str) -> bool:
    try:
        return hasattr(who, name)
    except Exception:  # it is there, and fails: what serving makes of that is what a test may be about
        return True
