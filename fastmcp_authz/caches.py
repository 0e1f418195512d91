"""A bounded cache, safe under threads and tasks, and keys that mean an object itself."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

Made = TypeVar("Made")


class Same:
    """A key that means one object, equal or hashable as it may be. It holds the object, so its identity stays its own.

    A bare `id()` would not do: once the object is gone, another one may get the same number.
    """

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other._of is self._of

    def __hash__(self) -> int:
        return id(self._of)


class CacheFigures(NamedTuple):
    """How a cache has done so far."""

    kept: int
    """How many views it holds; a list of tools that is kept as a whole counts as its tools."""
    bound: int
    """How many it may hold."""
    found: int
    """How many were there when they were asked for."""
    made: int
    """How many had to be made."""
    dropped: int
    """How many had to go, since others were used more recently."""


class LeastRecent(Generic[Made]):
    """Keeps what was made for a key until `size` others were used since. Making twice in a race is harmless."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, tuple[Made, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()
        self._found = self._made = self._dropped = 0

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What is kept for `key`, else what `make` makes."""
        made = self.find(key)
        if made is None:
            made = make()  # unlocked: it may take long, or come here again
            self.keep(key, made)
        return made

    def find(self, key: Hashable) -> Made | None:
        """What is kept for `key`."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            made, weight = found
            self._found += weight
            return made

    def keep(self, key: Hashable, made: Made, weight: int = 1) -> None:
        """Keeps what was made for `key`, which counts as so many. What is too heavy for all the room is not kept."""
        with self._lock:
            self._made += weight
            if weight > self._size:
                return
            before = self._kept.pop(key, None)
            self._weight += weight - (before[1] if before is not None else 0)
            self._kept[key] = made, weight
            while self._weight > self._size:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._weight -= dropped
                self._dropped += dropped

    def figures(self) -> CacheFigures:
        """How it has done so far."""
        with self._lock:
            return CacheFigures(self._weight, self._size, self._found, self._made, self._dropped)

    def __len__(self) -> int:
        return len(self._kept)
