"""Predicates are asked once, and only a literal True is a yes (SPEC section 4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from fastmcp_authz.callers.deciding import CONCURRENT_PREDICATES, Caller
from fastmcp_authz.callers.predicates import Predicate, authorization
from fastmcp_authz.settings import Settings

FEATURE = Predicate("feature", "sms")
REQUIRES = Predicate("requires", "admin")
COMMS = authorization("comms")


def caller(context: Any, **options: Any) -> Caller:
    return Caller(context, Settings(**options))


class Person:
    """A context that keeps what it was asked."""

    def __init__(self, *granted: str) -> None:
        self.granted = granted
        self.asked: list[Any] = []
        self.current_user = SimpleNamespace(can=lambda flag: flag in granted)

    def feature(self, value: Any) -> bool:
        self.asked.append(value)
        return value in self.granted


async def test_nobody_gets_a_no_to_everything() -> None:
    assert await caller(None).decide([FEATURE, REQUIRES, COMMS]) == frozenset()
    assert caller(None).decide_now([FEATURE, REQUIRES, COMMS]) == frozenset()


async def test_each_predicate_is_asked_once_however_often_it_is_wanted() -> None:
    person = Person("sms")
    someone = caller(person)
    assert await someone.decide([FEATURE, FEATURE]) == {FEATURE}
    assert await someone.decide([FEATURE, Predicate("feature", "mail")]) == {FEATURE}
    assert someone.decide_now([FEATURE]) == {FEATURE}
    assert person.asked == ["sms", "mail"]


async def test_values_that_python_takes_for_equal_are_different_questions() -> None:
    person = Person()
    await caller(person).decide([Predicate("feature", 1), Predicate("feature", True), Predicate("feature", 1.0)])
    assert [type(value) for value in person.asked] == [int, bool, float]


@pytest.mark.parametrize("answer", [1, "yes", object(), [True], None, False])
async def test_only_the_literal_true_is_a_yes(answer: Any) -> None:
    context = SimpleNamespace(feature=lambda _: answer)
    assert await caller(context).decide([FEATURE]) == frozenset()
    assert caller(context).decide_now([FEATURE]) == frozenset()


async def test_a_predicate_that_raises_is_a_no_and_logged_with_its_exception(caplog: pytest.LogCaptureFixture) -> None:
    def feature(_: Any) -> bool:
        raise ValueError("broken")

    async def requires(_: Any) -> bool:
        raise ValueError("broken later")

    context = SimpleNamespace(feature=feature, requires=requires)
    assert await caller(context).decide([FEATURE, REQUIRES]) == frozenset()
    assert all(record.name == "fastmcp_authz" and record.exc_info for record in caplog.records)
    assert len(caplog.records) == 2


async def test_the_end_of_the_program_is_never_swallowed() -> None:
    def feature(_: Any) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await caller(SimpleNamespace(feature=feature)).decide([FEATURE])

    async def cancelled(_: Any) -> bool:
        raise asyncio.CancelledError

    def interrupted(_: Any) -> bool:
        raise KeyboardInterrupt

    context = SimpleNamespace(feature=cancelled, requires=interrupted)
    with pytest.raises(KeyboardInterrupt):
        await caller(context).decide([FEATURE, REQUIRES])


async def test_async_predicates_are_awaited_together_within_a_bound() -> None:
    running = most = 0

    async def feature(_: Any) -> bool:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return True

    wanted = [Predicate("feature", n) for n in range(CONCURRENT_PREDICATES * 2)]
    assert await caller(SimpleNamespace(feature=feature)).decide(wanted) == set(wanted)
    assert most == CONCURRENT_PREDICATES


async def test_concurrent_askers_share_the_answer() -> None:
    asked: list[Any] = []

    async def feature(value: Any) -> bool:
        asked.append(value)
        await asyncio.sleep(0.001)
        return True

    someone = caller(SimpleNamespace(feature=feature))
    answers = await asyncio.gather(*(someone.decide([FEATURE]) for _ in range(5)))
    assert answers == [{FEATURE}] * 5
    assert asked == ["sms"]


async def test_who_comes_between_two_turns_asks_nothing_twice() -> None:
    asked: list[Any] = []

    async def feature(value: Any) -> bool:
        asked.append(value)
        await asyncio.sleep(0.001)
        return asked.count(value) == 1  # whoever asks twice is told otherwise

    someone = caller(SimpleNamespace(feature=feature))
    first, second, third = (Predicate("feature", value) for value in ("first", "second", "third"))

    async def one_after_the_other() -> None:
        assert await someone.decide([first]) == {first}
        # The turn of the other begins with this, and has not begun.
        assert await someone.decide([second, third]) == {second, third}

    await asyncio.gather(one_after_the_other(), someone.decide([second]))
    assert asked == ["first", "second", "third"]
    assert await someone.decide([first, second, third]) == {first, second, third}


async def test_who_waits_for_a_turn_and_is_cancelled_keeps_it_from_nobody() -> None:
    asked: list[Any] = []

    async def feature(value: Any) -> bool:
        asked.append(value)
        await asyncio.sleep(0.001)
        return True

    someone = caller(SimpleNamespace(feature=feature))
    first = asyncio.create_task(someone.decide([FEATURE]))
    waiting = asyncio.create_task(someone.decide([Predicate("feature", "mail")]))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await first == {FEATURE}
    assert await someone.decide([Predicate("feature", "fax")]) == {Predicate("feature", "fax")}
    assert asked == ["sms", "fax"]


async def test_a_cancelled_asker_does_not_answer_for_the_next() -> None:
    started = asyncio.Event()
    release = asyncio.Event()

    async def feature(_: Any) -> bool:
        started.set()
        await release.wait()
        return True

    someone = caller(SimpleNamespace(feature=feature))
    first = asyncio.create_task(someone.decide([FEATURE, Predicate("feature", "mail")]))
    await started.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    release.set()
    assert await someone.decide([FEATURE]) == {FEATURE}


async def test_a_predicate_that_hangs_is_a_no() -> None:
    async def feature(_: Any) -> bool:
        await asyncio.Event().wait()
        return True

    async def requires(_: Any) -> bool:
        return True

    context = SimpleNamespace(feature=feature, requires=requires)
    assert await caller(context, predicate_timeout=0.01).decide([FEATURE, REQUIRES]) == {REQUIRES}
    assert await caller(context, predicate_timeout=0.01).decide([FEATURE]) == frozenset()


async def test_without_awaiting_an_async_answer_is_a_no_that_says_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    async def yes(_: Any) -> bool:
        return True

    assert caller(SimpleNamespace(feature=yes)).decide_now([FEATURE]) == frozenset()
    assert "view_async" in caplog.text
    future = asyncio.get_running_loop().create_future()
    future.set_result(True)
    assert caller(SimpleNamespace(feature=lambda _: future)).decide_now([FEATURE]) == frozenset()
    assert caller(SimpleNamespace(decide=yes)).decide_now([FEATURE]) == frozenset()


async def test_requires_falls_back_to_what_the_user_can() -> None:
    assert await caller(Person("admin")).decide([REQUIRES]) == {REQUIRES}
    assert await caller(Person()).decide([REQUIRES]) == frozenset()
    assert await caller(SimpleNamespace()).decide([REQUIRES]) == frozenset()
    assert await caller(SimpleNamespace(current_user=None)).decide([REQUIRES]) == frozenset()
    assert await caller(SimpleNamespace(current_user=SimpleNamespace(can=True))).decide([REQUIRES]) == frozenset()


async def test_authorization_asks_the_user_and_the_context_only_where_the_user_cannot_say() -> None:
    yes, no = (lambda _: True), (lambda _: False)
    user = SimpleNamespace(can=no)
    assert await caller(Person("comms")).decide([COMMS]) == {COMMS}
    assert await caller(SimpleNamespace(current_user=user, requires=yes)).decide([COMMS]) == frozenset()
    assert await caller(SimpleNamespace(current_user=object(), requires=yes)).decide([COMMS]) == {COMMS}
    assert await caller(SimpleNamespace(requires=yes)).decide([COMMS]) == {COMMS}
    assert await caller(SimpleNamespace(current_user=None, requires=yes)).decide([COMMS]) == frozenset()
    assert await caller(SimpleNamespace()).decide([COMMS]) == frozenset()


async def test_a_missing_predicate_is_allowed_with_one_warning_for_each_name(caplog: pytest.LogCaptureFixture) -> None:
    class Context: ...

    wanted = [Predicate("region", "eu"), Predicate("region", "us"), Predicate("plan", "pro")]
    for _ in range(2):
        assert await caller(Context()).decide(wanted) == set(wanted)
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "@region" in caplog.text
    assert "@plan" in caplog.text


async def test_a_missing_predicate_can_be_denied_or_reported(caplog: pytest.LogCaptureFixture) -> None:
    assert await caller(object(), missing_predicate="deny").decide([FEATURE]) == frozenset()
    assert not caplog.records
    assert await caller(object(), missing_predicate="error").decide([FEATURE]) == frozenset()
    assert caplog.records[0].levelname == "ERROR"


async def test_a_predicate_that_is_there_but_broken_is_no_missing_one() -> None:
    class Context:
        feature = True
        other: Any

        @property
        def plan(self) -> Any:
            return self.no_such_attribute  # type: ignore[attr-defined]

        @property
        def current_user(self) -> Any:
            return self.no_such_attribute  # type: ignore[attr-defined]

        def requires(self, _: Any) -> bool:
            return True

    wanted = [FEATURE, Predicate("plan", "pro"), COMMS]
    assert await caller(Context()).decide(wanted) == frozenset()


async def test_a_context_may_answer_in_one_go() -> None:
    calls: list[tuple[Predicate, ...]] = []

    class Context:
        def feature(self, _: Any) -> bool:
            raise AssertionError("asked one by one")

        async def decide(self, predicates: tuple[Predicate, ...]) -> Mapping[Any, Any]:
            calls.append(predicates)
            return {None: True, FEATURE: True, REQUIRES.text: True, ("feature", 1): True, ("plan", "pro"): "yes"}

    someone = caller(Context())
    one, true, plan = Predicate("feature", 1), Predicate("feature", True), Predicate("plan", "pro")
    assert await someone.decide([FEATURE, REQUIRES, one, true, plan, COMMS]) == {FEATURE, REQUIRES, one}
    assert await someone.decide([FEATURE, plan]) == {FEATURE}
    assert calls == [(FEATURE, REQUIRES, one, true, plan, COMMS)]


@pytest.mark.parametrize("answers", [None, True, [FEATURE], {}, {FEATURE: 1}, {FEATURE: True, FEATURE.text: False}])
async def test_one_go_with_a_wrong_answer_is_a_no(answers: Any) -> None:
    assert await caller(SimpleNamespace(decide=lambda _: answers)).decide([FEATURE]) == frozenset()
    assert caller(SimpleNamespace(decide=lambda _: answers)).decide_now([FEATURE]) == frozenset()


async def test_one_go_that_fails_is_a_no_to_all(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: Any) -> Any:
        raise ValueError("broken")

    async def hangs(_: Any) -> Any:
        await asyncio.Event().wait()

    class Unreadable(dict[Any, Any]):
        def items(self) -> Any:
            raise ValueError("broken")

    for decide in (broken, hangs, lambda _: Unreadable({FEATURE: True})):
        caplog.clear()
        context = SimpleNamespace(decide=decide)
        assert await caller(context, predicate_timeout=0.01).decide([FEATURE, REQUIRES]) == frozenset()
        assert caplog.records[0].exc_info


async def test_a_context_that_makes_up_attributes_is_not_taken_for_one_that_decides() -> None:
    class Context:
        def __getattr__(self, name: str) -> Any:
            return lambda value: (name, value) == ("feature", "sms")

    assert await caller(Context()).decide([FEATURE, Predicate("feature", "mail")]) == {FEATURE}


async def test_defaults_are_asked_once_and_absent_where_there_are_none(caplog: pytest.LogCaptureFixture) -> None:
    asked: list[str] = []

    class User:
        def default_for(self, key: str) -> Any:
            asked.append(key)
            if key == "broken":
                raise ValueError("broken")
            return self.later(key) if key.startswith("async") else {"page": 3}.get(key)

        async def later(self, key: str) -> Any:
            if key == "async broken":
                raise ValueError("broken later")
            return 7

    someone = caller(SimpleNamespace(current_user=User()))
    keys = ["page", "none", "broken", "async", "async broken"]
    for _ in range(2):
        assert await someone.defaults(keys) == {"page": 3, "async": 7}
    assert asked == keys
    assert len(caplog.records) == 2
    assert caller(SimpleNamespace(current_user=User())).defaults_now(keys) == {"page": 3}
    for context in (None, object(), SimpleNamespace(current_user=None), Person()):
        assert await caller(context).defaults(["page"]) == {}
        assert caller(context).defaults_now(["page"]) == {}


async def test_who_asks_for_a_default_that_is_under_way_waits_for_it() -> None:
    asked: list[str] = []

    async def default_for(key: str) -> str:
        asked.append(key)
        await asyncio.sleep(0.001)
        return f"her {key}"

    someone = caller(SimpleNamespace(current_user=SimpleNamespace(default_for=default_for)))
    first, second = await asyncio.gather(someone.defaults(["folder"]), someone.defaults(["folder"]))
    assert first == second == {"folder": "her folder"}
    assert asked == ["folder"]
    cancelled = asyncio.create_task(someone.defaults(["page"]))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert await someone.defaults(["page"]) == {"page": "her page"}


async def test_an_answer_that_was_given_in_one_request_is_never_another() -> None:
    async def later(_: Any) -> Any:
        await asyncio.sleep(0.001)
        return True

    someone = caller(SimpleNamespace(feature=later, current_user=SimpleNamespace(default_for=later)))
    asking = asyncio.gather(someone.decide([FEATURE]), someone.defaults(["folder"]))
    await asyncio.sleep(0)
    assert someone.decide_now([FEATURE]) == frozenset()
    assert someone.defaults_now(["folder"]) == {}
    assert await asking == [frozenset(), {}]
    assert await someone.decide([FEATURE]) == frozenset()
    assert await someone.defaults(["folder"]) == {}


async def test_no_question_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    assert await caller(object()).decide([]) == frozenset()
    assert await caller(object()).defaults([]) == {}
    assert not caplog.records


async def test_permissions_that_nobody_answers_are_a_no_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    class Misspelt:
        def require(self, flag: str) -> bool:
            return True

    for _ in range(2):
        assert await caller(Misspelt()).decide([REQUIRES, COMMS]) == frozenset()
    (record,) = [r for r in caplog.records if "Define requires(self, flag)" in r.getMessage()]
    assert "Misspelt has neither the method requires nor a current_user with the method can" in record.getMessage()


@pytest.mark.parametrize("failure", [asyncio.CancelledError, GeneratorExit])
async def test_failures_that_are_no_exceptions_are_a_no_too(failure: type[BaseException]) -> None:
    class Failing:
        def requires(self, flag: str) -> bool:
            raise failure

        async def feature(self, flag: str) -> bool:
            raise failure

    assert await caller(Failing()).decide([REQUIRES, FEATURE]) == frozenset()
    assert caller(Failing()).decide_now([REQUIRES]) == frozenset()


async def test_a_request_that_is_cancelled_is_not_answered() -> None:
    class Slow:
        async def feature(self, flag: str) -> bool:
            await asyncio.sleep(60)
            return True

    asking = asyncio.create_task(caller(Slow()).decide([FEATURE]))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_default_for_of_the_context_itself_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    class Context:
        def default_for(self, key: str) -> int:
            return 7

    for _ in range(2):
        assert await caller(Context()).defaults(["page"]) == {}
    (record,) = caplog.records
    assert "Context.default_for is never asked" in record.getMessage()
    assert await caller(SimpleNamespace(current_user=Context())).defaults(["page"]) == {"page": 7}
    assert len(caplog.records) == 1
