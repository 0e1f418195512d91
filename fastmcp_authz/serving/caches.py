"""A bounded cache, and keys that mean an object itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
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


class LeastRecent(Generic[Made]):
    """Keeps what was made for a key until `size` others were used since. Making twice in a race is harmless."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Hashable, Made] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Made], fits: Callable[[Made], bool] = lambda _: True) -> Made:
        """What is kept for `key` if it `fits`, else what `make` makes."""
        try:
            made = self._kept[key]
            self._kept.move_to_end(key)
        except KeyError:  # absent, or dropped by another thread meanwhile
            pass
        else:
            if fits(made):
                return made
        made = self._kept[key] = make()
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)
