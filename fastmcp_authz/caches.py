"""A bounded cache, safe under threads and tasks, and keys that mean an object itself."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """How a cache has done so far."""

    kept: int
    """How many things it holds."""
    bound: int
    """How many it may hold."""
    found: int
    """How often what was asked for was there."""
    made: int
    """How often it had to be made."""
    dropped: int
    """How often the least recently used one had to go."""


class LeastRecent(Generic[Made]):
    """Keeps what was made for a key until `size` others were used since. Making twice in a race is harmless."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()
        self._lock = threading.Lock()
        self._found = self._made = self._dropped = 0

    def get(self, key: Hashable, make: Callable[[], Made], fits: Callable[[Made], bool] | None = None) -> Made:
        """What is kept for `key` if it `fits`, else what `make` makes."""
        with self._lock:
            made = self._kept.get(key)
            if made is not None:
                self._kept.move_to_end(key)
                self._found += 1
        if made is not None and (fits is None or fits(made)):
            return made
        made = make()  # unlocked: it may take long, or come here again
        with self._lock:
            self._made += 1
            self._kept[key] = made
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
                self._dropped += 1
        return made

    def figures(self) -> CacheFigures:
        """How it has done so far."""
        with self._lock:
            return CacheFigures(len(self._kept), self._size, self._found, self._made, self._dropped)

    def __len__(self) -> int:
        return len(self._kept)
