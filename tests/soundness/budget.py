"""How many worlds a property is put to: few and always the same ones by default, as many as asked for by hand.

`SOUNDNESS_EXAMPLES=1000 SOUNDNESS_SEED=7 pytest tests/soundness` draws others; `long_run.py` is for very many.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Final

import hypothesis
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st

from tests.soundness.world import World, draw_world

EXAMPLES: Final = int(os.environ.get("SOUNDNESS_EXAMPLES", "100"))
SEED: Final = int(os.environ.get("SOUNDNESS_SEED", "0"))
"""Another seed draws other examples; with the default budget the examples are fixed."""

_ANY: Final = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=(Phase.generate,),  # a smaller seed is no simpler example
    suppress_health_check=list(HealthCheck),
)
PROPERTIES: Final[dict[str, Callable[[World], None]]] = {}
"""Every property by name, as a function of one world."""
EVENTS: Final[Counter[str]] = Counter()
"""How often `event` was told each thing outside of hypothesis."""


class UnsuitedError(Exception):
    """A property has nothing to say about a world."""


def event(what: str) -> None:
    """Count something that shows whether a property reaches the interesting cases."""
    if hypothesis.currently_in_test_context():
        hypothesis.event(what)
    else:
        EVENTS[what] += 1


def property_of_worlds(test: Callable[[World], None]) -> Callable[[], None]:
    """A property that holds in every world: a contract, a caller, and a `Random` for what comes to them.

    A world is drawn from a number, which is ten times as fast as choice by choice; a failure prints the number and
    the contract.
    """

    @seed(SEED)
    @_ANY
    @given(number=st.integers(0, 2**48), depth=st.integers(2, 4))
    def checked(number: int, depth: int) -> None:
        world = draw_world(Random(number), depth)
        note(repr(world))
        try:
            test(world)
        except UnsuitedError:
            hypothesis.reject()

    PROPERTIES[test.__name__] = test
    checked.__name__ = checked.__qualname__ = test.__name__
    checked.__doc__ = test.__doc__
    checked.__module__ = test.__module__
    result: Callable[[], None] = checked
    return result


def sample(count: int) -> list[World]:
    """Fixed worlds, for counting."""
    return [draw_world(Random(f"{SEED}/{number}"), 2 + number % 3) for number in range(count)]
