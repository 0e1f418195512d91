"""The generators reach the interesting cases: each comes up in more than one value of twenty."""

from __future__ import annotations

from collections import Counter

from tests.soundness.budget import sample
from tests.soundness.test_agreement import outcome
from tests.soundness.world import of_model

WORLDS = 120
LEAST = 0.05


def test_every_outcome_has_its_share() -> None:
    arguments: Counter[str] = Counter()
    results: Counter[str] = Counter()
    for world in sample(WORLDS):
        for given in world.arguments(4):
            got = of_model(world.model.received, given)
            arguments[outcome(got, given)] += 1
        for value in world.results(4):
            kept = of_model(world.model.sent, value)
            results[outcome(kept, value)] += 1
    for counted in (arguments, results):
        shares = {outcome: count / counted.total() for outcome, count in counted.items()}
        print(", ".join(f"{outcome} {share:.0%}" for outcome, share in sorted(shares.items())))  # noqa: T201
        assert len(shares) == 3
        assert min(shares.values()) > LEAST, shares
