"""Very many worlds, each put to every property: `python -m tests.soundness.long_run [--worlds 100000] [--seed 7]`.

To draw a world and read its contract takes longer than most properties do, so that all of them share it. What is
printed at the end belongs into the record of a release: how many worlds each property held in, and what they held.
The first counterexample ends the run, with the number that draws it again.
"""

from __future__ import annotations

import argparse
import logging
import os
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from importlib import import_module
from random import Random

from tests.soundness.budget import EVENTS, PROPERTIES, UnsuitedError
from tests.soundness.world import draw_world

FILES = ("agreement", "shown_is_checked", "secrecy", "use")
AT_ONCE = 250


class CounterexampleError(Exception):
    """A property does not hold in some world."""


def run(seed: int, first: int) -> Counter[str]:
    """Put the worlds from number `first` on to every property; what was counted, by property and event."""
    for file in FILES:
        import_module(f"tests.soundness.test_{file}")
    logging.disable()
    counted: Counter[str] = Counter()
    for number in range(first, first + AT_ONCE):
        world = draw_world(Random(f"{seed}/{number}"), 2 + number % 3)
        for name, holds in PROPERTIES.items():
            EVENTS.clear()
            try:
                holds(replace(world, random=Random(f"{seed}/{number}/{name}")))
                counted[name] += 1
            except UnsuitedError:
                counted[f"{name}: unsuited"] += 1
            except Exception:
                failure = traceback.format_exc(limit=-3)
                raise CounterexampleError(f"{name}, --seed {seed}, world {number}\n{world}\n{failure}") from None
            counted.update({f"{name}: {what}": count for what, count in EVENTS.items()})
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first world")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    chosen = parser.parse_args()
    counted: Counter[str] = Counter()
    starts = range(chosen.first, chosen.first + chosen.worlds, AT_ONCE)
    with ProcessPoolExecutor(chosen.processes) as pool:
        for done, part in enumerate(pool.map(partial(run, chosen.seed), starts), 1):
            counted += part
            print(f"\r{done * AT_ONCE} worlds", end="", flush=True)
    print()
    for name, count in sorted(counted.items()):
        print(f"{count:9,} {name}")


if __name__ == "__main__":
    main()
