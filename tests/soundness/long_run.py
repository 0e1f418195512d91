"""Very many worlds, each put to every property: `python -m tests.soundness.long_run [--worlds 100000] [--seed 7]`.

To draw a world and read its contract takes longer than most properties do, so that all of them share it. What is
printed at the end belongs into the record of a release: how many worlds each property held in, and what they held.
A counterexample is printed with the number that draws it again, and ends the run with 1.
"""

from __future__ import annotations

import argparse
import gc
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
DEPTHS = (2, 2, 3, 1, 2, 2, 4, 1)
"""Of every eight worlds: deep ones take four times as long and hold little that the others do not."""
COUNTEREXAMPLE = "COUNTEREXAMPLE"


def run(seed: int, only: str, first: int) -> Counter[str]:
    """Put the worlds from number `first` on to the properties; what was counted, by property and event."""
    for file in FILES:
        import_module(f"tests.soundness.test_{file}")
    logging.disable()
    gc.set_threshold(20_000, 20, 100)
    counted: Counter[str] = Counter()
    for number in range(first, first + AT_ONCE):
        world = draw_world(Random(f"{seed}/{number}"), DEPTHS[number % len(DEPTHS)])
        for name, holds in PROPERTIES.items():
            if only not in name:
                continue
            EVENTS.clear()
            try:
                holds(replace(world, random=Random(f"{seed}/{number}/{name}")))
                counted[name] += 1
            except UnsuitedError:
                counted[f"{name}: unsuited"] += 1
            except Exception:
                counted[f"{COUNTEREXAMPLE}: {name}"] += 1
                print(f"\n{name}, --seed {seed}, world {number}\n{world}\n{traceback.format_exc(limit=-3)}", flush=True)
            counted.update({f"{name}: {what}": count for what, count in EVENTS.items()})
    return counted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first world")
    parser.add_argument("--only", default="", help="a part of the names of the properties")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    chosen = parser.parse_args()
    counted: Counter[str] = Counter()
    starts = range(chosen.first, chosen.first + chosen.worlds, AT_ONCE)
    with ProcessPoolExecutor(chosen.processes) as pool:
        for done, part in enumerate(pool.map(partial(run, chosen.seed, chosen.only), starts), 1):
            counted += part
            print(f"\r{done * AT_ONCE} worlds", end="", flush=True)
    print()
    for name, count in sorted(counted.items()):
        print(f"{count:9,} {name}")
    return int(any(name.startswith(COUNTEREXAMPLE) for name in counted))


if __name__ == "__main__":
    raise SystemExit(main())
