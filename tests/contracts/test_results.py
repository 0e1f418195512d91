"""What of a return value is sent, and what is withheld (SPEC section 5.5 and 5.6)."""

from __future__ import annotations

import dataclasses
import datetime as dt
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from fastmcp_authz import CallerView, OutputWithheldError, Settings, ToolContract

from .callers import Context

ROW = """
@rbs type row = { id: String, ?n: Integer, ?email: String @requires(:view_pii) }
#: () -> output
@rbs type output = { rows: Array[row], ?at: Time }
"""


def view(docstring: str, *can: str, **options: Any) -> CallerView:
    return ToolContract.parse(docstring, name="find", settings=Settings(**options)).view(Context(*can))


def sent(seen: CallerView, value: Any) -> Any:
    """What is sent, once an independent validator has found that it fits what was listed."""
    kept = seen.filter_output(value)
    assert seen.output_schema is not None
    Draft202012Validator(seen.output_schema).validate(kept)
    return kept


@dataclasses.dataclass
class Row:
    id: str
    email: str


class Page(BaseModel):
    rows: list[Row]
    at: dt.datetime
    internal: str = "x"


def test_dicts_dataclasses_and_models_are_pruned_alike() -> None:
    at = dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC)
    expected = {"rows": [{"id": "1"}], "at": "2026-01-02T03:04:00Z"}
    assert sent(view(ROW), Page(rows=[Row("1", "e@x.io")], at=at)) == expected
    assert sent(view(ROW), {"rows": [Row("1", "e@x.io")], "at": at, "more": 1}) == expected
    assert sent(view(ROW, "view_pii"), {"rows": [Row("1", "e@x.io")]}) == {"rows": [{"id": "1", "email": "e@x.io"}]}


def test_the_value_that_was_returned_is_not_changed() -> None:
    value = {"rows": [{"id": "1", "email": "e@x.io"}]}
    sent(view(ROW), value)
    assert value == {"rows": [{"id": "1", "email": "e@x.io"}]}


def test_what_is_withheld_is_told_without_a_value_and_reported_by_path() -> None:
    with pytest.raises(OutputWithheldError) as caught:
        view(ROW).filter_output({"rows": [{"id": "1"}, {"id": 5, "n": "SECRET"}, {"n": 1}]})
    assert str(caught.value) == (
        "find: The call was carried out, but its result cannot be shown to you. Do not repeat it."
    )
    assert sorted(caught.value.report) == [
        "rows[1].id: must be text, a number was returned.",
        "rows[1].n: must be a whole number, text was returned.",
        "rows[2].id: is required.",
    ]


@pytest.mark.parametrize("value", [None, "TOP", 5, [], {"rows": None}, {"rows": {"a": 1}}, {"rows": ["x"]}, object()])
def test_a_value_of_another_outline_is_withheld(value: Any) -> None:
    with pytest.raises(OutputWithheldError):
        view(ROW).filter_output(value)


def test_a_hidden_part_without_a_json_form_makes_no_difference() -> None:
    assert sent(view(ROW), {"rows": [{"id": "1", "email": object()}], "other": object()}) == {"rows": [{"id": "1"}]}


def test_a_visible_part_without_a_json_form_is_withheld() -> None:
    open_ = "#: () -> output\n@rbs type output = { v: untyped }"
    for value in ({"v": object()}, {"v": [{"deep": object()}]}, {"v": float("nan")}, {"v": [float("inf")]}):
        with pytest.raises(OutputWithheldError):
            view(open_).filter_output(value)


def test_order_of_members_does_not_matter_and_ties_go_to_the_smallest_text() -> None:
    first = "#: () -> output\n@rbs type output = { a: String } | { b: String }"
    second = "#: () -> output\n@rbs type output = { b: String } | { a: String }"
    assert sent(view(first), {"a": "x", "b": "y"}) == sent(view(second), {"a": "x", "b": "y"}) == {"a": "x"}


def test_a_member_must_be_satisfied_not_only_named() -> None:
    seen = view("#: () -> output\n@rbs type output = { a: String @max(3), b: Integer } | { a: String, c: Integer }")
    assert sent(seen, {"a": "long text", "b": 1, "c": 2}) == {"a": "long text", "c": 2}
    assert sent(seen, {"a": "abc", "b": 1}) == {"a": "abc", "b": 1}
    with pytest.raises(OutputWithheldError):
        seen.filter_output({"a": "long text", "b": 1})


