"""FakeContext answers as it was told, says no to the rest, and remembers."""

from __future__ import annotations

import copy
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from fastmcp_authz import ConfigurationError, Predicate, ToolContract
from fastmcp_authz.callers.deciding import Caller
from fastmcp_authz.callers.predicates import authorization
from fastmcp_authz.settings import Settings
from fastmcp_authz.testing import Asked, FakeContext


async def answers(context: Any, *predicates: Predicate) -> list[bool]:
    granted = await Caller(context, Settings(missing_predicate="allow")).decide(predicates)
    return [predicate in granted for predicate in predicates]


def requires(flag: str) -> Predicate:
    return Predicate("requires", flag)


async def test_can_answers_both_a_tool_and_a_field_that_need_a_permission() -> None:
    context = FakeContext(can=["read"])
    assert await answers(context, authorization("read"), authorization("write")) == [True, False]
    assert await answers(context, requires("read"), requires("write")) == [True, False]


async def test_requires_answers_fields_apart_and_tools_where_nothing_is_said_of_can() -> None:
    apart = FakeContext(can=["read"], requires=["write"])
    assert await answers(apart, authorization("read"), authorization("write")) == [True, False]
    assert await answers(apart, requires("read"), requires("write")) == [False, True]
    assert await answers(FakeContext(requires=["write"]), authorization("read"), authorization("write")) == [
        False,
        True,
    ]


async def test_a_predicate_is_answered_by_values_by_one_answer_or_by_a_function() -> None:
    async def later(value: str) -> bool:
        return value == "late"

    context = FakeContext(
        feature=["sms"],
        beta=True,
        old=False,
        tier=lambda tier: tier != "gold",
        slow=later,
        wrapped=lambda value: later(value),
    )
    asked = [
        Predicate(*each)
        for each in [
            ("feature", "sms"),
            ("feature", "fax"),
            ("beta", "any"),
            ("old", "any"),
            ("tier", "free"),
            ("tier", "gold"),
            ("slow", "late"),
            ("slow", "soon"),
            ("wrapped", "late"),
            ("wrapped", "soon"),
        ]
    ]
    assert await answers(context, *asked) == [True, False] * 5


async def test_values_are_told_apart_as_predicates_are() -> None:
    context = FakeContext(level=[1])
    assert await answers(context, Predicate("level", 1), Predicate("level", True), Predicate("level", "1")) == [
        True,
        False,
        False,
    ]


async def test_what_it_was_not_told_is_a_no_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert (
            await answers(FakeContext(), Predicate("feature", "sms"), requires("x"), authorization("x")) == [False] * 3
        )
    assert caplog.messages == []


async def test_every_question_is_remembered_with_its_answer() -> None:
    async def slow(value: str) -> bool:
        return True

    context = FakeContext(can=["read"], slow=slow, defaults={"limit": 3})
    await answers(context, authorization("read"), requires("write"), Predicate("fax", None))
    await answers(context, Predicate("slow", "x"))
    assert context.current_user.default_for("limit") == 3
    assert context.current_user.default_for("page") is None
    assert context.asked == [
        Asked("current_user.can", "read", True),
        Asked("requires", "write", False),
        Asked("fax", None, False),
        Asked("slow", "x", True),
        Asked("current_user.default_for", "limit", 3),
        Asked("current_user.default_for", "page", None),
    ]
    assert [str(each) for each in context.asked[:3]] == [
        "current_user.can('read'): yes",
        "requires('write'): no",
        "fax(None): no",
    ]
    assert str(context.asked[-1]) == "current_user.default_for('page'): None"


async def test_a_user_has_attributes_of_its_own_and_answers_where_the_test_does_not() -> None:
    user = SimpleNamespace(id="u1", can=lambda flag: flag == "read", default_for=lambda key: f"own {key}")
    context = FakeContext(user=user, defaults={"limit": 3})
    assert context.current_user.id == "u1"
    assert await answers(context, authorization("read"), requires("read"), requires("x")) == [True, True, False]
    assert (context.current_user.default_for("limit"), context.current_user.default_for("page")) == (3, "own page")
    assert await answers(FakeContext(user=user, can=["x"]), authorization("read"), authorization("x")) == [False, True]
    with pytest.raises(AttributeError, match="name"):
        _ = context.current_user.name


async def test_a_subclass_adds_what_handlers_read() -> None:
    class OfAcme(FakeContext):
        tenant = "acme"

    context = OfAcme(can=["read"])
    assert context.tenant == "acme"
    assert repr(context) == "OfAcme(can=['read'])"


def test_a_contract_asks_it_without_a_server_and_without_an_event_loop() -> None:
    contract = ToolContract.parse(
        "@rbs type output = { a: Integer, ?b: Integer @requires(:admin), ?c: Integer @slow(:x) }\n"
        "#: (?n: Integer @default_for(:n)) -> output"
    )

    async def slow(value: str) -> bool:
        return True

    view = contract.view(FakeContext(can=["admin"], slow=slow, defaults={"n": 7}))
    assert view.filter_output({"a": 1, "b": 2, "c": 3}) == {"a": 1, "b": 2}
    assert view.filter_input({}) == {"n": 7}


def test_it_shows_what_it_was_told() -> None:
    def gold(tier: str) -> bool:
        return True

    assert repr(FakeContext()) == "FakeContext()"
    assert repr(FakeContext(can=["a"], tier=gold, beta=True, defaults={"n": 1}, user="bob")) == (
        "FakeContext(can=['a'], "
        "tier=test_it_shows_what_it_was_told.<locals>.gold, beta=True, defaults={'n': 1}, user='bob')"
    )
    assert repr(FakeContext(can=["a"]).current_user) == "the user of FakeContext(can=['a'])"
    assert repr(FakeContext().feature).startswith("<function feature at ")


def test_it_can_be_copied() -> None:
    context = copy.deepcopy(FakeContext(can=["a"]))
    assert context.current_user.can("a") is True
    assert [each.value for each in context.asked] == ["a"]


@pytest.mark.parametrize("rule", ["sms", b"sms", {"sms": True}, 3, None])
def test_an_answer_that_is_none_is_refused(rule: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"FakeContext\(feature=.*write the values that are a yes"):
        FakeContext(feature=rule)


@pytest.mark.parametrize("name", ["decide", "current_user", "default_for", "_private"])
def test_a_name_that_is_no_predicates_is_refused(name: str) -> None:
    given: dict[str, Any] = {name: True}
    with pytest.raises(ConfigurationError, match=f"{name} is no name of a predicate"):
        FakeContext(**given)
    with pytest.raises(AttributeError):
        getattr(type("Bare", (FakeContext,), {"__init__": lambda self: None})(), name)
