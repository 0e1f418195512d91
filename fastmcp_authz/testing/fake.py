"""FakeContext: a server context in one line, which answers as a test says and remembers what it was asked."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeAlias

from fastmcp_authz.callers.predicates import RESERVED, Predicate
from fastmcp_authz.errors import ConfigurationError

Rule: TypeAlias = bool | Collection[Any] | Callable[[Any], bool | Awaitable[bool]]
"""What answers a predicate: the values that are a yes, one answer to all of them, or a function, sync or async."""


class Asked(NamedTuple):
    """A question, and what was answered."""

    name: str
    """Of the method: `feature`, `requires`, `current_user.can`, `current_user.default_for`."""
    value: Any
    answer: Any

    def __str__(self) -> str:
        answer = ("no", "yes")[self.answer] if isinstance(self.answer, bool) else repr(self.answer)
        return f"{self.name}({self.value!r}): {answer}"


class FakeContext:
    """A server context for tests. Whatever it is not told is a no, defined: nothing opens because nobody answers.

    ```python
    FakeContext()  # nobody in particular
    FakeContext(can=["read"], feature=["sms"], tier=lambda tier: tier != "gold", defaults={"per_page": 3})
    ```

    Handlers that read more from their context than its predicates get it from a subclass, or from `user`.
    """

    audit_id: str | None = None

    def __init__(
        self,
        /,
        *,
        can: Rule | None = None,
        defaults: Mapping[str, Any] | None = None,
        user: Any = None,
        **predicates: Rule,
    ) -> None:
        """
        Args:
            can: Permissions, for `authorization="read"` and for `@requires(:read)`; those that `user` or `requires=`
                has where `None`. `requires=` answers `@requires` apart, as the method of that name would.
            defaults: The answers to `@default_for(:key)`, by key.
            user: What `current_user` is, for handlers that read more of it: its attributes are there, and its `can`
                and `default_for` answer where `can=` and `defaults=` do not.
            predicates: Every other predicate by name: values that are a yes, `True` or `False` for all values, or a
                function of the value, sync or async.

        Raises:
            ConfigurationError: An answer is none of these, or the name cannot be that of a predicate.
        """
        given = predicates if can is None else {"can": can, **predicates}
        for name, rule in given.items():
            _refuse_misfit(name, rule)
        self._given = given
        self._defaults = dict(defaults or {})
        self._user = user
        self.asked: list[Asked] = []
        """Every question so far and its answer, in the order of the answers."""
        self.current_user = _FakeUser(self, user)

    @property
    def predicates(self) -> frozenset[str]:
        """The names of what it was told to answer."""
        return frozenset(self._given)

    def requires(self, flag: Any, /) -> Any:
        """Answers `@requires`: from `requires=`, else from what the user can."""
        if "requires" in self._given:
            return self._answer("requires", flag, self._given["requires"])
        return self._answer("requires", flag, self._permissions())

    def _permissions(self) -> Rule:
        """What answers the user's permissions, as the library would look for it."""
        if "can" in self._given:
            return self._given["can"]
        own = getattr(self._user, "can", None)
        return own if callable(own) else self._given.get("requires", False)

    def _default(self, key: str) -> Any:
        own = getattr(self._user, "default_for", None)
        if key not in self._defaults and callable(own):
            return self._answer("current_user.default_for", key, own)
        answer = self._defaults.get(key)
        self.asked.append(Asked("current_user.default_for", key, answer))
        return answer

    def _answer(self, name: str, value: Any, rule: Rule) -> Any:
        if not callable(rule):
            answer: Any = rule if isinstance(rule, bool) else _key(value) in map(_key, rule)
        elif inspect.iscoroutinefunction(rule):
            return self._answer_later(name, value, lambda: rule(value))
        else:
            answer = rule(value)
            if inspect.isawaitable(answer):
                return self._answer_later(name, value, lambda: answer)
        self.asked.append(Asked(name, value, answer))
        return answer

    async def _answer_later(self, name: str, value: Any, begin: Callable[[], Awaitable[Any]]) -> Any:
        # Begun only when it is awaited: a coroutine that nobody awaits is a warning.
        answer = await begin()
        self.asked.append(Asked(name, value, answer))
        return answer

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if name.startswith("_") or name in RESERVED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        rule = self._given.get(name, False)

        def predicate(value: Any, /) -> Any:
            return self._answer(name, value, rule)

        predicate.__name__ = predicate.__qualname__ = name
        return predicate

    def __repr__(self) -> str:
        said = [f"{name}={_shown(rule)}" for name, rule in self._given.items()]
        said += [f"defaults={self._defaults!r}"] if self._defaults else []
        said += [f"user={self._user!r}"] if self._user is not None else []
        return f"{type(self).__name__}({', '.join(said)})"


class _FakeUser:
    """The user of a `FakeContext`, over the one that the test gave."""

    def __init__(self, context: FakeContext, user: Any) -> None:
        self._context = context
        self._user = user

    def can(self, flag: Any, /) -> Any:
        return self._context._answer("current_user.can", flag, self._context._permissions())

    def default_for(self, key: str, /) -> Any:
        return self._context._default(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of Python's own, as in a copy that has no fields yet
            raise AttributeError(name)
        return getattr(self._user, name)

    def __repr__(self) -> str:
        return f"the user of {self._context!r}"


def _refuse_misfit(name: str, rule: object) -> None:
    if name.startswith("_") or name in RESERVED:
        raise ConfigurationError(f"FakeContext({name}=...): {name} is no name of a predicate.")
    if isinstance(rule, str | bytes | Mapping) or not (
        isinstance(rule, bool | list | tuple | set | frozenset) or callable(rule)
    ):
        raise ConfigurationError(
            f"FakeContext({name}={rule!r}): write the values that are a yes, {name}=[{rule!r}], True or False for all "
            "values, or a function of the value. What is no predicate belongs on user=, or on a subclass."
        )


def _key(value: Any) -> str:
    """By text, as predicates are: `1 == True` in Python."""
    return Predicate("", value).text


def _shown(rule: Rule) -> str:
    return getattr(rule, "__qualname__", repr(rule)) if callable(rule) else repr(rule)
