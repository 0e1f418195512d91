"""A pruned result as the JSON data that is sent, or why it cannot be sent."""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, Iterator
from typing import Any, Final, NamedTuple

from pydantic_core import from_json, to_json

from .opening import json_key, jsonable
from .shapes import Anything, Ref, Tree, reachable_once
from .wellfounded import deepest

_DEEPEST: Final = 190
"""Levels of a result. Clients read JSON of 200, and the message around a result has some too."""
_ENVELOPE: Final = 10
_LONGEST_NUMBER: Final = 4_300
"""Digits of a whole number: more are refused by Python's own reader, as by those of other languages."""
_LONGEST_PATH: Final = 80
_SUSPECT: Final = (b"NaN", b"Infinity")
"""What the JSON text of a value shows where a number in it may have no JSON form; a look that is cheap."""
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")


class Written(NamedTuple):
    """JSON data, and the same as text."""

    data: Any
    text: bytes


class UnwritableError(Exception):
    """Something that would be sent has no JSON form that clients can read. `str()` is a line for the author's log."""


def may_be_deep(tree: Tree) -> bool:
    """Whether values of a type may be nested more deeply than clients can read."""
    from graphlib import CycleError, TopologicalSorter  # late: only calls need it, lists do not

    shapes = [tree.root, *tree.definitions.values()]
    inside = [[inner for inner, _ in reachable_once(shape)] for shape in shapes]
    if any(isinstance(inner, Anything) for each in inside for inner in each):
        return True
    names = [{inner.key for inner in each if isinstance(inner, Ref)} for each in inside[1:]]
    try:
        TopologicalSorter(dict(zip(tree.definitions, names, strict=True))).prepare()
    except CycleError:
        return True
    return deepest(tree) > _DEEPEST


def written(pruned: Any, *, deep: bool) -> Written:
    """What was pruned as JSON data, down to the last part.

    Args:
        pruned: What the caller may see of a result; its parts may be whatever the function made.
        deep: Whether its type `may_be_deep`.

    Raises:
        UnwritableError: A part has no JSON form, or none that clients read.
    """
    try:
        data = jsonable(pruned)
        text = to_json(data)
    except Exception as error:  # whatever the code of the value raises
        raise UnwritableError(_first_unwritable(pruned, "", ()) or type(error).__name__) from None
    if _is_suspect(text, deep=deep):
        found = _first_unwritable(data, "", ())
        if found is not None:
            raise UnwritableError(found)
    return Written(data, text)


def _is_suspect(text: bytes, *, deep: bool) -> bool:
    if any(token in text for token in _SUSPECT):
        return True
    if len(text) > _LONGEST_NUMBER and b"0" * (_LONGEST_NUMBER + 1) in text.translate(_DIGITS):
        return True
    if deep and text.count(b"[") + text.count(b"{") > _DEEPEST:
        try:
            from_json(b"[" * _ENVELOPE + text + b"]" * _ENVELOPE)
        except ValueError:
            return True
    return False


def _first_unwritable(value: Any, path: str, above: tuple[int, ...]) -> str | None:
    """The first part that cannot be sent, by path and kind, never by value."""
    where = (path if len(path) <= _LONGEST_PATH else path[:_LONGEST_PATH] + "…") or "the result"
    if id(value) in above:
        return f"{where}: contains itself"
    if len(above) >= _DEEPEST:
        return f"{where}: is nested more than {_DEEPEST} levels deep"
    if type(value) is dict:
        for key, part in value.items():
            named = json_key(key)
            found = (
                f"{where}: has a key of type {type(key).__name__}, which is no text"
                if named is None
                else _first_unwritable(part, f"{path}.{named}" if path else named, (*above, id(value)))
            )
            if found:
                return found
        return None
    if type(value) in (list, tuple):
        parts = (_first_unwritable(part, f"{path}[{i}]", (*above, id(value))) for i, part in enumerate(value))
        return next((found for found in parts if found), None)
    reason = _why_not(value)
    return None if reason is None else f"{where}: {reason}"


def _why_not(value: Any) -> str | None:
    """Why a value without parts of its own cannot be sent."""
    kind = type(value).__name__
    if isinstance(value, float) and not math.isfinite(value):
        return "is no finite number, and JSON has no other"
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_NUMBER:
        return f"is a number of more than {_LONGEST_NUMBER} digits: return it as text"
    if isinstance(value, AsyncIterable):
        return f"is an async iterator ({kind}): return a list"
    if isinstance(value, Iterator):
        return f"is an iterator ({kind}) that failed or ran out: return a list"
    try:
        to_json(jsonable(value))
    except Exception as error:
        return f"{kind} cannot be written as JSON ({type(error).__name__})"
    return None
