"""Which predicates a server context has a method for, found without asking any of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from fastmcp_authz.callers.asking import batch_method
from fastmcp_authz.callers.predicates import RESERVED, Predicate

_MISSING: Final = object()


class Answering(NamedTuple):
    """What one persona's context can be asked."""

    unanswered: frozenset[str]
    """The texts of the predicates that it has no method for."""
    methods: tuple[str, ...]
    """The names of its methods."""


def answering(context: Any, predicates: Iterable[Predicate]) -> Answering | None:
    """What a context can be asked; `None` for nobody, who is asked nothing.

    One with `decide` is asked everything there, and one whose `__getattr__` makes methods up has them all.
    """
    if context is None:
        return None
    if _batched(context):
        return Answering(frozenset(), ())
    unanswered = frozenset(each.text for each in predicates if not _is_answered(context, each))
    return Answering(unanswered, tuple(_methods(context)))


def _batched(context: Any) -> bool:
    try:
        return batch_method(context) is not None
    except Exception:  # a property that fails: it is there, and serving says what is wrong with it
        return True


def _is_answered(context: Any, predicate: Predicate) -> bool:
    if predicate.on == "current_user":
        user = _attribute(context, "current_user")
        return user is None or _has(user, "can") or _has(context, "requires")
    if _has(context, predicate.name):
        return True
    user = _attribute(context, "current_user")
    return predicate.name == "requires" and (user is None or _has(user, "can"))


def _has(owner: Any, name: str) -> bool:
    return owner is not _MISSING and _attribute(owner, name) is not _MISSING


def _attribute(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name, _MISSING)
    except Exception:  # a property that fails is defined, and answers with no
        return None


def _methods(context: Any) -> Iterable[str]:
    for name in dir(context):
        if not name.startswith("_") and name not in RESERVED:
            found = inspect.getattr_static(context, name, None)
            if callable(found) or isinstance(found, staticmethod | classmethod):
                yield name
