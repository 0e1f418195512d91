"""From a return value to what is sent, where the contract itself goes wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import TextContent
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from fastmcp_authz import Settings
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.contracts.view import Pruned
from fastmcp_authz.serving.audit import CallRecord
from fastmcp_authz.serving.results import _repeats, sent
from fastmcp_authz.serving.tool import _hints_refuse, _refused_by_hints


class Hints(BaseModel):
    shown: int
    hidden: int
    nested: dict[str, int]


def test_a_refusal_of_the_hints_names_what_the_caller_may_see_and_nothing_else() -> None:
    view: Any = SimpleNamespace(input_schema={"properties": {"shown": {}, "nested": {}}})
    with pytest.raises(ValidationError) as caught:
        Hints.model_validate({"shown": "s3cret", "hidden": "s3cret", "nested": {"s3cret": "s3cret"}})
    assert _hints_refuse("fn", _refused_by_hints(caught.value), view) == (
        "fn: Invalid arguments. Nothing was executed.\n- nested: is not accepted by the tool.\n"
        "- shown: is not accepted by the tool.\nCorrect these and call again."
    )


class View:
    """A view that lets everything through, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def prune(self, value: Any, *, tool: str | None = None) -> Pruned:
        if self._error is not None:
            raise self._error
        return Pruned(value, to_json(value), ())


def record() -> CallRecord:
    return CallRecord(Caller(None, Settings()), "fn", set())


def test_a_failure_in_pruning_withholds_the_result_and_quotes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    view: Any = View(LookupError("a secret value"))
    result = sent({"n": 1}, view, record(), passthrough=False)
    assert result.is_error
    assert "LookupError" in caplog.text
    assert "secret" not in caplog.text
    assert "secret" not in result.model_dump_json()


def test_the_result_is_a_whole_one_though_it_was_made_without_validation() -> None:
    view: Any = View()
    result = sent({"n": 1, "words": "NaN"}, view, record(), passthrough=False)
    assert result.model_copy(deep=True) == result
    assert result.to_mcp_result() == (result.content, {"n": 1, "words": "NaN"})


@pytest.mark.parametrize(
    ("data", "text", "repeated"),
    [
        ({"n": float("nan"), "s": "SECRET"}, '{"n": null, "s": "SECRET"}', True),
        ({"n": float("inf"), "s": "SECRET"}, '{"n": Infinity, "s": "SECRET"}', True),
        ({"n": {1}, "s": ("a", 2)}, '{"n": [1], "s": ["a", 2]}', True),
        (
            {"n": 1, "s": Hints(shown=1, hidden=2, nested={})},
            '{"n": 1, "s": {"shown": 1, "hidden": 2, "nested": {}}}',
            True,
        ),
        ({"n": iter([1])}, '{"n": [1]}', False),
        ({"n": 1}, '{"n": 2}', False),
        ({"n": 1}, "n is 1", False),
    ],
)
def test_a_text_that_is_the_data_over_again_is_told_from_words(data: Any, text: str, repeated: bool) -> None:
    assert _repeats(TextContent(type="text", text=text), data) is repeated
