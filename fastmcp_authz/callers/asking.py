"""One question to one context: which method answers it, and what counts as a yes."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal
from weakref import WeakKeyDictionary

from fastmcp_authz.callers.predicates import Predicate

logger = logging.getLogger("fastmcp_authz")

MissingPredicate = Literal["allow", "deny", "error"]

_MISSING: Any = object()
_warned: WeakKeyDictionary[type, set[str]] = WeakKeyDictionary()


def is_own(failure: BaseException) -> bool:
    """Whether a failure is that of whoever was asked, and not the end of this task, or of the program.

    A predicate that awaits somebody else's cancelled task raises `CancelledError` too, and that is a no like any other.
    """
    if isinstance(failure, asyncio.CancelledError):
        try:
            task = asyncio.current_task()
        except RuntimeError:  # no loop: asked synchronously
            return True
        return task is None or task.cancelling() == 0
    return isinstance(failure, Exception | GeneratorExit)


class Unanswered(Enum):
    """Why nothing of a context answers a predicate."""

    MISSING = "missing"
    """It has no such method: `missing_predicate` decides."""
    NO_PERMISSIONS = "no permissions"
    """It can be asked for no permission at all."""
    NO_USER = "no user"
    """Its `current_user` is `None`: nobody is logged in."""


def answerer_of(context: Any, predicate: Predicate) -> tuple[Any, str, Any]:
    """What of `context` is asked: an object, a name, and what the object has by it.

    That is a method, as a rule; an `Unanswered` where there is none; else something that cannot be asked.

    Raises:
        Exception: Whatever the context raises when it is looked for.
    """
    if predicate.on == "current_user":
        return _permission_of(context)
    method = _defined(context, predicate.name)
    if method is not _MISSING:
        return context, predicate.name, method
    if predicate.name != "requires":
        return context, predicate.name, Unanswered.MISSING
    user = _defined(context, "current_user")
    can = _MISSING if user is None or user is _MISSING else _defined(user, "can")
    return (context, "requires", Unanswered.NO_PERMISSIONS) if can is _MISSING else (user, "can", can)


def answer_of(context: Any, predicate: Predicate, missing: MissingPredicate) -> Any:
    """What `context` answers, as it comes: a bool, anything else, or an awaitable of either.

    Raises:
        Exception: Whatever the context raises.
    """
    _, _, method = answerer_of(context, predicate)
    if callable(method):
        return method(predicate.value)
    if method is Unanswered.NO_USER:
        return False
    if method is Unanswered.MISSING:
        return _undefined(context, predicate, missing)
    if method is Unanswered.NO_PERMISSIONS:
        return _nobody_answers(context, predicate)
    raise TypeError(f"{predicate.name} is a {type(method).__name__}, no method that answers a question")


def read_yes(predicate: Predicate, answer: Any) -> bool:
    """Whether `answer` is a yes: only the literal `True` is, so that a truthy object opens nothing by mistake."""
    if answer is True:
        return True
    if answer is not False:
        logger.warning(
            "%s answered a %s where only True or False counts; taken as a no. Return a bool.",
            predicate.text,
            type(answer).__name__,
        )
    return False


def batch_method(context: Any) -> Callable[[tuple[Predicate, ...]], Any] | None:
    """The context's `decide`, if it has one. One that `__getattr__` makes up on demand is none."""
    if context is None or not has_of_its_own(context, "decide"):
        return None
    method = context.decide
    return method if callable(method) else None


def has_of_its_own(context: Any, name: str) -> bool:
    """Whether an object or its class has an attribute, found without running any code: `getattr_static` takes long."""
    if isinstance(context, type):
        return inspect.getattr_static(context, name, _MISSING) is not _MISSING
    for kind in type(context).__mro__:
        if name in kind.__dict__:
            return True
    try:
        return name in object.__getattribute__(context, "__dict__")
    except AttributeError:  # it has slots, which its class would have shown
        return False


def read_batch(predicates: tuple[Predicate, ...], answers: Any) -> dict[Predicate, bool]:
    """The answers of a `decide`; whatever is missing, contradictory or of a wrong type is a no."""
    if not isinstance(answers, Mapping):
        logger.error("decide() answered a %s, no mapping: every predicate is a no.", type(answers).__name__)
        return dict.fromkeys(predicates, False)
    by_text: dict[str, list[Any]] = {}
    for key, answer in answers.items():
        by_text.setdefault(_text(key), []).append(answer)
    return {
        predicate: predicate.text in by_text and all(read_yes(predicate, a) for a in by_text[predicate.text])
        for predicate in predicates
    }


def _text(key: Any) -> str:
    """The predicate that a key of `decide`'s answers means. By text, since `("n", 1) == ("n", True)` in Python."""
    match key:
        case Predicate():
            return key.text
        case (str(name), None | str() | int() | float() as value):
            return Predicate(name, value).text
        case str():
            return key
        case _:
            return ""


def _permission_of(context: Any) -> tuple[Any, str, Any]:
    """Who answers a tool's `authorization`: `current_user.can`, else `requires` where there is no `can`."""
    user = _defined(context, "current_user")
    if user is None:
        return context, "current_user", Unanswered.NO_USER
    can = _MISSING if user is _MISSING else _defined(user, "can")
    if can is not _MISSING:
        return user, "can", can
    requires = _defined(context, "requires")
    return context, "requires", Unanswered.NO_PERMISSIONS if requires is _MISSING else requires


def _defined(owner: Any, name: str) -> Any:
    """The attribute, or `_MISSING` where the owner has none.

    A property that fails with an AttributeError of its own is defined, and its failure is raised: taken for a missing
    predicate, it would be allowed.
    """
    try:
        return getattr(owner, name)
    except AttributeError:
        if has_of_its_own(owner, name):
            raise
        return _MISSING


def _nobody_answers(context: Any, predicate: Predicate) -> bool:
    """A permission that nothing can be asked for is a no, and surely not what the author meant."""
    if _is_news(context, "requires"):
        logger.warning(
            "%s has neither the method requires nor a current_user with the method can, so %s and every other "
            "permission is a no for everybody. Define requires(self, flag).",
            type(context).__qualname__,
            predicate.text,
        )
    return False


def _is_news(context: Any, name: str) -> bool:
    warned = _warned.setdefault(type(context), set())
    if name in warned:
        return False
    warned.add(name)
    return True


def warn_of_misplaced_defaults(context: Any) -> None:
    """Says, once, that defaults are not asked of a context itself, where its author thought so."""
    if callable(getattr(type(context), "default_for", None)) and _is_news(context, "default_for"):
        logger.warning(
            "%s.default_for is never asked, and declared defaults stand: it is a method of current_user. "
            "Where both are one, say `self.current_user = self`.",
            type(context).__qualname__,
        )


def _undefined(context: Any, predicate: Predicate, missing: MissingPredicate) -> bool:
    kind = type(context)
    if missing == "error":
        logger.error("%s lacks the method %s: %s is a no.", kind.__qualname__, predicate.name, predicate.text)
        return False
    if missing == "allow" and _is_news(context, predicate.name):
        logger.warning(
            "%s lacks the method %s, so @%s is skipped and what it guards is shown to everyone. "
            'Define it, or set missing_predicate="deny".',
            kind.__qualname__,
            predicate.name,
            predicate.name,
        )
    return missing == "allow"
