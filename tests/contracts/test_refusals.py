"""The texts that a model reads when its call is refused (SPEC section 5)."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_authz import CallerView, InvalidInputError, Settings, ToolContract, UnknownInputKeysError

from .callers import Context

LIST = """
#: (?funnel_id: String, ?page: Integer, ?per_page: Integer, ?query: String, ?stage_id: String,
#:  ?force: bool @requires(:admin)) -> output
@rbs type output = { ok: bool }
"""


def viewer(docstring: str, *, name: str = "tool", **options: Any) -> CallerView:
    return ToolContract.parse(docstring, name=name, settings=Settings(**options)).view(Context())


def refusal(view: CallerView, arguments: dict[str, Any], *, lenient: bool = False) -> str:
    with pytest.raises((UnknownInputKeysError, InvalidInputError)) as caught:
        view.filter_input(arguments, lenient=lenient)
    return str(caught.value)


def test_unknown_parameters_are_refused_to_the_letter() -> None:
    view = viewer(LIST, name="list_applicants")
    assert refusal(view, {"limit": 100, "data": {"done": True}, "page": "x"}) == (
        "list_applicants: Unknown parameters: data, limit. Nothing was executed. Accepted parameters: funnel_id, page, "
        "per_page, query, stage_id. If your task depends on a rejected parameter (for example filtering by it), do not "
        "re-run this call without it: the result would be unfiltered. Do not substitute another parameter to "
        "approximate it. Use a tool that supports it, or tell the user it is not possible."
    )


def test_a_hidden_parameter_is_refused_like_one_that_never_was() -> None:
    view = viewer(LIST)
    assert refusal(view, {"force": True}) == refusal(view, {"fudge": True}).replace("fudge", "force")


def test_a_tool_that_takes_nothing_says_none() -> None:
    assert "Accepted parameters: none." in refusal(viewer("#: () -> output\n@rbs type output = {}"), {"a": 1})


def test_sent_names_are_cut_and_counted() -> None:
    sent = {f"k{i:02}": 1 for i in range(23)} | {"a" * 200: 1}
    text = refusal(viewer(LIST), sent)
    assert f"Unknown parameters: {'a' * 64}, k00, " in text
    assert "k18 and 4 more. Nothing was executed." in text


def test_names_that_are_ignored_are_no_offence_but_the_others_are() -> None:
    view = viewer(LIST, ignored_input_keys=["_client", "page"])
    assert view.filter_input({"_client": {"v": 1}, "page": 2}) == {"page": 2}
    assert "Unknown parameters: other." in refusal(view, {"_client": 1, "other": 1})


def test_an_ignored_name_of_a_hidden_parameter_is_dropped() -> None:
    assert viewer(LIST, ignored_input_keys=["force"]).filter_input({"force": True}) == {}


SMS = """
#: (
#:   applicant_ids: Array[String]  @min(1) @max(500) @unique(),
#:   body: String                  @min(1) @max(160),
#:   ?kind: "now" | "later",
#:   ?at: Time?,
#:   ?n: Integer                   @min(1) @max(9) @multiple_of(3),
#:   ?to: { street: String, ?zip: String @pattern(^[0-9]{5}$) },
#:   ?who: { type: "car", wheels: Integer } | { type: "boat", sails: Integer },
#:   ?workflow_id: String          @depends_on(:stage_id),
#:   ?stage_id: String
#: ) -> output
@rbs type output = { ok: bool }
"""
FINE = {"applicant_ids": ["a"], "body": "hello"}


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"body": "x" * 412}, ["body: is too long: at most 160 characters, 412 were sent."]),
        ({"body": ""}, ["body: is too short: at least 1 character, 0 were sent."]),
        ({"applicant_ids": ["a", "b", "c", 4]}, ["applicant_ids[3]: must be text, a number was sent."]),
        ({"applicant_ids": ["a", "a"]}, ["applicant_ids: must not hold the same item twice."]),
        ({"applicant_ids": []}, ["applicant_ids: holds too few items: at least 1, 0 were sent."]),
        ({"kind": "soon"}, ['kind: must be "now" or "later".']),
        ({"at": 5}, ["at: must be text or null, a number was sent."]),
        ({"at": "noon"}, ["at: must be a valid date-time."]),
        ({"n": 0}, ["n: is too small: at least 1."]),
        ({"n": 10}, ["n: is too large: at most 9.", "n: must be a multiple of 3."]),
        ({"n": True}, ["n: must be a whole number, a boolean was sent."]),
        ({"to": {"zip": "abc"}}, ["to.street: is required.", "to.zip: must match the pattern ^[0-9]{5}$."]),
        ({"to": []}, ["to: must be an object, a list was sent."]),
        ({"who": {"type": "boat"}}, ["who.sails: is required."]),
        ({"who": None}, ["who: must be an object, null was sent."]),
        ({"stage_id": "s"}, ["workflow_id: is required when stage_id is given."]),
    ],
)
def test_invalid_values_are_named_by_path(arguments: dict[str, Any], problems: list[str]) -> None:
    text = refusal(viewer(SMS, name="bulk_send_sms"), FINE | arguments)
    head, *lines, tail = text.split("\n")
    assert head == "bulk_send_sms: Invalid arguments. Nothing was executed."
    assert sorted(lines) == sorted(f"- {p}" for p in problems)
    assert tail == "Correct these and call again."


def test_what_is_missing_is_named() -> None:
    text = refusal(viewer(SMS), {"body": "x"})
    assert "- applicant_ids: is required.\n" in text


def test_a_refusal_is_bounded() -> None:
    text = refusal(viewer(SMS), {"applicant_ids": list(range(500)), "body": "x"})
    assert len(text) <= 2_000
    assert " more.\nCorrect these and call again." in text


def test_nested_unknown_keys_can_be_refused_by_path() -> None:
    view = viewer(SMS, nested_unknown_keys="reject")
    assert "- to.country: is not accepted here.\n" in refusal(view, FINE | {"to": {"street": "s", "country": "x"}})


def test_no_value_of_the_caller_but_its_own_keys_stands_in_a_refusal() -> None:
    text = refusal(viewer(SMS), FINE | {"at": "SECRET-1", "to": {"street": 7, "zip": "SECRET-2"}})
    assert "SECRET" not in text


def test_a_property_that_is_called_like_a_reference_is_a_property() -> None:
    view = viewer('#: (?"$ref": { ?a: Integer, ?b: Integer @depends_on(:a) }) -> output\n@rbs type output = {}')
    assert "- $ref.b: is required when $ref.a is given.\n" in refusal(view, {"$ref": {"a": 1}})
