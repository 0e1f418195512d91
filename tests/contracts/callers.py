"""Server contexts for tests, each in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class User:
    def __init__(self, can: Iterable[str] = (), defaults: Mapping[str, Any] | None = None) -> None:
        self._can = frozenset(can)
        self._defaults = dict(defaults or {})

    def can(self, flag: str) -> bool:
        return flag in self._can

    def default_for(self, key: str) -> Any:
        return self._defaults.get(key)


class Context:
    """`Context("admin", feature=["sms"])`: a user who can `admin`, and features."""

    def __init__(self, *can: str, feature: Iterable[str] = (), defaults: Mapping[str, Any] | None = None) -> None:
        self.current_user = User(can, defaults)
        self._features = frozenset(feature)

    def feature(self, flag: str) -> bool:
        return flag in self._features
