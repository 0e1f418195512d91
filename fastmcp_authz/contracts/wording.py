"""Constraints and notes in words, for the description of a schema that cannot hold them as keywords."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

_RANGES: Final = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", "character"),
    ("minItems", "maxItems", "element"),
    ("minProperties", "maxProperties", "key"),
)
"""Keywords that are two ends of one range, and what they count."""

_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "exclusiveMinimum": lambda bound: f"above {bound}",
    "exclusiveMaximum": lambda bound: f"below {bound}",
    "multipleOf": lambda step: f"a multiple of {step}",
    "enum": lambda values: f"one of {listed(values)}",
    "pattern": lambda pattern: f"matches {pattern}",
    "format": lambda name: f"format {name}",
    "contentMediaType": lambda name: f"media type {name}",
    "contentEncoding": lambda name: f"encoded as {name}",
    "uniqueItems": lambda _: "unique",
    "default": lambda value: f"{_written(value)} by default",
    "examples": lambda values: f"for example {listed(values)}",
    "dependentRequired": lambda parents: f"required where {' or '.join(parents)} is given",
    "deprecated": lambda _: "deprecated",
    "readOnly": lambda _: "read-only",
    "writeOnly": lambda _: "write-only",
}
"""What each other keyword says of a value. Those that are not here say nothing that a caller could heed."""


def in_words(keywords: Mapping[str, Any]) -> list[str]:
    """What keywords say, each in a few words: `{"minimum": 1, "maximum": 50}` is `between 1 and 50`."""
    ranges = (_range(keywords.get(low), keywords.get(high), unit) for low, high, unit in _RANGES)
    others = (say(keywords[keyword]) for keyword, say in _WORDS.items() if keyword in keywords)
    return [words for words in (*ranges, *others) if words]


def with_words(text: str, words: Iterable[str]) -> str:
    """An author's text and what is to be said after it, in parentheses; either may be missing."""
    said = "; ".join(dict.fromkeys(words))
    return f"{text} ({said})" if text and said else text or said


def listed(values: Iterable[Any]) -> str:
    """JSON values, one after the other."""
    return ", ".join(map(_written, values))


def _range(low: Any, high: Any, unit: str) -> str:
    if low is None and high is None:
        return ""
    bounds = f"at most {high}" if low is None else f"at least {low}"
    if low is not None and high is not None:
        bounds = f"exactly {low}" if low == high else f"between {low} and {high}"
    last = low if high is None else high
    return f"{bounds} {unit}{'' if last == 1 else 's'}" if unit else bounds


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
