"""What stands between a tag's parentheses, read without regard to the type that it stands on (SPEC section 3)."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from ..annotations import Tag
from ..callers.predicates import Value

_NUMBER: Final = re.compile(r"[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?")
_SYMBOL: Final = re.compile(r":(?:\"(?P<quoted>[^\"]*)\"|(?P<bare>\w[\w\-?!./:]*))")
_WORDS: Final[dict[str, Value]] = {"true": True, "false": False, "nil": None}


def plain_value(tag: Tag) -> Value:
    """Symbols, numbers, `true`, `false`, `nil` and quoted strings as what they say, all else as text.

    Raises:
        ValueError: It is a number that has no value here, or none in JSON.
    """
    if tag.quoted:
        return tag.value
    text = tag.value
    if text.startswith(":"):
        symbol = _SYMBOL.fullmatch(text)
        return (symbol["quoted"] or symbol["bare"] or "") if symbol else text
    if is_number(text):
        digits = text.replace("_", "")
        return _whole(digits) if digits.lstrip("+-").isdigit() else _finite(digits)
    return _WORDS.get(text, text)


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def is_one_value(tag: Tag) -> bool:
    """Whether what begins like a symbol is one, and nothing after it."""
    return tag.quoted or not tag.value.startswith(":") or _SYMBOL.fullmatch(tag.value) is not None


def json_value(text: str) -> Any:
    """The JSON value that a text is.

    Raises:
        json.JSONDecodeError: It is none.
        ValueError: A number in it has no value here, or it is nested too deeply.
    """
    try:
        return json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("this value is nested too deeply.") from None


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python's own bound on the digits of a number in text
        raise ValueError("this number has too many digits.") from None


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("this number is too large: numbers with a fraction or an exponent end at about 1.8e308.")
    return number


def _no_number(word: str) -> Any:
    raise json.JSONDecodeError("`NaN` and `Infinity` are not JSON", word, 0)
