"""One question to one context: which method answers it, and what counts as a yes."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
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


def answer_of(context: Any, predicate: Predicate, missing: MissingPredicate) -> Any:
    """What `context` answers, as it comes: a bool, anything else, or an awaitable of either.

    Raises:
        Exception: Whatever the context raises.
    """
    if predicate.on == "current_user":
        return _ask_current_user(context, predicate)
    name = predicate.name
    try:
        method = getattr(context, name)
    except AttributeError as error:
        method = _if_missing(context, name, error)
    if callable(method):
        return method(predicate.value)
    if method is not _MISSING:
        raise _not_callable(method, predicate)
    if predicate.name == "requires":
        can = _user_can(context)
        return _called(can, predicate) if can is not _MISSING else _nobody_answers(context, predicate)
    return _undefined(context, predicate, missing)


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
    if context is None or not _has_of_its_own(context, "decide"):
        return None
    method = context.decide
    return method if callable(method) else None


def _has_of_its_own(context: Any, name: str) -> bool:
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


def _ask_current_user(context: Any, predicate: Predicate) -> Any:
    """A tool's `authorization`: `current_user.can(flag)`, else `requires(flag)` where there is no `can`."""
    user = _defined(context, "current_user")
    if user is None:
        return False  # nobody is logged in
    can = _MISSING if user is _MISSING else _defined(user, "can")
    if can is not _MISSING:
        return _called(can, predicate)
    requires = _defined(context, "requires")
    return _called(requires, predicate) if requires is not _MISSING else _nobody_answers(context, predicate)


def _user_can(context: Any) -> Any:
    user = _defined(context, "current_user")
    return _MISSING if user is None or user is _MISSING else _defined(user, "can")


def _called(method: Any, predicate: Predicate) -> Any:
    if not callable(method):
        raise _not_callable(method, predicate)
    return method(predicate.value)


def _not_callable(method: Any, predicate: Predicate) -> TypeError:
    return TypeError(f"{predicate.name} is a {type(method).__name__}, no method that answers a question")


def _defined(owner: Any, name: str) -> Any:
    """The attribute, or `_MISSING` where the owner has none.

    A property that fails with an AttributeError of its own is defined, and its failure is raised: taken for a missing
    predicate, it would be allowed.
    """
    try:
        return getattr(owner, name)
    except AttributeError as error:
        return _if_missing(owner, name, error)


def _if_missing(owner: Any, name: str, error: AttributeError) -> Any:
    """`_MISSING`, for an attribute that could not be read.

    Raises:
        AttributeError: `error`, where the attribute is there and fails.
    """
    if _has_of_its_own(owner, name):
        raise error
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
