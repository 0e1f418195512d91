"""Which method of a context answers each predicate, and what it answered."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fastmcp_authz.callers.asking import Unanswered, answerer_of, batch_method, has_of_its_own
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.predicates import Predicate
from fastmcp_authz.events import Event, PredicateFailed
from fastmcp_authz.survey.places import Place


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one question."""

    predicate: Predicate
    yes: bool
    asked: str
    """Whom it was put to: `Person.can`; or why there was nobody to put it to, in words."""
    place: Place | None = None
    """Where that is written, as far as it can be told."""
    failure: str | None = None
    """Why it counts as a no although nobody said no: `raised KeyError`."""


async def answers(caller: Caller, predicates: Collection[Predicate]) -> Mapping[Predicate, Answer]:
    """Asks a caller, and tells who answered what; of failures, those of questions that nobody had asked it before."""
    failures: dict[str, str] = {}
    before = caller.observe

    def listen(event: Event) -> None:
        if isinstance(event, PredicateFailed):
            failures[event.predicate] = event.reason
        before(event)

    caller.observe = listen
    try:
        granted = await caller.decide(predicates)
    finally:
        caller.observe = before
    found: dict[Predicate, Answer] = {}
    for each in predicates:
        asked, place = answering(caller, each)
        failure = failures.get(each.text, failures.get("decide"))
        found[each] = Answer(each, each in granted, asked, place, None if failure is None else _said(failure))
    return found


def answering(caller: Caller, predicate: Predicate) -> tuple[str, Place | None]:
    """Whom serving puts a predicate to, by a name, and where that is written; or why there is nobody, in words."""
    context = caller.context
    if context is None:
        return "nobody: there is no server context", None
    try:
        decide = batch_method(context)
        if decide is not None:
            return _named(context, "decide"), written_at(decide)
        owner, name, method = answerer_of(context, predicate)
    except Exception as error:
        return f"nobody: looking for it raised {type(error).__name__}", None
    if isinstance(method, Unanswered):
        return _unanswered(context, name, method, caller.settings.missing_predicate), None
    if not callable(method):
        return f"nobody: {_named(owner, name)} is a {type(method).__name__}, no method", None
    if has_of_its_own(owner, name):
        return _named(owner, name), written_at(method)
    made_up: Any = type(owner).__getattr__  # there is one, or there would be no attribute
    return f"{_named(owner, name)}, which {_named(owner, '__getattr__')} makes up", written_at(made_up)


def written_at(function: Callable[..., Any]) -> Place | None:
    """Where a function is written, beneath decorators and partials; `None` for one that is not written in Python."""
    found: Any = function
    while True:
        found = inspect.unwrap(found)
        if not isinstance(found, functools.partial):
            break
        found = found.func
    if not inspect.isroutine(found):
        found = type(found).__call__  # an object that can be called
    code = getattr(found, "__code__", None)
    return None if code is None else Place(code.co_filename, code.co_firstlineno)


def _named(owner: Any, name: str) -> str:
    kind = owner if isinstance(owner, type) else type(owner)
    return f"{kind.__qualname__.rpartition('<locals>.')[2]}.{name}"


_MISSING: Final = {
    "allow": 'it is skipped, as missing_predicate="allow" says',
    "deny": 'that is a no, as missing_predicate="deny" says',
    "error": 'that is a no, as missing_predicate="error" says',
}


def _unanswered(context: Any, name: str, why: Unanswered, missing: str) -> str:
    match why:
        case Unanswered.NO_USER:
            return f"nobody: {_named(context, name)} is None"
        case Unanswered.NO_PERMISSIONS:
            kind = _named(context, "").removesuffix(".")
            return f"nobody: {kind} has neither requires nor a current_user with can"
        case Unanswered.MISSING:
            return f"nobody: there is no {_named(context, name)}, and {_MISSING[missing]}"


def _said(reason: str) -> str:
    return reason if " " in reason else f"raised {reason}"