def test_words_of_booleans_and_numbers_tell_members_apart() -> None:
    seen = view("#: () -> output\n@rbs type output = { k: true, a: String } | { k: 1, b: String }")
    assert sent(seen, {"k": True, "a": "x", "b": "y"}) == {"k": True, "a": "x"}
    assert sent(seen, {"k": 1, "a": "x", "b": "y"}) == {"k": 1, "b": "y"}
    with pytest.raises(OutputWithheldError):
        seen.filter_output({"k": ["unhashable"], "a": "x"})


def test_projecting_twice_is_projecting_once() -> None:
    seen = view(ROW)
    once = seen.filter_output({"rows": [{"id": "1", "x": 2}], "y": 1})
    assert seen.filter_output(once) == once


REPORTED = """
@rbs type kind = "open" | ("hush" @requires(:admin))
#: () -> output
@rbs type output = { n: Integer, ?kind: kind, ?s: String, ?r: { a: Integer, ?b: String @requires(:admin) },
                     ?either: Integer | (String @requires(:admin)) }
"""


def test_reporting_sends_what_only_breaks_a_visible_type(caplog: pytest.LogCaptureFixture) -> None:
    seen = view(REPORTED, mistyped_output="report")
    with caplog.at_level(logging.WARNING, "fastmcp_authz"):
        assert seen.filter_output({"n": "SECRET", "r": {"a": "x", "b": "hidden"}}) == {"n": "SECRET", "r": {"a": "x"}}
    assert "n: must be a whole number, text was returned." in caplog.text
    assert "SECRET" not in caplog.text


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("plain | (Integer @requires(:admin))", 4242),
        ("Array[untyped] | ({ secret: String } @requires(:admin))", {"secret": "S"}),
        ("{ a: Integer } | ({ a: String, b: Integer } @requires(:admin))", {"a": "SECRET", "b": 2}),
        ("{ a: Integer } | ({ a: String, b: Integer } @requires(:admin)) | String", {"a": "SECRET", "b": 2}),
        ("Array[Integer] | (Array[String] @requires(:admin))", ["SECRET"]),
        ("[Integer, Integer] | ([String, String] @requires(:admin))", ["SECRET", "S"]),
        ("named | Array[named]", {"x": "SECRET"}),
    ],
)
def test_reporting_shows_nothing_where_members_are_hidden(type_: str, value: Any) -> None:
    declared = f"""
    @rbs type plain = String
    @rbs type named = {{ x: Integer }} | ({{ x: String, y: Integer }} @requires(:admin))
    #: () -> output
    @rbs type output = {{ v: {type_} }}
    """
    with pytest.raises(OutputWithheldError):
        view(declared, mistyped_output="report").filter_output({"v": value})


@pytest.mark.parametrize(
    "value",
    [
        {"n": 1, "kind": "hush"},
        {"n": 1, "s": {"nested": "hidden"}},
        {"n": {"nested": "hidden"}},
        {"n": 1, "either": "hidden"},
        {"n": 1, "r": "hidden"},
    ],
)
def test_reporting_still_shows_nothing_hidden(value: dict[str, Any]) -> None:
    with pytest.raises(OutputWithheldError):
        view(REPORTED, mistyped_output="report").filter_output(value)


@dataclasses.dataclass(frozen=True)
class Secretive:
    id: int
    ssn: str


def test_the_order_of_a_set_does_not_follow_what_is_hidden_in_it() -> None:
    seen = view(
        "#: () -> output\n@rbs type output = { rows: Array[{ id: Integer, ?ssn: String @requires(:view_pii) }] }"
    )
    for salt in range(20):
        rows = {Secretive(i, f"{salt * 7919 + i * 104729}") for i in range(8)}
        assert sent(seen, {"rows": rows}) == {"rows": [{"id": i} for i in range(8)]}


def test_what_stands_where_a_constant_tells_members_apart_is_not_read() -> None:
    tool = ToolContract.parse(
        '#: () -> output\n@rbs type output = { kind: "a", x: Integer } | { kind: "b", y: Integer }'
    )
    seen = tool.view(None)
    assert seen.filter_output({"kind": "b", "y": 1}) == {"kind": "b", "y": 1}

    read: list[str] = []

    def items() -> Iterator[str]:
        read.append("SECRET")
        yield "SECRET"

    for kind in (items(), [items()], {"a": items()}, (items(),)):
        with pytest.raises(OutputWithheldError):
            seen.filter_output({"kind": kind, "y": 1})
    assert not read
