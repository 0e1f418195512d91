"""Every shape of a context builder (SPEC section 4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from fastmcp_authz.callers.context import CurrentUser, Request, is_ready, opened_context
from fastmcp_authz.errors import ConfigurationError


async def context_of(builder: Any) -> Any:
    made = builder(Request(session_id="s"))
    async with opened_context(made, "builder") as context:
        assert is_ready(made) == (context is made)
        return context


async def test_a_context_may_be_made_by_a_function_sync_or_async() -> None:
    async def build_async(request: Request) -> str:
        return f"async {request.session_id}"

    assert await context_of(lambda request: f"sync {request.session_id}") == "sync s"
    assert await context_of(build_async) == "async s"


async def test_a_context_manager_sync_or_async_is_closed_when_the_request_ends() -> None:
    events: list[str] = []

    @contextmanager
    def sync(_: Request) -> Iterator[str]:
        yield "sync"
        events.append("sync closed")

    @asynccontextmanager
    async def later(_: Request) -> AsyncIterator[str]:
        yield "async"
        events.append("async closed")

    async def returns_a_manager(request: Request) -> Any:
        return later(request)

    for builder in (sync, later, returns_a_manager):
        async with opened_context(builder(Request()), "builder") as context:
            events.append(context)
    assert events == ["sync", "sync closed", "async", "async closed", "async", "async closed"]


async def test_a_generator_without_its_decorator_is_refused_and_not_taken_for_a_context() -> None:
    async def forgot(_: Request) -> AsyncIterator[str]:
        yield "context"

    def forgot_too(_: Request) -> Iterator[str]:
        yield "context"

    with pytest.raises(ConfigurationError, match="@asynccontextmanager"):
        await context_of(forgot)
    with pytest.raises(ConfigurationError, match="@contextmanager"):
        await context_of(forgot_too)


def test_a_request_is_frozen_and_empty_by_default() -> None:
    request = Request()
    assert (request.access_token, dict(request.headers), request.transport, request.domain) == (
        None,
        {},
        None,
        "default",
    )
    with pytest.raises(FrozenInstanceError):
        request.domain = "other"  # type: ignore[misc]


def test_a_user_is_whatever_can_answer_can() -> None:
    class User:
        def can(self, flag: str) -> bool:
            return flag == "x"

        def default_for(self, key: str) -> None: ...

    assert isinstance(User(), CurrentUser)


@pytest.mark.parametrize("hashed", [lambda _: 1, None])
def test_what_is_known_of_one_class_says_nothing_of_another_that_is_equal_to_it(hashed: Any) -> None:
    meta: Any = type("Alike", (type,), {"__eq__": lambda *_: True, "__hash__": hashed})
    plain: Any = meta("Plain", (), {})
    opening: Any = meta("Opening", (), {"__enter__": lambda _: "opened", "__exit__": lambda *_: None})
    assert [is_ready(kind()) for kind in (plain, opening, plain, opening)] == [True, False, True, False]
