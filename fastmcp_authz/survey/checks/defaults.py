"""Defaults that differ from Python's."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any, Final

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from fastmcp_authz.contracts.projection import canonical
from fastmcp_authz.survey.checks.finding import Found
from fastmcp_authz.survey.checks.looked import Located, Looked
from fastmcp_authz.survey.checks.words import quoted, written

_NONE: Final = object()


def default_differs(looked: Looked) -> Iterator[Found]:
    """Parameters whose `@default` is another value than their default in Python.

    A Python default of `None` is fine: it says "left out", and nothing of what is declared is lost by it.
    """
    for subject in looked.guarded:
        declaration = subject.declaration
        assert declaration is not None
        parameters = inspect.signature(declaration.original).parameters
        tree = subject.tree("in")
        for located in subject.parts():
            part = located.part
            if located.side == "out" or len(part.steps) > 1 or part.name not in parameters:
                continue
            declared = tree.resolve(part.shape).notes.default
            python = _value(parameters[part.name].default)
            if declared and python is not _NONE and canonical(python) != canonical(_plain(declared[0])):
                yield subject.found(
                    f"Its default is {_text(declared[0])} by the annotation and {_text(python)} in Python"
                    f"{_consequence(located)}.",
                    f"Write `{part.name}={declared[0]!r}` in the signature of the function, or "
                    f"`@default({_text(python)[1:-1]})`.",
                    at=located,
                    spot=subject.tag_spot(located, "default"),
                )


def _consequence(located: Located) -> str:
    guards = located.part.guards
    if not guards:
        return ": a call through the server gets the one, a call from Python the other"
    return f": callers without {quoted(map(written, guards), 'or')} get Python's, unseen"


def _value(default: Any) -> Any:
    """A Python default as JSON; `_NONE` where there is none, or none that JSON has."""
    if isinstance(default, FieldInfo):
        default = default.default
    if default is None or default is inspect.Parameter.empty or default is PydanticUndefined or default is ...:
        return _NONE
    try:
        return _plain(to_jsonable_python(default, by_alias=True))
    except Exception:  # a sentinel, or whatever else has no JSON form
        return _NONE


def _plain(value: Any) -> Any:
    """A number as JSON compares it: 1.0 is 1."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(value: Any) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"
