"""What is wrong with the types of one docstring, as far as anybody reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from ..annotations import Span

Message: TypeAlias = str | Callable[[], str]
"""What to say; a function where that takes long to find out, and may never be asked for."""

_MOST: Final = 50
"""How many problems are told: each holds its line, and a hostile line may be long."""


class Problems:
    """The problems of one docstring: the first ones, and how many more there are."""

    def __init__(self) -> None:
        self._told: list[tuple[Span, str]] = []
        self._untold: Span | None = None
        self._more = 0

    def note(self, at: Span, message: Message) -> None:
        if len(self._told) < _MOST:
            self._told.append((at, message if isinstance(message, str) else message()))
        else:
            self._untold = self._untold or at
            self._more += 1

    def __iter__(self) -> Iterator[tuple[Span, str]]:
        yield from self._told
        if self._untold is not None:
            more = f", and {self._more - 1:,} more" if self._more > 1 else ""
            yield self._untold, f"this is wrong too{more}: mend the others first."
