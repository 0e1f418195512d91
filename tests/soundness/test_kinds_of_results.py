"""Results of every kind that a Python function returns: pruned and sent, or withheld; never a crash, a hang, a leak."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import uuid
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict, Field, RootModel, computed_field, field_serializer, model_serializer

from fastmcp_authz import CallerView, OutputWithheldError, ToolContract

OPEN = """
#: () -> output
@rbs type output = { v: untyped, ?hidden: untyped @requires(:admin) }
"""
ROWS = """
@rbs type row = { id: String, ?n: Integer, ?secret: untyped @requires(:admin) }
#: () -> output
@rbs type output = { rows: Array[row], ?row: row, ?secret: untyped @requires(:admin) }
"""


def view(docstring: str) -> CallerView:
    return ToolContract.parse(docstring).view(None)


def sent(docstring: str, value: Any) -> str:
    """Every byte of a result."""
    return json.dumps(view(docstring).filter_output(value))


def withheld(docstring: str, value: Any) -> tuple[str, ...]:
    with pytest.raises(OutputWithheldError) as caught:
        view(docstring).filter_output(value)
    assert "SECRET" not in str(caught.value) + str(caught.value.report)
    return caught.value.report


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Name(enum.StrEnum):
    ID = "id"
    V = "v"


class Text(str):
    pass


class Numbers(dict[str, Any]):
    pass


class Typed(TypedDict):
    a: int


@dataclasses.dataclass
class Pair:
    a: int
    b: Any = None


@dataclasses.dataclass
class Row:
    id: str
    secret: Any


Point = namedtuple("Point", "x y")


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    id: str = Field(serialization_alias="ident")
    left: int = 2

    @computed_field(alias="twice")  # type: ignore[prop-decorator]
    @property
    def doubled(self) -> int:
        return self.left * 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Aliased(id="i"), {"ident": "i", "left": 2, "twice": 4}),
        (RootModel[list[int]]([1]), [1]),
        (Typed(a=1), {"a": 1}),
        (Pair(1, Pair(2)), {"a": 1, "b": {"a": 2, "b": None}}),
        (Point(1, 2), [1, 2]),
        (Colour.RED, "red"),
        (Level.LOW, 1),
        (Name.ID, "id"),
        ({Colour.RED: 1, Name.ID: 2}, {"red": 1, "id": 2}),
        ({1: "a", None: "b", False: "c", 1.5: "d"}, {"1": "a", "None": "b", "false": "c", "1.5": "d"}),
        (Text("x"), "x"),
        (Numbers(a=1), {"a": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "2026-01-02T03:04:00Z"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.timedelta(minutes=1), "PT1M"),
        (Decimal("1.50"), "1.50"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ({3}, [3]),
        (frozenset({3}), [3]),
        ((1, (2,)), [1, [2]]),
        (b"text", "text"),
        ((n for n in (1, 2)), [1, 2]),
        (map(str, (1, 2)), ["1", "2"]),
        (None, None),
        (2**53 + 1, 2**53 + 1),
        (10**400, 10**400),
        (-(2**64), -(2**64)),
        (1.0, 1.0),
    ],
)
def test_whatever_has_a_json_form_is_sent_in_it(value: Any, expected: Any) -> None:
    assert sent(OPEN, {"v": value}) == json.dumps({"v": expected})


class Broken(BaseModel):
    id: str = "1"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def secret(self) -> str:
        raise RuntimeError("SECRET")


class Careful(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)
    id: str = "1"
    secret: Any = None
    rows: list[Any] = []


class Written(BaseModel):
    id: str = "1"
    secret: str = "s"

    @field_serializer("secret")
    def _refuse(self, _: str) -> str:
        raise RuntimeError("SECRET")


class Whole(BaseModel):
    id: str = "raw"

    @model_serializer
    def _refuse(self) -> dict[str, Any]:
        raise RuntimeError("SECRET")


def cycle() -> Any:
    loop: dict[str, Any] = {"id": "1"}
    loop["secret"] = loop["n2"] = loop
    return loop


def deep(levels: int) -> Any:
    value: Any = "SECRET"
    for _ in range(levels):
        value = [value]
    return value


def endless() -> Iterator[int]:
    while True:
        yield 1


def raising() -> Iterator[int]:
    yield 1 // len("")


HIDDEN: list[Callable[[], Any]] = [
    cycle,
    lambda: deep(500),
    lambda: deep(20_000),
    endless,
    raising,
    object,
    Broken,
    Whole,
    lambda: float("nan"),
    lambda: float("-inf"),
    lambda: b"\xff",
    lambda: "\ud800",
    lambda: {object(): 1},
    lambda: {(1, object()): 1},
    lambda: Careful(secret=object()),
    lambda: type,
]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_is_hidden_makes_no_difference_whatever_it_is(hidden: Callable[[], Any]) -> None:
    expected = json.dumps({"rows": [{"id": "1", "n": 2}], "row": {"id": "1"}})
    plain = {"rows": [{"id": "1", "n": 2, "secret": 0}], "row": {"id": "1"}, "secret": 0}
    assert sent(ROWS, plain) == expected
    rows = ({"id": "1", "n": 2, "secret": hidden(), "other": hidden()} for _ in range(1))
    row = Row("1", hidden()) if hidden is endless else Careful(secret=hidden())
    value = {"rows": rows, "row": row, "secret": hidden(), 5: hidden(), object(): hidden()}
    assert sent(ROWS, value) == expected
    assert sent(OPEN, {"v": 1, "hidden": hidden()}) == '{"v": 1}'


@pytest.mark.parametrize("shown", HIDDEN[:3] + HIDDEN[4:])
def test_what_is_shown_and_has_no_json_form_is_withheld(shown: Callable[[], Any]) -> None:
    assert withheld(OPEN, {"v": shown()})
    assert withheld(OPEN, {"v": [{"a": shown()}]})
    assert withheld(ROWS, {"rows": shown()})
    assert withheld(ROWS, {"rows": [{"id": shown()}]})


@pytest.mark.parametrize("row", [Broken(), Written(), Careful(secret=object()), Careful(rows=[object()])])
def test_a_hidden_field_that_cannot_be_written_leaves_the_others(row: BaseModel) -> None:
    assert sent(ROWS, {"rows": [row], "row": row}) == '{"rows": [{"id": "1"}], "row": {"id": "1"}}'
    assert sent(ROWS, Careful(rows=[row, Pair(1)], secret=object()).model_copy(update={"rows": [row]})) == (
        '{"rows": [{"id": "1"}]}'
    )


def test_a_model_that_writes_itself_is_written_by_itself_or_not_at_all() -> None:
    assert withheld(ROWS, {"rows": [Whole()]})


def test_a_generator_is_read_once_however_many_members_ask_for_it() -> None:
    docstring = """
    @rbs type row = { a: Integer, ?s: String @requires(:x) }
    #: () -> output
    @rbs type output = { v: Array[row] | Array[{ b: String }] | { w: Array[row] } | { w: Array[row], ?x: Integer } }
    """
    assert sent(docstring, {"v": ({"a": n, "s": "x"} for n in (1, 2))}) == '{"v": [{"a": 1}, {"a": 2}]}'
    assert (
        sent(docstring, {"v": {"w": ({"a": n} for n in (1, 2)), "x": 1}})
        == '{"v": {"w": [{"a": 1}, {"a": 2}], "x": 1}}'
    )


def test_no_json_form_is_no_empty_record() -> None:
    docstring = "#: () -> output\n@rbs type output = { ?r: { ?a: String }, ?h: Hash[String, untyped] }"
    for value in (object(), 5, "text", [], (), set()):
        assert withheld(docstring, {"r": value})
        assert withheld(docstring, {"h": value})
    assert withheld(docstring, {"h": {object(): 1}})


def test_keys_that_are_no_strings_are_found_under_the_names_that_json_gives_them() -> None:
    docstring = """
    #: () -> output
    @rbs type output = { ?"1": String, ?red: String, ?id: String, ?k: { red: "a", x: Integer } | { red: "b" } }
    """
    value = {1: "one", Colour.RED: "r", Name.ID: "i", "k": {Colour.RED: "a", "x": 1}}
    assert sent(docstring, value) == '{"1": "one", "red": "r", "id": "i", "k": {"red": "a", "x": 1}}'
    assert sent(docstring, {"1": "text", 1: "number"}) == sent(docstring, {1: "number", "1": "text"}) == '{"1": "text"}'


def test_a_constant_is_told_by_its_json_form() -> None:
    docstring = '#: () -> output\n@rbs type output = { k: "red", a: Integer } | { k: "blue", b: Integer }'
    assert sent(docstring, {"k": Colour.RED, "a": 1, "b": 2}) == '{"k": "red", "a": 1}'
    assert withheld(docstring, {"k": object(), "a": 1})


def test_a_hundred_thousand_rows_are_sent() -> None:
    kept = view(ROWS).filter_output({"rows": [{"id": "x", "secret": object()} for _ in range(100_000)]})
    assert len(kept["rows"]) == 100_000


def test_untyped_values_are_sent_as_deep_as_json_is_written() -> None:
    assert len(sent(OPEN, {"v": deep(200)})) > 400
    assert withheld(OPEN, {"v": deep(500)})


def test_two_parts_may_be_one_object() -> None:
    row = {"id": "1", "secret": object()}
    assert sent(ROWS, {"rows": [row, row], "row": row}) == '{"rows": [{"id": "1"}, {"id": "1"}], "row": {"id": "1"}}'
