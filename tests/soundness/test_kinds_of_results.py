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


CUT = "#: () -> output\n@rbs type output = { a: Integer, ?s: String } | { a: { b: Integer }, t: String }"


def test_a_container_in_the_place_of_a_scalar_is_not_looked_into() -> None:
    assert withheld("#: () -> output\n@rbs type output = { a: Integer }", {"a": {"b": endless()}}) == (
        "a: must be a whole number, an object was returned.",
    )
    assert withheld("#: () -> output\n@rbs type output = { a: Array[Integer] }", {"a": [1, endless()]}) == (
        "a[1]: must be a whole number, a list was returned.",
    )
    assert withheld("#: () -> output\n@rbs type output = { a: Hash[String, bool] }", {"a": {"b": {"c": endless()}}})
    assert withheld("#: () -> output\n@rbs type output = { a: Array }", {"a": {"c": endless()}})
    assert withheld("#: () -> output\n@rbs type output = { a: Integer | String }", {"a": [endless()]})
    assert sent(CUT, {"a": {"b": 1, "c": endless()}, "t": "x"}) == '{"a": {"b": 1}, "t": "x"}'


def test_a_generator_in_what_is_shown_whole_is_read_once_too() -> None:
    docstring = "#: () -> output\n@rbs type output = { v: untyped, a: Integer } | { v: untyped, b: Integer }"
    assert sent(docstring, {"v": (n for n in (1, 2)), "b": 1}) == '{"v": [1, 2], "b": 1}'
    assert sent(docstring, {"v": {"n": [(n for n in (1, 2))]}, "b": 1}) == '{"v": {"n": [[1, 2]]}, "b": 1}'


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
    assert len(sent(OPEN, {"v": deep(180)})) > 360
    for levels in (200, 250, 500, 20_000):
        (report,) = withheld(OPEN, {"v": deep(levels)})
        assert report.endswith("is nested more than 190 levels deep")


def test_numbers_that_no_reader_takes_are_withheld() -> None:
    for docstring in (OPEN, "#: () -> output\n@rbs type output = { v: Integer }"):
        assert len(sent(docstring, {"v": 10**4299})) > 4300
        assert withheld(docstring, {"v": 10**4300}) == ("v: is a number of more than 4300 digits: return it as text",)
    assert sent(OPEN, {"v": "1" * 5000}) == json.dumps({"v": "1" * 5000})


@pytest.mark.parametrize(
    ("value", "report"),
    [
        ({"v": [{"a": float("nan")}]}, "v[0].a: is no finite number, and JSON has no other"),
        ({"v": {"a": object()}}, "v.a: object cannot be written as JSON (PydanticSerializationError)"),
        ({"v": {(1, 2): 1, 5: object}}, "v.5: type cannot be written as JSON (PydanticSerializationError)"),
        ({"v": {(1, object()): 1}}, "v: has a key of type tuple, which is no text"),
        ({"v": [cycle()]}, "v[0].secret: contains itself"),
        ({"v": b"\xff"}, "v: bytes cannot be written as JSON (UnicodeDecodeError)"),
        ({"v": "\ud800"}, "v: str cannot be written as JSON (PydanticSerializationError)"),
        ([1], "the result: must be an object, a list was returned"),
        (None, "the result: must be an object, None was returned"),
    ],
)
def test_what_cannot_be_written_is_told_by_path_and_kind(value: Any, report: str) -> None:
    assert withheld(OPEN, value) == (report,)


def test_two_parts_may_be_one_object() -> None:
    row = {"id": "1", "secret": object()}
    assert sent(ROWS, {"rows": [row, row], "row": row}) == '{"rows": [{"id": "1"}, {"id": "1"}], "row": {"id": "1"}}'
