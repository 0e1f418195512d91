"""Timing pieces of work turn by turn, and what may be said of them on a machine that does other things too.

Wall time, since part of what a client waits for is a hop to a thread and back, which no clock of the processor shows.
What else the machine does then falls into it as well, and three habits keep that out of the figures:

- The works take turns, so that a slow minute is a slow minute for each of them, and each round begins with another one,
  so that none always comes after the same neighbour.
- A ratio is taken within each round, of two times a few milliseconds apart, and the median of those ratios is the
  figure. The ratio of two medians would not do: where the processor has two speeds, one work's median may lie
  in the fast half of the rounds and the other's in the slow half.
- A median says how far it can be trusted: beside it stand the bounds that hold the true one with 95 % confidence,
  which are order statistics and assume nothing about the noise.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

Work: TypeAlias = Callable[[], Awaitable[object]]

_UNCOUNTED = 2
"""Rounds at the start, which fill caches."""
_ENOUGH = 10
_PATIENCE = 15.0
"""Seconds after which, on a slow machine, enough rounds are enough."""


@dataclass(frozen=True, slots=True)
class Middle:
    """A median, and the bounds of its 95 % confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float], *, scale: float = 1.0) -> Middle:
        """The middle of some values, each times `scale`."""
        ordered = sorted(value * scale for value in values)
        count = len(ordered)
        # The true median lies between two order statistics as often as a fair coin falls within two counts.
        first = max(0, math.floor(count / 2 - 0.98 * math.sqrt(count)))
        return cls(statistics.median(ordered), ordered[first], ordered[count - 1 - first])

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Turns:
    """The seconds that each of several works took, round by round."""

    taken: tuple[tuple[float, ...], ...]

    def seconds(self, which: int) -> float:
        """The median time of a work."""
        return statistics.median(self.taken[which])

    def ratio(self, which: int, to: int) -> Middle:
        """How many times as long one work takes as another."""
        return Middle.of([a / b for a, b in zip(self.taken[which], self.taken[to], strict=True)])

    def difference(self, which: int, above: int) -> Middle:
        """How many milliseconds longer one work takes than another."""
        return Middle.of([a - b for a, b in zip(self.taken[which], self.taken[above], strict=True)], scale=1_000)


async def turn_by_turn(works: Sequence[Work], rounds: int) -> Turns:
    """Times `works` in turn, `rounds` times each, or fewer where that takes too long."""
    taken: list[list[float]] = [[] for _ in works]
    started = time.perf_counter()
    with settled_heap():
        for number in range(-_UNCOUNTED, rounds):
            if number >= _ENOUGH and time.perf_counter() - started > _PATIENCE:
                break
            for step in range(len(works)):
                which = (number + step) % len(works)
                elapsed = await seconds(works[which])
                if number >= 0:
                    taken[which].append(elapsed)
    return Turns(tuple(map(tuple, taken)))


async def seconds(work: Work) -> float:
    """What one run of a work takes."""
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started


@contextmanager
def settled_heap() -> Iterator[None]:
    """Keeps the garbage collector from going through the servers again and again, as a server in production should."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
