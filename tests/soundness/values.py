"""Values for a type: such that fit, nearly fit, carry keys that are hidden or never were, or are of another kind."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from fastmcp_authz.annotations import Field, Tag, Type
from tests.model import Model
from tests.model_words import Form, constraints
from tests.soundness.drawing import NAMES

TEXTS = ("a", "b", "ab", "abc", "long text", "2026-01-02", "", "\N{GREEK SMALL LETTER ALPHA}\N{GRINNING FACE}b")
MORE_TEXTS = ("2026-01-02T03:04:05Z", "9b2e2c0e-7b7c-4d9f-8f55-1d1f0a3c6f10", "1.2.3.4", "10", "true", "null", "[1]")
NUMBERS = (0, 1, 2, 3, 4, -1, 1.0, 2.5, 2.25, 2**53 + 1, 10**20)

_FITTING: dict[tuple[Any, ...], list[Any]] = {}
"""Of the values for a scalar form those that fit it."""


def anything(random: Random, depth: int = 2) -> Any:
    """Any JSON value."""
    way = random.random()
    if depth <= 0 or way < 0.6:
        return random.choice((None, True, False, *TEXTS[:5], *NUMBERS[:7], [], {}))
    if way < 0.8:
        return [anything(random, depth - 1) for _ in range(random.randint(0, 2))]
    return {name: anything(random, depth - 1) for name in random.sample(NAMES, random.randint(0, 2))}


class Values:
    """Draws values for the types of one contract, by what somebody sees who may see everything.

    Each part departs from its type with a chance of `slips`: about one value in three departs somewhere at 0.03.
    """

    def __init__(self, everything: Model, random: Random, slips: float = 0.03) -> None:
        self._everything = everything
        self._random = random
        self._slips = slips

    def result(self) -> Any:
        return self.of(self._everything.aliases["output"].type, (), 6)

    def arguments(self, shown: frozenset[str]) -> dict[str, Any]:
        """Arguments, mostly of the `shown` names."""
        keep = [f for f in self._everything.parameters if f.name in shown or self._random.random() < 0.05]
        sent = self._fields(keep, 5)
        if self._random.random() < self._slips:
            sent[self._random.choice(NAMES)] = anything(self._random)
        return sent

    def of(self, node: Type, tags: tuple[Tag, ...], depth: int) -> Any:
        if self._random.random() < self._slips:
            return anything(self._random)
        forms = list(self._everything.forms(node, constraints(tags)))
        flat = [form for form in forms if form.kind not in ("record", "list", "map", "tuple")]
        return self._of_form(self._random.choice(flat if flat and depth <= 0 else forms), depth)

    def _of_form(self, form: Form, depth: int) -> Any:
        random = self._random
        match form.kind:
            case "record":
                value = self._fields(form.inside, depth)
                if random.random() < (0.3 if form.limit("closed", "strict") is None else 0.1):
                    value[random.choice((*NAMES, "extra"))] = anything(random)
                return value
            case "list":
                few = 0 if depth <= 0 and form.limit("min") is None else 1
                return [self.of(form.inside, (), depth - 2) for _ in range(random.choice((few, 1, 2, 2)))]
            case "tuple":
                return [self.of(place, (), depth - 1) for place in form.inside]
            case "map":
                keys, values = form.inside
                wanted = [
                    k for k in ("a", "b", "ab", "c") if self._everything.is_key(keys, k) or random.random() < 0.03
                ]
                few = 0 if depth <= 0 and form.limit("min") is None else 1
                picked = random.sample(wanted, min(len(wanted), random.choice((few, 1, 2))))
                return {key: self.of(values, (), depth - 2) for key in picked}
            case "any":
                return anything(random)
            case _:
                return self._scalar(form)

    def _scalar(self, form: Form) -> Any:
        random = self._random
        pool: dict[str, tuple[Any, ...]] = {
            "constant": (form.inside,),
            "null": (None,),
            "boolean": (True, False),
            "string": (*TEXTS, *MORE_TEXTS),
        }
        told = form.kind, repr(form.inside), tuple((tag.name, tag.value) for tag in form.limits)
        if (fitting := _FITTING.get(told)) is None:
            fitting = _FITTING[told] = [v for v in pool.get(form.kind, NUMBERS) if self._everything.takes(form, v)]
        near = random.random() < self._slips or not fitting
        return random.choice(pool.get(form.kind, NUMBERS) if near else fitting)

    def _fields(self, fields: Iterable[Field], depth: int) -> dict[str, Any]:
        """Mostly what is required, optional ones less often the deeper it goes."""
        value: dict[str, Any] = {}
        for each in fields:
            chance = 1 - self._slips / 2 if not each.optional else 0.7 if depth > 2 else 0.25 if depth > 0 else 0
            if self._random.random() < chance:
                value[each.name] = self.of(each.type, each.tags, depth - 1)
        return value
