"""One caller per request and authority; the nearest authority decides (SPEC section 4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from fastmcp_authz.callers.context import Request
from fastmcp_authz.callers.scope import Authority, CallerUnavailableError, nearest, opened


async def test_a_scope_builds_its_caller_once_however_many_wait() -> None:
    built: list[Request] = []

    async def build(request: Request) -> str:
        built.append(request)
        await asyncio.sleep(0.001)
        return "context"

    async with opened(Authority(build), object(), lambda: Request(session_id="s")) as scope:
        callers = await asyncio.gather(*(scope.caller() for _ in range(5)))
    assert {c.context for c in callers} == {"context"}
    assert len({id(c) for c in callers}) == 1
    assert built == [Request(session_id="s")]


async def test_a_scope_that_nobody_asks_builds_nothing() -> None:
    def build(_: Request) -> Any:
        raise AssertionError("built")

    async with opened(Authority(build), object(), Request):
        pass


async def test_a_failing_builder_is_not_tried_again_in_the_same_request(caplog: pytest.LogCaptureFixture) -> None:
    tried: list[Request] = []

    def build(request: Request) -> Any:
        tried.append(request)
        raise ValueError("secret")

    async with opened(Authority(build), object(), Request) as scope:
        for _ in range(3):
            with pytest.raises(CallerUnavailableError) as caught:
                await scope.caller()
            assert "secret" not in str(caught.value)
            assert caught.value.__cause__ is None
    assert len(tried) == 1
    assert [bool(record.exc_info) for record in caplog.records] == [True]


async def test_the_context_is_closed_with_the_scope_and_sees_its_exception(caplog: pytest.LogCaptureFixture) -> None:
    events: list[str] = []

    @asynccontextmanager
    async def build(_: Request) -> AsyncIterator[str]:
        try:
            yield "session"
        except ValueError as error:
            events.append(f"rolled back: {error}")  # and swallows it, which must not come through
        else:
            events.append("committed")

    async with opened(Authority(build), object(), Request) as scope:
        await scope.caller()

    async def failing_request() -> None:
        async with opened(Authority(build), object(), Request) as scope:
            await scope.caller()
            raise ValueError("body")

    with pytest.raises(ValueError, match="body"):
        await failing_request()
    assert events == ["committed", "rolled back: body"]
    assert not caplog.records


async def test_a_context_that_fails_to_close_is_logged_and_the_answer_stands(caplog: pytest.LogCaptureFixture) -> None:
    @asynccontextmanager
    async def build(_: Request) -> AsyncIterator[str]:
        yield "session"
        raise ValueError("closing")

    async with opened(Authority(build), object(), Request) as scope:
        await scope.caller()
    assert caplog.records[0].exc_info


async def test_a_scope_is_found_by_its_request_and_its_authority_alone() -> None:
    one, other = Authority(), Authority()
    key, another = object(), object()
    async with opened(one, key, Request) as outer, opened(other, key, Request) as inner:
        async with opened(one, key, Request) as again:  # mounted in one another, back and forth
            assert again is outer
            assert nearest({one, other}, key) is outer
        assert nearest({other}, key) is inner
        assert nearest({Authority()}, key) is None
        assert nearest({one, other}, key) is inner
        assert nearest({one}, key) is outer
        assert nearest({one, other}, another) is None
    assert nearest({one}, key) is None


async def test_what_has_no_request_is_never_reused() -> None:
    authority = Authority()
    async with opened(authority, None, Request):
        assert nearest({authority}, None) is None


async def test_a_task_that_outlives_its_request_finds_no_scope() -> None:
    authority, key = Authority(), object()
    finish = asyncio.Event()

    async def straggler() -> tuple[Any, Any]:
        during = nearest({authority}, key)
        await finish.wait()
        return during, nearest({authority}, key)

    async with opened(authority, key, Request) as scope:
        task = asyncio.create_task(straggler())
        await asyncio.sleep(0)
    finish.set()
    assert await task == (scope, None)
    with pytest.raises(CallerUnavailableError):
        await scope.caller()


async def test_a_cancelled_build_is_tried_again() -> None:
    built = 0
    started = asyncio.Event()

    async def build(_: Request) -> str:
        nonlocal built
        built += 1
        if built == 1:
            started.set()
            await asyncio.Event().wait()
        return "context"

    async with opened(Authority(build), object(), Request) as scope:
        first = asyncio.create_task(scope.caller())
        await started.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await scope.caller()).context == "context"


async def test_a_context_entered_by_a_passing_task_lasts_and_is_left_where_it_was_entered() -> None:
    tasks: list[asyncio.Task[None] | None] = []
    errors: list[BaseException] = []

    @asynccontextmanager
    async def build(_: Request) -> AsyncIterator[str]:
        async with asyncio.timeout(60):
            tasks.append(asyncio.current_task())
            try:
                yield "session"
            except BaseException as error:
                errors.append(error)
                raise
            finally:
                tasks.append(asyncio.current_task())

    async def request(error: BaseException | None) -> None:
        async with opened(Authority(build), object(), Request) as scope:
            caller = await asyncio.create_task(scope.caller())
            assert caller.context == "session"
            if error is not None:
                raise error

    await request(None)
    with pytest.raises(ValueError, match="body"):
        await request(ValueError("body"))
    with pytest.raises(asyncio.CancelledError):
        await request(asyncio.CancelledError())
    assert [type(error) for error in errors] == [ValueError, asyncio.CancelledError]
    assert tasks[0::2] == tasks[1::2]


async def test_a_passing_task_that_fails_or_is_cancelled_leaves_nothing_open() -> None:
    started = asyncio.Event()
    closed: list[str] = []

    @asynccontextmanager
    async def hangs(_: Request) -> AsyncIterator[str]:
        try:
            started.set()
            await asyncio.Event().wait()
            yield "session"
        finally:
            closed.append("hangs")

    async def fails(_: Request) -> str:
        raise ValueError("secret")

    async with opened(Authority(fails), object(), Request) as scope:
        with pytest.raises(CallerUnavailableError):
            await asyncio.create_task(scope.caller())
    async with opened(Authority(hangs), object(), Request) as scope:
        task = asyncio.create_task(scope.caller())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await asyncio.sleep(0)
    assert closed == ["hangs"]


async def test_a_context_that_fails_to_close_elsewhere_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    @asynccontextmanager
    async def build(_: Request) -> AsyncIterator[str]:
        yield "session"
        raise ValueError("closing")

    async with opened(Authority(build), object(), Request) as scope:
        await asyncio.create_task(scope.caller())
    assert caplog.records[0].exc_info
