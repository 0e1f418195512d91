"""Strings that are the JSON spelling of the declared type (SPEC section 5.3)."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_authz import InvalidInputError, ToolContract

VIEW = ToolContract.parse(
    """
    @rbs type box = { n: Integer, ?inner: box }
    #: (
    #:   ?n: Integer, ?f: Float, ?b: bool, ?s: String, ?maybe: Integer?, ?list: Array[Integer], ?box: box,
    #:   ?either: Integer | bool, ?text_or_number: String | Integer, ?level: 1 | 2, ?pair: [Integer, String]
    #: ) -> output
    @rbs type output = {}
    """
).view(None)


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ({"n": "10"}, {"n": 10}),
        ({"f": "1.5"}, {"f": 1.5}),
        ({"b": "true"}, {"b": True}),
        ({"maybe": "7"}, {"maybe": 7}),
        ({"maybe": "null"}, {"maybe": None}),
        ({"list": "[1, 2]"}, {"list": [1, 2]}),
        ({"list": ["1", 2]}, {"list": [1, 2]}),
        ({"box": '{"n": "1", "inner": "{\\"n\\": 2}"}'}, {"box": {"n": 1, "inner": {"n": 2}}}),
        ({"either": "false"}, {"either": False}),
        ({"level": "2"}, {"level": 2}),
        ({"pair": '["1", "x"]'}, {"pair": [1, "x"]}),
        ({"n": None, "s": "x"}, {"s": "x"}),
    ],
)
def test_a_json_spelling_is_read_as_the_declared_type(sent: dict[str, Any], received: dict[str, Any]) -> None:
    assert VIEW.filter_input(sent, lenient=True) == received
    with pytest.raises(InvalidInputError):
        VIEW.filter_input(sent, lenient=False)


@pytest.mark.parametrize("sent", [{"n": "1.5"}, {"n": "x"}, {"b": "yes"}, {"level": "3"}, {"list": "{}"}, {"n": "NaN"}])
def test_what_still_does_not_fit_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        VIEW.filter_input(sent, lenient=True)


def test_a_declared_string_is_never_reinterpreted() -> None:
    sent = {"s": "10", "text_or_number": "10", "n": "1"}
    assert VIEW.filter_input(sent, lenient=True) == {"s": "10", "text_or_number": "10", "n": 1}


def test_strict_is_the_default_without_a_server() -> None:
    with pytest.raises(InvalidInputError, match="n: must be a whole number, text was sent"):
        VIEW.filter_input({"n": "10"})


def test_nothing_that_fits_is_read_again() -> None:
    assert VIEW.filter_input({"n": 3, "maybe": None}, lenient=True) == {"n": 3, "maybe": None}
