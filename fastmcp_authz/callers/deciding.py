"""The caller of one request: every predicate asked at most once, every failure a no. Nobody else asks a predicate."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

from fastmcp_authz.caches import LeastRecent
from fastmcp_authz.callers.asking import (
    answer_of,
    batch_method,
    is_own,
    read_batch,
    read_yes,
    warn_of_misplaced_defaults,
)
from fastmcp_authz.callers.predicates import Decisions, Predicate, Questions, questions
from fastmcp_authz.events import Event, Observer, PredicateFailed
from fastmcp_authz.settings import Settings

logger = logging.getLogger("fastmcp_authz")

CONCURRENT_PREDICATES = 32
"""How many async predicates of one request are awaited at a time: enough to hide latency, too few to drain a pool."""

Key = TypeVar("Key", Predicate, str)


class _Batch(NamedTuple):
    """What a `decide` will answer."""

    asked: tuple[Predicate, ...]
    answers: Awaitable[Any]


class _Turns:
    """Who may ask: one at a time, in the order in which they came."""

    __slots__ = ("_lock", "_taken")

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._taken = 0

    @property
    def is_free(self) -> bool:
        """Whether a turn begins at once: nobody has one, nor waits for one, who may have been woken already."""
        return not self._taken

    async def __aenter__(self) -> None:
        self._taken += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self._taken -= 1
            raise

    async def __aexit__(self, *_: object) -> None:
        self._taken -= 1
        self._lock.release()


_Pending: TypeAlias = "dict[Predicate, Awaitable[Any]] | _Batch"
"""Answers that have to be awaited."""


def unobserved(event: Event) -> None:
    """Nobody listens."""


class Caller:
    """Who asks in one request: a server context, and the answers that it gave so far (SPEC section 4)."""

    def __init__(
        self,
        context: Any,
        settings: Settings,
        domain: str | None = None,
        *,
        name: str | None = None,
        observe: Observer = unobserved,
        views: LeastRecent[Any] | None = None,
    ) -> None:
        self.context = context
        self.settings = settings
        self.domain = domain
        """The domain that is served to the caller; `None` where tools of all domains are."""
        self.name = name
        """What the operator knows the caller by."""
        self.observe = observe
        self.made: dict[Any, Any] = {}
        """What was made for this caller alone, by what it was made of: one request comes by here several times."""
        self.views: LeastRecent[Any] = LeastRecent(1) if views is None else views
        """What was made for everybody whose answers are the same."""
        self._answers: dict[str, bool] = {}
        self._defaults: dict[str, Any] = {}
        self._asked_defaults: set[str] = set()
        # Whoever asks first asks for all: the next one in finds the answers. Cancelling the first leaves its questions
        # unanswered, not half answered.
        self._asking = _Turns()

    @property
    def answers_in_batches(self) -> bool:
        """Whether the context has a `decide`, for which one large question is better than two small ones."""
        try:
            return self._batched is not None
        except Exception:  # it is asked again when there is something to ask, and told of then
            return False

    def comes_for(self, domains: tuple[str, ...]) -> bool:
        """Whether what is in these domains is served to the caller; what names none is in the default one."""
        return self.domain is None or self.domain in (domains or (self.settings.default_domain,))

    async def ask(self, asked: Questions) -> None:
        """Asks what this caller was not asked before."""
        if asked.keys() <= self._answers.keys():
            return
        if self._asking.is_free:
            pending = self._answered_at_once(self._open(asked))  # nothing is awaited: nobody comes in between
            if pending is not None:
                async with self._asking:
                    await self._await_answers(pending)
            return
        async with self._asking:
            await self._await_answers(self._answered_at_once(self._open(asked)))

    def answers(self, asked: Questions) -> tuple[bool, ...]:
        """The answers, in the order of the questions.

        Raises:
            KeyError: One was not asked yet.
        """
        return tuple(map(self._answers.__getitem__, asked))

    async def decide(self, predicates: Collection[Predicate]) -> Decisions:
        """Those of `predicates` that are answered with yes."""
        await self.ask(questions(predicates))
        return self._granted(predicates)

    def decide_now(self, predicates: Collection[Predicate]) -> Decisions:
        """The same without awaiting: an answer that would have to be awaited is a no."""
        open_ones = self._open(questions(predicates))
        if open_ones and (batch := self._batch(open_ones)) is not None:
            self._settle_batch(open_ones, _refuse_to_await("decide", batch, {}))
            return self._granted(predicates)
        for predicate in open_ones:
            answer = _refuse_to_await(predicate.text, self._first_answer(predicate), False)
            self._settle(predicate, answer)
        return self._granted(predicates)

    async def defaults(self, keys: Iterable[str]) -> dict[str, Any]:
        """`current_user.default_for(key)` by key; a key is absent where there is none, or where asking failed."""
        wanted = tuple(keys)
        if not self._asked_defaults.issuperset(wanted):
            async with self._asking:
                pending: dict[str, Awaitable[Any]] = {}
                for key, value in self._new_defaults(wanted):
                    if inspect.isawaitable(value):
                        pending[key] = value
                    else:
                        self._keep_default(key, value)
                for key, value in (await self._await_all(pending, _default_text, None)).items():
                    self._keep_default(key, value)
                self._asked_defaults.update(wanted)  # not before: whoever asks meanwhile waits for the answers
        return {key: self._defaults[key] for key in wanted if key in self._defaults}

    def defaults_now(self, keys: Iterable[str]) -> dict[str, Any]:
        """The same without awaiting: a default that would have to be awaited is absent."""
        wanted = tuple(keys)
        for key, value in self._new_defaults(wanted):
            self._keep_default(key, _refuse_to_await(_default_text(key), value, None))
        self._asked_defaults.update(wanted)
        return {key: self._defaults[key] for key in wanted if key in self._defaults}

    def _open(self, asked: Questions) -> tuple[Predicate, ...]:
        """The predicates not answered yet, in the order given."""
        return tuple([predicate for text, predicate in asked.items() if text not in self._answers])

    def _granted(self, wanted: Collection[Predicate]) -> Decisions:
        return frozenset(p for p in wanted if self._answers[p.text])

    def _answered_at_once(self, open_ones: tuple[Predicate, ...]) -> _Pending | None:
        """Asks, and keeps the answers that come at once; the others, still to be awaited."""
        if not open_ones:
            return None
        batch = self._batch(open_ones)
        if batch is not None:
            if inspect.isawaitable(batch):
                return _Batch(open_ones, batch)
            self._settle_batch(open_ones, batch)
            return None
        pending: dict[Predicate, Awaitable[Any]] = {}
        try:
            for predicate in open_ones:
                answer = self._first_answer(predicate)
                if answer is True or answer is False:
                    self._answers[predicate.text] = answer
                elif inspect.isawaitable(answer):
                    pending[predicate] = answer
                else:
                    self._settle(predicate, answer)
        except BaseException:
            for awaitable in pending.values():
                _close(awaitable)
            raise
        return pending or None

    async def _await_answers(self, pending: _Pending | None) -> None:
        if isinstance(pending, _Batch):
            answers = await self._await_all({"decide": pending.answers}, lambda _: "decide", {})
            self._settle_batch(pending.asked, answers["decide"])
        elif pending is not None:
            for predicate, answer in (await self._await_all(pending, str, False)).items():
                self._settle(predicate, answer)

    def _settle(self, predicate: Predicate, answer: Any) -> None:
        # The first answer stands: one that was refused for having to be awaited may have come in between.
        self._answers.setdefault(predicate.text, read_yes(predicate, answer))
        if not isinstance(answer, bool):
            self._failed(predicate.text, f"answered a {type(answer).__name__}")

    def _failed(self, what: str, reason: str) -> None:
        """Tell the operator's hook; the log has it already, with the cause."""
        self.observe(PredicateFailed(self.name, what, reason))

    def _first_answer(self, predicate: Predicate) -> Any:
        """The answer as it comes, which may have to be awaited; `False` where asking fails at once."""
        if self.context is None:
            return False
        try:
            return answer_of(self.context, predicate, self.settings.missing_predicate)
        except BaseException as failure:
            if not is_own(failure):
                raise
            logger.error("%s failed: taken as a no.", predicate.text, exc_info=True)
            self._failed(predicate.text, type(failure).__name__)
            return False

    @cached_property
    def _batched(self) -> Callable[[tuple[Predicate, ...]], Any] | None:
        return batch_method(self.context)

    def _batch(self, open_ones: tuple[Predicate, ...]) -> Any | None:
        """What the context's `decide` returns, `{}` where it fails at once, `None` where there is no `decide`."""
        try:
            if self._batched is None:
                return None
            answers = self._batched(open_ones)
            return {} if answers is None else answers
        except BaseException as failure:
            if not is_own(failure):
                raise
            logger.error("decide failed: every predicate is a no.", exc_info=True)
            self._failed("decide", type(failure).__name__)
            return {}

    def _settle_batch(self, open_ones: tuple[Predicate, ...], answers: Any) -> None:
        try:
            read = read_batch(open_ones, answers or {})
        except BaseException as failure:  # a mapping of the user's own may fail when it is read
            if not is_own(failure):
                raise
            logger.error("The answers of decide cannot be read: every predicate is a no.", exc_info=True)
            self._failed("decide", type(failure).__name__)
            read = dict.fromkeys(open_ones, False)
        for predicate, answer in read.items():
            self._answers.setdefault(predicate.text, answer)

    def _new_defaults(self, wanted: tuple[str, ...]) -> list[tuple[str, Any]]:
        """Asks for the keys not asked yet; the values as they come, which may have to be awaited."""
        found: list[tuple[str, Any]] = []
        for key in dict.fromkeys(wanted):
            if key in self._asked_defaults:
                continue
            try:
                ask = getattr(getattr(self.context, "current_user", None), "default_for", None)
                if ask is not None:
                    found.append((key, ask(key)))
                else:
                    warn_of_misplaced_defaults(self.context)
            except BaseException as failure:
                if not is_own(failure):
                    raise
                logger.error("%s failed: the fixed default is taken.", _default_text(key), exc_info=True)
                self._failed(_default_text(key), type(failure).__name__)
        return found

    def _keep_default(self, key: str, value: Any) -> None:
        if value is not None and key not in self._asked_defaults:  # else it was given without awaiting, in between
            self._defaults[key] = value

    async def _await_all(
        self, pending: dict[Key, Awaitable[Any]], text: Callable[[Key], str], failed: Any
    ) -> dict[Key, Any]:
        """Awaits all at once, within bounds; what raises or takes too long becomes `failed`."""
        if not pending:
            return {}
        limit = asyncio.Semaphore(CONCURRENT_PREDICATES)
        seconds = self.settings.predicate_timeout

        async def one(key: Key, awaitable: Awaitable[Any]) -> Any:
            async with limit:
                try:
                    async with asyncio.timeout(seconds):
                        return await awaitable
                except TimeoutError:
                    logger.error("%s gave no answer within %g s: none is taken.", text(key), seconds, exc_info=True)
                    self._failed(text(key), f"no answer within {seconds:g} s")
                except BaseException as failure:
                    if not is_own(failure):
                        raise
                    logger.error("%s failed: no answer is taken.", text(key), exc_info=True)
                    self._failed(text(key), type(failure).__name__)
                return failed

        if len(pending) == 1:
            ((key, awaitable),) = pending.items()
            return {key: await one(key, awaitable)}
        tasks = [asyncio.ensure_future(one(key, awaitable)) for key, awaitable in pending.items()]
        try:
            return dict(zip(pending, await asyncio.gather(*tasks), strict=True))
        finally:
            # Only where this request was cancelled, or a predicate raised what must not be swallowed.
            unfinished = [task for task in tasks if not task.done()]
            for task in unfinished:
                task.cancel()
            if unfinished:
                await asyncio.gather(*unfinished, return_exceptions=True)
            for awaitable in pending.values():
                _close(awaitable)


def _default_text(key: str) -> str:
    return f"current_user.default_for({key!r})"


def _refuse_to_await(text: str, answer: Any, instead: Any) -> Any:
    if not inspect.isawaitable(answer):
        return answer
    _close(answer)
    logger.error("%s is async and is not awaited here: no answer. Use `await contract.view_async(context)`.", text)
    return instead


def _close(awaitable: Any) -> None:
    """A coroutine that is not awaited after all must be closed, or Python warns about it. A finished one is left."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()
    elif isinstance(awaitable, asyncio.Future):
        awaitable.cancel()
